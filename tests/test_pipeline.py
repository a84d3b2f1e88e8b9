"""Pipelines: private steps add up, free steps cost nothing, the rest is a leak."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import (
    ColumnTransformer,
    make_column_selector,
    make_column_transformer,
)
from sklearn.decomposition import PCA
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfVectorizer,
)
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.kernel_approximation import (
    AdditiveChi2Sampler,
    Nystroem,
    PolynomialCountSketch,
    RBFSampler,
    SkewedChi2Sampler,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection

import skdp
from skdp.accounting import GaussianDP, PrivacySpent
from skdp.datasets import make_classification_rows
from skdp.exceptions import (
    AdjacencyMismatchError,
    NotForReleaseWarning,
    PrivacyLeakWarning,
)

X, y = make_classification_rows(300, 4, random_state=0)
X = np.abs(X)  # so that every transformer below accepts the rows
FRAME = pd.DataFrame(X, columns=list("abcd"))


def private(**parameters):
    return skdp.ObjPertLogisticRegression(classes=[0, 1], **parameters)


def kind(value):
    """Name a parameter; a repr may hold an address, which differs between workers."""
    return type(value).__name__


def elementwise(values):
    return values**2


elementwise.__skdp_data_independent__ = True


class PrivateStep(TransformerMixin, BaseEstimator):
    """A private transformer that claims a fixed guarantee."""

    def __init__(self, guarantee=None, delta=0.0, releasable=True, grade="proved"):
        self.guarantee = guarantee
        self.delta = delta
        self.releasable = releasable
        self.grade = grade

    def fit(self, X, y=None):
        self.privacy_spent_ = PrivacySpent(
            self.guarantee, self.delta, releasable=self.releasable, grade=self.grade
        )
        return self

    def transform(self, X):
        return X


FREE_STEPS = [
    skdp.BoundedScaler(),
    skdp.RowClipper(),
    "passthrough",
    None,
    AdditiveChi2Sampler(),
    Binarizer(threshold=0.1),
    FunctionTransformer(),
    FunctionTransformer(np.log1p),
    FunctionTransformer(np.log1p, np.expm1),
    FunctionTransformer(elementwise),
    GaussianRandomProjection(n_components=2),
    MissingIndicator(features="all"),
    Normalizer(),
    OneHotEncoder(categories=[[0.0, 1.0]] * 4, handle_unknown="ignore"),
    OrdinalEncoder(
        categories=[[0.0, 1.0]] * 4,
        handle_unknown="use_encoded_value",
        unknown_value=-1,
    ),
    PolynomialCountSketch(n_components=5),
    PolynomialFeatures(2),
    RBFSampler(gamma=1.0, n_components=5),
    SimpleImputer(strategy="constant", fill_value=0.0, keep_empty_features=True),
    SkewedChi2Sampler(n_components=5),
    SparseRandomProjection(n_components=2),
    SplineTransformer(knots=np.tile([[0.0], [0.5], [1.0]], (1, 4))),
    FeatureUnion([("a", Normalizer()), ("b", Binarizer()), ("c", "drop")]),
    FrozenEstimator(skdp.BoundedScaler().fit(X)),
]


@pytest.mark.parametrize("step", FREE_STEPS, ids=kind)
def test_a_step_with_public_settings_is_free(step):
    pipeline = Pipeline([("step", step), ("model", private())]).fit(X, y)
    spent = skdp.privacy_spent(pipeline)
    own = pipeline[-1].privacy_spent_
    assert spent.epsilon == own.epsilon
    assert spent.delta == own.delta
    assert spent.leaks == ()
    assert set(spent.assumptions) >= set(own.assumptions)


LEAKING_STEPS = [
    StandardScaler(),
    MinMaxScaler(),
    PCA(2),
    SelectKBest(k=2),
    SimpleImputer(),
    SimpleImputer(strategy="constant", fill_value=0.0, add_indicator=True),
    KBinsDiscretizer(3, encode="ordinal", quantile_method="averaged_inverted_cdf")
    if "quantile_method" in KBinsDiscretizer().get_params()
    else KBinsDiscretizer(3, encode="ordinal"),
    OneHotEncoder(handle_unknown="ignore"),
    OneHotEncoder(
        categories=[[0.0, 1.0]] * 4, handle_unknown="ignore", min_frequency=2
    ),
    OrdinalEncoder(),
    RBFSampler(gamma="scale"),
    Nystroem(n_components=5),
    SplineTransformer(),
    FunctionTransformer(lambda values: values - values.mean(axis=0)),
    FeatureUnion([("fine", Normalizer()), ("scale", StandardScaler())]),
    FrozenEstimator(StandardScaler().fit(X)),
]


@pytest.mark.parametrize("step", LEAKING_STEPS, ids=kind)
def test_a_step_that_learned_from_rows_is_a_leak_and_epsilon_is_infinite(step):
    pipeline = Pipeline([("bad", step), ("model", private())]).fit(X, y)
    with pytest.warns(PrivacyLeakWarning, match="bad"):
        spent = skdp.privacy_spent(pipeline)
    assert tuple(spent) == (math.inf, 0.0)
    assert spent.nominal_epsilon == math.inf
    assert spent.leaks[0].startswith("bad")
    assert [part.name for part in spent.parts if part.guarantee is None] == list(
        spent.leaks
    )


@pytest.mark.parametrize(
    ("step", "table"),
    [
        (MissingIndicator(), np.array([[np.nan, 1.0], [1.0, 1.0]])),
        (GaussianRandomProjection(eps=0.99), np.ones((10, 200))),
        (SparseRandomProjection(eps=0.99), np.ones((10, 200))),
    ],
    ids=kind,
)
def test_a_number_of_columns_that_was_read_off_the_rows_is_a_leak(step, table):
    with pytest.warns(PrivacyLeakWarning, match=type(step).__name__):
        skdp.privacy_spent(step.fit(table))


def test_a_subclass_of_a_free_step_is_not_free():
    class Learner(Normalizer):
        """Could store anything."""

    with pytest.warns(PrivacyLeakWarning):
        assert skdp.privacy_spent(Learner().fit(X)).leaks == ("Learner",)


@pytest.mark.parametrize(
    ("vectorizer", "free"),
    [
        (HashingVectorizer(n_features=8), True),
        (CountVectorizer(vocabulary=["sick", "well"]), True),
        (CountVectorizer(), False),
        (TfidfVectorizer(), False),
    ],
    ids=kind,
)
def test_text_is_free_with_a_fixed_vocabulary_only(vectorizer, free):
    texts = ["sick and tired", "well and fine"] * 20
    pipeline = make_pipeline(vectorizer, private()).fit(texts, [0, 1] * 20)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        spent = skdp.privacy_spent(pipeline)
    assert (spent.leaks == ()) is free
    assert (len(caught) == 0) is free


@pytest.mark.parametrize(
    ("step", "free"), [(FeatureHasher(n_features=8), True), (DictVectorizer(), False)]
)
def test_mappings_are_free_when_hashed(step, free):
    rows = [{"age": 3.0}, {"age": 1.0, "sick": 1.0}] * 20
    pipeline = make_pipeline(step, private()).fit(rows, [0, 1] * 20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        assert (skdp.privacy_spent(pipeline).leaks == ()) is free


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (OneHotEncoder(categories=[[0.0, 1.0]] * 4), "declared"),
        (OrdinalEncoder(categories=[[0.0, 1.0]] * 4), "declared"),
        (SplineTransformer(knots=np.eye(2, 4), extrapolation="error"), "knots"),
        (SkewedChi2Sampler(), "above -skewedness"),
        (FunctionTransformer(np.log1p, np.expm1), "undo each other"),
    ],
    ids=kind,
)
def test_a_step_that_may_raise_on_data_adds_an_assumption(step, words):
    table = np.tile([[0.0], [1.0]], (20, 4))
    if isinstance(step, SplineTransformer):
        step = SplineTransformer(
            knots=np.tile([[0.0], [1.0]], (1, 4)), extrapolation="error"
        )
    pipeline = Pipeline([("step", step), ("model", private())]).fit(table, [0, 1] * 20)
    spent = skdp.privacy_spent(pipeline)
    assert any(a.startswith("step: ") and words in a for a in spent.assumptions)


@pytest.mark.parametrize(
    "search",
    [
        GridSearchCV(private(), {"epsilon": [0.1, 0.5, 1.0]}, cv=2),
        CalibratedClassifierCV(private(), cv=2),
        VotingClassifier([("one", private()), ("two", private())]),
    ],
    ids=kind,
)
def test_choosing_by_scores_on_private_rows_is_a_leak(search):
    """Also around a private estimator, and also as the last step of a pipeline."""
    with pytest.warns(PrivacyLeakWarning, match=type(search).__name__):
        spent = skdp.privacy_spent(search.fit(X, y))
    assert spent.epsilon == math.inf
    assert spent.leaks == (type(search).__name__,)
    with pytest.warns(PrivacyLeakWarning, match="search"):
        spent = skdp.privacy_spent(
            Pipeline([("clip", skdp.RowClipper()), ("search", search)]).fit(X, y)
        )
    assert spent.leaks == ("search",)


def test_a_private_estimator_alone_answers_for_itself():
    model = private().fit(X, y)
    assert skdp.privacy_spent(model) is model.privacy_spent_
    np.testing.assert_array_equal(skdp.pdp_loss(model, X, y), model.pdp_loss(X, y))


def test_a_non_private_estimator_is_a_leak_by_name():
    with pytest.warns(PrivacyLeakWarning, match="LogisticRegression"):
        spent = skdp.privacy_spent(LogisticRegression().fit(X, y))
    assert spent.leaks == ("LogisticRegression",)
    assert spent.epsilon == math.inf


def test_free_steps_alone_spend_nothing():
    spent = skdp.privacy_spent(make_pipeline(skdp.RowClipper(), Normalizer()).fit(X))
    assert tuple(spent) == (0.0, 0.0)
    assert spent.releasable


def test_every_step_has_one_line():
    pipeline = make_pipeline(skdp.BoundedScaler(), private()).fit(X, y)
    parts = skdp.privacy_spent(pipeline).parts
    assert [part.name for part in parts] == [name for name, _ in pipeline.steps]
    assert parts[0].guarantee.epsilon(0.0) == 0.0
    assert parts[1].guarantee == pipeline[-1].privacy_spent_.guarantee


def test_private_steps_compose():
    pipeline = make_pipeline(
        PrivateStep(skdp.GaussianDP(0.3), delta=1e-6),
        PrivateStep(skdp.GaussianDP(0.4), delta=1e-6),
    ).fit(X)
    spent = skdp.privacy_spent(pipeline)
    assert spent.delta == 2e-6
    assert spent.epsilon == pytest.approx(GaussianDP(0.5).epsilon(2e-6), rel=1e-9)


def test_private_steps_about_unlike_neighbours_are_refused():
    pipeline = make_pipeline(
        PrivateStep(skdp.PureDP(1.0)),
        PrivateStep(skdp.PureDP(1.0, adjacency="replace-one")),
    ).fit(X)
    with pytest.raises(AdjacencyMismatchError):
        skdp.privacy_spent(pipeline)


def test_the_weakest_step_sets_grade_and_release():
    pipeline = make_pipeline(
        PrivateStep(skdp.PureDP(1.0)),
        PrivateStep(skdp.PureDP(1.0), releasable=False, grade="heuristic"),
    ).fit(X)
    spent = skdp.privacy_spent(pipeline)
    assert spent.grade == "heuristic"
    assert not spent.releasable
    with pytest.warns(NotForReleaseWarning):
        seeded = make_pipeline(skdp.RowClipper(), private(random_state=0)).fit(X, y)
    assert not skdp.privacy_spent(seeded).releasable


def test_free_parts_speak_of_the_neighbours_of_the_private_ones():
    pipeline = make_pipeline(skdp.RowClipper(), private(adjacency="replace-one"))
    parts = skdp.privacy_spent(pipeline.fit(X, y)).parts
    assert {str(part.guarantee.adjacency) for part in parts} == {"replace-one"}


def test_nested_steps_are_named_by_their_path():
    columns = ColumnTransformer(
        [
            ("num", Pipeline([("scale", StandardScaler())]), ["a"]),
            ("fine", skdp.RowClipper(), ["b"]),
            ("dropped", "drop", ["c"]),
        ],
        remainder="passthrough",
    )
    pipeline = Pipeline([("prep", columns), ("model", private())]).fit(FRAME, y)
    with pytest.warns(PrivacyLeakWarning):
        spent = skdp.privacy_spent(pipeline)
    assert spent.leaks == ("prep__num__scale",)


def test_columns_may_be_chosen_by_name_and_dtype_but_not_by_looking():
    def by_look(frame):
        return [frame.var().idxmax()]

    fine = make_column_transformer(
        (skdp.RowClipper(), make_column_selector(pattern="[ab]")),
        (Normalizer(), ["c", "d"]),
    )
    pipeline = make_pipeline(fine, private()).fit(FRAME, y)
    assert skdp.privacy_spent(pipeline).leaks == ()
    bad = ColumnTransformer([("clip", skdp.RowClipper(), by_look)])
    with pytest.warns(PrivacyLeakWarning, match="clip__columns"):
        spent = skdp.privacy_spent(Pipeline([("prep", bad)]).fit(FRAME, y))
    assert spent.leaks == ("prep__clip__columns",)


@pytest.mark.parametrize(
    "estimator",
    [
        private(),
        make_pipeline(skdp.BoundedScaler(), private()),
        make_pipeline(make_union(Normalizer()), LogisticRegression()),
        StandardScaler(),
    ],
    ids=kind,
)
def test_an_unfitted_estimator_has_nothing_to_report(estimator):
    with pytest.raises(NotFittedError):
        skdp.privacy_spent(estimator)
    with pytest.raises(NotFittedError):
        skdp.pdp_loss(estimator, X, y)


def test_the_loss_of_a_pipeline_is_the_loss_of_its_last_step_on_transformed_rows():
    inner = Pipeline([("clip", skdp.RowClipper(0.5)), ("model", private())])
    pipeline = Pipeline(
        [("scale", skdp.BoundedScaler()), ("no", "passthrough"), ("inner", inner)]
    ).fit(X, y)
    clipped = skdp.RowClipper(0.5).fit_transform(np.clip(X, -1, 1))
    np.testing.assert_allclose(
        skdp.pdp_loss(pipeline, X, y),
        pipeline[-1][-1].pdp_loss(clipped, y),
        rtol=1e-12,
    )


def test_one_person_may_be_asked_about_by_her_record():
    bounds = dict.fromkeys("abcd", (-1.0, 1.0))
    pipeline = make_pipeline(skdp.BoundedScaler(bounds), private()).fit(FRAME, y)
    everyone = skdp.pdp_loss(pipeline, FRAME, y)
    one = skdp.pdp_loss(pipeline, (FRAME.iloc[7], y[7]))
    np.testing.assert_allclose(one, everyone[7:8])
    plain = make_pipeline(skdp.RowClipper(), private()).fit(X, y)
    assert skdp.pdp_loss(plain, (X[7], y[7])).shape == (1,)


def test_options_reach_the_last_step():
    pipeline = make_pipeline(skdp.RowClipper(), private(delta=1e-6)).fit(X, y)
    safe, loose = (skdp.pdp_loss(pipeline, X, y, rho=rho) for rho in (1e-9, 1e-2))
    assert (safe >= loose).all()
    assert (safe > loose).any()


def test_the_loss_behind_a_leaking_step_warns():
    pipeline = make_pipeline(StandardScaler(), private()).fit(X, y)
    with pytest.warns(PrivacyLeakWarning, match="standardscaler"):
        loss = skdp.pdp_loss(pipeline, X, y)
    assert loss.shape == (300,)


def test_a_loss_that_nobody_knows_is_refused():
    with pytest.raises(TypeError, match="y is missing"):
        skdp.pdp_loss(private().fit(X, y), X)
    with (
        pytest.warns(PrivacyLeakWarning),
        pytest.raises(TypeError, match="LogisticRegression"),
    ):
        skdp.pdp_loss(make_pipeline(LogisticRegression()).fit(X, y), X, y)
    pipeline = make_pipeline(PrivateStep(skdp.PureDP(1.0)), private()).fit(X, y)
    with pytest.raises(TypeError, match="'privatestep' is private itself"):
        skdp.pdp_loss(pipeline, X, y)
