"""The loss of a posterior sampler, and what its targets look like; all public."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skdp._validation import check_positive, check_real, is_auto
from skdp.losses import HuberLoss, LogCoshLoss, LogisticLoss, Oscillating, SquaredLoss
from skdp.rows import L2Ball, Labels, Targets

__all__ = ["LossSettings", "read_bounds", "read_loss", "read_scale"]

#: Losses by name, and those of them that have a scale.
_NAMED, _SCALED = ("squared", "huber", "log-cosh"), ("huber", "log-cosh")
_LABELLED = "logistic"
#: What parameters are for that not every loss looks at.
_USE = {
    "classes": "takes labels, 'logistic'",
    "bounds_y": "takes numbers: 'squared', 'huber' or 'log-cosh'",
    "scale": "has a scale, 'huber' or 'log-cosh'; one of skdp.losses has its own",
}
#: Margins and targets at which a loss of one's own must not bend down.
_GRID = np.linspace(-8.0, 8.0, 129)
#: Bounds of targets stay where the middle and the width are floats.
_LARGEST = 1e100
#: Range of a scale, in multiples of half the range of the targets, and of a bound.
_LEAST_SCALE, _MOST_SCALE, _LEAST_BOUND, _MOST_BOUND = 1e-4, 1e3, 1e-6, 1e6


@dataclass(frozen=True, slots=True)
class LossSettings:
    """A loss, and what encodes its targets.

    ``encoder`` is None when the label set has to be read from ``y``.
    """

    name: str
    loss: Oscillating
    encoder: Labels | Targets | None

    @property
    def is_own(self) -> bool:
        """Whether the loss is the user's, so that its constants are hers to prove."""
        return not type(self.loss).__module__.startswith("skdp.losses.")

    def has_bounded_slope(self, ball: L2Ball) -> bool:
        """Tell whether one row's gradient is bounded on the whole space."""
        return bool(np.isfinite(self.loss.constants(ball.radius).lipschitz))


def read_loss(estimator: Any, labels: Labels | None) -> LossSettings:
    """Check loss, scale and bounds of ``estimator``; read no data."""
    given = getattr(estimator, "loss", _LABELLED)
    if isinstance(given, str):
        choices = _NAMED if not hasattr(estimator, "classes") else (_LABELLED, *_NAMED)
        found = _named(estimator, given, choices, labels)
    else:
        found = _own(estimator, given, labels)
    _refuse_idle(estimator, found)
    return found


def _own(estimator: Any, given: Any, labels: Labels | None) -> LossSettings:
    """Return the settings of a loss that comes as an object."""
    if not isinstance(given, Oscillating) or isinstance(given, type):
        raise TypeError(
            f"loss is neither a name nor a loss, got {given!r}. Allowed: a name, or an "
            "object of skdp.losses. Use loss='huber', or HuberLoss(scale=0.3)."
        )
    _refuse_concave(given)
    name, bound = type(given).__name__, getattr(given, "target_bound", None)
    if bound is None:
        if not hasattr(estimator, "classes"):
            raise ValueError(
                f"loss is made for labels, got {name}. Allowed: a loss with a "
                "target_bound, such as HuberLoss(). Use a classifier for labels."
            )
        return LossSettings(name, given, labels)
    _check_own_numbers(bound, getattr(given, "scale", bound))
    return LossSettings(name, given, read_bounds(estimator.bounds_y, bound=bound))


def _check_own_numbers(bound: float, scale: float) -> None:
    """Refuse a loss of sizes that cannot be computed with."""
    remedy = "Use the default 1."
    check_positive(
        "loss.target_bound",
        bound,
        minimum=_LEAST_BOUND,
        maximum=_MOST_BOUND,
        remedy=remedy,
    )
    check_positive(
        "loss.scale",
        scale,
        minimum=_LEAST_SCALE * bound,
        maximum=_MOST_SCALE * bound,
        remedy="Use about half of its target_bound.",
    )


def _refuse_idle(estimator: Any, found: LossSettings) -> None:
    """Refuse parameters that are for another loss; ignored, they would mislead."""
    idle = ["classes"] if isinstance(found.encoder, Targets) else ["bounds_y"]
    if found.name.strip("'") not in _SCALED:
        idle.append("scale")
    for name in idle:
        value = getattr(estimator, name, None)
        if value is not None and not is_auto(value):
            raise ValueError(
                f"{name} has no effect with loss={found.name}, got {name}={value!r}. "
                "Allowed: the default. Leave it out, or choose a loss that "
                f"{_USE[name]}."
            )


def _named(
    estimator: Any, name: str, choices: tuple[str, ...], labels: Labels | None
) -> LossSettings:
    if name not in choices:
        listed = ", ".join(map(repr, choices))
        raise ValueError(
            f"loss is not one of the choices, got {name!r}. Allowed: {listed}, or a "
            "convex loss of skdp.losses. Use 'huber' where outliers are expected."
        )
    if name == _LABELLED:
        return LossSettings(repr(name), LogisticLoss(), labels)
    targets = read_bounds(estimator.bounds_y)
    if name == "squared":
        return LossSettings(repr(name), SquaredLoss(), targets)
    scale = read_scale(estimator.scale, targets)
    bent = HuberLoss(scale=scale) if name == "huber" else LogCoshLoss(scale=scale)
    return LossSettings(repr(name), bent, targets)


def read_scale(scale: object, targets: Targets) -> float:
    """Return the scale of a loss on encoded targets; a quarter of the range if auto."""
    if is_auto(scale):
        return 0.5
    number = check_positive(
        "scale",
        scale,
        minimum=_LEAST_SCALE * targets.unit,
        maximum=_MOST_SCALE * targets.unit,
        remedy="It is in the units of y; use 'auto' for a quarter of bounds_y.",
        or_auto=True,
    )
    return number / targets.unit


def read_bounds(bounds: Any, *, bound: float = 1.0) -> Targets:
    """Return what maps targets within public bounds to [-bound, bound]."""
    remedy = "Declare the range of y from public knowledge; values beyond are clipped."
    allowed = "two finite numbers (low, high) with low < high"
    if bounds is None:
        raise ValueError(f"bounds_y is missing, got None. Allowed: {allowed}. {remedy}")
    pair = bounds.tolist() if isinstance(bounds, np.ndarray) else bounds
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise TypeError(
            f"bounds_y is not a pair, got {bounds!r}. Allowed: {allowed}. {remedy}"
        )
    low, high = (
        check_real("bounds_y", v, allowed=allowed, remedy=remedy) for v in pair
    )
    if not (-_LARGEST <= low < high <= _LARGEST and high - low >= 1 / _LARGEST):
        raise ValueError(
            f"bounds_y is not an interval, got {bounds!r}. Allowed: {allowed}, at most "
            f"{_LARGEST:g} in size. {remedy}"
        )
    return Targets(low, high, bound=bound)


def _refuse_concave(loss: Oscillating) -> None:
    """Refuse a loss that bends down somewhere on a public grid."""
    t, y = (grid.ravel() for grid in np.meshgrid(_GRID, np.array([-1.0, 0.0, 1.0])))
    if not np.all(loss.hessian(y, t) >= 0.0):
        raise ValueError(
            f"loss is not convex, got {type(loss).__name__}. Allowed: a convex loss, "
            "for which draws and guarantees are proved. Use LogisticLoss, SquaredLoss, "
            "HuberLoss or LogCoshLoss."
        )
