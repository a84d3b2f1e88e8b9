"""A table of a public number of rows, whatever the number of private ones."""

import numpy as np
import scipy.sparse as sp

from skdp.losses import LogisticLoss, Loss
from skdp.rows import L2Ball, PrivateRows
from skdp.rows._array import ArrayBlocks, default_block_rows
from skdp.solvers import check_targets

__all__ = ["padded_rows"]

#: Entries beyond are cut to it: squared norms of any width are floats.
_LARGEST = 1e140


def padded_rows(data: PrivateRows, n_rows: int, loss: Loss) -> PrivateRows:
    """Return the clipped rows, constant included, followed by rows of zeros.

    A row of zeros has the same loss at every coefficient vector, so it does not change
    a posterior. Rows of weight zero become rows of zeros, too.

    Parameters
    ----------
    data : PrivateRows
        Dense blocks.
    n_rows : int
        Public bound on the number of rows.
    loss : Loss
        Tells what label 0 means.

    Raises
    ------
    ValueError
        If there are more rows, a block is sparse, or targets go beyond the loss's.
    """
    check_targets(data, loss)
    raw = np.zeros((n_rows, data.blocks.n_features))
    y, present = np.ones(n_rows), np.zeros(n_rows)
    filled = 0
    for x, labels in data.blocks:
        if sp.issparse(x):
            raise ValueError(
                "X must be dense, got sparse rows: time spent on them tells how many "
                "entries they have. Allowed: dense rows. Convert X with X.toarray(), "
                "or do without constant time."
            )
        end = filled + len(labels)
        if end > n_rows:
            raise ValueError(
                f"X has more rows than its public bound, got a bound of {n_rows}. "
                "Allowed: at most that many, in every data set. Raise the bound, from "
                "public knowledge."
            )
        # longer rows would take another way through the clipping, and more time
        raw[filled:end] = x  # doubles first: the bound is no single-precision number
        np.clip(raw[filled:end], -_LARGEST, _LARGEST, out=raw[filled:end])
        y[filled:end], present[filled:end] = labels, 1.0
        filled = end
    if isinstance(loss, LogisticLoss):
        present *= np.abs(y)
        y = np.where(y == 0.0, 1.0, y)
    X = np.empty((n_rows, data.n_coefficients))
    step = default_block_rows(data.blocks.n_features)
    for start in range(0, n_rows, step):
        part = slice(start, start + step)
        X[part] = data.ball.project(raw[part]) * present[part, None]
    return PrivateRows(ArrayBlocks(X, y), L2Ball(data.ball.radius))
