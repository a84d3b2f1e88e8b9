"""Blocks of a dense array or memory map of any real dtype, order and strides."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from skdp._typing import FloatArray
from skdp.rows._classes import Classes
from skdp.rows._encoder import Encoder

__all__ = [
    "BLOCK_ELEMENTS",
    "GATHERED_ELEMENTS",
    "ArrayBlocks",
    "Runs",
    "default_block_rows",
    "part_starts",
]

#: A block of 2^16 float64 is half a megabyte: it and its weighted copy stay in cache.
BLOCK_ELEMENTS = 2**16
#: Fewer rows cost more in calls than in arithmetic; more leave the cache.
_MIN_ROWS, _MAX_ROWS = 16, 4096
#: A part is made of at least this many runs of adjacent rows.
_RUNS = 128
#: A part up to this size (8 MiB in float64) is copied together.
GATHERED_ELEMENTS = 2**20


def default_block_rows(n_features: int, labels: Encoder | None = None) -> int:
    """Return the number of rows of a block of about half a megabyte.

    Of rows with several classes it is a megabyte, as they take more calls a block, of
    columns or of margins.
    """
    if isinstance(labels, Classes):
        return 2 * default_block_rows(max(n_features, labels.classes.size))
    rows = BLOCK_ELEMENTS // max(1, n_features)
    return min(_MAX_ROWS, max(_MIN_ROWS, rows))


class Runs(NamedTuple):
    """Which rows of a table its part holds: runs of one length, but for the last."""

    length: int
    starts: range

    def take(self, values: FloatArray) -> FloatArray:
        """Return those of all rows' values that belong to the part."""
        places = np.add.outer(np.asarray(self.starts), np.arange(self.length)).ravel()
        out: FloatArray = values[places]
        return out


class ArrayBlocks:
    """Views of successive rows; nothing is copied.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    block_rows : int, optional
    starts : sequence of int, optional
        First rows of the blocks; all of them by default.
    labels : Labels, Targets or Classes, optional
        What encoded ``y``.

    Attributes
    ----------
    runs : Runs
        Of a part, which rows of the table it holds.
    """

    def __init__(
        self,
        X: np.ndarray,
        y: np.ndarray,
        block_rows: int | None = None,
        starts: range | None = None,
        *,
        labels: Encoder | None = None,
    ) -> None:
        self.labels = labels
        self._X, self._y = X, y
        self._block_rows = block_rows or default_block_rows(X.shape[1], labels)
        self._starts = starts or range(0, X.shape[0], self._block_rows)
        self.runs = Runs(self._block_rows, self._starts)

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return int(self._X.shape[1])

    def __iter__(self) -> Iterator[tuple[np.ndarray, FloatArray]]:
        for start in self._starts:
            rows = slice(start, start + self._block_rows)
            yield self._X[rows], self._y[rows].astype(np.float64, copy=False)

    def part(
        self, fraction: float, at_least: int
    ) -> "tuple[ArrayBlocks, float] | None":
        """Return short runs of rows spread evenly over the table, and their share."""
        n = self._X.shape[0]
        run, starts = part_starts(n, fraction, at_least, self._block_rows)
        if not starts:
            return None
        share = run * len(starts) / n
        if run * len(starts) * self.n_features > GATHERED_ELEMENTS:
            return ArrayBlocks(self._X, self._y, run, starts), share
        runs = [slice(start, start + run) for start in starts]
        X = np.concatenate([self._X[rows] for rows in runs])
        y = np.concatenate([self._y[rows] for rows in runs])
        part = ArrayBlocks(X, y)
        part.runs = Runs(run, starts)
        return part, share


def part_starts(
    n_rows: int, fraction: float, at_least: int, block_rows: int
) -> tuple[int, range]:
    """Return the length and the first rows of the runs that make up a part.

    Runs are short enough that a table sorted by anything is met all over, and never
    longer than a block.
    """
    target = int(fraction * n_rows)
    if target < max(at_least, _RUNS):
        return 0, range(0)
    run = min(block_rows, target // _RUNS)
    step = int(run / fraction)
    return run, range((step - run) // 2, n_rows - run + 1, step)
