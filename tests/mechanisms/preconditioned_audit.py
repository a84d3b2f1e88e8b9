"""Audits of whole transcripts in up to three dimensions, release by release.

Two facts together are the premise of the composition: what is published is what the
plain law makes of the noise that was drawn, and under the plain law the loss of one row
by each release is below the bound that the curve integrates, whatever came before.
"""

import contextlib
import dataclasses
import math
from functools import lru_cache
from unittest import mock

import numpy as np
from plain_preconditioned import recovered

from skdp.accounting import ApproximateDP, gaussian_mu
from skdp.accounting._phase_loss import phase_addition, phase_removal
from skdp.losses import LogCoshLoss, LogisticLoss
from skdp.mechanisms import (
    GaussianNoise,
    LatticeSmoothing,
    PreconditionedObjectivePerturbation,
)
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks
from skdp.solvers import WhitenedObjective

LOSSES = {"logistic": LogisticLoss(), "log-cosh": LogCoshLoss()}
DELTA = 1e-6
#: Both losses, and one and two objectives.
SETTINGS = [("logistic", 1.0), ("logistic", 8.0), ("log-cosh", 0.3), ("log-cosh", 4.0)]


@lru_cache
def calibrated(task, epsilon, d=3):
    return made(task, epsilon, d)


def made(task, epsilon, d=3):
    return PreconditionedObjectivePerturbation.calibrate(
        ApproximateDP(epsilon, DELTA), loss=LOSSES[task], radius=1.0, n_coefficients=d
    )


def data_of(task, X, y):
    labels = None if task == "logistic" else Targets(-1, 1)
    return PrivateRows(as_row_blocks(X, y, labels=labels), L2Ball(1.0))


def hostile_tables(task, d=3):
    """Named tables whose last row comes or goes."""
    e = np.eye(d)
    across, along = e[min(1, d - 1)], e[0]
    middle = 0.25 if task == "log-cosh" else 1.0
    rng = np.random.Generator(np.random.PCG64(d))
    cloud = rng.standard_normal((60, d)) * np.geomspace(1.0, 0.03, d)
    cloud /= np.maximum(np.linalg.norm(cloud, axis=1), 1.0)[:, None] * 1.0001
    signs = np.where(rng.random(60) < 0.3, -1.0, 1.0)
    yield "nobody", [], [], along, 1.0
    yield "nobody, half a row", [], [], along / 2, -1.0
    yield "nobody, no row", [], [], 0 * along, 1.0
    yield "no label", np.tile(along, (20, 1)), np.ones(20), across, 0.0
    yield "a crowd along, one across", np.tile(along, (400, 1)), np.ones(400), across, 1
    yield "a crowd against", np.tile(along, (300, 1)), -np.ones(300), along, 1.0
    yield "two crowds", np.tile(along, (300, 1)), np.tile([1.0, -1.0], 150), along, 1.0
    yield "short rows", np.tile(across / 99, (500, 1)), -np.ones(500), across, middle
    yield "a cloud", cloud, signs * middle, -cloud[0] / np.linalg.norm(cloud[0]), -1.0


def tables(task, d=3):
    """Yield (name, X, y) of the tables with their last row."""
    for name, X, y, row, label in hostile_tables(task, d):
        with_row = np.vstack([np.reshape(X, (-1, d)), row])
        yield name, with_row, np.append(y, float(label))


@contextlib.contextmanager
def recorded_draws():
    """All noise vectors, in the order in which they are drawn."""
    seen, plain = [], GaussianNoise.draw

    def recorded(self, n_features, source):
        seen.append(plain(self, n_features, source))
        return seen[-1]

    with mock.patch.object(GaussianNoise, "draw", recorded):
        yield seen


def without_lattice():
    """Lattice steps that change nothing: answers are the computed ones."""
    return mock.patch.multiple(
        LatticeSmoothing,
        release_each=lambda _, points, __: points,
        release_steps=lambda self, points, _: np.rint(points / self.grid).astype(int),
    )


@contextlib.contextmanager
def recorded_solves():
    """Ridge, linear term and tolerance of every objective that is minimised."""
    seen, plain = [], WhitenedObjective.minimise

    def recorded(self, linear, **options):
        seen.append((self.alpha, np.array(linear), options["gradient_tol"]))
        return plain(self, linear, **options)

    with mock.patch.object(WhitenedObjective, "minimise", recorded):
        yield seen


def plain_stages(mechanism, task, epsilon, X, y, release):
    return recovered(
        X,
        y,
        gaussian_mu(epsilon, DELTA),
        mechanism.curvature,
        task,
        release,
        bits=mechanism.bits,
        k=release.scale if mechanism.scale == "loss" else None,
        alpha=mechanism.alpha,
    )


def stage_gaps(mechanism, task, epsilon, X, y, seed=0):
    """Yield part, distance of its noise from that of the plain law, and its room.

    The room is what lattice steps hide; for a gradient at a minimiser, by the ridge.
    """
    with recorded_draws() as drawn, without_lattice():
        release = mechanism.release(data_of(task, X, y), as_random_source(seed)).output
    assert (release.metric == release.metric.T).all()
    stages = plain_stages(mechanism, task, epsilon, X, y, release)
    kappa = mechanism.curvature
    for part, stage, noise in zip(mechanism.parts, stages, drawn, strict=True):
        # the ridge is at least 1 / kappa
        room = part.step.error / (kappa if part in mechanism.phases else 1.0)
        yield part, float(np.linalg.norm(stage.noise - noise)), room


def right_sizes(task, epsilon, right):
    """Sizes of all releases: of statistics by their shares, of objectives by right."""
    mu = gaussian_mu(epsilon, DELTA)
    shares = [0.10, 0.02] if task == "logistic" else [0.10, 0.03, 0.01]
    phases = [part.mu for part in right.phases]
    if len(phases) == 2:
        phases[0] = mu * math.sqrt(0.20)
    return [mu * math.sqrt(share) for share in shares] + phases


def stage_losses(mechanism, task, epsilon, X, y, seed, *, add, right=None):
    """Yield part, its loss at one transcript, and the bound, for the last row.

    Of Gaussian releases the size of the pair stands for the loss. ``right`` is the
    mechanism whose claims are held against it, by default its own.
    """
    right = right or mechanism
    tables = ((X, y), (X[:-1], y[:-1]))
    data = data_of(task, *tables[add])
    release = mechanism.release(data, as_random_source(seed)).output
    stages = [plain_stages(right, task, epsilon, *t, release) for t in tables]
    mine, other = reversed(stages) if add else stages
    sizes = right_sizes(task, epsilon, right)
    n_statistics = len(mechanism.statistics)
    for j, (part, p, q) in enumerate(zip(mechanism.parts, mine, other, strict=True)):
        sigma, shift = part.noise_law.scale, p.noise - q.noise
        size = float(np.linalg.norm(shift)) / sigma
        if j < n_statistics:
            yield part, size, sizes[j]
            continue
        # noise along the change, standard normal under the data that drew it
        t = -float(p.noise @ shift) / (size * sigma**2) if size else -40.0
        loss = size * (size / 2 + t) + p.log_det - q.log_det if size else 0.0
        law = phase_addition(sizes[j])
        if not add:
            law = phase_removal(task, sizes[j], right.curvature)
        [bound] = law.at(np.array([abs(t) if task == "log-cosh" else t]))
        yield part, loss, float(bound)


def noise_squares(mechanism, task, epsilon, X, y, n_runs, right=None):
    """Sum of squares of the noise of each release over its right scale, and its count.

    The noise is recovered from what is published; scales are those of ``right``.
    """
    right, source = right or mechanism, as_random_source(11)
    sizes, totals = right_sizes(task, epsilon, right), np.zeros(len(right.parts))
    data = data_of(task, X, y)
    for _ in range(n_runs):
        release = mechanism.release(data, source).output
        stages = plain_stages(right, task, epsilon, X, y, release)
        totals += [stage.noise @ stage.noise for stage in stages]
    # sensitivities: of what one row changes in each
    changes = [1.0, 0.5 if task == "logistic" else 1.0]
    changes += [] if right.energy is None else [math.sqrt(2)]
    changes += [1.0] * len(right.phases)
    scales = np.array(changes) / np.array(sizes)
    return totals / scales**2, np.array([n_runs * part.size for part in right.parts])


def off_lattice(mechanism, task, X, y, seed=0):
    """Yield part and whether its numbers leave its lattice."""
    release = mechanism.release(data_of(task, X, y), as_random_source(seed)).output
    sizes = np.cumsum([part.size for part in mechanism.parts])[:-1]
    numbers = np.split(release.transcript, sizes)
    for part, values in zip(mechanism.parts, numbers, strict=True):
        steps = values / part.step.grid
        yield part, bool((steps != np.rint(steps)).any())


def center_gaps(mechanism, task, X, y, seed=0):
    """Yield how far each objective's centre is from the one that was published."""
    with recorded_draws() as drawn, recorded_solves() as solved:
        release = mechanism.release(data_of(task, X, y), as_random_source(seed)).output
    k = release.scale
    first = np.linalg.solve(release.geometry.transform, release.center)
    centers = [first, *(k * answer for answer in release.minimisers[:-1])]
    draws = drawn[-len(centers) :]
    for (ridge, linear, _), noise, center in zip(solved, draws, centers, strict=True):
        expected = k * noise - ridge * center
        yield float(np.linalg.norm(linear - expected) / np.linalg.norm(expected))


def tolerances(mechanism, task, X, y, seed=0):
    """Return the tolerance of each objective over the published scale of the loss."""
    with recorded_solves() as solved:
        release = mechanism.release(data_of(task, X, y), as_random_source(seed)).output
    return [tolerance / release.scale for _, _, tolerance in solved]


def unlike_fields(one, other):
    """Return the fields in which two outputs differ, arrays to the last bit."""

    def same(a, b):
        if dataclasses.is_dataclass(a) and not isinstance(a, type):
            return not unlike_fields(a, b)
        if isinstance(a, tuple):
            return len(a) == len(b) and all(map(same, a, b))
        return np.array_equal(a, b)

    names = [field.name for field in dataclasses.fields(one)]
    return [n for n in names if not same(getattr(one, n), getattr(other, n))]
