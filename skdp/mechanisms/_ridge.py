r"""Public constants of objective perturbation: ridge, smoothing share, noise scale.

Everything here is a function of the target and of public shapes alone, written in units
of the row norm R, so that scaling the rows scales the result exactly.

Notation (derived in docs/proofs/objective_perturbation.md)
-----------------------------------------------------------
kappa     R^2 / alpha                                          -> ``curvature``
mu        R L / sigma, the size of the Gaussian release         -> ``mu``
mu_out    size of the smoothing step (Gaussian)                 -> ``smoothing_mu``
eps_out   share of the smoothing step (pure)              -> ``smoothing_epsilon``
eta       loss the smoothing step can add, up to 1e-17    -> inside ``plan_gaussian``
"""

from dataclasses import dataclass
from functools import lru_cache

from skdp.accounting import (
    Adjacency,
    ObjectivePerturbationDP,
    concentrated_epsilon,
)
from skdp.mechanisms._calibration import DOWN, analytic_mu, largest_mu

__all__ = ["GaussianPlan", "PurePlan", "calibrated_mu", "plan_gaussian", "plan_pure"]

#: The default ridge stands this factor above its floor.
_AUTO = 1.05
#: Under replace-one the Jacobian is paid unless the ridge is larger.
_AUTO_REPLACE_ONE = 4.0
#: Share of a pure epsilon that pays for the smoothing step.
_PURE_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class GaussianPlan:
    """Public constants of the Gaussian version, in units of the row norm."""

    smoothing_mu: float
    curvature_limit: float
    curvature_auto: float


@dataclass(frozen=True, slots=True)
class PurePlan:
    """Public constants of the pure version, in units of the row norm."""

    smoothing_epsilon: float
    rate: float
    curvature_limit: float
    curvature_auto: float


@lru_cache(maxsize=1024)
def plan_gaussian(epsilon: float, delta: float, adjacency: Adjacency) -> GaussianPlan:
    """Return smoothing size and ridge bounds for an (epsilon, delta) target."""
    mu = analytic_mu(epsilon, delta)
    if adjacency is Adjacency.ADD_REMOVE:
        # 1/8 keeps the lattice at least 128 steps finer than its noise
        smoothing_mu = min(mu / 100, epsilon / 200, 0.125)
        eta = smoothing_mu**2 / 2 + 8.5 * smoothing_mu
        limit = epsilon - eta
        return GaussianPlan(smoothing_mu, limit, limit / _AUTO)
    smoothing_mu = min(mu / 2000, epsilon / 1000, 0.125)
    spent = concentrated_epsilon(smoothing_mu**2 / 2, 0.001 * delta)
    limit = epsilon - spent
    return GaussianPlan(smoothing_mu, limit, limit / _AUTO_REPLACE_ONE)


def plan_pure(epsilon: float, adjacency: Adjacency) -> PurePlan:
    """Return smoothing share, noise rate and ridge bounds for a pure target."""
    smoothing_epsilon = _PURE_SHARE * epsilon
    main = epsilon - smoothing_epsilon
    if adjacency is Adjacency.REPLACE_ONE:
        main = main / 2
    return PurePlan(smoothing_epsilon, main * DOWN, main * DOWN, main / _AUTO)


@lru_cache(maxsize=1024)
def calibrated_mu(
    epsilon: float,
    delta: float,
    curvature: float,
    smoothing_rho: float,
    adjacency: Adjacency,
) -> float:
    """Return the largest ``mu`` whose computed curve meets the target."""

    def curve(mu: float) -> ObjectivePerturbationDP:
        return ObjectivePerturbationDP(
            mu, curvature, smoothing_rho, adjacency=adjacency
        )

    return largest_mu(curve, epsilon, delta)
