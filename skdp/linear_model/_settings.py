"""The public settings of a private linear model, checked before any row is read."""

from dataclasses import dataclass
from typing import Any, Literal

from skdp._validation import (
    check_choice,
    check_delta,
    check_epsilon,
    check_positive,
    check_real,
)
from skdp.accounting import Adjacency, ApproximateDP, PureDP
from skdp.random import RandomSource, as_random_source
from skdp.rows import L2Ball, Labels

__all__ = ["LinearSettings", "read_settings"]

#: A larger ridge would leave coefficients too small to compute with.
_MAX_ALPHA = 1e150


@dataclass(frozen=True, slots=True)
class LinearSettings:
    """Checked parameters in the form the mechanism wants them.

    ``labels`` is None when the label set has to be read from ``y``, or there is none.
    """

    target: PureDP | ApproximateDP
    delta: float
    ball: L2Ball
    alpha: float | Literal["auto"]
    labels: Labels | None
    source: RandomSource


def read_settings(estimator: Any) -> LinearSettings:
    """Check the constructor parameters all linear models share; read no data."""
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
    return LinearSettings(
        target=(
            ApproximateDP(epsilon, delta, adjacency=adjacency)
            if delta > 0.0
            else PureDP(epsilon, adjacency=adjacency)
        ),
        delta=delta,
        ball=_ball(estimator),
        alpha=_alpha(estimator.alpha),
        labels=_labels(getattr(estimator, "classes", None)),
        source=as_random_source(estimator.random_state),
    )


def _ball(estimator: Any) -> L2Ball:
    data_norm = check_positive(
        "data_norm",
        estimator.data_norm,
        remedy="Choose a bound on the L2 norm of a row that needs no look at the data; "
        "longer rows are clipped to it.",
    )
    check_choice(
        "fit_intercept",
        estimator.fit_intercept,
        [True, False],
        remedy="Use fit_intercept=True for a model with a constant.",
    )
    if not estimator.fit_intercept:
        return L2Ball(data_norm)
    scaling = estimator.intercept_scaling
    if isinstance(scaling, str) and scaling == "auto":
        # half the norm: 12 % more noise for an intercept shrunk no more than need be
        return L2Ball(data_norm, data_norm / 2)
    scaling = check_positive(
        "intercept_scaling",
        scaling,
        remedy="Use 'auto' for half of data_norm.",
    )
    return L2Ball(data_norm, scaling)


def _alpha(alpha: object) -> float | Literal["auto"]:
    if isinstance(alpha, str) and alpha == "auto":
        return "auto"
    remedy = "Use 'auto' for the smallest ridge that keeps the noise at its minimum."
    number = check_real(
        "alpha", alpha, allowed="'auto' or a number from 0 to 1e150", remedy=remedy
    )
    if not 0.0 <= number <= _MAX_ALPHA:
        raise ValueError(
            f"alpha is out of range, got {alpha!r}. Allowed: 'auto' or a number from 0 "
            f"to {_MAX_ALPHA:g}. {remedy}"
        )
    return number


def _labels(classes: Any) -> Labels | None:
    if classes is None:
        return None
    labels = Labels(classes)
    if len(list(classes)) != 2 or labels.classes.size != 2:
        raise ValueError(
            f"classes must hold two different labels, got {classes!r}. Allowed: a list "
            "of two labels, or None to read them from y. Declare both labels of the "
            "problem, for example classes=[0, 1]."
        )
    return labels
