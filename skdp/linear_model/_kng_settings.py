"""The public settings of a K-norm gradient regression, checked before any row."""

from dataclasses import dataclass
from typing import Any

from skdp._validation import (
    check_choice,
    check_count,
    check_epsilon,
    check_positive,
)
from skdp.accounting import Adjacency, PureDP
from skdp.linear_model._posterior_loss import read_bounds
from skdp.linear_model._settings import OBJECTIVE_LIMITS, read_ball, read_quantile
from skdp.random import RandomSource, as_random_source
from skdp.rows import L2Ball, Targets

__all__ = ["KNGSettings", "read_kng_settings"]

_MAX_CANDIDATES = 2**16


@dataclass(frozen=True, slots=True)
class KNGSettings:
    """Checked parameters in the form the mechanism wants them."""

    target: PureDP
    quantile: float
    ball: L2Ball
    targets: Targets
    radius: float
    n_candidates: int
    source: RandomSource

    def box(self, n_features: int) -> tuple[float, ...]:
        """Return the bound on each coefficient, the intercept's last."""
        slopes = (self.radius / self.ball.data_norm,) * n_features
        constant = self.ball.intercept_scaling
        # the intercept may be anywhere within the range of the targets
        return slopes if constant == 0.0 else (*slopes, 1.0 / constant)


def read_kng_settings(estimator: Any) -> KNGSettings:
    """Check the constructor parameters of ``estimator``; read no data."""
    epsilon = check_epsilon(estimator.epsilon)
    check_choice(
        "adjacency",
        getattr(estimator.adjacency, "value", estimator.adjacency),
        [relation.value for relation in Adjacency],
        remedy="Use 'add-remove' unless the number of people is public.",
    )
    n_candidates = check_count(
        "n_candidates",
        estimator.n_candidates,
        minimum=1,
        remedy="Use 4096 unless time matters.",
    )
    if n_candidates > _MAX_CANDIDATES:
        raise ValueError(
            f"n_candidates is out of range, got {n_candidates}. Allowed: up to "
            f"{_MAX_CANDIDATES}. Use 4096; the error of more is hardly smaller."
        )
    return KNGSettings(
        target=PureDP(epsilon, adjacency=Adjacency(estimator.adjacency)),
        quantile=read_quantile(estimator.quantile),
        ball=read_ball(estimator, OBJECTIVE_LIMITS),
        targets=read_bounds(estimator.bounds_y),
        radius=check_positive(
            "radius",
            estimator.radius,
            remedy="Use 2.0 where a column moves y by no more than its range.",
            minimum=1e-50,
            maximum=1e50,
        ),
        n_candidates=n_candidates,
        source=as_random_source(estimator.random_state),
    )
