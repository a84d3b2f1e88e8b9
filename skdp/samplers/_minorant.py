r"""The best parabola below a loss on an interval, touching it at one point.

Notation (derived in docs/proofs/posterior_sampling.md)
-------------------------------------------------------
z0       point of contact, shape (n,)
D(z)     chord curvature :math:`2 (f(z) - f(z_0) - f'(z_0)(z - z_0)) / (z - z_0)^2`
w        curvature of the parabola: the smaller of D(low) and D(high)

Where f'' is unimodal, D is unimodal on each side of z0, so its smallest value on an
interval around z0 is at an end.
"""

import numpy as np

from skdp._typing import FloatArray
from skdp.losses import Loss

__all__ = ["minorant_curvature"]

#: Below this distance the quotient would round; f'' at both ends bounds D there too.
_NEAR = 1e-3
#: Relative rounding of a value, with room.
_ROUNDING = 4.0 * float(np.finfo(np.float64).eps)


def minorant_curvature(
    loss: Loss, y: FloatArray, z0: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Return w >= 0 with f(z) >= f(z0) + f'(z0)(z - z0) + w (z - z0)^2 / 2 on [low, high].

    Parameters
    ----------
    loss : Loss
        With a unimodal second derivative.
    y, z0 : ndarray of shape (n,)
        Labels and points of contact.
    low, high : ndarray of shape (n,)
        ``low <= z0 <= high``.
    """  # noqa: E501
    contact = loss.value(y, z0), loss.derivatives(y, z0)
    return np.maximum(
        0.0,
        np.minimum(
            _chord_curvature(loss, y, z0, low, *contact),
            _chord_curvature(loss, y, z0, high, *contact),
        ),
    )


def _chord_curvature(
    loss: Loss,
    y: FloatArray,
    z0: FloatArray,
    z: FloatArray,
    value: FloatArray,
    derivatives: tuple[FloatArray, FloatArray],
) -> FloatArray:
    """Return D(z), or a lower bound on it where z is near z0."""
    slope, bend = derivatives
    step = z - z0
    near = np.abs(step) < _NEAR
    end, rise = loss.value(y, z), slope * step
    gap = end - value - rise
    # what rounding may have added is taken back, or it would count n times over
    gap -= _ROUNDING * (np.abs(end) + np.abs(value) + np.abs(rise))
    safe = np.where(near, 1.0, step)
    local = np.minimum(bend, loss.hessian(y, z))
    out: FloatArray = np.where(near, local, 2.0 * gap / (safe * safe))
    return out
