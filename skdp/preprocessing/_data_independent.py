"""Which transformers learn nothing from the rows, and under which settings.

A transformer is free of charge when two things hold: what ``fit`` stores depends only
on parameters, shapes, dtypes and names of columns; and ``transform`` treats each row
alone. Then neighbouring tables stay neighbouring tables, and whatever follows keeps its
guarantee. Everything that is not known to be free counts as a leak.

Types are compared exactly: a subclass may learn what its parent does not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.kernel_approximation import (
    AdditiveChi2Sampler,
    PolynomialCountSketch,
    RBFSampler,
    SkewedChi2Sampler,
)
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

__all__ = ["MARK", "Verdict", "judge"]

#: A class, or a function given to FunctionTransformer, that sets this attribute to True
#: declares that it learns nothing from the rows and treats each row alone.
MARK = "__skdp_data_independent__"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a fitted transformer is free of charge.

    Attributes
    ----------
    leak : str
        Why it is not; empty when it is free.
    assumptions : tuple of str
        What being free takes as given.
    """

    leak: str = ""
    assumptions: tuple[str, ...] = ()


FREE = Verdict()


def judge(transformer: Any) -> Verdict:
    """Tell whether ``transformer`` learned something from private rows."""
    if getattr(transformer, MARK, False) is True:
        return FREE
    rule = RULES.get(type(transformer))
    if rule is None:
        return Verdict("not known to be independent of the data")
    return rule(transformer)


def _always(transformer: Any) -> Verdict:
    return FREE


def _assuming(*assumptions: str) -> Callable[[Any], Verdict]:
    return lambda transformer: Verdict(assumptions=assumptions)


def _encoder(encoder: Any) -> Verdict:
    if isinstance(encoder.categories, str):
        return Verdict("categories='auto' reads the categories off the data")
    if encoder.min_frequency is not None or encoder.max_categories is not None:
        return Verdict("rare categories are found by counting rows")
    quiet = {"ignore", "infrequent_if_exist", "use_encoded_value"}
    if encoder.handle_unknown in quiet and getattr(encoder, "drop", None) is None:
        return FREE
    # it raises or warns on the first unlisted value it meets
    return Verdict(assumptions=("every category is one of the declared ones",))


def _function(transformer: Any) -> Verdict:
    func = transformer.func
    if not (func is None or _is_elementwise(func) or getattr(func, MARK, False)):
        return Verdict(
            "the function may look at all rows; set its attribute "
            f"{MARK} = True if it treats each row alone"
        )
    if transformer.check_inverse and None not in (func, transformer.inverse_func):
        return Verdict(assumptions=("func and inverse_func undo each other",))
    return FREE


def _is_elementwise(func: Any) -> bool:
    """Tell whether ``func`` is a NumPy function of single numbers, such as log1p."""
    return isinstance(func, np.ufunc) and func.signature is None


def _missing_indicator(indicator: Any) -> Verdict:
    if indicator.features == "all":
        return FREE
    return Verdict("the columns with missing values are read off the data")


def _random_projection(projection: Any) -> Verdict:
    if isinstance(projection.n_components, str):
        return Verdict("n_components='auto' depends on the number of rows")
    return FREE


def _rbf_sampler(sampler: Any) -> Verdict:
    if isinstance(sampler.gamma, str):
        return Verdict("gamma='scale' is the variance of the data")
    return FREE


def _simple_imputer(imputer: Any) -> Verdict:
    if imputer.strategy != "constant":
        return Verdict("the imputed values are statistics of the data")
    if imputer.add_indicator or not imputer.keep_empty_features:
        return Verdict(
            "which columns are empty or have missing values is read off the data; set "
            "add_indicator=False and keep_empty_features=True"
        )
    return FREE


def _splines(splines: Any) -> Verdict:
    if isinstance(splines.knots, str):
        return Verdict("the knots are read off the data")
    if splines.extrapolation == "error":
        return Verdict(assumptions=("every value is within the declared knots",))
    return FREE


def _vocabulary(vectorizer: Any) -> Verdict:
    if vectorizer.vocabulary is None:
        return Verdict("the vocabulary is read off the data")
    return FREE


RULES: dict[type, Callable[[Any], Verdict]] = {
    AdditiveChi2Sampler: _assuming("no value is negative"),
    Binarizer: _always,
    CountVectorizer: _vocabulary,
    FeatureHasher: _always,
    FunctionTransformer: _function,
    GaussianRandomProjection: _random_projection,
    HashingVectorizer: _always,
    MissingIndicator: _missing_indicator,
    Normalizer: _always,
    OneHotEncoder: _encoder,
    OrdinalEncoder: _encoder,
    PolynomialCountSketch: _always,
    PolynomialFeatures: _always,
    RBFSampler: _rbf_sampler,
    SimpleImputer: _simple_imputer,
    SkewedChi2Sampler: _assuming("every value is above -skewedness"),
    SparseRandomProjection: _random_projection,
    SplineTransformer: _splines,
}
