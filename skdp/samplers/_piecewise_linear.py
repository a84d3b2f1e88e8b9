r"""Densities whose logarithm is linear on each of a fixed number of segments.

Notation
--------
w     width of a segment; l0, l1 log density at its ends
d     |l1 - l0|
mass  :math:`e^{\max(l_0, l_1)}\, w\, (1 - e^{-d}) / d`
t     distance from the higher end, as a fraction: :math:`-\log(1 - v(1 - e^{-d})) / d`

All segments are evaluated for every draw, and both forms (slope and no slope) in every
segment, so the work is a function of the number of segments.
"""

from dataclasses import dataclass

import numpy as np

from skdp._constant_work import bounded
from skdp._typing import FloatArray
from skdp.random import RandomSource, uniform
from skdp.samplers._loop_target import exponential

__all__ = ["PiecewiseLinear"]

#: Below this drop the segment counts as level, to second order.
_LEVEL = 1e-8
#: Log mass of a segment that is never drawn.
_NEVER = -1e300


@dataclass(frozen=True, eq=False)
class PiecewiseLinear:
    """A density on the line by the logs at the ends of adjacent segments.

    Parameters
    ----------
    knots : ndarray of shape (m + 1,)
        Ends of the segments, not decreasing.
    left, right : ndarray of shape (m,)
        Log density at the left and the right end of each segment.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.random import as_random_source
    >>> from skdp.samplers._piecewise_linear import PiecewiseLinear
    >>> tent = PiecewiseLinear(
    ...     np.array([0.0, 0.5, 1.0]), np.array([-3.0, 0.0]), np.array([0.0, -3.0]))
    >>> x = tent.draw(1000, as_random_source(0))
    >>> x.shape, bool((abs(x - 0.5) <= 0.5).all())
    ((1000,), True)
    """

    knots: FloatArray
    left: FloatArray
    right: FloatArray

    def log_masses(self) -> FloatArray:
        """Return the log of the integral over each segment, shape (m,)."""
        width = np.diff(self.knots)
        d = np.abs(self.right - self.left)
        level = (d <= _LEVEL).astype(np.float64)
        steep = np.maximum(d, _LEVEL)
        share = level * (1.0 - d / 2) + (1.0 - level) * (
            -np.expm1(-np.minimum(steep, 500.0)) / steep
        )
        logs = np.maximum(self.left, self.right) + np.log(np.maximum(width, 1e-300))
        empty = (width <= 0.0).astype(np.float64)
        total: FloatArray = (1.0 - empty) * (logs + np.log(share)) + empty * _NEVER
        return total

    def log_density(self, x: FloatArray) -> FloatArray:
        """Return the log density at points inside, shape (n,), not normalised."""
        inner = self.knots[1:-1]
        # the segment is found by comparing with every knot
        j = np.sum(x[:, None] >= inner, axis=1)
        width = np.maximum(np.diff(self.knots), 1e-300)
        share = bounded((x - self.knots[j]) / width[j], 0.0, 1.0)
        out: FloatArray = self.left[j] + share * (self.right[j] - self.left[j])
        return out

    def draw(self, size: int, source: RandomSource) -> FloatArray:
        """Return independent draws, shape (size,), by exact inversion in a segment.

        Parameters
        ----------
        size : int
            How many, >= 0.
        source : RandomSource
        """
        masses = self.log_masses()
        # the first of independent exponential clocks of these rates, in logs
        waits = exponential(size * masses.size, source).reshape(size, masses.size)
        j = np.argmax(masses - np.log(waits), axis=1)
        share = self._within(j, uniform(size, source))
        out: FloatArray = self.knots[j] + share * np.diff(self.knots)[j]
        return bounded(out, float(self.knots[0]), float(self.knots[-1]))

    def _within(self, j: FloatArray, u: FloatArray) -> FloatArray:
        """Return where in its segment each draw lies, as a fraction."""
        rises = (self.right[j] > self.left[j]).astype(np.float64)
        d = np.abs(self.right[j] - self.left[j])
        # a rising segment is a falling one seen from its other end
        v = rises * (1.0 - u) + (1.0 - rises) * u
        t = fall(d, v)
        out: FloatArray = rises * (1.0 - t) + (1.0 - rises) * t
        return out


def fall(d: FloatArray, v: FloatArray) -> FloatArray:
    """Return the v-quantile of the density exp(-d t) on [0, 1]."""
    level = (d <= _LEVEL).astype(np.float64)
    steep = np.minimum(np.maximum(d, _LEVEL), 1e300)
    curved = -np.log1p(v * np.expm1(-np.minimum(steep, 500.0))) / steep
    straight = v * (1.0 - np.minimum(d, 1.0) * (1.0 - v) / 2)
    out: FloatArray = level * straight + (1.0 - level) * curved
    return bounded(out, 0.0, 1.0)
