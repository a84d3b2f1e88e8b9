r"""What a posterior fit cost one person: the centre, where private, and all draws.

Notation (derived in docs/proofs/posterior_sampling.md, "Loss of one person")
-----------------------------------------------------------------------------
G_z      largest gradient norm of the row's loss on a domain, shape (n,)
o_z      max - min of the row's loss on the ball, shape (n,)
q        bound on the probability that a draw of bounded work fails
"""

import math

import numpy as np

from skdp._typing import FloatArray
from skdp.accounting import PureDP
from skdp.mechanisms import (
    BoundedPosterior,
    GibbsPosterior,
    LocalizedPosterior,
    OutputPerturbation,
)
from skdp.pdp._posterior import row_oscillations
from skdp.pdp._posterior_draws import (
    draws_loss,
    draws_mu,
    lattice_total,
    steepest_slopes,
)
from skdp.pdp._tail import gaussian_tail
from skdp.rows import PrivateRows

__all__ = ["center_loss", "fit_loss"]

#: What a log density off by eta adds to a log ratio, in eta.
_ROUNDING_COST = 4.0


def fit_loss(
    mechanism: GibbsPosterior | LocalizedPosterior | BoundedPosterior,
    draws: FloatArray,
    rows: PrivateRows,
    *,
    center: FloatArray | None = None,
    rho: float = 1e-6,
) -> FloatArray:
    """Bound the loss of each row by everything a posterior fit released.

    Parameters
    ----------
    mechanism : GibbsPosterior, LocalizedPosterior or BoundedPosterior
        The mechanism that made the releases.
    draws : ndarray of shape (n_draws, n_coefficients)
        The released vectors, intercept coordinate last.
    rows : PrivateRows
        The rows asked about, clipped as in the fit.
    center : ndarray of shape (n_coefficients,), optional
        The released centre of a LocalizedPosterior.
    rho : float, default=1e-6
        Probability, over the randomness of the release, that the bound fails for one
        fixed row. Not used by pure mechanisms, whose bound fails with probability
        < 1e-12 a draw.

    Returns
    -------
    loss : ndarray of shape (n,)
        Nats, >= 0. It holds whether or not the row was in the data. 0 for a row whose
        loss is constant on the domain.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.accounting import PureDP
    >>> from skdp.losses import LogisticLoss
    >>> from skdp.mechanisms import GibbsPosterior
    >>> from skdp.pdp import fit_loss
    >>> from skdp.rows import L2Ball, PrivateRows, as_row_blocks
    >>> from skdp.samplers import Ball
    >>> mechanism = GibbsPosterior.calibrate(
    ...     PureDP(1.0), loss=LogisticLoss(), radius=1.0, n_coefficients=1,
    ...     ball=Ball.around_zero(1, 2.0), n_releases=2)
    >>> rows = PrivateRows(
    ...     as_row_blocks(np.array([[1.0], [0.2]]), np.array([1.0, 1.0])), L2Ball(1.0))
    >>> fit_loss(mechanism, np.array([[0.5], [0.7]]), rows).round(3)
    array([0.846, 0.148])
    """
    if isinstance(mechanism, BoundedPosterior):
        return _bounded_loss(mechanism, len(draws), rows, rho)
    if isinstance(mechanism, GibbsPosterior):
        return draws_loss(mechanism, draws, rows, rho=rho)
    if center is None:
        raise ValueError(
            "center is missing: a localized release tells it. Allowed: an array of "
            "shape (n_coefficients,). Pass the first row of the release."
        )
    first = center_loss(mechanism.center, rows, rho=rho / 2)
    posterior = mechanism.posterior(center)
    return first + draws_loss(posterior, draws, rows, rho=rho / 2)


def center_loss(
    mechanism: OutputPerturbation, rows: PrivateRows, *, rho: float = 1e-6
) -> FloatArray:
    """Bound the loss of each row by one perturbed minimiser.

    Parameters
    ----------
    mechanism : OutputPerturbation
        The mechanism that made the release.
    rows : PrivateRows
        The rows asked about, clipped as in the fit.
    rho : float, default=1e-6
        Probability, over the noise, that the bound fails for one fixed row. Not used
        by pure mechanisms.

    Returns
    -------
    loss : ndarray of shape (n,)
        Nats, >= 0: by how far the row alone may move the minimiser.
    """
    slopes = steepest_slopes(mechanism.loss, rows, mechanism.ball)
    # what the solver leaves open is in the sensitivity, next to k G / alpha
    push = mechanism.multiplicity * mechanism.lipschitz / mechanism.alpha
    slack = mechanism.l2_sensitivity - push
    size = (slopes / mechanism.alpha + slack) / mechanism.noise_law.scale
    step = mechanism.smoothing.guarantee
    if isinstance(step, PureDP):
        loss = size + step.epsilon_bound
    else:
        loss = gaussian_tail(size, step, rho=rho)
    return np.where(slopes > 0.0, loss, 0.0)


def _bounded_loss(
    mechanism: BoundedPosterior, n_draws: int, rows: PrivateRows, rho: float
) -> FloatArray:
    """Bound the loss by draws of a bounded budget: the law is a mixture."""
    posterior, coin = mechanism.posterior, mechanism.coin
    step = lattice_total(posterior.smoothing.guarantee, n_draws)
    ranges = row_oscillations(posterior, rows)
    pure = posterior.inverse_temperature * ranges
    pure += _ROUNDING_COST * posterior.rounding
    each = np.maximum(pure - math.log1p(-mechanism.failure), coin.epsilon)
    if isinstance(step, PureDP):
        loss = n_draws * each + step.epsilon_bound
        return np.where(ranges > 0.0, loss, 0.0)
    lattice = gaussian_tail(np.zeros(1), step, rho=rho / 2)
    slopes = steepest_slopes(posterior.loss, rows, posterior.ball)
    mu = np.hypot(draws_mu(posterior, n_draws, slopes), math.sqrt(n_draws) * coin.mu)
    by_slope = gaussian_tail(mu, step, rho=rho / 2)
    loss = np.minimum(n_draws * each + lattice, by_slope)
    return np.where(ranges > 0.0, loss, 0.0)
