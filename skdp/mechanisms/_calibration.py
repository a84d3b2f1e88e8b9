"""Search for the least noise whose computed curve still meets a target."""

import math
from collections.abc import Callable
from functools import lru_cache

from scipy.optimize import brentq

from skdp.accounting import Guarantee, gaussian_mu

__all__ = ["DOWN", "analytic_mu", "largest_mu"]

#: Downward slack of calibrated sizes, so that rounding cannot push epsilon up.
DOWN = 1.0 - 2.0**-40
#: A mechanism stores sensitivity / mu and recovers mu from it, this near.
_ROUNDING = 2.0**-51
#: Least delta that a bell curve in floats can still tell from zero, with room.
_MIN_DELTA = 1e-300


@lru_cache(maxsize=1024)
def analytic_mu(epsilon: float, delta: float) -> float:
    """Return the largest ``mu`` of an ideal Gaussian release, refusing tiny deltas."""
    if delta < _MIN_DELTA:
        raise ValueError(
            f"delta is out of range, got {delta!r}. Allowed with Gaussian noise: "
            f"{_MIN_DELTA:g} <= delta < 1. Use delta=0 and a pure mechanism instead."
        )
    return gaussian_mu(epsilon, delta)


def largest_mu(
    curve: Callable[[float], Guarantee], epsilon: float, delta: float
) -> float:
    """Return the largest ``mu``, to 1e-12, for which ``curve(mu)`` is (epsilon, delta).

    The curve worsens with ``mu`` and is never better than the Gaussian one, whose
    ``mu`` therefore bounds the answer from above. What is returned was checked.
    """

    def excess(mu: float) -> float:
        """Return the log ratio of what ``mu`` costs to what is allowed."""
        cost = float(curve(mu).delta(epsilon))
        return math.log(cost) - math.log(delta) if cost > 0.0 else -1e3

    def is_safe(mu: float) -> bool:
        """Tell whether both readings of the curve meet the target, rounding included.

        The dear reading, epsilon, is taken where the curve is worst.
        """
        here, above, below = (
            curve(mu * (1.0 + slack)) for slack in (0.0, _ROUNDING, -_ROUNDING)
        )
        if max(g.delta(epsilon) for g in (here, above, below)) > delta:
            return False
        return max(here.epsilon(delta), above.epsilon(delta)) <= epsilon

    high = analytic_mu(epsilon, delta)
    mu = high if excess(high) <= 0.0 else _root(excess, high)
    # the root finder may stop on the wrong side, and curves are computed with rounding
    step = 1.0 - DOWN
    mu *= DOWN
    while not is_safe(mu):
        mu *= 1.0 - step
        step = min(2 * step, 0.5)
    return mu


def _root(excess: Callable[[float], float], high: float) -> float:
    """Return where ``excess``, positive at ``high``, changes its sign below."""
    step = 1e-3
    low = high * (1.0 - step)
    while excess(low) > 0.0:
        step = min(4 * step, (1.0 + step) / 2)
        low, high = high * (1.0 - step), low
    return float(brentq(excess, low, high, xtol=1e-13 * high, rtol=1e-13))
