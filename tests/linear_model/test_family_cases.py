"""What every linear model does with the parameters, tables and questions people bring.

Each test is about one kind of fault and asks it of the whole family: every loss, both
metrics, and the regression from noisy moments.
"""

import datetime
import inspect
import math
import multiprocessing
import pickle
import re
import time
import traceback
import tracemalloc
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpydoc.docscrape import NumpyDocString
from objective_models import MODELS, problem
from sklearn.base import clone, is_classifier
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import skdp
from skdp.accounting import gaussian_mu
from skdp.exceptions import PrivacyLeakWarning, WeakGuaranteeWarning
from skdp.linear_model import (
    AdaSSPRegressor,
    ObjPertLogisticRegression,
    ObjPertRegressor,
)
from skdp.mechanisms import GaussianNoise, KNormNoise
from skdp.preprocessing import BoundedScaler, RowClipper
from skdp.rows import Labels, as_row_blocks

pytestmark = pytest.mark.filterwarnings(
    "ignore::skdp.exceptions.NotForReleaseWarning"
)  # fits are seeded wherever two of them are compared

DELTA = 1e-6
BOUNDS = {"bounds_y": (0.0, 100.0)}
PRIVATE = {"metric": "private", "delta": DELTA}
LOGISTIC = (ObjPertLogisticRegression, {"classes": [0, 1]})
#: Each model with what it needs to be fitted, and the metric written out.
FAMILY = {
    name: (cls, needed | ({"metric": "identity"} if cls is ObjPertRegressor else {}))
    for name, (cls, needed) in MODELS.items()
} | {
    "logistic": (LOGISTIC[0], LOGISTIC[1] | {"metric": "identity"}),
    "logistic, private": (LOGISTIC[0], LOGISTIC[1] | PRIVATE),
    "log-cosh, private": (ObjPertRegressor, BOUNDS | PRIVATE),
    "adassp": (AdaSSPRegressor, BOUNDS | {"delta": DELTA}),
}
NAMES = list(FAMILY)
IN_PRIVATE = [name for name in NAMES if name.endswith(", private")]
PLAIN = [name for name in NAMES if name not in IN_PRIVATE]
CLASSIFIERS = [name for name in NAMES if is_classifier(FAMILY[name][0]())]
REGRESSORS = [name for name in NAMES if name not in CLASSIFIERS]
each = pytest.mark.parametrize("name", NAMES)
each_plain = pytest.mark.parametrize("name", PLAIN)
each_classifier = pytest.mark.parametrize("name", CLASSIFIERS)
each_regressor = pytest.mark.parametrize("name", REGRESSORS)

#: Fitted attributes that are the same however the noise falls.
PUBLIC = {
    "classes_",
    "data_norm_",
    "feature_names_in_",
    "intercept_scaling_",
    "mechanism_",
    "n_features_in_",
    "noise_scale_",
    "privacy_spent_",
    "smoothing_scale_",
    "targets_",
}


def made(name, **kwargs):
    """Return an unfitted model."""
    cls, needed = FAMILY[name]
    return cls(**needed | kwargs)


def table(name, n=80, d=4, seed=0):
    """Return rows, and labels or targets that follow them."""
    return problem("svc" if name in CLASSIFIERS else name, n, d, seed)


def has(name, parameter):
    return parameter in made(name).get_params()


class Untouchable:
    """An X that fails the test when anything at all is read from it."""

    def __getattribute__(self, name):
        raise AssertionError(f"the data was read: {name}")


# --- parameters ---------------------------------------------------------------------

NO_NUMBERS = [math.nan, "1", None, True, 1j, np.array([1.0])]
OUT_OF_RANGE = {
    "epsilon": [*NO_NUMBERS, 0, -1.0, math.inf, 1e4],
    "delta": [*NO_NUMBERS, -1e-9, 1, math.inf, 5e-324],
    "data_norm": [*NO_NUMBERS, 0, -1, math.inf, 1e308, 1e-308],
    "alpha": [*NO_NUMBERS, -1.0, math.inf, 1e300, "AUTO"],
    "fit_intercept": [1, 0, "yes", None],
    "intercept_scaling": [*NO_NUMBERS, 0, -1.0, math.inf, "half"],
    "adjacency": ["swap", None, 1, True],
    "metric": ["whitened", None, 1, True],
    "conservative": [1, 0, "no", None],
    "pdp_report": ["all", None, 1],
    "classes": [5, "ab", [], [0, 0], [0, None], [0, math.nan], [0, "a"], [[0, 1]]],
    "bounds_y": [None, 5.0, "ab", (1, 1), (2, 1), (0, 1, 2), (0, math.inf), ("0", "1")],
    "loss": ["squared", None, 3],
    "scale": [*NO_NUMBERS, 0, -1.0, math.inf, "wide"],
    "width": [*NO_NUMBERS, 0, -1.0, math.inf, "wide"],
    "quantile": [*NO_NUMBERS, 0, 1, -0.5, 2.0, "median"],
    "random_state": ["seed", -1, 1.5, True],
}


@each
def test_a_wrong_parameter_is_explained_before_anything_is_read(name):
    for parameter in made(name).get_params():
        for value in OUT_OF_RANGE[parameter]:
            with pytest.raises((ValueError, TypeError), match=parameter) as caught:
                made(name, **{parameter: value}).fit(Untouchable(), Untouchable())
            message = str(caught.value)
            # what is wrong, what came, what is allowed, and what to do
            found = re.search(r"got .*\. Allowed: .*\. [A-Z].*\.$", message, re.DOTALL)
            assert found, message


@each
def test_whole_numbers_and_scalars_of_numpy_mean_what_floats_do(name):
    """Bounds of an odd width, or one as an integer, lose nothing by rounding."""
    X, y = table(name)
    plain = {"epsilon": 2.0, "data_norm": 1.0, "intercept_scaling": 3.0}
    if name not in IN_PRIVATE:
        plain["alpha"] = 7.0
    if has(name, "scale"):
        plain["scale"] = 25.0
    if has(name, "width"):
        plain["width"] = 5.0
    whole = {parameter: int(value) for parameter, value in plain.items()}
    narrow = {parameter: np.float32(value) for parameter, value in plain.items()}
    flat = {parameter: np.array(value) for parameter, value in plain.items()}
    reference = made(name, random_state=1, **plain).fit(X, y)
    for kwargs in (whole, narrow, flat):
        if name in REGRESSORS:
            kwargs["bounds_y"] = (np.int64(0), 100)
        model = made(name, random_state=np.int64(1), **kwargs).fit(X, y)
        assert model.coef_.tobytes() == reference.coef_.tobytes()
        assert model.noise_scale_ == reference.noise_scale_


@each
def test_a_large_delta_is_warned_of_before_anything_is_read(name):
    with (
        pytest.warns(WeakGuaranteeWarning, match="delta > 0.001") as caught,
        pytest.raises(AssertionError, match="the data was read"),
    ):
        made(name, delta=0.01).fit(Untouchable(), Untouchable())
    assert caught[0].filename == __file__


@each
def test_the_noise_knows_neither_the_rows_nor_the_targets(name):
    few, many = (made(name).fit(*table(name, n)) for n in (2, 2000))
    assert few.mechanism_ == many.mechanism_
    assert few.noise_scale_ == many.noise_scale_
    assert few.noise_scale_ > 0


@each_regressor
def test_the_noise_does_not_depend_on_where_the_bounds_lie(name):
    X, y = table(name, 20)
    bounds = [(0, 100), (0, 3), (0.0, 1e6)]
    if name != "poisson":
        bounds += [(-100, 0), (-1, 1), (7, 8)]
    scales = {made(name, bounds_y=pair).fit(X, y).noise_scale_ for pair in bounds}
    assert len(scales) == 1
    assert scales.pop() > 0


@each
def test_the_noise_is_never_below_one_gaussian_release_of_a_gradient(name):
    X, y = table(name, 20)
    model = made(name, delta=DELTA).fit(X, y)
    slope = 1.0  # of noise in units of one row
    if name in PLAIN and name != "adassp":
        mechanism = model.mechanism_
        slope = mechanism.loss.constants(mechanism.radius).lipschitz
    assert model.noise_scale_ >= slope / gaussian_mu(1.0, DELTA)


@each
def test_a_little_budget_is_enough_and_the_card_says_what_was_spent(name):
    X, y = table(name)
    relations = ["add-remove"] if name in IN_PRIVATE else ["add-remove", "replace-one"]
    for adjacency in relations:
        model = made(name, epsilon=0.01, adjacency=adjacency).fit(X, y)
        spent = model.privacy_spent_
        assert 0.00999 <= spent.epsilon <= 0.01
        assert spent.adjacency.value == adjacency
        [part] = spent.parts  # everything the fit released, and nothing else
        assert part.guarantee == spent.guarantee
        for text in (repr(spent), spent._repr_html_(), model._repr_html_()):
            assert adjacency in text
        assert spent.guarantee.to_json() == part.guarantee.to_json()


@each_plain
@pytest.mark.parametrize("pure", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_replace_one_costs_more_noise_and_answers_everybody(name, pure):
    X, y = table(name)
    delta = 0.0 if pure and name != "adassp" else DELTA
    one, other = (
        made(name, delta=delta, adjacency=adjacency).fit(X, y)
        for adjacency in ("replace-one", "add-remove")
    )
    assert one.noise_scale_ > 1.4 * other.noise_scale_
    loss = one.pdp_loss(X, y)
    assert np.all((loss > 0) & np.isfinite(loss))
    if delta == 0.0:
        assert np.all(loss <= 1.0)
    assert one.pdp_loss((X[3], y[3])) == pytest.approx(loss[3:4], rel=1e-12)


# --- rows ---------------------------------------------------------------------------

SPARSE = {
    "csr": sp.csr_array,
    "csr matrix": sp.csr_matrix,
    "csc": sp.csc_array,
    "coo": sp.coo_array,
}


@each
def test_sparse_rows_are_the_rows_they_stand_for(name):
    X, y = table(name)
    X[np.abs(X) < 0.2] = 0.0
    X[5] *= 7.0  # clipped alike
    reference = made(name, random_state=1).fit(X, y)
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = (
        part.astype(np.int64) for part in (wide.indices, wide.indptr)
    )
    for kind, held in {k: hold(X) for k, hold in SPARSE.items()}.items():
        model = made(name, random_state=1).fit(held, y)
        np.testing.assert_allclose(
            model.coef_, reference.coef_, rtol=1e-9, atol=1e-9, err_msg=kind
        )
    for held in (wide, sp.csr_array(X)):
        model = made(name, random_state=1).fit(held, y)
        np.testing.assert_allclose(model.coef_, reference.coef_, rtol=1e-9, atol=1e-9)
        loss = reference.pdp_loss(held, y)
        np.testing.assert_allclose(loss, reference.pdp_loss(X, y), rtol=1e-9)
        if name in CLASSIFIERS:
            np.testing.assert_array_equal(reference.predict(held), reference.predict(X))
        else:
            guess = reference.predict(held)
            np.testing.assert_allclose(guess, reference.predict(X), rtol=1e-9)


@each
def test_single_precision_goes_in_and_double_comes_out(name):
    X, y = table(name)
    X = X.astype(np.float32)
    low = made(name, random_state=1).fit(X, y)
    high = made(name, random_state=1).fit(X.astype(float), y)
    np.testing.assert_allclose(low.coef_, high.coef_, rtol=1e-5, atol=1e-5)
    numbers = [v for v in vars(low).values() if isinstance(v, float | np.ndarray)]
    numbers += [low.pdp_loss(X, y), low.predict(X)]
    for number in map(np.asarray, numbers):
        assert number.dtype == np.float64 or number.dtype == y.dtype
        assert np.isfinite(number).all()


@each
def test_frames_keep_their_names_and_nullable_columns_are_numbers(name):
    X, y = table(name)
    frame = pd.DataFrame(X, columns=list("abcd"))
    mixed = frame.astype({"a": "Float64", "b": "float32"})
    for held in (frame, mixed):
        model = made(name).fit(held, y)
        assert model.feature_names_in_.tolist() == list("abcd")
        assert model.predict(held).shape == y.shape
        for ask in (model.predict, lambda Z, m=model: m.pdp_loss(Z, y)):
            with pytest.raises(ValueError, match=r"feature names|each feature"):
                ask(held.rename(columns={"a": "z"}))
        with pytest.warns(UserWarning, match="valid feature names"):
            model.predict(X)
    mixed.loc[3, "a"] = pd.NA
    with pytest.raises(ValueError, match="NaN"):
        made(name).fit(mixed, y)


@each
@pytest.mark.parametrize(
    "X",
    [
        np.zeros((10, 3)),
        np.ones((10, 3)),
        np.ones((1, 2)),
        np.linspace(-1, 1, 10).reshape(-1, 1),
        np.eye(30)[:5],
        np.repeat([[0.5, 0.5]], 6, axis=0),
        np.arange(12).reshape(4, 3),
        np.array([[True], [False]] * 4),
    ],
    ids=[
        "zero",
        "constant",
        "one row",
        "one column",
        "wide",
        "twice",
        "whole",
        "flags",
    ],
)
def test_degenerate_tables_fit_without_a_warning(name, X):
    """The zero table comes with one target for all, the others with two."""
    y = np.arange(len(X)) % 2 if X.any() else np.ones(len(X), dtype=int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = made(name).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert model.predict(X).shape == (len(X),)
    assert np.isfinite(model.pdp_loss(X, y)).all()
    assert model.privacy_spent_.epsilon <= 1.0


@each
@pytest.mark.parametrize("value", [1e308, 1e-200])
def test_rows_of_any_size_are_fitted_asked_about_and_predicted(name, value):
    X, y = table(name, 50)
    X[:2], X[2, ::2] = value, -value
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for held in (X, sp.csr_array(X)):
            model = made(name).fit(held, y)
            assert np.isfinite(model.coef_).all()
            assert np.isfinite(model.pdp_loss(held, y)).all()
            assert not np.isnan(np.asarray(model.predict(held), dtype=float)).any()


@each
@pytest.mark.parametrize("bad", [np.nan, -np.inf])
def test_what_is_not_finite_is_refused_everywhere_and_not_quoted(name, bad):
    X, y = table(name, 20)
    model = made(name).fit(X, y)
    X[11, 2], X[12, 0] = bad, 0.987654321
    for held in (X.astype(np.float32), sp.csr_array(X), pd.DataFrame(X)):
        for ask in (made(name).fit, model.pdp_loss, lambda Z, y: model.predict(Z)):
            with pytest.raises(ValueError, match=r"NaN|infinity") as caught:
                ask(held, y)
            assert "0.98765" not in str(caught.value)
    X, y = table(name, 20)
    y = y.astype(float)
    y[3] = bad
    for targets in (y, y.astype(object), pd.Series(y), y.tolist()):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            made(name).fit(X, targets)


SECRET = "123.456"
NO_TABLES = [
    [["123.456x", 1.0]] * 4,
    np.array([["123.456x", 1.0]] * 4, dtype=object),
    np.array([123.456, 2.0]),
    123.456,
    "123.456",
    np.array([[123.456 + 1j, 2.0]] * 4),
    np.full((4, 1, 1), 123.456),
    [[123.456], [1.0, 2.0]],
    np.array([[{"123.456": 1}]] * 4, dtype=object),
    np.array([[b"123.456"]] * 4),
    pd.DataFrame({"a": ["123.456x"] * 4}),
    pd.DataFrame({"a": pd.Categorical(["123.456", "b"] * 2)}),
    pd.DataFrame({"a": [pd.Timestamp(2034, 5, 6)] * 4}),
    pd.Series([123.456] * 4),
    {"a": [123.456] * 4},
    None,
]
NO_TARGETS = [
    np.full((4, 2), 123.456),
    np.array([123.456 + 1j] * 4),
    [123.456] * 5,
    123.456,
    "123.456",
    {"a": 123.456},
    [123.456, math.inf, 1, 2],
    np.array([123.456, math.nan, 1, 2], dtype=object),
    pd.Series([123.456, None, 1, 2], dtype="Float64"),
]
NO_NUMBERS_AT_ALL = [
    ["123.456", "b", "c", "d"],
    [None, 123.456, 1, 2],
    [datetime.date(2034, 5, 6)] * 4,
    [{"123.456": 1}] * 4,
    [b"123.456"] * 4,
]


@each
def test_no_error_quotes_a_value_or_leaves_half_a_fit(name):
    y, X = [0, 1, 1, 0], np.eye(4)
    targets = NO_TARGETS + (NO_NUMBERS_AT_ALL if name in REGRESSORS else [])
    for data in [*((Z, y) for Z in NO_TABLES), *((X, t) for t in targets)]:
        model = made(name)
        with pytest.raises((ValueError, TypeError)) as caught:
            model.fit(*data)
        shown = "".join(traceback.format_exception(caught.value, limit=0))
        assert SECRET not in shown
        assert "2034" not in shown
        assert caught.value.__context__ is None
        assert set(vars(model)) == set(model.get_params())
        with pytest.raises(NotFittedError):
            model.predict(X)


@each_regressor
def test_exact_decimals_are_targets(name):
    X, y = table(name, 20)
    exact = [Decimal(f"{value:.3f}") for value in y]
    a = made(name, random_state=0).fit(X, exact)
    b = made(name, random_state=0).fit(X, np.array(exact, dtype=float))
    assert a.coef_.tobytes() == b.coef_.tobytes()


@each
def test_a_column_of_targets_is_taken_with_a_warning_and_several_are_not(name):
    X, y = table(name)
    reference = made(name, random_state=1).fit(X, y)
    for column in (y.reshape(-1, 1), pd.DataFrame({"y": y})):
        with pytest.warns(DataConversionWarning, match="column-vector"):
            model = made(name, random_state=1).fit(X, column)
        assert model.coef_.tobytes() == reference.coef_.tobytes()
        loss = model.pdp_loss(X, column)
        np.testing.assert_array_equal(loss, reference.pdp_loss(X, y))
    with pytest.raises(ValueError, match="one value for each row"):
        made(name).fit(X, np.column_stack([y, y]))


@each
def test_rows_are_never_changed(name):
    X, y = table(name)
    X.flags.writeable = y.flags.writeable = False
    model = made(name).fit(X, y)
    model.pdp_loss(X, y)
    parts = (np.array([0.3, 0.2, 0.1]), np.array([1, 0, 1]), np.array([0, 3]))
    unsorted = sp.csr_array(parts, shape=(1, 4))  # with an entry in two pieces
    for ask in (made(name).fit, model.pdp_loss, lambda Z, y: model.predict(Z)):
        ask(unsorted, y[:1])
    assert unsorted.nnz == 3
    assert unsorted.indices.tolist() == [1, 0, 1]


@each
def test_row_blocks_are_the_table_they_are_cut_from(name):
    X, y = table(name)
    reference = made(name, random_state=1).fit(X, y)
    encoder = Labels([0, 1]) if name in CLASSIFIERS else reference.targets_
    blocks = as_row_blocks([(X[:30], y[:30]), (X[30:], y[30:])], labels=encoder)
    model = made(name, random_state=1).fit(blocks)
    np.testing.assert_allclose(model.coef_, reference.coef_, rtol=1e-6)
    with pytest.raises(ValueError, match="y must be None"):
        made(name).fit(blocks, y)


@pytest.fixture(scope="module")
def wide_rows():
    rng = np.random.default_rng(0)
    places = np.sort(rng.integers(0, 10_000, (1500, 10)), axis=1).ravel()
    parts = (rng.uniform(-0.3, 0.3, 15_000), places, np.arange(0, 15_001, 10))
    X = sp.csr_array(parts, shape=(1500, 10_000))
    X.sum_duplicates()
    return X


@pytest.mark.parametrize("name", [name for name in PLAIN if name != "adassp"])
def test_wide_sparse_rows_stay_sparse(name, wide_rows):
    """A dense copy of them would take 120 MB."""
    X, y = wide_rows, np.arange(wide_rows.shape[0]) % 2
    tracemalloc.start()
    try:
        model = made(name).fit(X, y)
        model.pdp_loss(X, y)
        model.predict(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 6_000_000


@each
def test_a_fit_takes_no_long_time_whatever_the_columns_hold(name):
    _, y = table(name, 30_000, 2)
    codes = np.random.default_rng(0).integers(0, 10**6, (30_000, 20))
    codes[:, 0] = 1  # a constant column among identifiers
    start = time.process_time()
    made(name).fit(codes, y)
    assert time.process_time() - start < 5.0


# --- labels -------------------------------------------------------------------------


@each_classifier
@pytest.mark.parametrize(
    ("low", "high"), [("no", "yes"), (False, True), (-1, 1), (5, 7)]
)
def test_any_two_labels_give_the_same_model(name, low, high):
    X, y = table(name)
    reference = made(name, random_state=2).fit(X, y)
    labels = np.where(y == 1, high, low)
    for classes in ((high, low), np.array([low, high])):
        model = made(name, classes=classes, random_state=2).fit(X, labels)
        assert model.coef_.tobytes() == reference.coef_.tobytes()
        assert model.classes_.tolist() == [low, high]
        assert model.predict(X).dtype == model.classes_.dtype
        assert model.score(X, labels) == reference.score(X, y)
        loss = model.pdp_loss(X, labels)
        np.testing.assert_array_equal(loss, reference.pdp_loss(X, y))


@each_classifier
def test_words_are_labels_however_they_are_held(name):
    X, y = table(name)
    words = np.where(y == 1, "yes", "no")
    reference = made(name, random_state=2).fit(X, y)
    for labels in (
        words.tolist(),
        words.astype(object),
        pd.Series(words),
        pd.Series(words, dtype="string"),
        pd.Series(pd.Categorical(words, ["no", "yes", "unused"])),
    ):
        model = made(name, classes=["no", "yes"], random_state=2).fit(X, labels)
        assert model.coef_.tobytes() == reference.coef_.tobytes()
        assert set(model.predict(X)) <= {"no", "yes"}
        with pytest.warns(PrivacyLeakWarning, match="label set"):
            read = made(name, classes=None, random_state=2).fit(X, labels)
        assert read.coef_.tobytes() == reference.coef_.tobytes()
        assert any("not paid for" in a for a in read.privacy_spent_.assumptions)


@each_classifier
def test_a_table_of_one_label_fits_and_is_no_different_from_others(name):
    X, _ = table(name)
    model = made(name).fit(X, np.ones(len(X), dtype=int))
    assert model.classes_.tolist() == [0, 1]
    assert model.coef_.shape == (1, 4)
    assert model.intercept_.shape == (1,)
    assert model.decision_function(X).shape == (len(X),)
    with pytest.warns(PrivacyLeakWarning):
        read = made(name, classes=None).fit(X, ["only"] * len(X))
    assert set(read.predict(X)) == {"only"}
    assert np.all(read.pdp_loss(X, ["only"] * len(X)) > 0)


@each_classifier
def test_people_of_undeclared_labels_count_for_nothing(name):
    X, y = table(name)
    a = made(name, random_state=0).fit(X, y)
    b = made(name, random_state=0).fit(np.vstack([X, X[:30]]), np.r_[y, np.full(30, 9)])
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=0, atol=1e-9)
    assert a.pdp_loss(X[:3], [9, 9, 9]).tolist() == [0.0, 0.0, 0.0]


# --- predictions --------------------------------------------------------------------


@pytest.mark.parametrize("name", ["logistic", "logistic, private"])
def test_probabilities_are_stable_at_huge_margins(name):
    model = made(name).fit(*table(name, d=1))
    model.coef_, model.intercept_ = np.array([[1e6]]), np.array([-1e6])
    X = np.array([[0.0], [1.0], [2.0], [1e300], [-1e300]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for held in (X, sp.csr_array(X)):
            p, log_p = model.predict_proba(held), model.predict_log_proba(held)
            loss = model.pdp_loss(held, [0, 1, 1, 0, 1])
    np.testing.assert_allclose(p[:3], [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-15)
    np.testing.assert_allclose(log_p[:3, 1], [-1e6, -math.log(2), 0.0])
    assert not np.isnan(log_p).any()
    assert np.isfinite(loss).all()


@each
@pytest.mark.parametrize("hold", [np.asarray, sp.csr_array, pd.DataFrame])
def test_margins_that_overflow_are_infinite_and_not_undefined(name, hold):
    model = made(name).fit(*table(name, d=2))
    model.coef_ = np.reshape([3.0, -2.0], model.coef_.shape)
    X = np.array([[1e308, 1e308], [1e308, -1e308], [-1e308, 1e308], [1.0, 2.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ask = getattr(model, "decision_function", model.predict)
        out = ask(hold(X))
    line = np.array([1e308, math.inf, -math.inf])
    expected = np.array([100.0, 100.0, 0.0]) if name == "poisson" else line
    np.testing.assert_array_equal(out[:3], expected)


# --- what leaves --------------------------------------------------------------------


def numbers(value):
    """Yield the arrays and floats of a released value, however deep they lie."""
    if isinstance(value, float | np.ndarray):
        yield np.ravel(value)
    elif isinstance(value, tuple | list):
        for part in value:
            yield from numbers(part)
    elif hasattr(value, "__dataclass_fields__"):
        for field in value.__dataclass_fields__:
            yield from numbers(getattr(value, field))


def constants(name):
    """Return the fitted attributes that no noise moves."""
    derived = {"budget_", "report_"}  # shares are public; reports hold both kinds
    if name in PLAIN and name != "adassp":
        derived |= {"alpha_", "metric_", "center_", "release_"}
    return PUBLIC | derived


@each
def test_every_released_number_moves_with_the_noise_and_repeats_with_a_seed(name):
    X, y = table(name)
    a, b, again = (
        made(name, epsilon=20.0, random_state=seed).fit(X, y) for seed in (0, 1, 0)
    )
    released = set(vars(a)) - set(a.get_params()) - constants(name)
    assert {"coef_", "intercept_"} <= released
    public = {1.0, *(part.mu for part in getattr(a, "budget_", None) or ())}
    public |= {part.share for part in getattr(a, "budget_", None) or ()}
    if name in IN_PRIVATE:
        public.add(a.release_.geometry.floor)
        if name == "log-cosh, private":  # whose centre is zero where that is as good
            public.add(0.0)
    for attribute in released:
        pairs = zip(
            numbers(getattr(a, attribute)),
            numbers(getattr(b, attribute)),
            numbers(getattr(again, attribute)),
            strict=True,
        )
        for one, other, same in pairs:
            np.testing.assert_array_equal(one, same, err_msg=attribute)
            stays = one[one == other]
            assert set(stays.tolist()) <= public, attribute


@each
def test_nothing_of_the_rows_and_of_the_noise_stays_in_the_model(name, monkeypatch):
    drawn = []
    for law in (GaussianNoise, KNormNoise):
        original = law.draw

        def draw(self, *args, original=original):
            found = original(self, *args)
            drawn.append(np.ravel(found))
            return found

        monkeypatch.setattr(law, "draw", draw)
    X, y = table(name)
    X[7] = [0.123456789, 0.23456789, -0.3456789, 0.456789]
    targets = y if name in CLASSIFIERS else y + 1e-7
    model = made(name).fit(X, targets)
    blob = pickle.dumps(model) + repr(vars(model)).encode()
    text = model._repr_html_() + repr(model) + repr(model.privacy_spent_)
    assert drawn
    own = [] if name in CLASSIFIERS else targets
    for secret in [*X.ravel(), *own, *np.concatenate(drawn)]:
        assert np.float64(secret).tobytes() not in blob
        assert repr(float(secret)) not in text
    sizes = [len(pickle.dumps(made(name).fit(*table(name, n)))) for n in (20, 2000)]
    # digits of labels that tell the clipping bound, nothing else
    assert abs(sizes[0] - sizes[1]) <= 16


@each
def test_what_is_documented_is_what_there_is(name):
    cls = FAMILY[name][0]
    doc = NumpyDocString(inspect.getdoc(cls))
    assert [p.name for p in doc["Parameters"]] == list(
        inspect.signature(cls).parameters
    )
    documented = {attribute.name for attribute in doc["Attributes"]}
    X, y = table(name)
    model = made(name).fit(pd.DataFrame(X, columns=list("abcd")), y)
    present = set(vars(model)) - set(model.get_params())
    assert present <= documented
    # there is no report of a private metric
    assert documented - present <= ({"report_"} if name in IN_PRIVATE else set())
    text = inspect.getdoc(cls)
    for section in ("Raises", "See Also", "Notes", "References", "Examples"):
        assert f"\n{section}\n---" in text
    assert ".. rubric:: Privacy" in text


def test_shared_parameters_are_described_alike():
    kinds = {}
    for cls in {cls for cls, _ in FAMILY.values()}:
        for parameter in NumpyDocString(inspect.getdoc(cls))["Parameters"]:
            default = inspect.signature(cls).parameters[parameter.name].default
            if parameter.name not in ("classes", "bounds_y"):  # two, several; (0, high)
                kinds.setdefault(parameter.name, set()).add((parameter.type, default))
    assert {name for name, told in kinds.items() if len(told) > 1} == set()


@pytest.mark.parametrize("cls", [ObjPertLogisticRegression, ObjPertRegressor])
@pytest.mark.parametrize("order", [("private", "identity"), ("identity", "private")])
def test_another_metric_and_other_columns_leave_nothing_of_an_earlier_fit(cls, order):
    name = "logistic" if cls is ObjPertLogisticRegression else "log-cosh"
    X, y = table(name)
    model = made(name, delta=DELTA, metric=order[0])
    model.fit(pd.DataFrame(X, columns=list("abcd")), y)
    X, y = table(name, d=6)
    model.set_params(metric=order[1], random_state=3).fit(X, y)
    fresh = clone(model).fit(X, y)
    assert set(vars(model)) == set(vars(fresh))
    assert model.n_features_in_ == 6
    for attribute in ("theta_", "coef_", "metric_", "center_"):
        np.testing.assert_array_equal(
            getattr(model, attribute), getattr(fresh, attribute)
        )
    assert (model.metric_ is None) == (order[1] == "identity")
    np.testing.assert_array_equal(model.pdp_loss(X, y), fresh.pdp_loss(X, y))


@each
@pytest.mark.parametrize("error", [RuntimeError("0.5"), KeyboardInterrupt()], ids=repr)
def test_a_fit_that_breaks_off_leaves_the_earlier_one_or_none(name, error, monkeypatch):
    X, y = table(name)
    model, new = made(name).fit(X, y), made(name)
    before = pickle.dumps(vars(model))

    def release(*args, **kwargs):
        raise error

    monkeypatch.setattr(type(model.mechanism_), "release", release)
    for one in (model, new):
        with pytest.raises(type(error)):
            one.fit(X[:, :3], y)
    assert pickle.dumps(vars(model)) == before
    with pytest.raises(NotFittedError):
        new.predict(X)


# --- questions about one person -----------------------------------------------------


@each
def test_a_person_gives_her_record_in_any_form_and_through_a_pipeline(name):
    X, y = table(name)
    frame = pd.DataFrame(X, columns=list("abcd"))
    pipe = make_pipeline(BoundedScaler((-1.0, 1.0)), RowClipper(), made(name))
    pipe.set_output(transform="pandas").fit(frame, y)
    everyone = skdp.pdp_loss(pipe, frame, y)
    model = pipe[-1]
    assert model.feature_names_in_.tolist() == list("abcd")
    assert np.all((everyone > 0) & np.isfinite(everyone))
    np.testing.assert_array_equal(
        everyone, model.pdp_loss(pipe[:-1].transform(frame), y)
    )
    for person in (frame.iloc[3], frame.iloc[[3]]):
        alone = skdp.pdp_loss(pipe, (person, y[3]))
        np.testing.assert_allclose(alone, everyone[3:4], rtol=1e-12)
    plain = made(name).fit(X, y)
    expected = plain.pdp_loss(X, y)[3:4]
    for person in (X[3], X[[3]], X[3].tolist()):
        np.testing.assert_allclose(plain.pdp_loss((person, y[3])), expected, rtol=1e-12)
    spent = skdp.privacy_spent(pipe)
    assert spent.epsilon == model.privacy_spent_.epsilon
    assert spent.leaks == ()
    with pytest.raises(TypeError, match="y is missing"):
        plain.pdp_loss(X)
    for rho in (0.0, 1.0, math.nan, "small"):
        with pytest.raises((ValueError, TypeError), match="rho"):
            plain.pdp_loss(X, y, rho=rho)


# --- where the noise comes from -----------------------------------------------------


@each
def test_noise_comes_from_the_operating_system_alone(name, monkeypatch):
    import random

    def refuse(*args, **kwargs):
        raise AssertionError("a predictable generator was used")

    X, y = table(name)
    np.random.seed(0)  # noqa: NPY002
    one = made(name).fit(X, y)
    np.random.seed(0)  # noqa: NPY002
    assert one.coef_.tobytes() != made(name).fit(X, y).coef_.tobytes()
    for generator in ("default_rng", "random", "normal", "standard_normal"):
        monkeypatch.setattr(np.random, generator, refuse)
    for generator in ("random", "gauss", "getrandbits"):
        monkeypatch.setattr(random, generator, refuse)
    assert made(name).fit(X, y).privacy_spent_.releasable


def _coefficients(name):
    return made(name).fit(*table(name, 20)).coef_.tobytes()


def test_forked_workers_draw_fresh_noise():
    first = {_coefficients(name) for name in NAMES}
    with multiprocessing.get_context("fork").Pool(2) as pool:
        forked = pool.map(_coefficients, NAMES * 2, chunksize=len(NAMES))
    assert len(first | set(forked)) == 3 * len(NAMES)


# --- the company of scikit-learn ----------------------------------------------------

#: What a search may try for each parameter, with what it needs.
CHOICES = {
    "epsilon": {"epsilon": [1.0, 5.0]},
    "delta": {"delta": [DELTA]},
    "data_norm": {"data_norm": [0.5]},
    "alpha": {"alpha": [20.0]},
    "fit_intercept": {"fit_intercept": [False]},
    "intercept_scaling": {"intercept_scaling": [1.0]},
    "adjacency": {"adjacency": ["replace-one"]},
    "metric": {"metric": ["auto", "identity"]},
    "conservative": {"conservative": [True], "delta": [DELTA]},
    "pdp_report": {"pdp_report": ["hessian"], "delta": [DELTA]},
    "classes": {"classes": [[1, 0]]},
    "bounds_y": {"bounds_y": [(0, 50)]},
    "loss": {"loss": ["log-cosh", "pseudo-huber", "huber"]},
    "scale": {"scale": [10.0]},
    "width": {"width": [5.0]},
    "quantile": {"quantile": [0.7]},
    "random_state": {"random_state": [0]},
}
#: The only value that a private metric has a proof for.
FIXED = {
    "adjacency": "add-remove",
    "conservative": False,
    "loss": "log-cosh",
    "pdp_report": "data-independent",
}


@each
def test_a_search_may_try_every_parameter(name):
    X, y = table(name, 60)
    model = made(name)
    grids = [CHOICES[parameter] for parameter in model.get_params()]
    if name in IN_PRIVATE:
        fixed = [{p: [v]} for p, v in FIXED.items() if has(name, p)]
        grids = [g for g in grids if not g.keys() & FIXED.keys()] + fixed
        grids.append({"metric": ["private", "identity"], "delta": [DELTA]})
    split = [(np.arange(30), np.arange(30, 60))]
    search = GridSearchCV(model, grids, cv=split, error_score="raise").fit(X, y)
    tried = {p for params in search.cv_results_["params"] for p in params}
    assert tried == set(model.get_params())
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.privacy_spent_.epsilon <= 5.0
    # choosing by scores on private rows is a release nobody paid for
    with pytest.warns(PrivacyLeakWarning, match="GridSearchCV"):
        assert skdp.privacy_spent(search).epsilon == math.inf


SCORERS = {
    "logistic": ["accuracy", "roc_auc", "f1", "neg_log_loss", "neg_brier_score"],
    "svc": ["accuracy", "balanced_accuracy", "roc_auc", "average_precision", "f1"],
    "poisson": ["r2", "neg_mean_poisson_deviance", "neg_mean_absolute_error"],
}
OTHERWISE = ["r2", "neg_mean_squared_error", "neg_median_absolute_error"]


@each
def test_scores_go_by_their_names(name):
    X, y = table(name)
    model = made(name, epsilon=50.0, random_state=0)
    half = [(np.arange(40), np.arange(40, 80))]
    for scoring in [None, *SCORERS.get(name.partition(",")[0], OTHERWISE)]:
        [score] = cross_val_score(
            model, X, y, cv=half, scoring=scoring, error_score="raise"
        )
        assert np.isfinite(score)
    assert model.fit(X, y).score(X, y, sample_weight=np.ones(80)) <= 1.0


@each
def test_weights_are_refused_before_anything_is_read(name):
    """One person's weight would multiply what the noise has to hide."""
    with pytest.raises(TypeError, match="sample_weight"):
        made(name).fit(Untouchable(), Untouchable(), sample_weight=np.ones(3))
    assert not {"class_weight", "sample_weight", "max_iter"} & set(
        made(name).get_params()
    )


@each
def test_clones_keep_every_parameter_as_it_was_given(name):
    model = made(name, epsilon=np.float64(1.0), data_norm=np.float32(1.0))
    again = clone(model)
    for parameter, value in model.get_params().items():
        assert repr(getattr(again, parameter)) == repr(value)
    before = dict(model.get_params())
    model.fit(*table(name))
    assert all(model.get_params()[p] is v for p, v in before.items())
