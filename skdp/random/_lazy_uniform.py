"""Decide ``U < exp(-x)`` exactly, for a uniform real U of which few bits are known.

Every decision of the integer samplers is such a comparison with a rational x. The bits
of U are revealed only while they matter, and ``exp(-x)`` is known by integer bounds, so
the outcome is that of the infinitely precise comparison: its probability is exactly
``exp(-x)``.
"""

from dataclasses import dataclass
from fractions import Fraction

from skdp.random._source import RandomSource

__all__ = ["LazyUniform", "floor_exp"]


@dataclass(slots=True)
class LazyUniform:
    """A uniform real in [0, 1) known to ``bits`` binary places.

    Attributes
    ----------
    value : int
        The known places: ``value <= U * 2**bits < value + 1``.
    bits : int
        How many are known.
    source : RandomSource
        Reveals further places.
    """

    value: int
    bits: int
    source: RandomSource

    def below_exp(self, x: Fraction) -> bool:
        """Return whether ``U < exp(-x)``, for a rational x >= 0.

        For x > 0 the right side is irrational, so equality cannot occur; each word
        revealed leaves the outcome open with probability ``2**-64``.
        """
        if x == 0:
            return True
        while True:
            floor = floor_exp(x, self.bits)
            if self.value != floor:
                return self.value < floor
            self.reveal()

    def reveal(self) -> None:
        """Learn 64 further places."""
        word = int.from_bytes(self.source.bytes(8), "little")
        self.value = (self.value << 64) | word
        self.bits += 64


def floor_exp(x: Fraction, bits: int) -> int:
    """Return the largest integer not above ``2**bits * exp(-x)``, for rational x > 0.

    Integer bounds are tightened until both have the same integer part, which happens
    because the value is irrational.
    """
    if x >= bits:  # exp(-x) < 2**-x <= 2**-bits
        return 0
    guard = 32
    while True:
        lower, upper = _exp_bounds(x, bits + guard)
        if lower >> guard == upper >> guard:
            return lower >> guard
        guard *= 2


def _exp_bounds(x: Fraction, bits: int) -> tuple[int, int]:
    """Return integers with ``lower <= 2**bits * exp(-x) < upper``.

    ``exp(-x) = (1 / exp(z)) ** (2**h)`` where ``z = x / 2**h < 1``; the series of
    exp(z) has positive terms, and each later step rounds outwards.
    """
    halvings = (x.numerator // x.denominator).bit_length()
    lower, upper = _exp_series(x / (1 << halvings), bits)
    one = 1 << (2 * bits)
    lower, upper = one // upper, one // lower + 1
    for _ in range(halvings):
        lower = (lower * lower) >> bits
        upper = ((upper * upper) >> bits) + 1
    return lower, upper


def _exp_series(z: Fraction, bits: int) -> tuple[int, int]:
    """Return integers with ``lower <= 2**bits * exp(z) < upper``, for 0 <= z < 1.

    The k-th term is the one before times z / k, rounded down. Its error e_k satisfies
    ``e_k < e_{k-1} / k + 1``, so ``e_k < 2``. At the first term that is rounded to 0
    the exact term is below 2, and so is the sum of all terms after it.
    """
    term = total = 1 << bits
    k = 0
    while term:
        k += 1
        term = term * z.numerator // (z.denominator * k)
        total += term
    return total, total + 2 * k + 3
