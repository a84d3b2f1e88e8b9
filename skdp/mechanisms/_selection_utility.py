r"""How good the score of a selected candidate is: bounds that hold for any scores.

Notation (derived in docs/proofs/exponential.md)
------------------------------------------------
c        nats of log probability per unit of score                 -> ``coefficient``
m        base measure, here of total 1
OPT      largest score of a candidate of positive measure
S_t      candidates with a score above OPT - t
"""

import math

import numpy as np

from skdp._typing import ArrayLike, FloatArray
from skdp._validation import check_positive, check_real

__all__ = ["em_expected", "em_tail"]

_RATE = "Pass ExponentialMechanism.coefficient."


def em_tail(
    scores: ArrayLike,
    coefficient: object,
    t: float,
    *,
    base_measure: ArrayLike | None = None,
) -> float:
    r"""Bound the probability that the exponential mechanism falls 2 t short.

    .. math:: \Pr[q \le OPT - 2t] \le e^{-ct}
        \frac{m(q \le OPT - 2t)}{m(q > OPT - t)}

    Parameters
    ----------
    scores : array-like of shape (n,)
        Finite scores. The bound is a function of them: as private as they are.
    coefficient : float or Fraction
        Nats of log probability per unit of score, > 0.
    t : float
        Half of the shortfall asked about, > 0, in units of the scores.
    base_measure : array-like of shape (n,), default=None
        Measures >= 0; None for equal ones.

    Returns
    -------
    float
        Probability bound, at most 1.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> from skdp.mechanisms import em_tail
    >>> round(em_tail(range(101), 0.5, 10.0), 5)
    0.05458
    """
    q, m = _law(scores, base_measure)
    c = check_positive("coefficient", coefficient, remedy=_RATE)
    t = check_positive("t", t, remedy="Pass half of the shortfall.")
    best = q.max()
    poor, good = m[q <= best - 2 * t].sum(), m[q > best - t].sum()
    return min(1.0, math.exp(-c * t) * float(poor / good))


def em_expected(
    scores: ArrayLike,
    coefficient: object,
    *,
    base_measure: ArrayLike | None = None,
    floor: float = 0.0,
) -> tuple[float, float]:
    r"""Bound the expected score of the exponential mechanism from below.

    With the least t for which :math:`ct \ge \log\frac{OPT - floor}{t\,m(S_t)}`, the
    expected score is at least ``OPT - 3 t``. That needs every score to be at least
    ``floor``.

    Parameters
    ----------
    scores : array-like of shape (n,)
        Finite scores, none below ``floor``. The bound is a function of them: as
        private as they are.
    coefficient : float or Fraction
        Nats of log probability per unit of score, > 0.
    base_measure : array-like of shape (n,), default=None
        Measures >= 0; None for equal ones.
    floor : float, default=0.0
        Lower bound of all scores.

    Returns
    -------
    bound : float
        ``OPT - 3 t``, or ``floor`` if that is more.
    t : float
        The t used, rounded up.

    Raises
    ------
    ValueError
        If an argument is out of range, or a score is below ``floor``.

    Examples
    --------
    >>> from skdp.mechanisms import em_expected
    >>> bound, t = em_expected(range(101), 0.5)
    >>> round(bound, 3), round(t, 3)
    (71.914, 9.362)
    """
    q, m = _law(scores, base_measure)
    c = check_positive("coefficient", coefficient, remedy=_RATE)
    floor = check_real(
        "floor", floor, allowed="a finite number", remedy="Pass the least score."
    )
    if not q.min() >= floor or math.isinf(floor):
        raise ValueError(
            "a score is below the floor, for which the bound is false. Allowed: scores "
            "of at least floor. Pass a lower bound of all scores as floor."
        )
    best = float(q.max())
    span = best - floor
    if span == 0.0:
        return best, 0.0

    def holds(t: float) -> bool:
        return c * t >= math.log(span / (t * float(m[q > best - t].sum())))

    # at t = span the logarithm is that of 1 / m(S_t), so this ends
    low, high = 0.0, span
    while not holds(high):
        high *= 2
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (low, middle) if holds(middle) else (middle, high)
    return max(best - 3 * high, floor), high


def _law(
    scores: ArrayLike, base_measure: ArrayLike | None
) -> tuple[FloatArray, FloatArray]:
    """Return the scores of positive measure, and the measure with total 1."""
    q = np.asarray(scores, dtype=np.float64)
    m = np.ones(q.shape) if base_measure is None else np.asarray(base_measure, float)
    if q.ndim != 1 or q.shape != m.shape or not (m.sum() > 0 and (m >= 0).all()):
        raise ValueError(
            "scores and base_measure do not fit. Allowed: two vectors of one length, "
            "measures of at least 0, one of them positive. Pass one measure a score."
        )
    q, m = q[m > 0], m[m > 0]
    if not np.isfinite(q).all():
        raise ValueError(
            "scores must be finite, got nan or infinity. Allowed: finite numbers. "
            "Leave out what cannot be selected."
        )
    return q, m / m.sum()
