"""One check of public intervals."""

from collections.abc import Sequence

import numpy as np

from skdp.accounting._public import public_number

__all__ = ["check_interval"]


def check_interval(
    interval: Sequence[float], *, name: str = "interval"
) -> tuple[float, float]:
    """Return the finite ends of an interval of positive length."""
    allowed = "two finite numbers, the first below the second"
    remedy = "Pass public ends, for example (0.0, 1.0)."
    if isinstance(interval, np.ndarray):
        public_number(name, interval)  # refuses, as it does the ends
    if len(tuple(interval)) != 2:
        raise ValueError(
            f"{name} is not a pair, got {interval!r}. Allowed: {allowed}. {remedy}"
        )
    low, high = (public_number(name, end) for end in interval)
    if not -1e100 <= low < high <= 1e100:
        raise ValueError(
            f"{name} is empty or infinite, got {(low, high)!r}. Allowed: {allowed}. "
            f"{remedy}"
        )
    return low, high
