"""Pure differential privacy."""

import math
from dataclasses import dataclass

import numpy as np

from skdp._typing import FloatArray
from skdp.accounting._guarantee import Guarantee
from skdp.accounting._numbers import mirrored, nonnegative

__all__ = ["PureDP"]


def pure_curve(epsilon: FloatArray, bound: float) -> FloatArray:
    """Evaluate the profile of randomised response at ``epsilon >= 0``.

    Up to the bound it is ``(1 - exp(eps - bound)) / (1 + exp(-bound))``, then zero.
    """
    gap = np.minimum(epsilon - bound, 0.0)
    out: FloatArray = -np.expm1(gap) / (1.0 + math.exp(-bound))
    return out


def response_tradeoff(alpha: FloatArray, epsilon: float, delta: float) -> FloatArray:
    """Evaluate the trade-off curve of (epsilon, delta): two supporting lines."""
    with np.errstate(divide="ignore"):
        growth = np.exp(np.minimum(epsilon + np.log(alpha), 700.0))
    steep = 1.0 - delta - growth
    flat = math.exp(-epsilon) * (1.0 - delta - alpha)
    return np.maximum(np.maximum(steep, flat), 0.0)


@dataclass(frozen=True, slots=True, repr=False)
class PureDP(Guarantee):
    """Pure differential privacy: the loss never exceeds a bound.

    Parameters
    ----------
    epsilon_bound : float
        Largest log ratio of the probabilities of any event, in nats, >= 0.
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
    Kairouz, Oh and Viswanath (2015), The composition theorem for differential privacy:
    randomised response is the hardest purely private mechanism, so its profile is the
    profile of this notion.

    Examples
    --------
    >>> from skdp.accounting import PureDP
    >>> g = PureDP(1.0)
    >>> g.epsilon(0.0), g.delta(0.0)
    (1.0, 0.46211...)
    """

    epsilon_bound: float

    def _check(self) -> None:
        self._set("epsilon_bound", nonnegative("epsilon", self.epsilon_bound))

    def _delta(self, epsilon: FloatArray) -> FloatArray:
        return mirrored(lambda e: pure_curve(e, self.epsilon_bound), epsilon)

    def _pure_epsilon(self) -> float:
        return self.epsilon_bound

    def _tradeoff(self, alpha: FloatArray) -> FloatArray:
        return response_tradeoff(alpha, self.epsilon_bound, 0.0)

    def _group(self, k: int) -> "PureDP":
        return self._with(k * self.epsilon_bound)
