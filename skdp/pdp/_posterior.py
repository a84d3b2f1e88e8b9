r"""The publishable bound for draws from a Gibbs posterior on a ball.

Notation (derived in docs/proofs/posterior_sampling.md, "Loss of one person")
-----------------------------------------------------------------------------
t        margin of the row at the published vectors, shape (n, m)
xi       bound on the change of the margin by the smoothing step, shape (n, 1)
f-, f+   least and largest loss of the row over the ball, shape (n, 1)
"""

import math

import numpy as np

from skdp._typing import BoolArray, FloatArray
from skdp.accounting import PureDP, ZeroConcentratedDP
from skdp.losses import Oscillating
from skdp.mechanisms import GibbsPosterior
from skdp.rows import PrivateRows

__all__ = ["posterior_loss", "row_oscillations"]

#: Laplace scales beyond which a unit combination lies with probability < 1e-12.
_LAPLACE_RADIUS = 34.0
#: What a log density off by eta adds to a log ratio, in eta.
_ROUNDING_COST = 4.0
#: Number of (row, draw) pairs handled at once, to bound the memory.
_CHUNK = 2**19


def posterior_loss(
    mechanism: GibbsPosterior,
    theta: FloatArray,
    rows: PrivateRows,
    *,
    rho: float = 1e-6,
) -> FloatArray:
    r"""Bound the loss of each row by some draws, from public numbers and the row.

    Parameters
    ----------
    mechanism : GibbsPosterior
        The mechanism that made the release, with a ball.
    theta : ndarray of shape (n_coefficients,) or (n_draws, n_coefficients)
        The released vector, intercept coordinate last; or several, all drawn from this
        mechanism, whose losses add up.
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
    A mechanism that chose the centre of the ball adds its own loss.

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
    draws = np.atleast_2d(theta)
    spread, fixed = _smoothing_terms(mechanism, rho / len(draws))
    middle, width = mechanism.ball.midpoint, mechanism.ball.radius
    out = [np.zeros(0)]
    for x, y in rows.projected():
        norm = np.linalg.norm(x, axis=1)[:, None]
        center, reach = (x @ middle)[:, None], width * norm
        row = _Row(mechanism.loss, y[:, None], center - reach, center + reach)
        parts = np.array_split(draws, 1 + norm.size * len(draws) // _CHUNK)
        ranges = sum(row.ranges(x @ part.T, spread * norm) for part in parts)
        loss = mechanism.inverse_temperature * ranges + len(draws) * fixed
        out.append(np.where(row.matters, loss, 0.0))
    return np.concatenate(out)


def row_oscillations(mechanism: GibbsPosterior, rows: PrivateRows) -> FloatArray:
    """Return max - min of each row's loss on the ball of a mechanism."""
    if mechanism.ball is None:
        raise ValueError(
            "the mechanism has no ball, so a row's loss has no range. Allowed: a "
            "GibbsPosterior with ball=Ball(...). Calibrate with a ball."
        )
    middle, width = mechanism.ball.midpoint, mechanism.ball.radius
    out = [np.zeros(0)]
    for x, y in rows.projected():
        center, reach = x @ middle, width * np.linalg.norm(x, axis=1)
        least, largest = mechanism.loss.extremes(y, center - reach, center + reach)
        out.append(largest - least)
    return np.concatenate(out)


class _Row:
    """The losses of a block of rows over the ball."""

    def __init__(
        self, loss: Oscillating, y: FloatArray, low: FloatArray, high: FloatArray
    ) -> None:
        self._loss, self._y, self._low, self._high = loss, y, low, high
        self._least, self._largest = loss.extremes(y, low, high)

    @property
    def matters(self) -> BoolArray:
        """Where the loss is not the same all over the ball."""
        out: BoolArray = (self._largest > self._least)[:, 0]
        return out

    def ranges(self, t: FloatArray, xi: FloatArray) -> FloatArray:
        """Return how far the loss may be from its mean, summed over margins t."""
        near = (np.clip(t + side, self._low, self._high) for side in (-xi, xi))
        least, largest = self._loss.extremes(self._y, *near)
        each = np.maximum(largest - self._least, self._largest - least)
        out: FloatArray = each.sum(axis=1)
        return out


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
