"""The K-norm noise of the Euclidean ball: uniform direction, Gamma radius."""

import numpy as np

from skdp._typing import FloatArray
from skdp._validation import check_count, check_positive
from skdp.random._normal import standard_normal
from skdp.random._source import RandomSource
from skdp.random._uniform import draw_words, exponents, fractions

__all__ = ["k_norm_vector"]


def k_norm_vector(n_features: int, rate: float, source: RandomSource) -> FloatArray:
    r"""Draw one vector with density proportional to ``exp(-rate * ||b||_2)``.

    In polar coordinates the density is ``r**(d-1) exp(-rate r)``: the direction is
    uniform on the sphere and the radius is a Gamma variable of shape d, the sum of d
    exponential variables ``-log(U_i) / rate``.

    Parameters
    ----------
    n_features : int
        Dimension d, >= 1.
    rate : float
        Decay of the density per unit of norm, > 0.
    source : RandomSource
        Where the bytes come from, 48 a coordinate.

    Returns
    -------
    ndarray of shape (n_features,)
        The vector; its norm has mean ``n_features / rate``.

    Raises
    ------
    TypeError
        If an argument is not a number of its kind.
    ValueError
        If ``n_features`` is below 1 or ``rate`` is not positive.

    References
    ----------
    M. Hardt and K. Talwar, "On the geometry of differential privacy", STOC 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.random import as_random_source, k_norm_vector
    >>> source = as_random_source(0)
    >>> norms = [np.linalg.norm(k_norm_vector(3, 1.0, source)) for _ in range(2000)]
    >>> round(float(np.mean(norms)))
    3
    """
    n_features = check_count("n_features", n_features, minimum=1)
    remedy = "Pass epsilon over the sensitivity."
    rate = check_positive("rate", rate, remedy=remedy)
    direction = standard_normal(n_features, source)
    # No component of a full-precision normal is 0, so neither is the norm.
    direction /= np.linalg.norm(direction)
    mantissa, first, second = draw_words(n_features, source)
    # -log U from exponent and fraction apart: no tail is cut
    e = exponents(first, second, source)
    radius = (e * np.log(2.0) - np.log(fractions(mantissa))).sum() / rate
    return np.asarray(radius * direction)
