r"""All guarantees of a draw that may fail, side by side.

Notation (derived in docs/proofs/bounded_posterior.md)
------------------------------------------------------
q        bound on the probability that no proposal is accepted           -> ``failure``
omega    probability of a uniform point in the end                       -> ``mixing``
coin     whether the released point is uniform; (log(1 + q/omega))-DP at most
"""

import math
from dataclasses import dataclass

from skdp.accounting import (
    Adjacency,
    GaussianDP,
    Guarantee,
    PureDP,
    Simultaneous,
    ZeroConcentratedDP,
)
from skdp.mechanisms._gibbs_calibration import pure_mu
from skdp.mechanisms._gibbs_guarantee import MU_COST, PURE_COST, _then, _times

__all__ = ["Coin", "bounded_guarantee"]

_UP = 1.0 + 2.0**-50


@dataclass(frozen=True, slots=True)
class Coin:
    """How a draw that may fail hides whether it did."""

    mixing: float
    failure: float

    @property
    def epsilon(self) -> float:
        """Pure loss of the coin itself."""
        return max(self._uniform, self._kept) * _UP

    @property
    def mu(self) -> float:
        """Gaussian mu of the coin."""
        return pure_mu(self.epsilon)

    def pure(self, epsilon: float) -> float:
        """Return the pure loss of the released point, the coin hidden."""
        return max(epsilon + self._kept, self._uniform) * _UP

    @property
    def _uniform(self) -> float:
        return math.log1p(self.failure / self.mixing)

    @property
    def _kept(self) -> float:
        return -math.log1p(-self.failure)


def bounded_guarantee(
    epsilon: float,
    mu: float,
    coin: Coin,
    *,
    rounding: float,
    step: Guarantee | None,
    n_draws: int,
    adjacency: Adjacency,
    assumptions: tuple[str, ...],
) -> Simultaneous:
    """Return what holds of draws from posteriors that are epsilon-DP and mu-GDP each.

    The released law has not the bounded range of the posterior: zCDP and GDP reveal the
    coin, and pay for it. ``rounding`` is eta, ``step`` the lattice step after.
    """
    epsilon, mu = epsilon + PURE_COST * rounding, mu + MU_COST * rounding
    rho = epsilon**2 / 8 + coin.epsilon**2 / 2
    ideal: list[Guarantee] = [
        PureDP(n_draws * coin.pure(epsilon), adjacency=adjacency),
        ZeroConcentratedDP(n_draws * rho, adjacency=adjacency),
        GaussianDP(math.sqrt(n_draws) * math.hypot(mu, coin.mu), adjacency=adjacency),
    ]
    steps = _times(step, n_draws)
    return Simultaneous(
        tuple(_then(guarantee, steps) for guarantee in ideal),
        adjacency=adjacency,
        assumptions=assumptions,
        source="Gibbs posterior of bounded work, docs/proofs/bounded_posterior.md",
    )
