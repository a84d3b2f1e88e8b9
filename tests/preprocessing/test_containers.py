"""Estimators made of others: sparse or dense, caches, and choices of columns."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.kernel_approximation import (
    AdditiveChi2Sampler,
    PolynomialCountSketch,
    RBFSampler,
    SkewedChi2Sampler,
)
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection

import skdp
from skdp.accounting import PrivacySpent
from skdp.exceptions import PrivacyLeakWarning
from skdp.preprocessing._data_independent import RULES
from skdp.preprocessing._sparse_output import OUTPUTS, may_be_sparse

FRAME = pd.DataFrame(np.eye(8, 4), columns=list("abcd"))
KNOTS = np.tile([[0.0], [1.0]], (1, 4))
CODES = {"categories": [[0.0, 1.0]] * 4, "handle_unknown": "ignore"}


def squared(values):
    return values**2


squared.__skdp_data_independent__ = True


def sparse_squared(values):
    return sparse.csr_matrix(squared(np.asarray(values)))


sparse_squared.__skdp_data_independent__ = True

STEPS = [
    AdditiveChi2Sampler(),
    Binarizer(),
    ColumnTransformer([("a", OneHotEncoder(), [0])], sparse_threshold=0),
    ColumnTransformer([("a", OneHotEncoder(), [0])], sparse_threshold=1),
    FeatureUnion([("a", Normalizer()), ("b", "passthrough"), ("c", "drop")]),
    FeatureUnion([("a", Binarizer()), ("b", OneHotEncoder(**CODES))]),
    FrozenEstimator(skdp.BoundedScaler().fit(FRAME.to_numpy())),
    FunctionTransformer(),
    FunctionTransformer(np.log1p),
    FunctionTransformer(sparse_squared),
    GaussianRandomProjection(2),
    make_pipeline(OneHotEncoder(**CODES), Normalizer()),
    make_pipeline("passthrough", OneHotEncoder(**CODES), RBFSampler(gamma=1.0)),
    MissingIndicator(features="all"),
    MissingIndicator(features="all", sparse=True),
    MissingIndicator(features="all", sparse=False),
    Normalizer(),
    OneHotEncoder(**CODES),
    OneHotEncoder(**CODES, sparse_output=False),
    OrdinalEncoder(categories=CODES["categories"]),
    PolynomialCountSketch(n_components=3),
    PolynomialFeatures(),
    RBFSampler(gamma=1.0),
    SimpleImputer(strategy="constant", fill_value=0.0, keep_empty_features=True),
    SkewedChi2Sampler(n_components=3),
    SparseRandomProjection(2),
    SplineTransformer(knots=KNOTS),
    SplineTransformer(knots=KNOTS, sparse_output=True),
    skdp.BoundedScaler(),
    skdp.RowClipper(),
]
TEXTS = [CountVectorizer(vocabulary=["a"]), FeatureHasher(8), HashingVectorizer()]


def kind(value):
    return type(value).__name__


@pytest.mark.parametrize("step", STEPS, ids=kind)
@pytest.mark.parametrize("given", [False, True], ids=["dense", "sparse"])
def test_no_step_is_sparse_unforeseen(step, given):
    table = sparse.csr_matrix(FRAME.to_numpy()) if given else FRAME.to_numpy()
    step = clone(step)
    try:
        output = step.fit(table, None).transform(table)
    except TypeError:  # takes no sparse table
        assert given
        return
    assert sparse.issparse(output) <= may_be_sparse(step, given)


def test_every_free_step_was_asked_about():
    assert set(RULES) < set(OUTPUTS)
    assert {type(step) for step in STEPS + TEXTS} == set(OUTPUTS)
    rows = [["a b"], [{"a": 1.0}], ["a b"]]
    for step, row in zip(TEXTS, rows, strict=True):
        assert sparse.issparse(step.fit(row).transform(row))
        assert may_be_sparse(step, False)


class Declared(Normalizer):
    """Declares that it learns nothing, but not what it hands on."""

    __skdp_data_independent__ = True


class Private(Normalizer):
    """A private transformer of unknown output."""

    def fit(self, X, y=None):
        self.privacy_spent_ = PrivacySpent(skdp.PureDP(1.0), 0.0)
        return super().fit(X)


MAYBE_SPARSE = [
    OneHotEncoder(categories=[[0.0, 1.0]], handle_unknown="ignore"),
    FunctionTransformer(squared),
    MissingIndicator(features="all", sparse=True),
    make_pipeline(skdp.RowClipper(), SplineTransformer(knots=KNOTS[:, :1]), Declared()),
    FeatureUnion(
        [("a", Normalizer()), ("b", SplineTransformer(knots=KNOTS[:, :1]))]
    ).set_params(b__sparse_output=True),
    Declared(),
    Private(),
]


@pytest.mark.parametrize("step", MAYBE_SPARSE, ids=kind)
def test_counting_zeros_to_choose_the_output_is_a_leak(step):
    columns = ColumnTransformer([("one", step, ["a"])], remainder=skdp.RowClipper())
    pipeline = Pipeline([("prep", columns)]).fit(FRAME)
    message = r"prep \(ColumnTransformer\): .*'one'.*set sparse_threshold=0"
    with pytest.warns(PrivacyLeakWarning, match=message):
        spent = skdp.privacy_spent(pipeline)
    assert spent.epsilon == math.inf
    assert spent.leaks == ("prep",)
    pipeline.set_params(prep__sparse_threshold=0).fit(FRAME)
    assert skdp.privacy_spent(pipeline).leaks == ()


def test_the_output_of_neighbours_may_differ_in_kind():
    """One row decides between sparse and dense, which is why it is a leak."""
    encode = OneHotEncoder(**CODES | {"categories": [[0.0, 1.0]]})
    columns = ColumnTransformer([("one", encode, ["a"])], sparse_threshold=0.5)
    fine = pd.DataFrame({"a": [0.0, 1.0]})
    odd = pd.DataFrame({"a": [0.0, 1.0, 2.0]})
    assert not clone(columns).fit(fine).sparse_output_
    assert clone(columns).fit(odd).sparse_output_


@pytest.mark.parametrize("table", [FRAME.to_numpy(), sparse.csr_matrix(FRAME)])
@pytest.mark.parametrize(
    "step", [skdp.RowClipper(), Normalizer(), "passthrough"], ids=str
)
def test_without_names_the_table_may_have_been_sparse(step, table):
    columns = ColumnTransformer([("one", step, [0]), ("two", "drop", [1, 2])])
    with pytest.warns(PrivacyLeakWarning, match="'one'"):
        skdp.privacy_spent(clone(columns).fit(table))
    columns = ColumnTransformer([("fit", "drop", [0, 1, 2])], remainder="passthrough")
    with pytest.warns(PrivacyLeakWarning, match="'remainder'"):
        skdp.privacy_spent(columns.fit(table))
    assert (
        skdp.privacy_spent(columns.set_params(sparse_threshold=0).fit(table)).leaks
        == ()
    )


def test_dense_steps_need_no_threshold():
    columns = ColumnTransformer([("scale", skdp.BoundedScaler(), [0, 1])])
    assert skdp.privacy_spent(columns.fit(FRAME.to_numpy())).assumptions == (
        "the steps and their parameters are those of the fit",
    )


def test_the_columns_of_a_frame_are_taken_as_dense_unless_seen_otherwise():
    columns = ColumnTransformer([("clip", skdp.RowClipper(), ["a", "b"])])
    spent = skdp.privacy_spent(columns.fit(FRAME))
    assert spent.leaks == ()
    assert any("sparse dtype" in a for a in spent.assumptions)
    thin = FRAME.astype(pd.SparseDtype(float, 0.0))
    with pytest.warns(PrivacyLeakWarning, match="'clip'"):
        skdp.privacy_spent(columns.fit(thin))


def test_a_threshold_set_after_the_fit_excuses_nothing():
    columns = ColumnTransformer(
        [("one", OneHotEncoder(categories=[list(range(9))]), ["a"])]
    ).fit(FRAME)
    with pytest.warns(PrivacyLeakWarning, match="sparse_threshold=0"):
        skdp.privacy_spent(columns.set_params(sparse_threshold=0))


def test_a_leak_inside_is_named_without_a_guess_about_its_output():
    columns = ColumnTransformer([("scale", StandardScaler(), ["a"])]).fit(FRAME)
    with pytest.warns(PrivacyLeakWarning):
        assert skdp.privacy_spent(columns).leaks == ("scale",)


def test_a_subclass_of_the_selector_may_look_at_rows():
    class Widest(make_column_selector):
        """Chooses the column that varies most."""

        def __call__(self, frame):
            return [frame.var().idxmax()]

    columns = ColumnTransformer([("clip", skdp.RowClipper(), Widest())]).fit(FRAME)
    with pytest.warns(PrivacyLeakWarning, match="clip__columns"):
        assert skdp.privacy_spent(columns).leaks == ("clip__columns",)


@pytest.mark.parametrize("nothing", [[], [False] * 4, make_column_selector("z")])
def test_a_step_without_columns_was_never_fitted(nothing):
    columns = ColumnTransformer(
        [("none", StandardScaler(), nothing), ("scale", skdp.BoundedScaler(), ["a"])]
    )
    assert skdp.privacy_spent(columns.fit(FRAME)).leaks == ()


@pytest.mark.parametrize("chosen", [[True, False, False, False], slice(0, 2), ["a"]])
def test_a_step_with_columns_is_judged_however_they_were_chosen(chosen):
    columns = ColumnTransformer([("bad", StandardScaler(), chosen)]).fit(FRAME)
    with pytest.warns(PrivacyLeakWarning):
        assert skdp.privacy_spent(columns).leaks == ("bad",)


def test_a_step_with_one_column_of_texts_is_judged():
    texts = pd.DataFrame({"note": ["sick", "well"]})
    columns = ColumnTransformer([("bad", CountVectorizer(), "note")])
    columns.set_params(sparse_threshold=0).fit(texts)
    with pytest.warns(PrivacyLeakWarning):
        assert skdp.privacy_spent(columns).leaks == ("bad",)


def test_a_cache_of_private_rows_is_named(tmp_path):
    steps = [("clip", skdp.RowClipper()), ("unit", Normalizer())]
    inner = Pipeline(steps, memory=str(tmp_path)).fit(FRAME)
    spent = skdp.privacy_spent(inner)
    assert spent.leaks == ()
    assert "Pipeline: what memory writes to disk is as secret as the data" in (
        spent.assumptions
    )
    outer = Pipeline([("inner", inner)]).fit(FRAME)
    assert any(a.startswith("inner: what memory") for a in spent_assumptions(outer))
    plain = Pipeline(steps).fit(FRAME)
    assert not any("memory" in a for a in spent_assumptions(plain))


def spent_assumptions(pipeline):
    return skdp.privacy_spent(pipeline).assumptions


def test_a_private_step_that_reports_a_leak_is_named():
    class Leaky(Normalizer):
        """Reports a leak of its own."""

        def fit(self, X, y=None):
            self.privacy_spent_ = PrivacySpent(None, 0.0, leaks=("inside",))
            return super().fit(X)

    with pytest.warns(PrivacyLeakWarning, match=r"bad \(Leaky\): it reports a leak"):
        skdp.privacy_spent(Pipeline([("bad", Leaky())]).fit(FRAME))


def test_the_warning_says_what_is_wrong_what_came_what_is_allowed_and_what_to_do():
    pipeline = Pipeline([("impute", SimpleImputer())]).fit(FRAME)
    with pytest.warns(PrivacyLeakWarning) as caught:
        skdp.privacy_spent(pipeline)
    text = str(caught[0].message)
    beats = ["no guarantee holds", "got steps", "impute (SimpleImputer): ", "Allowed: "]
    assert [text.index(beat) for beat in beats] == sorted(map(text.index, beats))
    assert "set strategy='constant'" in text
