"""The ridge of objective perturbation in a private metric, when more is asked for."""

import dataclasses
import math

import numpy as np
import pytest

from skdp.accounting import ApproximateDP
from skdp.losses import LogCoshLoss, LogisticLoss
from skdp.mechanisms import (
    GaussianNoise,
    LatticeSmoothing,
    PreconditionedObjectivePerturbation,
)
from skdp.pdp import preconditioned_loss
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks

LOSSES = {"logistic": LogisticLoss(), "log-cosh": LogCoshLoss()}
each = pytest.mark.parametrize("task", LOSSES)
RADIUS = 2.0


def made(task, epsilon=6.0, **options):
    return PreconditionedObjectivePerturbation.calibrate(
        ApproximateDP(epsilon, 1e-6),
        loss=LOSSES[task],
        radius=RADIUS,
        n_coefficients=4,
        **options,
    )


def rows(task, n=800):
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (n, 4)) * np.array([1.0, 0.5, 0.3, 0.2])
    line = X @ np.array([1.0, -1.0, 2.0, 0.0]) + 0.2 * rng.standard_normal(n)
    if task == "logistic":
        blocks = as_row_blocks(X, np.sign(line))
    else:
        blocks = as_row_blocks(X, np.clip(line, -1, 1), labels=Targets(-1, 1))
    return PrivateRows(blocks, L2Ball(RADIUS))


@each
def test_the_ridge_is_the_larger_of_what_is_asked_and_what_is_needed(task):
    release = made(task).release(rows(task), as_random_source(0)).output
    needed = made(task).ridge(release.geometry)
    assert needed >= release.geometry.curvature_ratio / made(task).curvature
    for asked in (0.0, 1e-9, RADIUS**2 * needed * 0.99):
        assert made(task, alpha=asked).ridge(release.geometry) == needed
    for asked in (4.0 * RADIUS**2 * needed, 1e9):
        mechanism = made(task, alpha=asked)
        assert mechanism.alpha == asked / RADIUS**2
        assert mechanism.ridge(release.geometry) == mechanism.alpha


@each
def test_a_larger_ridge_costs_nobody_anything(task):
    plain, strong = made(task), made(task, alpha=300.0)
    assert strong.guarantee == plain.guarantee
    assert strong.budget == plain.budget
    # at one release the terms of all but the Jacobian are the same
    release = plain.release(rows(task), as_random_source(0)).output
    two = [preconditioned_loss(m, release, rows(task)) for m in (plain, strong)]
    assert (two[1] < two[0]).all()


@each
@pytest.mark.parametrize("alpha", [50.0, 1e6, 1e30, 4e100], ids=str)
def test_a_computed_minimiser_is_within_what_the_lattice_step_hides(
    task, alpha, monkeypatch
):
    drawn, plain = [], GaussianNoise.draw

    def recorded(self, n_features, source):
        drawn.append(plain(self, n_features, source))
        return drawn[-1]

    monkeypatch.setattr(GaussianNoise, "draw", recorded)
    monkeypatch.setattr(LatticeSmoothing, "release_each", lambda _, points, __: points)
    mechanism, data = made(task, alpha=alpha), rows(task)
    release = mechanism.release(data, as_random_source(2)).output
    ridge = mechanism.ridge(release.geometry)
    noises = [noise for noise, _ in mechanism._noises(release.transcript, data)]
    for part, b, found in zip(mechanism.parts, drawn, noises, strict=True):
        if part in mechanism.phases:
            # the objective is strongly convex: a gradient bounds a distance
            assert np.linalg.norm(found - b) / ridge <= part.step.error


@each
def test_a_strong_pull_ends_at_the_centre(task):
    release = made(task, alpha=1e12).release(rows(task), as_random_source(2)).output
    steps = 20 * max(part.step.scale for part in made(task).phases)
    geometry = release.geometry.transform
    far = np.linalg.norm(geometry, 2) * steps * (1 + release.scale) / RADIUS
    assert np.linalg.norm(release.coefficients - release.center) < far


@pytest.mark.parametrize("alpha", [-1.0, math.nan, math.inf, 1e101], ids=str)
def test_ridges_out_of_range_are_refused(alpha):
    with pytest.raises(ValueError, match="alpha must be from 0"):
        dataclasses.replace(made("logistic"), alpha=alpha)
