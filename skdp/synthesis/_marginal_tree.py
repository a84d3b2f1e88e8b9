r"""A tree of noisy two-way marginals: correlated columns, and any number of rows.

Notation (derived in docs/proofs/marginal_tree.md)
--------------------------------------------------
d        number of columns; k_j categories                          -> ``sizes``
rho      zero-concentrated cost, shared by the three steps
N_ij     two-way histogram of columns i and j
E_ij     what it would be if they were independent, by noisy marginals
U        units of a score in one record                             -> ``_UNITS``
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from skdp._typing import FloatArray, IntArray
from skdp.accounting import Adjacency, PrivacyPart, ZeroConcentratedDP
from skdp.mechanisms import ExponentialMechanism, NoisyHistogram
from skdp.random import RandomSource, integer_weighted
from skdp.synthesis._projection import as_weights, nearest_distribution

__all__ = ["MarginalTree", "TreePlan"]

#: Expected counts are rounded to integers in these units, so scores are exact.
_UNITS = 1 << 10
_DOWN = 1.0 - 2.0**-44


@dataclass(frozen=True, slots=True)
class MarginalTree:
    """Released probabilities: of the root, and of each column given its parent.

    Attributes
    ----------
    marginals : tuple of ndarray
        Noisy one-way probabilities, one a column.
    edges : tuple of (int, int)
        Parent and child, parents first.
    conditionals : tuple of ndarray
        One an edge, of shape (categories of the parent, of the child), rows sum to 1.
    """

    marginals: tuple[FloatArray, ...]
    edges: tuple[tuple[int, int], ...]
    conditionals: tuple[FloatArray, ...]

    def draw(self, size: int, source: RandomSource) -> IntArray:
        """Draw records down the tree, shape (size, d)."""
        codes = np.zeros((size, len(self.marginals)), dtype=np.int64)
        codes[:, 0] = integer_weighted(as_weights(self.marginals[0]), size, source)
        for (parent, child), table in zip(self.edges, self.conditionals, strict=True):
            for value, law in enumerate(table):
                rows = np.flatnonzero(codes[:, parent] == value)
                if rows.size:
                    drawn = integer_weighted(as_weights(law), rows.size, source)
                    codes[rows, child] = drawn
        return codes


@dataclass(frozen=True, slots=True)
class TreePlan:
    """The mechanisms of the three steps; all public.

    Attributes
    ----------
    sizes : tuple of int
        Categories of the columns.
    n_rows : int or None
        Public number of records; None under add-remove.
    one_way : tuple of NoisyHistogram
        One a column.
    choice : ExponentialMechanism or None
        Of one pair; used d - 2 or d - 1 times. None if there is nothing to choose.
    pair_rho : float
        Cost of one two-way histogram.
    group_size : int
        Records one person may own.
    """

    sizes: tuple[int, ...]
    n_rows: int | None
    one_way: tuple[NoisyHistogram, ...]
    choice: ExponentialMechanism | None
    pair_rho: float
    group_size: int

    @classmethod
    def calibrate(
        cls,
        rho: float,
        *,
        sizes: tuple[int, ...],
        adjacency: Adjacency,
        n_rows: int | None,
        group_size: int,
    ) -> "TreePlan":
        """Share rho evenly among marginals, choices and pairs."""
        d = len(sizes)
        n_steps = 1 if d == 1 else (2 if d == 2 else 3)
        share = rho * _DOWN / n_steps
        each = ZeroConcentratedDP(share / d, adjacency=adjacency)
        one_way = tuple(
            NoisyHistogram.calibrate(
                each, n_categories=k, n_rows=n_rows, group_size=group_size
            )
            for k in sizes
        )
        choice = None
        if d > 2:
            moved = 1 if adjacency is Adjacency.ADD_REMOVE else 2
            choice = ExponentialMechanism(
                math.sqrt(8.0 * share / (d - 1)) * _DOWN,
                moved * group_size * _UNITS,
                selection="exponential",
                adjacency=adjacency,
            )
        pair_rho = share / (d - 1) if d > 1 else 0.0
        return cls(sizes, n_rows, one_way, choice, pair_rho, group_size)

    @property
    def adjacency(self) -> Adjacency:
        """Neighbouring relation."""
        return self.one_way[0].adjacency

    def pair(self, i: int, j: int) -> NoisyHistogram:
        """Return the mechanism of one two-way histogram."""
        return NoisyHistogram.calibrate(
            ZeroConcentratedDP(self.pair_rho, adjacency=self.adjacency),
            n_categories=self.sizes[i] * self.sizes[j],
            n_rows=self.n_rows,
            group_size=self.group_size,
        )

    @property
    def parts(self) -> tuple[PrivacyPart, ...]:
        """What each step costs."""
        d = len(self.sizes)
        parts = [self._part("one-way marginals", _rho(self.one_way[0]), d)]
        if self.choice is not None:
            rho = self.choice.epsilon**2 / 8
            parts.append(self._part("choices of pairs", rho, d - 1))
        if d > 1:
            parts.append(self._part("two-way marginals", _rho(self.pair(0, 1)), d - 1))
        return tuple(parts)

    def _part(self, name: str, rho: float, times: int) -> PrivacyPart:
        total = _above(Fraction(rho) * times)
        guarantee = ZeroConcentratedDP(total, adjacency=self.adjacency)
        return PrivacyPart(name, guarantee, f"{times} of rho = {rho:.3g}")

    @property
    def rho(self) -> float:
        """Cost of all steps, from the noise used, rounded up."""
        found = [part.guarantee for part in self.parts]
        return _above(
            sum(
                (Fraction(g.rho) for g in found if isinstance(g, ZeroConcentratedDP)),
                Fraction(0),
            )
        )

    def accuracy_bounds(self, n_rows: int) -> tuple[float, float]:
        """Bound the mean distance of one-way, and of measured two-way, marginals."""
        one = max(m.accuracy_bound(n_rows) for m in self.one_way)
        if len(self.sizes) == 1:
            return one, 0.0
        i, j = np.argsort(self.sizes)[-2:]
        return one, self.pair(int(i), int(j)).accuracy_bound(n_rows)

    def release(self, codes: IntArray, source: RandomSource) -> MarginalTree:
        """Measure, choose, measure again, and forget the data."""
        noisy = [
            mechanism.release(_histogram(codes[:, j], k), source).output
            for j, (mechanism, k) in enumerate(
                zip(self.one_way, self.sizes, strict=True)
            )
        ]
        total = self.n_rows or max(1.0, float(np.mean([v.sum() for v in noisy])))
        laws = tuple(nearest_distribution(v, total) for v in noisy)
        edges = _from_root(self._choose(codes, laws, total, source))
        tables = tuple(self._measure(codes, edge, laws, source) for edge in edges)
        return MarginalTree(laws, edges, tables)

    def _choose(
        self,
        codes: IntArray,
        laws: Sequence[FloatArray],
        total: float,
        source: RandomSource,
    ) -> list[tuple[int, int]]:
        """Join components one by one, by the pair that is least independent."""
        d = len(self.sizes)
        if self.choice is None:
            return [(0, 1)] if d == 2 else []
        scores = {
            (i, j): self._score(codes, i, j, total * np.outer(laws[i], laws[j]))
            for i, j in combinations(range(d), 2)
        }
        component = list(range(d))
        chosen = []
        for _ in range(d - 1):
            pairs = [p for p in scores if component[p[0]] != component[p[1]]]
            table = np.array([scores[pair] for pair in pairs], dtype=np.int64)
            i, j = pairs[int(self.choice.release(table, source).output[0])]
            chosen.append((i, j))
            old, new = component[i], component[j]
            component = [new if c == old else c for c in component]
        return chosen

    def _score(self, codes: IntArray, i: int, j: int, expected: FloatArray) -> int:
        """Return the exact distance of a two-way histogram from a public table."""
        counts = _histogram(self._cell(codes, i, j), expected.size)
        public = np.rint(expected.ravel() * _UNITS).astype(np.int64)
        return int(np.abs(counts * _UNITS - public).sum())

    def _cell(self, codes: IntArray, i: int, j: int) -> IntArray:
        cell: IntArray = codes[:, i].astype(np.int64) * self.sizes[j] + codes[:, j]
        return cell

    def _measure(
        self,
        codes: IntArray,
        edge: tuple[int, int],
        laws: Sequence[FloatArray],
        source: RandomSource,
    ) -> FloatArray:
        """Return the law of a child by its parent; its marginal where nothing is."""
        i, j = edge
        mechanism = self.pair(i, j)
        counts = _histogram(self._cell(codes, i, j), mechanism.n_categories)
        noisy = mechanism.release(counts, source).output
        joint = nearest_distribution(noisy, self.n_rows)
        table = joint.reshape(self.sizes[i], self.sizes[j])
        mass = table.sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            return np.where(mass > 0.0, table / mass, laws[j])


def _histogram(codes: IntArray, size: int) -> IntArray:
    return np.bincount(codes, minlength=size)


def _from_root(pairs: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Direct the edges of a tree away from column 0, parents first."""
    reached, edges, left = {0}, [], list(pairs)
    while left:
        for pair in left:
            i, j = pair if pair[0] in reached else pair[::-1]
            if i in reached:
                edges.append((i, j))
                reached.add(j)
                left.remove(pair)
                break
    return tuple(edges)


def _rho(mechanism: NoisyHistogram) -> float:
    guarantee = mechanism.guarantee
    return guarantee.rho if isinstance(guarantee, ZeroConcentratedDP) else math.inf


def _above(x: Fraction) -> float:
    """Return a float at least ``x``."""
    value = float(x)
    return value if Fraction(value) >= x else math.nextafter(value, math.inf)
