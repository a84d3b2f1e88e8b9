"""One fit of a tilted objective: which mechanism makes it, what is published, and told.

Four mechanisms stand behind the estimators: the objective in the columns as they are,
the same with a report that is paid for, the one in a private metric, and the softmax.
"""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from skdp._typing import FloatArray
from skdp.linear_model._metric import (
    METRIC_ATTRIBUTES,
    Metric,
    in_private_metric,
    is_private,
)
from skdp.linear_model._reporting import DATA_INDEPENDENT, Reporting, with_report
from skdp.linear_model._settings import LinearSettings
from skdp.losses import Tilting
from skdp.mechanisms import (
    ObjectivePerturbation,
    PreconditionedObjectivePerturbation,
    PreconditionedRelease,
    ReportedObjectivePerturbation,
    SoftmaxPerturbation,
)
from skdp.pdp import preconditioned_loss, published_loss, softmax_loss
from skdp.pdp._published import Kind
from skdp.rows import Classes, PrivateRows
from skdp.rows._encoder import Encoder

__all__ = ["ObjectiveMechanism", "Problem", "calibrated", "released", "row_loss"]

ObjectiveMechanism: TypeAlias = (
    Reporting | PreconditionedObjectivePerturbation | SoftmaxPerturbation
)


@dataclass(frozen=True, slots=True)
class Problem:
    """The loss of a row, what encodes its target, and how it is to be fitted.

    ``encoder`` is None when the label set has to be read from ``y``. ``scale`` says
    whether a private metric brings its own scale of the loss, ``level`` what a report
    holds.
    """

    loss: Tilting
    encoder: Encoder | None
    metric: Metric = "identity"
    scale: Literal["auto", "loss"] = "loss"
    level: str = DATA_INDEPENDENT


def calibrated(
    problem: Problem, settings: LinearSettings, encoder: Encoder, n_coefficients: int
) -> ObjectiveMechanism:
    """Return the mechanism that the settings ask for, for so many coefficients."""
    if isinstance(encoder, Classes):
        return SoftmaxPerturbation.calibrate(
            settings.target,
            radius=settings.ball.radius,
            n_coefficients=n_coefficients,
            n_classes=encoder.classes.size,
            alpha=settings.alpha,
        )
    if is_private(problem.metric, n_coefficients):
        try:
            return in_private_metric(
                settings, n_coefficients, problem.loss, scale=problem.scale
            )
        except ValueError:  # for reasons that are public
            if problem.metric == "private":
                raise
    if problem.level != DATA_INDEPENDENT:
        return with_report(settings, n_coefficients, problem.level)
    return ObjectivePerturbation.calibrate(
        settings.target,
        radius=settings.ball.radius,
        n_coefficients=n_coefficients,
        alpha=settings.alpha,
        loss=problem.loss,
        conservative=settings.conservative,
    )


def released(
    mechanism: ObjectiveMechanism, output: FloatArray | PreconditionedRelease
) -> dict[str, Any]:
    """Return fitted attributes, the same names for all kinds of fits."""
    if isinstance(output, PreconditionedRelease):
        return _released_in_metric(
            cast(PreconditionedObjectivePerturbation, mechanism), output
        )
    theta, main = output, mechanism
    if isinstance(mechanism, ReportedObjectivePerturbation):
        theta, main = mechanism.split(output)[0], mechanism.main
    if isinstance(mechanism, SoftmaxPerturbation):
        theta = theta.reshape(mechanism.n_classes, mechanism.n_coefficients)
    plain = cast(ObjectivePerturbation | SoftmaxPerturbation, main)
    return {
        "theta_": np.array(theta),
        "alpha_": plain.alpha,
        "noise_scale_": plain.noise_law.scale,
        "smoothing_scale_": plain.smoothing.scale,
    } | dict.fromkeys(METRIC_ATTRIBUTES)


def _released_in_metric(
    mechanism: PreconditionedObjectivePerturbation, release: PreconditionedRelease
) -> dict[str, Any]:
    last = mechanism.phases[-1]
    return {
        "theta_": np.array(release.coefficients),
        "alpha_": mechanism.ridge(release.geometry),
        "noise_scale_": last.noise_law.scale,
        "smoothing_scale_": last.step.scale,
        "metric_": release.metric,
        "center_": release.center,
        "budget_": release.budget,
        "release_": release,
    }


def row_loss(
    mechanism: ObjectiveMechanism,
    theta: FloatArray,
    release: PreconditionedRelease | None,
    rows: PrivateRows,
    *,
    rho: float,
    kind: Kind = "either",
    simultaneous: bool = False,
) -> FloatArray:
    """Bound the loss of each row by all that was released.

    Parameters
    ----------
    mechanism : mechanism of the fit
    theta : ndarray
        The released coefficients, in the mechanism's coordinates.
    release : PreconditionedRelease or None
        What a fit in a private metric published.
    rows : PrivateRows
        The rows asked about.
    rho : float
        Probability that the bound fails.
    kind : {"either", "member", "non-member"}
        Which loss; with a private metric always the absolute one.
    simultaneous : bool
        Whether for all rows at once.

    Raises
    ------
    ValueError
        If ``simultaneous`` is asked of a private metric.
    """
    if isinstance(mechanism, PreconditionedObjectivePerturbation):
        if simultaneous:
            raise ValueError(
                "simultaneous=True does not go with a private metric: the bound is for "
                "one row fixed beforehand. Allowed: simultaneous=False. For m rows "
                "chosen beforehand pass rho / m, or fit with metric='identity'."
            )
        return preconditioned_loss(
            mechanism, cast(PreconditionedRelease, release), rows, rho=rho
        )
    question: dict[str, Any] = {"kind": kind, "rho": rho, "simultaneous": simultaneous}
    if isinstance(mechanism, SoftmaxPerturbation):
        return softmax_loss(mechanism, theta.ravel(), rows, **question)
    plain = cast(ObjectivePerturbation, mechanism)
    return published_loss(plain, theta, rows, **question)
