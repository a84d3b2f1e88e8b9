"""Uniform points of a public ball: the law that hides where a sampler may have erred.

Notation (derived in docs/proofs/approximate_sample.md)
-------------------------------------------------------
omega    probability with which a draw is replaced                  -> ``probability``
"""

import numpy as np

from skdp._typing import FloatArray
from skdp._validation import check_count, check_real
from skdp.random import RandomSource, standard_normal, uniform
from skdp.samplers._ball import Ball

__all__ = ["mix_with_uniform", "uniform_points"]


def uniform_points(ball: Ball, size: int, source: RandomSource) -> FloatArray:
    """Draw independent uniform points of a ball.

    Parameters
    ----------
    ball : Ball
        Where the points lie.
    size : int
        How many, >= 0.
    source : RandomSource
        Where the randomness comes from.

    Returns
    -------
    ndarray of shape (size, n_coefficients)
        The points.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.random import as_random_source
    >>> from skdp.samplers import Ball, uniform_points
    >>> points = uniform_points(Ball.around_zero(3, 2.0), 1000, as_random_source(0))
    >>> round(float(np.mean(np.linalg.norm(points, axis=1) < 1)), 1)  # an eighth
    0.1
    """
    size = check_count("size", size, minimum=0)
    center = ball.midpoint
    points = standard_normal(size * center.size, source).reshape(size, center.size)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    # the share of a ball within a radius is that radius to the power d
    radii = ball.radius * uniform(size, source) ** (1.0 / center.size)
    out: FloatArray = center + radii[:, None] * points
    return out


def mix_with_uniform(
    draws: FloatArray, ball: Ball, *, probability: float, source: RandomSource
) -> FloatArray:
    """Replace each draw, by a coin of its own, with a uniform point of the ball.

    This costs no privacy: it reads nothing but the draws. It bounds the density of the
    law from below by ``probability / volume`` for *every* data set, which is what
    :func:`total_variation_needed` asks for.

    Parameters
    ----------
    draws : ndarray of shape (n_draws, n_coefficients)
        Independent draws.
    ball : Ball
        The domain.
    probability : float
        Of replacing a draw, within [0, 1].
    source : RandomSource
        Where the randomness comes from. The bytes asked for do not depend on the coins.

    Returns
    -------
    ndarray of shape (n_draws, n_coefficients)
        A new array.

    Raises
    ------
    ValueError
        If ``probability`` is outside [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.random import as_random_source
    >>> from skdp.samplers import Ball, mix_with_uniform
    >>> mixed = mix_with_uniform(
    ...     np.zeros((1000, 2)), Ball.around_zero(2, 1.0), probability=0.25,
    ...     source=as_random_source(0))
    >>> round(float(np.mean(mixed[:, 0] != 0)), 1)
    0.2
    """
    probability = check_probability(probability)
    replaced = uniform(len(draws), source) < probability
    points = uniform_points(ball, len(draws), source)
    out: FloatArray = np.where(replaced[:, None], points, draws)
    return out


def check_probability(value: object) -> float:
    """Return the probability of a uniform point, within [0, 1]."""
    allowed, remedy = "a number from 0 to 1", "Use a small public one, such as 2**-40."
    number = check_real("probability", value, allowed=allowed, remedy=remedy)
    if not 0.0 <= number <= 1.0:
        raise ValueError(
            f"probability is out of range, got {value!r}. Allowed: {allowed}. {remedy}"
        )
    return number
