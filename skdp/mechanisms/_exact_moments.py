r"""Second moments of private rows without a rounding: sums of products of integers.

Rows are cut to a public grid, which makes every product an integer. A block of them
adds up within 53 bits, so a matrix product in floats is exact whatever its order, and
blocks add up in two words.

Notation (docs/proofs/adassp.md, "The computed sums")
-----------------------------------------------------
k        bits of an entry                                                 -> ``bits``
R        bound on the norm of a row                                     -> ``radius``
"""

from collections.abc import Iterator

import numpy as np

from skdp._typing import FloatArray, IntArray, IntegerArray
from skdp.rows import PrivateRows
from skdp.solvers import Table

__all__ = [
    "MOST_BITS",
    "exact_gram",
    "exact_moments",
    "fixed_point_rows",
    "rounded_once",
]

#: A block of 2^13 products below 2^40 adds up within 2^53.
MOST_BITS, _BLOCK = 20, 8192
#: Keeps a row of up to 2^12 entries within its norm, whatever its rounding.
_INSIDE = 1.0 - 2.0**-40
#: Bits of the lower of the two words of a sum.
_WORD = 40
#: Bits of the higher word of a sum that fits into one of 64 bits.
_SPARE = 22
#: Two integers below this add up in 64 bits.
_ROOM = 2**62


def fixed_point_rows(
    data: PrivateRows, radius: float, bits: int
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield clipped rows over ``radius`` and targets, in units of ``2^-bits``.

    Both are cut towards zero to integers, so no norm grows. Targets beyond [-1, 1]
    count as the nearer end.
    """
    unit = 2.0**bits
    for X, y in data.projected():
        targets = np.trunc(np.clip(y, -1.0, 1.0) * unit)
        for start in range(0, len(X), _BLOCK):
            part = slice(start, start + _BLOCK)
            rows = X[part] * (unit * _INSIDE / radius)
            yield np.trunc(rows, out=rows), targets[part]


def exact_moments(
    data: PrivateRows, radius: float, bits: int
) -> tuple[IntegerArray, IntegerArray]:
    """Return X'X, shape (d, d), and X'y, shape (d,), in units of ``2^(-2 bits)``."""
    d = data.n_coefficients
    sums = _TwoWords((d, d + 1))
    for X, y in fixed_point_rows(data, radius, bits):
        block = np.empty((d, d + 1))
        np.matmul(X.T, X, out=block[:, :d])
        np.matmul(X.T, y, out=block[:, d])
        sums.add(block.astype(np.int64))
    total = sums.total()
    return total[:, :d], total[:, d]


def exact_gram(
    table: Table, radius: float, bits: int, *, labelled: bool
) -> IntegerArray:
    """Return X'X, shape (d, d), in units of ``2^(-2 bits)``, with a table's factors.

    If ``labelled``, of the rows whose label is not 0 alone. Numbers are int64 where all
    of them fit, else Python integers.
    """
    d, n_features = table.n_coefficients, table.n_features
    unit = table.unit * 2.0**bits * _INSIDE / radius
    sums, block, n_rows = _TwoWords((d, d)), np.zeros((d, d)), 0
    buffer = np.empty(0)
    for x, y, f in table:
        factors = f * unit
        if labelled and not y.all():
            factors *= y != 0.0
        for start in range(0, len(y), _BLOCK):
            scales = factors[start : start + _BLOCK]
            part = x[start : start + _BLOCK]
            dense = part if isinstance(part, np.ndarray) else part.toarray()
            if buffer.size < scales.size * d:
                buffer = np.empty(scales.size * d)
            rows = _rows_like(dense, buffer, d)
            np.multiply(dense, scales[:, None], out=rows[:, :n_features])
            if table.constant:
                rows[:, n_features:] = table.constant * unit * (scales > 0.0)[:, None]
            np.trunc(rows, out=rows)
            if n_rows + scales.size > _BLOCK:
                sums.add(block.astype(np.int64))
                block[:], n_rows = 0.0, 0
            block += rows.T @ rows
            n_rows += scales.size
    sums.add(block.astype(np.int64))
    return sums.compact()


def rounded_once(
    integers: IntegerArray, unit: int, steps: IntegerArray, grid: float
) -> FloatArray:
    """Return ``(integers * unit + steps) * grid``, the sum exact and then rounded.

    Parameters
    ----------
    integers : ndarray of shape (m,)
        Python integers, or int64.
    unit : int
        Above 0.
    steps : ndarray of shape (m,) or ()
        The same.
    grid : float
        A power of two.
    """
    most = int(np.abs(integers).max(initial=0)) * unit
    if most < _ROOM and int(np.abs(steps).max(initial=0)) < _ROOM:
        total = integers.astype(np.int64) * unit + steps
    else:
        total = integers.astype(object) * unit + steps.astype(object)
    # a conversion rounds to the nearest float, from either kind of integer
    out: FloatArray = total.astype(np.float64) * grid
    return out


def _rows_like(x: FloatArray, buffer: FloatArray, d: int) -> FloatArray:
    """Return the start of a buffer as rows of length d in the memory order of ``x``."""
    n = len(x)
    if x.strides[0] < x.strides[1]:
        return buffer[: n * d].reshape(d, n).T
    return buffer[: n * d].reshape(n, d)


class _TwoWords:
    """A sum of arrays of 54-bit integers that does not overflow."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._low: IntArray = np.zeros(shape, dtype=np.int64)
        self._high: IntArray = np.zeros(shape, dtype=np.int64)

    def add(self, block: IntArray) -> None:
        self._low += block
        self._high += self._low >> _WORD
        self._low &= (1 << _WORD) - 1

    def compact(self) -> IntegerArray:
        """Return the sum as int64 where all of it fits, else as Python integers."""
        if np.abs(self._high).max(initial=0) < 1 << _SPARE:
            return (self._high << _WORD) + self._low
        return self.total()

    def total(self) -> IntegerArray:
        """Return the sum as Python integers."""
        out: IntegerArray = self._high.astype(object) * (1 << _WORD) + self._low
        return out
