"""Passes in single precision over a table with several margins a row.

What they return leads towards a minimum and certifies nothing. Only sums over blocks
are formed in double precision.
"""

from collections.abc import Iterator
from typing import cast

import numpy as np
import scipy.sparse as sp

from skdp._typing import FloatArray, MatrixLike
from skdp.losses import MatrixLoss
from skdp.solvers._matrix_passes import centred, matrix_margins, pull_back
from skdp.solvers._sums import PairwiseSum
from skdp.solvers._table import Table

__all__ = ["rough_gradient", "rough_product"]

#: Rows longer than the unit by less than the inverse of this are safe in single
#: precision before they are clipped.
_FAR = 2.0**-50


def rough_gradient(table: Table, loss: MatrixLoss, theta: FloatArray) -> FloatArray:
    """Return the gradient of the sum of losses, shape (K, d), in the table's units."""
    total = PairwiseSum(np.zeros(theta.shape))
    theta = _single(centred(theta))
    for z, y in _clipped(table):
        slopes = loss.gradient(y, matrix_margins(z, None, theta, table.constant))
        total.add(pull_back(z, None, slopes, table.constant))
    return total.total()


def rough_product(
    table: Table, loss: MatrixLoss, theta: FloatArray, v: FloatArray
) -> FloatArray:
    """Return the Hessian at ``theta`` times ``v``, both of shape (K, d)."""
    total = PairwiseSum(np.zeros(theta.shape))
    K = len(theta)
    both = _single(np.concatenate([centred(theta), v]))
    for z, y in _clipped(table):
        t = matrix_margins(z, None, both, table.constant)
        bent = loss.hessian_product(y, t[:, :K], t[:, K:])
        total.add(pull_back(z, None, bent, table.constant))
    return total.total()


def _clipped(table: Table) -> Iterator[tuple[MatrixLike, FloatArray]]:
    """Yield clipped rows, overwritten by the next ones, and their labels."""
    buffer = _single(np.empty(0))
    for x, y, f in table:
        if not isinstance(x, np.ndarray):
            data = _single(x.data * np.repeat(f, np.diff(x.indptr)))
            yield sp.csr_array((data, x.indices, x.indptr), shape=x.shape), y
            continue
        if buffer.size < x.size:
            buffer = _single(np.empty(x.size))
        z = buffer[: x.size].reshape(x.shape)
        _clip(x, f, table.unit, z)
        yield z, y


def _clip(x: FloatArray, f: FloatArray, unit: float, out: FloatArray) -> None:
    """Write ``f x``; a change of unit by a power of two changes no bit.

    Rounding first is faster, if nothing overflows.
    """
    if not _FAR < unit < 1.0 / _FAR:
        x, f, unit = x / unit, f * unit, 1.0
    if f.size and f.min() * unit < _FAR:
        np.multiply(x, f[:, None], out=out, casting="same_kind")
    else:
        out[...] = x
        out *= _single(f)[:, None]


def _single(numbers: FloatArray) -> FloatArray:
    """Return numbers in single precision, of which the type of arrays says nothing."""
    return cast(FloatArray, numbers.astype(np.float32))
