"""Blocks of a pandas DataFrame, converted to float64 one at a time."""

from collections.abc import Iterator

import numpy as np

from skdp._typing import FloatArray, MatrixLike
from skdp.rows._array import Runs, default_block_rows, part_starts
from skdp.rows._encoder import Encoder

__all__ = ["FrameBlocks"]

#: A conversion costs a few calls for each column, whatever the rows: make them many.
_BLOCK_FACTOR = 4


class FrameBlocks:
    """Rows of a DataFrame of numbers or booleans, nullable or not.

    pandas is never imported: a frame is whatever answers ``iloc`` and ``to_numpy``.

    Parameters
    ----------
    X : DataFrame of shape (n, d)
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
        self._X, self._y = X, y
        rows = block_rows or _BLOCK_FACTOR * default_block_rows(X.shape[1], labels)
        self._block_rows = rows
        self._starts = starts or range(0, X.shape[0], rows)
        self.runs = Runs(self._block_rows, self._starts)

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return int(self._X.shape[1])

    def __iter__(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        for start in self._starts:
            rows = slice(start, start + self._block_rows)
            block = self._X.iloc[rows].to_numpy(dtype=np.float64, na_value=np.nan)
            yield block, self._y[rows].astype(np.float64, copy=False)

    def part(
        self, fraction: float, at_least: int
    ) -> "tuple[FrameBlocks, float] | None":
        """Return short runs of rows spread evenly over the table, and their share."""
        n = self._X.shape[0]
        run, starts = part_starts(n, fraction, at_least, self._block_rows)
        if not starts:
            return None
        return FrameBlocks(self._X, self._y, run, starts), run * len(starts) / n
