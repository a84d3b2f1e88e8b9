"""Checks of the public numbers a sampler is called with."""

import math
import numbers
from fractions import Fraction

import numpy as np

__all__ = ["check_count", "check_scale"]


def check_count(name: str, value: object, *, minimum: int) -> int:
    """Return ``value`` as an int that is at least ``minimum``."""
    allowed = f"an integer of at least {minimum}"
    remedy = "Pass how many numbers the vector holds."
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


def check_scale(scale: object) -> Fraction:
    """Return ``scale`` as the exact positive rational it is."""
    allowed = "a positive finite int, Fraction or float"
    remedy = "Pass the scale of the noise in units of the lattice, for example 1000."
    exact = numbers.Rational | float | np.floating
    if isinstance(scale, bool | np.bool_) or not isinstance(scale, exact):
        raise TypeError(
            f"scale must be an exact number, got {scale!r} of type "
            f"{type(scale).__name__}. Allowed: {allowed}. {remedy}"
        )
    if not isinstance(scale, numbers.Rational) and not math.isfinite(scale):
        raise ValueError(
            f"scale must be finite, got {scale!r}. Allowed: {allowed}. {remedy}"
        )
    if scale <= 0:
        raise ValueError(
            f"scale must be positive, got {scale!r}. Allowed: {allowed}. {remedy}"
        )
    if isinstance(scale, numbers.Rational):
        return Fraction(int(scale.numerator), int(scale.denominator))
    return Fraction(*scale.as_integer_ratio())
