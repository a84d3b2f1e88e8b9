"""Approximate differential privacy."""

import math
from dataclasses import dataclass

import numpy as np

from skdp._typing import FloatArray
from skdp.accounting._guarantee import Guarantee
from skdp.accounting._numbers import mirrored, nonnegative, probability
from skdp.accounting._pure import pure_curve, response_tradeoff

__all__ = ["ApproximateDP"]


@dataclass(frozen=True, slots=True, repr=False)
class ApproximateDP(Guarantee):
    """One point (epsilon, delta) of a privacy profile, and what it alone implies.

    Parameters
    ----------
    epsilon_bound : float
        Privacy loss in nats, >= 0.
    delta_bound : float
        Probability-like slack, within [0, 1).
    adjacency : Adjacency or str, default="add-remove"
        Which data sets count as neighbours.
    assumptions : tuple of str, default=()
        What the guarantee takes as given.
    source : str, default=""
        Theorem, paper or proof note.
    observes : set of Channel or str, default={"output"}
        What the attacker may watch.

    References
    ----------
    Kairouz, Oh and Viswanath (2015): the hardest (epsilon, delta)-DP mechanism tells
    everything with probability delta and answers by randomised response otherwise.

    Examples
    --------
    >>> from skdp.accounting import ApproximateDP
    >>> g = ApproximateDP(1.0, 1e-6)
    >>> g.epsilon(1e-6), g.epsilon(1e-7)
    (1.0, inf)
    >>> g.group(2)
    ApproximateDP(2.0, 3.7182818...e-06, adjacency='add-remove')
    """

    epsilon_bound: float
    delta_bound: float

    def _check(self) -> None:
        self._set("epsilon_bound", nonnegative("epsilon", self.epsilon_bound))
        self._set("delta_bound", probability("delta", self.delta_bound))

    def _delta(self, epsilon: FloatArray) -> FloatArray:
        rest = 1.0 - self.delta_bound
        return mirrored(
            lambda e: self.delta_bound + rest * pure_curve(e, self.epsilon_bound),
            epsilon,
        )

    def _pure_epsilon(self) -> float:
        return self.epsilon_bound if self.delta_bound == 0.0 else math.inf

    def epsilon(self, delta: float) -> float:
        """Return the least epsilon >= 0 that holds with ``delta``, rounded up.

        Parameters
        ----------
        delta : float
            Within [0, 1).

        Returns
        -------
        float
            Exactly the epsilon given when ``delta`` is the delta given; inf below it.
        """
        if probability("delta", delta) == self.delta_bound:
            return self.epsilon_bound
        # a plain Guarantee.epsilon(self, ...): super() does not survive slots=True
        return Guarantee.epsilon(self, delta)

    def _tradeoff(self, alpha: FloatArray) -> FloatArray:
        return response_tradeoff(alpha, self.epsilon_bound, self.delta_bound)

    def _group(self, k: int) -> "ApproximateDP":
        """Sum the geometric series ``delta (1 + e^eps + ... + e^((k-1) eps))``."""
        powers = np.minimum(self.epsilon_bound * np.arange(k, dtype=np.float64), 700.0)
        delta = self.delta_bound * float(np.sum(np.exp(powers)))
        if delta >= 1.0:
            raise ValueError(
                f"a group of {k} has delta >= 1 under the group rule, which promises "
                "nothing. Allowed: groups with delta < 1. Use a smaller group or delta."
            )
        return self._with(k * self.epsilon_bound, delta)
