r"""Envelope of a Gaussian core and a conical tail; for a ball and for the whole space.

Notation (derived in docs/proofs/posterior_sampling.md)
-------------------------------------------------------
theta^   point of expansion, delta = theta - theta^, g = grad J(theta^)
M        any metric, M = L L': the Hessian over gamma, or a core's -> ``whiten`` is L^-T
C        core: |delta|_M <= s1                                  -> ``edge``
eta      -min of g'delta over the ball, 0 at its minimiser
k        J - J^ >= k |delta|_M outside the core
slope    k - (d - 1)/s1 > 0, decay of the radial bound beyond s1
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigvalsh, solve_triangular
from scipy.special import expit, gammaln

from skdp._typing import FloatArray
from skdp.random import RandomSource, standard_normal, uniform
from skdp.samplers._envelope import Proposals
from skdp.samplers._factor import factored
from skdp.samplers._gauss import TiltedGaussian
from skdp.samplers._minorant import minorant_curvature
from skdp.samplers._target import GibbsTarget

__all__ = ["CoreTail"]

#: Radii of the core that are tried, in units of a typical radius of the target.
_FACTORS = tuple(0.7 * 1.25**k for k in range(8))
#: A tail of less than this share of the core's mass costs next to nothing.
_RARE = 0.05
#: Doublings tried at once: at the first radius that serves the tail is heavy still.
_DOUBLINGS = 3


@dataclass(frozen=True, slots=True)
class CoreTail:
    """One core, with the constants of both components."""

    core: TiltedGaussian
    whiten: FloatArray
    metric: FloatArray
    edge: float
    slope: float
    log_tail: float

    @classmethod
    def fit(
        cls, target: GibbsTarget, theta: FloatArray, g: FloatArray, H: FloatArray
    ) -> "CoreTail | None":
        """Return the core of least mass; None where no radius serves on a ball.

        In the metric of the Hessian a direction in which the losses bend at the mode
        and nowhere else flattens the whole tail; the core's own curvature does not
        know that bend. So where the tail is heavy, the metric is the core's.
        """
        first = cls._least(target, theta, g, H)
        # a tilted core has lost the digits of its curvature, and a ball has 'gauss'
        if first is None or first.core.tilt > 0.0:
            return first
        if first.log_tail < first.core.log_mass + math.log(_RARE):
            return first
        second = cls._least(target, theta, g, first.core.precision)
        found = [first] if second is None else [first, second]
        return min(found, key=lambda c: c.log_mass)

    @classmethod
    def _least(
        cls, target: GibbsTarget, theta: FloatArray, g: FloatArray, H: FloatArray
    ) -> "CoreTail | None":
        """Return the core of least mass in one metric.

        On the whole space radii are doubled until some serve: the decay of the tail
        grows with the radius, because the curvature is at least that of the ridge.
        """
        d = target.n_coefficients
        typical = math.sqrt((d + 3.0 * math.sqrt(2.0 * d) + 6.0) / target.gamma)
        edges = [typical * f for f in _FACTORS]
        found = _cores(target, theta, g, H, edges)
        while target.ball is None and not found:
            edges = [2.0 ** (k + 1) * edges[-1] for k in range(_DOUBLINGS)]
            found = _cores(target, theta, g, H, edges)
        return min(found, key=lambda c: c.log_mass, default=None)

    @property
    def log_mass(self) -> float:
        """Log of the integral of the bound; acceptance is the target's over it."""
        return float(np.logaddexp(self.core.log_mass, self.log_tail))

    def propose(self, size: int, source: RandomSource) -> Proposals:
        """Draw ``size`` points."""
        d = self.core.mean.size
        # a rare tail is chosen by a small uniform, which has all its digits
        odds = self.log_tail - self.core.log_mass
        in_tail = uniform(size, source) < expit(odds)
        z = standard_normal(size * d, source).reshape(size, d)
        steps = self.core.steps(z)
        height, ceiling = self.core.heights(steps)
        squares = np.einsum("ij,ij->i", steps @ self.metric, steps)
        valid = in_tail | (squares <= self.edge**2)
        where = np.flatnonzero(in_tail)
        if where.size:
            s = self.edge - np.log(uniform(where.size, source)) / self.slope
            unit = z[where] / np.linalg.norm(z[where], axis=1, keepdims=True)
            steps[where] = (s[:, None] * unit) @ self.whiten.T
            height[where], ceiling[where] = self._tail_heights(s)
        return Proposals(steps, height, ceiling, valid)

    def _tail_heights(self, s: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return minus the log of the radial bound, without s^(d-1), and its ceiling.

        The tangent of log s lies above it, by what the ceiling takes away.
        """
        power = self.core.mean.size - 1
        k, beyond = self.slope + power / self.edge, s / self.edge - 1.0
        ceiling = power * (np.log1p(beyond) - beyond)
        return k * s + ceiling, ceiling


def _cores(
    target: GibbsTarget,
    theta: FloatArray,
    g: FloatArray,
    H: FloatArray,
    edges: list[float],
) -> list[CoreTail]:
    """Return the envelopes whose tails decay, for some radii, in one pass."""
    # any metric serves
    metric, L = factored(H / target.gamma)
    whiten: FloatArray = solve_triangular(L, np.eye(len(g)), lower=True).T
    log_volume = float(np.sum(np.log(np.abs(np.diag(whiten)))))
    out = []
    for A, s1 in zip(
        _core_precisions(target, theta, whiten, edges), edges, strict=True
    ):
        flattest = float(eigvalsh(whiten.T @ A @ whiten, subset_by_index=[0, 0])[0])
        k = 0.5 * flattest * s1 - _steepest_fall(target, theta, g, whiten, s1)
        slope = k - (len(g) - 1) / s1
        if slope > 0.0:
            core = TiltedGaussian.fit(g, A, theta, target.ball)
            log_tail = _log_radial(len(g), k, slope, s1) + log_volume
            out.append(CoreTail(core, whiten, metric, s1, slope, log_tail))
    return out


def _steepest_fall(
    target: GibbsTarget, theta: FloatArray, g: FloatArray, whiten: FloatArray, s1: float
) -> float:
    """Return a bound on -g'delta / s1 over the border of the core."""
    fall = float(np.linalg.norm(whiten.T @ g))
    if target.ball is None:
        return fall
    along = float(g @ (theta - target.ball.midpoint))
    eta = max(0.0, along + target.ball.radius * float(np.linalg.norm(g)))
    return min(fall, eta / s1)


def _log_radial(d: int, k: float, slope: float, s1: float) -> float:
    """Return the log of the tail's mass, in the coordinates whitened by M."""
    log_area = math.log(2.0) + 0.5 * d * math.log(math.pi) - float(gammaln(d / 2))
    return log_area + (d - 1) * math.log(s1) - k * s1 - math.log(slope)


def _core_precisions(
    target: GibbsTarget, theta: FloatArray, whiten: FloatArray, edges: list[float]
) -> list[FloatArray]:
    """Return A for each radius of the core, in one pass."""

    def weights(x: FloatArray, y: FloatArray) -> list[FloatArray]:
        z0 = x @ theta
        leverage = np.linalg.norm(x @ whiten, axis=1)
        return [
            minorant_curvature(
                target.loss, y, z0, *_interval(target, x, z0, s1 * leverage)
            )
            for s1 in edges
        ]

    return target.grams(weights, len(edges))


def _interval(
    target: GibbsTarget, x: FloatArray, z0: FloatArray, reach: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the margins met on the core, cut to those met on the ball."""
    low, high = z0 - reach, z0 + reach
    if target.ball is None:
        return low, high
    middle = x @ target.ball.midpoint
    width = target.ball.radius * np.linalg.norm(x, axis=1)
    # the point of expansion is in the ball, up to rounding
    low = np.minimum(z0, np.maximum(low, middle - width))
    return low, np.maximum(z0, np.minimum(high, middle + width))
