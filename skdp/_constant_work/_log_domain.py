"""Acceptance tests and exponentials that never underflow.

``exp`` of an argument below about -708 makes a denormal number or zero, and processors
take up to eighty times as long over denormals as over other numbers.
"""

import numpy as np

from skdp._typing import BoolArray, FloatArray

__all__ = ["LOWEST", "accepts", "bounded", "safe_exp"]

#: exp(-700) is 1e-304: a normal number that no sum of probabilities resolves.
LOWEST = -700.0


def bounded(x: FloatArray, low: float, high: float) -> FloatArray:
    """Clamp to [low, high]; nan becomes ``low``. Minimum and maximum do not branch."""
    out: FloatArray = np.fmin(np.fmax(x, low), high)
    return out


def safe_exp(x: FloatArray) -> FloatArray:
    """Return exp(x) with x clamped to [-700, 700], so that no denormal occurs."""
    out: FloatArray = np.exp(bounded(x, LOWEST, -LOWEST))
    return out


def accepts(log_acceptance: FloatArray, wait: FloatArray) -> BoolArray:
    """Accept with probability exp(log_acceptance), in the log domain.

    ``wait`` holds standard exponential numbers. A log acceptance above 0, which only
    rounding or a wrong envelope can cause, counts as 0; nan counts as -700.
    """
    return wait >= -bounded(log_acceptance, LOWEST, 0.0)
