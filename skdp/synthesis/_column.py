"""The door of a sampler of one column, and how its draws leave."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.validation import validate_data

from skdp.rows._labels import label_array

__all__ = ["Wrapper", "enter_column"]


@dataclass(frozen=True, slots=True)
class Wrapper:
    """Hands draws out in the kind of container, and under the name, that X had.

    Attributes
    ----------
    kind : {"array", "series", "frame"}
        What X was.
    name : object
        Name of the series.
    columns : Index or None
        The column of the frame as it was.
    levels : CategoricalDtype or None
        The dtype that declared the categories.
    """

    kind: str
    name: Any = None
    levels: Any = None
    columns: Any = field(default=None, compare=False)

    def __call__(self, values: npt.NDArray[Any]) -> Any:
        """Return draws as X was given."""
        if self.kind == "array":
            return values
        from pandas import Series

        series = Series(values, dtype=self.levels)
        if self.kind == "series":
            return series.rename(self.name)
        return series.to_frame().set_axis(self.columns, axis=1)


def enter_column(estimator: Any, X: Any, *, reset: bool = True) -> tuple[Any, Wrapper]:
    """Return the one column of X, unread; set the feature attributes, or compare."""
    if sparse.issparse(X):
        raise TypeError(
            "Sparse data was passed, but dense data is required: X is one column of "
            "categories. Allowed: a Series, an array or a frame of one column. Pass "
            "the column itself."
        )
    if hasattr(X, "iloc"):
        return _enter_pandas(estimator, X, reset)
    column = label_array(X)
    if column.dtype.kind == "c":
        raise ValueError(
            "Complex data not supported. Allowed: numbers, text or other hashable "
            "values. Pass one column of categories."
        )
    _check_shape(column.shape)
    if reset:
        _forget_names(estimator)
    return column.reshape(-1), Wrapper("array")


def _enter_pandas(estimator: Any, X: Any, reset: bool) -> tuple[Any, Wrapper]:
    _check_shape(X.shape)
    if X.ndim == 1:
        if reset:
            _forget_names(estimator)
        return X, Wrapper("series", X.name)
    if reset or hasattr(estimator, "feature_names_in_"):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    return X.iloc[:, 0], Wrapper("frame", columns=X.columns)


def _forget_names(estimator: Any) -> None:
    estimator.n_features_in_ = 1
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_  # of an earlier fit


def _check_shape(shape: tuple[int, ...]) -> None:
    """Refuse what is not one column with a row; sizes are quoted only if they are 0."""
    allowed = "Allowed: shape (n,) or (n, 1)"
    remedy = "Pass one column; a sampler of whole tables needs one for each."
    if len(shape) == 2 and shape[1] == 0:
        raise ValueError(
            f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is "
            f"required. {allowed}. {remedy}"
        )
    if len(shape) == 0 or len(shape) > 2 or (len(shape) == 2 and shape[1] != 1):
        columns = f"{shape[1]} columns" if len(shape) == 2 else f"{len(shape)} axes"
        raise ValueError(
            f"X must be one column of categories, got an array of {columns}. {allowed}."
            f" {remedy}"
        )
    if shape[0] == 0:
        raise ValueError(
            f"Found array with 0 sample(s) (shape={shape}) while a minimum of 1 is "
            "required. Allowed: one record or more. Pass the records."
        )


def levels_of(column: Any) -> Any:
    """Return the dtype of a pandas categorical, which declares its categories."""
    dtype = getattr(column, "dtype", None)
    if not hasattr(dtype, "categories"):
        raise ValueError(
            "categories='dtype' needs a column of pandas' categorical dtype, got "
            f"{np.asarray(0).dtype if dtype is None else dtype}. Allowed: a Series of "
            "CategoricalDtype whose levels are public. Declare categories=[...]."
        )
    return dtype
