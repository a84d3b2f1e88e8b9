r"""What all draws of a fit cost one person, on a ball or on the whole space.

Notation (derived in docs/proofs/posterior_sampling.md, "Loss of one person")
-----------------------------------------------------------------------------
G_z      |x| times the largest |f'| of the row on the domain, shape (n,)
mu_z     Gaussian mu of one draw for this row alone: G_z sqrt(gamma / alpha)
m        number of draws
"""

import math

import numpy as np

from skdp._typing import FloatArray
from skdp.accounting import Guarantee, PureDP, ZeroConcentratedDP
from skdp.losses import Loss
from skdp.mechanisms import GibbsPosterior
from skdp.pdp._posterior import posterior_loss
from skdp.pdp._tail import gaussian_tail
from skdp.rows import PrivateRows
from skdp.samplers import Ball

__all__ = ["draws_loss", "draws_mu", "steepest_slopes"]

#: What a log density off by eta adds to mu, in eta.
_ROUNDING_COST = 6.0
#: A margin that no row reaches, whose square is a float.
_FAR = 1e150


def draws_loss(
    mechanism: GibbsPosterior,
    draws: FloatArray,
    rows: PrivateRows,
    *,
    rho: float = 1e-6,
) -> FloatArray:
    """Bound the loss of each row by all draws together, from public numbers and it.

    Parameters
    ----------
    mechanism : GibbsPosterior
        The mechanism that made every draw.
    draws : ndarray of shape (n_draws, n_coefficients)
        The released vectors, intercept coordinate last.
    rows : PrivateRows
        The rows asked about, clipped as in the fit.
    rho : float, default=1e-6
        Probability, over the randomness of the release, that the bound fails for one
        fixed row. Not used by pure mechanisms, whose bound fails with probability
        < 1e-12 a draw.

    Returns
    -------
    loss : ndarray of shape (n,)
        Nats, >= 0. It holds whether or not the row was in the data. 0 for a row whose
        loss is constant on the domain.

    Notes
    -----
    On a ball the draws themselves limit the loss (:func:`posterior_loss`). Without one
    the strong convexity of the ridge does: the draws are Gaussian DP for every row by
    its own slope, which bounds the loss but for a probability. Gaussian releases on a
    ball get the smaller bound of the two, at half of ``rho`` each.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.accounting import ApproximateDP
    >>> from skdp.losses import LogisticLoss
    >>> from skdp.mechanisms import GibbsPosterior
    >>> from skdp.pdp import draws_loss
    >>> from skdp.rows import L2Ball, PrivateRows, as_row_blocks
    >>> mechanism = GibbsPosterior.calibrate(
    ...     ApproximateDP(1.0, 1e-6), loss=LogisticLoss(), radius=1.0, n_coefficients=1)
    >>> rows = PrivateRows(
    ...     as_row_blocks(np.array([[1.0], [0.2]]), np.array([1.0, 1.0])), L2Ball(1.0))
    >>> draws_loss(mechanism, np.array([[0.5]]), rows).round(2)
    array([1.23, 0.26])
    """
    whole = mechanism.smoothing.guarantee
    if mechanism.ball is None:
        return _gaussian(mechanism, len(draws), rows, rho)
    if isinstance(whole, PureDP):
        return posterior_loss(mechanism, draws, rows, rho=rho)
    by_draws = posterior_loss(mechanism, draws, rows, rho=rho / 2)
    by_slope = _gaussian(mechanism, len(draws), rows, rho / 2)
    return np.minimum(by_draws, by_slope)


def _gaussian(
    mechanism: GibbsPosterior, n_draws: int, rows: PrivateRows, rho: float
) -> FloatArray:
    slopes = steepest_slopes(mechanism.loss, rows, mechanism.ball)
    lattice = lattice_total(mechanism.smoothing.guarantee, n_draws)
    loss = gaussian_tail(draws_mu(mechanism, n_draws, slopes), lattice, rho=rho)
    return np.where(slopes > 0.0, loss, 0.0)


def draws_mu(mechanism: GibbsPosterior, n_draws: int, slopes: FloatArray) -> FloatArray:
    """Return the Gaussian mu of all draws for rows of given gradient norms."""
    size = math.sqrt(mechanism.inverse_temperature / mechanism.alpha)
    rounding = _ROUNDING_COST * mechanism.rounding
    return math.sqrt(n_draws) * (slopes * size + rounding)


def steepest_slopes(loss: Loss, rows: PrivateRows, ball: Ball | None) -> FloatArray:
    """Return the largest gradient norm of each row's loss on a ball, or anywhere.

    The slope of a convex loss is monotone, so it is steepest at an end.
    """
    out = [np.zeros(0)]
    for x, y in rows.projected():
        norm = np.linalg.norm(x, axis=1)
        middle, reach = np.zeros(norm.size), np.full(norm.size, _FAR)
        if ball is not None:
            middle, reach = x @ ball.midpoint, ball.radius * norm
        ends = loss.gradient(y, middle - reach), loss.gradient(y, middle + reach)
        out.append(norm * np.maximum(np.abs(ends[0]), np.abs(ends[1])))
    return np.concatenate(out)


def lattice_total(step: Guarantee, n_releases: int) -> Guarantee:
    """Return the cost of equal lattice steps together."""
    if isinstance(step, ZeroConcentratedDP):
        return ZeroConcentratedDP(n_releases * step.rho, adjacency=step.adjacency)
    return PureDP(n_releases * step.epsilon(0.0), adjacency=step.adjacency)
