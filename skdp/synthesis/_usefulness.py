r"""How many synthetic points, and how many records, a usefulness theorem asks for.

Notation (derived in docs/proofs/useful_data.md)
------------------------------------------------
V        VC dimension of the predicates                        -> ``vc_dimension``
m        synthetic points                                      -> ``n_points``
alpha    largest error of a predicate's share                  -> ``error``
beta     probability that it is exceeded                       -> ``failure``
X        the universe; |X| = N                                 -> ``log_universe``
"""

import math

from skdp._validation import check_count, check_epsilon, check_positive

__all__ = ["sample_size", "useful_size"]

_POINTS = "Pass how many records or points there are."


def useful_size(error: float, *, vc_dimension: int, n_rows: int | None = None) -> int:
    """Return how many points suffice to show every predicate's share of any data.

    Parameters
    ----------
    error : float
        The error alpha within (0, 1): half of it is what the points may miss.
    vc_dimension : int
        VC dimension of the predicates, >= 1.
    n_rows : int, default=None
        Number of records, which bounds how many behaviours predicates have on them.
        None uses the bound that does not depend on it, and is much larger.

    Returns
    -------
    int
        A number m such that some multiset of m records of the universe is within
        ``error / 2`` of the data on every predicate.

    Examples
    --------
    >>> from skdp.synthesis import useful_size
    >>> useful_size(0.1, vc_dimension=2, n_rows=1000), useful_size(0.1, vc_dimension=2)
    (3025, 83354)
    """
    alpha = _share("error", error)
    v = check_count("vc_dimension", vc_dimension, minimum=1, remedy=_POINTS)
    by_ghosts = _by_ghosts(alpha, v)
    if n_rows is None:
        return by_ghosts
    n = check_count("n_rows", n_rows, minimum=1, remedy=_POINTS)
    behaviours = n * math.log(2.0) if n <= v else v * math.log(math.e * n / v)
    by_union = math.ceil(2.0 / alpha**2 * (behaviours + math.log(2.0)))
    return min(by_union, by_ghosts)


def _by_ghosts(alpha: float, v: int) -> int:
    """Return the least m from which on ``4 (2 e m / V)^V exp(-m alpha^2 / 32) < 1``."""

    def excess(m: float) -> float:
        growth = v * math.log(2.0 * math.e * m / v)
        return math.log(4.0) + growth - m * alpha**2 / 32.0

    # the excess falls from here on
    low = math.ceil(32.0 * v / alpha**2)
    if excess(low) < 0.0:
        return low
    high = 2 * low
    while excess(high) >= 0.0:
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if excess(middle) < 0.0 else (middle, high)
    return high


def sample_size(
    error: float,
    *,
    failure: float,
    epsilon: float,
    vc_dimension: int,
    log_universe: float,
    n_points: int | None = None,
) -> int:
    r"""Return how many records make a synthetic data set useful for all predicates.

    The exponential mechanism over m points of the universe then errs by at most
    ``error`` on every predicate, but with probability ``failure``:
    :math:`n \ge \frac{4}{\epsilon \alpha} (m \log |X| + \log(1/\beta))`.

    Parameters
    ----------
    error : float
        The error alpha within (0, 1).
    failure : float
        The probability beta within (0, 1).
    epsilon : float
        Privacy loss bound in nats, from 1e-9 to 1e3.
    vc_dimension : int
        VC dimension of the predicates, >= 1.
    log_universe : float
        Natural logarithm of the number of different records; ``k log 2`` for k bits.
    n_points : int, default=None
        Number m of synthetic points. None takes :func:`useful_size` for the number of
        records returned, which is the least n that fits its own m.

    Returns
    -------
    int

    Examples
    --------
    >>> import math
    >>> from skdp.synthesis import sample_size
    >>> sample_size(0.1, failure=0.05, epsilon=1.0, vc_dimension=2,
    ...             log_universe=3 * math.log(2), n_points=3026)
    251816
    """
    alpha, beta = _share("error", error), _share("failure", failure)
    epsilon = check_epsilon(epsilon)
    log_x = check_positive("log_universe", log_universe, remedy=_POINTS)

    def needed(m: int) -> int:
        return math.ceil(4.0 / (epsilon * alpha) * (m * log_x - math.log(beta)))

    if n_points is not None:
        return needed(check_count("n_points", n_points, minimum=1, remedy=_POINTS))
    # m grows with n like log n, so the least fixed point is met from below
    n = 1
    while (m := needed(useful_size(alpha, vc_dimension=vc_dimension, n_rows=n))) > n:
        n = m
    return n


def _share(name: str, value: float) -> float:
    share = check_positive(
        name, value, minimum=1e-9, maximum=1.0, remedy="Pass a share, such as 0.1."
    )
    if share >= 1.0:
        raise ValueError(
            f"{name} is out of range, got {value!r}. Allowed: below 1. Pass a share."
        )
    return share
