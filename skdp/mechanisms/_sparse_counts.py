"""Draws from an alphabet too large to write down: only seen symbols have an entry.

Every unseen symbol has the weight g(0), so all of them together are one entry of weight
``(k - r) g(0)`` with r symbols seen. The law is that of the full vector of weights.
"""

import numpy as np

from skdp._typing import IntArray
from skdp.mechanisms._count_sampler import draw
from skdp.mechanisms._weight_table import WeightTable
from skdp.random import RandomSource

__all__ = ["draw_sparse", "sparse_totals"]


def sparse_totals(
    table: WeightTable, counts: IntArray, n_categories: int
) -> tuple[int, int]:
    """Return the weight of all seen symbols together, and that of all unseen ones.

    Parameters
    ----------
    table : WeightTable
        Weights by count.
    counts : ndarray of int of shape (r,)
        How often each of the seen symbols occurs, at least 1.
    n_categories : int
        Number k of declared symbols, of any size.

    Returns
    -------
    seen, unseen : int
        Python integers, so that nothing overflows.
    """
    weights = table(counts)
    halves = (weights >> 32, weights & 0xFFFFFFFF)
    seen = (int(halves[0].sum()) << 32) + int(halves[1].sum())
    return seen, (n_categories - len(counts)) * table.at(0)


def draw_sparse(
    table: WeightTable,
    counts: IntArray,
    n_categories: int,
    size: int,
    source: RandomSource,
) -> IntArray:
    """Draw seen symbols by their index, and r for "one of the unseen"."""
    totals = np.array(sparse_totals(table, counts, n_categories), dtype=object)
    drawn = np.full(size, len(counts), dtype=np.int64)
    seen = draw(totals, size, source) == 0
    drawn[seen] = draw(table(counts), int(np.count_nonzero(seen)), source)
    return drawn
