"""Clipped rows in the units of the solver, without a clipped copy.

Notation
--------
s      power of two next to the radius R_t                          -> ``unit``
x, f   raw row and its clip factor over s: the fitted row is (f x, B0 / s)
theta  coefficients in units of 1/s, so margins are the user's margins

With every length divided by a power of two, scaling all rows and R by another one
changes no bit of what the solver sees: equivariance is exact, without a line of code.
"""

import copy
import math
from collections.abc import Callable, Iterator
from typing import Self, TypeAlias

import numpy as np
import scipy.sparse as sp

from skdp._typing import FloatArray, MatrixLike
from skdp.rows import L2Ball, RowBlocks
from skdp.rows._l2ball import Clipping, squared_norms

__all__ = ["Table", "Weigh"]

#: Returns the weights of the rows of a block from its rows and their factors.
Weigh: TypeAlias = Callable[[MatrixLike, FloatArray], FloatArray]


class Table:
    """Blocks of ``(x, y, f)``; clip factors are computed in the first pass and kept.

    Parameters
    ----------
    blocks : RowBlocks
    ball : L2Ball
    keep_norms : bool, default=False
        Whether to keep the norms of the clipped rows as well.
    """

    def __init__(
        self, blocks: RowBlocks, ball: L2Ball, *, keep_norms: bool = False
    ) -> None:
        self._blocks, self._ball, self._keep_norms = blocks, ball, keep_norms
        self.unit = math.ldexp(1.0, math.frexp(ball.radius)[1])
        self.constant = ball.intercept_scaling / self.unit
        self.radius = ball.radius / self.unit
        self.n_features = blocks.n_features
        self.n_coefficients = ball.n_coefficients(blocks.n_features)
        self._factors: list[FloatArray] = []
        self._norms: list[FloatArray] = []
        self._far: dict[int, Clipping] = {}
        self._weigh: Weigh | None = None
        self._weights: list[FloatArray] = []
        #: what the whole knows about the rows of a part
        self._known_factors: FloatArray | None = None
        self._known_weights: FloatArray | None = None
        self._seen_whole = False

    def __iter__(self) -> Iterator[tuple[MatrixLike, FloatArray, FloatArray]]:
        """Yield raw rows in float64, their labels, and their factors."""
        for index, (raw, y) in enumerate(self._blocks):
            x = raw if sp.issparse(raw) else np.asarray(raw, dtype=np.float64)
            if index == len(self._factors):
                known = _next(self._factors, self._known_factors, y.size)
                self._factors.append(self._clip(x) if known is None else known)
            if index in self._far:
                x = self._far[index].nearer(x)
            factors = self._factors[index]
            if self._weigh is not None and index == len(self._weights):
                known = _next(self._weights, self._known_weights, y.size)
                weights = self._weigh(x, factors) if known is None else known
                self._weights.append(weights)
            yield x, y, factors
        self._seen_whole = True

    def _clip(self, x: MatrixLike) -> FloatArray:
        """Return the factors of the next block; keep what else is known of it."""
        clipping = self._ball.clipping(x)
        if clipping.exponents is not None:
            self._far[len(self._factors)] = clipping
        factors = clipping.factors
        factors /= self.unit
        if self._keep_norms:
            norms = clipping.norms
            norms *= factors
            self._norms.append(norms)
        return factors

    def squared_norms(self, index: int, x: MatrixLike) -> FloatArray:
        """Return the squared norms of the clipped rows of block ``index``, in units."""
        if self._norms:
            return self._norms[index] ** 2
        f = self._factors[index]
        return squared_norms(x) * f * f

    def weighted_by(self, weigh: Weigh) -> Self:
        """Return the same rows, each with a weight that is a function of it alone.

        Weights are computed in the first pass and kept, as clip factors are.
        """
        weighted = copy.copy(self)
        weighted._weigh, weighted._weights = weigh, []
        weighted._known_weights = None
        return weighted

    def apply_weights(self, index: int, *values: FloatArray) -> None:
        """Multiply one number for each row of block ``index`` by its weight."""
        if self._weigh is not None:
            for each in values:
                np.multiply(each, self._weights[index], out=each)

    @property
    def n_rows_seen(self) -> int:
        """Number of rows met so far; private."""
        return sum(f.size for f in self._factors)

    def part(self, fraction: float, at_least: int) -> "tuple[Table, float] | None":
        """Return a table of about ``fraction`` of the rows, and the share it holds.

        None where a part is not cheap, or holds fewer than ``at_least`` rows.
        """
        part = self._blocks.part(fraction, at_least)
        if part is None:
            return None
        blocks, share = part
        table = Table(blocks, self._ball)
        if self._weigh is not None:
            table = table.weighted_by(self._weigh)
        runs = getattr(blocks, "runs", None)
        if runs is not None and self._seen_whole and not self._far:
            # a row has the same factor and weight in either
            table._known_factors = runs.take(np.concatenate(self._factors))
            if len(self._weights) == len(self._factors):
                table._known_weights = runs.take(np.concatenate(self._weights))
        return table, share


def _next(
    held: list[FloatArray], known: FloatArray | None, n_rows: int
) -> FloatArray | None:
    """Return what is known about the next rows after those held; None for nothing."""
    if known is None:
        return None
    start = sum(values.size for values in held)
    return known[start : start + n_rows]
