r"""An envelope for concave log densities on an interval, without derivatives.

Between two knots a concave g lies above its chord and below the chords of the
neighbouring intervals, extended. Both bounds are piecewise linear.

Notation
--------
w      distance of the knots
M      bound on -g'', public                                  -> ``curvature``
gap    at most 3 M w^2 / 8 between inner knots, M w^2 at the ends
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skdp._constant_work import bounded
from skdp._typing import FloatArray
from skdp._validation import check_count
from skdp.accounting import Public
from skdp.accounting._public import tagged
from skdp.random import RandomSource
from skdp.samplers._interval import check_interval
from skdp.samplers._loop_target import LoopTarget
from skdp.samplers._piecewise_linear import PiecewiseLinear
from skdp.samplers._slack import Stage

__all__ = ["ConcaveHull", "concave_stage"]


@dataclass(frozen=True, eq=False)
class ConcaveHull:
    """Upper and lower bounds of a concave function from its values at public knots.

    Parameters
    ----------
    knots : ndarray of shape (m + 1,), m >= 3
        Increasing, public.
    values : ndarray of shape (m + 1,)
        Values of a concave function there.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.samplers import ConcaveHull
    >>> x = np.linspace(0.0, 1.0, 9)
    >>> hull = ConcaveHull(x, -((x - 0.37) ** 2) / 0.02)
    >>> bool((hull.upper.log_density(x) >= hull.values - 1e-12).all())
    True
    """

    knots: FloatArray
    values: FloatArray

    @cached_property
    def lower(self) -> PiecewiseLinear:
        """Chords."""
        return PiecewiseLinear(self.knots, self.values[:-1], self.values[1:])

    @cached_property
    def upper(self) -> PiecewiseLinear:
        """Extended chords: two segments an interval, of which one may be empty."""
        x, g = self.knots, self.values
        width = np.diff(x)
        slope = np.diff(g) / width
        m = width.size
        # the chord before, extended to the right; at the left end only the one after
        before = np.append(slope[1:2], slope[:-1])
        after = np.append(slope[1:], slope[-2:-1])
        left = np.append(g[1] - slope[1] * width[0], g[1:-1])
        right = np.append(g[1:-1], g[-2] + slope[-2] * width[-1])
        # where the two lines meet, as a fraction of the interval
        turn = before - after
        rise = right - left - after * width
        share = bounded(rise / np.maximum(turn * width, 1e-300), 0.0, 1.0)
        peak = left + before * share * width
        edges = np.empty(2 * m + 1)
        edges[0::2], edges[1::2] = x, x[:-1] + share * width
        starts, ends = np.empty(2 * m), np.empty(2 * m)
        starts[0::2], ends[0::2] = left, peak
        starts[1::2], ends[1::2] = peak, right
        return PiecewiseLinear(edges, starts, ends)

    def propose(self, n: int, source: RandomSource) -> FloatArray:
        """Return draws from the upper bound, shape (n, 1)."""
        return self.upper.draw(n, source)[:, None]


def concave_stage(
    log_density: Callable[[FloatArray], FloatArray],
    interval: Sequence[float],
    *,
    curvature: Public,
    n_cells: int,
) -> Stage:
    """Return the hull of a log-concave density whose curvature is bounded.

    Parameters
    ----------
    log_density : callable
        Concave ``g(x)`` for x of shape (n,), not normalised; a function of the data.
    interval : (low, high)
        Public ends of the domain.
    curvature : Public
        Bound on ``-g''`` for every data set.
    n_cells : int
        Public number of intervals, at least 3.

    Returns
    -------
    Stage
        Log acceptance within [-2 eta, 0], ``2 eta = curvature * width**2``. Acceptance
        is at least ``exp(-2 eta)``, so the target of the stage also fits a
        :class:`BatchedLoop` with that ``p_lo``.

    Examples
    --------
    >>> from skdp.accounting import Public
    >>> from skdp.samplers import concave_stage
    >>> stage = concave_stage(lambda x: -((x - 0.37) ** 2) / 0.02, (0.0, 1.0),
    ...                       curvature=Public(100.0), n_cells=64)
    >>> stage.eta
    Public(0.01220...)
    """
    low, high = check_interval(interval)
    M = tagged("curvature", curvature, 0.0, 1e100)
    remedy = "Pass how many intervals to use."
    m = check_count("n_cells", n_cells, minimum=3, remedy=remedy)
    knots = low + (high - low) * np.arange(m + 1) / m
    gap = M * ((high - low) / m) ** 2
    hull = ConcaveHull(knots, bounded(log_density(knots), -1e300, 1e300))

    def log_acceptance(x: FloatArray) -> FloatArray:
        below = log_density(x[:, 0]) - hull.upper.log_density(x[:, 0])
        return bounded(below, -gap, 0.0)

    return Stage(LoopTarget(hull.propose, log_acceptance), Public(gap / 2))
