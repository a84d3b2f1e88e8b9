r"""Exact draws from a density whose logarithm is straight between knots.

Notation (derived in docs/proofs/interval_exponential.md)
---------------------------------------------------------
x_j      knots, increasing                                        -> ``knots``
l_j      log heights at the knots, the largest near 0             -> ``heights``
w_j      width of segment j
d_j      ``|l_{j+1} - l_j|``
W_j      mass of segment j: ``w_j max(e^{l_j}, e^{l_{j+1}}) (1 - e^{-d_j}) / d_j``
"""

import numpy as np

from skdp._typing import FloatArray, IntArray
from skdp.random import RandomSource, uniform

__all__ = ["LogLinear"]

#: Stands for a flat segment, whose formulas divide by the drop.
_LEAST_DROP = 1e-300
#: exp(-this) is still a normal float; a larger drop leaves nothing to tell apart.
_LARGEST_DROP = 700.0
#: Up to this drop the fraction comes from log1p, beyond it from log.
_STEEP = 1.0
#: 1 - e^(-d) of what counts as flat; keeps the formula finite where it does not.
_FLAT_SHARE = 0.6322
#: Masses compared at once when they are ranked.
_BLOCK = 512


class LogLinear:
    r"""The law on an interval whose log density interpolates heights at knots.

    A segment is found by inverting the distribution function, with the segments in
    the order of their masses: so the least likely one keeps the relative accuracy of
    the likeliest. The place within it comes from a second uniform number. Nothing is
    rejected: the amount of work, and the bytes drawn, depend on the number of knots and
    of draws alone.

    Parameters
    ----------
    knots : ndarray of shape (m + 1,)
        Increasing.
    heights : ndarray of shape (m + 1,)
        Finite log heights, the largest near 0 and none below -700.

    Attributes
    ----------
    log_masses : ndarray of shape (m,)
        Log mass of each segment, not normalised.
    log_total : float
        Log of the total mass.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.random import as_random_source
    >>> from skdp.samplers import LogLinear
    >>> law = LogLinear(np.array([0.0, 1.0, 3.0]), np.array([0.0, -1.0, 0.0]))
    >>> np.exp(law.log_masses - law.log_total)
    array([0.33..., 0.66...])
    >>> law.draw(3, as_random_source(0)).shape
    (3,)
    """

    def __init__(self, knots: FloatArray, heights: FloatArray) -> None:
        self._knots, self._heights = knots, heights
        self._widths = np.diff(knots)
        self._drops = np.maximum(np.abs(np.diff(heights)), _LEAST_DROP)
        self._rises = (heights[1:] > heights[:-1]).astype(np.float64)
        top = np.maximum(heights[1:], heights[:-1])
        small = np.minimum(self._drops, _LARGEST_DROP)
        # e^(-d), and 1 - e^(-d) without the subtraction
        self._ends, self._shares = np.exp(-small), -np.expm1(-small)
        self.log_masses: FloatArray = (
            top + np.log(self._widths) + np.log(self._shares / self._drops)
        )
        peak = float(np.max(self.log_masses))
        masses = np.exp(self.log_masses - peak)
        self._order = _ascending(masses)
        self._sums = np.cumsum(masses[self._order])
        self.log_total = peak + float(np.log(self._sums[-1]))

    def draw(self, size: int, source: RandomSource) -> FloatArray:
        """Return independent draws.

        Parameters
        ----------
        size : int
            How many, >= 0.
        source : RandomSource
            Where the randomness comes from, 48 bytes a draw.

        Returns
        -------
        ndarray of shape (size,)
        """
        level = uniform(size, source) * self._sums[-1]
        segment = self._order[_count_at_most(self._sums[:-1], level)]
        fraction = self.fraction(segment, uniform(size, source))
        points: FloatArray = self._knots[segment] + fraction * self._widths[segment]
        return points

    def fraction(self, segment: IntArray, u: FloatArray) -> FloatArray:
        """Return which part of its segment lies below the point of level ``u``.

        Parameters
        ----------
        segment : ndarray of int of shape (size,)
            Which segments.
        u : ndarray of shape (size,)
            Levels in (0, 1), counted from the lower end of the log density.

        Returns
        -------
        ndarray of shape (size,)
            Within [0, 1].

        Notes
        -----
        Levels near 0 keep their relative accuracy, so the tail of a steep segment is
        not cut.
        """
        drop, rises = self._drops[segment], self._rises[segment]
        share = self._shares[segment]
        # how far from the high end: both formulas, and one of them by arithmetic
        flat = -np.log1p((u - 1.0) * np.minimum(share, _FLAT_SHARE)) / drop
        steep = -np.log(self._ends[segment] + u * share) / drop
        is_steep = (drop > _STEEP).astype(np.float64)
        away = is_steep * steep + (1.0 - is_steep) * flat
        inside = np.clip(away, 0.0, 1.0)
        out: FloatArray = rises * (1.0 - inside) + (1.0 - rises) * inside
        return out

    def log_density(self, x: float) -> float:
        """Return the log density at ``x``; minus infinity outside.

        Parameters
        ----------
        x : float
            Any point.
        """
        if not self._knots[0] <= x <= self._knots[-1]:
            return -np.inf
        j = min(int(np.sum(self._knots <= x)), self._widths.size) - 1
        share = (x - self._knots[j]) / self._widths[j]
        height = (1.0 - share) * self._heights[j] + share * self._heights[j + 1]
        return float(height) - self.log_total


def _ascending(masses: FloatArray) -> IntArray:
    """Return the indices in the order of the masses; equal ones in their own order.

    Each rank is a count of comparisons, so that the work tells nothing of the order.
    """
    n = masses.size
    index = np.arange(n)
    ranks = np.empty(n, dtype=np.int64)
    for start in range(0, n, _BLOCK):
        mine = masses[start : start + _BLOCK, None]
        before = index < index[start : start + _BLOCK, None]
        ranks[start : start + _BLOCK] = (
            (masses < mine) | ((masses == mine) & before)
        ).sum(axis=1)
    order = np.empty(n, dtype=np.int64)
    order[ranks] = index
    return order


def _count_at_most(sums: FloatArray, level: FloatArray) -> IntArray:
    """Return how many of the increasing sums are at most each level.

    A bisection that always takes the same steps.
    """
    n_steps = int(sums.size).bit_length()
    padded = np.full(1 << n_steps, np.inf)
    padded[: sums.size] = sums
    count = np.zeros(level.size, dtype=np.int64)
    for k in range(n_steps - 1, -1, -1):
        step = 1 << k
        count += step * (padded[count + (step - 1)] <= level)
    return count
