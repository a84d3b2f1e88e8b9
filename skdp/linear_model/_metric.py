"""The metric of a fit: whether it is learned from the rows, and what is then released.

A private metric is second moments with noise, in which rows and noise are rounder than
in the columns as they come.
"""

from typing import Literal, TypeAlias, cast

from skdp._validation import check_choice
from skdp.accounting import Adjacency, ApproximateDP
from skdp.linear_model._settings import LinearSettings
from skdp.losses import LogCoshLoss, LogisticLoss, Tilting
from skdp.mechanisms import PreconditionedObjectivePerturbation
from skdp.rows import Classes

__all__ = [
    "METRIC_ATTRIBUTES",
    "Metric",
    "check_metric",
    "in_private_metric",
    "is_private",
]

Metric: TypeAlias = Literal["auto", "private", "identity"]

#: Coefficients from which on a metric is worth its budget, and the most it can have.
_WORTHWHILE, _MOST = 10, 2048
_LOSSES = (LogisticLoss, LogCoshLoss)
#: What a fit in a private metric publishes beside the coefficients, None for others.
METRIC_ATTRIBUTES = frozenset({"metric_", "center_", "budget_", "release_"})
_REMEDY = "Use 'auto' for the private metric where it pays."


def check_metric(
    metric: object,
    settings: LinearSettings,
    loss: Tilting,
    *,
    level: str = "data-independent",
) -> Metric:
    """Return what is asked for; "identity" for "auto" where the metric has no proof.

    Parameters
    ----------
    metric : object
        The parameter of an estimator.
    settings : LinearSettings
        Its other settings.
    loss : Tilting
        The loss of a row.
    level : str
        What its report holds.

    Raises
    ------
    ValueError
        If the metric is asked for and does not go with the rest.
    """
    check_choice("metric", metric, ["auto", "private", "identity"], remedy=_REMEDY)
    choice = cast(Metric, metric)
    if choice == "identity":
        return choice
    reason = _obstacle(settings, loss, level)
    if reason is None:
        return choice
    if choice == "auto":
        return "identity"
    got, allowed, why = reason
    raise ValueError(
        f"metric='private' does not go with {got}: {why}. Allowed: {allowed}. Change "
        "that, or use metric='identity'."
    )


def _obstacle(
    settings: LinearSettings, loss: Tilting, level: str
) -> tuple[str, str, str] | None:
    """Return what does not go with a metric, what would, and why; None for nothing."""
    adjacency = settings.target.adjacency
    if isinstance(settings.labels, Classes):
        return "more than two classes", "two classes", "there is no proof for it"
    if type(loss) not in _LOSSES:
        name = type(loss).__name__
        return name, "the logistic and the log-cosh loss", "there is no proof for it"
    if settings.delta == 0.0:
        return "delta=0", "0 < delta < 1", "its releases have Gaussian noise"
    if adjacency is not Adjacency.ADD_REMOVE:
        got, why = f"adjacency={str(adjacency)!r}", "there is no proof for it"
        return got, "adjacency='add-remove'", why
    if settings.conservative:
        why = "the published bound is for plain objective perturbation"
        return "conservative=True", "conservative=False", why
    if level != "data-independent":
        allowed = "pdp_report='data-independent'"
        return f"pdp_report={level!r}", allowed, "reports speak about one release"
    return None


def is_private(metric: Metric, n_coefficients: int) -> bool:
    """Return whether a fit of so many coefficients learns its metric."""
    if metric == "auto":
        return _WORTHWHILE <= n_coefficients <= _MOST
    return metric == "private"


def in_private_metric(
    settings: LinearSettings,
    n_coefficients: int,
    loss: Tilting,
    *,
    scale: Literal["auto", "loss"] = "loss",
) -> PreconditionedObjectivePerturbation:
    """Return the mechanism that learns its metric first.

    Raises
    ------
    ValueError
        If there are too many coefficients, or the noise is too large to compute with.
    """
    if n_coefficients > _MOST:
        raise ValueError(
            f"metric='private' does not go with {n_coefficients} coefficients, "
            f"intercept included. Allowed: at most {_MOST}. Use fewer columns, or "
            "metric='identity'."
        )
    try:
        return PreconditionedObjectivePerturbation.calibrate(
            cast(ApproximateDP, settings.target),
            loss=cast(LogisticLoss | LogCoshLoss, loss),
            radius=settings.ball.radius,
            n_coefficients=n_coefficients,
            alpha=settings.alpha,
            scale=scale,
        )
    except ValueError as error:
        epsilon = settings.target.epsilon_bound
        raise ValueError(
            f"metric='private' does not go with epsilon={epsilon:g} and "
            f"delta={settings.delta:g}: its noise could not be computed with. Allowed: "
            "larger ones. Change them, or use metric='identity'."
        ) from error
