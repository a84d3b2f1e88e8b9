"""Which transformers may hand on a sparse table, so far as their types can tell."""

from collections.abc import Callable
from typing import Any

from sklearn.compose import ColumnTransformer
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
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    SplineTransformer,
)
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection

from skdp.preprocessing._bounded_scaler import BoundedScaler
from skdp.preprocessing._data_independent import judge
from skdp.preprocessing._marks import is_elementwise
from skdp.preprocessing._row_clipper import RowClipper

__all__ = ["may_be_sparse"]


def may_be_sparse(step: Any, given: bool) -> bool:
    """Tell whether a fitted step may hand on a sparse table.

    ``given`` tells whether it may get one. A step of unknown type may, unless it is a
    leak on its own: then it is reported anyway.
    """
    if step is None or isinstance(step, str):  # "passthrough" or "drop"
        return given and step != "drop"
    rule = OUTPUTS.get(type(step))
    if rule is not None:
        return rule(step, given)
    return hasattr(step, "privacy_spent_") or not judge(step).leak


def _never(step: Any, given: bool) -> bool:
    return False


def _as_given(step: Any, given: bool) -> bool:
    return given


def _always(step: Any, given: bool) -> bool:
    return True


def _by_parameter(step: Any, given: bool) -> bool:
    return bool(step.sparse_output)


def _columns(columns: Any, given: bool) -> bool:
    if columns.sparse_threshold == 0:
        return False
    return any(may_be_sparse(inner, given) for _, inner, _ in columns.transformers_)


def _function(transformer: Any, given: bool) -> bool:
    known = transformer.func is None or is_elementwise(transformer.func)
    return given if known else True


def _missing_indicator(indicator: Any, given: bool) -> bool:
    return given if indicator.sparse == "auto" else bool(indicator.sparse)


def _pipeline(pipeline: Any, given: bool) -> bool:
    for _, step in pipeline.steps:
        given = may_be_sparse(step, given)
    return given


def _union(union: Any, given: bool) -> bool:
    return any(may_be_sparse(inner, given) for _, inner in union.transformer_list)


OUTPUTS: dict[type, Callable[[Any, bool], bool]] = {
    AdditiveChi2Sampler: _as_given,
    Binarizer: _as_given,
    BoundedScaler: _never,
    ColumnTransformer: _columns,
    CountVectorizer: _always,
    FeatureHasher: _always,
    FeatureUnion: _union,
    FrozenEstimator: lambda frozen, given: may_be_sparse(frozen.estimator, given),
    FunctionTransformer: _function,
    GaussianRandomProjection: _never,
    HashingVectorizer: _always,
    MissingIndicator: _missing_indicator,
    Normalizer: _as_given,
    OneHotEncoder: _by_parameter,
    OrdinalEncoder: _never,
    Pipeline: _pipeline,
    PolynomialCountSketch: _never,
    PolynomialFeatures: _as_given,
    RBFSampler: _never,
    RowClipper: _as_given,
    SimpleImputer: _as_given,
    SkewedChi2Sampler: _never,
    SparseRandomProjection: _as_given,
    SplineTransformer: _by_parameter,
}
