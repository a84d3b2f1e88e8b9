"""Neighbouring tables of several classes, hard for a perturbed softmax objective."""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from skdp.accounting import Adjacency
from skdp.mechanisms._base import AdjacentPair
from skdp.rows import Classes, L2Ball, PrivateRows, as_row_blocks

__all__ = ["hard_class_pairs"]

#: Position on the first axis, in units of the radius, and class number.
Row: TypeAlias = tuple[float, int]


def hard_class_pairs(
    radius: float, n_coefficients: int, n_classes: int, adjacency: Adjacency
) -> Iterator[AdjacentPair[PrivateRows]]:
    """Yield each base table with one more row, beside the table without or another."""
    for name, base in _base_tables(n_classes).items():
        other = base
        if adjacency is Adjacency.REPLACE_ONE:
            # at the other end, where its own class is as unlikely
            other = [*base, (-1.0, 1)]
        tables = [*base, (1.0, 0)], other
        left, right = (_rows(t, radius, n_coefficients, n_classes) for t in tables)
        yield AdjacentPair(name, left, right)


def _rows(
    table: list[Row], radius: float, n_coefficients: int, n_classes: int
) -> PrivateRows:
    X = np.zeros((len(table), n_coefficients))
    X[:, 0] = [radius * position for position, _ in table]
    y = np.array([number for _, number in table], dtype=np.int64)
    blocks = as_row_blocks(X, y, labels=Classes(np.arange(n_classes)))
    return PrivateRows(blocks, L2Ball(radius))


def _base_tables(n_classes: int) -> dict[str, list[Row]]:
    """Return named tables of rows that leave an extra row of class 0 at a loss.

    Rows of one other class beside it; of all others, which then compete for its
    curvature; and of its own class at the other end, which drive it to the class that
    the noise prefers.
    """
    against = (1.0, n_classes - 1)
    others = [(1.0, k) for k in range(1, n_classes)]
    return {
        "empty": [],
        "ten against": [against] * 10,
        "hundred against": [against] * 100,
        "ten of each other": others * 10,
        "ten opposite": [(-1.0, 0)] * 10,
    }
