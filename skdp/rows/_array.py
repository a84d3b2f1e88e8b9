"""Blocks of a dense array or memory map of any real dtype, order and strides."""

from collections.abc import Iterator

import numpy as np

from skdp._typing import FloatArray

__all__ = ["BLOCK_ELEMENTS", "ArrayBlocks", "part_starts"]

#: A block of 2^17 float64 is a megabyte: it and its weighted copy stay in cache.
BLOCK_ELEMENTS = 2**17
#: Fewer rows cost more in calls than in arithmetic; more leave the cache.
_MIN_ROWS, _MAX_ROWS = 16, 4096
#: A part is made of this many runs of adjacent rows, or as many as there are rows.
_RUNS = 128


def default_block_rows(n_features: int) -> int:
    """Return the number of rows of a block of about a megabyte."""
    rows = BLOCK_ELEMENTS // max(1, n_features)
    return min(_MAX_ROWS, max(_MIN_ROWS, rows))


class ArrayBlocks:
    """Views of successive rows; nothing is copied.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    block_rows : int, optional
    starts : sequence of int, optional
        First rows of the blocks; all of them by default.
    """

    def __init__(
        self,
        X: np.ndarray,
        y: np.ndarray,
        block_rows: int | None = None,
        starts: range | None = None,
    ) -> None:
        self._X, self._y = X, y
        self._block_rows = block_rows or default_block_rows(X.shape[1])
        self._starts = starts or range(0, X.shape[0], self._block_rows)

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return int(self._X.shape[1])

    def __iter__(self) -> Iterator[tuple[np.ndarray, FloatArray]]:
        for start in self._starts:
            rows = slice(start, start + self._block_rows)
            yield self._X[rows], self._y[rows].astype(np.float64, copy=False)

    def part(self, fraction: float, max_rows: int) -> "ArrayBlocks | None":
        """Return short runs of rows spread evenly over the table."""
        run, starts = part_starts(
            self._X.shape[0], fraction, max_rows, self._block_rows
        )
        return ArrayBlocks(self._X, self._y, run, starts) if starts else None


def part_starts(
    n_rows: int, fraction: float, max_rows: int, block_rows: int
) -> tuple[int, range | None]:
    """Return the length and first rows of runs that make up a part of a table.

    Runs are short enough that a table sorted by anything is met all over, and never
    longer than a block.
    """
    target = min(int(fraction * n_rows), max_rows)
    if target < 1:
        return 0, None
    run = min(block_rows, max(1, target // _RUNS))
    step = n_rows * run // target
    return run, range(step // 2, n_rows - run + 1, step)
