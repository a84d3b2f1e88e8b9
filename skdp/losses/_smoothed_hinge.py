r"""Smoothed hinge loss of a signed label.

Notation
--------
t    margin, shape (n,)
y    label: -1 or +1; 0 marks a row of weight zero (its loss vanishes), shape (n,)
m    shortfall :math:`1 - y t` of a margin that should reach 1
h    half the width of the rounded corner                              -> ``width``
"""

from dataclasses import dataclass

import numpy as np

from skdp._typing import FloatArray
from skdp._validation import check_positive
from skdp.losses._base import LossConstants

__all__ = ["SmoothedHingeLoss"]


@dataclass(frozen=True, slots=True)
class SmoothedHingeLoss:
    r"""Hinge loss :math:`\max(m, 0)`, with a parabola in place of its corner.

    :math:`f = (m + h)^2/(4h)` for :math:`|m| \le h`, and the hinge loss elsewhere;
    ``m = 1 - y t`` for ``y`` in {-1, +1}. A label of 0 stands for a row of weight zero:
    value and derivatives vanish.

    Parameters
    ----------
    width : float, default=0.5
        Half the width h > 0 of the rounded corner, in units of the margin.

    Notes
    -----
    :math:`f' = -y\,p` with p = 0 for m < -h, (m + h)/(2h) on the parabola and 1 beyond:
    of one sign for each label, and ``lipschitz`` = R, attained. On the parabola
    :math:`f'' = 1/(2h)`, elsewhere 0: ``smoothness`` = R^2/(2h), attained. The
    curvature keeps its value up to the largest slope: unlike that of the logistic loss
    it does not die with it.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import SmoothedHingeLoss
    >>> loss = SmoothedHingeLoss()
    >>> loss.value(np.array([1.0, 1.0, -1.0, 0.0]), np.array([1.0, 2.0, 1e6, 5.0]))
    array([1.250000e-01, 0.000000e+00, 1.000001e+06, 0.000000e+00])
    >>> loss.constants(2.0)
    LossConstants(lipschitz=2.0, smoothness=4.0)
    """

    width: float = 0.5

    def __post_init__(self) -> None:
        remedy = "Use 0.5, half the margin that is asked for."
        width = check_positive("width", self.width, remedy=remedy)
        object.__setattr__(self, "width", width)

    def _steepness(self, m: FloatArray) -> FloatArray:
        """Return p, the size of the slope."""
        h = self.width
        out: FloatArray = (np.clip(m, -h, h) + h) / (2.0 * h)
        return out

    def value(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return the loss, shape (n,)."""
        m = 1.0 - y * t
        corner = self.width * self._steepness(m) ** 2
        straight = np.maximum(m - self.width, 0.0)
        out: FloatArray = np.where(y == 0.0, 0.0, corner + straight)
        return out

    def gradient(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return the first derivative in the margin, shape (n,)."""
        out: FloatArray = -y * self._steepness(1.0 - y * t)
        return out

    def hessian(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return the second derivative in the margin, shape (n,)."""
        bent = np.abs(1.0 - y * t) <= self.width
        out: FloatArray = np.abs(y) * bent * self.bend
        return out

    def derivatives(
        self, y: FloatArray, t: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return both derivatives, shape (n,) each."""
        return self.gradient(y, t), self.hessian(y, t)

    def constants(
        self, data_norm: float, *, radius: float | None = None
    ) -> LossConstants:
        """Return ``lipschitz = R`` (R p(1 + R radius) on a ball), and R^2 / (2h)."""
        steepest = 1.0
        if radius is not None:
            steepest = float(self._steepness(np.array(1.0 + data_norm * radius)))
        return LossConstants(
            lipschitz=data_norm * steepest, smoothness=data_norm**2 * self.bend
        )

    @property
    def slope_range(self) -> tuple[float, float]:
        """Least and largest first derivative: (-1, 1), both attained."""
        return -1.0, 1.0

    @property
    def one_signed(self) -> bool:
        """True: the derivative has the sign of ``-y``."""
        return True

    @property
    def bend(self) -> float:
        """Largest second derivative, 1/(2h), on the whole parabola."""
        return 0.5 / self.width

    def curvature_at(self, share: FloatArray) -> FloatArray:
        """Return 1/(2h): the parabola meets every slope, its ends included."""
        return np.full(np.shape(share), self.bend)

    def crest(self, y: FloatArray) -> FloatArray:
        """Return the label, the margin in the middle of the parabola."""
        out: FloatArray = y.astype(np.float64)
        return out
