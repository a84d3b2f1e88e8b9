"""Blocks that come from elsewhere, made safe one by one."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from skdp._typing import FloatArray, MatrixLike
from skdp.rows._encoder import Encoder
from skdp.rows._labels import Labels, as_signs

__all__ = ["GuardedBlocks"]


class GuardedBlocks:
    """Another implementation of the blocks, whose promises are not taken on trust.

    A label that is not -1, 0 or +1 counts as 0, a number of no class as -1, a target
    beyond its bound is clipped, and duplicate entries of a CSR block are summed: each
    would let one row weigh more than the guarantee says. The norm of a row that is not
    finite is refused when it is clipped.

    Parameters
    ----------
    blocks : RowBlocks
    """

    def __init__(self, blocks: Any) -> None:
        self._blocks = blocks
        self.labels: Encoder | None = getattr(blocks, "labels", None)

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return int(self._blocks.n_features)

    def __iter__(self) -> Iterator[tuple[MatrixLike, FloatArray]]:
        for X, y in self._blocks:
            yield _canonical(X), self._safe(y)

    def _safe(self, y: Any) -> FloatArray:
        if self.labels is None or isinstance(self.labels, Labels):
            return as_signs(y)
        return self.labels.safe(y)

    def part(
        self, fraction: float, at_least: int
    ) -> "tuple[GuardedBlocks, float] | None":
        """Return a part of the other blocks, guarded too."""
        part = self._blocks.part(fraction, at_least)
        return None if part is None else (GuardedBlocks(part[0]), part[1])


def _canonical(X: Any) -> MatrixLike:
    if not hasattr(X, "tocsr"):
        return np.asarray(X)
    out = X.tocsr(copy=True)
    out.has_canonical_format = False  # a flag set by hand is no proof
    out.sum_duplicates()
    return out
