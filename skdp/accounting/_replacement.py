r"""What replacing one row costs, from bounds that hold on parts of the line.

Notation
--------
rho      zCDP cost of the final lattice noise
delta    replace-one profile of the ideal release at epsilon >= 0, bounded by a curve
"""

from collections.abc import Callable

import numpy as np

from skdp._typing import FloatArray
from skdp.accounting._concentrated import concentrated_curve
from skdp.accounting._numbers import mirrored
from skdp.accounting._pure import pure_curve

__all__: list[str] = []

#: Least normal float: smaller computed probabilities have lost their precision.
_TINY = float(np.finfo(np.float64).tiny)
#: Shares of epsilon given to the smoothing, in its own widths.
_SMOOTHING_WIDTHS = np.array([4.0, 6.0, 8.0, 10.0, 12.0, 17.0, 24.0, 38.0])


def shared_profile(
    curve: Callable[[FloatArray], FloatArray], epsilon: FloatArray, rho: float
) -> FloatArray:
    """Share epsilon between an ideal release and its smoothing, at its best.

    ``curve`` bounds the ideal release at epsilon >= 0, for both orders of the pair.
    """
    if rho == 0.0:
        return _real_profile(curve, epsilon)
    shares = _SMOOTHING_WIDTHS[:, None] * np.sqrt(2.0 * rho)
    left = epsilon - shares
    ideal = _real_profile(curve, left.ravel())
    blur = concentrated_curve(shares, rho)
    total = ideal.reshape(left.shape) + blur
    out: FloatArray = np.minimum(total.min(axis=0), 1.0)
    return out


def _real_profile(
    curve: Callable[[FloatArray], FloatArray], epsilon: FloatArray
) -> FloatArray:
    """Extend the curve to any real epsilon."""
    both = mirrored(curve, epsilon)
    # the bounds are no profile of one mechanism: keep them nonincreasing across zero
    at_zero = curve(np.zeros(1))
    out: FloatArray = np.where(epsilon < 0.0, np.maximum(both, at_zero), both)
    return out


def group_of_two(half: FloatArray, epsilon: FloatArray) -> FloatArray:
    """Bound a removal followed by an addition; ``half`` bounds each at epsilon / 2.

    A delta that underflows must not hide what the factor makes of it, and at the
    exponent's cap the product of the two floors says nothing (it exceeds 1).
    """
    out: FloatArray = (1.0 + np.exp(np.minimum(epsilon / 2, 709.0))) * np.maximum(
        half, _TINY
    )
    return out


def from_point(
    curve: Callable[[FloatArray], FloatArray], start: float, epsilon: FloatArray
) -> FloatArray:
    """Evaluate a curve that holds from ``start`` on; before, what that point implies.

    One point (start, delta) implies the profile of the hardest mechanism that has it
    (Kairouz, Oh and Viswanath 2015).
    """
    beyond = np.maximum(epsilon, start)
    values = np.minimum(curve(beyond), 1.0)
    before = values + (1.0 - values) * pure_curve(epsilon, start)
    out: FloatArray = np.where(epsilon >= start, values, before)
    return out
