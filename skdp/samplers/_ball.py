"""A public ball of coefficient vectors."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from skdp._typing import FloatArray
from skdp._validation import check_positive

__all__ = ["Ball"]


@dataclass(frozen=True, slots=True)
class Ball:
    """Closed Euclidean ball of coefficient vectors; public numbers.

    Parameters
    ----------
    center : sequence of float
        Centre, intercept coordinate last: a constant, or the output of a mechanism
        that is accounted for. Never a function of the rows.
    radius : float
        Radius > 0 in the units of the coefficients.

    Examples
    --------
    >>> from skdp.samplers import Ball
    >>> ball = Ball((3.0, 4.0), 1.0)
    >>> ball.center_norm, Ball.around_zero(2, 1.0).center
    (5.0, (0.0, 0.0))
    """

    center: tuple[float, ...]
    radius: float

    def __post_init__(self) -> None:
        center = tuple(float(v) for v in self.center)
        if not center or not all(map(math.isfinite, center)):
            raise ValueError(
                "center is not a vector of finite numbers. Allowed: one number for "
                "each coefficient. Use Ball.around_zero for the origin."
            )
        object.__setattr__(self, "center", center)
        remedy = "Choose how large a coefficient vector may be, without the data."
        radius = check_positive("radius", self.radius, remedy=remedy)
        object.__setattr__(self, "radius", radius)

    @classmethod
    def around_zero(cls, n_coefficients: int, radius: float) -> Self:
        """Return the ball around the origin."""
        return cls((0.0,) * n_coefficients, radius)

    @property
    def center_norm(self) -> float:
        """Distance of the centre from the origin."""
        return math.hypot(*self.center)

    @property
    def reach(self) -> float:
        """Largest norm of a vector in the ball."""
        return self.center_norm + self.radius

    @property
    def midpoint(self) -> FloatArray:
        """The centre as an array."""
        return np.array(self.center)
