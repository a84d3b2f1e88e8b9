r"""Sums of many terms :math:`\log(1 + e^{-a})` with few logarithms."""

import numpy as np

from skdp._typing import FloatArray

__all__ = ["sum_log1p_exp"]

#: Factors 1 + exp(-a) lie in (1, 2]: a product of this many stays below 2^512.
_FACTORS = 512


def sum_log1p_exp(a: FloatArray) -> FloatArray:
    """Return the sum of ``log(1 + exp(-a))`` over axis 0 for a >= 0; overwrites ``a``.

    The logarithm of a product replaces a sum of logarithms; each factor adds a relative
    rounding of 1e-16, as a term of the sum would.
    """
    if a.shape[0] == 0:
        return np.zeros(a.shape[1:])
    np.negative(a, out=a)
    np.exp(a, out=a)
    a += 1.0
    products = np.multiply.reduceat(a, np.arange(0, a.shape[0], _FACTORS), axis=0)
    out: FloatArray = np.log(products).sum(axis=0)
    return out
