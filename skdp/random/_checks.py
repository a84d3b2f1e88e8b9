"""Check of the scale a sampler is called with."""

import math
import numbers
from fractions import Fraction

import numpy as np

__all__ = ["check_scale"]


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
