r"""Logistic loss of a signed label.

Notation
--------
t    margin, shape (n,)
y    label: -1 or +1; 0 marks a row of weight zero (its loss vanishes), shape (n,)
p    :math:`|f'| = \sigma(-y t)`, in (0, 1)
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from skdp._typing import FloatArray
from skdp.losses._base import LossConstants
from skdp.losses._sums import sum_log1p_exp

__all__ = ["LogisticLoss"]


@dataclass(frozen=True, slots=True)
class LogisticLoss:
    r"""Logistic loss :math:`f(t; y) = \log(1 + e^{-y t})` for ``y`` in {-1, +1}.

    A label of 0 stands for a row of weight zero: value and derivatives vanish.

    Two facts, beyond the constants, carry the privacy proof of objective perturbation:
    the derivative keeps one sign for each label, and the curvature dies with the slope,
    :math:`f'' = p (1 - p)` with :math:`p = |f'|`.

    Notes
    -----
    :math:`f' = -y\,\sigma(-y t)` gives ``lipschitz`` = R, and
    :math:`f'' = \sigma(t)\sigma(-t) \le 1/4` gives ``smoothness`` = R^2 / 4, both
    attained (in the limit, and at t = 0).

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import LogisticLoss
    >>> loss = LogisticLoss()
    >>> loss.value(np.array([1.0, -1.0, 0.0]), np.array([0.0, -1e6, 3.0]))
    array([0.69314718, 0.        , 0.        ])
    >>> loss.constants(data_norm=2.0)
    LossConstants(lipschitz=2.0, smoothness=1.0)
    """

    def value(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return the loss, shape (n,); exact for margins of any size."""
        out: FloatArray = np.where(y == 0.0, 0.0, np.logaddexp(0.0, -y * t))
        return out

    def gradient(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return the first derivative in the margin, shape (n,)."""
        out: FloatArray = -y * expit(-y * t)
        return out

    def hessian(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return the second derivative in the margin, shape (n,)."""
        # sigma(t) sigma(-t) keeps full relative precision in both tails
        out: FloatArray = np.abs(y) * expit(t) * expit(-t)
        return out

    def derivatives(
        self, y: FloatArray, t: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return both derivatives from one exponential, shape (n,) each.

        The second is p (1 - p), to an absolute error of 1e-16.
        """
        gradient = self.gradient(y, t)
        p = np.abs(gradient)
        hessian: FloatArray = p * (np.abs(y) - p)
        return gradient, hessian

    def constants(
        self, data_norm: float, *, radius: float | None = None
    ) -> LossConstants:
        """Return ``lipschitz = R`` (R sigma(R radius) on a ball), and R^2 / 4."""
        steepest = 1.0 if radius is None else float(expit(data_norm * radius))
        return LossConstants(
            lipschitz=data_norm * steepest, smoothness=data_norm**2 / 4
        )

    @property
    def slope_range(self) -> tuple[float, float]:
        """Least and largest first derivative: (-1, 1), both approached."""
        return -1.0, 1.0

    @property
    def one_signed(self) -> bool:
        """True: the derivative has the sign of ``-y``."""
        return True

    @property
    def bend(self) -> float:
        """Largest second derivative, 1/4, at a margin of zero."""
        return 0.25

    def curvature_at(self, share: FloatArray) -> FloatArray:
        """Return ``p (1 - p)`` with the slope p = share."""
        out: FloatArray = share * (1.0 - share)
        return out

    def crest(self, y: FloatArray) -> FloatArray:
        """Return a margin of zero for every label."""
        return np.zeros(y.shape)

    @property
    def fading(self) -> tuple[float, float]:
        """Steepness 1 and lag 0: the curvature is ``(1 - p) p``."""
        return 1.0, 0.0

    def oscillation(
        self, data_norm: float, *, center_norm: float, radius: float
    ) -> float:
        """Return ``log(1 + e^(R(c+B))) - log(1 + e^(R(c-B)))``, c and B of the ball.

        The loss of the steeper label at the ball's far end and near end: the slope
        grows along the way, so no other row and no other label spans more.
        """
        near, way = data_norm * (center_norm - radius), 2.0 * data_norm * radius
        return float(self.rise(np.array(-1.0), np.array(near), np.array(way)))

    def extremes(
        self, y: FloatArray, low: FloatArray, high: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return least and largest loss between two margins: monotone, so the ends."""
        ends = self.value(y, low), self.value(y, high)
        return np.minimum(*ends), np.maximum(*ends)

    def total(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return the sum over rows for margins of shape (n, m): shape (m,).

        ``log(1 + e^s) = max(s, 0) + log(1 + e^-|s|)``, and ``2 max(s, 0) = s + |s|``.
        """
        signed = y @ t
        np.abs(t, out=t)
        weightless = np.flatnonzero(y == 0.0)
        if weightless.size:
            t[weightless] = 0.0
        steep = t.sum(axis=0) - signed
        out: FloatArray = 0.5 * steep + sum_log1p_exp(t) - weightless.size * np.log(2.0)
        return out

    def rise(self, y: FloatArray, t: FloatArray, step: FloatArray) -> FloatArray:
        """Return ``f(t + step) - f(t)``, its rounding relative to itself.

        The ratio of ``1 + e^-(t + step)`` to ``1 + e^-t`` is ``1 + p (e^-step - 1)``,
        ``p = sigma(-t)``.
        """
        away = -y * step
        near = np.clip(away, -1.0, 1.0)
        small = np.log1p(expit(-y * t) * np.expm1(near))
        far = np.logaddexp(0.0, -y * t + away) - np.logaddexp(0.0, -y * t)
        out: FloatArray = np.where(np.abs(away) <= 1.0, small, far)
        return out
