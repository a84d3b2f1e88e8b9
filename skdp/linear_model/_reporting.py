"""The report of a fit: which mechanism makes it, and what of it is published."""

from typing import Any, Literal, TypeAlias, cast

import numpy as np

from skdp._typing import FloatArray
from skdp._validation import check_choice
from skdp.accounting import Adjacency, ApproximateDP, PrivacySpent
from skdp.linear_model._settings import LinearSettings
from skdp.mechanisms import (
    GaussianNoise,
    LatticeSmoothing,
    ObjectivePerturbation,
    ReportedObjectivePerturbation,
)
from skdp.pdp import PublishedReport, ReleasedStatistic
from skdp.pdp._report_fields import LEVELS
from skdp.random._symmetric import lower_triangle
from skdp.rows import Classes, L2Ball

__all__ = [
    "DATA_INDEPENDENT",
    "Reporting",
    "check_level",
    "make_report",
    "objective_mechanism",
    "with_report",
]

#: The level of a report that costs nothing.
DATA_INDEPENDENT = LEVELS[0]

#: Probability of failure of a person's bound, where the noise has tails.
_RHO = 1e-6

Reporting: TypeAlias = ObjectivePerturbation | ReportedObjectivePerturbation


def check_level(level: object, settings: LinearSettings) -> str:
    """Return the level of a report, refusing one that its guarantee cannot have."""
    check_choice(
        "pdp_report",
        level,
        LEVELS,
        remedy="Use 'data-independent', which costs nothing.",
    )
    if level != DATA_INDEPENDENT:
        adjacency = settings.target.adjacency
        if isinstance(settings.labels, Classes):
            raise ValueError(
                f"pdp_report={level!r} does not go with more than two classes: reports "
                "speak about one margin a row. Allowed: two classes. Change that, or "
                "use pdp_report='data-independent'."
            )
        if settings.delta == 0.0:
            raise _does_not_go_with(level, "delta=0", "0 < delta < 1")
        if adjacency is not Adjacency.ADD_REMOVE:
            got = f"adjacency={str(adjacency)!r}"
            raise _does_not_go_with(level, got, "adjacency='add-remove'")
        if settings.conservative:
            raise ValueError(
                f"pdp_report={level!r} does not go with conservative=True: the "
                "published bound covers the coefficients alone. Allowed: "
                "conservative=False. Change that, or use "
                "pdp_report='data-independent'."
            )
    return str(level)


def _does_not_go_with(level: object, got: str, allowed: str) -> ValueError:
    return ValueError(
        f"pdp_report={level!r} does not go with {got}: a Hessian and a gradient are "
        f"released with Gaussian noise, under add-remove. Allowed: {allowed}. Change "
        "that, or use pdp_report='data-independent'."
    )


def with_report(
    settings: LinearSettings, n_coefficients: int, level: str
) -> ReportedObjectivePerturbation:
    """Return the mechanism that releases coefficients and what the level asks for.

    Raises
    ------
    ValueError
        If the ridge or the noise is too large to compute with.
    """
    try:
        return ReportedObjectivePerturbation.calibrate(
            cast(ApproximateDP, settings.target),
            radius=settings.ball.radius,
            n_coefficients=n_coefficients,
            alpha=settings.alpha,
            level=cast(Literal["hessian", "gradient"], level),
        )
    except ValueError as error:
        epsilon = settings.target.epsilon_bound
        raise ValueError(
            f"pdp_report={level!r} does not go with epsilon={epsilon:g}, "
            f"delta={settings.delta:g} and alpha={settings.alpha!r}: a Hessian would "
            "be lost in the ridge, or cost all of epsilon. Allowed: larger ones, and a "
            "smaller ridge. Change that, or use pdp_report='data-independent'."
        ) from error


def objective_mechanism(mechanism: Reporting) -> ObjectivePerturbation:
    """Return the mechanism of the coefficients alone."""
    if isinstance(mechanism, ReportedObjectivePerturbation):
        return mechanism.main
    return mechanism


def make_report(
    mechanism: Reporting,
    output: FloatArray,
    *,
    spent: PrivacySpent,
    ball: L2Ball,
    classes: Any,
    feature_names: np.ndarray | None,
) -> PublishedReport:
    """Return what a fit publishes about privacy.

    Parameters
    ----------
    mechanism : ObjectivePerturbation or ReportedObjectivePerturbation
        The mechanism that made the release.
    output : ndarray
        What it released.
    spent : PrivacySpent
        What the fit cost, everything it released together.
    ball : L2Ball
        Bound on the rows.
    classes : ndarray of labels
        The label set, sorted.
    feature_names : ndarray of str, or None
        Names of the columns.
    """
    main = objective_mechanism(mechanism)
    gaussian = isinstance(main.noise_law, GaussianNoise)
    return PublishedReport(
        adjacency=main.adjacency.value,
        epsilon=spent.epsilon,
        delta=spent.delta,
        rho=_RHO if gaussian else None,
        data_norm=ball.data_norm,
        intercept_scaling=ball.intercept_scaling,
        feature_names=None if feature_names is None else tuple(feature_names),
        classes=tuple(classes.tolist()),
        alpha=main.alpha,
        noise="gaussian" if gaussian else "k-norm",
        noise_scale=main.noise_law.scale,
        gradient_tol=main.gradient_tol,
        **_step(main.smoothing),
        **_released(mechanism, output),
    )


def _released(mechanism: Reporting, output: FloatArray) -> dict[str, Any]:
    """Return the released numbers as fields of a report."""
    if isinstance(mechanism, ObjectivePerturbation):
        return {"theta": tuple(output.tolist())}
    theta, hessian, gradient = mechanism.split(output)
    values = {"hessian": lower_triangle(hessian)}
    if gradient is not None:
        values["gradient"] = gradient
    statistics = {
        name: ReleasedStatistic(
            values=tuple(numbers.tolist()),
            scale=getattr(mechanism, f"{name}_scale"),
            **_step(getattr(mechanism, f"{name}_smoothing")),
        )
        for name, numbers in values.items()
    }
    level = "hessian" if gradient is None else "gradient"
    return {"theta": tuple(theta.tolist()), "level": level} | statistics


def _step(step: LatticeSmoothing) -> dict[str, Any]:
    """Return the public constants of a smoothing step as fields."""
    return {
        "smoothing_scale": step.scale,
        "smoothing_error": step.error,
        "smoothing_step": step.grid,
    }
