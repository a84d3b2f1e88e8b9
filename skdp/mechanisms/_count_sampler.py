"""What samplers of a symbol with integer weights share."""

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from skdp._typing import FloatArray, IntArray
from skdp.accounting import Adjacency, Guarantee
from skdp.mechanisms._base import AdjacentPair, Mechanism, Release, require
from skdp.random import RandomSource, integer_weighted

__all__ = ["CountMechanism", "CountSampler", "draw", "group_assumption"]

#: Totals from here on are drawn in Python integers.
_LIMIT = 1 << 63


@dataclass(frozen=True, kw_only=True, slots=True)
class CountMechanism(Mechanism[IntArray, FloatArray]):
    """A mechanism on a histogram: how often each of k declared symbols occurs.

    ``n_rows`` is the public number of records under replace-one, and None under
    add-remove, where nothing may depend on it.
    """

    n_categories: int
    n_rows: int | None = None
    group_size: int = 1
    adjacency: Adjacency = Adjacency.REPLACE_ONE

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold."""
        object.__setattr__(self, "adjacency", Adjacency(self.adjacency))
        require(self.n_categories >= 1, "n_categories must be at least 1")
        require(self.group_size >= 1, "group_size must be at least 1")
        if self.adjacency is Adjacency.ADD_REMOVE:
            require(self.n_rows is None, "n_rows is private under add-remove")
        else:
            require(
                self.n_rows is not None and self.n_rows >= 1,
                "n_rows is public under replace-one, and at least 1",
            )

    def _assumptions(self) -> tuple[str, ...]:
        return group_assumption(self.group_size)

    def counts(self, data: IntArray) -> IntArray:
        """Check the shape of a histogram; its total where that is public."""
        counts = np.asarray(data)
        if counts.shape != (self.n_categories,) or counts.dtype.kind not in "iu":
            raise ValueError(
                f"data must be a vector of {self.n_categories} integer counts, got an "
                f"array of shape {counts.shape} and type {counts.dtype}. Allowed: one "
                "count for each declared category. Count the records first."
            )
        if self.n_rows is not None and int(counts.sum()) != self.n_rows:
            raise ValueError(
                "the counts do not add up to the number of records that was declared "
                f"public. Allowed: a total of {self.n_rows}. Calibrate again."
            )
        return counts.astype(np.int64, copy=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class CountSampler(CountMechanism):
    """Independent draws of symbols with weights that are integers."""

    n_draws: int = 1

    # the total of the weights may be private, and words above it are drawn again
    same_draws = False

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold."""
        CountMechanism.__post_init__(self)
        require(self.n_draws >= 1, "n_draws must be at least 1")

    @abstractmethod
    def weights(self, counts: IntArray) -> np.ndarray[Any, Any]:
        """Return positive integer weights of the symbols."""

    @property
    def ideal_guarantee(self) -> Guarantee:
        """The guarantee itself: nothing is rounded after the table was made."""
        return self.guarantee

    @property
    def lattice(self) -> float:
        """Outputs are indices of symbols."""
        return 1.0

    def outcomes(self, data: IntArray) -> FloatArray | None:
        """Return the index of every symbol, if one is drawn."""
        symbols = np.arange(float(self.n_categories))
        return symbols if self.n_draws == 1 else None

    def release(self, data: IntArray, source: RandomSource) -> Release[FloatArray]:
        """Draw symbols and forget the counts.

        Parameters
        ----------
        data : ndarray of int of shape (n_categories,)
            The histogram of the private data.
        source : RandomSource
            Where the randomness comes from.

        Returns
        -------
        Release
            ``output`` holds the indices of the symbols, shape (n_draws,).
        """
        drawn = draw(self.weights(self.counts(data)), self.n_draws, source)
        return Release(output=drawn.astype(np.float64), spent=self.guarantee)

    def log_density(self, output: FloatArray, data: IntArray) -> float:
        """Log probability of the symbols drawn, in order."""
        return self.log_density_on(data)(output)

    def log_density_on(self, data: IntArray) -> Callable[[FloatArray], float]:
        """Return :meth:`log_density` on one histogram."""
        weights = self.weights(self.counts(data)).tolist()
        total = math.log(sum(weights))
        logs = [math.log(w) - total if w > 0 else -math.inf for w in weights]

        def law(output: FloatArray) -> float:
            drawn = (int(y) for y in output)
            return sum(logs[y] if 0 <= y < len(logs) else -math.inf for y in drawn)

        return law

    def noise(self, output: FloatArray, data: IntArray) -> FloatArray:
        """Distance from the middle symbol: a finite law has no noise vector."""
        return np.zeros(self.n_draws) + output - (self.n_categories - 1) // 2

    def hard_pairs(self) -> Iterator[AdjacentPair[IntArray]]:
        """Yield an unseen symbol that one person, or her group, makes seen."""
        k, moved = self.n_categories, self.group_size
        n = 10**6 * k if self.n_rows is None else self.n_rows
        moved = min(moved, n)
        spread = np.full(k, 0, dtype=np.int64)
        spread[1:] = (n // (k - 1)) if k > 1 else n
        spread[-1] += n - int(spread.sum())
        gained = spread.copy()
        gained[0] += moved
        if self.n_rows is not None:
            _take(gained, moved)
        yield AdjacentPair("an unseen symbol is seen", spread, gained)
        alone = np.zeros(k, dtype=np.int64)
        alone[-1] = n
        joined = alone.copy()
        joined[0] += moved
        if self.n_rows is not None:
            joined[-1] -= moved
        yield AdjacentPair("one symbol has all the records", joined, alone)


def _take(counts: IntArray, n: int) -> None:
    """Take n records away from all symbols but the first, in place."""
    for y in range(len(counts) - 1, 0, -1):
        taken = min(n, int(counts[y]))
        counts[y] -= taken
        n -= taken


def draw(weights: np.ndarray[Any, Any], size: int, source: RandomSource) -> IntArray:
    """Return indices with probability exactly proportional to integer weights."""
    if weights.dtype != object and int(weights.max()) * weights.size < _LIMIT:
        return integer_weighted(weights, size, source)
    bounds = np.cumsum(weights.astype(object))
    total = int(bounds[-1])
    if total < _LIMIT:
        return integer_weighted(weights.astype(np.int64), size, source)
    n_bits = total.bit_length()
    n_bytes = -(-n_bits // 8)
    drawn = np.empty(size, dtype=np.int64)
    for i in range(size):
        while True:
            word = int.from_bytes(source.bytes(n_bytes), "little")
            u = word >> (8 * n_bytes - n_bits)
            if u < total:
                break
        drawn[i] = int(np.searchsorted(bounds, u, side="right"))
    return drawn


def group_assumption(group_size: int) -> tuple[str, ...]:
    """Say what a guarantee for groups takes as given."""
    if group_size == 1:
        return ()
    return (f"one person owns at most {group_size} records",)
