"""The public settings of a posterior sampler, checked before any row is read."""

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any, cast

from skdp._validation import (
    MIN_EPSILON,
    check_choice,
    check_count,
    check_flag,
    check_positive,
    is_auto,
)
from skdp.accounting import Adjacency
from skdp.linear_model._posterior_loss import LossSettings, read_loss
from skdp.linear_model._settings import Limits, LinearSettings, read_settings
from skdp.random import RandomSource
from skdp.rows import Labels

__all__ = ["PosteriorSettings", "Route", "read_posterior_settings"]

#: Ranges in which tables of either kind were drawn from without trouble.
_LIMITS = Limits(
    data_norm=(1e-20, 1e20),
    intercept_scaling=(1e-3, 1e3),
    alpha=(1e-9, 1e8),
    alpha_power=2,
    alpha_remedy="Use 'auto' for a ridge under which the posterior of no rows is about "
    "as wide as the ball.",
)
#: Radius of a ball, in multiples of one over data_norm: margins of this size.
_LEAST_REACH, _MOST_REACH = 1e-6, 1e4
#: Margins in multiples of the scale of a loss beyond which a draw takes minutes.
_MOST_SCALES = 1e5
#: More draws than anybody stores, and the least epsilon for one of them.
_MOST_DRAWS, _LEAST_EPSILON = 100_000, MIN_EPSILON
#: More rows than can be padded in memory.
_MOST_ROWS = 1_000_000_000
#: Radius that localisation stays within where none is given, times data_norm.
_TYPICAL_REACH = 3.0


class Route(Enum):
    """Which mechanism draws; decided by public numbers alone."""

    #: One Gibbs posterior, on a given ball or on the whole space.
    PLAIN = "plain"
    #: A private centre first, then a Gibbs posterior on a ball around it.
    LOCALIZED = "localized"
    #: A Gibbs posterior on a given ball, with an amount of work that is public.
    BOUNDED = "bounded"


@dataclass(frozen=True, slots=True)
class PosteriorSettings:
    """Checked parameters in the form the mechanisms want them.

    ``radius`` is None for the whole space; for the localized route it is the public
    radius that the localisation stays within. That route may give way to the plain one
    on the ball of that radius, unless it ``must_localize``.
    """

    linear: LinearSettings
    losses: LossSettings
    route: Route
    must_localize: bool
    radius: float | None
    heuristic: bool
    any_width: bool
    n_samples: int
    n_max: int | None

    @property
    def source(self) -> RandomSource:
        """Where the randomness comes from."""
        return self.linear.source


def read_posterior_settings(estimator: Any) -> PosteriorSettings:
    """Check the constructor parameters of ``estimator``; read no data."""
    linear = read_settings(estimator, _LIMITS)
    losses = read_loss(estimator, cast(Labels | None, linear.labels))
    _check_sampler(estimator)
    n_samples = _n_samples(estimator)
    n_max = _n_max(estimator)
    radius = _radius(estimator.radius, linear.ball.data_norm)
    route = _route(estimator, is_pure=linear.delta == 0.0, radius=radius)
    if route is Route.LOCALIZED and radius is None:
        radius = _TYPICAL_REACH / linear.ball.data_norm
    settings = PosteriorSettings(
        linear=linear,
        losses=losses,
        route=route,
        must_localize=not is_auto(estimator.localize),
        radius=radius,
        heuristic=estimator.sampler == "mala",
        any_width=estimator.sampler != "auto",
        n_samples=n_samples,
        n_max=n_max,
    )
    _check_domain(settings)
    _check_scale(settings)
    if route is Route.BOUNDED:
        _check_bounded(settings)
    return settings


def _check_sampler(estimator: Any) -> None:
    check_choice(
        "sampler",
        estimator.sampler,
        ["auto", "exact", "mala"],
        remedy="Use 'auto' for exact draws; 'mala' carries no guarantee.",
    )


def _n_samples(estimator: Any) -> int:
    """Return the number of draws; refuse more than epsilon can be divided among."""
    remedy = "Say how many posterior draws share epsilon."
    n_samples = check_count(
        "n_samples",
        estimator.n_samples,
        minimum=1,
        maximum=_MOST_DRAWS,
        remedy=remedy,
    )
    # a little more, for 3e-9 is three times 1e-9
    most = math.floor(float(estimator.epsilon) / _LEAST_EPSILON * (1 + 1e-9))
    if n_samples > most:
        raise ValueError(
            f"n_samples leaves too little epsilon for one draw, got {n_samples} with "
            f"epsilon={estimator.epsilon!r}. Allowed: up to {most} draws, "
            f"{_LEAST_EPSILON:g} for each. Choose fewer draws, or a larger epsilon."
        )
    return n_samples


def _n_max(estimator: Any) -> int | None:
    if estimator.n_max is None:
        return None
    remedy = "Choose a public bound on the number of rows, or None."
    n_max = check_count(
        "n_max", estimator.n_max, minimum=1, maximum=_MOST_ROWS, remedy=remedy
    )
    if not _constant_time(estimator):
        raise ValueError(
            f"n_max without constant_time has no effect, got n_max={n_max} with "
            "constant_time=False. Allowed: None, or both. Set constant_time=True, or "
            "leave n_max out."
        )
    return n_max


def _radius(radius: object, data_norm: float) -> float | None:
    if is_auto(radius):
        return None
    return check_positive(
        "radius",
        radius,
        minimum=_LEAST_REACH / data_norm,
        maximum=_MOST_REACH / data_norm,
        remedy="Choose how large a coefficient vector may be, without the data: a few "
        "times one over data_norm, or 'auto'.",
        or_auto=True,
    )


def _constant_time(estimator: Any) -> bool:
    remedy = "Use constant_time=True where an attacker can time the fit."
    return check_flag("constant_time", estimator.constant_time, remedy=remedy)


def _localize(estimator: Any) -> bool | None:
    """Return whether a private centre is wanted; None where it is left to the fit."""
    if is_auto(estimator.localize):
        return None
    remedy = "Use 'auto' unless you know that a private centre pays."
    return check_flag("localize", estimator.localize, remedy=remedy, or_auto=True)


def _route(estimator: Any, *, is_pure: bool, radius: float | None) -> Route:
    localize = _localize(estimator)
    if _constant_time(estimator):
        if localize or radius is None:
            raise ValueError(
                "constant_time=True needs a public ball around zero, got "
                f"radius={estimator.radius!r}, localize={estimator.localize!r}. "
                "Allowed: a radius > 0, localize 'auto' or False. Choose a radius, or "
                "constant_time=False."
            )
        return Route.BOUNDED
    if localize is None:
        localize = is_pure and radius is None
    if localize:
        return Route.LOCALIZED
    if is_pure and radius is None:
        raise ValueError(
            "radius='auto' leaves a pure guarantee (delta=0) without a ball, got "
            "localize=False. Allowed: a radius > 0, localize=True, or delta > 0. "
            "Choose one of them, for example radius=3.0."
        )
    return Route.PLAIN


def _check_domain(settings: PosteriorSettings) -> None:
    """Refuse a loss of unbounded slope on the whole space."""
    losses = settings.losses
    if settings.radius is None and not losses.has_bounded_slope(settings.linear.ball):
        raise ValueError(
            f"the slope of the loss has no bound on the whole space, got "
            f"loss={losses.name} with radius='auto'. Allowed: a radius > 0, "
            "localize=True, or a loss of bounded slope. Choose a radius, or "
            "loss='huber'."
        )


def _check_scale(settings: PosteriorSettings) -> None:
    """Refuse a loss that is all kink on its ball: few proposals would be accepted."""
    scale, radius = getattr(settings.losses.loss, "scale", None), settings.radius
    if scale is None or radius is None:
        return
    least = radius * settings.linear.ball.data_norm / _MOST_SCALES
    if scale < least:
        raise ValueError(
            "scale is too small beside the margins on the ball, got "
            f"{scale:g} of half the range of y with radius={radius:g}. Allowed: at "
            f"least {least:g} of it. Choose a larger scale, or a smaller radius."
        )


def _check_bounded(settings: PosteriorSettings) -> None:
    if settings.heuristic:
        raise ValueError(
            "constant_time=True is a promise of the exact sampler, got sampler='mala'. "
            "Allowed: 'auto' or 'exact'. Use sampler='auto'."
        )
    add_remove = settings.linear.target.adjacency is Adjacency.ADD_REMOVE
    if add_remove and settings.n_max is None:
        raise ValueError(
            "constant_time=True needs a public number of rows, got n_max=None with "
            "adjacency='add-remove'. Allowed: n_max, an integer that bounds the number "
            "of rows, or adjacency='replace-one'. Choose n_max from public knowledge."
        )
