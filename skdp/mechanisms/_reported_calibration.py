"""What a report gets of a target, and what that leaves for the coefficients.

Notation (derived in docs/proofs/reported_perturbation.md, "Calibration")
-------------------------------------------------------------------------
mu      size of a Gaussian release that has the whole target
mu1     R / sigma, of the noise of the coefficients                -> ``shared_mu``
"""

import math
from dataclasses import replace
from functools import lru_cache
from typing import Any

from skdp.accounting import (
    Adjacency,
    ApproximateDP,
    PureDP,
    ReportedPerturbationDP,
)
from skdp.mechanisms._calibration import analytic_mu, largest_mu
from skdp.mechanisms._noisy_gradient import NoisyGradient
from skdp.mechanisms._noisy_hessian import NoisyHessian
from skdp.mechanisms._noisy_statistic import NoisyStatistic
from skdp.mechanisms._objective_perturbation import ObjectivePerturbation
from skdp.mechanisms._smoothing import LatticeSmoothing

__all__ = ["refuse_others", "reported_fields", "shared_mu", "with_room"]

#: Share of mu^2 of the target that each reported statistic gets.
_SHARE = 0.05
#: Part of the smoothing size of the coefficients that each statistic's step gets.
_STEP_SHARE = 0.25
#: The noise grows by less than this factor when statistics share the target.
_GROWTH = 1.25
#: Coefficients with this part of their mu cost next to nothing.
_NEXT_TO_NOTHING = 2.0**-20


def refuse_others(target: PureDP | ApproximateDP) -> None:
    """Refuse what the proof does not cover."""
    remedy = "Release the coefficients alone, with ObjectivePerturbation, otherwise."
    if target.adjacency is not Adjacency.ADD_REMOVE:
        raise ValueError(
            f"adjacency is not covered, got {str(target.adjacency)!r}: where rows are "
            "replaced, two of them move the Hessian in different directions. Allowed: "
            f"'add-remove'. {remedy}"
        )
    if isinstance(target, PureDP) or target.delta_bound == 0.0:
        raise ValueError(
            "delta is out of range, got 0: the noise of the Hessian and of the "
            f"gradient is Gaussian. Allowed: 0 < delta < 1. {remedy}"
        )


def with_room(step: LatticeSmoothing, mu: float) -> LatticeSmoothing:
    """Return the step for a solver that is stopped by a little more noise."""
    return LatticeSmoothing.concentrated(
        error=_GROWTH * step.error, n_features=step.n_features, mu=mu
    )


def reported_fields(
    main: ObjectivePerturbation, target: ApproximateDP, step_mu: float, level: str
) -> dict[str, Any]:
    """Return scales and smoothing steps of what is reported, as fields."""
    share = math.sqrt(_SHARE) * analytic_mu(target.epsilon_bound, target.delta_bound)
    kinds: dict[str, type[NoisyStatistic]] = {"hessian": NoisyHessian}
    if level == "gradient":
        kinds["gradient"] = NoisyGradient
    fields: dict[str, Any] = {}
    for name, kind in kinds.items():
        scale = kind.row_bound(main.loss, main.radius) / share
        fields[f"{name}_scale"] = scale
        fields[f"{name}_smoothing"] = kind.smoothing_step(
            scale,
            _STEP_SHARE * step_mu,
            radius=main.radius,
            n_coefficients=main.n_coefficients,
        )
    return fields


@lru_cache(maxsize=1024)
def shared_mu(draft: ReportedPerturbationDP, epsilon: float, delta: float) -> float:
    """Return the largest ``mu`` of the coefficients with which the whole is safe."""
    if replace(draft, mu=_NEXT_TO_NOTHING * draft.mu).delta(epsilon) > delta:
        raise ValueError(
            "epsilon and delta leave nothing for the coefficients, got "
            f"{epsilon!r} and {delta!r}: the statistics and the lattice steps alone "
            "cost more. Allowed: larger ones. Release the coefficients alone, with "
            "ObjectivePerturbation."
        )
    return largest_mu(lambda mu: replace(draft, mu=mu), epsilon, delta)
