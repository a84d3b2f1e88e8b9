"""What losses of a residual share: a target within a bound, and its derivatives.

Notation
--------
t    margin, shape (n,)
y    target, clipped to [-Y, Y], shape (n,)                    -> ``target_bound``
r    residual t - y
h    convex function of the residual
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from skdp._typing import FloatArray
from skdp._validation import check_positive

__all__ = ["TARGET_REMEDY", "TargetLoss"]

TARGET_REMEDY = "Choose it from public knowledge of the targets, not by looking."


@dataclass(frozen=True, slots=True)
class TargetLoss(ABC):
    """A loss ``h(t - y)`` of a target that is clipped to a public bound."""

    target_bound: float = 1.0

    def __post_init__(self) -> None:
        bound = check_positive("target_bound", self.target_bound, remedy=TARGET_REMEDY)
        object.__setattr__(self, "target_bound", bound)

    @abstractmethod
    def _height(self, r: FloatArray) -> FloatArray:
        """Return h."""

    @abstractmethod
    def _slope(self, r: FloatArray) -> FloatArray:
        """Return h'."""

    @abstractmethod
    def _curvature(self, r: FloatArray) -> FloatArray:
        """Return h''."""

    def _residual(self, y: FloatArray, t: FloatArray) -> FloatArray:
        out: FloatArray = t - np.clip(y, -self.target_bound, self.target_bound)
        return out

    def crest(self, y: FloatArray) -> FloatArray:
        """Return the target: these losses bend most, or as much, at a residual of zero.

        Shape (n,).
        """
        out: FloatArray = np.clip(y, -self.target_bound, self.target_bound)
        return out

    def value(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return the loss, shape (n,)."""
        return self._height(self._residual(y, t))

    def gradient(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return the first derivative in the margin, shape (n,)."""
        return self._slope(self._residual(y, t))

    def hessian(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return the second derivative in the margin, shape (n,)."""
        return self._curvature(self._residual(y, t))

    def derivatives(
        self, y: FloatArray, t: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return both derivatives, shape (n,) each."""
        r = self._residual(y, t)
        return self._slope(r), self._curvature(r)
