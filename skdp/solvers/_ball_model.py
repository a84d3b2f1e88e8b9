r"""A quadratic model on a ball, and the gradient mapping that certifies a point there.

Notation
--------
u       theta minus the centre of the ball                        -> ``offset``
B       radius of the ball                                        -> ``radius``
g, H    gradient and model Hessian at theta
nu      multiplier of the constraint, >= 0
P       projection onto the ball
L       bound on the curvature of the objective                   -> ``smoothness``
G       gradient mapping :math:`L(\theta - P(\theta - g/L))`; g itself without a ball
"""

import math
from typing import NamedTuple

import numpy as np

from skdp._typing import FloatArray

__all__ = ["Chord", "Place", "SpectralModel", "gradient_mapping"]

#: Newton steps towards the multiplier; a handful is the rule, and none overshoots.
_MOST_STEPS = 100


class Place(NamedTuple):
    """A point of the ball. On the border its length is known without rounding."""

    offset: FloatArray
    on_border: bool


class Chord:
    r"""The way from one place to another, with derivatives that stay exact when short.

    At a border the gradient is nearly normal and a chord is nearly tangential, so that
    their product is a difference of large numbers. With :math:`w = u/B` and both ends
    on the border, :math:`w \cdot (u' - u) = -|u' - u|^2/(2B)`, and the rest of the
    gradient is small.
    """

    def __init__(self, start: Place, end: Place, radius: float) -> None:
        self.direction: FloatArray = end.offset - start.offset
        self._normal = start.offset / radius
        self._outwards = float(self._normal @ self.direction)
        if start.on_border and end.on_border:
            square = float(self.direction @ self.direction)
            self._outwards = -0.5 * square / radius
        self._split = start.on_border

    def slope(self, gradient: FloatArray) -> float:
        """Return the product of a gradient with the direction."""
        if not self._split:
            return float(gradient @ self.direction)
        normal = float(gradient @ self._normal)
        rest = gradient - normal * self._normal
        return normal * self._outwards + float(rest @ self.direction)


def gradient_mapping(
    place: Place, gradient: FloatArray, smoothness: float, radius: float
) -> FloatArray:
    r"""Return G without the cancellation of its definition.

    With :math:`v = u - g/L` outside the ball, :math:`G = (L(|v|-B)u + Bg)/|v|`, where
    :math:`|v|^2 - B^2 = (|u|^2-B^2) - 2u\cdot g/L + |g/L|^2`.
    """
    u, step = place.offset, gradient / smoothness
    size = radius if place.on_border else float(np.linalg.norm(u))
    over = (size - radius) * (size + radius) - 2.0 * float(u @ step)
    over += float(step @ step)
    if over <= 0.0:
        return gradient
    length = math.sqrt(radius**2 + over)
    excess = over / (length + radius)
    out: FloatArray = (smoothness * excess * u + radius * gradient) / length
    return out


class SpectralModel:
    """Eigenvalues and vectors of a Hessian, and the model's minimiser over the ball.

    Parameters
    ----------
    hessian : ndarray of shape (d, d)
    alpha : float
        Ridge, part of ``hessian``: what rounding took below it is put back.
    """

    def __init__(self, hessian: FloatArray, alpha: float) -> None:
        values, self._vectors = np.linalg.eigh(hessian)
        self._values = np.maximum(values, alpha)

    def minimiser(self, offset: FloatArray, g: FloatArray, radius: float) -> Place:
        """Return the minimiser of the model around ``offset`` over the ball."""
        b = self._values * (self._vectors.T @ offset) - self._vectors.T @ g
        nu = _multiplier(self._values, b, radius)
        away: FloatArray = self._vectors @ (b / (self._values + nu))
        if nu == 0.0:
            return Place(away, on_border=False)
        return Place(away * (radius / np.linalg.norm(away)), on_border=True)


def _multiplier(values: FloatArray, b: FloatArray, radius: float) -> float:
    r"""Return the least nu >= 0 with :math:`|b / (v + \nu)| \le B`.

    The inverse of the left side is concave in nu, so that Newton's steps on it from 0
    grow towards the root and never pass it (Moré and Sorensen 1983).
    """
    nu = 0.0
    for _ in range(_MOST_STEPS):
        p = b / (values + nu)
        length = float(np.linalg.norm(p))
        if not length > radius:
            break
        bend = float(np.sum(p * p / (values + nu)))
        last, nu = nu, nu + (length - radius) / radius * length**2 / bend
        if nu == last:
            break
    return nu
