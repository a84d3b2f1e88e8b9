"""Draws of whole records, from a product of alphabets that is never written down."""

from collections.abc import Callable

import numpy as np

from skdp._typing import IntArray
from skdp.mechanisms import CountWeights, RevealOrObscure
from skdp.mechanisms._sparse_counts import draw_sparse
from skdp.random import RandomSource
from skdp.random._integer_weights import integers_below

__all__ = ["distinct_records", "draw_records", "flat_index"]

#: Keys of records stay below this.
_LIMIT = 1 << 62
#: Records of a space up to this many times the rows are counted without sorting.
_DENSE = 4
#: For so few draws records are compared one by one.
_FEW = 32


def distinct_records(
    codes: IntArray, sizes: tuple[int, ...]
) -> tuple[IntArray, IntArray]:
    """Return the different records, and how often each occurs.

    Their order depends on the set of records alone. Memory and time are of the order of
    the rows, whatever the size of the product.
    """
    key = np.zeros(len(codes), dtype=np.int64)
    span = 1
    for j, size in enumerate(sizes):
        if span * size >= _LIMIT:
            known, key = np.unique(key, return_inverse=True)
            span = len(known)
        key = key * size + codes[:, j]
        span *= size
    if span <= _DENSE * len(codes):
        counts = np.bincount(key, minlength=span)
        first = np.empty(span, dtype=np.int64)
        first[key] = np.arange(len(key))  # any row with that key shows the same record
        seen = np.flatnonzero(counts)
        return codes[first[seen]], counts[seen]
    _, first, counts = np.unique(key, return_index=True, return_counts=True)
    return codes[first], counts


def flat_index(codes: IntArray, sizes: tuple[int, ...]) -> IntArray:
    """Return the place of each record among all, where 64 bits hold their number."""
    key = np.zeros(len(codes), dtype=np.int64)
    for j, size in enumerate(sizes):
        key = key * size + codes[:, j]
    return key


def draw_records(
    mechanism: RevealOrObscure | CountWeights,
    codes: IntArray,
    sizes: tuple[int, ...],
    source: RandomSource,
) -> IntArray:
    """Draw whole records with the weights of a mechanism on the product alphabet."""
    records, counts = distinct_records(codes, sizes)
    drawn = draw_sparse(
        mechanism.table, counts, mechanism.n_categories, mechanism.n_draws, source
    )
    out = np.empty((len(drawn), len(sizes)), dtype=np.int64)
    seen = drawn < len(records)
    out[seen] = records[drawn[seen]]
    n_unseen = int(np.count_nonzero(~seen))
    if n_unseen:
        out[~seen] = _unseen(records, sizes, mechanism.n_categories, n_unseen, source)
    return out


def _unseen(
    records: IntArray,
    sizes: tuple[int, ...],
    n_records: int,
    size: int,
    source: RandomSource,
) -> IntArray:
    """Draw records uniformly among those that do not occur."""
    if 2 * len(records) > n_records:  # then all of them are few
        absent = np.setdiff1d(np.arange(n_records), flat_index(records, sizes))
        place = absent[integers_below(len(absent), size, source)]
        return np.stack(np.unravel_index(place, sizes), axis=1)
    is_known = _membership(records, size)
    out = np.empty((size, len(sizes)), dtype=np.int64)
    missing = np.arange(size)
    while missing.size:
        for j, k in enumerate(sizes):
            out[missing, j] = integers_below(k, missing.size, source)
        again = [is_known(record) for record in out[missing]]
        missing = missing[np.array(again)]
    return out


def _membership(records: IntArray, n_questions: int) -> Callable[[IntArray], bool]:
    """Return whether a record is among others; by a table if that is asked often."""
    if n_questions <= _FEW:
        return lambda record: bool(np.any(np.all(records == record, axis=1)))
    known = set(map(tuple, records.tolist()))
    return lambda record: tuple(record.tolist()) in known
