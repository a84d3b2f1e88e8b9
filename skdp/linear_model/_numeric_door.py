"""The door for numeric targets: shapes, dtypes and finiteness, before any charge."""

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length

from skdp._discreet import discreet
from skdp._typing import FloatArray, MatrixLike
from skdp.linear_model._door import column, features
from skdp.rows import L2Ball, PrivateRows, RowBlocks, Targets, as_row_blocks

__all__ = ["enter_numeric_query", "enter_numeric_training"]


@discreet
def enter_numeric_training(
    estimator: Any, X: MatrixLike, y: MatrixLike, ball: L2Ball, targets: Targets
) -> PrivateRows:
    """Return the rows of a fit; set the feature attributes."""
    if isinstance(X, RowBlocks):
        return _enter_blocks(estimator, X, y, ball, targets)
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is "
            "None. Pass the targets."
        )
    X = features(estimator, X, reset=True)
    y = _numbers(y)
    check_consistent_length(X, y)
    return PrivateRows(as_row_blocks(X, y, labels=targets), ball)


def _enter_blocks(
    estimator: Any, X: RowBlocks, y: MatrixLike, ball: L2Ball, targets: Targets
) -> PrivateRows:
    """Return rows that come as blocks, which bring their own encoded targets."""
    if y is not None or X.labels != targets:
        raise ValueError(
            "row blocks bring their own targets, so y must be None and bounds_y must "
            "be the same for both. Pass the chunks through as_row_blocks(chunks, "
            f"labels={targets!r}) and the same bounds_y to the estimator."
        )
    estimator.n_features_in_ = X.n_features
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_  # of an earlier fit
    return PrivateRows(X, ball)


@discreet
def enter_numeric_query(
    estimator: Any,
    X: MatrixLike,
    y: MatrixLike,
    ball: L2Ball,
    targets: Targets,
    block_rows: int | None = None,
) -> PrivateRows:
    """Return rows asked about after the fit, seen exactly as training rows are."""
    # clipping refuses what is not finite in the one pass there is
    X = features(estimator, X, reset=False, finite=False)
    y = _numbers(y, told=True)
    check_consistent_length(X, y)
    blocks = as_row_blocks(X, y, labels=targets, block_rows=block_rows)
    return PrivateRows(blocks, ball)


def _numbers(y: MatrixLike, *, told: bool = False) -> FloatArray:
    y = column(y, told=told)
    if y.dtype.kind in "mMOSUTV" and not _holds_numbers(y):
        raise ValueError(
            "y does not hold numbers, got text, dates, missing values or objects. "
            "Allowed: real numbers, without NaN. Convert y first, for example with "
            "y.astype(float)."
        )
    out: FloatArray = check_array(
        y, ensure_2d=False, dtype=np.float64, input_name="y", ensure_min_samples=1
    )
    return out


def _holds_numbers(y: np.ndarray) -> bool:
    """Tell whether objects are all numbers; text that reads like one is none."""
    return y.dtype == object and all(isinstance(v, Real | Decimal) for v in y)
