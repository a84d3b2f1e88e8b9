r"""Poisson loss of a bounded count, straight beyond a largest rate.

Notation
--------
t    margin, the log of the rate, shape (n,)
y    count, clipped to [0, Y], shape (n,)                      -> ``target_bound``
M    margin from which on the loss is straight                 -> ``max_log_rate``
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from skdp._typing import FloatArray
from skdp._validation import check_positive, check_real
from skdp.losses._base import LossConstants
from skdp.losses._target import TARGET_REMEDY

__all__ = ["ClippedPoissonLoss"]

#: Largest |M|: rates from 1e-100 to 1e100.
_LOG_RATES = 230.0
#: How far, relatively, M may be below log Y by rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class ClippedPoissonLoss:
    r"""Half the Poisson deviance :math:`e^t - y t + y\log y - y` of a rate ``e^t``.

    For t > M, :math:`e^t` is continued by its tangent :math:`e^M (1 + t - M)`. The
    slope of the Poisson loss itself has no bound.

    Parameters
    ----------
    max_log_rate : float, default=0.0
        Log of the rate beyond which the loss is straight, M, from log Y to 230.
        Negative only for a target bound below 1.
    target_bound : float, default=1.0
        Bound Y > 0; counts are clipped to [0, Y].

    Raises
    ------
    ValueError
        If ``max_log_rate`` is below the log of ``target_bound``: no rate would then fit
        the largest counts.

    Notes
    -----
    :math:`f' = e^{\min(t, M)} - y` is within (-Y, e^M]: the largest at y = 0 and
    t >= M, the least approached for y = Y and t to minus infinity. As Y <= e^M,
    ``lipschitz`` = R e^M. :math:`f'' = e^t` for t <= M, 0 beyond: ``smoothness`` =
    R^2 e^M, attained at t = M. Where f' has a given size s, e^t = y + f' is at most
    min(e^M, Y + s), attained with f' = s and the largest y that the rate allows. No
    value is negative: the least is 0, at t = log y.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import ClippedPoissonLoss
    >>> loss = ClippedPoissonLoss(max_log_rate=np.log(8.0), target_bound=4.0)
    >>> loss.gradient(np.array([4.0, 0.0, 99.0]), np.array([0.0, 1e6, -1e6])).round(9)
    array([-3.,  8., -4.])
    >>> loss.constants(1.0).lipschitz
    8.0
    """

    max_log_rate: float = 0.0
    target_bound: float = 1.0

    def __post_init__(self) -> None:
        bound = check_positive("target_bound", self.target_bound, remedy=TARGET_REMEDY)
        object.__setattr__(self, "target_bound", bound)
        rate = _check_rate(self.max_log_rate, math.log(bound))
        object.__setattr__(self, "max_log_rate", rate)

    def _count(self, y: FloatArray) -> FloatArray:
        out: FloatArray = np.clip(y, 0.0, self.target_bound)
        return out

    def _rate(self, t: FloatArray) -> FloatArray:
        # the outer minimum: a rounding of exp must not exceed the bound
        out: FloatArray = np.minimum(
            np.exp(np.minimum(t, self.max_log_rate)), self.bend
        )
        return out

    def value(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return the loss, shape (n,)."""
        count, bent = self._count(y), np.minimum(t, self.max_log_rate)
        beyond = (self.bend - count) * (t - bent)
        deviance = self._rate(t) - count * (1.0 + bent) + xlogy(count, count)
        # rounding may take a deviance of zero below it
        out: FloatArray = np.maximum(deviance, 0.0) + np.maximum(beyond, 0.0)
        return out

    def gradient(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return the first derivative in the margin, shape (n,)."""
        out: FloatArray = self._rate(t) - self._count(y)
        return out

    def hessian(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return the second derivative in the margin, shape (n,)."""
        return self.derivatives(y, t)[1]

    def derivatives(
        self, y: FloatArray, t: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return both derivatives from one exponential, shape (n,) each."""
        rate = self._rate(t)
        curvature: FloatArray = rate * (t <= self.max_log_rate)
        return rate - self._count(y), curvature

    def constants(
        self, data_norm: float, *, radius: float | None = None
    ) -> LossConstants:
        """Return R e^M and R^2 e^M; on a ball, from the margins at its ends."""
        steepest = bend = self.bend
        if radius is not None:
            reach = data_norm * radius
            least, bend = self._rate(np.array([-reach, reach])).tolist()
            steepest = max(bend, self.target_bound - least)
        return LossConstants(
            lipschitz=data_norm * steepest, smoothness=data_norm**2 * bend
        )

    @property
    def slope_range(self) -> tuple[float, float]:
        """Least and largest first derivative: (-Y, e^M)."""
        return -self.target_bound, self.bend

    @property
    def one_signed(self) -> bool:
        """False: a rate may be above or below every count but zero."""
        return False

    @property
    def bend(self) -> float:
        """Largest second derivative, e^M (Y where rounding puts it lower), at t = M."""
        return max(math.exp(self.max_log_rate), self.target_bound)

    def curvature_at(self, share: FloatArray) -> FloatArray:
        """Return ``min(e^M, Y + share e^M)``."""
        out: FloatArray = np.minimum(self.bend, self.target_bound + share * self.bend)
        return out

    def crest(self, y: FloatArray) -> FloatArray:
        """Return M for every count."""
        return np.full(y.shape, self.max_log_rate)


def _check_rate(value: object, least: float) -> float:
    """Return M, which the log of the largest count bounds from below."""
    allowed = f"a number from {least:.9g}, the log of target_bound, to {_LOG_RATES:g}"
    remedy = "Use the log of the largest rate that is plausible."
    number = check_real("max_log_rate", value, allowed=allowed, remedy=remedy)
    if not least - _ROUNDING * max(1.0, abs(least)) <= number <= _LOG_RATES:
        raise ValueError(
            f"max_log_rate is out of range, got {value!r}. Allowed: {allowed}. {remedy}"
        )
    return number
