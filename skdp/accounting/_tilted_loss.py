r"""How much the minimiser of a tilted objective tells: privacy losses of one normal w.

Notation (docs/proofs/objective_perturbation.md, "Other losses")
----------------------------------------------------------------
mu, nu    gradient bounds of one row over sigma: larger slope, and other sign
p         slope of one row's loss over its bound, in [0, 1]
B         curvature of one row over the ridge, at most             -> ``curvature``
F, a      h(p) = F (1-p) (a + (1-a) p), at slope p      -> ``fading``, ``lag``
G         mu^2/2 + mu w, the loss of the Gaussian pair, w ~ N(0, 1)
psi(w)    sup over p of log(1 + min(B, h(p))) + p G - p(1-p) mu^2/2
V(w)      max(mu^2/2 + mu w, nu^2/2 - nu w), at least t = mu nu / 2
"""

import math
from functools import lru_cache

import numpy as np

from skdp._typing import FloatArray
from skdp.accounting._concentrated import concentrated_curve
from skdp.accounting._gaussian import gaussian_curve
from skdp.accounting._smoothing import (
    NormalLoss,
    clipped_gaussian_loss,
    flat_loss,
    is_beyond,
)

__all__: list[str] = []

#: Tangents of the Jacobian term; the polygon they bound is off by F / (4 * 2048^2).
_TANGENTS = 2049
#: Relative slack above the rounding of a corner of that polygon.
_UP = 1.0 + 2.0**-48
#: Where long pieces are cut, in standard deviations; beyond them there is no mass.
_MARKS = np.linspace(-39.0, 39.0, 3901)
#: Below the rounding of the profiles whose common part is taken off.
_DOWN = 1.0 - 1e-8


def free_level(mu: float, fading: float, lag: float) -> float:
    r"""Return k such that psi = G wherever G >= k, and psi <= k elsewhere.

    :math:`\log(1+h) + pG - p(1-p)\mu^2/2 \le (1-p)k + pG` with
    :math:`k = \max(Fa, F - \mu^2/2)`.
    """
    return max(fading * lag, fading - mu * mu / 2)


def removal_profile(
    epsilon: FloatArray,
    mu: float,
    curvature: float,
    fading: float,
    lag: float,
    rho: float,
) -> FloatArray:
    """Bound delta when a row is removed: E[D2(eps - psi(w))]."""
    if fading == math.inf:
        # the Jacobian is charged in full
        shift = math.log1p(curvature)
        return clipped_gaussian_loss(mu).smoothed(epsilon - shift, rho)
    if is_beyond(epsilon, fading, rho):
        return flat_loss(mu, fading).smoothed(epsilon, rho)
    return fading_loss(mu, curvature, fading, lag).smoothed(epsilon, rho)


@lru_cache(maxsize=128)
def fading_loss(mu: float, curvature: float, fading: float, lag: float) -> NormalLoss:
    """Bound psi from above by a convex, piecewise linear function of w.

    The Jacobian term is concave in p, so it lies below the polygon of its tangents. On
    each side of the polygon the rest is convex in p, so the supremum is at a corner,
    and every corner is a straight line in w: the bound is the envelope of these lines.
    """
    p, height = _corners(curvature, fading, lag)
    slopes = mu * p
    starts = height + p * p * (mu * mu / 2)
    kept = _upper_hull(slopes, starts)
    slopes, starts = slopes[kept], starts[kept]
    knots = -np.diff(starts) / np.diff(slopes)
    # lines that nearly coincide may cross out of order
    knots = np.maximum.accumulate(knots)
    distinct = np.diff(knots, prepend=-np.inf) > 0.0
    values = starts[:-1] + slopes[:-1] * knots
    values = np.maximum(np.maximum.accumulate(values), starts[0])
    knots, values = knots[distinct], values[distinct]
    # a rule of a few nodes integrates one piece: long ones are cut
    marks = np.union1d(knots, _MARKS[(knots[0] < _MARKS) & (knots[-1] > _MARKS)])
    return NormalLoss(marks, np.interp(marks, knots, values), mu, gaussian=False)


def _corners(
    curvature: float, fading: float, lag: float
) -> tuple[FloatArray, FloatArray]:
    """Return corners of a polygon above log(1 + min(B, h(p))), exact at the ends."""
    p = np.linspace(0.0, 1.0, _TANGENTS)
    h = fading * (1.0 - p) * (lag + (1.0 - lag) * p)
    steep = fading * (1.0 - 2.0 * lag - 2.0 * (1.0 - lag) * p)
    value = np.log1p(np.minimum(h, curvature))
    slope = np.where(h < curvature, steep / (1.0 + h), 0.0)
    left, right, drop = slope[:-1], slope[1:], slope[:-1] - slope[1:]
    step = np.diff(p)
    # where two tangents meet; any point between them gives a valid corner
    share = np.diff(value) - right * step
    meet = np.divide(share, drop, out=step / 2, where=drop > 0.0)
    meet = np.clip(meet, 0.0, step)
    corner = np.maximum(value[:-1] + left * meet, value[1:] + right * (meet - step))
    inner = p[:-1] + meet, corner * _UP
    first = value[:1] * _UP
    return (
        np.concatenate([[0.0], inner[0], [1.0]]),
        np.concatenate([first, inner[1], [0.0]]),
    )


def _upper_hull(x: FloatArray, y: FloatArray) -> list[int]:
    """Return corners of the least concave function above points, x nondecreasing."""
    xs, ys = x.tolist(), y.tolist()
    hull: list[int] = []
    for k in range(len(xs)):
        if hull and xs[k] <= xs[hull[-1]]:
            if ys[k] <= ys[hull[-1]]:
                continue
            hull.pop()
        while len(hull) > 1:
            i, j = hull[-2], hull[-1]
            if (ys[j] - ys[i]) * (xs[k] - xs[j]) > (ys[k] - ys[j]) * (xs[j] - xs[i]):
                break
            hull.pop()
        hull.append(k)
    return hull


def addition_profile(
    epsilon: FloatArray, mu: float, nu: float, rho: float
) -> FloatArray:
    """Bound delta when a row is added: E[D2(eps - max(0, V(w)))].

    One branch of V is above t at a time, so that the profiles of the two branches, cut
    off at t, add up to that of their maximum and that of t.
    """
    if nu == 0.0:
        return clipped_gaussian_loss(mu).smoothed(epsilon, rho)
    level = mu * nu / 2
    one = flat_loss(mu, level).smoothed(epsilon, rho)
    other = one if nu == mu else flat_loss(nu, level).smoothed(epsilon, rho)
    common = concentrated_curve(epsilon - level, rho) * (_DOWN if rho > 0.0 else 1.0)
    out: FloatArray = np.clip(one + other - common, 0.0, 1.0)
    return out


def corner_profile(epsilon: FloatArray, mu: float, nu: float) -> FloatArray:
    """Bound delta of a replacement whose two slopes are at their ends.

    The four corners see the two rows at one angle: the steeper the one pair, the
    flatter the other.
    """

    def total(same: float, middle: float) -> FloatArray:
        parts = [gaussian_curve(epsilon, same * m) for m in (mu, nu)]
        return parts[0] + parts[1] + 2.0 * gaussian_curve(epsilon, middle)

    apart, along = total(2.0, math.hypot(mu, nu)), total(math.sqrt(2.0), mu + nu)
    return np.maximum(apart, along)
