"""Search for the least noise whose computed curve still meets a target."""

from collections.abc import Callable

from skdp.accounting import Guarantee, gaussian_mu

__all__ = ["DOWN", "largest_mu"]

#: Downward slack of calibrated sizes, so that rounding cannot push epsilon up.
DOWN = 1.0 - 2.0**-40


def largest_mu(
    curve: Callable[[float], Guarantee], epsilon: float, delta: float
) -> float:
    """Return the largest ``mu`` for which ``curve(mu)`` is (epsilon, delta)-DP.

    Bisection on a curve that worsens with ``mu`` and is never better than the Gaussian
    one; it keeps the side on which the guarantee holds.
    """

    def holds(mu: float) -> bool:
        return float(curve(mu).delta(epsilon)) <= delta

    high = gaussian_mu(epsilon, delta)
    low = high / 2
    while not holds(low):
        high, low = low, low / 2
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low * DOWN
