r"""Fixed-point bounds of exp(-x), for whole vectors, in 64-bit integers.

Everything here is a proved integer inequality; nothing is rounded to nearest. With
``x = a 2**-6 + b 2**-16 + c 2**-32 + (less than 2**-32)`` in fixed point,

``exp(-x) = exp(-a 2**-6) exp(-b 2**-16) exp(-c 2**-32) (about 1)``

where the first two factors are tabulated and the third is 1 minus its argument, up to
half of ``2**-32``.
"""

from fractions import Fraction
from functools import cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from skdp.random._lazy_uniform import floor_exp
from skdp.random._uniform import Words

__all__ = [
    "EXCESS",
    "Words32",
    "exp_lower",
    "exp_lower_scalar",
    "geometric_thresholds",
]

Words32: TypeAlias = npt.NDArray[np.uint32]

#: ``exp_lower(x) + EXCESS`` is an upper bound of ``2**31 * exp(-x * 2**-32)``.
EXCESS = 5
#: Beyond this integer part, ``exp(-x) < 2**-31``: the bounds are 0 and EXCESS.
_LARGEST = 24


def exp_lower(x: Words) -> Words:
    """Return P with ``P <= 2**31 * exp(-x * 2**-32) < P + EXCESS``, elementwise.

    The floors of the two tables, of the two products and the linear third factor cost
    less than 1.01 + 1.01 + 1 + 1 + 1/4 units, as every factor is at most one. Products
    stay below ``2**63``.
    """
    coarse, fine = _factors()
    first = coarse[np.minimum(x >> 26, _LARGEST * 64)]
    second = fine[(x >> 16) & 1023]
    third = (1 << 32) - (x & 65535)
    lower: Words = (((first * second) >> 31) * third) >> 32
    return lower


def exp_lower_scalar(x: int) -> int:
    """Return what :func:`exp_lower` returns, for one number, without an array."""
    coarse, fine = _listed_factors()
    first = coarse[min(x >> 26, _LARGEST * 64)]
    second = fine[(x >> 16) & 1023]
    return (((first * second) >> 31) * ((1 << 32) - (x & 65535))) >> 32


@cache
def _listed_factors() -> tuple[list[int], list[int]]:
    coarse, fine = _factors()
    return coarse.tolist(), fine.tolist()


@cache
def _factors() -> tuple[Words, Words]:
    coarse = _powers(Fraction(1, 64), _LARGEST * 64 + 1)
    # exp(-24) < 2**-34: with lower bound 0 the upper bound EXCESS holds from here on.
    coarse[-1] = 0
    return coarse, _powers(Fraction(1, 65536), 1024)


def _powers(step: Fraction, count: int) -> Words:
    """Return lower bounds of ``2**31 * exp(-j * step)``, less than 1.01 too small."""
    # 128 places lose less than 2**12 units of the last of them on the way.
    ratio, power = floor_exp(step, 128), 1 << 128
    powers = np.empty(count, dtype=np.uint64)
    for j in range(count):
        powers[j] = power >> 97
        power = (power * ratio) >> 128
    return powers


@cache
def geometric_thresholds(step: Fraction) -> Words32:
    """Return the floors of ``2**32 * exp(-v * step)``, v >= 1, ascending from one 0."""
    floors: list[int] = []
    while not floors or floors[-1] > 0:
        floors.append(floor_exp((len(floors) + 1) * step, 32))
    return np.array(floors[::-1], dtype=np.uint32)
