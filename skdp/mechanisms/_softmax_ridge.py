r"""Public constants of softmax objective perturbation: ridge and noise scale.

Everything here is a function of the target and of public shapes alone, written in units
of the row norm R, so that scaling the rows scales the result exactly.

Notation (derived in docs/proofs/softmax_perturbation.md)
---------------------------------------------------------
kappa    R^2 / alpha                                          -> ``curvature``
mu       sqrt(2) R / sigma, the size of a corner              -> ``mu``
s        sqrt(2) R times the rate of K-norm noise             -> ``rate``
"""

import math
import sys
from functools import lru_cache

from scipy.optimize import brentq

from skdp.accounting import Adjacency, Guarantee, SoftmaxPerturbationDP
from skdp.mechanisms._calibration import largest_mu
from skdp.mechanisms._ridge import GaussianPlan, PurePlan

__all__ = ["SoftmaxTarget", "pure_softmax_loss", "softmax_mu", "softmax_ridge"]

#: Two competing classes cost nothing for epsilon >= 2 kappa with Gaussian noise ...
_GAUSSIAN_STEEPNESS = 2.0
#: ... and no classes do for a pure loss of 4 kappa or more.
_PURE_STEEPNESS = 4.0
#: The default ridge stands this factor above its floor, or more ...
_AUTO = 1.05
#: ... so that the noise is within this factor of its least. What a still larger ridge
#: spares of the noise it mostly costs in bias, as measured with three and ten classes.
_NEAR_LEAST = 1.3

#: Epsilon, delta, number of classes and adjacency of a Gaussian release.
SoftmaxTarget = tuple[float, float, int, Adjacency]


def softmax_ridge(
    alpha: float | None,
    plan: GaussianPlan | PurePlan,
    target: SoftmaxTarget,
    radius: float,
) -> float:
    """Return ``alpha``, raised to the privacy floor; None asks for the default."""
    if isinstance(plan, PurePlan):
        limit, auto = (
            kappa / _PURE_STEEPNESS
            for kappa in (plan.curvature_limit, plan.curvature_auto)
        )
    else:
        limit = plan.curvature_limit / _GAUSSIAN_STEEPNESS
        auto = limit / _AUTO
        if alpha is None:
            auto = _cheap_curvature(target, auto)
    return radius**2 / auto if alpha is None else max(alpha, radius**2 / limit)


@lru_cache(maxsize=256)
def _cheap_curvature(target: SoftmaxTarget, most: float) -> float:
    """Return the largest kappa, up to ``most``, with which the noise is near its least.

    The smoothing step takes a hundredth of a percent of the noise and is left out.
    """
    epsilon, delta, _, _ = target
    mu = softmax_mu(target, 0.0, 0.0) / _NEAR_LEAST

    def excess(kappa: float) -> float:
        found = _curve(target, mu, kappa, 0.0).delta(epsilon)
        # a delta that underflows is below every target
        return math.log(max(found, sys.float_info.min)) - math.log(delta)

    if excess(most) <= 0.0:
        return most
    return float(brentq(excess, 0.0, most, rtol=1e-6))


@lru_cache(maxsize=1024)
def softmax_mu(target: SoftmaxTarget, kappa: float, rho: float) -> float:
    """Return the largest ``mu`` whose computed curve meets the target."""
    epsilon, delta, _, _ = target
    return largest_mu(lambda mu: _curve(target, mu, kappa, rho), epsilon, delta)


def _curve(target: SoftmaxTarget, mu: float, kappa: float, rho: float) -> Guarantee:
    _, _, n_classes, adjacency = target
    return SoftmaxPerturbationDP(mu, kappa, n_classes, rho, adjacency=adjacency)


def pure_softmax_loss(
    s: float, kappa: float, n_classes: int, adjacency: Adjacency
) -> float:
    r"""Bound the loss under K-norm noise whose rate times sqrt(2) R is ``s``.

    With :math:`|p - e_y| = \sqrt2 u` the Jacobian is at most :math:`2\kappa(1-u^2)`:
    the sum :math:`2\kappa(1-u^2) + su` is s for kappa <= s/4, and at most
    :math:`2\kappa + s^2/(8\kappa)` beyond.
    """
    main = s
    if _PURE_STEEPNESS * kappa > s:
        flat = s + (n_classes - 1) * math.log1p(kappa / n_classes)
        main = min(flat, 2.0 * kappa + s * s / (8.0 * kappa))
    # the Jacobians of two rows have opposite signs: one is paid, at most
    return main if adjacency is Adjacency.ADD_REMOVE else main + s
