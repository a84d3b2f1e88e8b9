"""Squared loss of a bounded target."""

from dataclasses import dataclass

import numpy as np

from skdp._typing import FloatArray
from skdp.losses._regression import ResidualLoss

__all__ = ["SquaredLoss"]


@dataclass(frozen=True, slots=True)
class SquaredLoss(ResidualLoss):
    r"""Squared loss :math:`f(t; y) = (t - y)^2 / 2` of a target within a bound.

    Its slope has no bound on the whole space, so it needs a ball of coefficients:
    ``constants(R, radius=B)``. Its Gibbs posterior is a Gaussian, cut to that ball.

    Parameters
    ----------
    target_bound : float, default=1.0
        Bound Y > 0; targets are clipped to [-Y, Y].

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import SquaredLoss
    >>> loss = SquaredLoss(target_bound=2.0)
    >>> loss.value(np.array([1.0, 9.0]), np.array([0.0, 0.0]))
    array([0.5, 2. ])
    >>> loss.constants(1.0, radius=3.0)
    LossConstants(lipschitz=5.0, smoothness=1.0)
    >>> SquaredLoss().oscillation(1.0, center_norm=2.0, radius=1.0)
    6.0
    """

    def _height(self, r: FloatArray) -> FloatArray:
        out: FloatArray = 0.5 * r * r
        return out

    def _rise(self, r: FloatArray, step: FloatArray) -> FloatArray:
        out: FloatArray = step * (r + 0.5 * step)
        return out

    def _slope(self, r: FloatArray) -> FloatArray:
        return r

    def _curvature(self, r: FloatArray) -> FloatArray:
        return np.ones_like(r)
