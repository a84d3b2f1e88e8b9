"""Guarantees of draws whose log ratio stays in an interval of length epsilon."""

import math

from skdp.accounting import (
    Adjacency,
    Guarantee,
    PureDP,
    Simultaneous,
    ZeroConcentratedDP,
)
from skdp.mechanisms._base import require
from skdp.mechanisms._smoothing import LatticeLaw, LatticeSmoothing

__all__ = ["SMOOTHING_SHARE", "bounded_range", "check_pure_step", "multiplicity"]

#: Share of a pure epsilon that buys the smoothing step.
SMOOTHING_SHARE = 0.01
#: Relative slack that keeps rounded public numbers on the private side.
_UP = 1.0 + 2.0**-40


def bounded_range(
    epsilon: float,
    *,
    rounding: float = 0.0,
    step: LatticeSmoothing | None = None,
    adjacency: Adjacency,
    assumptions: tuple[str, ...] = (),
    source: str = "",
) -> Simultaneous:
    """Return what holds of one draw, of its rounding, and of the step after it.

    ``epsilon`` is the length of the interval, ``rounding`` what rounding adds to it.
    """
    length = (epsilon + rounding) * _UP if rounding else epsilon
    pure, rho = length, length**2 / 8
    if step is not None:
        pure += step.epsilon
        rho += step.epsilon * math.tanh(step.epsilon / 2)
    parts: tuple[Guarantee, ...] = (
        PureDP(pure, adjacency=adjacency),
        ZeroConcentratedDP(rho, adjacency=adjacency),
    )
    return Simultaneous(
        parts, adjacency=adjacency, assumptions=assumptions, source=source
    )


def check_pure_step(
    step: LatticeSmoothing, n_features: int, adjacency: Adjacency
) -> None:
    """Refuse a smoothing step other than the one the proofs speak of."""
    require(step.law is LatticeLaw.LAPLACE, "smoothing must be the discrete Laplace")
    require(
        step.n_features == n_features,
        "smoothing.n_features must be the length of the released vector",
    )
    require(
        step.adjacency is adjacency, "smoothing.adjacency must be that of the mechanism"
    )


def multiplicity(*, monotone: bool) -> float:
    """Return by how many sensitivities the score gaps of neighbours differ at most."""
    return 1.0 if monotone else 2.0
