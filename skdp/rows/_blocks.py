"""One way to read rows, whatever holds them: blocks in a fixed order.

Everything a convex fit asks of the rows is a sum over them, so a pass over blocks is
the whole interface. Blocks come in the same order with the same borders every time: a
sum has the same bits each time it is formed.
"""

from collections.abc import Iterator
from functools import partial
from typing import Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from skdp._typing import FloatArray, MatrixLike
from skdp.rows._array import ArrayBlocks
from skdp.rows._classes import STRANGER, Classes
from skdp.rows._encoder import Encoder
from skdp.rows._frame import FrameBlocks
from skdp.rows._labels import as_signs
from skdp.rows._sparse import SparseBlocks
from skdp.rows._stream import StreamBlocks

__all__ = ["RowBlocks", "as_row_blocks"]

#: numpy's kinds of floats, signed and unsigned integers, and booleans.
_NUMERIC = "fiub"


@runtime_checkable
class RowBlocks(Protocol):
    """Rows and labels in blocks.

    Properties expected of an implementation:

    - iterating again yields the same blocks in the same order;
    - ``X`` of a block is a dense array of any real dtype, or a CSR array, with
      ``n_features`` columns; ``y`` is a float64 array of its rows' labels;
    - a block is a view where possible, and never a copy of the whole table;
    - ``part`` yields rows spread over the whole table: tables come sorted.
    """

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        ...

    @property
    def labels(self) -> Encoder | None:
        """What encoded the labels, None when they came encoded."""
        ...

    def __iter__(self) -> Iterator[tuple[MatrixLike, FloatArray]]:
        """Yield ``(X, y)`` blocks."""
        ...

    def part(self, fraction: float, at_least: int) -> "tuple[RowBlocks, float] | None":
        """Return blocks of about ``fraction`` of the rows, and the share they hold.

        None where a part would cost as much as the whole, as in a stream, or would hold
        fewer than ``at_least`` rows.
        """
        ...


def as_row_blocks(
    X: MatrixLike,
    y: MatrixLike = None,
    *,
    labels: Encoder | None = None,
    block_rows: int | None = None,
) -> RowBlocks:
    """Return ``X`` and ``y`` as blocks of rows, without copying the table.

    Parameters
    ----------
    X : ndarray, memory map, sparse array, pandas DataFrame or re-iterable of chunks
        A re-iterable yields ``(X, y)`` chunks afresh every time it is iterated: a list,
        or an object whose ``__iter__`` opens the files again. A generator is not one.
        Blocks pass through unchanged.
    y : array-like of shape (n,), optional
        Encoded labels in {-1, 0, +1} (any other number counts as 0), or raw ones with
        ``labels``. None means labels 0, or of no class (rows without a label), or
        chunks that bring their own.
    labels : Labels, Targets or Classes, optional
        Encodes raw labels, or numeric targets, block by block.
    block_rows : int, optional
        Rows in a block; by default a block is about half a megabyte.

    Returns
    -------
    blocks : RowBlocks

    Raises
    ------
    TypeError
        If ``X`` is none of the above.
    ValueError
        If shapes do not fit, or ``block_rows`` is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.rows import as_row_blocks
    >>> blocks = as_row_blocks(np.ones((5, 2)), np.ones(5), block_rows=2)
    >>> [X.shape for X, _ in blocks]
    [(2, 2), (2, 2), (1, 2)]
    """
    if block_rows is not None and block_rows < 1:
        raise ValueError(
            f"block_rows is out of range, got {block_rows!r}. Allowed: an integer from "
            "1. Leave it out to get blocks of half a megabyte."
        )
    if isinstance(X, RowBlocks):
        return X
    table = partial(_table_blocks, labels=labels, block_rows=block_rows)
    if _is_table(X):
        return table(X, y)
    if hasattr(X, "__iter__") and not hasattr(X, "__next__") and y is None:
        return StreamBlocks(X, table, labels)
    raise TypeError(
        f"X cannot be read in blocks, got {type(X).__name__}. Allowed: an array, a "
        "memory map, a sparse array, a DataFrame, or a re-iterable of (X, y) chunks "
        "without a separate y. Wrap a generator in a class whose __iter__ starts it."
    )


def _is_table(X: MatrixLike) -> bool:
    return isinstance(X, np.ndarray) or sp.issparse(X) or _is_frame(X)


def _is_frame(X: MatrixLike) -> bool:
    # asked of the object, so that pandas need not be imported
    return hasattr(X, "iloc") and hasattr(X, "dtypes")


def _table_blocks(
    X: MatrixLike,
    y: MatrixLike,
    *,
    labels: Encoder | None,
    block_rows: int | None,
) -> RowBlocks:
    """Return the blocks of a table held in one object."""
    if len(X.shape) != 2:
        raise ValueError(
            f"X must be two-dimensional, got {len(X.shape)} dimensions. Allowed: shape "
            "(rows, columns). Reshape a single column with X.reshape(-1, 1)."
        )
    for dtype in X.dtypes if _is_frame(X) else [X.dtype]:
        if dtype.kind not in _NUMERIC:
            raise TypeError(
                f"X does not hold real numbers, got dtype {dtype}. Allowed: floats, "
                "integers and booleans. Encode text and categories before."
            )
    signs = _signs(X.shape[0], y, labels)
    if sp.issparse(X):
        return SparseBlocks(X, signs, block_rows, labels=labels)
    if _is_frame(X):
        return FrameBlocks(X, signs, block_rows, labels=labels)
    return ArrayBlocks(X, signs, block_rows, labels=labels)


def _signs(n_rows: int, y: MatrixLike, labels: Encoder | None) -> np.ndarray:
    """Return an encoded label for each of the rows of a table."""
    if y is None:
        missing = STRANGER if isinstance(labels, Classes) else 0.0
        return np.broadcast_to(np.float64(missing), (n_rows,))
    signs = labels.encode(y) if labels is not None else np.asarray(y)
    if signs.shape != (n_rows,):
        raise ValueError(
            "y does not have one label for each row of X. Allowed: shape (rows,). "
            "Check that X and y come from the same table."
        )
    if signs.dtype.kind not in _NUMERIC:
        raise TypeError(
            f"y is not encoded, got dtype {signs.dtype}. Allowed: numbers -1, 0 and "
            "+1. Pass labels=Labels(classes) to encode raw labels, or "
            "labels=Targets(low, high) for numeric ones."
        )
    return signs if labels is not None else as_signs(signs)
