"""Scaling by public ranges, the private stand-in for min-max and standard scaling."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from skdp._typing import FloatArray, MatrixLike
from skdp._validation import check_choice
from skdp.preprocessing._bounds import PublicRanges

__all__ = ["BoundedScaler"]


class BoundedScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Map each column from its public range to [-1, 1] or [0, 1], with clipping.

    .. math:: x \mapsto \frac{\min(\max(x, lo), hi) - lo}{hi - lo} \in [0, 1]

    and twice that minus one for the range [-1, 1]. The ranges are declared, never
    read off the data, so nothing is learned from the rows.

    Parameters
    ----------
    bounds : pair or mapping, default=(-1.0, 1.0)
        Public range of the columns, in their own units: a pair ``(lower, upper)`` of
        numbers (for all columns) or of arrays of shape (n_features,), or a mapping or
        Series ``{name: (lower, upper)}`` for data frames, which may hold more columns
        than X. Ends are finite with ``lower <= upper``. The default suits columns that
        are already in [-1, 1]. Values outside are clipped; a column with
        ``lower == upper`` becomes 0.
    feature_range : {(-1, 1), (0, 1)}, default=(-1, 1)
        Range of the scaled columns.

    Attributes
    ----------
    lower_, upper_ : ndarray of shape (n_features_in_,)
        Public range of each column, in the order of the columns of X.
    n_features_in_ : int
        Number of features seen in :meth:`fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X was a data frame with string names.

    Notes
    -----
    The map is fixed by public constants and acts on each row alone, so the transformer
    spends no privacy and :func:`skdp.privacy_spent` counts it as free. Scaled rows of d
    features have Euclidean norm at most sqrt(d).

    Examples
    --------
    >>> import pandas as pd
    >>> from skdp.preprocessing import BoundedScaler
    >>> people = pd.DataFrame({"age": [20.0, 70.0, 130.0], "smoker": [0, 1, 1]})
    >>> scaler = BoundedScaler(bounds={"age": (0, 100), "smoker": (0, 1)})
    >>> scaler.fit_transform(people)
    array([[-0.6, -1. ],
           [ 0.4,  1. ],
           [ 1. ,  1. ]])
    """

    __skdp_data_independent__: ClassVar[bool] = True

    def __init__(
        self,
        bounds: tuple[Any, Any] | Mapping[str, tuple[float, float]] = (-1.0, 1.0),
        *,
        feature_range: tuple[int, int] = (-1, 1),
    ) -> None:
        self.bounds = bounds
        self.feature_range = feature_range

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Check the parameters; learn the shape and the names of X, nothing else.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite real rows.
        y : None
            Ignored; present by convention.

        Returns
        -------
        self : BoundedScaler
            The fitted transformer.

        Raises
        ------
        TypeError
            If ``bounds`` is neither a pair nor a mapping of pairs of numbers.
        ValueError
            If ``bounds`` has a bad range or does not fit the columns, if
            ``feature_range`` is not a choice, or if X is not finite or has no row.
        """
        ranges = PublicRanges.from_parameter(self.bounds)
        self._check_feature_range()
        validate_data(self, X, dtype=np.float64)
        names = getattr(self, "feature_names_in_", None)
        self.lower_, self.upper_ = ranges.for_columns(
            self.n_features_in_, None if names is None else list(names)
        )
        return self

    def transform(self, X: MatrixLike) -> FloatArray:
        """Return the columns clipped to their ranges and scaled.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite real rows; not changed.

        Returns
        -------
        X_scaled : ndarray of shape (n_samples, n_features)
            Rows with every entry within ``feature_range``.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        width = self.upper_ - self.lower_
        constant = width == 0.0
        scaled: FloatArray = np.clip(X, self.lower_, self.upper_)
        scaled -= self.lower_
        scaled /= np.where(constant, 1.0, width)
        if self._check_feature_range() == (-1, 1):
            scaled *= 2.0
            scaled -= 1.0
        scaled[:, constant] = 0.0
        return scaled

    def _check_feature_range(self) -> tuple[int, int]:
        value = self.feature_range
        if isinstance(value, list | np.ndarray):
            value = tuple(value)
        check_choice(
            "feature_range",
            value,
            [(-1, 1), (0, 1)],
            remedy="Use (-1, 1) unless zero must stand for the lower end.",
        )
        return value
