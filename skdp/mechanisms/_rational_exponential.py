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
#: Slack that covers the rounding of a difference of logarithms.
_UP, _ROUNDING = 1.0 + 2.0**-48, 1e-9
#: Slack below a logarithm from which floats are tried one by one.
_DOWN = 1.0 - 2.0**-51


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
    """Return a float at least ``log(ratio)`` for a ratio of at least 1, hardly above.

    If the ratio is at most ``exp_below(x)``, the result is at most x.
    """
    if ratio > exp_below(_LARGEST):
        top, bottom = math.log(ratio.numerator), math.log(ratio.denominator)
        return (top - bottom) * _UP + _ROUNDING
    x = math.log1p(float(ratio - 1)) * _DOWN
    while x == 0.0 < ratio - 1 or (ratio > 1 and exp_below(x) < ratio):
        x = math.nextafter(x, math.inf)
    return x


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
