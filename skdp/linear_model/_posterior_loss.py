"""The loss of a posterior sampler, and what its targets look like; all public."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skdp._validation import check_positive, check_real
from skdp.losses import HuberLoss, LogCoshLoss, LogisticLoss, Oscillating, SquaredLoss
from skdp.rows import L2Ball, Labels, Targets

__all__ = ["LossSettings", "read_bounds", "read_loss"]

#: Losses by name, with a scale or without.
_NAMED = ("squared", "huber", "log-cosh")
_LABELLED = "logistic"
#: Margins and targets at which a loss of one's own must not bend down.
_GRID = np.linspace(-8.0, 8.0, 129)
#: Bounds of targets stay where the middle and the width are floats.
_LARGEST = 1e100


@dataclass(frozen=True, slots=True)
class LossSettings:
    """A loss, and what encodes its targets.

    ``encoder`` is None when the label set has to be read from ``y``.
    """

    name: str
    loss: Oscillating
    encoder: Labels | Targets | None

    def has_bounded_slope(self, ball: L2Ball) -> bool:
        """Tell whether one row's gradient is bounded on the whole space."""
        return bool(np.isfinite(self.loss.constants(ball.radius).lipschitz))


def read_loss(estimator: Any, labels: Labels | None) -> LossSettings:
    """Check loss, scale and bounds of ``estimator``; read no data."""
    given = getattr(estimator, "loss", _LABELLED)
    if isinstance(given, str):
        choices = _NAMED if not hasattr(estimator, "classes") else (_LABELLED, *_NAMED)
        return _named(estimator, given, choices, labels)
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
    return LossSettings(name, given, read_bounds(estimator.bounds_y, bound=bound))


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
    scale = _scale(estimator.scale, targets)
    made: dict[str, Oscillating] = {
        "squared": SquaredLoss(),
        "huber": HuberLoss(scale=scale),
        "log-cosh": LogCoshLoss(scale=scale),
    }
    return LossSettings(repr(name), made[name], targets)


def _scale(scale: object, targets: Targets) -> float:
    """Return the scale of a loss on encoded targets; a quarter of the range if auto."""
    if isinstance(scale, str) and scale == "auto":
        return 0.5
    remedy = "Use 'auto' for a quarter of the range of the targets."
    return check_positive("scale", scale, remedy=remedy) / targets.unit


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
