r"""Norms of clipped rows in a metric, a block at a time.

Notation
--------
A      public matrix of the metric, in the units of a table
Q L    its factors, Q orthogonal, L lower triangular: :math:`|A x| = |L x|`, at half
       the cost
x~     clipped row followed by the constant of the intercept
"""

import numpy as np
from scipy.linalg.blas import dtrmm

from skdp._typing import FloatArray, MatrixLike

__all__ = ["RowLengths"]


class RowLengths:
    """The norms of ``A x~`` for the rows of a block.

    Parameters
    ----------
    transform : ndarray of shape (d [+ 1], d [+ 1])
        A.
    constant : float
        Last coordinate of every row; 0 for rows without one.
    """

    def __init__(self, transform: FloatArray, constant: float) -> None:
        # a factor of A, not of A'A: rounding stays relative to A. That of the columns
        # in reverse is upper triangular
        upper = np.asarray(np.linalg.qr(np.fliplr(transform), mode="r"))
        self._factor = np.asfortranarray(np.flip(upper))
        self._constant = constant
        self._buffer = np.empty(0)

    def __call__(self, x: MatrixLike, factors: FloatArray) -> FloatArray:
        """Return the norms of a block of raw rows and their clip factors, (n,)."""
        if isinstance(x, np.ndarray):
            u = self._dense(x, factors)
        else:
            u = self._sparse(x, factors)
        out: FloatArray = np.einsum("ij,ij->i", u, u)
        return np.sqrt(out, out=out)

    def _dense(self, x: FloatArray, factors: FloatArray) -> FloatArray:
        """Return ``L x~`` of dense rows, in a buffer that the next block overwrites."""
        (n, d), order = x.shape, len(self._factor)
        if self._buffer.size < n * order:
            self._buffer = np.empty(n * order)
        by_columns = x.strides[0] < x.strides[1]
        shape = (order, n) if by_columns else (n, order)
        rows = self._buffer[: n * order].reshape(shape)
        # in the memory order of x, rows being those of the table
        lines = rows.T if by_columns else rows
        np.multiply(x, factors[:, None], out=lines[:, :d])
        lines[:, d:] = self._constant
        if n:
            dtrmm(
                1.0,
                self._factor,
                rows.T,
                side=by_columns,
                lower=True,
                trans_a=by_columns,
                overwrite_b=True,
            )
        return lines

    def _sparse(self, x: MatrixLike, factors: FloatArray) -> FloatArray:
        """Return ``L x~`` of sparse rows."""
        d = x.shape[1]
        u: FloatArray = np.asarray(x @ self._factor[:, :d].T)
        u *= factors[:, None]
        if self._constant:
            u += self._constant * self._factor[:, d]
        return u
