"""Linear queries: the share of records of which a public predicate holds."""

import math
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from skdp.synthesis._whole_records import flat_index

__all__ = ["check_pair_queries", "pair_queries", "pair_queries_fit", "query_matrix"]

#: Entries of a table of queries, which holds them all in memory.
_MOST_ENTRIES = 1 << 28


def query_matrix(queries: Any, n_cells: int) -> npt.NDArray[np.uint8]:
    """Check predicates: rows of 0 and 1, one entry for each different record."""
    table = np.asarray(queries)
    good = table.ndim == 2 and table.shape[1:] == (n_cells,) and len(table) > 0
    if (
        not good
        or table.dtype.kind not in "biuf"
        or np.any((table != 0) & (table != 1))
    ):
        raise ValueError(
            f"queries is not a table of predicates, got shape {table.shape}. Allowed: "
            f"rows of 0 and 1 with {n_cells} entries, one for each different record. "
            "Evaluate every predicate on every record."
        )
    return table.astype(np.uint8)


def pair_queries_fit(sizes: tuple[int, ...]) -> bool:
    """Tell from public numbers whether the table of pair queries is small enough."""
    return _n_pair_queries(sizes) * math.prod(sizes) <= _MOST_ENTRIES


def check_pair_queries(sizes: tuple[int, ...]) -> None:
    """Refuse a table of pair queries that is too large for memory."""
    if not pair_queries_fit(sizes):
        raise ValueError(
            f"the cells of all two-way marginals are {_n_pair_queries(sizes)} queries, "
            f"got {math.prod(sizes)} different records. Allowed: {_MOST_ENTRIES} "
            "entries in all. Coarsen the columns, or pass fewer queries to MWEM, or "
            "use TableSampler(method='tree')."
        )


def _n_pair_queries(sizes: tuple[int, ...]) -> int:
    both = sum(sizes) ** 2 - sum(size**2 for size in sizes)
    return both // 2 if len(sizes) > 1 else sizes[0]


def pair_queries(sizes: tuple[int, ...]) -> npt.NDArray[np.uint8]:
    """Return the cells of all two-way marginals, or of the only column, as queries."""
    axes = np.indices(sizes).reshape(len(sizes), -1).T
    pairs: list[tuple[int, ...]] = list(combinations(range(len(sizes)), 2)) or [(0,)]
    blocks = []
    for pair in pairs:
        shape = tuple(sizes[j] for j in pair)
        cell = flat_index(axes[:, pair], shape)
        n_values = int(np.prod(shape))
        blocks.append(np.arange(n_values)[:, None] == cell[None, :])
    return np.concatenate(blocks).astype(np.uint8)
