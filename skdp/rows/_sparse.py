"""Blocks of a sparse matrix: successive rows in CSR form."""

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from skdp._typing import FloatArray, MatrixLike
from skdp.rows._array import BLOCK_ELEMENTS, Runs, part_starts
from skdp.rows._classes import Classes
from skdp.rows._encoder import Encoder

__all__ = ["SparseBlocks"]

#: Rows of a block when rows are nearly empty.
_MAX_ROWS = 2**14


class SparseBlocks:
    """Rows of a sparse matrix; other formats than CSR are converted once.

    Parameters
    ----------
    X : sparse array or matrix of shape (n, d)
    y : ndarray of shape (n,)
    block_rows : int, optional
    starts : range, optional
        First rows of the blocks; all of them by default.
    labels : Labels, Targets or Classes, optional
        What encoded ``y``.

    Attributes
    ----------
    runs : Runs
        Of a part, which rows of the table it holds.
    """

    def __init__(
        self,
        X: MatrixLike,
        y: np.ndarray,
        block_rows: int | None = None,
        starts: range | None = None,
        *,
        labels: Encoder | None = None,
    ) -> None:
        self.labels = labels
        self._X = sp.csr_array(X)
        # duplicates would make the norm of a row wrong; a user's array is not changed
        if not self._X.has_canonical_format:
            self._X = self._X.copy()
            self._X.sum_duplicates()
        self._y = y
        n = self._X.shape[0]
        filled = max(1, self._X.nnz // max(1, n))
        if isinstance(labels, Classes):
            filled = max(filled, labels.classes.size)
        self._block_rows = block_rows or min(_MAX_ROWS, 1 + BLOCK_ELEMENTS // filled)
        self._starts = starts or range(0, n, self._block_rows)
        self.runs = Runs(self._block_rows, self._starts)

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return int(self._X.shape[1])

    def __iter__(self) -> Iterator[tuple[MatrixLike, FloatArray]]:
        for start in self._starts:
            rows = slice(start, start + self._block_rows)
            block = _rows_of(self._X, start, start + self._block_rows)
            yield block, self._y[rows].astype(np.float64, copy=False)

    def part(
        self, fraction: float, at_least: int
    ) -> "tuple[SparseBlocks, float] | None":
        """Return short runs of rows spread evenly over the table, and their share."""
        n = self._X.shape[0]
        run, starts = part_starts(n, fraction, at_least, self._block_rows)
        if not starts:
            return None
        return SparseBlocks(self._X, self._y, run, starts), run * len(starts) / n


def _rows_of(X: MatrixLike, start: int, stop: int) -> MatrixLike:
    """Return successive rows as a CSR array that shares the values."""
    indptr = X.indptr[start : stop + 1]
    held = slice(indptr[0], indptr[-1])
    parts = (X.data[held], X.indices[held], indptr - indptr[0])
    return sp.csr_array(parts, shape=(indptr.size - 1, X.shape[1]), copy=False)
