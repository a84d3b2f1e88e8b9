"""Choose the mechanism of a posterior fit by public numbers, and let it release."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from skdp._typing import FloatArray
from skdp.accounting import Guarantee, PrivacyPart
from skdp.linear_model._posterior_settings import PosteriorSettings, Route
from skdp.linear_model._progress import Tasks, batch_sizes
from skdp.mechanisms import BoundedPosterior, GibbsPosterior, LocalizedPosterior
from skdp.rows import PrivateRows
from skdp.samplers import Ball, mala

__all__ = ["Released", "calibrated", "count_tasks", "released"]

PosteriorMechanism = GibbsPosterior | LocalizedPosterior | BoundedPosterior


@dataclass(frozen=True, slots=True)
class Released:
    """What a fit gives away: draws, the centre they are from, and public constants.

    ``posterior`` is the law of one draw, ``draws`` has shape (n_samples, d) and
    ``center`` shape (d,), in the mechanism's coordinates.
    """

    posterior: GibbsPosterior
    center: FloatArray
    draws: FloatArray
    guarantee: Guarantee
    parts: tuple[PrivacyPart, ...]
    grade: str


def calibrated(settings: PosteriorSettings, rows: PrivateRows) -> PosteriorMechanism:
    """Return the mechanism whose draws together meet the target."""
    d, target, n = rows.n_coefficients, settings.linear.target, settings.n_samples
    common: dict[str, Any] = {
        "loss": settings.losses.loss,
        "radius": settings.linear.ball.radius,
        "n_coefficients": d,
        "alpha": settings.linear.alpha,
    }
    if settings.route is Route.LOCALIZED:
        mechanism = LocalizedPosterior.calibrate(
            target, max_radius=settings.radius, n_draws=n, **common
        )
        if settings.must_localize or mechanism.narrows:
            return mechanism
    radius, common = settings.radius, common | {"n_releases": n}
    common["ball"] = None if radius is None else Ball.around_zero(d, radius)
    if settings.route is not Route.BOUNDED:
        return GibbsPosterior.calibrate(target, **common)
    n_rows = _n_rows(settings, rows)
    try:
        return BoundedPosterior.calibrate(target, n_rows=n_rows, **common)
    except ValueError as error:  # of public numbers alone
        raise ValueError(
            "constant_time=True would take too much work, or an amount that cannot be "
            f"bounded, got loss={settings.losses.name}, radius={radius:g} and "
            f"{n_rows} rows at most. Allowed: a loss that bends everywhere on the ball "
            "('huber' does within its scale only), few columns, and a small radius. "
            "Choose a smaller radius, another loss, or constant_time=False."
        ) from error


def _n_rows(settings: PosteriorSettings, rows: PrivateRows) -> int:
    """Return the public number of rows, or bound on it, of a fit of public work."""
    n_rows = 0
    for x, y in rows.blocks:
        if sp.issparse(x):
            raise ValueError(
                "constant_time=True needs dense rows, got sparse blocks: time spent on "
                "them tells how many entries they have. Allowed: dense blocks. Convert "
                "them with toarray(), or use constant_time=False."
            )
        n_rows += y.size
    if settings.n_max is None:  # replace-one: the number itself is public
        return n_rows
    if n_rows > settings.n_max:
        raise ValueError(
            f"X has more rows than constant_time was promised for, got "
            f"n_max={settings.n_max}. Allowed: at most n_max rows, in every data set. "
            "Raise n_max, from public knowledge."
        )
    return settings.n_max


def count_tasks(settings: PosteriorSettings, mechanism: PosteriorMechanism) -> int:
    """Return the number of tasks of a fit, a public number."""
    at_once = settings.heuristic or settings.route is Route.BOUNDED
    n_batches = 1 if at_once else len(batch_sizes(settings.n_samples))
    return n_batches + isinstance(mechanism, LocalizedPosterior)


def released(
    mechanism: PosteriorMechanism,
    settings: PosteriorSettings,
    rows: PrivateRows,
    tasks: Tasks,
) -> Released:
    """Make all the draws that were paid for."""
    if isinstance(mechanism, LocalizedPosterior):
        return _localized(mechanism, settings, rows, tasks)
    if isinstance(mechanism, BoundedPosterior):
        return _bounded(mechanism, settings, rows, tasks)
    return _plain(mechanism, settings, rows, tasks)


def _plain(
    mechanism: GibbsPosterior,
    settings: PosteriorSettings,
    rows: PrivateRows,
    tasks: Tasks,
) -> Released:
    of_draws = _part_of_draws("GibbsPosterior", mechanism, settings.n_samples)
    return Released(
        posterior=mechanism,
        center=np.zeros(rows.n_coefficients),
        draws=_draws(mechanism, settings, rows, tasks),
        guarantee=mechanism.guarantee_of(settings.n_samples),
        parts=(of_draws,),
        grade=_grade(settings),
    )


def _localized(
    mechanism: LocalizedPosterior,
    settings: PosteriorSettings,
    rows: PrivateRows,
    tasks: Tasks,
) -> Released:
    with tasks.task("centre"):
        center = mechanism.center.release(rows, settings.source).output
    posterior = mechanism.posterior(center)
    of_draws = _part_of_draws("GibbsPosterior", posterior, settings.n_samples)
    of_center = PrivacyPart("OutputPerturbation", mechanism.center.guarantee, "centre")
    return Released(
        posterior=posterior,
        center=center,
        draws=_draws(posterior, settings, rows, tasks),
        guarantee=mechanism.guarantee,
        parts=(of_center, of_draws),
        grade=_grade(settings),
    )


def _bounded(
    mechanism: BoundedPosterior,
    settings: PosteriorSettings,
    rows: PrivateRows,
    tasks: Tasks,
) -> Released:
    with tasks.task("draws"):
        found = mechanism.release_many(rows, settings.n_samples, settings.source)
    return Released(
        posterior=mechanism.posterior,
        center=np.zeros(rows.n_coefficients),
        draws=np.stack([release.output for release in found]),
        guarantee=mechanism.guarantee_of(settings.n_samples),
        parts=(_part_of_draws("BoundedPosterior", mechanism, settings.n_samples),),
        grade=mechanism.grade,
    )


def _grade(settings: PosteriorSettings) -> str:
    return "heuristic" if settings.heuristic else "proved"


def _part_of_draws(
    name: str, mechanism: GibbsPosterior | BoundedPosterior, n_draws: int
) -> PrivacyPart:
    note = "1 draw" if n_draws == 1 else f"{n_draws} draws"
    return PrivacyPart(name, mechanism.guarantee_of(n_draws), note)


def _draws(
    posterior: GibbsPosterior,
    settings: PosteriorSettings,
    rows: PrivateRows,
    tasks: Tasks,
) -> FloatArray:
    """Return the draws, exact ones or the heuristic's."""
    if settings.heuristic:
        with tasks.task("draws"):
            near = mala(posterior.target(rows), settings.n_samples, settings.source)
            return posterior.smoothing.release_each(near, settings.source)
    sizes = batch_sizes(settings.n_samples)
    batches = posterior.release_batches(rows, sizes, settings.source)
    found = []
    for _ in sizes:
        with tasks.task("draws"):
            found += [release.output for release in next(batches)]
    return np.stack(found)
