r"""How cold a Gibbs posterior may be under a target, its ridge and its lattice step.

Notation (derived in docs/proofs/posterior_sampling.md)
-------------------------------------------------------
gamma    inverse temperature: epsilon = k gamma o, mu = k G sqrt(gamma / alpha)
W        radius of the ball, or what stands for it where there is none
n        releases that share the target, each its part
"""

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np
from scipy.special import ndtri_exp

from skdp._validation import check_positive
from skdp.accounting import (
    ApproximateDP,
    GaussianDP,
    PureDP,
    ZeroConcentratedDP,
)
from skdp.mechanisms._additive import RELATIVE_ERROR
from skdp.mechanisms._calibration import DOWN
from skdp.mechanisms._gaussian import calibrated_gaussian
from skdp.mechanisms._gibbs_guarantee import MU_COST, PURE_COST, ROUNDING
from skdp.mechanisms._smoothing import LatticeSmoothing

if TYPE_CHECKING:
    from skdp.mechanisms._posterior_sampling import GibbsPosterior

__all__ = ["TYPICAL_REACH", "Ridge", "calibrated_posterior", "pure_mu"]

Ridge = float | Literal["auto"]
P = TypeVar("P", bound="GibbsPosterior")

#: Share of a pure epsilon that pays for the smoothing step, and of a mu.
_PURE_SHARE, _MU_SHARE = 0.01, 0.01
#: Radius that stands for the domain where there is none, for rows of norm one.
TYPICAL_REACH = 3.0
#: Halvings of the bracket of log gamma.
_BISECTIONS = 50
#: Largest mu of a lattice step.
_MOST_MU_OUT = 0.125


def calibrated_posterior(
    draft: P, target: PureDP | ApproximateDP | GaussianDP, alpha: Ridge, n: int
) -> P:
    """Return ``draft`` with temperature, ridge and step for n releases together."""
    if isinstance(target, GaussianDP):
        # the tail of the lattice step is heavier than its share of mu squared
        share = _MU_SHARE * target.mu
        return _gaussian(draft, target.mu - 2 * share, share / 2, alpha, n)
    if isinstance(target, PureDP) or target.delta_bound == 0.0:
        return _pure(draft, target.epsilon(0.0) / n, alpha)
    sizes = calibrated_gaussian(target.epsilon_bound, target.delta_bound)
    mechanism = _gaussian(draft, *sizes, alpha, n)
    return mechanism if draft.ball is None else _coldest(mechanism, target, n)


def pure_mu(epsilon: float) -> float:
    """Return the mu of randomised response: every epsilon-DP release is mu-GDP."""
    # the logarithm of 1 / (1 + e^epsilon), which itself underflows
    return -2.0 * float(ndtri_exp(-np.logaddexp(0.0, epsilon)))


def _pure(draft: P, epsilon: float, alpha: Ridge) -> P:
    if draft.ball is None:
        raise ValueError(
            "a pure guarantee needs a ball, got ball=None. Allowed: a Ball, or a "
            "target with delta > 0. Pass ball=Ball.around_zero(n_coefficients, r)."
        )
    oscillation = draft.oscillation
    if not (oscillation > 0.0 and epsilon > 0.0):
        raise ValueError(
            "no temperature can be computed, got a ball on which the loss does not "
            f"change within rounding, or epsilon={epsilon:g} for one release. Allowed: "
            "a larger ball, nearer to zero, and a larger epsilon. Choose a larger "
            "radius, or alpha='auto'."
        )
    lattice = _PURE_SHARE * epsilon
    main = (epsilon - lattice) * DOWN / (1.0 + PURE_COST * ROUNDING)
    mechanism = replace(
        draft,
        alpha=_ridge(draft, alpha, pure_mu(epsilon)),
        inverse_temperature=main / (draft.multiplicity * oscillation),
    )
    return _smoothed(mechanism, pure=lattice)


def _gaussian(draft: P, whole: float, mu_out: float, alpha: Ridge, n: int) -> P:
    mu = whole * DOWN / (1.0 + MU_COST * ROUNDING) / math.sqrt(n)
    ridge = _ridge(draft, alpha, mu)
    ratio = mu / (draft.multiplicity * draft.lipschitz)
    mechanism = replace(draft, alpha=ridge, inverse_temperature=ridge * ratio**2)
    return _smoothed(mechanism, mu=min(mu_out, _MOST_MU_OUT) / math.sqrt(n))


def _coldest(mechanism: P, target: ApproximateDP, n: int) -> P:
    """Lower the temperature while one of the guarantees meets the target."""

    def serves(log_factor: float) -> bool:
        """Tell whether n releases together meet the target."""
        return _colder(mechanism, log_factor).guarantee_of(n).implies(target)

    low, high = 0.0, 1.0
    while serves(high):
        low, high = high, 2.0 * high
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if serves(middle):
            low = middle
        else:
            high = middle
    # implication forgives some rounding, which is taken back
    return _colder(mechanism, low + math.log(DOWN))


def _colder(mechanism: P, log_factor: float) -> P:
    step = mechanism.smoothing.guarantee
    rho = step.rho if isinstance(step, ZeroConcentratedDP) else 0.0
    gamma = mechanism.inverse_temperature * math.exp(log_factor)
    colder = replace(mechanism, inverse_temperature=gamma)
    return _smoothed(colder, mu=math.sqrt(2.0 * rho) * DOWN)


def _ridge(draft: "GibbsPosterior", alpha: Ridge, mu: float) -> float:
    if alpha != "auto":
        remedy = "Use 'auto' for a posterior of no rows as wide as the ball."
        return check_positive("alpha", alpha, remedy=remedy, or_auto=True)
    ball = draft.ball
    width = TYPICAL_REACH / draft.radius if ball is None else ball.radius
    return math.sqrt(draft.n_coefficients) * draft.lipschitz / (mu * width)


def _smoothed(mechanism: P, *, pure: float = 0.0, mu: float = 0.0) -> P:
    """Return the same with the lattice step of a given cost."""
    width = 1.0 / math.sqrt(mechanism.inverse_temperature * mechanism.alpha)
    if mechanism.ball is not None:
        width = min(width, mechanism.ball.radius)
    error, d = RELATIVE_ERROR * width, mechanism.n_coefficients
    relation = mechanism.adjacency
    if pure > 0.0:
        step = LatticeSmoothing.pure(
            error=error, n_features=d, epsilon=pure, adjacency=relation
        )
    else:
        step = LatticeSmoothing.concentrated(
            error=error, n_features=d, mu=mu, adjacency=relation
        )
    return replace(mechanism, smoothing=step)
