"""Huber loss of a bounded target."""

from dataclasses import dataclass

import numpy as np

from skdp._typing import FloatArray
from skdp.losses._regression import RobustLoss

__all__ = ["HuberLoss"]


@dataclass(frozen=True, slots=True)
class HuberLoss(RobustLoss):
    r"""Huber loss: :math:`r^2/2` for :math:`|r| \le s`, else :math:`s|r| - s^2/2`.

    ``r = t - y`` with the target within a bound. The slope never exceeds the scale s.

    Parameters
    ----------
    target_bound : float, default=1.0
        Bound Y > 0; targets are clipped to [-Y, Y].
    scale : float, default=0.5
        Residual s > 0 beyond which the loss is linear, in the units of the target.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import HuberLoss
    >>> loss = HuberLoss(scale=0.3)
    >>> loss.value(np.array([0.0, 1.0]), np.array([0.2, 0.0])).round(6)
    array([0.02 , 0.255])
    >>> loss.constants(2.0)
    LossConstants(lipschitz=0.6, smoothness=4.0)
    >>> round(loss.oscillation(1.0, center_norm=0.0, radius=1.0), 6)
    0.555
    """

    def _height(self, r: FloatArray) -> FloatArray:
        # s |r| - s^2/2 = m (|r| - m/2) with m = min(|r|, s) covers both branches
        size = np.abs(r)
        m = np.minimum(size, self.scale)
        out: FloatArray = m * (size - 0.5 * m)
        return out

    def _rise(self, r: FloatArray, step: FloatArray) -> FloatArray:
        # the middle part of the way is a parabola's, the rest is straight
        end, s = r + step, self.scale
        inner, inner_end = np.clip(r, -s, s), np.clip(end, -s, s)
        inside = (np.abs(r) <= s) & (np.abs(end) <= s)
        beyond = (np.minimum(r, end) >= s) | (np.maximum(r, end) <= -s)
        bent = np.where(inside, step, inner_end - inner)
        outer = np.abs(end - inner_end) - np.abs(r - inner)
        straight = np.where(beyond, np.sign(r) * step, np.where(inside, 0.0, outer))
        out: FloatArray = 0.5 * bent * (inner + inner_end) + s * straight
        return out

    def _slope(self, r: FloatArray) -> FloatArray:
        out: FloatArray = np.clip(r, -self.scale, self.scale)
        return out

    def _curvature(self, r: FloatArray) -> FloatArray:
        out: FloatArray = (np.abs(r) <= self.scale).astype(np.float64)
        return out

    def curvature_at(self, share: FloatArray) -> FloatArray:
        """Return 1: the loss is a parabola up to the largest slope, and there too."""
        return np.ones(np.shape(share))
