r"""The profiles of docs/proofs/count_weights.md as integer tables, calibrated exactly.

All are rounded to the private side, and each is accepted only if the largest ratio of
probabilities, computed in exact arithmetic by :func:`worst_ratio`, is at most E.

Notation
--------
E        a rational number at most exp(epsilon), for the whole group
e        the ratio a table is built with, E or a little less         -> ``ratio``
R        weight of one record, a power of two                        -> ``unit``
"""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from skdp.mechanisms._rational_exponential import (
    exp_below,
    rounded_down,
)
from skdp.mechanisms._weight_table import WeightTable, worst_ratio

__all__ = ["accuracy", "envelope", "minimax", "reveal_or_obscure"]

#: Longest head of a table. Beyond (epsilon below 1e-5 or so) the line alone serves.
_LONGEST = 1 << 17
#: Rounds of calibration, and how many of them divide before the rest bisect.
_ROUNDS, _FIRST = 50, 4
#: A largest ratio this near E is near enough.
_NEAR = 1 + Fraction(1, 1 << 36)
#: Bits of ratios; more would only slow the products down.
_BITS = 80
#: Weights add up to less than two to this, so that draws hardly ever repeat.
_TOTAL_BITS = 55
#: Finest unit, the unit where the number of rows is private, and the coarsest one,
#: with which totals of huge alphabets no longer fit.
_FINEST, _PRIVATE, _COARSEST = 40, 32, 12


def unit(epsilon: float, n_categories: int, n_rows: int | None, group_size: int) -> int:
    """Return the weight of one record: a public power of two."""
    obscured = n_categories * -(-group_size // (exp_below(epsilon) - 1))
    if n_rows is None:
        return 1 << max(_COARSEST, min(_PRIVATE, _TOTAL_BITS - obscured.bit_length()))
    bits = (n_rows + obscured).bit_length()
    return 1 << max(_COARSEST, min(_FINEST, _TOTAL_BITS - bits))


def reveal_or_obscure(
    epsilon: float, n_categories: int, n_rows: int | None, group_size: int
) -> WeightTable:
    """Return the straight line ``A + R c`` with ``A / R >= G / (E - 1)``."""
    slope = unit(epsilon, n_categories, n_rows, group_size)
    excess = exp_below(epsilon) - 1
    return WeightTable((), slope, -(-(slope * group_size) // excess))


@lru_cache(maxsize=256)
def envelope(
    epsilon: float, n_categories: int, n_rows: int | None, group_size: int
) -> WeightTable | None:
    """Return the least table above the counts that grows by at most E over G records.

    None where the straight line of reveal-or-obscure is at least as accurate in the
    worst case; that is decided from the arguments alone, which are public.
    """
    slope = unit(epsilon, n_categories, n_rows, group_size)

    def build(ratio: Fraction) -> WeightTable | None:
        return _majorant(ratio, slope, group_size, n_rows)

    start = exp_below(epsilon)
    if n_rows is not None:
        start = start * n_rows / (n_rows + group_size)
    return _calibrated(build, start, epsilon, n_categories, n_rows, group_size)


@lru_cache(maxsize=256)
def minimax(
    epsilon: float, n_categories: int, n_rows: int | None, group_size: int
) -> WeightTable | None:
    """Return the table that is nearest to the counts, in the largest difference.

    None where reveal-or-obscure is at least as accurate in the worst case.
    """
    slope = unit(epsilon, n_categories, n_rows, group_size)

    def build(ratio: Fraction) -> WeightTable | None:
        return _nearest(ratio, slope, n_rows)

    start = exp_below(epsilon / group_size)
    return _calibrated(build, start, epsilon, n_categories, n_rows, group_size)


def _majorant(
    ratio: Fraction, slope: int, group_size: int, n_rows: int | None
) -> WeightTable | None:
    """Return ``g(j) = max(j, g(j + G) / ratio)``, rounded up, from the line down."""
    if ratio <= 1:
        return None
    length = -(-group_size // (ratio - 1))
    if length > min(_LONGEST, _LONGEST if n_rows is None else n_rows):
        return None
    top, bottom = ratio.denominator, ratio.numerator
    values = [slope * j for j in range(length + group_size)]
    for j in range(length - 1, -1, -1):
        values[j] = max(values[j], -(-values[j + group_size] * top // bottom))
    return WeightTable(tuple(values[:length]), slope)


def _nearest(ratio: Fraction, slope: int, n_rows: int | None) -> WeightTable | None:
    """Return ``t, t e, t e^2, ...``, rounded down, until it is back at the line.

    ``t = max_i i / (1 + e^i)`` is the least start from which no count is missed by more
    than t: the curve dips below the line by t at the maximising i.
    """
    longest = _LONGEST if n_rows is None else min(_LONGEST, n_rows)
    if 10 * (ratio - 1) * longest < 19:
        # t is below 0.2785 / log(ratio), so at 1.9 / log(ratio) the curve is still
        # below the line: 0.2785 e^1.9 < 1.9
        return None
    start = _start(ratio)
    values, dipped = [int(slope * start)], False
    while not (dipped and values[-1] >= slope * (len(values) - 1)):
        if len(values) > longest:
            return None
        values.append(values[-1] * ratio.numerator // ratio.denominator)
        dipped = dipped or values[-1] < slope * (len(values) - 1)
    values.pop()  # on the line from here
    if values[0] < 1:
        return None
    return WeightTable(tuple(values), slope)


def _start(ratio: Fraction) -> Fraction:
    """Return the largest ``i / (1 + ratio^i)`` over i >= 1; it rises, then falls."""
    power, best, i = ratio, Fraction(0), 1
    while (value := i / (1 + power)) >= best and i <= _LONGEST:
        best, i = value, i + 1
        power = rounded_down(power * ratio, _BITS)
    return best


def _calibrated(
    build: Callable[[Fraction], WeightTable | None],
    start: Fraction,
    epsilon: float,
    n_categories: int,
    n_rows: int | None,
    group_size: int,
) -> WeightTable | None:
    """Return the best table whose largest ratio is at most E; None if none is.

    The ratio a table is built with and its largest ratio of probabilities differ by a
    factor 1 + O(1/n) that hardly moves, so dividing by it nearly settles it.
    """
    most = exp_below(epsilon)
    line = reveal_or_obscure(epsilon, n_categories, n_rows, group_size)
    if n_categories == 1 or (n_rows is not None and n_rows * (most - 1) <= group_size):
        return None
    best, low, high = None, Fraction(0), Fraction(0)
    ratio = rounded_down(start, _BITS)
    for n_tried in range(_ROUNDS):
        table = build(ratio)
        if table is None or not _has_normaliser(table, n_categories, n_rows):
            break
        found = worst_ratio(table, n_categories, n_rows, group_size)
        if found <= most:
            best, low = table, ratio
            if n_rows is None or found * _NEAR >= most:
                break
        else:
            high = ratio
        ratio *= _root(most / found, group_size)
        if low and high and (n_tried >= _FIRST or not low < ratio < high):
            # where the length of the head changes, the largest ratio jumps
            if high <= low * _NEAR:
                break
            ratio = (low + high) / 2
        elif not low and n_tried >= _FIRST:
            ratio *= _root(most / found, group_size)
        ratio = rounded_down(ratio, _BITS)
    if best is None or not _beats(best, line, n_categories, n_rows):
        return None
    return best


def _root(x: Fraction, degree: int) -> Fraction:
    """Return a root of about ``degree``; whatever it is, the result is checked."""
    return x if degree == 1 else Fraction(float(x) ** (1 / degree))


def _has_normaliser(table: WeightTable, n_categories: int, n_rows: int | None) -> bool:
    return n_rows is None or n_rows * table.slope > n_categories * table.depth


def _beats(
    table: WeightTable, line: WeightTable, n_categories: int, n_rows: int | None
) -> bool:
    if n_rows is None:  # at any number of rows, as the heights decide
        return True
    return accuracy(table, n_categories, n_rows) < accuracy(line, n_categories, n_rows)


def accuracy(table: WeightTable, n_categories: int, n_rows: int) -> float:
    """Bound the total variation distance of one draw from the data, on any data."""
    k, n = n_categories, n_rows
    line = n * table.slope
    if k == 1:
        return 0.0
    if not table.head:
        obscured = table.intercept
        return float(Fraction((k - 1) * obscured, line + k * obscured))
    if table.depth == 0:  # convex: the normaliser is largest if all records are equal
        total = (k - 1) * table.at(0) + table.at(n)
        return float(Fraction(total - line, total))
    missed = max(table.height, table.depth)
    if n >= k * len(table.head):  # then some symbol is on the line
        return float(Fraction((k - 1) * missed, line + (k - 1) * missed))
    return min(1.0, float(Fraction(k * missed, line)))
