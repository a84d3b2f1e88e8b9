"""The rows asked about, read exactly as the fit read its own, without the fit."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from skdp._discreet import discreet
from skdp._typing import FloatArray, MatrixLike
from skdp.rows import Labels, RowBlocks, as_row_blocks
from skdp.rows._labels import check_any_kind, label_array
from skdp.rows._one_person import one_person

__all__ = ["ColumnScaling", "people"]

#: A block of a megabyte stays in the cache; each one costs some calls.
_BLOCK_ELEMENTS, _BLOCK_ROWS = 2**17, 8192


@dataclass(frozen=True, slots=True)
class ColumnScaling:
    """Public constants of each column: ``x = (clip(raw, lower, upper) - shift)/scale``.

    Attributes
    ----------
    lower, upper, shift, scale : ndarray of shape (n_features,)
    """

    lower: FloatArray
    upper: FloatArray
    shift: FloatArray
    scale: FloatArray

    def __call__(self, X: MatrixLike) -> FloatArray:
        """Return the scaled rows, dense; a missing value stays one."""
        dense: Any = X.toarray() if hasattr(X, "toarray") else X
        out: FloatArray = np.clip(np.asarray(dense, float), self.lower, self.upper)
        out -= self.shift
        out /= self.scale
        return out


@dataclass(frozen=True, slots=True)
class _Scaled:
    """Blocks of raw rows, scaled one after the other."""

    raw: RowBlocks
    scaling: ColumnScaling

    def __iter__(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        for X, y in self.raw:
            yield self.scaling(X), y


@discreet
def people(
    X: MatrixLike,
    y: Any,
    *,
    n_features: int,
    labels: Labels,
    names: tuple[str, ...] | None = None,
    scaling: ColumnScaling | None = None,
) -> RowBlocks:
    """Return rows and encoded labels in blocks, in the units of the coefficients.

    Parameters
    ----------
    X : array-like, sparse matrix or DataFrame of shape (n, n_features)
        Rows. With ``y`` None, a pair ``(x, label)`` of one person.
    y : array-like of shape (n,) or None
        Labels; one that is not declared is no error, but if none can be.
    n_features : int
        Columns that the coefficients are for.
    labels : Labels
        The declared ones.
    names : tuple of str, optional
        Names of the columns: those of a DataFrame are found by name, whatever their
        order.
    scaling : ColumnScaling, optional
        Public scaling that comes before the clipping of rows.
    """
    if y is None:
        _check_named(X, names)
        X, y = one_person(X)
    X = _columns(X, n_features, names)
    y = label_array(y)
    y = label_array(column_or_1d(y))
    check_any_kind(y, labels.classes)
    check_consistent_length(X, y)
    block_rows = max(1, min(_BLOCK_ROWS, _BLOCK_ELEMENTS // n_features))
    blocks = as_row_blocks(X, y, labels=labels, block_rows=block_rows)
    if scaling is None or X.shape[0] == 0:
        return blocks
    return as_row_blocks(_Scaled(blocks, scaling))


def _check_named(person: Any, names: tuple[str, ...] | None) -> None:
    """Refuse values by name where the release has no names to find them by."""
    by_name = isinstance(person, tuple) and isinstance(person[0], Mapping)
    if by_name and names is None:
        raise ValueError(
            "X is a mapping, but the release has no feature names. Allowed: the values "
            "in the order of the release. Pass a list or an array."
        )


def _columns(
    X: MatrixLike, n_features: int, names: tuple[str, ...] | None
) -> MatrixLike:
    """Return the columns in the order of the coefficients; finiteness comes later."""
    if hasattr(X, "iloc") and hasattr(X, "columns") and names is not None:
        X = _by_name(X, names)
    if not _is_numeric_frame(X):
        X = check_array(
            _no_text(X),
            accept_sparse="csr",
            dtype="numeric",
            ensure_all_finite=False,
            ensure_min_samples=0,
            input_name="X",
        )
    if X.shape[1] != n_features:
        raise ValueError(
            f"X does not hold the features of the release, got {X.shape[1]} columns. "
            f"Allowed: {n_features}. Pass the columns in the order of the release, or "
            "a data frame with its names."
        )
    return X


def _no_text(X: MatrixLike) -> MatrixLike:
    """Refuse an array of text, which a single word makes of a list of numbers."""
    if hasattr(X, "dtypes") or hasattr(X, "tocsr"):
        return X
    X = np.asarray(X)
    if X.dtype.kind in "US":
        raise ValueError(
            "X does not hold real numbers, got text. Allowed: one number a feature. "
            "Encode text before, or correct the entry."
        )
    return X


def _by_name(X: MatrixLike, names: tuple[str, ...]) -> MatrixLike:
    """Return the columns of the release from a data frame, which may hold more."""
    given = list(X.columns)
    missing = [name for name in names if given.count(name) != 1]
    if missing:
        raise ValueError(
            f"X does not hold each feature of the release once, got a data frame where "
            f"{missing} are missing or repeated. Allowed: one column for each of "
            f"{list(names)}. Rename or add the columns."
        )
    return X if given == list(names) else X[list(names)]


def _is_numeric_frame(X: MatrixLike) -> bool:
    """Tell whether X is a frame that blocks can read column by column as it is."""
    if not (hasattr(X, "iloc") and getattr(X, "ndim", 0) == 2):
        return False
    return all(getattr(dtype, "kind", "O") in "fiub" for dtype in X.dtypes)
