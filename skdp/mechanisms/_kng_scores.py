r"""Scores of regression coefficients: minus the norm of the gradient of a loss.

Sums over rows are exact. Each row is first rounded, on its own, to a lattice of 2^-22
of its bound; sums of fewer than 2^31 such rows are integers that floats hold. So what
rounding adds to the sensitivity is a public number.

Notation (derived in docs/proofs/kng_regression.md)
---------------------------------------------------
x, y     row of norm at most R, and target within [-Y, Y]
theta    candidates, shape (K, d)
tau      which quantile
A, b     ``sum x x'`` and ``sum y x``
"""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

import numpy as np

from skdp._typing import FloatArray

__all__ = ["Blocks", "gradient_norms", "quantile_gradients", "squared_gradients"]

Blocks: TypeAlias = Iterable[tuple[FloatArray, FloatArray]]

#: Binary places that are kept of a row, below its bound.
_PLACES = 22
#: Comparisons made at once: few enough to stay in the cache.
_COMPARISONS = 2**15


def quantile_gradients(
    blocks: Blocks, theta: FloatArray, *, quantile: float, bound: float
) -> FloatArray:
    r"""Return :math:`\sum_i x_i (1\{y_i \le x_i\theta\} - \tau)`, shape (K, d).

    ``bound`` is the bound on the norm of a row.
    """
    unit = _unit(bound)
    below, total = np.zeros(theta.shape), np.zeros(theta.shape[1])
    for X, y in _small(blocks, len(theta)):
        steps = np.rint(X / unit)
        # integers times 0 and 1: exact in any order
        below += (y[:, None] <= _margins(X, theta)).astype(np.float64).T @ steps
        total += steps.sum(axis=0)
    out: FloatArray = unit * (below - quantile * total)
    return out


def squared_gradients(
    blocks: Blocks, theta: FloatArray, *, bound: float, target_bound: float
) -> FloatArray:
    r"""Return :math:`A\theta - b`, shape (K, d)."""
    unit, unit_y = _unit(bound**2), _unit(bound * target_bound)
    d = theta.shape[1]
    A, b = np.zeros((d, d)), np.zeros(d)
    for X, y in blocks:
        for j in range(d):
            A[j] += np.rint(X[:, j, None] * X / unit).sum(axis=0)
        b += np.rint(X * y[:, None] / unit_y).sum(axis=0)
    out: FloatArray = theta @ (unit * A).T - unit_y * b
    return out


def gradient_norms(gradients: FloatArray, norm: str) -> FloatArray:
    """Return the Euclidean ("l2") or the largest-entry ("sup") norm of each row."""
    if norm == "sup":
        largest: FloatArray = np.max(np.abs(gradients), axis=1)
        return largest
    out: FloatArray = np.sqrt(np.sum(gradients * gradients, axis=1))
    return out


def _unit(bound: float) -> float:
    """Return the power of two that is 2^-22 of the bound, or a little more."""
    return float(np.ldexp(1.0, int(np.frexp(bound)[1]) - _PLACES))


def _margins(X: FloatArray, theta: FloatArray) -> FloatArray:
    """Return x.theta with a rounding that no other row has a part in."""
    out = np.zeros((len(X), len(theta)))
    for j in range(X.shape[1]):
        # one product and one sum an entry: a matrix product would depend on blocks
        out += X[:, j, None] * theta[:, j]
    return out


def _small(
    blocks: Blocks, n_candidates: int
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Cut blocks so that rows times candidates stays small."""
    size = max(1, _COMPARISONS // n_candidates)
    for X, y in blocks:
        for start in range(0, len(X), size):
            yield X[start : start + size], y[start : start + size]
