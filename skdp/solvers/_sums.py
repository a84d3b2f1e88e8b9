"""Sums of many block results with little rounding."""

from skdp._typing import FloatArray

__all__ = ["PairwiseSum"]


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
