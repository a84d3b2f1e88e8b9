"""Exact draws with integer weights: no probability is ever a floating-point number.

A uniform integer u below the total T of the weights lies in the stretch of symbol i of
the cumulative sums, and the stretch is as long as the weight of i. So i is drawn with
probability exactly ``weights[i] / T``, and never if its weight is 0.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from skdp._typing import IntArray
from skdp._validation import check_count
from skdp.random._source import RandomSource

__all__ = ["integer_below", "integer_weighted", "integers_below"]

#: Words drawn at once; bounds the memory and keeps a round in the cache.
_BATCH = 1 << 15
#: The total of the weights must stay below this.
_LIMIT = 1 << 63


def integer_weighted(weights: object, size: int, source: RandomSource) -> IntArray:
    """Draw indices with probability exactly proportional to integer weights.

    Parameters
    ----------
    weights : array-like of int of shape (k,)
        Weights >= 0 whose total is at least 1 and below 2**63. They may be private:
        no error quotes them.
    size : int
        How many independent draws, >= 0.
    source : RandomSource
        Where the bytes come from, 8 a draw, now and then 8 more.

    Returns
    -------
    ndarray of shape (size,)
        Indices from 0 to k - 1; one of weight 0 never occurs.

    Raises
    ------
    TypeError
        If the weights are not integers or ``size`` is not an int.
    ValueError
        If a weight is negative, the total is 0 or too large, or ``size`` is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.random import as_random_source, integer_weighted
    >>> draws = integer_weighted([5, 0, 3], 80_000, as_random_source(0))
    >>> np.bincount(draws) / 10_000
    array([5.0, 0. , 3.0])
    """
    size = check_count("size", size, minimum=0, remedy="Pass how many draws to make.")
    cumulative = _cumulative(weights)
    u = integers_below(int(cumulative[-1]), size, source)
    # "right": u equal to a cumulative sum belongs to the next symbol of positive weight
    draws: IntArray = np.searchsorted(cumulative, u, side="right").astype(np.int64)
    return draws


def integers_below(bound: int, size: int, source: RandomSource) -> IntArray:
    """Draw independent uniform integers from 0 to ``bound - 1``, 1 <= bound < 2**63.

    A word of 64 bits is reduced modulo the bound, which is exactly uniform once the
    words above the last multiple of the bound are refused.
    """
    last = np.uint64((1 << 64) - (1 << 64) % bound - 1)
    draws = np.empty(size, dtype=np.int64)
    done = 0
    while done < size:
        n_words = min(size - done, _BATCH)
        words = np.frombuffer(source.bytes(8 * n_words), dtype="<u8")
        words = words[words <= last]
        draws[done : done + words.size] = words % np.uint64(bound)
        done += words.size
    return draws


def integer_below(bound: int, source: RandomSource) -> int:
    """Draw one such integer, without an array."""
    while True:
        word = int.from_bytes(source.bytes(8), "little")
        if word < (1 << 64) - (1 << 64) % bound:
            return word % bound


def _cumulative(weights: object) -> IntArray:
    """Check the weights and return their cumulative sums, without overflow."""
    table: npt.NDArray[Any] = np.asarray(weights)
    integers = table.dtype.kind in "iu" or (
        table.dtype == object and all(type(w) is int for w in table.flat)
    )
    if table.ndim != 1 or table.size == 0 or not integers:
        raise TypeError(
            "weights must be a vector of integers, got something else. Allowed: one "
            "integer or more. Scale rational weights to a common denominator."
        )
    least, largest = int(table.min()), int(table.max())
    total = largest * table.size  # an upper bound that is nearly always enough
    if total >= _LIMIT:
        total = sum(int(w) for w in table)
    if least < 0 or largest == 0 or total >= _LIMIT:
        raise ValueError(
            "weights are out of range, got a negative one, no positive one, or a total "
            "that is too large. Allowed: weights of at least 0 with a total from 1 to "
            "2**63 - 1. Use a coarser common denominator."
        )
    return np.cumsum(table.astype(np.int64))
