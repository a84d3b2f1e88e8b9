r"""Law of the largest eigenvalue of the Gaussian orthogonal ensemble, exactly.

Notation (derived in docs/proofs/goe.md)
----------------------------------------
h_i    Hermite function of degree i, orthonormal on the line
H_i    its antiderivative from minus infinity
A      skew products :math:`\iint \mathrm{sgn}(y-x) h_i(x) h_j(y)`, with one row more,
       the integrals of h_i, where n is odd
B(t)   what is beyond t: A less the same integrals over :math:`x, y \le t`
F(t)   :math:`P(\lambda_{max} \le t) = \sqrt{\det(I - A^{-1} B(t))}`
z(t)   :math:`\Phi^{-1}(F(t))`, concave, with slope at least 1
"""

import math
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from skdp._typing import FloatArray

__all__ = ["log_cdf", "tail", "tail_quantile"]

#: Integrals run this far beyond the spectrum, or beyond t: less than 1e-17 is left.
_REACH = 9.0
#: Cells so short that products of Hermite functions up to degree 300 are resolved.
_CELL = 0.75
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)
#: Beyond, Hermite functions leave the range of floats.
_DEEPEST = 37.0
#: Below this trace four terms of the logarithm's series are exact to rounding.
_SMALL_TRACE = 1e-3
#: Stands for the logarithm of zero.
_LEAST_LOG = -700.0
#: Added to a root, well above its error, to stay on the safe side.
_UP = 1e-11


def _hermite(n: int, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return h and H for degrees below ``n``, shape (n, x.size) each."""
    both = np.zeros((max(n, 2), 2, x.size))
    both[0, 0] = math.pi**-0.25 * np.exp(-0.5 * x * x)
    both[0, 1] = math.pi**-0.25 * math.sqrt(2.0 * math.pi) * ndtr(x)
    # sqrt(i+1) times the next h, H is sqrt(2) (x, -1) h less sqrt(i) (1, -1) times the
    # last but one
    ahead = math.sqrt(2.0) * np.stack([x, np.full(x.size, -1.0)])
    back = np.array([[-1.0], [1.0]])
    both[1] = ahead * both[0, 0]
    for i in range(1, n - 1):
        after = ahead * both[i, 0] + math.sqrt(i) * back * both[i - 1]
        both[i + 1] = after / math.sqrt(i + 1)
    return both[:n, 0], both[:n, 1]


def _skew_products(n: int) -> FloatArray:
    """Return A without its border: integration by parts gives a recurrence."""
    A = np.zeros((n, n))
    for j in range(n - 1):
        before = A[j - 1, j] if j else 0.0
        A[j + 1, j] = (math.sqrt(j) * before - math.sqrt(8.0)) / math.sqrt(j + 1)
        for i in range(j + 2, n - 1, 2):
            A[i + 1, j] = math.sqrt(i / (i + 1)) * A[i - 1, j]
        A[j, j + 1 :] = -A[j + 1 :, j]
    return A


def _integrals(n: int) -> FloatArray:
    """Return the integrals of the h_i over the line."""
    total = np.zeros(n)
    total[0] = math.pi**-0.25 * math.sqrt(2.0 * math.pi)
    for i in range(2, n, 2):
        total[i] = math.sqrt((i - 1) / i) * total[i - 2]
    return total


def _bordered(products: FloatArray, border: FloatArray) -> FloatArray:
    """Return the matrix of even order: for odd n, with one row and column more."""
    n = len(products)
    if n % 2 == 0:
        return products
    out = np.zeros((n + 1, n + 1))
    out[:n, :n] = products
    out[:n, n], out[n, :n] = border, -border
    return out


@lru_cache(maxsize=8)
def _inverse(n: int) -> FloatArray:
    """Return the inverse of A, whose condition number is about 1.2 n."""
    return np.asarray(np.linalg.inv(_bordered(_skew_products(n), _integrals(n))))


def _beyond(n: int, t: float) -> FloatArray:
    """Return B(t) by composite Gauss-Legendre quadrature."""
    edge = math.sqrt(2.0 * n)
    start, stop = max(t, -edge - _REACH), max(t, edge) + _REACH
    borders = np.linspace(start, stop, 1 + math.ceil((stop - start) / _CELL))
    half = (borders[1] - borders[0]) / 2
    x = (borders[:-1, None] + half * (1.0 + _NODES)).ravel()
    weights = np.tile(half * _WEIGHTS, borders.size - 1)
    h, H = _hermite(n, x)
    products = (H * weights) @ h.T
    return _bordered(products - products.T, h @ weights)


def log_cdf(n: int, t: float) -> float:
    """Return log F(t) for t up to the deepest; minus infinity where F is rounding."""
    M = _inverse(n) @ _beyond(n, t)
    trace = float(np.trace(M))
    if abs(trace) < _SMALL_TRACE:
        # the logarithm of the determinant without a determinant near 1
        M2 = M @ M
        powers = (trace, np.trace(M2), np.sum(M2 * M.T), np.sum(M2 * M2.T))
        return -0.5 * float(sum(p / k for k, p in enumerate(powers, start=1)))
    sign, log_det = np.linalg.slogdet(np.eye(len(M)) - M)
    return 0.5 * float(log_det) if sign > 0 else -math.inf


def tail(n: int, t: float) -> float:
    """Return 1 - F(t); beyond the deepest t an upper bound on it."""
    if t > _DEEPEST:
        return float(ndtr(-(_deepest_normal(n) + t - _DEEPEST)))
    return min(max(-math.expm1(min(log_cdf(n, t), 0.0)), 0.0), 1.0)


def _normal(n: int, t: float) -> float:
    """Return z(t)."""
    upper = tail(n, t)
    if upper < 0.5:
        return -float(ndtri(upper))
    return float(ndtri(math.exp(min(max(log_cdf(n, t), _LEAST_LOG), 0.0))))


@lru_cache(maxsize=64)
def _deepest_normal(n: int) -> float:
    return _normal(n, _DEEPEST)


@lru_cache(maxsize=1024)
def tail_quantile(n: int, z: float) -> float:
    """Return the least t with z(t) >= z, rounded up."""
    deepest = _deepest_normal(n)
    if z >= deepest:
        return _DEEPEST + (z - deepest)
    # a point near by; z grows at least as fast as t, so the root is no farther from it
    # in t than in z
    near = math.sqrt(2.0 * n) + 0.9 * (z - 1.0) / n ** (1 / 6)
    near = min(near, _DEEPEST)
    gap = z - _normal(n, near)
    far = min(near + gap + math.copysign(1e-3, gap), _DEEPEST)
    root = brentq(lambda t: _normal(n, t) - z, near, far, xtol=1e-12, rtol=1e-14)
    return float(root) + _UP
