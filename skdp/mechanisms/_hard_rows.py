"""Neighbouring tables on which a perturbed objective is nearly at its bound."""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from skdp.accounting import Adjacency
from skdp.mechanisms._base import AdjacentPair
from skdp.rows import L2Ball, PrivateRows, as_row_blocks

__all__ = ["hard_row_pairs"]

#: Position on the first axis, in units of the radius, and label.
Row: TypeAlias = tuple[float, float]


def hard_row_pairs(
    radius: float, n_coefficients: int, adjacency: Adjacency
) -> Iterator[AdjacentPair[PrivateRows]]:
    """Yield each base table with one more row, beside the table without or another."""
    extras = {"+": (1.0, 1.0), "-": (1.0, -1.0), "half": (0.5, 1.0)}
    for base_name, base in _base_tables().items():
        for name, row in extras.items():
            other = base
            if adjacency is Adjacency.REPLACE_ONE:
                other = [*base, (row[0], -row[1])]
            yield AdjacentPair(
                f"{base_name}, {name}",
                _rows([*base, row], radius, n_coefficients),
                _rows(other, radius, n_coefficients),
            )


def _rows(table: list[Row], radius: float, n_coefficients: int) -> PrivateRows:
    X = np.zeros((len(table), n_coefficients))
    X[:, 0] = [radius * position for position, _ in table]
    y = np.array([label for _, label in table], dtype=np.float64)
    return PrivateRows(as_row_blocks(X, y), L2Ball(radius))


def _base_tables() -> dict[str, list[Row]]:
    """Return named tables of (position, label) that saturate the loss or balance it."""
    agree, against = (1.0, 1.0), (1.0, -1.0)
    return {
        "empty": [],
        "one agreeing": [agree],
        "ten agreeing": [agree] * 10,
        "hundred agreeing": [agree] * 100,
        "one against": [against],
        "ten against": [against] * 10,
        "hundred against": [against] * 100,
        "ten balanced": [agree, against] * 5,
        "zero rows": [(0.0, 1.0)] * 3,
    }
