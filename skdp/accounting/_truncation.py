"""What a failure symbol adds to an (epsilon, delta) draw, exactly."""

import math

from scipy.special import betaincc

from skdp._validation import check_count, check_real

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
    e, q, q_other, d = (
        _number(name, value)
        for name, value in [
            ("epsilon", epsilon),
            ("q", q),
            ("q_other", q_other),
            ("delta", delta),
        ]
    )
    k = math.exp(e)
    draws = max(
        (1.0 - q) * d,
        (1.0 - q) * d + (q_other - q) * k * (1.0 - d) / (1.0 + k),
        (1.0 - q) - k * (1.0 - q_other) * (1.0 - d),
    )
    return draws + max(q - k * q_other, 0.0)


def _number(name: str, value: object) -> float:
    remedy = f"Pass {name} as one number."
    return check_real(name, value, allowed="a number", remedy=remedy)


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
    p, d = _number("p_lo", p_lo), _number("delta", delta)
    for name, number, closed in [("p_lo", p, True), ("delta", d, False)]:
        if not 0.0 < number <= 1.0 or (number == 1.0 and not closed):
            raise ValueError(
                f"{name} is out of range, got {number!r}. Allowed: above 0, at most 1. "
                f"Pass {name} as a public number."
            )
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
    return float(betaincc(n_samples, size - n_samples + 1, p_lo))


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
