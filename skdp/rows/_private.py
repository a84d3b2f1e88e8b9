"""Private rows: blocks of raw rows with the ball they are clipped to."""

from collections.abc import Iterator
from dataclasses import dataclass

from skdp._typing import FloatArray
from skdp.rows._array import ArrayBlocks
from skdp.rows._blocks import RowBlocks
from skdp.rows._frame import FrameBlocks
from skdp.rows._guarded import GuardedBlocks
from skdp.rows._l2ball import L2Ball
from skdp.rows._sparse import SparseBlocks
from skdp.rows._stream import StreamBlocks

__all__ = ["PrivateRows"]

#: Blocks whose labels and sparse entries were checked when they were made.
_OWN = (ArrayBlocks, FrameBlocks, GuardedBlocks, SparseBlocks, StreamBlocks)


@dataclass(frozen=True, slots=True)
class PrivateRows:
    """All rows of a data set and the public ball that bounds each of them.

    How many rows there are is private under add-remove adjacency: no attribute tells.

    Attributes
    ----------
    blocks : RowBlocks
        The rows as the user gave them, labels encoded as -1, 0 or +1, or targets
        within a bound.
    ball : L2Ball
        The bound on a row, and the constant of the intercept.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.rows import L2Ball, PrivateRows, as_row_blocks
    >>> blocks = as_row_blocks(np.array([[3.0, 4.0]]), np.array([1.0]))
    >>> rows = PrivateRows(blocks, L2Ball(1.0, intercept_scaling=0.5))
    >>> rows.n_coefficients
    3
    >>> [(X.round(6), y) for X, y in rows.projected()]
    [(array([[0.6, 0.8, 0.5]]), array([1.]))]
    """

    blocks: RowBlocks
    ball: L2Ball

    def __post_init__(self) -> None:
        """Guard blocks that are not this package's own."""
        if type(self.blocks) not in _OWN:
            object.__setattr__(self, "blocks", GuardedBlocks(self.blocks))

    @property
    def n_coefficients(self) -> int:
        """Length of a coefficient vector; the intercept's comes last."""
        return self.ball.n_coefficients(self.blocks.n_features)

    def projected(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield clipped dense blocks with their constant column, and labels."""
        for X, y in self.blocks:
            yield self.ball.project(X), y
