"""Smoothed quantile loss of a bounded target."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from skdp._typing import FloatArray
from skdp._validation import check_positive, check_real
from skdp.losses._base import LossConstants
from skdp.losses._target import TargetLoss

__all__ = ["SmoothedQuantileLoss"]


@dataclass(frozen=True, slots=True)
class SmoothedQuantileLoss(TargetLoss):
    r"""Quantile loss with a rounded corner: :math:`h\log(1 + e^{r/h}) - q r`.

    ``r = t - y`` with the target within a bound. Far from the corner the slope is -q
    below the target and 1 - q above it, as of the pinball loss, which it exceeds by at
    most h log 2.

    Parameters
    ----------
    target_bound : float, default=1.0
        Bound Y > 0; targets are clipped to [-Y, Y].
    quantile : float, default=0.5
        Quantile q asked for, in (0, 1).
    width : float, default=0.1
        Width h > 0 of the rounded corner, in the units of the target. A wider one moves
        the fitted quantile; a narrower one needs a larger ridge.

    Notes
    -----
    With :math:`\sigma(u) = 1/(1 + e^{-u})`, :math:`f' = \sigma(r/h) - q` is within
    (-q, 1 - q), both ends approached: ``lipschitz`` = R max(q, 1 - q).
    :math:`f'' = \sigma(r/h)\sigma(-r/h)/h \le 1/(4h)`, attained at r = 0:
    ``smoothness`` = R^2/(4h). Since :math:`\sigma(r/h) = f' + q`,
    :math:`f'' = (q + f')(1 - q - f')/h`: at a given size of the slope the larger of the
    two values for its two signs. No value is negative: the least is at
    :math:`\sigma(r/h) = q`, h times the entropy of q.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import SmoothedQuantileLoss
    >>> loss = SmoothedQuantileLoss(quantile=0.9)
    >>> loss.gradient(np.array([1.0, -1.0, 0.0]), np.array([-9.0, 9.0, 0.0]))
    array([-0.9,  0.1, -0.4])
    >>> loss.constants(1.0)
    LossConstants(lipschitz=0.9, smoothness=2.5)
    """

    quantile: float = 0.5
    width: float = 0.1

    def __post_init__(self) -> None:
        # the parent by name: slots make a new class that a bare super() cannot see
        TargetLoss.__post_init__(self)
        remedy = "Use a tenth of the bound of the targets."
        width = check_positive("width", self.width, remedy=remedy)
        object.__setattr__(self, "width", width)
        object.__setattr__(self, "quantile", _check_quantile(self.quantile))

    def _height(self, r: FloatArray) -> FloatArray:
        # the pinball loss, and what rounding the corner adds to it
        pinball = np.maximum((1.0 - self.quantile) * r, -self.quantile * r)
        corner = np.log1p(np.exp(-np.abs(r) / self.width))
        out: FloatArray = pinball + self.width * corner
        return out

    def _slope(self, r: FloatArray) -> FloatArray:
        # from the nearer end: the slope never leaves its range by a rounding
        low, high = self.slope_range
        tail = expit(-np.abs(r) / self.width)
        out: FloatArray = np.where(r > 0.0, high - tail, low + tail)
        return out

    def _curvature(self, r: FloatArray) -> FloatArray:
        u = r / self.width
        out: FloatArray = expit(u) * expit(-u) / self.width
        return out

    def constants(
        self, data_norm: float, *, radius: float | None = None
    ) -> LossConstants:
        """Return R max(q, 1 - q) (the steeper end of a ball's margins), R^2/(4h)."""
        low, high = self.slope_range
        if radius is not None:
            reach = self.target_bound + data_norm * radius
            low, high = self._slope(np.array([-reach, reach])).tolist()
        return LossConstants(
            lipschitz=data_norm * max(-low, high), smoothness=data_norm**2 * self.bend
        )

    @property
    def slope_range(self) -> tuple[float, float]:
        """Least and largest first derivative: (-q, 1 - q), both approached."""
        return -self.quantile, 1.0 - self.quantile

    @property
    def one_signed(self) -> bool:
        """False: a residual of either sign occurs with every target."""
        return False

    @property
    def bend(self) -> float:
        """Largest second derivative, 1/(4h), at a residual of zero."""
        return 0.25 / self.width

    def curvature_at(self, share: FloatArray) -> FloatArray:
        """Return the larger of ``(q + f')(1 - q - f')/h`` over both signs of f'."""
        low, high = self.slope_range
        size = share * max(-low, high)
        # a product is negative where no slope of that sign is so large
        below = (-low - size) * (high + size)
        above = (-low + size) * (high - size)
        out: FloatArray = np.maximum(np.maximum(below, above), 0.0) / self.width
        return out

    @property
    def fading(self) -> tuple[float, float]:
        """Steepness L/h and lag 1 - L, with L = max(q, 1 - q).

        The sign that reaches L bends more at each size of the slope, and there
        ``f'' = L (1 - p) (1 - L + L p) / h``.
        """
        steepest = max(self.quantile, 1.0 - self.quantile)
        return steepest / self.width, 1.0 - steepest


def _check_quantile(value: object) -> float:
    allowed, remedy = "a number between 0 and 1", "Use 0.5 for the median."
    number = check_real("quantile", value, allowed=allowed, remedy=remedy)
    if not 0.0 < number < 1.0:
        raise ValueError(
            f"quantile is out of range, got {value!r}. Allowed: {allowed}. {remedy}"
        )
    return number
