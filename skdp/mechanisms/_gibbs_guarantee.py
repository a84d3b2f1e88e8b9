"""All guarantees of a Gibbs posterior, side by side, with the price of floats."""

import math

from skdp.accounting import (
    Adjacency,
    GaussianDP,
    Guarantee,
    PureDP,
    Simultaneous,
    SmoothedGaussianDP,
    ZeroConcentratedDP,
    compose,
)

__all__ = ["MU_COST", "PURE_COST", "ROUNDING", "gibbs_guarantee"]

#: A log density that is off by eta costs this many eta in pure epsilon, and in mu.
PURE_COST, MU_COST = 4.0, 6.0
#: eta in units of the smaller of pure epsilon and mu.
ROUNDING = 2.0**-20


def gibbs_guarantee(
    epsilon: float,
    mu: float,
    *,
    rounding: float,
    step: Guarantee | None,
    n_draws: int,
    adjacency: Adjacency,
    assumptions: tuple[str, ...],
) -> Simultaneous:
    """Return what holds of draws that are epsilon-DP of bounded range, and mu-GDP each.

    ``epsilon`` may be infinite. ``rounding`` is eta, ``step`` the lattice step after.
    """
    epsilon, mu = epsilon + PURE_COST * rounding, mu + MU_COST * rounding
    root = math.sqrt(n_draws)
    ideal: list[Guarantee] = [GaussianDP(root * mu, adjacency=adjacency)]
    if math.isfinite(epsilon):
        of_range = ZeroConcentratedDP(n_draws * epsilon**2 / 8, adjacency=adjacency)
        ideal = [PureDP(n_draws * epsilon, adjacency=adjacency), of_range, *ideal]
    steps = _times(step, n_draws)
    return Simultaneous(
        tuple(_then(guarantee, steps) for guarantee in ideal),
        adjacency=adjacency,
        assumptions=assumptions,
        source="exact Gibbs posterior, docs/proofs/posterior_sampling.md",
    )


def _times(step: Guarantee | None, n: int) -> Guarantee | None:
    """Return the cost of n lattice steps."""
    if isinstance(step, PureDP):
        return PureDP(n * step.epsilon_bound, adjacency=step.adjacency)
    if isinstance(step, ZeroConcentratedDP):
        return ZeroConcentratedDP(n * step.rho, adjacency=step.adjacency)
    return None


def _then(ideal: Guarantee, step: Guarantee | None) -> Guarantee:
    """Compose with the lattice step, in the sharpest form there is."""
    adjacency = ideal.adjacency
    if step is None:
        return ideal
    if isinstance(ideal, PureDP) and isinstance(step, PureDP):
        return PureDP(ideal.epsilon_bound + step.epsilon_bound, adjacency=adjacency)
    if isinstance(ideal, GaussianDP) and isinstance(step, ZeroConcentratedDP):
        return SmoothedGaussianDP(ideal.mu, step.rho, adjacency=adjacency)
    return compose(ideal, step)
