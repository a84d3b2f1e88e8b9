r"""A universal envelope for log-concave densities on the whole line.

Notation (derived in docs/proofs/runtime.md)
--------
m        a point close to the mode, found by a public number of steps
H        certified upper bound on g between the last four points of the search
x+, x-   points where g has fallen by at least 1 below g(m)
d, w     that drop, and the distance from m

Level at H between x- and x+, and beyond them the chords from m, extended, which a
concave function stays below.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from skdp._constant_work import bounded, largest
from skdp._typing import FloatArray
from skdp.accounting import Public
from skdp.random import RandomSource, uniform
from skdp.samplers._interval import check_interval
from skdp.samplers._loop_target import LoopTarget, exponential

__all__ = ["log_concave_acceptance", "log_concave_target"]

#: Acceptance for every density within the public bounds on location and scale:
#: (1 - 1/e) 0.999 / (e^0.01 + 1/e) = 0.458, proved in the note.
log_concave_acceptance = Public(0.45)
#: The search for the mode ends at this fraction of the least scale, and so does the
#: search for the drops.
_RESOLUTION = 1e-3
_FAR = 1e300
#: A drop beyond this, as at the end of a support, counts as this.
_STEEPEST = 1e100


@dataclass(frozen=True, eq=False)
class _Sides:
    """The envelope: ``height`` on [left, right], chords from ``mode`` beyond."""

    mode: float
    top: float
    height: float
    left: float
    right: float
    left_drop: float
    right_drop: float

    def log_masses(self) -> FloatArray:
        """Return log masses of the left tail, the level part and the right tail."""
        tails = [
            self.top - d + math.log(w) - math.log(d)
            for d, w in (
                (self.left_drop, self.mode - self.left),
                (self.right_drop, self.right - self.mode),
            )
        ]
        level = self.height + math.log(self.right - self.left)
        return np.array([tails[0], level, tails[1]])

    def propose(self, n: int, source: RandomSource) -> FloatArray:
        """Draw from the envelope, shape (n, 1); all three parts are drawn."""
        waits = exponential(3 * n, source).reshape(n, 3)
        part = np.argmax(self.log_masses() - np.log(waits), axis=1)
        beyond = exponential(n, source)
        level = self.left + (self.right - self.left) * uniform(n, source)
        left = self.left - beyond * (self.mode - self.left) / self.left_drop
        right = self.right + beyond * (self.right - self.mode) / self.right_drop
        x = (part == 0) * left + (part == 1) * level + (part == 2) * right
        return bounded(x, -_FAR, _FAR)[:, None]

    def log_envelope(self, x: FloatArray) -> FloatArray:
        """Return the log of the envelope; all three parts are evaluated."""
        low = (x < self.left).astype(np.float64)
        high = (x > self.right).astype(np.float64)
        left = self.left_drop / (self.mode - self.left) * (self.mode - x)
        right = self.right_drop / (self.right - self.mode) * (x - self.mode)
        level = (1.0 - low - high) * self.height
        out: FloatArray = low * (self.top - left) + high * (self.top - right) + level
        return out


def log_concave_target(
    log_density: Callable[[FloatArray], FloatArray],
    *,
    location: Sequence[float],
    scale: Sequence[float],
) -> LoopTarget:
    """Return the target of a log-concave density on the line, for batched loops.

    Parameters
    ----------
    log_density : callable
        Concave ``g(x)`` for x of shape (n,), not normalised, finite within ``location``
        and as far around it as the largest scale; a function of the data.
    location : (low, high)
        Public interval that holds the mode, for every data set.
    scale : (least, most)
        Public bounds, for every data set, on how far on each side of the mode g falls
        by 1: for a normal density 1.41 standard deviations.

    Returns
    -------
    LoopTarget
        Accepts with probability ``log_concave_acceptance`` at least. g is evaluated a
        public number of times here, and once a proposal later.

    Notes
    -----
    Where the public bounds do not hold the draw is exact all the same as long as the
    drops and the certified height are found, but the acceptance, and with it the delta
    of a batched loop, is not what it says.

    Examples
    --------
    >>> from skdp.random import as_random_source
    >>> from skdp.samplers import (
    ...     log_concave_acceptance, BatchedLoop, log_concave_target)
    >>> target = log_concave_target(
    ...     lambda x: -x**2 / 2, location=(-10.0, 10.0), scale=(0.1, 10.0))
    >>> loop = BatchedLoop(target, log_concave_acceptance, 1e-12)
    >>> loop.batch, loop.draw(as_random_source(0)).shape
    (47, (1,))
    """
    low, high = check_interval(location, name="location")
    least, most = check_interval(scale, name="scale")
    if least <= 0.0:
        raise ValueError(
            f"scale is not positive, got {least!r}. Allowed: above 0. Pass public "
            "bounds on how far from the mode the log density falls by 1."
        )

    def g(x: FloatArray) -> FloatArray:
        return bounded(log_density(x), -_FAR, _FAR)

    sides = _fitted(g, low, high, least, most)

    def log_acceptance(x: FloatArray) -> FloatArray:
        return bounded(g(x[:, 0]) - sides.log_envelope(x[:, 0]), -_FAR, 0.0)

    return LoopTarget(sides.propose, log_acceptance)


def _fitted(
    g: Callable[[FloatArray], FloatArray],
    low: float,
    high: float,
    least: float,
    most: float,
) -> _Sides:
    """Place the envelope by a number of evaluations that the public bounds decide."""
    points = _around_mode(g, low, high, _RESOLUTION * least)
    values = g(points)
    best = largest(values[1:3])
    mode, top = float(points[1 + best]), float(values[1 + best])
    reach = most + least
    n_halvings = math.ceil(math.log2(reach / (_RESOLUTION * least)))
    right = _first_drop(g, mode, top, reach, n_halvings)
    left = _first_drop(g, mode, top, -reach, n_halvings)
    drops = np.maximum(top - g(np.array([mode + left, mode + right])), 1e-3)
    return _Sides(
        mode=mode,
        top=top,
        height=max(top, _height(points, values)),
        left=mode + left,
        right=mode + right,
        left_drop=float(min(drops[0], _STEEPEST)),
        right_drop=float(min(drops[1], _STEEPEST)),
    )


def _around_mode(
    g: Callable[[FloatArray], FloatArray], low: float, high: float, width: float
) -> FloatArray:
    """Return four points a < l < r < b with the mode in [a, b], by thirds."""
    n = max(0, math.ceil(math.log((high - low) / width) / math.log(1.5)))
    a, b = low, high
    for _ in range(n):
        thirds = a + (b - a) * np.array([1.0, 2.0]) / 3.0
        inner = g(thirds)
        up = float(inner[0] < inner[1])
        # drop the third that cannot hold the mode
        a = up * float(thirds[0]) + (1.0 - up) * a
        b = (1.0 - up) * float(thirds[1]) + up * b
    return a + (b - a) * np.array([0.0, 1.0, 2.0, 3.0]) / 3.0


def _height(points: FloatArray, values: FloatArray) -> float:
    """Bound a concave function on [a, b] by chords, extended, of its four values."""
    slope = np.diff(values) / np.diff(points)
    third = float(points[1] - points[0])
    _, left, right, _ = values
    first = max(left, left - float(slope[1]) * third)
    middle = min(
        max(left, left + float(slope[0]) * third),
        max(right, right - float(slope[2]) * third),
    )
    last = max(right, right + float(slope[1]) * third)
    return float(max(first, middle, last))


def _first_drop(
    g: Callable[[FloatArray], FloatArray],
    mode: float,
    top: float,
    reach: float,
    n_halvings: int,
) -> float:
    """Return how far from the mode g has fallen by 1, from outside, by bisection."""
    inner, outer = 0.0, reach
    for _ in range(n_halvings):
        middle = 0.5 * (inner + outer)
        fallen = float(top - g(np.array([mode + middle]))[0] >= 1.0)
        outer = fallen * middle + (1.0 - fallen) * outer
        inner = (1.0 - fallen) * middle + fallen * inner
    return outer
