"""Uniform floats that carry 53 correct bits at every scale, made of 24 bytes each.

A uniform real in (0, 1) lies in ``[2**-e, 2**(1-e))`` with probability ``2**-e``, and
is uniform inside. So the exponent is geometric (the run of zeros in 128 fair bits) and
the mantissa is 52 fair bits. Dividing a random integer by ``2**53`` instead would leave
holes between the small numbers, and the holes tell what was added to the noise.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from skdp._typing import FloatArray
from skdp.random._checks import check_count
from skdp.random._source import RandomSource

__all__ = ["Words", "draw_words", "uniform", "uniform_from_words"]

Words: TypeAlias = npt.NDArray[np.uint64]


def uniform(size: int, source: RandomSource) -> FloatArray:
    """Draw independent uniform numbers in (0, 1) at full floating-point precision.

    Parameters
    ----------
    size : int
        How many, >= 0.
    source : RandomSource
        Where the bytes come from, 24 a draw.

    Returns
    -------
    ndarray of shape (size,)
        Never 0 and never 1: the real uniform number cut to 53 significant bits, except
        that the numbers below ``2**-128`` are replaced by some of the binade above.

    Raises
    ------
    TypeError
        If ``size`` is not an int.
    ValueError
        If ``size`` is negative.

    Examples
    --------
    >>> from skdp.random import as_random_source, uniform
    >>> u = uniform(1000, as_random_source(0))
    >>> bool((u > 0).all() and (u < 1).all()), round(float(u.mean()), 1)
    (True, 0.5)
    """
    size = check_count("size", size, minimum=0)
    return uniform_from_words(*draw_words(size, source))


def draw_words(size: int, source: RandomSource) -> tuple[Words, Words, Words]:
    """Return three vectors of ``size`` random 64-bit words."""
    words = np.frombuffer(source.bytes(24 * size), dtype="<u8").reshape(3, size)
    return words[0], words[1], words[2]


def uniform_from_words(mantissa: Words, first: Words, second: Words) -> FloatArray:
    """Return uniforms made of the top 52 bits of one word and the zeros of two."""
    # One plus a 52-bit fraction, exact: both terms are multiples of 2**-52 below 2.
    fraction = 1.0 + (mantissa >> 12) * 2.0**-52
    return fraction * _power_of_half(first, second)


def _power_of_half(first: Words, second: Words) -> FloatArray:
    """Return ``2**-e``, each e >= 1 with probability ``2**-e``, from 128 fair bits.

    The lowest set bit of a word is ``2**z`` with z zeros below it: a power of two, so
    its conversion to float and the division are exact. z is geometric.
    """
    if first.all():
        return 0.5 / _lowest_bit(first).astype(np.float64)
    # Probability 2**-64 a draw: the run of zeros goes on in the second word, in which a
    # bit is set at the top so that it ends.
    end = second | np.uint64(1 << 63)
    continued = 2.0**-65 / _lowest_bit(end).astype(np.float64)
    lowest = np.where(first == 0, np.uint64(1), _lowest_bit(first))
    return np.where(first == 0, continued, 0.5 / lowest.astype(np.float64))


def _lowest_bit(words: Words) -> Words:
    return words & (~words + np.uint64(1))
