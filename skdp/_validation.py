"""Checks of public parameters: one wording for every error.

A message has four beats: what is wrong, what came, what is allowed, what to do. Only
parameters are checked here, never data, so a message may quote the value it refuses.
"""

import math
import numbers
import warnings
from collections.abc import Sequence

import numpy as np

from skdp.exceptions import WeakGuaranteeWarning

__all__ = [
    "MAX_EPSILON",
    "MIN_EPSILON",
    "check_choice",
    "check_count",
    "check_delta",
    "check_epsilon",
    "check_positive",
    "check_real",
]

#: Smallest and largest epsilon (nats) an estimator accepts for one release.
MIN_EPSILON, MAX_EPSILON = 1e-9, 1e3
#: Smallest positive delta: less cannot be computed with.
MIN_DELTA = 1e-300
#: Above this delta the fixed-text :class:`WeakGuaranteeWarning` is issued.
LARGE_DELTA = 1e-3


def check_real(name: str, value: object, *, allowed: str, remedy: str) -> float:
    """Return ``value`` as a float, refusing what is not one real number.

    NumPy scalars and zero-dimensional arrays are numbers; booleans, strings, None and
    arrays of one element are not.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise TypeError(
            f"{name} must be a real number, got {value!r} of type "
            f"{type(value).__name__}. Allowed: {allowed}. {remedy}"
        )
    number = float(value)
    if math.isnan(number):
        raise ValueError(
            f"{name} must not be nan, got {value!r}. Allowed: {allowed}. {remedy}"
        )
    return number


def check_count(
    name: str,
    value: object,
    *,
    minimum: int,
    remedy: str = "Pass how many numbers the vector holds.",
) -> int:
    """Return ``value`` as an int that is at least ``minimum``."""
    allowed = f"an integer of at least {minimum}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise TypeError(
            f"{name} must be an integer, got {value!r} of type "
            f"{type(value).__name__}. Allowed: {allowed}. {remedy}"
        )
    if value < minimum:
        raise ValueError(
            f"{name} is out of range, got {value!r}. Allowed: {allowed}. {remedy}"
        )
    return int(value)


def check_epsilon(value: object, *, name: str = "epsilon") -> float:
    """Return the privacy loss bound in nats, within [1e-9, 1e3]."""
    allowed = f"a number from {MIN_EPSILON:g} to {MAX_EPSILON:g}"
    remedy = "Choose how much privacy loss to allow, for example epsilon=1.0."
    number = check_real(name, value, allowed=allowed, remedy=remedy)
    if not MIN_EPSILON <= number <= MAX_EPSILON:
        raise ValueError(
            f"{name} is out of range, got {value!r}. Allowed: {allowed}. {remedy}"
        )
    return number


def check_delta(value: object, *, name: str = "delta") -> float:
    """Return 0 or delta from 1e-300 to 1; warn, in a fixed text, above 1e-3."""
    allowed = f"0, or from {MIN_DELTA:g} to below 1"
    remedy = (
        "Use delta=0 for pure differential privacy, or a delta well below one over "
        "the number of people, for example delta=1e-6."
    )
    number = check_real(name, value, allowed=allowed, remedy=remedy)
    if number != 0.0 and not MIN_DELTA <= number < 1.0:
        raise ValueError(
            f"{name} is out of range, got {value!r}. Allowed: {allowed}. {remedy}"
        )
    if number > LARGE_DELTA:
        warnings.warn(
            f"{name} > {LARGE_DELTA:g}: a mechanism with this delta may publish the "
            "whole record of one person in a thousand. Choose a delta well below one "
            "over the number of people.",
            WeakGuaranteeWarning,
            stacklevel=3,
        )
    return number


def check_positive(
    name: str,
    value: object,
    *,
    remedy: str,
    minimum: float = 1e-100,
    maximum: float = 1e100,
) -> float:
    """Return a positive finite number within a range in which nothing overflows."""
    allowed = f"a number from {minimum:g} to {maximum:g}"
    number = check_real(name, value, allowed=allowed, remedy=remedy)
    if not minimum <= number <= maximum:
        raise ValueError(
            f"{name} is out of range, got {value!r}. Allowed: {allowed}. {remedy}"
        )
    return number


def check_choice(
    name: str, value: object, choices: Sequence[object], *, remedy: str
) -> None:
    """Raise unless ``value`` is one of ``choices``."""
    if not any(value is choice or value == choice for choice in choices):
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(
            f"{name} is not one of the choices, got {value!r}. Allowed: {listed}. "
            f"{remedy}"
        )
