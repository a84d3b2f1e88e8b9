"""The door: what is checked about X and y before anything is charged.

Shapes, dtypes and finiteness are checked here, and the label set when it was not
declared; the last two are written down as assumptions. Nothing is copied.
"""

import math
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from skdp._discreet import discreet
from skdp._typing import MatrixLike
from skdp._validation import warn
from skdp.exceptions import PrivacyLeakWarning
from skdp.rows import (
    Classes,
    L2Ball,
    Labels,
    PrivateRows,
    RowBlocks,
    as_row_blocks,
)
from skdp.rows._encoder import LabelSet
from skdp.rows._labels import check_any_kind, check_same_kind, label_array

__all__ = ["column", "enter_query", "enter_training", "features"]

#: Rows of a frame that are converted and checked at once.
_FRAME_ROWS = 65_536


@discreet
def enter_training(
    estimator: Any,
    X: MatrixLike,
    y: MatrixLike,
    ball: L2Ball,
    labels: LabelSet | None,
    *,
    several: bool = False,
) -> tuple[PrivateRows, LabelSet]:
    """Return the rows of a fit and the label set; set the feature attributes.

    ``several`` says whether there may be more than two classes.
    """
    if isinstance(X, RowBlocks):
        return _enter_blocks(estimator, X, y, ball, labels)
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is "
            "None. Pass the labels."
        )
    X = features(estimator, X, reset=True)
    y = _targets(y) if labels is None else _declared_targets(y, labels)
    check_consistent_length(X, y)
    if labels is None:
        labels = _read_labels(y, several=several)
    return PrivateRows(as_row_blocks(X, y, labels=labels), ball), labels


def _enter_blocks(
    estimator: Any, X: RowBlocks, y: MatrixLike, ball: L2Ball, labels: LabelSet | None
) -> tuple[PrivateRows, LabelSet]:
    """Return rows that come as blocks, which bring their own encoded labels."""
    encoded = X.labels
    encoder = Classes if isinstance(labels, Classes) else Labels
    if (
        y is not None
        or labels is None
        or not isinstance(encoded, encoder)
        or not np.array_equal(encoded.classes, labels.classes)
    ):
        raise ValueError(
            "row blocks bring their own labels, so y must be None and classes must be "
            "declared, the same for both. Pass the chunks through as_row_blocks(chunks,"
            f" labels={encoder.__name__}(classes)) and the same classes to the "
            "estimator."
        )
    estimator.n_features_in_ = X.n_features
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_  # of an earlier fit
    return PrivateRows(X, ball), labels


@discreet
def enter_query(
    estimator: Any,
    X: MatrixLike,
    y: MatrixLike,
    ball: L2Ball,
    labels: LabelSet,
    block_rows: int | None = None,
) -> PrivateRows:
    """Return rows asked about after the fit, seen exactly as training rows are."""
    # clipping refuses what is not finite in the one pass there is
    X = features(estimator, X, reset=False, finite=False)
    y = column(label_array(y), told=True)
    check_any_kind(y, labels.classes)
    check_consistent_length(X, y)
    blocks = as_row_blocks(X, y, labels=labels, block_rows=block_rows)
    return PrivateRows(blocks, ball)


@discreet
def features(
    estimator: Any, X: MatrixLike, *, reset: bool, finite: bool = True
) -> MatrixLike:
    """Check X against the estimator without copying it; record names when ``reset``."""
    if not _is_mixed_frame(X):
        return validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype="numeric",
            ensure_all_finite=finite,
        )
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    for start in range(0, X.shape[0], _FRAME_ROWS):
        block = X.iloc[start : start + _FRAME_ROWS]
        check_array(block, dtype="numeric", input_name="X", estimator=estimator)
    return X


def _is_mixed_frame(X: MatrixLike) -> bool:
    """Return whether converting the frame whole would copy the table."""
    is_frame = hasattr(X, "iloc") and getattr(X, "ndim", 0) == 2
    if not is_frame or min(X.shape) < 1:
        return False
    dtypes = list(X.dtypes)
    if all(hasattr(dtype, "fill_value") for dtype in dtypes):
        return False  # pandas' sparse columns become one sparse matrix
    plain = all(isinstance(dtype, np.dtype) for dtype in dtypes)
    numeric = all(getattr(dtype, "kind", "O") in "fiub" for dtype in dtypes)
    return numeric and not (plain and len(set(dtypes)) == 1)


def column(y: MatrixLike, *, told: bool = False) -> Any:
    """Return one label or target for each row; warn of a column unless ``told``."""
    # what has no shape yet becomes an array, with its own types
    y = y if hasattr(y, "shape") else np.asarray(y)
    shape = y.shape
    if len(shape) == 2 and shape[1] > 1:
        raise ValueError(
            "y must hold one value for each row, got several columns. Allowed: a 1d "
            "array of labels or targets. Pass one column of y."
        )
    if len(shape) == 2 and shape[1] == 1 and not told:
        warn(
            "A column-vector y was passed when a 1d array was expected. Please change "
            "the shape of y to (n_samples,), for example using ravel().",
            DataConversionWarning,
        )
    return column_or_1d(y)


def _targets(y: MatrixLike) -> MatrixLike:
    """Return labels whose set is to be read, as scikit-learn wants them."""
    y = column(y)
    check_array(y, ensure_2d=False, dtype=None, input_name="y")
    check_classification_targets(y)
    return y


def _declared_targets(y: MatrixLike, labels: LabelSet) -> MatrixLike:
    """Return labels of which only the declared ones count, each in its own type."""
    y = column(label_array(y))
    check_same_kind(y, labels.classes)
    if y.dtype == object:
        if np.any(np.frompyfunc(_is_not_finite, 1, 1)(y)):
            raise ValueError("Input y contains NaN or infinity.")
    elif y.dtype.kind == "f":
        check_array(y, ensure_2d=False, dtype=None, input_name="y")
    return y


def _is_not_finite(label: object) -> bool:
    return isinstance(label, float) and not math.isfinite(label)


def _read_labels(y: MatrixLike, *, several: bool) -> LabelSet:
    """Read the label set off y, which nobody paid for: warn and let it be recorded."""
    observed = np.unique(y)
    if observed.size > 2 and not several:
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            "multiclass: y holds more than two different labels, which the estimator "
            "or its options do not go with. Allowed: two. Declare the two labels of "
            "interest with classes=[...]; rows with any other label then count for "
            "nothing."
        )
    warn(
        "the label set was read from y: that it holds these labels and no others is "
        "revealed by the fitted model and not covered by epsilon. Declare it with "
        "classes=[...].",
        PrivacyLeakWarning,
    )
    return Labels(observed) if observed.size <= 2 else Classes(observed)
