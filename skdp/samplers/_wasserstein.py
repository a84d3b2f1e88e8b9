r"""From total variation to W-infinity: how near a sampler must be to its target.

A chain comes close to its target in total variation (TV). Pure differential privacy
needs more: every point must be near a point of the ideal law. On a ball, a target whose
density is bounded from below turns one into the other, at a price that grows with the
dimension. TV bounds are far below the smallest float, so they are given as log10.

Notation (derived in docs/proofs/approximate_sample.md)
-------------------------------------------------------
Delta    bound on the W-infinity distance, in units of the vector     -> ``distance``
R, d     radius of the ball and number of coordinates    -> ``radius``, ``n_features``
xi       TV distance                            -> log10 in ``total_variation_needed``
p_min    least density of the target on the ball, its logarithm times the volume,
         :math:`\log(p_{min} \mathrm{vol}) \le 0`, is the *floor*      -> ``log_floor``
omega    probability of a uniform point instead of a draw              -> ``mixing``
"""

import math

from scipy.special import betainc, gammaln

from skdp._validation import check_count, check_positive, check_real
from skdp.samplers._uniform_ball import check_probability

__all__ = [
    "density_floor",
    "potential_oscillation",
    "total_variation_needed",
    "wasserstein_bound",
]

#: Relative slack that keeps rounded logarithms on the safe side.
_SLACK = 2.0**-40
#: Halvings of a bracket of log Delta that is at most a few nats wide.
_BISECTIONS = 60
#: Distances below this are not told apart from it.
_LEAST = 1e-300
_RADIUS = "Pass the radius of the public ball."
_DISTANCE = "Pass the W-infinity distance to be ensured, in the units of the vector."


def total_variation_needed(
    distance: float,
    *,
    radius: float,
    n_features: int,
    log_floor: float = -math.inf,
    mixing: float = 0.0,
) -> float:
    r"""Return log10 of the TV distance that ensures a W-infinity distance.

    If the law of a sampler on a ball is within
    :math:`p_{min} V_d (\Delta/2)^d \kappa` of its target in total variation, it is
    within :math:`\Delta` of it in W-infinity. Here :math:`V_d` is the volume of the
    unit ball and :math:`\kappa = I_{1-(\Delta/4R)^2}((d+1)/2, 1/2)/2` the share of a
    small ball, centred on the border, that surely lies inside.

    Parameters
    ----------
    distance : float
        Delta > 0, in the units of the vector.
    radius : float
        R > 0 of the ball.
    n_features : int
        d >= 1.
    log_floor : float, default=-inf
        Log of least density times volume, <= 0, that holds for **every** data set; see
        :func:`density_floor`. Minus infinity where nothing is known.
    mixing : float, default=0.0
        Probability with which a uniform point takes the place of the draw, after
        sampling; see :func:`mix_with_uniform`.

    Returns
    -------
    float
        log10 of the TV distance between sampler and target, before mixing, that is
        small enough; 0 where any law will do, minus infinity where only the target
        itself will.

    Raises
    ------
    ValueError
        If a number is out of range.

    Examples
    --------
    >>> from skdp.samplers import total_variation_needed
    >>> round(total_variation_needed(1e-2, radius=1.0, n_features=5, log_floor=0.0), 4)
    -11.8082
    >>> round(total_variation_needed(
    ...     1e-2, radius=1.0, n_features=5, log_floor=-19_000.0), 1)
    -8263.4
    >>> round(total_variation_needed(
    ...     1e-2, radius=1.0, n_features=5, mixing=2.0**-40), 4)
    -23.8494
    """
    distance = check_positive("distance", distance, remedy=_DISTANCE, minimum=_LEAST)
    radius, d = _checked_ball(radius, n_features)
    log_floor, mixing = _check_floor(log_floor), check_probability(mixing)
    if distance >= 2.0 * radius or mixing == 1.0:
        # no two points of a ball are farther apart; a uniform point needs no sampler
        return 0.0
    scaled = _log_floor_before_mixing(log_floor, mixing)
    needed = scaled + _log_share(distance / (2.0 * radius), d)
    return min(0.0, _lower(needed) / math.log(10.0))


def wasserstein_bound(
    log10_total_variation: float,
    *,
    radius: float,
    n_features: int,
    log_floor: float = -math.inf,
    mixing: float = 0.0,
) -> float:
    """Return the W-infinity distance that a TV distance ensures.

    The inverse of :func:`total_variation_needed`, rounded up.

    Parameters
    ----------
    log10_total_variation : float
        log10 of the TV distance between sampler and target, <= 0.
    radius : float
        R > 0 of the ball.
    n_features : int
        d >= 1.
    log_floor : float, default=-inf
        Log of least density times volume, <= 0, for every data set.
    mixing : float, default=0.0
        Probability with which a uniform point takes the place of the draw.

    Returns
    -------
    float
        Bound on the distance after mixing, in the units of the vector; never above
        2 R, which holds for any two laws on the ball.

    Raises
    ------
    ValueError
        If a number is out of range.

    Examples
    --------
    >>> from skdp.samplers import wasserstein_bound
    >>> round(wasserstein_bound(-30.0, radius=1.0, n_features=5, mixing=2.0**-40), 6)
    0.000588
    >>> wasserstein_bound(-3.0, radius=1.0, n_features=5, mixing=2.0**-40)
    2.0
    """
    radius, d = _checked_ball(radius, n_features)
    log10_xi = _check_log(
        "log10_total_variation", log10_total_variation, "A TV distance is at most 1."
    )
    log_floor, mixing = _check_floor(log_floor), check_probability(mixing)
    if log10_xi == -math.inf or mixing == 1.0:
        return 0.0
    scaled = _log_floor_before_mixing(log_floor, mixing)
    # log of the share of the ball that must fit: between r^d kappa(1) and r^d / 2
    share = log10_xi * math.log(10.0) - scaled
    share += _SLACK * (abs(share) + abs(scaled))
    if not share < _log_share(1.0, d):
        return 2.0 * radius
    low, high = (share + math.log(2.0)) / d, min(0.0, (share - _log_cap(1.0, d)) / d)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if _log_share_at(middle, d) < share:
            low = middle
        else:
            high = middle
    log_distance = high + math.log(2.0 * radius) + _SLACK * (1.0 + abs(high))
    if log_distance < math.log(_LEAST):
        return _LEAST
    return min(2.0 * radius, math.exp(log_distance))


def density_floor(
    oscillation: float,
    *,
    radius: float,
    n_features: int,
    strong_convexity: float = 0.0,
) -> float:
    r"""Return a lower bound on log(density x volume) of a Gibbs law on a ball.

    For a density proportional to :math:`e^{-J}`,
    :math:`p_{min} \ge e^{-osc J} \max(1/\mathrm{vol}, (m/2\pi)^{d/2})`.

    Parameters
    ----------
    oscillation : float
        Bound on max J - min J over the ball, in nats, >= 0, for every data set; see
        :func:`potential_oscillation`.
    radius : float
        R > 0 of the ball.
    n_features : int
        d >= 1.
    strong_convexity : float, default=0.0
        m >= 0 of J on the ball.

    Returns
    -------
    float
        At most 0, which the uniform law attains.

    Raises
    ------
    ValueError
        If a number is out of range.

    Examples
    --------
    >>> from skdp.samplers import density_floor
    >>> density_floor(10.0, radius=1.0, n_features=2)
    -10.0
    >>> round(density_floor(
    ...     1000.0, radius=2.0, n_features=2, strong_convexity=500.0), 3)
    -993.092
    """
    radius, d = _checked_ball(radius, n_features)
    osc = _check_nonnegative("oscillation", oscillation)
    m = _check_nonnegative("strong_convexity", strong_convexity)
    peak = 0.0
    if m > 0.0:
        log_volume = d * math.log(radius) + _log_unit_volume(d)
        peak = log_volume + d / 2 * math.log(m / (2.0 * math.pi))
    return min(0.0, _lower(-osc + max(0.0, peak)))


def potential_oscillation(
    radius: float, *, slope: float | None = None, smoothness: float | None = None
) -> float:
    r"""Return a bound on max J - min J over a ball, for :func:`density_floor`.

    :math:`2 \Lambda R` where the gradient of J is at most :math:`\Lambda`;
    :math:`2 L R^2` where J is L-smooth **and** its minimiser over the ball is a point
    of zero gradient; with both, :math:`2 L R^2 + 2 R \Lambda` for a minimiser where the
    gradient is at most :math:`\Lambda`.

    Parameters
    ----------
    radius : float
        R > 0 of the ball.
    slope : float, optional
        Bound on the gradient norm of J: on the ball if given alone, at the minimiser if
        given with ``smoothness``.
    smoothness : float, optional
        L of J on the ball.

    Returns
    -------
    float
        In nats.

    Raises
    ------
    ValueError
        If neither constant is given, or a number is out of range.

    Examples
    --------
    >>> from skdp.samplers import potential_oscillation
    >>> potential_oscillation(2.0, slope=30.0)
    120.0
    >>> potential_oscillation(2.0, smoothness=3.0)
    24.0
    >>> potential_oscillation(2.0, slope=1.0, smoothness=3.0)
    28.0
    """
    radius = check_positive("radius", radius, remedy=_RADIUS)
    if slope is None and smoothness is None:
        raise ValueError(
            "neither slope nor smoothness is given. Allowed: one of them, or both. "
            "Pass a bound on the gradient of the potential for every data set."
        )
    linear = 0.0 if slope is None else _check_nonnegative("slope", slope)
    if smoothness is None:
        return 2.0 * linear * radius
    bend = _check_nonnegative("smoothness", smoothness)
    return 2.0 * bend * radius**2 + 2.0 * linear * radius


def _log_unit_volume(d: int) -> float:
    return float(d / 2 * math.log(math.pi) - gammaln(d / 2 + 1))


def _log_cap(share: float, d: int) -> float:
    """Return log of the part of the small ball that fits, ``share`` = Delta / 2R."""
    return math.log(0.5 * float(betainc((d + 1) / 2, 0.5, 1.0 - (share / 2) ** 2)))


def _log_share(share: float, d: int) -> float:
    """Return log of the least volume share of the ball that the small ball takes."""
    return d * math.log(share) + _log_cap(share, d)


def _log_share_at(log_share: float, d: int) -> float:
    return d * log_share + _log_cap(math.exp(log_share), d)


def _log_floor_before_mixing(log_floor: float, mixing: float) -> float:
    """Return log of ((1 - omega) floor + omega) / (1 - omega).

    Mixing shrinks the TV distance by 1 - omega, so that much more is allowed before.
    """
    if mixing == 0.0:
        return log_floor
    if mixing == 1.0:
        return math.inf
    odds = math.log(mixing) - math.log1p(-mixing)
    high, low = max(odds, log_floor), min(odds, log_floor)
    return high + math.log1p(math.exp(low - high))


def _lower(value: float) -> float:
    """Return a number a few roundings below."""
    return value - _SLACK * abs(value) if math.isfinite(value) else value


def _checked_ball(radius: float, n_features: int) -> tuple[float, int]:
    return (
        check_positive("radius", radius, remedy=_RADIUS),
        check_count("n_features", n_features, minimum=1),
    )


def _check_floor(log_floor: float) -> float:
    return _check_log("log_floor", log_floor, "Use density_floor.")


def _check_log(name: str, value: float, remedy: str) -> float:
    number = check_real(name, value, allowed="a number up to 0", remedy=remedy)
    if number > 0.0:
        raise ValueError(
            f"{name} is out of range, got {value!r}. Allowed: a number up to 0. "
            f"{remedy}"
        )
    return number


def _check_nonnegative(name: str, value: float) -> float:
    allowed, remedy = "a finite number from 0", "Pass a bound for every data set."
    number = check_real(name, value, allowed=allowed, remedy=remedy)
    if not 0.0 <= number < math.inf:
        raise ValueError(
            f"{name} is out of range, got {value!r}. Allowed: {allowed}. {remedy}"
        )
    return number
