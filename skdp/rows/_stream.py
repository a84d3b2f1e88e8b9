"""Blocks of a re-iterable of ``(X, y)`` chunks: files, queries, anything sequential."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from skdp._typing import FloatArray, MatrixLike
from skdp.rows._encoder import Encoder

__all__ = ["StreamBlocks"]


class StreamBlocks:
    """Chunks as the user yields them, cut into blocks and checked on the way.

    Shapes are checked in every pass. Whether values are finite is checked in the first
    complete pass, so no value is looked at before the rows are paid for.

    Parameters
    ----------
    chunks : re-iterable of (X, y)
    open_chunk : callable
        Turns the ``X`` and ``y`` of a chunk into blocks.
    labels : Labels, Targets or Classes, optional
        What encodes the labels of the chunks.
    """

    def __init__(
        self,
        chunks: Iterable[Any],
        open_chunk: Callable[[MatrixLike, MatrixLike], Any],
        labels: Encoder | None = None,
    ) -> None:
        self.labels = labels
        self._chunks, self._open_chunk = chunks, open_chunk
        self._checked = False
        first = next(iter(chunks), None)
        if first is None:
            raise ValueError(
                "X yields no chunk, so its number of columns is not known. Allowed: at "
                "least one (X, y) chunk. Check that the source is not used up."
            )
        self._n_features = int(self._open(first).n_features)

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return self._n_features

    def __iter__(self) -> Iterator[tuple[MatrixLike, FloatArray]]:
        for chunk in self._chunks:
            blocks = self._open(chunk)
            if blocks.n_features != self._n_features:
                raise ValueError(
                    "a chunk of X has another number of columns than the first one. "
                    f"Allowed: {self._n_features} columns in every chunk. Check the "
                    "source of the chunks."
                )
            for X, y in blocks:
                if not self._checked:
                    _check_finite(X)
                yield X, y
        self._checked = True

    def part(self, fraction: float, at_least: int) -> None:
        """Return None: a part of a stream costs as much as the whole."""
        return

    def _open(self, chunk: Any) -> Any:
        if not isinstance(chunk, tuple | list) or len(chunk) != 2:
            raise TypeError(
                f"a chunk of X is not a pair, got {type(chunk).__name__}. Allowed: "
                "tuples (X, y). Yield the rows and their labels together."
            )
        X, y = chunk
        if not (hasattr(X, "iloc") or sp.issparse(X)):
            X = np.asarray(X)
        return self._open_chunk(X, y)


def _check_finite(X: MatrixLike) -> None:
    """Raise, without a word on where or what, if a value is not finite."""
    values = X if isinstance(X, np.ndarray) else X.data
    if not np.isfinite(values).all():
        raise ValueError(
            "a chunk contains NaN or infinity. Allowed: finite numbers. Clean the rows "
            "before they enter; this error itself tells something about them."
        )
