r"""The bound where a noisy Hessian, or a gradient as well, was released with theta.

Notation (derived in docs/proofs/published_report.md)
-----------------------------------------------------
R        bound on the norm of a row, intercept constant included
E        bound on the distance of the published theta to the ideal one
s2, s3   noise scales of the gradient and of the Hessian
t        quantile of the largest eigenvalue of the Gaussian orthogonal ensemble
w        sigma^2 / (sigma^2 + s2^2), weight of the released gradient
"""

import math
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtri, log_ndtr, ndtri

from skdp.mechanisms import LatticeSmoothing, ObjectivePerturbation
from skdp.pdp._bound import EstimatedBound, PublishedBound
from skdp.pdp._leverage import LeverageBound
from skdp.pdp._published import Kind, lattice_tail, step_reach
from skdp.pdp._statistic import ReleasedStatistic
from skdp.random import GOE

__all__ = ["Of", "coefficients_bound", "everything_bound", "joint_radius"]

Of = Literal["everything", "coefficients"]

#: Shares of rho: the noise of theta and of the statistics, the spectrum of the noise of
#: the Hessian (it matters for leverages alone, and its quantile grows slowly), ...
_NOISE, _MATRIX = 0.8, 0.1
#: ... theta's lattice noise, the loss of all lattice steps, the lattice noise of the
#: Hessian, and what is small: the gradient's lattice noise, or the change of a slope
#: between the ideal and the published point.
_MARGIN, _LATTICE, _ENTRIES, _SMALL = 0.03, 0.03, 0.03, 0.01
#: Beyond this exponent of a change of curvature, the ridge alone bounds leverages.
_LARGEST_EXPONENT = 300.0


class _Release:
    """A release with statistics, and the events that every bound on it needs."""

    def __init__(
        self,
        mechanism: ObjectivePerturbation,
        hessian: ReleasedStatistic,
        *,
        rho: float,
        two_sided: bool,
    ) -> None:
        self.mechanism, self.hessian, self.rho = mechanism, hessian, rho
        self.d, self.sigma = mechanism.n_coefficients, mechanism.noise_law.scale
        self.reach = step_reach(mechanism.smoothing, self.norm_tail(self.d, _MARGIN))
        self.t = GOE(self.d).isf(_MATRIX * rho / (2 if two_sided else 1))
        n = len(hessian.values)
        # an entry off the diagonal stands there twice
        entries = math.sqrt(2.0) * step_reach(hessian.step, self.norm_tail(n, _ENTRIES))
        self.spread = hessian.scale * self.t + entries
        exponent = mechanism.radius * self.reach
        self.is_far = exponent > _LARGEST_EXPONENT
        #: how much the curvature may change between the two points
        self.inflation = math.exp(min(exponent, _LARGEST_EXPONENT))

    def norm_tail(self, n: int, share: float) -> float:
        """Return a bound on the norm of n lattice noises, in their scale."""
        return math.sqrt(n) + lattice_tail(share, self.rho)

    def direction_quantile(self, sides: int, share: float, *, whole: bool) -> float:
        """Return a bound on one coordinate of Gaussian noise, or on its whole norm."""
        if whole:
            return math.sqrt(chdtri(self.d, share * self.rho))
        return max(0.0, -float(ndtri(share * self.rho / sides)))

    def leverage(self) -> LeverageBound:
        """Return the leverage bound from the released Hessian."""
        lower = self.hessian.matrix(self.d) - self.spread * np.eye(self.d)
        return LeverageBound.of(lower, self.mechanism.alpha, inflation=self.inflation)

    def steepest_curvature(self) -> float:
        """Return a bound on the Hessian of J0 between the two points."""
        largest = float(np.linalg.eigvalsh(self.hessian.matrix(self.d))[-1])
        return self.inflation * (largest + self.spread)

    def steps_loss(
        self, steps: list[LatticeSmoothing], sides: int, *, whole: bool
    ) -> float:
        """Return what the lattice steps add, in nats."""
        total = sum(step.rho for step in steps)
        if not whole:
            tail = lattice_tail(_LATTICE / sides, self.rho)
            return total + math.sqrt(2 * total) * tail
        each = _LATTICE / len(steps)
        tails = (
            math.sqrt(2 * step.rho) * self.norm_tail(step.n_features, each)
            for step in steps
        )
        return total + sum(tails)

    def common(self, kind: Kind) -> dict[str, Any]:
        """Return what all bounds on the release have in common."""
        unit = self.mechanism.loss.constants(1.0)
        has_jacobian = kind != "non-member"
        return {
            "margin_shift": self.reach,
            "steepest": unit.lipschitz,
            "roundest": unit.smoothness,
            "alpha": self.mechanism.alpha,
            "bend": 1.0,
            "ceiling": math.inf,
            "has_jacobian": has_jacobian,
            "leverage": self.leverage() if has_jacobian else None,
        }


def everything_bound(
    mechanism: ObjectivePerturbation,
    hessian: ReleasedStatistic,
    gradient: ReleasedStatistic | None,
    *,
    kind: Kind,
    rho: float,
    simultaneous: bool,
) -> PublishedBound:
    """Return the bound on the loss of theta and of the statistics together.

    A released gradient costs the person, and cannot lower this bound: what it tells
    about the noise is uncorrelated with the loss of both.
    """
    of = _Release(mechanism, hessian, rho=rho, two_sided=simultaneous)
    sides = 2 if kind == "either" else 1
    scale, steps, change = of.sigma, [mechanism.smoothing, hessian.step], 0.0
    if gradient is not None:
        scale = 1.0 / math.hypot(1.0 / scale, 1.0 / gradient.scale)
        steps.append(gradient.step)
        # slopes at the ideal and at the published point are not quite the same
        change = of.direction_quantile(2, _SMALL, whole=simultaneous)
    if simultaneous:
        slope = math.hypot(of.direction_quantile(1, _NOISE, whole=True), of.t)
    else:
        # the curvature p (1 - p) is below the slope p: the arc is short
        steep = of.inflation * mechanism.radius * scale / hessian.scale
        slope = joint_radius(_NOISE * rho / sides, math.atan(steep))
    slope += mechanism.radius * of.reach * change
    return PublishedBound(
        noise_scale=scale,
        hessian_scale=hessian.scale,
        slope=slope,
        constant=of.steps_loss(steps, sides, whole=simultaneous),
        **of.common(kind),
    )


def coefficients_bound(
    mechanism: ObjectivePerturbation,
    hessian: ReleasedStatistic,
    gradient: ReleasedStatistic | None,
    *,
    kind: Kind,
    rho: float,
    simultaneous: bool,
) -> PublishedBound:
    """Return the bound on the loss of theta alone, which the statistics sharpen."""
    two_sided = simultaneous or gradient is not None
    of = _Release(mechanism, hessian, rho=rho, two_sided=two_sided)
    sides = 2 if kind == "either" else 1
    z = of.direction_quantile(sides, _NOISE, whole=simultaneous)
    numbers = of.common(kind) | {
        "noise_scale": of.sigma,
        "constant": of.steps_loss([mechanism.smoothing], sides, whole=simultaneous),
    }
    if gradient is None or of.is_far:
        return PublishedBound(slope=z, **numbers)
    weight = 1.0 / (1.0 + (gradient.scale / of.sigma) * (gradient.scale / of.sigma))
    # between the two points the gradient changes by the curvature, times the way
    blur = of.steepest_curvature() * of.reach
    blur += step_reach(gradient.step, of.norm_tail(of.d, _SMALL))
    side = {"member": 1.0, "non-member": -1.0, "either": 0.0}[kind]
    return EstimatedBound(
        slope=z * math.sqrt(1.0 - weight) + weight * blur / of.sigma,
        estimate=weight / of.sigma * (np.array(gradient.values) / of.sigma),
        side=side,
        **numbers,
    )


@lru_cache(maxsize=256)
def joint_radius(q: float, angle: float = math.pi / 2) -> float:
    r"""Return r with :math:`e^{-r^2/2} \text{angle}/2\pi + \Phi(-r) = q`, rounded up.

    The probability that two independent normal variables, weighted by the coordinates
    of some unit vector on an arc, add up to more than r.

    Parameters
    ----------
    q : float
        Within (0, 1). The answer is 0 where already r = 0 is exceeded no more often.
    angle : float, default=pi/2
        Length of the arc, from 0 to pi.

    Returns
    -------
    float

    Examples
    --------
    >>> from skdp.pdp._levels import joint_radius
    >>> round(joint_radius(1e-6), 4)
    5.039
    """
    log_q, log_arc = math.log(q), math.log(max(angle, 1e-300) / (2 * math.pi))

    def excess(r: float) -> float:
        return float(np.logaddexp(log_arc - r * r / 2, log_ndtr(-r))) - log_q

    if excess(0.0) <= 0.0:
        return 0.0
    return float(brentq(excess, 0.0, 60.0, xtol=1e-13)) + 1e-12
