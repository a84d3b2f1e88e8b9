"""The public settings of a private linear model, checked before any row is read."""

import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from skdp._validation import (
    check_choice,
    check_delta,
    check_epsilon,
    check_flag,
    check_positive,
    check_real,
    is_auto,
)
from skdp.accounting import Adjacency, ApproximateDP, PureDP
from skdp.mechanisms._objective_perturbation import check_conservative
from skdp.random import RandomSource, as_random_source
from skdp.rows import Classes, L2Ball, Labels
from skdp.rows._encoder import LabelSet

__all__ = [
    "OBJECTIVE_LIMITS",
    "Limits",
    "LinearSettings",
    "read_ball",
    "read_quantile",
    "read_settings",
]


#: The least constant of an intercept that is not left out, and the largest ridge.
_LEAST_CONSTANT, _MOST_RIDGE = 1e-100, 1e220


@dataclass(frozen=True, slots=True)
class Limits:
    """Ranges within which a mechanism computes well, and what ``alpha="auto"`` is.

    The intercept's constant is in multiples of ``data_norm``, the ridge in multiples of
    ``data_norm`` to the power ``alpha_power``.
    """

    data_norm: tuple[float, float]
    intercept_scaling: tuple[float, float]
    alpha: tuple[float, float]
    alpha_power: int
    alpha_remedy: str


#: Of objective perturbation, which raises a small ridge to what it needs.
OBJECTIVE_LIMITS = Limits(
    data_norm=(1e-100, 1e100),
    intercept_scaling=(0.0, math.inf),
    alpha=(0.0, 1e100),
    alpha_power=2,
    alpha_remedy="Use 'auto' for the smallest ridge that keeps the noise at its "
    "minimum.",
)


@dataclass(frozen=True, slots=True)
class LinearSettings:
    """Checked parameters in the form the mechanism wants them.

    ``labels`` is None when the label set has to be read from ``y``, or there is none.
    """

    target: PureDP | ApproximateDP
    delta: float
    ball: L2Ball
    alpha: float | Literal["auto"]
    labels: LabelSet | None
    source: RandomSource
    conservative: bool = False


def read_settings(
    estimator: Any, limits: Limits = OBJECTIVE_LIMITS, *, several: bool = False
) -> LinearSettings:
    """Check the constructor parameters all linear models share; read no data.

    ``several`` says whether there may be more than two classes.
    """
    epsilon = check_epsilon(estimator.epsilon)
    delta = check_delta(estimator.delta)
    choices = [relation.value for relation in Adjacency]
    check_choice(
        "adjacency",
        getattr(estimator.adjacency, "value", estimator.adjacency),
        choices,
        remedy="Use 'add-remove' unless the number of people is public.",
    )
    adjacency = Adjacency(estimator.adjacency)
    ball = read_ball(estimator, limits)
    return LinearSettings(
        target=(
            ApproximateDP(epsilon, delta, adjacency=adjacency)
            if delta > 0.0
            else PureDP(epsilon, adjacency=adjacency)
        ),
        delta=delta,
        ball=ball,
        alpha=_alpha(estimator.alpha, ball.data_norm, limits),
        labels=_labels(getattr(estimator, "classes", None), several=several),
        source=as_random_source(estimator.random_state),
        conservative=_conservative(estimator, delta, adjacency),
    )


def _conservative(estimator: Any, delta: float, adjacency: Adjacency) -> bool:
    """Return whether the published calibration is asked for; refuse where none is."""
    conservative = check_flag(
        "conservative",
        getattr(estimator, "conservative", False),
        remedy="Use True for the calibration of the literature.",
    )
    if conservative:
        check_conservative(delta, adjacency)
    return conservative


def read_quantile(quantile: object) -> float:
    """Return which quantile is asked for, within what can be computed with."""
    return check_positive(
        "quantile",
        quantile,
        remedy="Use 0.5 for the median.",
        minimum=1e-6,
        maximum=1.0 - 1e-6,
    )


def read_ball(estimator: Any, limits: Limits) -> L2Ball:
    least, most = limits.data_norm
    data_norm = check_positive(
        "data_norm",
        estimator.data_norm,
        minimum=least,
        maximum=most,
        remedy="Choose a bound on the L2 norm of a row that needs no look at the data; "
        "longer rows are clipped to it.",
    )
    scaling = _intercept_scaling(estimator.intercept_scaling, data_norm, limits)
    has_constant = check_flag(
        "fit_intercept",
        estimator.fit_intercept,
        remedy="Use fit_intercept=True for a model with a constant.",
    )
    return L2Ball(data_norm, scaling) if has_constant else L2Ball(data_norm)


def _intercept_scaling(scaling: object, data_norm: float, limits: Limits) -> float:
    if is_auto(scaling):
        # half the norm: 12 % more noise for an intercept shrunk no more than need be
        return max(data_norm / 2, _LEAST_CONSTANT)
    least, most = (times * data_norm for times in limits.intercept_scaling)
    return check_positive(
        "intercept_scaling",
        scaling,
        minimum=max(least, _LEAST_CONSTANT),
        maximum=min(most, 1e100),
        remedy="Use 'auto' for half of data_norm.",
        or_auto=True,
    )


def _alpha(alpha: object, data_norm: float, limits: Limits) -> float | Literal["auto"]:
    if isinstance(alpha, str) and alpha == "auto":
        return "auto"
    unit = data_norm**limits.alpha_power
    least, most = (min(times * unit, _MOST_RIDGE) for times in limits.alpha)
    allowed = f"'auto' or a number from {least:g} to {most:g}"
    if limits.alpha_power:
        allowed += f" with data_norm={data_norm:g}, a multiple of its square"
    number = check_real("alpha", alpha, allowed=allowed, remedy=limits.alpha_remedy)
    if not least <= number <= most:
        raise ValueError(
            f"alpha is out of range, got {alpha!r}. Allowed: {allowed}. "
            f"{limits.alpha_remedy}"
        )
    return number


def _labels(classes: Any, *, several: bool) -> LabelSet | None:
    if classes is None:
        return None
    listed = not isinstance(classes, str) and isinstance(classes, Iterable)
    most = math.inf if several else 2
    labels: LabelSet | None = None
    if listed and 2 <= len(list(classes)) <= most:
        # what cannot be sorted, or is no list of labels, is refused below
        with suppress(TypeError, ValueError):
            labels = Labels(classes) if len(list(classes)) == 2 else Classes(classes)
    if labels is None or labels.classes.size != len(list(classes)):
        number, all_of = ("two or more", "all") if several else ("two", "both")
        raise ValueError(
            f"classes must hold {number} different labels of one kind, got "
            f"{classes!r}. Allowed: a list of {number} labels, or None to read them "
            f"from y. Declare {all_of} labels of the problem, for example "
            "classes=[0, 1]."
        )
    return labels
