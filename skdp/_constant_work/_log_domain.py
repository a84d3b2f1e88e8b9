"""Acceptance tests and exponentials that never underflow.

``exp`` of an argument below about -708 makes a denormal number or zero, and processors
take up to eighty times as long over denormals as over other numbers. Mathematical
libraries treat arguments beyond 512 in size apart, which already shows on the clock.
"""

import numpy as np

from skdp._typing import BoolArray, FloatArray

__all__ = ["LOWEST", "accepts", "bounded", "safe_exp"]

#: exp(-500) is 1e-217: no sum of probabilities resolves it, and no special case of exp
#: is reached.
LOWEST = -500.0


def bounded(x: FloatArray, low: float, high: float) -> FloatArray:
    """Clamp to [low, high] in double precision; nan becomes ``low``.

    Minimum and maximum do not branch.
    """
    out: FloatArray = np.fmin(np.fmax(np.asarray(x, dtype=np.float64), low), high)
    return out


def safe_exp(x: FloatArray) -> FloatArray:
    """Return exp(x) with x clamped to [-500, 500]; nan counts as -500."""
    out: FloatArray = np.exp(bounded(x, LOWEST, -LOWEST))
    return out


def accepts(log_acceptance: FloatArray, wait: FloatArray) -> BoolArray:
    """Accept with probability exp(log_acceptance), in the log domain.

    ``wait`` holds standard exponential numbers. A log acceptance above 0, which only
    rounding or a wrong envelope can cause, counts as 0; nan counts as -500.
    """
    return wait >= -bounded(log_acceptance, LOWEST, 0.0)
