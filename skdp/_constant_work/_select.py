"""Choose and count by arithmetic instead of by branching."""

import numpy as np

from skdp._constant_work._log_domain import bounded
from skdp._typing import BoolArray, FloatArray, IntArray

__all__ = [
    "choose",
    "count_at_most",
    "first_rows",
    "first_true",
    "largest",
    "take_row",
]

#: Beyond any number that is released; infinities would turn 0 * inf into nan.
_MOST = 1e300


def first_true(mask: BoolArray) -> int:
    """Return the first index that is True, or the length when none is."""
    n = mask.size
    return int(np.min(np.arange(n) + n * (1 - mask.astype(np.int64)), initial=n))


def take_row(rows: FloatArray, index: int) -> FloatArray:
    """Return ``rows[index]``, touching every row; zeros when there is no such row.

    Entries are clamped to +-1e300 and nan to -1e300, so that no row spoils the sum.
    """
    hit = (np.arange(rows.shape[0]) == index).astype(np.float64)
    out: FloatArray = hit @ bounded(rows, -_MOST, _MOST)
    return out


def choose(flag: int, yes: FloatArray, no: FloatArray) -> FloatArray:
    """Return ``yes`` when flag is 1 and ``no`` when it is 0; both are read."""
    first, second = bounded(yes, -_MOST, _MOST), bounded(no, -_MOST, _MOST)
    out: FloatArray = flag * first + (1 - flag) * second
    return out


def largest(scores: FloatArray) -> int:
    """Return the index of the largest entry; nan counts as the smallest."""
    # argmax of floats stops early at nan only; the time may tell the winner, which is
    # what is released
    return int(np.argmax(bounded(scores, -_MOST, _MOST)))


def count_at_most(values: FloatArray, grid: FloatArray) -> IntArray:
    """Return how many values are at most each grid point, by comparing them all."""
    out: IntArray = np.sum(values[:, None] <= grid, axis=0, dtype=np.int64)
    return out


def first_rows(rows: FloatArray, mask: BoolArray, count: int) -> FloatArray:
    """Return the first ``count`` rows where the mask is True, zeros when they end.

    Every row is written somewhere: those not wanted go to one extra place.
    """
    chosen = mask.astype(np.int64)
    rank = np.minimum(np.cumsum(chosen) - 1, count)
    place = chosen * rank + (1 - chosen) * count
    out = np.zeros((count + 1, rows.shape[1]))
    out[place] = bounded(rows, -_MOST, _MOST)
    return out[:count]
