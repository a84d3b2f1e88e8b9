"""Uniform floats that carry 53 correct bits at every scale, made of 24 bytes each.

A uniform real in (0, 1) lies in ``[2**-e, 2**(1-e))`` with probability ``2**-e``, and
is uniform inside. So the exponent is geometric (a run of zeros among fair bits) and the
mantissa is 52 fair bits. Dividing a random integer by ``2**53`` instead would leave
holes between the small numbers, and the holes tell what was added to the noise.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from skdp._typing import FloatArray, IntArray
from skdp._validation import check_count
from skdp.random._source import RandomSource

__all__ = ["Words", "draw_words", "exponents", "fractions", "uniform"]

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
        Never 1: the real uniform number cut to 53 significant bits. A number below
        the range of floats would be cut to 0; the chance is ``2**-1074`` a draw.

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
    mantissa, first, second = draw_words(size, source)
    out: FloatArray = np.ldexp(fractions(mantissa), -exponents(first, second, source))
    return out


def draw_words(size: int, source: RandomSource) -> tuple[Words, Words, Words]:
    """Return three vectors of ``size`` random 64-bit words."""
    words = np.frombuffer(source.bytes(24 * size), dtype="<u8").reshape(3, size)
    return words[0], words[1], words[2]


def exponents(first: Words, second: Words, source: RandomSource) -> IntArray:
    """Return e, each e >= 1 with probability ``2**-e``: one plus a run of zero bits.

    A run that fills both words (probability ``2**-128``) goes on in further words, so
    that no tail is ever cut: at a large epsilon a cut tail alone would break the claim.
    """
    out = 1 + _zeros(first)
    open_runs = np.flatnonzero(first == 0)
    out[open_runs] += _zeros(second[open_runs])
    open_runs = open_runs[second[open_runs] == 0]
    while open_runs.size:
        words = np.frombuffer(source.bytes(8 * open_runs.size), dtype="<u8")
        out[open_runs] += _zeros(words)
        open_runs = open_runs[words == 0]
    return out


def fractions(mantissa: Words) -> FloatArray:
    """Return the top 52 bits of each word as a number in [1, 2), exactly."""
    # both terms are multiples of 2**-52 below 2
    return 1.0 + (mantissa >> 12).astype(np.float64) * 2.0**-52


def _zeros(words: Words) -> IntArray:
    """Return the length of the run of zeros at the low end, 64 for a word of zeros.

    The lowest set bit is a power of two, so its conversion to float is exact and its
    binary exponent is the length of the run.
    """
    lowest = (words & (~words + np.uint64(1))).astype(np.float64)
    out: IntArray = np.where(words == 0, 64, np.frexp(lowest)[1] - 1).astype(np.int64)
    return out
