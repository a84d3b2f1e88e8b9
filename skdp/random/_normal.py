"""Standard normal floats by inversion of a full-precision uniform.

With u in (0, 1/2) at 53 correct bits, ``ndtri(u)`` is negative and exact to about one
rounding, in the centre and in the tail alike; a fair bit gives the sign. The usual
generators (ziggurat, polar, Box-Muller) reach only a porous subset of the floats.
"""

import numpy as np
from scipy.special import ndtri, ndtri_exp

from skdp._typing import FloatArray, IntArray
from skdp._validation import check_count
from skdp.random._source import RandomSource
from skdp.random._uniform import draw_words, exponents, fractions

__all__ = ["standard_normal"]


def standard_normal(size: int, source: RandomSource) -> FloatArray:
    """Draw independent standard normal numbers at full floating-point precision.

    Parameters
    ----------
    size : int
        How many, >= 0.
    source : RandomSource
        Where the bytes come from, 24 a draw.

    Returns
    -------
    ndarray of shape (size,)
        The normal law up to rounding of about 1e-14, its tails uncut.

    Raises
    ------
    TypeError
        If ``size`` is not an int.
    ValueError
        If ``size`` is negative.

    Examples
    --------
    >>> from skdp.random import as_random_source, standard_normal
    >>> z = standard_normal(10_000, as_random_source(0))
    >>> bool(abs(z.mean()) < 0.04 and abs(z.var() - 1) < 0.06)
    True
    """
    size = check_count("size", size, minimum=0)
    mantissa, first, second = draw_words(size, source)
    e = exponents(first, second, source)
    # The mantissa takes the top 52 bits of its word; the lowest bit is the sign.
    magnitude = _upper_quantile(fractions(mantissa), e + 1)
    return np.where(mantissa & np.uint64(1), -magnitude, magnitude)


def _upper_quantile(fraction: FloatArray, exponent: IntArray) -> FloatArray:
    """Return z with upper tail ``fraction * 2**-exponent``, however small that is."""
    z: FloatArray = -ndtri(np.ldexp(fraction, -exponent))
    deep = np.flatnonzero(exponent > 1000)  # below the range of normal floats: use logs
    z[deep] = -ndtri_exp(np.log(fraction[deep]) - exponent[deep] * np.log(2.0))
    return z
