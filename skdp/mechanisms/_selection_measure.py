"""Base measures of candidates as integers, so that drawing by them is exact."""

import math
import numbers
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = ["integer_measure"]

#: Exact draws need a total below this.
_LIMIT = 2**63


def integer_measure(measure: Any) -> tuple[int, ...]:
    """Return integers in the same proportions, refusing what is no measure."""
    remedy = "Pass one integer or fraction of at least 0 for each candidate."
    parts = [_exact(m) for m in np.asarray(measure, dtype=object).ravel().tolist()]
    if np.ndim(measure) != 1 or any(m is None or m < 0 for m in parts):
        raise ValueError(
            f"base_measure is not a measure, got {measure!r}. Allowed: a vector of "
            f"finite numbers of at least 0. {remedy}"
        )
    exact = [m for m in parts if m is not None]
    scale = math.lcm(*(m.denominator for m in exact))
    integers = tuple(int(m * scale) for m in exact)
    if not 0 < sum(integers) < _LIMIT:
        raise ValueError(
            "base_measure has no candidate of positive measure, or a total that is too "
            "large over a common denominator. Allowed: a total from 1 to 2**63 - 1 in "
            f"integers. {remedy}"
        )
    return integers


def _exact(value: object) -> Fraction | None:
    """Return a finite number as the fraction it is, None for anything else."""
    if isinstance(value, bool | np.bool_):
        return None
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, float | np.floating) and math.isfinite(value):
        return Fraction(*value.as_integer_ratio())
    return None
