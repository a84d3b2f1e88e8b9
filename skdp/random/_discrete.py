"""Exact discrete Gaussian and discrete Laplace noise on the integers."""

from fractions import Fraction
from functools import lru_cache

from skdp._typing import IntArray
from skdp._validation import check_count
from skdp.random._checks import check_scale
from skdp.random._lattice import STEP, LatticeLaw
from skdp.random._source import RandomSource

__all__ = ["discrete_gaussian", "discrete_laplace"]

#: Draws of laws up to this scale are int64: they exceed it with probability below
#: 2**-1400, and then an OverflowError is raised.
_INT64_SCALE = 2**53


def discrete_gaussian(
    size: int, scale: int | Fraction | float, source: RandomSource
) -> IntArray:
    r"""Draw integers z with probability proportional to ``exp(-z**2 / (2 scale**2))``.

    Parameters
    ----------
    size : int
        How many independent draws, >= 0.
    scale : int, Fraction or float
        The parameter, > 0; a float is taken as the dyadic rational it is. The variance
        is at most ``scale**2`` and all but equal to it from scale 1 on.
    source : RandomSource
        Where the bytes come from.

    Returns
    -------
    ndarray of shape (size,)
        int64 for scale <= 2**53, else Python integers in an object array.

    Raises
    ------
    TypeError
        If ``size`` is not an int or ``scale`` not an exact number.
    ValueError
        If ``size`` is negative or ``scale`` not positive and finite.

    Notes
    -----
    The law is exact: each decision is an integer comparison with exactly the stated
    probability. The acceptance probability of a candidate is at least 0.11 at any
    scale, and at least 0.57 from scale 4 on.

    References
    ----------
    C. Canonne, G. Kamath and T. Steinke, "The discrete Gaussian for differential
    privacy", NeurIPS 2020.

    Examples
    --------
    >>> from skdp.random import as_random_source, discrete_gaussian
    >>> z = discrete_gaussian(10_000, 128.5, as_random_source(0))
    >>> z.dtype, bool(abs(z.std() / 128.5 - 1) < 0.05)
    (dtype('int64'), True)
    """
    size = check_count("size", size, minimum=0)
    return _gaussian_law(check_scale(scale)).sample(size, source)


def discrete_laplace(
    size: int, scale: int | Fraction | float, source: RandomSource
) -> IntArray:
    r"""Draw integers z with probability proportional to ``exp(-abs(z) / scale)``.

    Parameters
    ----------
    size : int
        How many independent draws, >= 0.
    scale : int, Fraction or float
        The parameter, > 0; a float is taken as the dyadic rational it is.
    source : RandomSource
        Where the bytes come from.

    Returns
    -------
    ndarray of shape (size,)
        int64 for scale <= 2**53, else Python integers in an object array.

    Raises
    ------
    TypeError
        If ``size`` is not an int or ``scale`` not an exact number.
    ValueError
        If ``size`` is negative or ``scale`` not positive and finite.

    Notes
    -----
    The law is exact, as that of :func:`discrete_gaussian`. The acceptance probability
    of a candidate is at least 0.11 at any scale, and at least 0.44 from scale 4 on.

    References
    ----------
    C. Canonne, G. Kamath and T. Steinke, "The discrete Gaussian for differential
    privacy", NeurIPS 2020.

    Examples
    --------
    >>> from skdp.random import as_random_source, discrete_laplace
    >>> z = discrete_laplace(10_000, 50, as_random_source(0))
    >>> z.dtype, bool(abs(abs(z).mean() / 50 - 1) < 0.05)
    (dtype('int64'), True)
    """
    size = check_count("size", size, minimum=0)
    return _laplace_law(check_scale(scale)).sample(size, source)


@lru_cache(maxsize=16)
def _gaussian_law(scale: Fraction) -> LatticeLaw:
    variance = scale * scale
    # The power of two nearest to h * scale: 2**(2 width) <= 2 h**2 scale**2.
    width = max(0, _floor_log2(2 * STEP**2 * variance) // 2)
    return LatticeLaw(
        quadratic=1 / (2 * variance),
        linear=Fraction(0),
        constant=STEP**2 * variance / (2 * 4**width),
        width=width,
        wide=scale > _INT64_SCALE,
    )


@lru_cache(maxsize=16)
def _laplace_law(scale: Fraction) -> LatticeLaw:
    # The least power of two that is at least h * scale.
    width = max(0, -_floor_log2(1 / (STEP * scale)))
    return LatticeLaw(
        quadratic=Fraction(0),
        linear=1 / scale,
        constant=Fraction(0),
        width=width,
        wide=scale > _INT64_SCALE,
    )


def _floor_log2(x: Fraction) -> int:
    """Return the largest k with ``2**k <= x``."""
    k = x.numerator.bit_length() - x.denominator.bit_length()
    return k if Fraction(2) ** k <= x else k - 1
