"""Search for the least noise whose computed curve still meets a target."""

import math
from collections.abc import Callable
from functools import lru_cache

from scipy.optimize import brentq

from skdp.accounting import Guarantee, gaussian_mu

__all__ = ["DOWN", "analytic_mu", "largest_mu"]

#: Downward slack of calibrated sizes, so that rounding cannot push epsilon up.
DOWN = 1.0 - 2.0**-40

analytic_mu = lru_cache(maxsize=1024)(gaussian_mu)


def largest_mu(
    curve: Callable[[float], Guarantee], epsilon: float, delta: float
) -> float:
    """Return the largest ``mu``, to 1e-12, for which ``curve(mu)`` is (epsilon, delta).

    The curve worsens with ``mu`` and is never better than the Gaussian one, whose
    ``mu`` therefore bounds the answer from above.
    """

    def excess(mu: float) -> float:
        """Return the log ratio of what ``mu`` costs to what is allowed."""
        cost = float(curve(mu).delta(epsilon))
        return math.log(cost / delta) if cost > 0.0 else -1e3

    high = analytic_mu(epsilon, delta)
    if excess(high) <= 0.0:
        return high * DOWN
    step = 1e-3
    low = high * (1.0 - step)
    while excess(low) > 0.0:
        step = min(4 * step, (1.0 + step) / 2)
        low, high = high * (1.0 - step), low
    mu = float(brentq(excess, low, high, xtol=1e-13 * high, rtol=1e-13))
    # the root finder may stop on the wrong side: walk down to the safe one
    while excess(mu) > 0.0:
        mu *= DOWN
    return mu * DOWN
