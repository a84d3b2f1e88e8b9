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

from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.kernel_approximation import (
    AdditiveChi2Sampler,
    PolynomialCountSketch,
    RBFSampler,
    SkewedChi2Sampler,
)
from sklearn.pipeline import Pipeline
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
from sklearn.utils.validation import check_is_fitted

from skdp.preprocessing._as_fitted import (
    has_declared_categories,
    has_declared_constant,
    has_declared_knots,
)
from skdp.preprocessing._marks import MARK, is_elementwise, is_marked, is_trusted

__all__ = ["Verdict", "judge"]


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
STALE = Verdict(
    "it was fitted with other parameters than it has now; set parameters before fit"
)


#: Transformers with nothing to fit, which older releases call unfitted for ever.
_STATELESS = (FeatureHasher, HashingVectorizer)


def check_fitted(estimator: Any) -> None:
    """Raise NotFittedError unless an estimator, or the last step, is fitted."""
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    if type(last) not in _STATELESS:
        check_is_fitted(estimator)


def judge(transformer: Any) -> Verdict:
    """Tell whether ``transformer`` learned something from private rows."""
    if is_marked(transformer):
        return FREE
    rule = RULES.get(type(transformer))
    if rule is None:
        return Verdict("not known to be independent of the data")
    try:
        check_fitted(transformer)
    except NotFittedError:
        return Verdict("it is not the step that was fitted; fit the whole again")
    return rule(transformer)


def _always(transformer: Any) -> Verdict:
    return FREE


def _assuming(*assumptions: str) -> Callable[[Any], Verdict]:
    return lambda transformer: Verdict(assumptions=assumptions)


def _encoder(encoder: Any) -> Verdict:
    if isinstance(encoder.categories, str):
        return Verdict("categories='auto' reads them off the data; list the categories")
    if encoder.min_frequency is not None or encoder.max_categories is not None:
        return Verdict("rare categories are found by counting; leave their limits out")
    if not has_declared_categories(encoder):
        return STALE
    quiet = {"ignore", "infrequent_if_exist", "use_encoded_value"}
    if encoder.handle_unknown in quiet and getattr(encoder, "drop", None) is None:
        return FREE
    # it raises or warns on the first unlisted value it meets
    return Verdict(assumptions=("every category is one of the declared ones",))


def _function(transformer: Any) -> Verdict:
    func, inverse = transformer.func, transformer.inverse_func
    assumptions: tuple[str, ...] = ()
    if transformer.check_inverse and func is not None and inverse is not None:
        assumptions += ("func and inverse_func undo each other",)
    else:
        inverse = None  # never called on the rows
    if not (is_trusted(func) and is_trusted(inverse)):
        return Verdict(
            "a function may look at all rows; use one of NumPy of single numbers, or "
            f"set its own attribute {MARK} = True if it treats each row alone"
        )
    if is_elementwise(func):
        if transformer.kw_args:  # where=mask, for one, picks rows by their position
            return Verdict("kw_args may tell rows apart; leave kw_args out")
        assumptions += ("all values are in the domain of the function",)
    return Verdict(assumptions=assumptions)


def _missing_indicator(indicator: Any) -> Verdict:
    if indicator.features != "all":
        return Verdict(
            "the columns with missing values are read off the data; set features='all'"
        )
    return FREE if len(indicator.features_) == indicator.n_features_in_ else STALE


def _random_projection(projection: Any) -> Verdict:
    if isinstance(projection.n_components, str):
        return Verdict("n_components='auto' counts the rows; set a number")
    return FREE if projection.n_components_ == projection.n_components else STALE


def _rbf_sampler(sampler: Any) -> Verdict:
    if isinstance(sampler.gamma, str):
        return Verdict("gamma='scale' is the variance of the data; set a number")
    return FREE


def _simple_imputer(imputer: Any) -> Verdict:
    if imputer.strategy != "constant":
        return Verdict("statistics of the data are imputed; set strategy='constant'")
    if imputer.add_indicator or not imputer.keep_empty_features:
        return Verdict(
            "which columns are empty or have missing values is read off the data; set "
            "add_indicator=False and keep_empty_features=True"
        )
    return FREE if has_declared_constant(imputer) else STALE


def _splines(splines: Any) -> Verdict:
    if isinstance(splines.knots, str):
        return Verdict("the knots are read off the data; list the knots")
    if not has_declared_knots(splines):
        return STALE
    if splines.extrapolation == "error":
        return Verdict(assumptions=("every value is within the declared knots",))
    return FREE


def _tokens(vectorizer: Any) -> Verdict:
    parameters = ("analyzer", "preprocessor", "strip_accents", "tokenizer")
    for parameter in parameters:
        value = getattr(vectorizer, parameter)
        if not (isinstance(value, str) or is_trusted(value)):
            return Verdict(
                f"{parameter} may remember texts; leave it out, or set its own "
                f"attribute {MARK} = True if it treats each text alone"
            )
    return FREE


def _vocabulary(vectorizer: Any) -> Verdict:
    if vectorizer.vocabulary is None:
        return Verdict("the vocabulary is read off the data; list the vocabulary")
    return _tokens(vectorizer) if vectorizer.fixed_vocabulary_ else STALE


RULES: dict[type, Callable[[Any], Verdict]] = {
    AdditiveChi2Sampler: _assuming("no value is negative"),
    Binarizer: _always,
    CountVectorizer: _vocabulary,
    FeatureHasher: _always,
    FunctionTransformer: _function,
    GaussianRandomProjection: _random_projection,
    HashingVectorizer: _tokens,
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
