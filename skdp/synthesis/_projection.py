"""From noisy counts to probabilities: post-processing, which costs no privacy."""

import numpy as np

from skdp._typing import FloatArray, IntArray

__all__ = ["as_weights", "nearest_distribution"]

#: Probabilities are multiples of one over this when draws are made from them.
_PLACES = 2.0**50


def nearest_distribution(noisy: FloatArray, total: float | None) -> FloatArray:
    """Return the probabilities nearest to noisy counts in Euclidean distance.

    Parameters
    ----------
    noisy : ndarray of shape (k,)
        Noisy counts.
    total : float or None
        The public number of records; None takes the sum of the noisy counts, and 1 if
        that is less.

    Returns
    -------
    probabilities : ndarray of shape (k,)
        At least 0, with sum 1.
    """
    size = max(1.0, float(noisy.sum())) if total is None else total
    shares = np.asarray(noisy, dtype=np.float64) / size
    # the nearest point is max(0, share - t) with the one t that makes the sum 1
    ordered = np.sort(shares)[::-1]
    excess = (np.cumsum(ordered) - 1.0) / np.arange(1.0, shares.size + 1.0)
    t = excess[np.flatnonzero(ordered > excess)[-1]]
    positive = np.maximum(shares - t, 0.0)
    out: FloatArray = positive / positive.sum()
    return out


def as_weights(probabilities: FloatArray) -> IntArray:
    """Return integer weights for draws from public probabilities."""
    weights: IntArray = np.rint(probabilities * _PLACES).astype(np.int64)
    return weights
