"""Sums of many block results with little rounding."""

import numpy as np

from skdp._typing import FloatArray, MatrixLike

__all__ = ["PairwiseSum", "product_in_runs"]

#: Rows that are added one after the other; slices of sparse rows are dearer.
_RUN, _SPARSE_RUN = 32, 512


def product_in_runs(weights: FloatArray, x: MatrixLike) -> FloatArray:
    """Return ``weights @ x`` with little rounding even where all rows are equal.

    Adding n numbers one after the other rounds by up to n/2 roundings of the sum. Runs
    of rows are added up so, and then in a binary tree.
    """
    n = len(weights)
    if not isinstance(x, np.ndarray):
        total = PairwiseSum(np.zeros(x.shape[1]))
        for start in range(0, n, _SPARSE_RUN):
            run = slice(start, start + _SPARSE_RUN)
            total.add(weights[run] @ x[run])
        return total.total()
    whole = n - n % _RUN
    tail: FloatArray = weights[whole:] @ x[whole:]
    if not whole:
        return tail
    runs = weights[:whole].reshape(-1, 1, _RUN)
    parts: FloatArray = np.matmul(runs, x[:whole].reshape(-1, _RUN, x.shape[1]))[:, 0]
    while len(parts) > 1:
        odd = parts[len(parts) - len(parts) % 2 :]
        half = len(parts) // 2
        parts = np.concatenate([parts[:half] + parts[half : 2 * half], odd])
    out: FloatArray = parts[0] + tail
    return out


class PairwiseSum:
    """Adds arrays in a binary tree: errors grow with the logarithm of their number.

    Parameters
    ----------
    zero : ndarray
        The sum of nothing.
    """

    __slots__ = ("_ranks", "_sums", "_zero")

    def __init__(self, zero: FloatArray) -> None:
        self._zero = zero
        self._sums: list[FloatArray] = []
        self._ranks: list[int] = []

    def add(self, term: FloatArray) -> None:
        """Add an array, which the sum then owns."""
        rank = 0
        while self._ranks and self._ranks[-1] == rank:
            term = self._sums.pop() + term
            self._ranks.pop()
            rank += 1
        self._sums.append(term)
        self._ranks.append(rank)

    def total(self) -> FloatArray:
        """Return the sum so far."""
        total = self._zero
        for term in reversed(self._sums):
            total = total + term
        return total
