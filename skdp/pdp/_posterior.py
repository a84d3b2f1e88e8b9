r"""The publishable bound for a draw from a Gibbs posterior.

Notation (derived in docs/proofs/posterior_sampling.md, "Loss of one person")
-----------------------------------------------------------------------------
t        margin of the row at the published vector, shape (n,)
xi       bound on the change of the margin by the smoothing step, shape (n,)
f-, f+   least and largest loss of the row over the ball, shape (n,)
"""

import math

import numpy as np

from skdp._typing import FloatArray
from skdp.accounting import PureDP, ZeroConcentratedDP
from skdp.mechanisms import GibbsPosterior
from skdp.rows import PrivateRows

__all__ = ["posterior_loss"]

#: Laplace scales beyond which a unit combination lies with probability < 1e-12.
_LAPLACE_RADIUS = 34.0
#: What a log density off by eta adds to a log ratio, in eta.
_ROUNDING_COST = 4.0


def posterior_loss(
    mechanism: GibbsPosterior,
    theta: FloatArray,
    rows: PrivateRows,
    *,
    rho: float = 1e-6,
) -> FloatArray:
    r"""Bound the loss of each row by one draw, from public numbers and the row.

    Parameters
    ----------
    mechanism : GibbsPosterior
        The mechanism that made the release, with a ball.
    theta : ndarray of shape (n_coefficients,)
        The released vector, intercept coordinate last.
    rows : PrivateRows
        The rows asked about, clipped as in the fit.
    rho : float, default=1e-6
        Probability, over the smoothing noise, that the bound fails for one fixed row;
        below 1e-12 where that noise is Laplace.

    Returns
    -------
    loss : ndarray of shape (n,)
        Nats, >= 0: for the row removed where it was in the data, and added where it
        was not. 0 for a row whose loss is constant on the ball.

    Raises
    ------
    ValueError
        If the mechanism has no ball: a loss may then be as large as it likes.

    Notes
    -----
    Safe to publish as a function of the row asked about: nothing else is read. The
    bounds of the training rows, published together, would be a function of these rows.
    Several draws add up, and so does a mechanism that chose the centre of the ball.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.accounting import PureDP
    >>> from skdp.losses import LogisticLoss
    >>> from skdp.mechanisms import GibbsPosterior
    >>> from skdp.pdp import posterior_loss
    >>> from skdp.rows import L2Ball, PrivateRows, as_row_blocks
    >>> from skdp.samplers import Ball
    >>> mechanism = GibbsPosterior.calibrate(
    ...     PureDP(1.0), loss=LogisticLoss(), radius=1.0, n_coefficients=1,
    ...     ball=Ball.around_zero(1, 2.0))
    >>> rows = PrivateRows(
    ...     as_row_blocks(np.array([[1.0], [0.2]]), np.array([1.0, 1.0])), L2Ball(1.0))
    >>> posterior_loss(mechanism, np.array([0.5]), rows).round(3)
    array([0.828, 0.143])
    """
    if mechanism.ball is None:
        raise ValueError(
            "the mechanism has no ball, so the loss of one person has no bound from "
            "public numbers. Allowed: a GibbsPosterior with ball=Ball(...). Calibrate "
            "with a ball."
        )
    spread, fixed = _smoothing_terms(mechanism, rho)
    middle, width = mechanism.ball.midpoint, mechanism.ball.radius
    out = [np.zeros(0)]
    for x, y in rows.projected():
        norm = np.linalg.norm(x, axis=1)
        center, reach = x @ middle, width * norm
        low, high = center - reach, center + reach
        t, xi = x @ theta, spread * norm
        near = np.clip(t - xi, low, high), np.clip(t + xi, low, high)
        least, largest = mechanism.loss.extremes(y, low, high)
        least_here, largest_here = mechanism.loss.extremes(y, *near)
        range_ = np.maximum(largest_here - least, largest - least_here)
        loss = mechanism.inverse_temperature * range_ + fixed
        out.append(np.where(largest > least, loss, 0.0))
    return np.concatenate(out)


def _smoothing_terms(mechanism: GibbsPosterior, rho: float) -> tuple[float, float]:
    """Return xi of a row of norm one, and the loss by rounding and lattice noise."""
    step = mechanism.smoothing
    still = step.error + step.grid * math.sqrt(step.n_features) / 2
    rounding = _ROUNDING_COST * mechanism.rounding
    price = step.guarantee
    if isinstance(price, ZeroConcentratedDP):
        # half of rho for the margin, half for the lattice step's own loss
        tail = math.sqrt(2 * math.log(4 / rho))
        lattice = price.rho + math.sqrt(2 * price.rho) * tail
        return still + tail * step.scale, rounding + lattice
    lattice = price.epsilon_bound if isinstance(price, PureDP) else 0.0
    return still + _LAPLACE_RADIUS * step.scale, rounding + lattice
