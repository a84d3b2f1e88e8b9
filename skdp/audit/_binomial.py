"""Exact (Clopper-Pearson) confidence bounds on a probability."""

import numpy as np
from scipy.special import betaincinv

from skdp._typing import FloatArray, IntArray

__all__ = ["probability_above", "probability_below"]


def probability_above(successes: IntArray, n: int, error: float) -> FloatArray:
    """Return lower bounds on the probability; each fails with probability ``error``."""
    some = np.maximum(successes, 1)
    bound = np.asarray(betaincinv(some, n - some + 1, error), dtype=np.float64)
    return np.where(successes > 0, bound, 0.0)


def probability_below(successes: IntArray, n: int, error: float) -> FloatArray:
    """Return upper bounds on the probability; each fails with probability ``error``."""
    return 1.0 - probability_above(n - successes, n, error)
