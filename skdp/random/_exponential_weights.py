r"""Exact choices among candidates with weights exp(-x): flags, and weighted draws.

Weights are known by integer bounds only, first to 31 bits, then to as many as a
comparison needs. Every decision is that of the infinitely precise comparison.

Notation
--------
W_i      ``exp(-x_i)`` in units of ``2**-bits``
L_i      integer lower bound, ``L_i <= W_i < L_i + error``
m_i      integer measure of candidate i, 1 without a measure
C_i, T   ``m_0 W_0 + ... + m_i W_i``, and the total
u        uniform real in [0, 1), known to lie in ``[value, value + 1) 2**-places``
"""

import struct
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul

import numpy as np

from skdp._typing import IntArray
from skdp.random._exponents import ERROR, Exponents
from skdp.random._integer_weights import integer_below
from skdp.random._lazy_uniform import LazyUniform
from skdp.random._source import RandomSource

__all__ = ["draw_flagged", "draw_weighted"]

#: Sums of quick bounds times measures stay below ``2**63`` up to this total measure.
_QUICK_MEASURE = 1 << 31
#: Places of the first table of exact bounds.
_EXACT_BITS = 128


def draw_flagged(exponents: Exponents, source: RandomSource) -> int:
    """Raise a flag at each index with probability ``exp(-x_i)``; choose one raised.

    The choice is uniform among the raised flags. This is the outcome of walking the
    indices in random order up to the first raised flag. The best index always raises
    its flag. Flags and choice take 8 bytes each, and with a probability of about
    ``2**-60`` a few more.
    """
    raised = _raised(exponents, source)
    return int(raised[integer_below(len(raised), source)])


def _raised(exponents: Exponents, source: RandomSource) -> Sequence[int] | IntArray:
    """Return where the flags are up.

    The top 31 bits of a word decide, unless they fall between the bounds, which happens
    once in some hundred million times.
    """
    n, lower = len(exponents), exponents.quick()
    data = source.bytes(8 * n)

    def is_up(i: int) -> bool:
        word = int.from_bytes(data[8 * i : 8 * i + 8], "little")
        return LazyUniform(word, 64, source).below_exp(exponents.exact(i))

    if isinstance(lower, np.ndarray):
        top = np.frombuffer(data, dtype="<u8") >> np.uint64(33)
        up = top < lower
        for i in np.flatnonzero(~up & (top < lower + np.uint64(ERROR))).tolist():
            up[i] = is_up(i)
        return np.flatnonzero(up)
    tops = [word >> 33 for word in struct.unpack(f"<{n}Q", data)]
    return [
        i
        for i, (word, low) in enumerate(zip(tops, lower, strict=True))
        if word < low or (word < low + ERROR and is_up(i))
    ]


def draw_weighted(
    exponents: Exponents, measure: Sequence[int] | None, source: RandomSource
) -> int:
    """Draw one index with probability exactly proportional to ``m_i exp(-x_i)``.

    An index i is returned when ``C_{i-1} <= u T < C_i`` holds for all weights within
    the bounds and all u within its interval. Where the bounds are too wide for that,
    they are narrowed. An index of measure 0 never passes.

    Parameters
    ----------
    exponents : Exponents
        Exponents of the weights.
    measure : sequence of int or None
        Measures >= 0, one positive; None for 1 each.
    source : RandomSource
        Where the bytes come from: 8, and 8 more with a probability of about ``2**-60``.

    Returns
    -------
    int
    """
    u = LazyUniform(int.from_bytes(source.bytes(8), "little"), 64, source)
    cumulative = range(len(exponents) + 1) if measure is None else _sums(measure)
    bits = _EXACT_BITS
    if cumulative[-1] < _QUICK_MEASURE:
        table = _quick_table(exponents, measure, cumulative)
    else:
        table = _exact_table(exponents, measure, cumulative, bits)
    while True:
        i = table.guess(u)
        if i < len(exponents) and table.proves(i, u):
            return i
        if table.is_finer_than(u):
            u.reveal()
        else:
            table = _exact_table(exponents, measure, cumulative, bits)
            bits *= 2


@dataclass(slots=True)
class _Table:
    """Cumulative lower bounds and measures, each of n + 1 numbers from 0."""

    lower: Sequence[int] | IntArray
    measure: Sequence[int]
    error: int

    def guess(self, u: LazyUniform) -> int:
        """Return the index at which u falls if the lower bounds are the weights."""
        aim = (u.value * int(self.lower[-1])) >> u.bits
        if isinstance(self.lower, np.ndarray):
            return int(self.lower.searchsorted(aim, side="right")) - 1
        return bisect_right(self.lower, aim) - 1

    def proves(self, i: int, u: LazyUniform) -> bool:
        """Return whether ``C_{i-1} <= u T < C_i`` holds within all bounds.

        ``C_i / T`` increases in the weights up to i and decreases in the others, so its
        least value has the lower bounds up to i and the upper bounds after.
        """
        before, upto, total = (int(self.lower[k]) for k in (i, i + 1, -1))
        wide = self.error * self.measure[i]
        after = self.error * (self.measure[-1] - self.measure[i + 1])
        above = u.value * (total + wide) >= (before + wide) << u.bits
        return above and (u.value + 1) * (total + after) <= upto << u.bits

    def is_finer_than(self, u: LazyUniform) -> bool:
        """Return whether the bounds resolve more than is known of u."""
        spread = self.error * self.measure[-1]
        return spread << u.bits < int(self.lower[-1])


def _quick_table(
    exponents: Exponents, measure: Sequence[int] | None, cumulative: Sequence[int]
) -> _Table:
    """Return the table of the quick bounds, in lists if there are few candidates."""
    lower = exponents.quick()
    if measure is None and not isinstance(lower, np.ndarray):
        return _Table(_sums(lower), cumulative, ERROR)
    weights = np.array(lower, dtype=np.int64)
    if measure is not None:
        weights *= np.array(measure, dtype=np.int64)
    sums = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(weights)])
    return _Table(sums, cumulative, ERROR)


def _exact_table(
    exponents: Exponents,
    measure: Sequence[int] | None,
    cumulative: Sequence[int],
    bits: int,
) -> _Table:
    """Return the table of the integer parts of ``2**bits`` times the weights."""
    floors = exponents.floors(bits)
    if measure is not None:
        floors = list(map(mul, floors, measure))
    return _Table(_sums(floors), cumulative, 1)


def _sums(values: Sequence[int]) -> list[int]:
    """Return cumulative sums that begin with 0."""
    return list(accumulate(values, initial=0))
