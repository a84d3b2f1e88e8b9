"""What a posterior fit refuses before it reads a row, and the routes it takes."""

import math

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from skdp.exceptions import WeakGuaranteeWarning
from skdp.linear_model import ASAPClassifier, ASAPRegressor, PosteriorSampler
from skdp.losses import HuberLoss, LogisticLoss, SquaredLoss
from skdp.mechanisms import BoundedPosterior, GibbsPosterior, LocalizedPosterior

BOUNDS = (-10.0, 10.0)


class Untouchable:
    """An X that fails the test when anything at all is read from it."""

    def __getattribute__(self, name):
        raise AssertionError(f"the data was read: {name}")


class Shaped:
    """An X of known shape, the values of which must not be read."""

    def __init__(self, shape):
        self.shape = shape

    def _read(self, *args):
        raise AssertionError("the data was read")

    __array__ = __getitem__ = __len__ = _read


def classifier(**kwargs):
    return ASAPClassifier(**{"classes": [0, 1]} | kwargs)


def regressor(**kwargs):
    return ASAPRegressor(**{"bounds_y": BOUNDS, "loss": "huber"} | kwargs)


def sampler(**kwargs):
    loss = kwargs.get("loss", "logistic")
    numbers = loss != "logistic" and not isinstance(loss, LogisticLoss)
    declared = {"bounds_y": BOUNDS} if numbers else {"classes": [0, 1]}
    return PosteriorSampler(**declared | kwargs)


def refused(model, error, match, X=None):
    """Return the message of a fit that must fail before any value is read."""
    with pytest.raises(error, match=match) as caught:
        model.fit(Untouchable() if X is None else X, Untouchable())
    text = str(caught.value)
    assert "Allowed" in text
    assert text.count(". ") >= 2  # what is wrong and came, what is allowed, what to do
    return text


@pytest.mark.parametrize("make", [classifier, regressor, sampler])
@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("epsilon", 0, ValueError),
        ("epsilon", 1e6, ValueError),
        ("epsilon", "1", TypeError),
        ("delta", 1, ValueError),
        ("delta", -1e-9, ValueError),
        ("data_norm", 0, ValueError),
        ("data_norm", None, TypeError),
        ("alpha", -1, ValueError),
        ("alpha", "AUTO", TypeError),
        ("radius", 0, ValueError),
        ("radius", -1.0, ValueError),
        ("radius", math.inf, ValueError),
        ("radius", math.nan, ValueError),
        ("radius", None, TypeError),
        ("radius", "AUTO", TypeError),
        ("localize", "yes", ValueError),
        ("localize", None, TypeError),
        ("sampler", "hmc", ValueError),
        ("sampler", None, ValueError),
        ("n_samples", 0, ValueError),
        ("n_samples", -1, ValueError),
        ("n_samples", 1.5, TypeError),
        ("n_samples", True, TypeError),
        ("n_samples", None, TypeError),
        ("constant_time", "yes", TypeError),
        ("n_max", 0, ValueError),
        ("n_max", 1e6, TypeError),
        ("adjacency", "bounded?", ValueError),
        ("fit_intercept", "yes", TypeError),
        ("intercept_scaling", 0, ValueError),
        ("random_state", "seed", TypeError),
    ],
)
def test_wrong_parameter_is_named_before_the_data_is_read(make, name, value, error):
    refused(make(**{name: value}), error, name)


@pytest.mark.parametrize("make", [ASAPRegressor, PosteriorSampler])
@pytest.mark.parametrize(
    ("bounds", "error"),
    [
        (None, ValueError),
        ((1.0, 1.0), ValueError),
        ((2.0, 1.0), ValueError),
        ((0.0, math.inf), ValueError),
        ((math.nan, 1.0), ValueError),
        ((-1e308, 1e308), ValueError),
        ((0.0, 1e-300), ValueError),
        ((1.0,), TypeError),
        (5.0, TypeError),
        ("ab", TypeError),
        (("0", "1"), TypeError),
        ((None, 1.0), TypeError),
    ],
    ids=repr,
)
def test_missing_or_wrong_bounds_of_the_targets_are_refused(make, bounds, error):
    refused(make(loss="huber", bounds_y=bounds), error, "bounds_y")


@pytest.mark.parametrize(
    ("loss", "error", "match"),
    [
        ("tukey", ValueError, "'tukey'"),
        ("logit", ValueError, "'logit'"),
        (None, TypeError, "loss"),
        (HuberLoss, TypeError, "loss"),
        (3, TypeError, "loss"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("make", [regressor, sampler])
def test_a_loss_that_is_none_is_refused(make, loss, error, match):
    refused(make(loss=loss), error, match)


def test_a_loss_of_labels_is_no_loss_of_a_regressor():
    refused(regressor(loss="logistic"), ValueError, "'logistic'")
    refused(regressor(loss=LogisticLoss()), ValueError, "made for labels")


class Bent(HuberLoss):
    """Not convex: it bends down beyond its scale."""

    def _curvature(self, r):
        return np.where(np.abs(r) <= self.scale, 1.0, -0.1)


def test_a_loss_that_is_not_convex_is_refused():
    refused(regressor(loss=Bent()), ValueError, "not convex, got Bent")


@pytest.mark.parametrize("loss", ["squared", SquaredLoss()])
@pytest.mark.parametrize("make", [regressor, sampler])
def test_an_unbounded_slope_on_the_whole_space_is_refused(make, loss):
    text = refused(make(loss=loss, delta=1e-6), ValueError, "slope of the loss")
    assert "a radius" in text
    assert "loss='huber'" in text


@pytest.mark.parametrize("make", [classifier, regressor, sampler])
def test_a_pure_guarantee_needs_a_ball_from_somewhere(make):
    text = refused(make(localize=False), ValueError, "radius='auto'")
    assert "localize=True" in text


@pytest.mark.parametrize("make", [classifier, regressor, sampler])
@pytest.mark.parametrize(
    ("kwargs", "match"),
    [
        ({}, "needs a public ball"),
        ({"n_max": 100}, "needs a public ball"),
        ({"delta": 1e-6, "n_max": 100}, "needs a public ball"),
        ({"radius": 1.0, "localize": True, "n_max": 100}, "needs a public ball"),
        ({"radius": 1.0}, "public number of rows"),
        ({"radius": 1.0, "n_max": 100, "sampler": "mala"}, "got sampler='mala'"),
    ],
)
def test_constant_time_without_public_numbers_is_refused(make, kwargs, match):
    refused(make(constant_time=True, **kwargs), ValueError, match)


@pytest.mark.parametrize("make", [classifier, regressor, sampler])
def test_too_many_columns_are_refused_once_the_shape_is_known(make):
    text = refused(make(), ValueError, "too many columns", X=Shaped((10, 200)))
    assert "201" in text
    assert "sampler='exact'" in text
    with pytest.raises(ValueError, match="too many columns"):
        make().fit([[0.0] * 300] * 4, [0, 1, 1, 0])
    make(fit_intercept=False).fit(np.zeros((4, 200)), [0, 1, 1, 0])


def test_whoever_asks_for_exact_draws_may_have_many_columns():
    fitted = classifier(sampler="exact", delta=1e-6).fit(np.zeros((4, 250)), [0, 1] * 2)
    assert fitted.coef_.shape == (1, 250)


@pytest.mark.parametrize("make", [classifier, regressor, sampler])
def test_a_large_delta_warns_in_a_fixed_text(make):
    with pytest.warns(WeakGuaranteeWarning, match="delta > 0.001"):
        make(delta=0.01).fit(np.zeros((4, 1)), [0, 1, 1, 0])


X, y = np.linspace(-1, 1, 40).reshape(-1, 1), np.arange(40) % 2


@pytest.mark.parametrize(
    ("kwargs", "kind", "radius"),
    [
        ({}, GibbsPosterior, 3.0),
        ({"epsilon": 1e3, "alpha": 100.0}, LocalizedPosterior, None),
        ({"localize": True}, LocalizedPosterior, None),
        ({"radius": 2.0}, GibbsPosterior, 2.0),
        ({"delta": 1e-6}, GibbsPosterior, math.inf),
        ({"delta": 1e-6, "radius": 2.0}, GibbsPosterior, 2.0),
        ({"localize": True, "radius": 2.0}, LocalizedPosterior, None),
        ({"localize": True, "delta": 1e-6}, LocalizedPosterior, None),
        ({"localize": False, "delta": 1e-6}, GibbsPosterior, math.inf),
        (
            {"radius": 0.5, "constant_time": True, "n_max": 50},
            BoundedPosterior,
            0.5,
        ),
        (
            {"radius": 0.5, "constant_time": True, "adjacency": "replace-one"},
            BoundedPosterior,
            0.5,
        ),
    ],
)
@pytest.mark.parametrize("make", [classifier, regressor, sampler])
def test_the_mechanism_is_chosen_by_public_numbers(make, kwargs, kind, radius):
    loss = {} if make is classifier else {"loss": "log-cosh", "scale": 20.0}
    fitted = make(**kwargs, **loss).fit(X, y)
    assert type(fitted.mechanism_) is kind
    if radius is not None:
        assert fitted.radius_ == radius
        np.testing.assert_array_equal(fitted.center_, np.zeros(2))
    else:
        assert 0 < fitted.radius_ <= kwargs.get("radius", 3.0)
        assert np.any(fitted.center_ != 0.0)
    spent = fitted.privacy_spent_
    bounded = kind is BoundedPosterior
    assert spent.grade == ("numerically certified" if bounded else "proved")
    assert [part.name for part in spent.parts] == {
        GibbsPosterior: ["GibbsPosterior"],
        LocalizedPosterior: ["OutputPerturbation", "GibbsPosterior"],
        BoundedPosterior: ["BoundedPosterior"],
    }[kind]
    assert 0.95 < spent.epsilon / fitted.epsilon <= 1.0


def test_the_search_for_a_centre_stays_within_three_over_data_norm():
    fitted = classifier(data_norm=2.0, localize=True).fit(X, y)
    assert fitted.mechanism_.max_radius == 1.5
    assert classifier(data_norm=2.0).fit(X, y).radius_ == 1.5
    assert classifier(localize=True, radius=7.0).fit(X, y).mechanism_.max_radius == 7.0


def test_the_number_of_rows_is_read_under_replace_one_only():
    kwargs = {"radius": 0.5, "constant_time": True}
    one = classifier(adjacency="replace-one", **kwargs).fit(X, y)
    assert one.mechanism_.n_rows == 40
    assert classifier(n_max=77, **kwargs).fit(X, y).mechanism_.n_rows == 77
    with pytest.raises(ValueError, match="rows"):
        classifier(n_max=39, **kwargs).fit(X, y)


def test_constant_time_needs_dense_rows():
    model = classifier(radius=0.5, constant_time=True, n_max=50)
    for hold in (sp.csr_array, sp.csc_matrix):
        with pytest.raises(ValueError, match="needs dense rows"):
            model.fit(hold(X), y)
    for hold in (np.float32, pd.DataFrame, np.ndarray.tolist):
        assert np.isfinite(model.fit(hold(X), y).coef_).all()


@pytest.mark.parametrize(
    ("scale", "expected"), [("auto", 0.5), (5.0, 0.5), (1.0, 0.1), (np.float32(2), 0.2)]
)
def test_the_scale_is_in_the_units_of_the_targets(scale, expected):
    fitted = regressor(scale=scale, delta=1e-6).fit(X, y)
    assert fitted.mechanism_.loss == HuberLoss(scale=expected)


@pytest.mark.parametrize("scale", [0.0, -1.0, math.nan])
def test_a_scale_that_is_none_is_refused(scale):
    refused(regressor(scale=scale), ValueError, "scale")


def test_a_loss_of_ones_own_scale_sees_targets_within_its_own_bound():
    loss = HuberLoss(target_bound=10.0, scale=3.0)
    fitted = regressor(loss=loss, delta=1e-6).fit(X, y)
    assert fitted.mechanism_.loss == loss
    assert fitted.targets_.unit == 1.0
    assert sampler(loss=LogisticLoss(), delta=1e-6).fit(X, y).classes_.tolist() == [
        0,
        1,
    ]
