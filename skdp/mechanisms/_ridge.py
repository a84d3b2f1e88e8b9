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
s, beta   steepness of a fading curvature, largest curvature of any loss
"""

import math
from dataclasses import dataclass
from functools import lru_cache

from skdp.accounting import Adjacency, Guarantee, concentrated_epsilon
from skdp.losses import Fading, Tilting
from skdp.mechanisms._calibration import DOWN, analytic_mu, largest_mu
from skdp.mechanisms._smoothing import LatticeSmoothing
from skdp.mechanisms._tilt import Tilt

__all__ = [
    "GaussianPlan",
    "PurePlan",
    "calibrated_mu",
    "calibrated_rate",
    "chosen_ridge",
    "plan_gaussian",
    "plan_pure",
]

#: The default ridge stands this factor above its floor.
_AUTO = 1.05
#: Under replace-one the Jacobian is paid unless the ridge is larger.
_AUTO_REPLACE_ONE = 4.0
#: A curvature that does not fade takes one part in so many of epsilon: at least ...
_STAYING_FLOOR = 2.0
#: ... and by default, which leaves the noise within a tenth of its least.
_STAYING_AUTO = 10.0
#: Share of a pure epsilon that pays for the smoothing step.
_PURE_SHARE = 0.01
#: Largest curvature over the ridge of which a logarithm of one less it is taken.
_BELOW_ONE = 1.0 - 2.0**-40


@dataclass(frozen=True, slots=True)
class GaussianPlan:
    """Public constants of the Gaussian version, in units of the row norm.

    The ridge bounds are those of a curvature of steepness 1, as the logistic one.
    """

    smoothing_mu: float
    curvature_limit: float
    curvature_auto: float

    def smoothing(
        self, error: float, n_features: int, adjacency: Adjacency
    ) -> LatticeSmoothing:
        """Return the step that hides ``error`` at the planned price."""
        return LatticeSmoothing.concentrated(
            error=error,
            n_features=n_features,
            mu=self.smoothing_mu,
            adjacency=adjacency,
        )


@dataclass(frozen=True, slots=True)
class PurePlan:
    """Public constants of the pure version, in units of the row norm.

    The ridge bounds are those of a curvature of steepness 1, as the logistic one.
    """

    smoothing_epsilon: float
    rate: float
    curvature_limit: float
    curvature_auto: float

    def smoothing(
        self, error: float, n_features: int, adjacency: Adjacency
    ) -> LatticeSmoothing:
        """Return the step that hides ``error`` at the planned price."""
        return LatticeSmoothing.pure(
            error=error,
            n_features=n_features,
            epsilon=self.smoothing_epsilon,
            adjacency=adjacency,
        )


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


def chosen_ridge(
    alpha: float | None,
    plan: GaussianPlan | PurePlan,
    loss: Tilting,
    radius: float,
    *,
    conservative: bool = False,
) -> float:
    """Return ``alpha``, raised to the privacy floor; None asks for the default."""
    limit, auto = _curvatures(plan, loss, conservative=conservative)
    if alpha is None:
        return radius**2 / auto
    return max(alpha, radius**2 / limit)


def _curvatures(
    plan: GaussianPlan | PurePlan, loss: Tilting, *, conservative: bool
) -> tuple[float, float]:
    """Return the largest and the default kappa.

    A fading curvature costs nothing up to epsilon. One that stays costs
    log(1 + beta kappa), the published bound -log(1 - beta kappa).
    """
    if isinstance(loss, Fading) and not conservative:
        steepness = loss.fading[0]
        return plan.curvature_limit / steepness, plan.curvature_auto / steepness
    shares = (plan.curvature_limit / part for part in (_STAYING_FLOOR, _STAYING_AUTO))
    if conservative:
        # below 1, where the published bound ends
        shares = (min(-math.expm1(-share), _BELOW_ONE) for share in shares)
    limit, auto = (share / loss.bend for share in shares)
    return limit, auto


@lru_cache(maxsize=1024)
def calibrated_mu(
    epsilon: float, delta: float, tilt: Tilt, rho: float, adjacency: Adjacency
) -> float:
    """Return the largest ``mu`` whose computed curve meets the target."""

    def curve(mu: float) -> Guarantee:
        return tilt.guarantee(mu, rho, adjacency=adjacency)

    return largest_mu(curve, epsilon, delta)


def calibrated_rate(plan: PurePlan, tilt: Tilt, adjacency: Adjacency) -> float:
    """Return the largest rate, times R L, that leaves room for the Jacobian."""
    if isinstance(tilt.loss, Fading):
        return plan.rate
    jacobian = math.log1p(tilt.curvature * tilt.loss.bend)
    return plan.rate - jacobian / (2 if adjacency is Adjacency.REPLACE_ONE else 1)
