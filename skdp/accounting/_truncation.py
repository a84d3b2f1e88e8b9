"""What a failure symbol adds to an (epsilon, delta) draw, exactly."""

import math

from scipy.special import betaincc

from skdp._validation import check_count
from skdp.accounting._numbers import probability, within

__all__ = ["pool_failure", "pool_size", "truncation_delta", "truncation_size"]


def truncation_delta(epsilon: float, q: float, q_other: float, delta: float) -> float:
    r"""Return the tight delta of a draw that fails with a data-dependent chance.

    The draw is (epsilon, delta)-DP when it succeeds; it fails, visibly, with
    probability ``q`` under D and ``q_other`` under its neighbour.

    Parameters
    ----------
    epsilon : float
        Nats, >= 0.
    q, q_other : float
        Failure probabilities, within [0, 1].
    delta : float
        Of the draw, within [0, 1).

    Returns
    -------
    float
        At most ``delta + max(q, q_other)``: there is no factor exp(epsilon).

    Notes
    -----
    The hardest draw has four atoms, and the failure is a fifth. A fallback drawn from a
    public law instead of the symbol is post-processing, so it is no worse.

    Examples
    --------
    >>> from skdp.accounting import truncation_delta
    >>> truncation_delta(1.0, 0.03125, 0.16807, 0.0)
    0.10002...
    """
    e = within("epsilon", epsilon, 0.0, math.inf)
    q, q_other = within("q", q, 0.0, 1.0), within("q_other", q_other, 0.0, 1.0)
    d = probability("delta", delta)
    k = math.exp(min(e, 700.0))
    draws = max(
        (1.0 - q) * d,
        (1.0 - q) * d + (q_other - q) * k * (1.0 - d) / (1.0 + k),
        (1.0 - q) - k * (1.0 - q_other) * (1.0 - d),
    )
    return min(draws + max(q - k * q_other, 0.0), 1.0)


def _public_rate(p_lo: object) -> float:
    number = within("p_lo", p_lo, 0.0, 1.0)
    if number == 0.0:
        raise ValueError(
            "p_lo is out of range, got 0.0. Allowed: above 0, at most 1. Pass a public "
            "lower bound on the acceptance probability."
        )
    return number


def truncation_size(p_lo: float, delta: float) -> int:
    """Return the least batch that fails with probability at most ``delta``.

    Parameters
    ----------
    p_lo : float
        Public lower bound on the acceptance probability, within (0, 1].
    delta : float
        Within (0, 1).

    Returns
    -------
    int
        ``ceil(log(delta) / log(1 - p_lo))``, checked against rounding.

    Examples
    --------
    >>> from skdp.accounting import truncation_size
    >>> truncation_size(0.05, 1e-6), truncation_size(0.5, 2.0**-40)
    (270, 40)
    """
    p, d = _public_rate(p_lo), within("delta", delta, 0.0, 1.0, ends=False)
    if p == 1.0:
        return 1
    stay, target = math.log1p(-p), math.log(d)
    size = max(1, math.ceil(target / stay))
    # the quotient may be rounded to an integer from above
    return size if size * stay <= target * (1.0 - 2.0**-50) else size + 1


def pool_failure(size: int, p_lo: float, n_samples: int) -> float:
    """Return the chance that a pool holds fewer accepted proposals than wanted.

    Parameters
    ----------
    size : int
        Proposals in the pool, at least ``n_samples``.
    p_lo : float
        Public lower bound on the acceptance probability, within (0, 1].
    n_samples : int
        Accepted proposals wanted, at least 1.

    Returns
    -------
    float
        ``P(Binomial(size, p_lo) < n_samples)``.

    Examples
    --------
    >>> from skdp.accounting import pool_failure
    >>> pool_failure(4828, 0.25, 1000)
    9.7...e-13
    """
    remedy = "Pass how many draws are wanted."
    n = check_count("n_samples", n_samples, minimum=1, remedy=remedy)
    remedy = "Pass how many proposals there are, no fewer than draws are wanted."
    m = check_count("size", size, minimum=n, remedy=remedy)
    return float(betaincc(n, m - n + 1, _public_rate(p_lo)))


def pool_size(n_samples: int, p_lo: float, delta: float) -> int:
    """Return the least pool of proposals that yields ``n_samples`` accepted ones.

    Parameters
    ----------
    n_samples : int
        Accepted proposals wanted, at least 1.
    p_lo : float
        Public lower bound on the acceptance probability, within (0, 1].
    delta : float
        Chance of too few, within (0, 1).

    Returns
    -------
    int
        Close to ``n_samples / p_lo`` when many are wanted, against
        ``n_samples * truncation_size(p_lo, delta)`` for separate batches.

    Examples
    --------
    >>> from skdp.accounting import pool_size
    >>> pool_size(1000, 0.25, 1e-12)
    4828
    """
    remedy = "Pass how many draws are wanted."
    n = check_count("n_samples", n_samples, minimum=1, remedy=remedy)
    low = n - 1
    high = max(n, truncation_size(p_lo, delta))
    while pool_failure(high, p_lo, n) > delta:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if pool_failure(middle, p_lo, n) > delta:
            low = middle
        else:
            high = middle
    return high
