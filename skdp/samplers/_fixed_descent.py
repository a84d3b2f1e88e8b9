r"""Minimise over a ball in a number of steps that is fixed beforehand.

Notation (derived in docs/proofs/bounded_posterior.md)
------------------------------------------------------
L, m     smoothness and strong convexity of J
q        m / L; the gap of the values shrinks by 1 - sqrt(q) a step
G        L times the last step, the gradient mapping
eta      largest g'(theta^ - theta) over the ball, at most 4 B |G|           -> ``gap``
"""

import math
from collections.abc import Callable

import numpy as np

from skdp._typing import FloatArray
from skdp.samplers._acceptance import EnvelopeBounds
from skdp.samplers._ball import Ball

__all__ = ["descend", "descent_steps"]

#: The end point is kept this much inside the ball, relative to its radius.
_INSIDE = 1.0 - 2.0**-40
#: Part of the gap that is left for rounding and for that.
_SPARE = 2.0


def descent_steps(bounds: EnvelopeBounds, gap: float) -> int:
    """Return how many steps bring the gap within ``gap`` for every table.

    Parameters
    ----------
    bounds : EnvelopeBounds
        Public numbers.
    gap : float
        Largest g'(theta^ - theta) over the ball that is allowed, > 0.

    Returns
    -------
    int
        At least 1. The last gradient mapping is not among them.

    Examples
    --------
    >>> from skdp.losses import LogisticLoss
    >>> from skdp.samplers import Ball, EnvelopeBounds
    >>> from skdp.samplers._fixed_descent import descent_steps
    >>> descent_steps(EnvelopeBounds(
    ...     loss=LogisticLoss(), data_norm=1.0, ball=Ball.around_zero(3, 1.0),
    ...     n_rows=1000, inverse_temperature=1.0, alpha=10.0), 0.01)
    119
    """
    B, L = bounds.ball.radius, bounds.smoothness
    start = math.log(bounds.steepness) + math.log(B)
    goal = 2.0 * math.log(gap / (_SPARE * 4.0 * B)) - math.log(2.0 * L)
    rate = min(math.sqrt(bounds.convexity / L), 1.0 - 1e-9)
    return max(1, math.ceil((start - goal) / -math.log1p(-rate)))


def descend(
    gradient: Callable[[FloatArray], FloatArray],
    ball: Ball,
    *,
    smoothness: float,
    convexity: float,
    n_steps: int,
) -> FloatArray:
    """Return a point of the ball near the minimiser, by projected accelerated steps.

    ``gradient`` is called ``n_steps + 1`` times, also off the ball, and nothing here
    branches on what it returns.

    Parameters
    ----------
    gradient : callable
        Gradient of J at a vector.
    ball : Ball
        Domain.
    smoothness, convexity : float
        L >= m > 0, valid everywhere.
    n_steps : int
        Steps, >= 1.
    """
    root = math.sqrt(convexity / smoothness)
    momentum = (1.0 - root) / (1.0 + root)
    here = ahead = ball.midpoint
    for _ in range(n_steps):
        there = _projected(ahead - gradient(ahead) / smoothness, ball)
        ahead = there + momentum * (there - here)
        here = there
    end = _projected(here - gradient(here) / smoothness, ball)
    out: FloatArray = ball.midpoint + _INSIDE * (end - ball.midpoint)
    return out


def _projected(theta: FloatArray, ball: Ball) -> FloatArray:
    away = theta - ball.midpoint
    length = float(np.linalg.norm(away))
    out: FloatArray = ball.midpoint + away * (ball.radius / max(length, ball.radius))
    return out
