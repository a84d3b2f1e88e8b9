"""A step is free for what it did, not for what it inherits or says afterwards."""

import functools
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import special
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    SplineTransformer,
    StandardScaler,
)
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection

import skdp
from skdp import preprocessing
from skdp.exceptions import PrivacyLeakWarning

MARK = "__skdp_data_independent__"
X = np.abs(np.random.RandomState(0).randn(30, 3))
WORDS = ["sick and tired", "well and fine"] * 3


def spent_by(step):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        return skdp.privacy_spent(step)


def is_free(step):
    spent = spent_by(step)
    assert spent.epsilon in (0.0, math.inf)
    assert (spent.epsilon == 0.0) is (spent.leaks == ())
    return spent.leaks == ()


def reason(step):
    with pytest.warns(PrivacyLeakWarning) as caught:
        skdp.privacy_spent(step)
    return str(caught[0].message)


# --- declarations -----------------------------------------------------------------


@pytest.mark.parametrize("name", preprocessing.__all__)
def test_a_subclass_must_declare_for_itself_that_it_learns_nothing(name):
    parent = getattr(preprocessing, name)

    class Learner(parent):
        """Centres, which its parent does not."""

        def fit(self, X, y=None):
            self.mean_ = np.mean(X, axis=0)
            return super().fit(X, y)

    Quiet = type("Quiet", (parent,), {MARK: True, "__doc__": "Declares for itself."})
    assert is_free(parent().fit(X))
    assert not is_free(Learner().fit(X))
    assert is_free(Quiet().fit(X))
    assert not is_free(type("Heir", (Quiet,), {}).__call__().fit(X))


@pytest.mark.parametrize("value", [False, None, 1, "yes"])
def test_only_true_declares(value):
    Vague = type("Vague", (Normalizer,), {MARK: value})
    assert not is_free(Vague().fit(X))


def test_an_attribute_of_the_instance_declares_nothing():
    scaler = StandardScaler().fit(X)
    setattr(scaler, MARK, True)
    assert not is_free(scaler)


def centred(values):
    return values - np.mean(values, axis=0)


def squared(values):
    return values**2


setattr(squared, MARK, True)


class Squares:
    """A callable whose class declares."""

    def __call__(self, values):
        return values**2


setattr(Squares, MARK, True)


class Centres(Squares):
    """Inherits a declaration that does not hold for it."""

    def __call__(self, values):
        return centred(values)


@functools.wraps(squared)
def wrapper(values):
    return squared(centred(values))


@functools.wraps(centred)
def own_word(values):
    return values**2


setattr(own_word, MARK, True)

TRUSTED = [None, np.log1p, np.abs, special.expit, squared, Squares(), own_word]
UNTRUSTED = [
    centred,
    wrapper,
    functools.partial(squared),
    np.cumsum,
    np.maximum.accumulate,
    np.frompyfunc(abs, 1, 1),
    np.vectorize(abs),
    Centres(),
]


@pytest.mark.parametrize("function", TRUSTED, ids=lambda f: type(f).__name__)
def test_known_and_declared_functions_are_free(function):
    assert is_free(FunctionTransformer(function).fit(X))


@pytest.mark.parametrize("function", UNTRUSTED, ids=lambda f: type(f).__name__)
def test_a_function_that_may_remember_rows_is_a_leak(function):
    assert not is_free(FunctionTransformer(function).fit(X))


def test_a_stateful_function_cannot_pass_as_one_of_single_numbers():
    """Its output depends on the rows it met before."""
    seen = []

    def running_mean(value):
        seen.append(value)
        return sum(seen) / len(seen)

    step = FunctionTransformer(np.frompyfunc(running_mean, 1, 1)).fit(X)
    assert "set its own attribute" in reason(step)


@pytest.mark.parametrize("function", UNTRUSTED, ids=lambda f: type(f).__name__)
def test_an_inverse_is_called_with_rows_only_to_be_checked(function):
    """``fit`` is skipped: the check itself may warn."""
    assert not is_free(FunctionTransformer(np.log1p, function))
    assert is_free(FunctionTransformer(np.log1p, function, check_inverse=False))


def test_a_mask_of_rows_is_no_function_of_single_numbers():
    mask = np.arange(30)[:, None] < 5
    step = FunctionTransformer(np.log1p, kw_args={"where": mask}).fit(X)
    assert "kw_args" in reason(step)


def test_a_numpy_function_assumes_its_domain():
    step = FunctionTransformer(np.log).fit(X)
    assert any("in the domain" in a for a in skdp.privacy_spent(step).assumptions)


CALLABLES = ["analyzer", "preprocessor", "strip_accents", "tokenizer"]


@pytest.mark.parametrize("parameter", CALLABLES)
@pytest.mark.parametrize(
    "vectorizer",
    [HashingVectorizer(), CountVectorizer(vocabulary=["sick", "well"])],
    ids=lambda v: type(v).__name__,
)
def test_code_that_reads_texts_must_declare_itself(vectorizer, parameter):
    def code(text):
        return text if parameter in ("preprocessor", "strip_accents") else text.split()

    if parameter == "tokenizer":
        vectorizer = clone(vectorizer).set_params(token_pattern=None)
    vectorizer = clone(vectorizer).set_params(**{parameter: code}).fit(WORDS)
    assert parameter in reason(vectorizer)
    setattr(code, MARK, True)
    assert is_free(vectorizer)


@pytest.mark.parametrize(
    "parameters", [{}, {"analyzer": "char"}, {"strip_accents": "ascii"}]
)
def test_named_ways_to_read_texts_are_free(parameters):
    assert is_free(HashingVectorizer(**parameters))
    assert is_free(CountVectorizer(vocabulary=["a"], **parameters).fit(WORDS))


# --- what was fitted, not what is said afterwards -----------------------------------

CODES = np.array([[0.0, 1.0], [1.0, 2.0], [0.0, 2.0]] * 4)
HOLES = np.array([[np.nan, 1.0], [1.0, 3.0], [3.0, 2.0]])
WIDE = np.ones((10, 200))
CONSTANT = {"strategy": "constant", "fill_value": 0.0, "keep_empty_features": True}
WRONG = [[5.0, 6.0], [7.0, 8.0]]
RIGHT = [[0.0, 1.0], [1.0, 2.0]]
QUIET = {"handle_unknown": "ignore"}
KNOTS = np.array([[0.0, 0.0], [1.0, 2.0], [4.0, 4.0]])

CHANGED = [
    (SimpleImputer(), CONSTANT, HOLES),
    (SimpleImputer(), CONSTANT | {"fill_value": None}, HOLES),
    (SimpleImputer(), CONSTANT | {"fill_value": "missing"}, HOLES),
    (SimpleImputer(strategy="most_frequent"), CONSTANT, HOLES),
    (SimpleImputer(**CONSTANT, add_indicator=True), {"add_indicator": False}, HOLES),
    (OneHotEncoder(**QUIET), {"categories": WRONG}, CODES),
    (OneHotEncoder(**QUIET), {"categories": WRONG[:1]}, CODES),
    (OneHotEncoder(**QUIET), {"categories": [["a"], ["b"]]}, CODES),
    (OneHotEncoder(**QUIET), {"categories": [[0.0, 1.0, 9.0]] * 2}, CODES),
    (
        OneHotEncoder(categories=RIGHT, min_frequency=9, **QUIET),
        {"min_frequency": None},
        CODES,
    ),
    (OrdinalEncoder(), {"categories": WRONG}, CODES),
    (CountVectorizer(), {"vocabulary": ["sick"]}, WORDS),
    (MissingIndicator(), {"features": "all"}, HOLES),
    (GaussianRandomProjection(eps=0.99), {"n_components": 3}, WIDE),
    (SparseRandomProjection(eps=0.99), {"n_components": 3}, WIDE),
    (SplineTransformer(n_knots=3), {"knots": KNOTS}, CODES),
    (SplineTransformer(n_knots=3), {"knots": KNOTS[:2]}, CODES),
    (SplineTransformer(n_knots=3), {"knots": KNOTS[:, :1]}, CODES),
]


@pytest.mark.parametrize(
    ("step", "later", "table"), CHANGED, ids=lambda v: type(v).__name__
)
def test_parameters_set_after_the_fit_excuse_nothing(step, later, table):
    step = clone(step).fit(table).set_params(**later)
    assert "fitted with other parameters" in reason(step)


HONEST = [
    (SimpleImputer(**CONSTANT), HOLES),
    (SimpleImputer(**CONSTANT | {"fill_value": None}), HOLES),
    (SimpleImputer(**CONSTANT | {"fill_value": 0.1}), HOLES.astype(np.float32)),
    (SimpleImputer(**CONSTANT | {"fill_value": np.nan}), HOLES),
    (
        SimpleImputer(**CONSTANT | {"fill_value": None}, missing_values=None),
        np.array([["a", None], ["b", "c"]], dtype=object),
    ),
    (OneHotEncoder(categories=[[0.1, np.nan]] * 2, **QUIET), CODES.astype("f4")),
    (OneHotEncoder(categories=[["a"], ["b", "long"]], **QUIET), [["a", "b"]] * 3),
    (
        OneHotEncoder(categories=[[1, 2], ["x"]], **QUIET),
        pd.DataFrame({"one": [1, 2], "two": ["x", None]}),
    ),
    (OrdinalEncoder(categories=RIGHT), CODES),
    (CountVectorizer(vocabulary={"sick": 0}), WORDS),
    (MissingIndicator(features="all"), HOLES),
    (GaussianRandomProjection(n_components=3), WIDE),
    (SparseRandomProjection(n_components=3), WIDE),
    (SplineTransformer(knots=KNOTS), CODES),
    (SplineTransformer(knots=KNOTS, degree=0), CODES),
    (SplineTransformer(knots=KNOTS, degree=2, extrapolation="periodic"), CODES),
]


@pytest.mark.parametrize(("step", "table"), HONEST, ids=lambda v: type(v).__name__)
def test_parameters_of_the_fit_are_recognised(step, table):
    assert is_free(clone(step).fit(table))


@pytest.mark.parametrize("missing", [None, np.nan])
def test_a_missing_category_equals_only_itself(missing):
    table = np.array([["x", missing]] * 3, dtype=object)
    encoder = OrdinalEncoder(categories=[["x"], ["x", missing]]).fit(table)
    assert is_free(encoder)
    for wrong in ("y", 1.0, pd.NA):
        assert not is_free(encoder.set_params(categories=[["x"], ["x", wrong]]))


@pytest.mark.parametrize("step", [SimpleImputer(**CONSTANT), SplineTransformer()])
def test_a_step_put_in_after_the_fit_is_a_leak(step):
    pipeline = Pipeline([("scale", StandardScaler()), ("clip", skdp.RowClipper())])
    pipeline.fit(X).set_params(scale=step)
    assert "not the step that was fitted" in reason(pipeline)


def test_what_fitted_attributes_do_not_show_is_an_assumption():
    spent = skdp.privacy_spent(Pipeline([("unit", Normalizer())]).fit(X))
    assert "the steps and their parameters are those of the fit" in spent.assumptions
