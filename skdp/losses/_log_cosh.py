"""Log-cosh loss of a bounded target."""

from dataclasses import dataclass

import numpy as np

from skdp._typing import FloatArray
from skdp.losses._regression import RobustLoss
from skdp.losses._sums import sum_log1p_exp

__all__ = ["LogCoshLoss"]

_LOG_2 = float(np.log(2.0))
#: Scale, in target bounds, from which on the loss is nearly squared.
_WIDE = 8.0


@dataclass(frozen=True, slots=True)
class LogCoshLoss(RobustLoss):
    r"""Log-cosh loss :math:`s^2 \log\cosh((t - y)/s)`: a smooth Huber loss.

    Parameters
    ----------
    target_bound : float, default=1.0
        Bound Y > 0; targets are clipped to [-Y, Y].
    scale : float, default=0.5
        Residual s > 0 around which the loss turns from square to linear, in the units
        of the target.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import LogCoshLoss
    >>> loss = LogCoshLoss(scale=0.3)
    >>> round(loss.oscillation(1.0, center_norm=0.0, radius=1.0), 10)
    0.5376168995
    >>> loss.constants(1.0)
    LossConstants(lipschitz=0.3, smoothness=1.0)
    """

    def _height(self, r: FloatArray) -> FloatArray:
        # log cosh a = log1p((cosh a - 1)) loses nothing at 0; |a| - log 2 far out
        a = np.abs(r) / self.scale
        near = np.minimum(a, 1.0)
        small = np.log1p(2.0 * np.sinh(0.5 * near) ** 2)
        large = a + (np.log1p(np.exp(-2.0 * a)) - _LOG_2)
        out: FloatArray = self.scale**2 * np.where(a <= 1.0, small, large)
        return out

    def _rise(self, r: FloatArray, step: FloatArray) -> FloatArray:
        # cosh(a + b) / cosh(a) = cosh b + tanh a sinh b
        b = step / self.scale
        near = np.clip(b, -1.0, 1.0)
        ratio = 2.0 * np.sinh(0.5 * near) ** 2 + np.tanh(r / self.scale) * np.sinh(near)
        far = self._height(r + step) - self._height(r)
        small = self.scale**2 * np.log1p(ratio)
        out: FloatArray = np.where(np.abs(b) <= 1.0, small, far)
        return out

    def _slope(self, r: FloatArray) -> FloatArray:
        out: FloatArray = self.scale * np.tanh(r / self.scale)
        return out

    def _curvature(self, r: FloatArray) -> FloatArray:
        # 1 - tanh^2 = 4 q / (1 + q)^2 keeps its digits in both tails
        q = np.exp(-2.0 * np.abs(r) / self.scale)
        out: FloatArray = 4.0 * q / (1.0 + q) ** 2
        return out

    def curvature_at(self, share: FloatArray) -> FloatArray:
        """Return ``1 - share^2``: with f' = s tanh(r/s), f'' = 1 - tanh(r/s)^2."""
        out: FloatArray = (1.0 - share) * (1.0 + share)
        return out

    @property
    def fading(self) -> tuple[float, float]:
        """Steepness 2 and lag 1/2: the curvature is ``2 (1 - p) (1/2 + p/2)``."""
        return 2.0, 0.5

    def total(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return the sum over rows for margins of shape (n, m): shape (m,)."""
        if self.scale > _WIDE * self.target_bound:
            # nearly squares: logarithms of products would lose the small ones
            return RobustLoss.total(self, y, t)
        t -= np.clip(y, -self.target_bound, self.target_bound)[:, None]
        np.abs(t, out=t)
        t *= 1.0 / self.scale
        linear = t.sum(axis=0) - t.shape[0] * _LOG_2
        t *= 2.0
        out: FloatArray = self.scale**2 * (linear + sum_log1p_exp(t))
        return out
