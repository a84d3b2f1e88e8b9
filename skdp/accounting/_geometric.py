r"""Telling two geometric running times apart: closed forms.

A loop that accepts each proposal with probability p ends after T ~ Geom(p) steps,
:math:`P(T = k) = (1-p)^{k-1} p`, k = 1, 2, ... The likelihood ratio of two such laws is
monotone in k, so the best tests are thresholds.

Notation (derived in docs/proofs/runtime.md)
--------
p, q   acceptance probabilities of the null and the alternative, in (0, 1]
r      log(1-q) / log(1-p), exponent of the curve through the corners
rho    (1-p) / (1-q)
k      threshold: the event is {T > k} when p < q, {T <= k} when p > q
"""

import math

import numpy as np

from skdp._typing import ArrayLike, FloatArray
from skdp._validation import check_real
from skdp.accounting._numbers import like_input, real_vector

__all__ = ["geometric_delta", "geometric_renyi", "geometric_tradeoff"]


def geometric_tradeoff(alpha: ArrayLike, p: float, q: float) -> float | FloatArray:
    """Return the least missed-detection rate of tests of Geom(p) against Geom(q).

    Parameters
    ----------
    alpha : float or array of any shape
        False-alarm rates, within [0, 1].
    p, q : float
        Acceptance probabilities under the null and the alternative, within (0, 1].

    Returns
    -------
    float or array of the same shape
        Piecewise linear between the corners that the thresholds k = 0, 1, ... make.

    Examples
    --------
    >>> from skdp.accounting import geometric_tradeoff
    >>> geometric_tradeoff(0.1, 0.5, 0.3), geometric_tradeoff(0.1, 0.3, 0.5)
    (0.69816..., 0.83333...)
    """
    p, q = _rate("p", p), _rate("q", q)
    array = real_vector("alpha", alpha)
    points = np.clip(array.ravel(), 0.0, 1.0)
    curve = _slower_alternative if q <= p else _faster_alternative
    return like_input(curve(points, p, q), array)


def _rate(name: str, value: object) -> float:
    """Return an acceptance probability, within (0, 1]."""
    allowed = "0 < value <= 1"
    remedy = f"Pass {name} as the probability of accepting one proposal."
    number = check_real(name, value, allowed=allowed, remedy=remedy)
    if not 0.0 < number <= 1.0:
        raise ValueError(
            f"{name} is out of range, got {value!r}. Allowed: {allowed}. {remedy}"
        )
    return number


def _slower_alternative(alpha: FloatArray, p: float, q: float) -> FloatArray:
    """Interpolate the corners ((1-p)^k, 1 - (1-q)^k): reject when T > k."""
    if p == 1.0:
        return q * (1.0 - alpha)
    stay = math.log1p(-p)
    k = np.floor(np.log(np.maximum(alpha, 1e-300)) / stay)
    high, low = np.exp(k * stay), np.exp((k + 1.0) * stay)
    share = np.clip((alpha - low) / (high - low), 0.0, 1.0)
    missed = _survival_complement(k, q), _survival_complement(k + 1.0, q)
    out: FloatArray = share * missed[0] + (1.0 - share) * missed[1]
    return np.where(alpha <= 0.0, 1.0, out)


def _faster_alternative(alpha: FloatArray, p: float, q: float) -> FloatArray:
    """Interpolate the corners (1 - (1-p)^k, (1-q)^k): reject when T <= k."""
    if q == 1.0:
        return np.maximum(0.0, 1.0 - alpha / p)
    stay, leave = math.log1p(-p), math.log1p(-q)
    passed = np.maximum(1.0 - alpha, 1e-300)
    k = np.floor(np.log(passed) / stay)
    high, low = np.exp(k * stay), np.exp((k + 1.0) * stay)
    share = np.clip((passed - low) / (high - low), 0.0, 1.0)
    missed = np.exp(k * leave), np.exp((k + 1.0) * leave)
    out: FloatArray = share * missed[0] + (1.0 - share) * missed[1]
    return np.where(alpha >= 1.0, 0.0, out)


def _survival_complement(k: FloatArray, q: float) -> FloatArray:
    """Return P(T <= k) of Geom(q) without cancellation."""
    if q == 1.0:
        return np.minimum(k, 1.0)
    out: FloatArray = -np.expm1(k * math.log1p(-q))
    return out


def geometric_delta(epsilon: ArrayLike, p: float, q: float) -> float | FloatArray:
    r"""Return the hockey stick of Geom(p) over Geom(q).

    .. math:: \sup_A \; P_p(T \in A) - e^{\varepsilon} P_q(T \in A)

    Positive for every epsilon when p < q, zero from log(p/q) on when p > q. A guarantee
    needs both orders, so the larger of the two.

    Parameters
    ----------
    epsilon : float or array of any shape
        Any real numbers, in nats.
    p, q : float
        Acceptance probabilities, within (0, 1].

    Returns
    -------
    float or array of the same shape
        Within [0, 1].

    Examples
    --------
    >>> from skdp.accounting import geometric_delta
    >>> geometric_delta(1.0, 0.3, 0.5), geometric_delta(1.0, 0.5, 0.3)
    (0.083123..., 0.0)
    """
    p, q = _rate("p", p), _rate("q", q)
    array = real_vector("epsilon", epsilon)
    return like_input(hockey_stick(array.ravel(), p, q), array)


def hockey_stick(epsilon: FloatArray, p: float, q: float) -> FloatArray:
    """Evaluate :func:`geometric_delta`, unchecked."""
    nothing = np.maximum(-np.expm1(np.minimum(epsilon, 0.0)), 0.0)
    if p == q:
        return nothing
    best = nothing
    for k in _thresholds(epsilon, p, q):
        best = np.maximum(best, _gain(epsilon, k, p, q))
    return best


def _thresholds(epsilon: FloatArray, p: float, q: float) -> list[FloatArray]:
    """Return the best threshold of each epsilon and its neighbours."""
    if p == 1.0 or q == 1.0:
        return [np.ones_like(epsilon)]
    step = math.log1p(-p) - math.log1p(-q)
    start = math.log(p) - math.log(q)
    k = np.floor((np.clip(epsilon, -1e9, 1e9) - start) / step)
    # rounding may move the quotient across an integer
    return [np.maximum(k + shift, 0.0) for shift in (-1.0, 0.0, 1.0, 2.0)]


def _gain(epsilon: FloatArray, k: FloatArray, p: float, q: float) -> FloatArray:
    """Return P_p(A) - e^eps P_q(A) of the threshold event at k, in log space."""
    if p < q:
        return _difference(log_survival(k, p), epsilon + log_survival(k, q))
    return _difference(_log_ended(k, p), epsilon + _log_ended(k, q))


def _difference(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return exp(a) - exp(b) where positive, else 0; a <= 0."""
    gap = np.where(np.isneginf(a), 0.0, np.minimum(np.nan_to_num(b) - a, 0.0))
    gap = np.where(np.isneginf(b) & ~np.isneginf(a), -np.inf, gap)
    out: FloatArray = np.abs(np.exp(a) * np.expm1(gap))
    return out


def log_survival(k: FloatArray | float, p: float) -> FloatArray:
    """Return log P(T > k); the log of (1-p)^k."""
    steps = np.asarray(k, dtype=np.float64)
    if p == 1.0:
        return np.where(steps > 0.0, -np.inf, 0.0)
    out: FloatArray = steps * math.log1p(-p)
    return out


def _log_ended(k: FloatArray, p: float) -> FloatArray:
    """Return log P(T <= k)."""
    with np.errstate(divide="ignore"):
        out: FloatArray = np.log(-np.expm1(np.maximum(log_survival(k, p), -745.0)))
    return out


def geometric_renyi(order: float, p: float, q: float) -> float:
    """Return the Renyi divergence of Geom(p) from Geom(q).

    Infinite for large orders when p < q: no running time of this kind has a Renyi
    curve for all orders, so none is Gaussian DP or zCDP.

    Parameters
    ----------
    order : float
        Above 1.
    p, q : float
        Acceptance probabilities, within (0, 1].

    Returns
    -------
    float
        In nats.

    Examples
    --------
    >>> from skdp.accounting import geometric_renyi
    >>> geometric_renyi(2.0, 0.3, 0.5), geometric_renyi(2.1, 0.3, 0.5)
    (2.19722..., inf)
    """
    p, q = _rate("p", p), _rate("q", q)
    if not order > 1.0:
        raise ValueError(
            f"order is out of range, got {order!r}. Allowed: above 1. "
            "Pass the order of the divergence, for example 2."
        )
    first = order * math.log(p) + (1.0 - order) * math.log(q)
    if p == 1.0:
        return first / (order - 1.0)
    if q == 1.0:
        return math.inf
    ratio = order * math.log1p(-p) + (1.0 - order) * math.log1p(-q)
    if ratio >= 0.0:
        return math.inf
    return (first - math.log(-math.expm1(ratio))) / (order - 1.0)
