"""Whole transcripts in up to three dimensions, on hostile pairs of tables.

What is published is what a plain law makes of the noise that was drawn, to the accuracy
that the lattice steps hide; and under that law no release, whatever came before it,
tells more about one row than the bound that the curve integrates. Both are checked
release by release, without chance.
"""

import dataclasses
import math

import numpy as np
import pytest
from preconditioned_audit import (
    DELTA,
    SETTINGS,
    calibrated,
    center_gaps,
    data_of,
    noise_squares,
    off_lattice,
    plain_stages,
    stage_gaps,
    stage_losses,
    tables,
    tolerances,
    unlike_fields,
)
from scipy.stats import chi2

from skdp.accounting import ApproximateDP
from skdp.losses import LogCoshLoss
from skdp.mechanisms import (
    GaussianNoise,
    LatticeSmoothing,
    PreconditionedObjectivePerturbation,
)
from skdp.random import as_random_source

each_setting = pytest.mark.parametrize(("task", "epsilon"), SETTINGS)


def largest_gap(mechanism, task, epsilon, d=3):
    """Largest distance from the plain law over the room for it, by name of release."""
    worst = {}
    for _, X, y in tables(task, d):
        for part, gap, room in stage_gaps(mechanism, task, epsilon, X, y):
            worst[part.name] = max(worst.get(part.name, 0.0), gap / room)
    return worst


@each_setting
def test_what_is_published_is_what_the_plain_law_makes_of_the_noise(task, epsilon):
    for d in (1, 2, 3):
        gaps = largest_gap(calibrated(task, epsilon, d), task, epsilon, d)
        assert max(gaps.values()) <= 1.0, gaps


def test_so_it_is_at_a_fixed_scale_and_a_larger_ridge():
    mechanism = PreconditionedObjectivePerturbation.calibrate(
        ApproximateDP(1.0, DELTA),
        loss=LogCoshLoss(scale=0.3),
        radius=1.0,
        n_coefficients=3,
        scale="loss",
        alpha=40.0,
    )
    gaps = largest_gap(mechanism, "log-cosh", 1.0)
    assert max(gaps.values()) <= 1.0, gaps


@each_setting
def test_log_densities_are_those_of_the_plain_law(task, epsilon):
    mechanism = calibrated(task, epsilon)
    for name, X, y in tables(task):
        data = data_of(task, X, y)
        release = mechanism.release(data, as_random_source(1)).output
        for n in (len(y), len(y) - 1):
            stages = plain_stages(mechanism, task, epsilon, X[:n], y[:n], release)
            # the triangle of a matrix with spherical noise in the Frobenius norm
            expected = 3 * math.log(math.sqrt(2)) + math.fsum(
                part.noise_law.log_density(stage.noise) + stage.log_det
                for part, stage in zip(mechanism.parts, stages, strict=True)
            )
            found = mechanism.log_density(
                release.transcript, data_of(task, X[:n], y[:n])
            )
            assert found == pytest.approx(expected, abs=1e-5), name


def largest_losses(mechanism, task, epsilon, seeds, *, right=None):
    """Largest loss over its bound, by name of release and direction."""
    worst = {}
    for _, X, y in tables(task, mechanism.n_coefficients):
        for add in (False, True):
            for seed in seeds:
                for part, loss, bound in stage_losses(
                    mechanism, task, epsilon, X, y, seed, add=add, right=right
                ):
                    # sizes are below 1, so this is what rounding does to them
                    beyond = max(loss - 1e-8, 0.0)
                    excess = beyond / bound if bound else math.inf if beyond else 0.0
                    key = part.name, add
                    worst[key] = max(worst.get(key, 0.0), excess)
    return worst


@each_setting
def test_no_release_tells_more_than_its_bound_and_statistics_just_that(task, epsilon):
    mechanism = calibrated(task, epsilon)
    losses = largest_losses(mechanism, task, epsilon, [0])
    assert max(losses.values()) <= 1.0, losses
    for part in mechanism.statistics:
        assert losses[part.name, False] > 0.999


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 2, 3])
@each_setting
def test_no_release_tells_more_in_any_of_many_transcripts(task, epsilon, d):
    losses = largest_losses(calibrated(task, epsilon, d), task, epsilon, range(20))
    assert max(losses.values()) <= 1.0, losses
    assert min(losses.values()) > 0.7, losses


@each_setting
def test_every_number_lies_on_its_lattice(task, epsilon):
    for _, X, y in tables(task):
        parts = off_lattice(calibrated(task, epsilon), task, X, y)
        assert not any(off for _, off in parts)


@each_setting
def test_every_centre_is_one_that_was_published(task, epsilon):
    for _, X, y in tables(task):
        assert max(center_gaps(calibrated(task, epsilon), task, X, y)) < 1e-9


@each_setting
def test_tolerances_are_public_constants(task, epsilon):
    mechanism = calibrated(task, epsilon)
    for _, X, y in tables(task):
        for tolerance in tolerances(mechanism, task, X, y):
            assert tolerance == pytest.approx(1e-8, rel=1e-12)


@each_setting
def test_all_that_is_published_follows_from_the_transcript(task, epsilon):
    mechanism = calibrated(task, epsilon)
    for _, X, y in tables(task):
        release = mechanism.release(data_of(task, X, y), as_random_source(2)).output
        assert unlike_fields(release, mechanism.read(release.transcript)) == []


def improbable(mechanism, task, epsilon, n_runs, *, right=None):
    """Return the least of the two-sided chances of the noise of each release."""
    *_, (_, X, y) = tables(task)
    squares, counts = noise_squares(mechanism, task, epsilon, X, y, n_runs, right=right)
    law = chi2(counts)
    return float(2 * np.minimum(law.cdf(squares), law.sf(squares)).min())


@pytest.mark.statistical
@pytest.mark.parametrize("n_runs", [30, pytest.param(800, marks=pytest.mark.slow)])
@each_setting
def test_the_noise_in_what_is_published_has_its_scale(task, epsilon, n_runs):
    """False alarm below 1e-6: eight tests of at most four releases, each at 1e-8."""
    assert improbable(calibrated(task, epsilon), task, epsilon, n_runs) > 1e-8


# --- planted mechanisms that state their own law --------------------------------------


def quieter(part, factor):
    noise_law = GaussianNoise(part.noise_law.scale * factor)
    return dataclasses.replace(part, noise_law=noise_law)


@pytest.mark.parametrize(
    ("field", "factor"), [("metric", 0.9), ("center", 0.5), ("energy", 0.7)]
)
def test_planted_scales_of_statistics_exceed_their_bound(field, factor):
    task, epsilon = ("log-cosh", 4.0) if field == "energy" else ("logistic", 1.0)
    good = calibrated(task, epsilon)
    part = getattr(good, field)
    planted = dataclasses.replace(good, **{field: quieter(part, factor)})
    losses = largest_losses(planted, task, epsilon, [0], right=good)
    assert losses[part.name, False] == pytest.approx(1 / factor, rel=1e-4)


class NarrowDiagonal(PreconditionedObjectivePerturbation):
    """Noise of one scale, where the diagonal needs sqrt(2) times that of the rest."""

    def _stretch(self):
        return np.full(self.metric.size, math.sqrt(2))


def planted(kind, good):
    fields = {f.name: getattr(good, f.name) for f in dataclasses.fields(good)}
    return kind(**fields)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("plant", "n_runs"),
    [
        pytest.param("diagonal", 300, marks=pytest.mark.slow),
        pytest.param("all", 1000, marks=pytest.mark.slow),
        ("gradient", 30),
    ],
)
def test_planted_noises_do_not_have_their_scale(plant, n_runs):
    good = calibrated("logistic", 1.0)
    bad = {
        "diagonal": lambda: planted(NarrowDiagonal, good),
        "all": lambda: dataclasses.replace(good, metric=quieter(good.metric, 0.9)),
        "gradient": lambda: dataclasses.replace(good, center=quieter(good.center, 0.5)),
    }[plant]()
    assert improbable(bad, "logistic", 1.0, n_runs, right=good) < 1e-8


class Peeking(PreconditionedObjectivePerturbation):
    """Keeps the table for its own use: what no mechanism may do."""

    def release(self, data, source):
        PEEKED[:] = [x for block, _ in data.projected() for x in block]
        return super().release(data, source)


PEEKED = []


class ExactTrace(Peeking):
    def geometry(self, metric):
        trace = sum(float(x @ x) for x in PEEKED) / self.radius**2
        # second moments as released, but for their trace
        shift = (trace - np.trace(metric)) / self.n_coefficients
        shifted = metric + shift * np.eye(self.n_coefficients)
        return dataclasses.replace(super().geometry(shifted), moment=metric)


class ExactMoments(Peeking):
    def geometry(self, metric):
        rows = np.reshape(PEEKED, (-1, self.n_coefficients)) / self.radius
        return dataclasses.replace(super().geometry(rows.T @ rows), moment=metric)


class ExactCenter(Peeking):
    def _state(self, geometry, history):
        if not history.minimisers:
            history = history._replace(gradient=history.gradient + len(PEEKED))
        return super()._state(geometry, history)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (NarrowDiagonal, "second moments"),
        (ExactTrace, "objective"),
        (ExactMoments, "gradient at zero"),
        (ExactCenter, "objective"),
    ],
)
def test_planted_mechanisms_do_not_follow_the_plain_law(kind, name):
    gaps = largest_gap(planted(kind, calibrated("logistic", 1.0)), "logistic", 1.0)
    assert gaps[name] > 1e3


def test_a_planted_step_without_noise_is_off_the_lattice(monkeypatch):
    monkeypatch.setattr(LatticeSmoothing, "release_each", lambda _, points, __: points)
    *_, (_, X, y) = tables("logistic")
    parts = off_lattice(calibrated("logistic", 8.0), "logistic", X, y)
    assert all(off for part, off in parts if part.name != "second moments")
