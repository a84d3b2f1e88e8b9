"""The public settings of a posterior sampler, checked before any row is read."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from skdp._validation import check_choice, check_count, check_positive
from skdp.accounting import Adjacency
from skdp.linear_model._posterior_loss import LossSettings, read_loss
from skdp.linear_model._settings import LinearSettings, read_settings
from skdp.random import RandomSource

__all__ = ["PosteriorSettings", "Route", "read_posterior_settings"]

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
    radius that the localisation stays within.
    """

    linear: LinearSettings
    losses: LossSettings
    route: Route
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
    linear = read_settings(estimator)
    losses = read_loss(estimator, linear.labels)
    _check_switches(estimator)
    n_samples = check_count(
        "n_samples",
        estimator.n_samples,
        minimum=1,
        remedy="Say how many posterior draws share epsilon.",
    )
    radius = _radius(estimator.radius)
    route = _route(estimator, is_pure=linear.delta == 0.0, radius=radius)
    if route is Route.LOCALIZED and radius is None:
        radius = _TYPICAL_REACH / linear.ball.data_norm
    settings = PosteriorSettings(
        linear=linear,
        losses=losses,
        route=route,
        radius=radius,
        heuristic=estimator.sampler == "mala",
        any_width=estimator.sampler != "auto",
        n_samples=n_samples,
        n_max=_n_max(estimator.n_max),
    )
    _check_domain(settings)
    if route is Route.BOUNDED:
        _check_bounded(settings)
    return settings


def _check_switches(estimator: Any) -> None:
    check_choice(
        "sampler",
        estimator.sampler,
        ["auto", "exact", "mala"],
        remedy="Use 'auto' for exact draws; 'mala' carries no guarantee.",
    )
    check_choice(
        "localize",
        estimator.localize,
        ["auto", True, False],
        remedy="Use 'auto': only pure privacy without a radius needs a private centre.",
    )
    check_choice(
        "constant_time",
        estimator.constant_time,
        [True, False],
        remedy="Use constant_time=True where an attacker can time the fit.",
    )


def _radius(radius: object) -> float | None:
    if isinstance(radius, str) and radius == "auto":
        return None
    return check_positive(
        "radius",
        radius,
        remedy="Choose how large a coefficient vector may be, without the data, or "
        "'auto'.",
    )


def _n_max(n_max: object) -> int | None:
    if n_max is None:
        return None
    remedy = "Choose a public bound on the number of rows, or None."
    return check_count("n_max", n_max, minimum=1, remedy=remedy)


def _route(estimator: Any, *, is_pure: bool, radius: float | None) -> Route:
    localize = estimator.localize
    if estimator.constant_time:
        if localize is True or radius is None:
            raise ValueError(
                "constant_time=True needs a public ball around zero, got "
                f"radius={estimator.radius!r}, localize={localize!r}. Allowed: a "
                "radius > 0, localize 'auto' or False. Choose a radius, or "
                "constant_time=False."
            )
        return Route.BOUNDED
    if localize == "auto":
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
