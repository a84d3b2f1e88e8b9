r"""What even losses of a residual share: bounded targets, and exact oscillation.

Notation
--------
t    margin, shape (n,)
y    target, clipped to [-Y, Y], shape (n,)                    -> ``target_bound``
r    residual t - y
h    even, convex, increasing on r >= 0
c, B distance of a ball's centre from the origin, and its radius
"""

import math
from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from skdp._typing import FloatArray
from skdp._validation import check_positive
from skdp.losses._base import LossConstants
from skdp.losses._target import TargetLoss

__all__ = ["ResidualLoss", "RobustLoss"]

_SCALE_REMEDY = "Use about a quarter of the range of the targets."


@dataclass(frozen=True, slots=True)
class ResidualLoss(TargetLoss):
    """A loss ``h(t - y)``, with h even, of a target within a public bound."""

    @abstractmethod
    def _rise(self, r: FloatArray, step: FloatArray) -> FloatArray:
        """Return h(r + step) - h(r), to the last digits where the step is small."""

    def constants(
        self, data_norm: float, *, radius: float | None = None
    ) -> LossConstants:
        """Return R h'(Y + R radius) (h' at infinity without a radius) and R^2 h''(0).

        The slope grows with the residual, and all these losses bend most at zero.
        """
        reach = math.inf if radius is None else data_norm * radius
        steepest = float(self._slope(np.array(self.target_bound + reach)))
        bend = float(self._curvature(np.array(0.0)))
        return LossConstants(
            lipschitz=data_norm * steepest, smoothness=data_norm**2 * bend
        )

    def oscillation(
        self, data_norm: float, *, center_norm: float, radius: float
    ) -> float:
        """Return ``h(r0 + RB) - h(max(0, r0 - RB))`` with ``r0 = Y + Rc``.

        The row looks from the far target past the centre; h grows ever faster, so the
        farthest start spans the most.
        """
        start, reach = self.target_bound + data_norm * center_norm, data_norm * radius
        near, way = max(0.0, start - reach), min(2.0 * reach, start + reach)
        return float(self._rise(np.array(near), np.array(way)))

    def extremes(
        self, y: FloatArray, low: FloatArray, high: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return least and largest loss between two margins: at the target, or ends."""
        nearest = np.clip(np.clip(y, -self.target_bound, self.target_bound), low, high)
        largest = np.maximum(self.value(y, low), self.value(y, high))
        return self.value(y, nearest), largest

    def total(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return the sum over rows for margins of shape (n, m): shape (m,)."""
        t -= np.clip(y, -self.target_bound, self.target_bound)[:, None]
        out: FloatArray = self._height(t).sum(axis=0)
        return out

    def rise(self, y: FloatArray, t: FloatArray, step: FloatArray) -> FloatArray:
        """Return ``f(t + step) - f(t)``, its rounding relative to itself."""
        return self._rise(self._residual(y, t), step)


@dataclass(frozen=True, slots=True)
class RobustLoss(ResidualLoss):
    """A residual loss that is ``r^2/2`` near zero and of slope at most ``scale``."""

    scale: float = 0.5

    def __post_init__(self) -> None:
        # the parent by name: slots make a new class that a bare super() cannot see
        TargetLoss.__post_init__(self)
        scale = check_positive("scale", self.scale, remedy=_SCALE_REMEDY)
        object.__setattr__(self, "scale", scale)

    @property
    def slope_range(self) -> tuple[float, float]:
        """Least and largest first derivative: (-scale, scale)."""
        return -self.scale, self.scale

    @property
    def one_signed(self) -> bool:
        """False: a residual of either sign occurs with every target."""
        return False

    @property
    def bend(self) -> float:
        """Largest second derivative, 1, at a residual of zero."""
        return 1.0

    @abstractmethod
    def curvature_at(self, share: FloatArray) -> FloatArray:
        """Return the second derivative where ``|f'| = share * scale``."""
