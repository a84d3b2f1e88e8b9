r"""The publishable bound: from one's own row and released numbers alone.

Notation (derived in docs/proofs/objective_perturbation.md, "Published bound")
------------------------------------------------------------------------------
xi       bound on the change of a margin by the smoothing step, shape (n,)
m        |f'| |x| / sigma, at its largest within xi of the margin, shape (n,)
z, t     normal and sub-Gaussian quantiles of the failure probability rho
d        number of coefficients
"""

import math
from dataclasses import replace
from typing import Literal

import numpy as np
from scipy.special import chdtri, ndtri

from skdp._typing import FloatArray
from skdp._validation import check_choice, check_flag, check_rho
from skdp.losses import LogisticLoss, Tilting
from skdp.mechanisms import GaussianNoise, LatticeSmoothing, ObjectivePerturbation
from skdp.pdp._bound import PublishedBound
from skdp.pdp._terms import margin_terms
from skdp.rows import PrivateRows

__all__ = [
    "KINDS",
    "Kind",
    "bound_rows",
    "check_question",
    "lattice_tail",
    "published_bound",
    "published_loss",
    "step_reach",
]

#: Which loss is bounded: its size, or its signed value for those in or out of the data.
KINDS = ("either", "member", "non-member")
Kind = Literal["either", "member", "non-member"]

#: Shares of rho: the noise of the objective, and each of two lattice events.
NOISE_SHARE, LATTICE_SHARE = 0.9, 0.05
#: Laplace scales beyond which a unit combination lies with probability < 1e-12.
LAPLACE_RADIUS = 34.0
#: Natural logarithm of that probability.
LOG_NEVER = -12 * math.log(10.0)


def published_loss(
    mechanism: ObjectivePerturbation,
    theta: FloatArray,
    rows: PrivateRows,
    *,
    kind: Kind = "either",
    rho: float = 1e-6,
    simultaneous: bool = False,
) -> FloatArray:
    """Bound the loss of each row from public numbers and the row itself.

    Parameters
    ----------
    mechanism : ObjectivePerturbation
        The mechanism that made the release.
    theta : ndarray of shape (n_coefficients,)
        The released vector, intercept coordinate last.
    rows : PrivateRows
        The rows asked about, clipped as in the fit.
    kind : {"either", "member", "non-member"}, default="either"
        "either" bounds the absolute loss of a row, in the data or not. The others bound
        the signed loss of a row that is in the data, or is not.
    rho : float, default=1e-6
        Probability, over the noise of the release, that the bound fails for one fixed
        row. Not used by pure mechanisms, whose bound fails with probability < 1e-12.
    simultaneous : bool, default=False
        Whether all rows are meant at once, so that a row may be chosen after a look at
        ``theta``.

    Returns
    -------
    loss : ndarray of shape (n,)
        Nats, >= 0. 0 for a row of an undeclared class: its loss is 0 for the minimiser,
        and the lattice noise is not charged to a row that is no part of the objective.

    Raises
    ------
    ValueError
        If ``kind`` or ``rho`` is not allowed.

    Notes
    -----
    Safe to publish as a function of the row: no data but the row asked about is read.
    The bound speaks about the pair of the ideal minimiser and the published vector,
    which tells at least as much as the vector alone.
    """
    rho = check_question(kind, rho, simultaneous)
    bound = published_bound(mechanism, kind=kind, rho=rho, simultaneous=simultaneous)
    return bound_rows(bound, mechanism.loss, theta, rows)


def bound_rows(
    bound: PublishedBound, loss: Tilting, theta: FloatArray, rows: PrivateRows
) -> FloatArray:
    """Return the bound for each of the rows, in one pass over them."""
    reach = 0.0
    if type(loss) is not LogisticLoss:
        # only the logistic derivatives grow by e^xi at most; others are asked near by
        reach, bound = bound.margin_shift, replace(bound, margin_shift=0.0)
    terms = margin_terms(rows, loss, theta, bound.directions, reach=reach)
    blocks = [bound(block) for block in terms]
    return np.concatenate(blocks) if blocks else np.zeros(0)


def published_bound(
    mechanism: ObjectivePerturbation, *, kind: Kind, rho: float, simultaneous: bool
) -> PublishedBound:
    """Return the bound that needs nothing but the coefficients; see above."""
    gaussian = isinstance(mechanism.noise_law, GaussianNoise)
    find = _gaussian_quantiles if gaussian else _pure_quantiles
    tail, slope, constant = find(mechanism, kind, rho, simultaneous)
    step, unit = mechanism.smoothing, mechanism.loss.constants(1.0)
    return PublishedBound(
        margin_shift=step_reach(step, tail),
        steepest=unit.lipschitz,
        roundest=unit.smoothness,
        alpha=mechanism.alpha,
        noise_scale=mechanism.noise_law.scale,
        bend=1.0 if gaussian else 0.0,
        slope=slope,
        constant=constant,
        ceiling=math.inf if gaussian else mechanism.guarantee.epsilon(0.0),
        has_jacobian=kind != "non-member",
    )


def step_reach(step: LatticeSmoothing, tail: float) -> float:
    """Return how far a published vector lies from the ideal one, its noise in a tail.

    In the direction, or in the norm, that ``tail`` speaks about.
    """
    rounding = step.grid * math.sqrt(step.n_features) / 2
    return step.error + rounding + tail * step.scale


def check_question(
    kind: object, rho: object, simultaneous: object, *, least: float = 1e-300
) -> float:
    """Refuse questions that have no answer; return ``rho`` as a float."""
    check_choice("kind", kind, KINDS, remedy="Use 'either' to bound the absolute loss.")
    check_flag(
        "simultaneous",
        simultaneous,
        remedy="Use True for a row that was chosen after a look at the release.",
    )
    return check_rho(rho, least=least)


def _gaussian_quantiles(
    mechanism: ObjectivePerturbation, kind: Kind, rho: float, simultaneous: bool
) -> tuple[float, float, float]:
    """Return lattice tail, quantile of the noise, and what the lattice step adds."""
    step, d = mechanism.smoothing, mechanism.n_coefficients
    # one more row is costly at either end where the slope may have either sign
    one_sided = kind == "member" or (kind == "non-member" and mechanism.loss.one_signed)
    sides = 1 if one_sided else 2
    if simultaneous:
        z = math.sqrt(chdtri(d, NOISE_SHARE * rho))
        tail = added = math.sqrt(d) + lattice_tail(LATTICE_SHARE, rho)
    else:
        # beyond one half 0 bounds too, and keeps what is raised by e^xi a bound
        z = max(0.0, -float(ndtri(NOISE_SHARE * rho / sides)))
        tail = lattice_tail(LATTICE_SHARE / 2, rho)
        added = lattice_tail(LATTICE_SHARE / sides, rho)
    return tail, z, step.rho + math.sqrt(2 * step.rho) * added


def _pure_quantiles(
    mechanism: ObjectivePerturbation, kind: Kind, rho: float, simultaneous: bool
) -> tuple[float, float, float]:
    """Return the same for K-norm noise: certain, up to the lattice noise."""
    del kind, rho
    tail, d = LAPLACE_RADIUS, mechanism.n_coefficients
    if simultaneous:  # all coordinates at once
        tail = math.sqrt(d) * (math.log(2 * d) - LOG_NEVER)
    return tail, 1.0, mechanism.smoothing.epsilon


def lattice_tail(share: float, rho: float) -> float:
    """Return t such that e^(-t^2/2) is the share of rho, without underflow."""
    return math.sqrt(-2 * (math.log(share) + math.log(rho)))
