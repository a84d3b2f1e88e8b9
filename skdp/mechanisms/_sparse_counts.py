"""Draws from an alphabet too large to write down: only seen symbols have an entry.

Every unseen symbol has the weight g(0), so all of them together are one entry of weight
``(k - r) g(0)`` with r symbols seen. The law is that of the full vector of weights.
"""

import numpy as np

from skdp._typing import IntArray
from skdp.mechanisms._count_sampler import draw
from skdp.mechanisms._weight_table import WeightTable
from skdp.random import RandomSource

__all__ = ["draw_sparse", "sparse_weights"]


def sparse_weights(
    table: WeightTable, counts: IntArray, n_categories: int
) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    """Return the weights of the seen symbols, then that of all unseen ones together.

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
    ndarray of object of shape (r + 1,)
        Python integers, so that nothing overflows.
    """
    weights = np.empty(len(counts) + 1, dtype=object)
    weights[:-1] = table(counts).tolist()
    weights[-1] = (n_categories - len(counts)) * table.at(0)
    return weights


def draw_sparse(
    table: WeightTable,
    counts: IntArray,
    n_categories: int,
    size: int,
    source: RandomSource,
) -> IntArray:
    """Draw seen symbols by their index, and r for "one of the unseen"."""
    return draw(sparse_weights(table, counts, n_categories), size, source)
