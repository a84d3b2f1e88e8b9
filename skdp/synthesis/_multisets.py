"""All multisets of m points from N cells, and what queries answer on them."""

import math

import numpy as np
import numpy.typing as npt

from skdp._typing import IntArray

__all__ = ["multisets", "n_multisets", "n_orders", "worst_errors"]

#: Candidates compared at once.
_CHUNK = 50_000


def n_multisets(n_points: int, n_cells: int) -> int:
    """Return how many multisets there are."""
    return math.comb(n_points + n_cells - 1, n_cells - 1)


def multisets(n_points: int, n_cells: int) -> npt.NDArray[np.uint8]:
    """Return every histogram of m points over N cells, shape (M, N)."""
    table = np.zeros((1, 0), dtype=np.uint8)
    left = np.array([n_points])
    for _ in range(n_cells - 1):
        repeats = left + 1
        start = np.repeat(np.cumsum(repeats) - repeats, repeats)
        taken = np.arange(repeats.sum()) - start
        table = np.column_stack(
            [np.repeat(table, repeats, axis=0), taken.astype(np.uint8)]
        )
        left = np.repeat(left, repeats) - taken
    return np.column_stack([table, left.astype(np.uint8)])


def n_orders(table: npt.NDArray[np.uint8]) -> list[int]:
    """Return how many sequences of points each multiset stands for, exactly."""
    n_points = int(table[0].sum())
    factorials = np.array([math.factorial(i) for i in range(n_points + 1)], object)
    products: list[int] = np.multiply.reduce(factorials[table], axis=1).tolist()
    whole = math.factorial(n_points)
    return [whole // product for product in products]


def worst_errors(
    table: npt.NDArray[np.uint8],
    queries: npt.NDArray[np.uint8],
    answers: IntArray,
    n_rows: int,
) -> IntArray:
    """Return ``max_h |m c_h(D) - n c_h(D^)|`` of each multiset, an integer."""
    n_points = int(table[0].sum())
    true = n_points * answers.astype(np.float64)
    weights = queries.T.astype(np.float32)
    out = np.empty(len(table), dtype=np.int64)
    for start in range(0, len(table), _CHUNK):
        # counts up to m are exact in single precision
        counts = table[start : start + _CHUNK].astype(np.float32) @ weights
        gaps = np.abs(true - n_rows * counts.astype(np.float64))
        out[start : start + _CHUNK] = gaps.max(axis=1).astype(np.int64)
    return out
