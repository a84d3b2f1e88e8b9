r"""Profiles: public integer weights g(0), g(1), ... of a symbol by its count.

A sampler that returns symbol y with probability ``g(c_y) / sum_z g(c_z)`` is as private
as its profile g is flat. The four-line proofs are in docs/proofs/count_weights.md.

Notation
--------
R        weight of one record where g is a straight line            -> ``slope``
A        weight of no record of that line                           -> ``intercept``
J        first count on the line                                    -> ``len(head)``
G        records one person may own                                 -> ``group_size``
E        a rational number at most exp(epsilon)
k, n     numbers of symbols and of records
d_max    largest increase of g by one record
U        largest depth of g below its line
S        least normaliser, ``n R + k A - k U``
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from skdp._typing import IntArray
from skdp.mechanisms._base import require

__all__ = ["WeightTable", "worst_ratio"]

#: Weights below this are computed in 64-bit integers.
_EXACT = 1 << 62


@dataclass(frozen=True, slots=True)
class WeightTable:
    """Weights of a symbol with count 0, 1, 2, ...: a head, then a straight line.

    Parameters
    ----------
    head : tuple of int
        Weights of the first counts: positive, nondecreasing.
    slope : int
        Weight of one more record beyond the head, positive.
    intercept : int, default=0
        The line is ``intercept + slope * count``; at least the last of the head.
    """

    head: tuple[int, ...]
    slope: int
    intercept: int = 0

    def __post_init__(self) -> None:
        """Refuse weights that are not positive and nondecreasing."""
        require(self.slope >= 1 and self.intercept >= 0, "slope must be positive")
        values = (*self.head, self.at(len(self.head)))
        require(values[0] >= 1, "every weight must be positive")
        require(
            all(a <= b for a, b in pairwise(values)),
            "weights must not decrease with the count",
        )

    def at(self, count: int) -> int:
        """Return the weight of one count."""
        if count < len(self.head):
            return self.head[count]
        return self.intercept + self.slope * count

    def __call__(self, counts: IntArray) -> np.ndarray[Any, Any]:
        """Return the weights of a histogram, as Python integers if they are large."""
        largest = max(int(counts.max(initial=0)), len(self.head))
        wide = self.at(largest) >= _EXACT
        kind: Any = object if wide else np.int64
        line = self.intercept + self.slope * counts.astype(kind)
        if not self.head:
            return np.asarray(line)
        head = np.array(self.head, dtype=kind)
        place = np.minimum(counts, len(head) - 1)
        return np.where(counts < len(head), head[place], line)

    @property
    def largest_step(self) -> int:
        """Largest increase of the weight by one record."""
        values = (*self.head, self.at(len(self.head)))
        steps = (b - a for a, b in pairwise(values))
        return max(self.slope, max(steps, default=0))

    @property
    def depth(self) -> int:
        """Largest shortfall of the weight from the line, at least 0."""
        line = (self.intercept + self.slope * j for j in range(len(self.head)))
        return max([0, *(a - b for a, b in zip(line, self.head, strict=True))])

    @property
    def height(self) -> int:
        """Largest excess of the weight over the line through the origin."""
        values = (*self.head, self.at(len(self.head)))
        return max(v - self.slope * j for j, v in enumerate(values))


@lru_cache(maxsize=256)
def worst_ratio(
    table: WeightTable, n_categories: int, n_rows: int | None, group_size: int
) -> Fraction:
    """Return a bound on the ratio of probabilities of any symbol, exactly computed.

    Between histograms of which one has up to ``group_size`` records more (``n_rows`` is
    None and private), or which differ by replacing up to ``group_size`` of their
    ``n_rows`` records.

    Raises
    ------
    ValueError
        If the normaliser has no positive lower bound.
    """
    if n_categories == 1:
        return Fraction(1)
    if n_rows is None:
        return _largest(
            (table.at(j + group_size), table.at(j)) for j in range(len(table.head) + 1)
        )
    moved = min(group_size, n_rows)
    room = moved * table.largest_step
    least = n_rows * table.slope + n_categories * (table.intercept - table.depth)
    require(least > 0, "the normaliser may vanish: too few rows for this profile")

    def pairs() -> Any:
        for j in range(min(len(table.head), n_rows - 1) + 1):
            for m in _gains(table, j, min(moved, n_rows - j), least + room):
                before, after = table.at(j), table.at(j + m)
                yield after * (least + room - (after - before)), before * least

    return _largest(pairs())


def _gains(table: WeightTable, j: int, most: int, top: int) -> range:
    """Return the gains m among which the largest ratio at count j is.

    The ratio is a multiple of ``w (top + g(j) - w)`` with w = g(j + m), which increases
    in w up to half of the bracket. So the largest m is enough if its w is below.
    """
    if 2 * table.at(j + most) <= top + table.at(j):
        return range(most, most + 1)
    return range(1, most + 1)


def _largest(pairs: Any) -> Fraction:
    """Return the largest of fractions given as (numerator, denominator)."""
    top, bottom = 1, 1
    for a, b in pairs:
        if a * bottom > top * b:
            top, bottom = a, b
    return Fraction(top, bottom)
