"""Certified bounds of exp and log, for weights that are integers.

No floating-point function decides about a weight: ``exp(epsilon)`` enters as a rational
number that is never above it, and the epsilon of a table of integers leaves as a float
that is never below the logarithm of the largest ratio.
"""

import math
from fractions import Fraction
from functools import lru_cache

__all__ = ["exp_below", "log_above", "rounded_down", "rounded_up"]

#: Significant bits of a bound.
_BITS = 80
#: Beyond this epsilon no table of 64-bit weights can follow; a smaller one is private.
_LARGEST = 64
#: Relative slack that covers the rounding of one logarithm and its argument.
_UP = 1.0 + 2.0**-48
#: Ratios above this do not fit a float.
_WIDE = 1 << 1000


@lru_cache(maxsize=1024)
def exp_below(epsilon: float) -> Fraction:
    """Return a rational at most ``exp(epsilon)``, whose excess over 1 has 80 bits.

    Parameters
    ----------
    epsilon : float
        Above 0; taken as the dyadic rational it is, and as 64 if larger.
    """
    x = min(Fraction(epsilon), Fraction(_LARGEST))
    halvings = max(0, math.frexp(float(x))[1])
    small = x / (1 << halvings)  # in (0, 1]
    excess, term, n = Fraction(0), Fraction(1), 0
    # the terms are positive: stopping, and rounding each of them down, stays below
    while n < 2 or term * (1 << (_BITS + 20)) > excess:
        n += 1
        term = rounded_down(term * small / n, _BITS + 40)
        excess += term
    power = 1 + excess
    for _ in range(halvings):
        power = rounded_down(power * power, _BITS + 40)
    return 1 + rounded_down(power - 1, _BITS)


def log_above(ratio: Fraction) -> float:
    """Return a float at least ``log(ratio)`` for a ratio of at least 1."""
    if ratio > _WIDE:
        return (math.log(ratio.numerator) - math.log(ratio.denominator)) * _UP + 1e-9
    return math.log1p(float(ratio - 1)) * _UP


def rounded_down(x: Fraction, bits: int) -> Fraction:
    """Return the largest number of ``bits`` significant bits that is at most ``x``."""
    shift = bits - _magnitude(x)
    return _scaled(
        (x.numerator << max(shift, 0)) // (x.denominator << max(-shift, 0)), shift
    )


def rounded_up(x: Fraction, bits: int) -> Fraction:
    """Return the least number of ``bits`` significant bits that is at least ``x``."""
    shift = bits - _magnitude(x)
    return _scaled(
        -((-x.numerator << max(shift, 0)) // (x.denominator << max(-shift, 0))), shift
    )


def _magnitude(x: Fraction) -> int:
    return x.numerator.bit_length() - x.denominator.bit_length()


def _scaled(n: int, shift: int) -> Fraction:
    return Fraction(n, 1 << shift) if shift >= 0 else Fraction(n << -shift)
