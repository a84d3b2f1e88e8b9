"""Pseudo-Huber loss of a bounded target."""

from dataclasses import dataclass

import numpy as np

from skdp._typing import FloatArray
from skdp.losses._regression import RobustLoss

__all__ = ["PseudoHuberLoss"]

#: Residual, in scales, from which on the loss is straight to the last digit.
_STRAIGHT = 1e100
#: 3 sqrt(3) / 4, rounded up.
_STEEPNESS = 1.2990381056766582


@dataclass(frozen=True, slots=True)
class PseudoHuberLoss(RobustLoss):
    r"""Pseudo-Huber loss :math:`s^2(\sqrt{1 + (t - y)^2/s^2} - 1)`.

    Like the log-cosh loss a smooth Huber loss; its slope reaches its bound s more
    slowly, so it resists outliers a little less abruptly.

    Parameters
    ----------
    target_bound : float, default=1.0
        Bound Y > 0; targets are clipped to [-Y, Y].
    scale : float, default=0.5
        Residual s > 0 around which the loss turns from square to linear, in the units
        of the target.

    Notes
    -----
    With :math:`a = (t - y)/s`, :math:`f' = s a/\sqrt{1 + a^2}` is within (-s, s), both
    ends approached: ``lipschitz`` = R s. :math:`f'' = (1 + a^2)^{-3/2} \le 1`, attained
    at a = 0: ``smoothness`` = R^2. From :math:`1 - (f'/s)^2 = 1/(1 + a^2)` follows
    :math:`f'' = (1 - (f'/s)^2)^{3/2}`: the curvature dies with the slope.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import PseudoHuberLoss
    >>> loss = PseudoHuberLoss(scale=0.5)
    >>> loss.value(np.array([0.0, 1.0]), np.array([0.375, 1e6]))
    array([6.25000e-02, 4.99999e+05])
    >>> loss.constants(2.0)
    LossConstants(lipschitz=1.0, smoothness=4.0)
    """

    def _scaled(self, r: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return a and the root of 1 + a^2, with a cut where nothing changes."""
        a = np.clip(r / self.scale, -_STRAIGHT, _STRAIGHT)
        return a, np.sqrt(1.0 + a * a)

    def _height(self, r: FloatArray) -> FloatArray:
        # root - 1 = a^2 / (root + 1) loses nothing at 0
        a, root = self._scaled(r)
        out: FloatArray = self.scale * r * (a / (1.0 + root))
        return out

    def _rise(self, r: FloatArray, step: FloatArray) -> FloatArray:
        # the difference of two roots is that of the squares over their sum
        (a, root), (b, end) = self._scaled(r), self._scaled(r + step)
        out: FloatArray = self.scale * step * ((a + b) / (root + end))
        return out

    def _slope(self, r: FloatArray) -> FloatArray:
        a, root = self._scaled(r)
        out: FloatArray = self.scale * (a / root)
        return out

    def _curvature(self, r: FloatArray) -> FloatArray:
        out: FloatArray = self._scaled(r)[1] ** -3.0
        return out

    def curvature_at(self, share: FloatArray) -> FloatArray:
        """Return ``(1 - share^2)^(3/2)``."""
        out: FloatArray = ((1.0 - share) * (1.0 + share)) ** 1.5
        return out

    @property
    def fading(self) -> tuple[float, float]:
        """Steepness 3 sqrt(3) / 4 and lag 1.

        ``(1 - p^2)^(3/2) / (1 - p) = sqrt((1 - p) (1 + p)^3)`` is largest at p = 1/2.
        """
        return _STEEPNESS, 1.0
