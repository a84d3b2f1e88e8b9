r"""The publishable bound: from one's own row and released numbers alone.

Notation (derived in docs/proofs/objective_perturbation.md, "Published bound")
------------------------------------------------------------------------------
xi       bound on the change of a margin by the smoothing step, shape (n,)
m        |f'| |x| / sigma, raised by e^xi, shape (n,)
z, t     normal and sub-Gaussian quantiles of the failure probability rho
"""

import math

import numpy as np
from scipy.special import ndtri

from skdp._typing import FloatArray
from skdp.accounting import PureDP, ZeroConcentratedDP
from skdp.mechanisms import GaussianNoise, ObjectivePerturbation
from skdp.pdp._terms import MarginTerms, margin_terms
from skdp.rows import PrivateRows

__all__ = ["published_loss"]

#: Shares of rho: the noise of the objective, and each of two lattice events.
_NOISE_SHARE, _LATTICE_SHARE = 0.9, 0.05
#: Laplace scales beyond which a unit combination lies with probability < 1e-12.
_LAPLACE_RADIUS = 34.0


def published_loss(
    mechanism: ObjectivePerturbation,
    theta: FloatArray,
    rows: PrivateRows,
    *,
    rho: float = 1e-6,
) -> FloatArray:
    """Bound the absolute loss of each row from public numbers and the row itself.

    Parameters
    ----------
    mechanism : ObjectivePerturbation
        The mechanism that made the release.
    theta : ndarray of shape (n_coefficients,)
        The released vector, intercept coordinate last.
    rows : PrivateRows
        The rows asked about, clipped as in the fit.
    rho : float, default=1e-6
        Probability, over the noise of the release, that the bound fails for one fixed
        row. Not used by pure mechanisms, whose bound fails with probability < 1e-12.

    Returns
    -------
    loss : ndarray of shape (n,)
        Nats, >= 0. It holds whether or not the row was in the data. 0 for a row of an
        undeclared class: its loss is 0 for the minimiser, and the lattice noise is not
        charged to a row that is no part of the objective.

    Notes
    -----
    Safe to publish as a function of the row: no data but the row asked about is read.
    The bound speaks about the pair of the ideal minimiser and the published vector,
    which tells at least as much as the vector alone.
    """
    bound = _gaussian if isinstance(mechanism.noise_law, GaussianNoise) else _pure
    blocks = [
        bound(mechanism, terms, rho)
        for terms in margin_terms(rows, mechanism.loss, theta)
    ]
    return np.concatenate(blocks) if blocks else np.zeros(0)


def _gaussian(
    mechanism: ObjectivePerturbation, terms: MarginTerms, rho: float
) -> FloatArray:
    step = mechanism.smoothing.guarantee
    step_rho = step.rho if isinstance(step, ZeroConcentratedDP) else 0.0
    z = -float(ndtri(_NOISE_SHARE * rho / 2))
    t = math.sqrt(2 * math.log(2 / (_LATTICE_SHARE * rho)))
    norm, grow = _inflation(mechanism, terms, t)
    p = np.minimum(grow * np.abs(terms.slope), 1.0)
    m = p * norm / mechanism.noise_law.scale
    mu_out = math.sqrt(2 * step_rho)
    smoothing = step_rho + mu_out * t
    loss = _jacobian(mechanism, terms, grow) + m * m / 2 + m * z + smoothing
    return _only_declared(loss, terms)


def _pure(
    mechanism: ObjectivePerturbation, terms: MarginTerms, rho: float
) -> FloatArray:
    del rho  # the bound is certain up to the tail of the smoothing noise
    step = mechanism.smoothing.guarantee
    norm, grow = _inflation(mechanism, terms, _LAPLACE_RADIUS)
    gradient = grow * np.abs(terms.slope) * norm / mechanism.noise_law.scale
    loss = gradient + _jacobian(mechanism, terms, grow)
    if isinstance(step, PureDP):
        loss = loss + step.epsilon_bound
    worst = float(mechanism.guarantee.epsilon(0.0))
    return _only_declared(np.minimum(loss, worst), terms)


def _inflation(
    mechanism: ObjectivePerturbation, terms: MarginTerms, tail: float
) -> tuple[FloatArray, FloatArray]:
    """Return |x| and e^xi: slope and curvature change by no more than that factor."""
    step = mechanism.smoothing
    norm = np.sqrt(terms.squared_norm)
    rounding = step.grid * math.sqrt(step.n_features) / 2
    xi = norm * (step.error + rounding + tail * step.scale)
    return norm, np.exp(xi)


def _jacobian(
    mechanism: ObjectivePerturbation, terms: MarginTerms, grow: FloatArray
) -> FloatArray:
    h = grow * terms.curvature
    out: FloatArray = np.log1p(h * terms.squared_norm / mechanism.alpha)
    return out


def _only_declared(loss: FloatArray, terms: MarginTerms) -> FloatArray:
    # a row of weight zero is no part of the objective
    out: FloatArray = np.where(terms.declared, loss, 0.0)
    return out
