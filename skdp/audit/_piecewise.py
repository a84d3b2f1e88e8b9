r"""A scalar function known only point by point, as Chebyshev pieces of stated accuracy.

Notation
--------
n      degree of a piece; nodes are :math:`\cos(\pi k / n)`, so doubling n keeps them
c      Chebyshev coefficients of a piece, shape (n + 1,)
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.polynomial.chebyshev import chebval
from scipy.fft import dct

from skdp._typing import FloatArray

__all__ = ["Piecewise", "resolve"]

#: Degrees tried on a piece before it is halved.
_FIRST_DEGREE, _LAST_DEGREE = 8, 128
#: A piece is resolved when this many last coefficients are below the tolerance.
_TAIL = 3
#: Halving ends here, relative to the whole interval: a jump is left as it is.
_NARROWEST = 1e-9
#: Numbers of points up to which the sum is formed by cosines.
_FEW = 200


@dataclass(frozen=True, slots=True)
class Piecewise:
    """Chebyshev pieces between consecutive ``edges``; minus infinity outside."""

    edges: FloatArray
    coefficients: tuple[FloatArray, ...]

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return the values at ``x``, any shape."""
        out = np.full(x.shape, -np.inf)
        place = np.searchsorted(self.edges, x, side="right") - 1
        place[x == self.edges[-1]] = len(self.coefficients) - 1
        for k, c in enumerate(self.coefficients):
            inside = place == k
            a, b = self.edges[k], self.edges[k + 1]
            out[inside] = _evaluate(c, (2 * x[inside] - a - b) / (b - a))
        return out


def _evaluate(c: FloatArray, u: FloatArray) -> FloatArray:
    """Return the Chebyshev sum at ``u`` in [-1, 1]."""
    if u.size > _FEW:
        return np.asarray(chebval(u, c), dtype=np.float64)
    # one matrix product is faster than a loop over the degrees
    angles = np.arccos(np.clip(u, -1.0, 1.0))
    out: FloatArray = np.cos(np.multiply.outer(angles, np.arange(c.size))) @ c
    return out


def resolve(
    f: Callable[[float], float], edges: list[float], tolerance: float
) -> Piecewise:
    """Return ``f`` on the interval of ``edges``, at which it may have kinks.

    Parameters
    ----------
    f : callable
        Continuous, and smooth between the edges.
    edges : list of float
        Increasing.
    tolerance : float
        Absolute accuracy asked for.
    """
    pending = list(pairwise(edges))[::-1]
    narrowest = _NARROWEST * (edges[-1] - edges[0])
    starts, pieces = [], []
    while pending:
        a, b = pending.pop()
        c, resolved = _piece(f, a, b, tolerance)
        if resolved or b - a <= narrowest:
            starts.append(a)
            pieces.append(c)
        else:
            middle = (a + b) / 2
            pending += [(middle, b), (a, middle)]
    return Piecewise(np.array([*starts, edges[-1]]), tuple(pieces))


def _piece(
    f: Callable[[float], float], a: float, b: float, tolerance: float
) -> tuple[FloatArray, bool]:
    """Return the coefficients on [a, b] and whether they have died out."""
    values: dict[float, float] = {}
    n = _FIRST_DEGREE
    while True:
        nodes = np.cos(np.pi * np.arange(n + 1) / n)
        for k, node in enumerate(nodes):
            # position as a fraction, which doubling the degree keeps exactly
            if k / n not in values:
                values[k / n] = f((a + b) / 2 + (b - a) / 2 * float(node))
        samples = np.array([values[k / n] for k in range(n + 1)])
        c: FloatArray = dct(samples, type=1) / n
        c[0] /= 2
        c[-1] /= 2
        resolved = bool(np.max(np.abs(c[-_TAIL:])) <= tolerance)
        if resolved or n == _LAST_DEGREE:
            return c, resolved
        n *= 2
