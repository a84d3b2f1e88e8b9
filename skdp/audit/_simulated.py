r"""Monte Carlo over the exact privacy loss, for outputs of any dimension.

Where the density is known but cannot be integrated, it can still be evaluated at real
releases: each run contributes one exact loss, so a few thousand runs see what a
black-box audit needs millions for.

Notation
--------
L        privacy loss log(p / q) at a release on D
v        (1 - exp(epsilon - L))_+ in [0, 1]; its mean is delta
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skdp.audit._binomial import probability_above
from skdp.mechanisms import AdjacentPair, Mechanism
from skdp.random import as_random_source, uniform

__all__ = ["SimulatedDelta", "simulated_delta"]


@dataclass(frozen=True, slots=True)
class SimulatedDelta:
    """What :func:`simulated_delta` found, for the worse of the two directions.

    Attributes
    ----------
    estimate : float
        Mean of ``(1 - exp(epsilon - L))_+``: unbiased for delta.
    low : float
        Lower confidence bound on delta.
    max_loss : float
        Largest absolute privacy loss at any of the releases.
    """

    estimate: float
    low: float
    max_loss: float


def simulated_delta(
    mechanism: Mechanism[Any, Any],
    pair: AdjacentPair[Any],
    epsilon: float,
    *,
    n_runs: int = 1000,
    confidence: float = 0.999,
    random_state: Any = None,
) -> SimulatedDelta:
    """Estimate delta at ``epsilon`` from exact losses at real releases.

    Parameters
    ----------
    mechanism : Mechanism
        With outputs of any length.
    pair : AdjacentPair
        Two neighbouring data sets.
    epsilon : float
        In nats.
    n_runs : int, default=1000
        Releases on each data set.
    confidence : float, default=0.999
        Probability that ``low`` is right, over both directions.
    random_state : int, Generator, RandomState or None, default=None
        Source of the releases.

    Returns
    -------
    SimulatedDelta

    Examples
    --------
    >>> from skdp.accounting import PureDP
    >>> from skdp.audit import simulated_delta
    >>> from skdp.mechanisms import KNormMechanism
    >>> mechanism = KNormMechanism.calibrate(
    ...     PureDP(1.0), l2_sensitivity=1.0, n_features=2)
    >>> pair = next(mechanism.hard_pairs())
    >>> found = simulated_delta(mechanism, pair, 0.5, n_runs=200, random_state=0)
    >>> bool(found.low > 0.05), bool(found.max_loss <= 1.0)
    (True, True)
    """
    source = as_random_source(random_state)
    laws = {
        id(data): mechanism.log_density_on(data) for data in (pair.left, pair.right)
    }
    worst = SimulatedDelta(0.0, 0.0, 0.0)
    for mine, other in ((pair.left, pair.right), (pair.right, pair.left)):
        releases = (
            mechanism.vector(mechanism.release(mine, source).output)
            for _ in range(n_runs)
        )
        p, q = laws[id(mine)], laws[id(other)]
        loss = np.array([p(output) - q(output) for output in releases])
        values = -np.expm1(np.minimum(epsilon - loss, 0.0))
        # a coin of bias v has the mean of v, and its count has an exact bound
        heads = np.count_nonzero(uniform(n_runs, source) < values)
        low = probability_above(np.array(heads), n_runs, (1.0 - confidence) / 2)
        worst = SimulatedDelta(
            max(worst.estimate, float(values.mean())),
            max(worst.low, float(low)),
            max(worst.max_loss, float(np.abs(loss).max())),
        )
    return worst
