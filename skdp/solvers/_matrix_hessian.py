"""The Hessian of a sum of losses of several margins, formed from packed halves.

Notation
--------
K, d   number of margins of a row, number of coefficients of each
W      second derivative of one row's loss in its margins, shape (K, K)
P      entries of W above the diagonal
D      entries of ``x x'`` on and above the diagonal

The sum of the Kronecker products of W and ``x x'`` is a product of matrices: the halves
of W, shape (P, n), times those of ``x x'``, shape (n, D). A quarter of the entries is
formed. The rows of W sum to zero, as losses depend on differences of margins, which
gives what is on its diagonal.
"""

from collections.abc import Iterator

import numpy as np

from skdp._typing import FloatArray, MatrixLike

__all__ = ["HessianSum"]

#: Rows multiplied together, and columns of ``x x'``: both halves stay in cache.
_ROWS, _COLUMNS = 1024, 256
#: Elements of all W of these rows (4 MB).
_WEIGHTS = 2**19


class HessianSum:
    """Adds Hessians of blocks of rows.

    Parameters
    ----------
    n_margins, n_coefficients : int
        K and d.
    precision : type
        Of the products, ``np.float64`` or ``np.float32``; sums of blocks are float64.
    """

    def __init__(
        self, n_margins: int, n_coefficients: int, precision: type = np.float64
    ) -> None:
        self._K, self._d = n_margins, n_coefficients
        self._upper = np.triu_indices(n_margins, 1)
        self._packed = np.zeros(
            (len(self._upper[0]), n_coefficients * (n_coefficients + 1) // 2)
        )
        self._rows = max(1, min(_ROWS, _WEIGHTS // n_margins**2))
        self._outer: FloatArray = np.empty(
            (_COLUMNS + n_coefficients) * self._rows, precision
        )

    def pieces(self, n_rows: int) -> Iterator[slice]:
        """Yield slices of rows to be added together."""
        for start in range(0, n_rows, self._rows):
            yield slice(start, start + self._rows)

    def add(
        self, x: MatrixLike, f: FloatArray, weights: FloatArray, constant: float
    ) -> None:
        """Add the rows ``(f x, constant)`` of one piece with their W."""
        halves = weights.transpose(1, 2, 0)[self._upper]
        self._add(self._fitted(x, f, constant), halves)

    def _fitted(self, x: MatrixLike, f: FloatArray, constant: float) -> FloatArray:
        """Return the clipped rows with their constant, each column in one piece."""
        dense = x if isinstance(x, np.ndarray) else x.toarray()
        out = np.empty((self._d, len(f)), self._outer.dtype)
        d = dense.shape[1]
        np.multiply(dense.T, f, out=out[:d], casting="same_kind")
        out[d:] = constant
        return out

    def _add(self, columns: FloatArray, halves: FloatArray) -> None:
        """Add rows, of which the products of columns are formed a few at a time."""
        halves = halves.astype(columns.dtype, copy=False)
        outer = self._outer[: (_COLUMNS + self._d) * columns.shape[1]]
        outer = outer.reshape(-1, columns.shape[1])
        done = width = 0
        for j, column in enumerate(columns):
            more = width + self._d - j
            np.multiply(column, columns[j:], out=outer[width:more])
            width = more
            if width >= _COLUMNS or j == self._d - 1:
                self._packed[:, done : done + width] += halves @ outer[:width].T
                done, width = done + width, 0

    def total(self) -> FloatArray:
        """Return the sum, shape (Kd, Kd)."""
        K, d = self._K, self._d
        i, j = np.triu_indices(d)
        columns = np.empty((d, d), dtype=np.int64)
        columns[i, j] = columns[j, i] = np.arange(len(i))
        full = np.zeros((K, K, d, d))
        k, m = self._upper
        full[k, m] = full[m, k] = self._packed[:, columns]
        diagonal = np.arange(K)
        full[diagonal, diagonal] = -full.sum(axis=1)
        return full.transpose(0, 2, 1, 3).reshape(K * d, K * d)
