"""What stops at the door of a posterior fit: extremes, contradictions, odd types."""

import datetime
import inspect
import math
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning
from sklearn.pipeline import make_pipeline

import skdp
from skdp.exceptions import (
    BudgetExceededError,
    PrivacyLeakWarning,
    UncertifiedPrivacyWarning,
    WeakGuaranteeWarning,
)
from skdp.linear_model import (
    ASAPClassifier,
    ASAPRegressor,
    ObjPertLogisticRegression,
    PosteriorSampler,
)
from skdp.losses import HuberLoss, LogCoshLoss, SquaredLoss
from skdp.preprocessing import RowClipper
from skdp.rows import Labels, as_row_blocks

BOUNDS = (-10.0, 10.0)
X = np.linspace(-1, 1, 40).reshape(-1, 1) * [1.0, 0.3]
y = np.arange(40) % 2


class Untouchable:
    """An X that fails the test when anything at all is read from it."""

    def __getattribute__(self, name):
        raise AssertionError(f"the data was read: {name}")


def classifier(**kwargs):
    return ASAPClassifier(**{"classes": [0, 1]} | kwargs)


def regressor(**kwargs):
    return ASAPRegressor(**{"bounds_y": BOUNDS, "loss": "huber"} | kwargs)


def sampler(**kwargs):
    return PosteriorSampler(**{"bounds_y": BOUNDS, "loss": "log-cosh"} | kwargs)


def objective(**kwargs):
    return ObjPertLogisticRegression(**{"classes": [0, 1]} | kwargs)


MAKERS = [classifier, regressor, sampler]
each = pytest.mark.parametrize("make", MAKERS)


def refused(model, error, match, X=None, y=None):
    """Return the message of a fit that fails in four beats, by default unread."""
    with pytest.raises(error, match=match) as caught:
        model.fit(Untouchable() if X is None else X, y)
    text = str(caught.value)
    assert ", got " in text
    assert ". Allowed: " in text
    assert text.count(". ") >= 2
    return text


# --- ranges -------------------------------------------------------------------------

#: What every range ends at, for data_norm 1 and targets within 10 of 0.
ENDS = {
    "epsilon": (1e-9, 1e3),
    "data_norm": (1e-20, 1e20),
    "alpha": (1e-9, 1e8),
    "radius": (1e-6, 1e4),
    "intercept_scaling": (1e-3, 1e3),
    "scale": (1e-3, 1e4),
}
#: Each estimator with each range of its own; labels have no scale.
RANGES = [
    (make, name)
    for make in MAKERS
    for name in sorted(ENDS)
    if not (make is classifier and name == "scale")
]


@pytest.mark.parametrize(("make", "name"), RANGES)
@pytest.mark.parametrize("side", [0, 1])
def test_each_parameter_has_one_range_that_its_message_states(make, name, side):
    ends = ENDS[name]
    outside = ends[side] * (0.99, 1.01)[side]
    for value in (outside, 0.0, -1.0, math.inf, 1e-300, 1e300, 10**400):
        with pytest.raises(ValueError, match=name) as caught:
            make(**{name: value}).fit(Untouchable())
        text = str(caught.value)
        assert text.startswith(f"{name} is out of range, got {value!r}")
        assert f"{ends[0]:g} to {ends[1]:g}" in text
        for alien in ("calibrate", "inverse_temperature", "noise at its minimum"):
            assert alien not in text


@pytest.mark.parametrize(
    ("make", "name"), [pair for pair in RANGES if pair[1] != "epsilon"]
)
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_fits_at_both_ends_of_each_range_work(make, name, side, delta):
    kwargs = {name: ENDS[name][side] * (1.0001, 0.9999)[side]}
    norm = kwargs.get("data_norm", 1.0)
    model = make(delta=delta, **kwargs).fit(norm * X, y)
    assert np.isfinite(model.draws_).all()
    assert 0.95 < model.privacy_spent_.epsilon <= 1.0
    assert np.isfinite(model.pdp_loss(norm * X, y)).all()


@each
@pytest.mark.parametrize("norm", [1e-6, 1e6])
def test_ranges_move_with_the_units_of_the_rows(make, norm):
    for name, power in (("radius", -1), ("alpha", 2), ("intercept_scaling", 1)):
        least, most = (end * norm**power for end in ENDS[name])
        make(data_norm=norm, **{name: 1.01 * least}).fit(norm * X, y)
        text = refused(
            make(data_norm=norm, **{name: 1.01 * most}), ValueError, f"^{name} is out"
        )
        assert f"from {least:g} to {most:g}" in text
        if name == "alpha":
            assert "data_norm" in text


@pytest.mark.parametrize("make", [regressor, sampler])
def test_a_loss_that_is_all_kink_on_its_ball_is_refused(make):
    for kwargs in ({"scale": 0.002, "radius": 30.0}, {"scale": 0.9, "radius": 1e4}):
        refused(make(**kwargs), ValueError, "^scale is too small beside the margins")
    make(scale=0.002, radius=19.0).fit(X, y)


@each
def test_alpha_zero_is_refused_at_the_door_and_allowed_for_objective_perturbation(make):
    text = refused(make(alpha=0), ValueError, "^alpha is out of range, got 0")
    assert "as wide as the ball" in text
    assert objective(alpha=0).fit(X, y).alpha_ > 0


@each
def test_draws_are_bounded_in_number_and_in_epsilon_for_each(make):
    for n in (100_001, 10**9, 10**20):
        text = refused(make(n_samples=n), ValueError, "^n_samples is out of range")
        assert "from 1 to 100000" in text
    text = refused(make(n_samples=4, epsilon=3e-9), ValueError, "^n_samples leaves")
    assert "up to 3 draws" in text
    model = make(n_samples=3, epsilon=3e-9, radius=1.0).fit(X, y)
    assert model.samples_.shape == (3, 2)


@pytest.mark.parametrize("name", ["radius", "scale", "intercept_scaling", "alpha"])
@pytest.mark.parametrize("value", ["foo", None, 0.0, np.array(["auto"])])
def test_messages_list_auto_where_it_is_allowed(name, value):
    refused(regressor(**{name: value}), (TypeError, ValueError), "Allowed: 'auto' or a")


@pytest.mark.parametrize(
    "loss",
    [
        LogCoshLoss(scale=1e100),
        HuberLoss(scale=1e-90),
        HuberLoss(target_bound=1e50, scale=1e50),
        SquaredLoss(target_bound=1e-50),
    ],
    ids=str,
)
def test_losses_of_ones_own_have_ranges_too(loss):
    for make in (regressor, sampler):
        refused(make(loss=loss, radius=1.0), ValueError, r"^loss\.(scale|target_bound)")


# --- switches -----------------------------------------------------------------------

ODD = [1, 0, "yes", None, np.array([True]), np.array([True, False]), [True], 1.0]


@each
@pytest.mark.parametrize("name", ["localize", "constant_time", "fit_intercept"])
@pytest.mark.parametrize("value", ODD, ids=repr)
def test_only_booleans_are_booleans(make, name, value):
    refused(make(**{name: value}), (TypeError, ValueError), f"^{name} must be")
    if name == "fit_intercept":
        refused(objective(**{name: value}), TypeError, f"^{name} must be")


@each
def test_booleans_of_numpy_are_heard(make):
    public = {"radius": 0.2, "constant_time": np.True_, "n_max": 50}
    refused(make(localize=np.True_, **public), ValueError, "^constant_time=True needs")
    model = make(localize=np.True_, fit_intercept=np.False_).fit(X, y)
    assert type(model.mechanism_).__name__ == "LocalizedPosterior"
    assert model.intercept_scaling_ == 0.0
    model = make(localize=np.False_, delta=1e-6, constant_time=np.False_).fit(X, y)
    assert type(model.mechanism_).__name__ == "GibbsPosterior"


@each
def test_choices_are_not_compared_with_arrays(make):
    for value in (np.array(["auto", "exact"]), 3, None, ["auto"]):
        refused(make(sampler=value), ValueError, "^sampler is not one of the choices")
    make(sampler=np.str_("exact")).fit(X, y)


def test_a_return_std_that_is_no_boolean_is_refused():
    model = regressor(n_samples=2).fit(X, y)
    for value in ("yes", 1, None):
        with pytest.raises(TypeError, match="return_std must be True or False"):
            model.predict(X, return_std=value)
    assert model.predict(X, return_std=np.True_)[1].shape == (40,)


# --- contradictions -----------------------------------------------------------------


@pytest.mark.parametrize("classes", [[0, None], [0, 1, 2], [], [0], [1, 1], "ab", 7])
def test_anything_but_two_classes_is_refused_in_one_wording(classes):
    text = refused(classifier(classes=classes), ValueError, "^classes must hold two d")
    assert "one or two" not in text
    if classes != [0, 1, 2]:  # the logistic model has a version for several
        refused(objective(classes=classes), ValueError, "^classes must hold two or m")


@each
def test_n_max_without_constant_time_is_refused(make):
    refused(make(n_max=100), ValueError, "^n_max without constant_time")


def test_parameters_for_another_loss_are_refused():
    both = {"classes": [0, 1], "bounds_y": (0, 10)}
    label, number = {"loss": "logistic"}, {"loss": "squared", "radius": 1.0}
    for kwargs, name in (
        (label | both, "bounds_y"),
        (number | both, "classes"),
        (label | {"bounds_y": None, "scale": 2.0}, "scale"),
        (number | {"scale": 2.0}, "scale"),
        ({"loss": HuberLoss(), "scale": 2.0}, "scale"),
        ({"loss": HuberLoss(), "classes": [0, 1]}, "classes"),
    ):
        refused(sampler(**kwargs), ValueError, f"^{name} has no effect with loss=")
    refused(regressor(**number, scale=2.0), ValueError, "^scale has no effect")


# --- constant time ------------------------------------------------------------------

PUBLIC = {"constant_time": True, "n_max": 50, "radius": 0.2}


def test_constant_time_speaks_of_what_the_user_wrote():
    model = classifier(**PUBLIC)
    sparse_frame = pd.DataFrame(X).astype(pd.SparseDtype(float, 0.0))
    blocks = as_row_blocks([(sp.csr_array(X), y)], labels=Labels([0, 1]))
    for rows, labels in ((sp.csr_array(X), y), (sparse_frame, y), (blocks, None)):
        text = refused(
            model, ValueError, "constant_time=True needs dense", rows, labels
        )
        assert "GibbsPosterior" not in text
    text = refused(classifier(**PUBLIC | {"n_max": 39}), ValueError, "n_max=39", X, y)
    assert "n_rows" not in text
    assert "40" not in text
    wide = PUBLIC | {"radius": 2.0}
    text = refused(regressor(**wide), ValueError, "got loss='huber', radius=2", X, y)
    assert "unbounded time" not in text
    refused(classifier(**PUBLIC | {"radius": 1e4}), ValueError, "too much work", X, y)


@pytest.mark.parametrize("cls", [ASAPClassifier, ASAPRegressor, PosteriorSampler])
def test_the_docstring_names_every_condition_of_constant_time(cls):
    words = " ".join(inspect.getdoc(cls).split("n_max : int")[0].split())
    words = words.split("constant_time : bool")[1]
    for condition in ("radius", "dense X", "exact draws", "localize", "n_max"):
        assert condition in words
    if cls is not ASAPClassifier:
        assert "Huber" in words


# --- targets ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "t",
    [
        np.arange(40).astype("datetime64[D]"),
        np.arange(40).astype("timedelta64[s]"),
        [str(v) for v in range(40)],
        np.array([str(v) for v in range(40)]),
        np.array([str(v) for v in range(40)], dtype=object),
        [datetime.date(2020, 1, 1)] * 40,
        pd.Series(pd.date_range("2020", periods=40)),
        pd.Series(range(40)).astype(str),
        [1.5, *["2.5"] * 39],
        [None, *[1.0] * 39],
    ],
    ids=lambda t: f"{type(t).__name__} {np.asarray(t).dtype}",
)
@pytest.mark.parametrize("make", [regressor, sampler])
def test_dates_and_text_are_no_numbers(make, t):
    refused(make(radius=1.0), ValueError, "^y does not hold numbers", X, t)
    with pytest.raises(ValueError, match="y does not hold numbers"):
        make(radius=1.0).fit(X, y).pdp_loss(X, t)


@pytest.mark.parametrize(
    "t",
    [
        [Decimal(1)] * 40,
        np.arange(40, dtype=object),
        pd.Series(range(40), dtype="Int64"),
        np.arange(40) > 3,
        np.arange(40, dtype=np.float16),
    ],
    ids=lambda t: f"{type(t).__name__} {np.asarray(t).dtype}",
)
def test_numbers_of_any_kind_are_numbers(t):
    assert regressor(radius=1.0).fit(X, t).pdp_loss(X, t).shape == (40,)


@each
def test_targets_of_two_columns_are_refused_without_a_hole_in_the_sentence(make):
    text = refused(make(), ValueError, "^y must hold one value", X, np.c_[y, y])
    assert "  " not in text
    assert "labels or targets" in text


def test_nan_is_an_error_and_an_undeclared_label_is_not():
    labels = y.astype(object)
    labels[3] = None
    assert classifier().fit(X, labels).pdp_loss(X, labels)[3] == 0.0
    for missing in (y.astype(float), y.astype(object)):
        missing[3] = np.nan
        with pytest.raises(ValueError, match="y contains NaN"):
            classifier().fit(X, missing)
    for cls in (ASAPClassifier, PosteriorSampler, ObjPertLogisticRegression):
        words = " ".join(inspect.getdoc(cls).split())
        assert "NaN in y is an error" in words
        assert "or is missing" not in words


# --- draws that are handed out ------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("bounds", [(0.0, 200.0), (-1.0, 1.0)])
def test_what_is_handed_out_predicts_by_itself(fit_intercept, bounds):
    middle = sum(bounds) / 2
    model = sampler(
        loss="squared", radius=1.0, bounds_y=bounds, fit_intercept=fit_intercept
    ).fit(X, middle + X[:, 0])
    draw = model.sample()[0]
    assert draw.shape == (3,)
    if not fit_intercept:
        assert draw[2] == middle == model.intercept_
    np.testing.assert_allclose(
        X @ draw[:2] + draw[2], X @ model.coef_ + model.intercept_
    )


def test_labels_without_an_intercept_have_no_constant_to_hand_out():
    labels = {"loss": "logistic", "classes": [0, 1], "bounds_y": None}
    assert sampler(fit_intercept=False, **labels).fit(X, y).sample().shape == (1, 2)
    assert sampler(**labels).fit(X, y).sample().shape == (1, 3)


@pytest.mark.parametrize(
    ("k", "taken", "text"),
    [
        (1, 3, "1 draw was asked for, got none left of the 3 .* nothing more"),
        (2, 3, "2 draws were asked for, got none left of the 3 .* nothing more"),
        (3, 1, "3 draws were asked for, got 2 left of the 3 .* k from 0 to 2"),
    ],
)
def test_what_is_left_is_told_in_whole_sentences(k, taken, text):
    model = sampler(n_samples=3).fit(X, y)
    model.sample(taken)
    with pytest.raises(BudgetExceededError, match=text):
        model.sample(k)


# --- refits that fail ---------------------------------------------------------------


@pytest.mark.parametrize("make", [classifier, regressor, sampler, objective])
@pytest.mark.parametrize("first", [True, False])
def test_a_fit_that_fails_leaves_the_earlier_one_whole_or_nothing(make, first):
    frame = pd.DataFrame(X, columns=list("ab"))
    model = make()
    if not first:
        model.fit(frame, y)
    before = dict(vars(model))
    wide = np.ones((40, 3))
    if make is not objective:
        model.set_params(constant_time=True, radius=1e4, n_max=50)
        with pytest.raises(ValueError, match="too much work"):
            model.fit(wide, y)
        model.set_params(constant_time=False, radius="auto", n_max=None)
    model.set_params(random_state=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of the last line of a fit
        with pytest.raises(UserWarning, match="random_state"):
            model.fit(wide, y)
    model.set_params(random_state=None)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(wide * np.nan, y)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    if not first:
        assert model.pdp_loss(frame, y).shape == (40,)


# --- where warnings point -----------------------------------------------------------


def _lines(category, call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    found = [w for w in caught if issubclass(w.category, category)]
    assert found
    return [w.filename for w in found]


@pytest.mark.parametrize("make", [classifier, sampler, objective])
@pytest.mark.parametrize(
    "wrap", [lambda m: m, lambda m: make_pipeline(RowClipper(), m)]
)
def test_every_warning_points_at_the_line_of_the_user(make, wrap):
    calls = {
        WeakGuaranteeWarning: lambda: wrap(make(delta=0.01)).fit(X, y),
        skdp.exceptions.NotForReleaseWarning: lambda: wrap(make(random_state=1)).fit(
            X, y
        ),
        DataConversionWarning: lambda: wrap(make()).fit(X, y.reshape(-1, 1)),
    }
    if make is not sampler:
        calls[PrivacyLeakWarning] = lambda: wrap(make(classes=None)).fit(X, y)
    if make is not objective:
        mala = {"sampler": "mala", "alpha": 1e4, "radius": 1.0}
        calls[UncertifiedPrivacyWarning] = lambda: wrap(make(**mala)).fit(X, y)
    for category, call in calls.items():
        assert set(_lines(category, call)) == {__file__}, category


def test_a_leak_in_a_pipeline_points_at_the_line_of_the_user():
    from sklearn.preprocessing import StandardScaler

    fitted = make_pipeline(StandardScaler(), classifier()).fit(X, y)
    for ask in (skdp.privacy_spent, lambda m: skdp.pdp_loss(m, X, y)):
        assert _lines(PrivacyLeakWarning, lambda ask=ask: ask(fitted)) == [__file__]


# --- what is shown ------------------------------------------------------------------


@each
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_card_states_epsilon_of_each_part(make, delta):
    model = make(delta=delta, radius=1.0, localize=True, n_samples=2).fit(X, y)
    card = model.privacy_spent_._repr_html_()
    for curve in ("Simultaneous", "Composed", "PureDP", "GaussianDP"):
        assert curve not in card
    assert card.count(f"at delta={delta:g}") == 2
    assert "2 draws" in card


@each
def test_a_heuristic_is_called_one_once(make):
    with pytest.warns(UncertifiedPrivacyWarning):
        model = make(sampler="mala", alpha=1e4, radius=1.0).fit(X, y)
    assert repr(model.privacy_spent_).count("heuristic") == 1
    assert type(model).__doc__.count("nominal_epsilon") == 1


def test_a_missing_loss_is_not_answered_with_a_classifier():
    from sklearn.compose import TransformedTargetRegressor

    wrapped = TransformedTargetRegressor(regressor()).fit(X, y)
    with (
        pytest.warns(PrivacyLeakWarning),
        pytest.raises(TypeError, match=r"skdp\.linear_model") as caught,
    ):
        skdp.pdp_loss(wrapped, X, y)
    assert "Logistic" not in str(caught.value)
