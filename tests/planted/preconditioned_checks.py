"""Checks of objective perturbation in a private metric.

Transcripts against the plain law and against the bound of each release, numbers of the
mechanism against formulas written out here, and its curve against an integral.
"""

import math

import numpy as np
from preconditioned_audit import (
    DELTA,
    center_gaps,
    data_of,
    made,
    off_lattice,
    right_sizes,
    stage_gaps,
    stage_losses,
    tables,
    tolerances,
    unlike_fields,
)

from skdp.accounting import PreconditionedPerturbationDP, gaussian_delta, gaussian_mu
from skdp.random import as_random_source

__all__ = ["CHECKS"]

SETTINGS = (("logistic", 1.0), ("logistic", 8.0), ("log-cosh", 4.0))
#: Of the hostile tables, enough for every bug.
SOME = ("no label", "a crowd along, one across", "a cloud")
#: Sizes of the objectives that the package is known to find, the next digit up.
OBJECTIVES = {
    ("logistic", 1.0): [0.2220],
    ("logistic", 8.0): [0.6850, 1.2105],
    ("log-cosh", 4.0): [0.7532],
}


def some_tables(task):
    return [(X, y) for name, X, y in tables(task) if name in SOME]


def metric_law():
    """What is published is what the plain law makes of the noise."""
    for task, epsilon in SETTINGS:
        mechanism = made(task, epsilon)
        for X, y in some_tables(task):
            for part, gap, room in stage_gaps(mechanism, task, epsilon, X, y):
                assert gap <= room, part.name


def metric_steps():
    """Answers are on lattices; centres and tolerances are public."""
    for task, epsilon in SETTINGS:
        mechanism = made(task, epsilon)
        for X, y in some_tables(task):
            assert not any(off for _, off in off_lattice(mechanism, task, X, y))
            assert max(center_gaps(mechanism, task, X, y)) < 1e-9
            for tolerance in tolerances(mechanism, task, X, y):
                assert abs(tolerance / 1e-8 - 1.0) < 1e-9
            release = mechanism.release(data_of(task, X, y), as_random_source(2)).output
            assert not unlike_fields(release, mechanism.read(release.transcript))


class Right:
    """The sizes that the package is known to give its objectives."""

    def __init__(self, mechanism, sizes):
        self._mechanism = mechanism
        parts = zip(mechanism.phases, sizes, strict=True)
        self.phases = [Sized(part, size) for part, size in parts]

    def __getattr__(self, name):
        return getattr(self._mechanism, name)


class Sized:
    def __init__(self, part, size):
        self.part, self.mu = part, size


def metric_bounds():
    """No release tells more about a row than a share known here, at any transcript."""
    for task, epsilon in SETTINGS:
        mechanism = made(task, epsilon)
        right = Right(mechanism, OBJECTIVES[task, epsilon])
        for X, y in some_tables(task):
            for add in (False, True):
                for part, loss, bound in stage_losses(
                    mechanism, task, epsilon, X, y, 1, add=add, right=right
                ):
                    assert loss <= bound + 1e-8, part.name


def metric_numbers():
    """Scales, steps and what is charged for them, by formulas."""
    for task, epsilon in SETTINGS:
        mechanism, mu = made(task, epsilon), gaussian_mu(epsilon, DELTA)
        pull = 0.5 if task == "logistic" else 1.0
        changes = [1.0, pull, math.sqrt(2)][: len(mechanism.statistics)]
        changes += [1.0] * len(mechanism.phases)
        sizes = right_sizes(task, epsilon, mechanism)
        for part, change, size in zip(mechanism.parts, changes, sizes, strict=True):
            assert abs(part.noise_law.scale * size / change - 1.0) < 1e-8
            assert abs(part.mu / size - 1.0) < 1e-8
            shift = 2 * part.step.error + part.step.grid * math.sqrt(part.size)
            share = 1 / 200 if part in mechanism.phases else 1 / 2000
            assert part.step.scale >= 0.999999 * shift / (share * mu)
        for part in mechanism.phases:
            assert part.step.error >= 1.999999e-8 * mechanism.curvature
        kappa = {1.0: 0.9, 8.0: 4.8, 4.0: 1.6}[epsilon]
        assert mechanism.curvature == kappa
        charged = mechanism.guarantee
        assert isinstance(charged, PreconditionedPerturbationDP)
        assert np.allclose(charged.phases, sizes[-len(charged.phases) :], rtol=1e-8)
        statistics = math.hypot(*sizes[: -len(charged.phases)])
        assert abs(charged.gaussian_mu / statistics - 1.0) < 1e-8
        steps = math.fsum(part.step.rho for part in mechanism.parts)
        assert charged.smoothing_rho >= steps * 0.999999
        assert (charged.curvature, charged.loss) == (kappa, task)


def integral(task, epsilon, mechanism):
    """Delta of both directions, by sums over grids of noise and of slopes."""
    t = np.linspace(-8.5, 9.5, 2001)
    mass = np.exp(-t * t / 2) / math.sqrt(2 * math.pi) * (t[1] - t[0])
    p = np.linspace(0.0, 1.0, 401)[:, None]
    h = p * (1 - p) if task == "logistic" else 1 - p * p
    jacobian = np.log1p(mechanism.curvature * h)
    [mu] = (part.mu for part in mechanism.phases)
    gauss = math.hypot(*(part.mu for part in mechanism.statistics))
    removal = np.maximum((jacobian + p * mu * (p * mu / 2 + t)).max(0), jacobian.max())
    reach = np.abs(t) if task == "log-cosh" else t
    addition = np.maximum(0.0, mu * (mu / 2 + reach))
    return [
        float(mass @ gaussian_delta(epsilon - loss, gauss))
        for loss in (removal, addition)
    ]


def metric_curve():
    """The curve is not below the integral of the worst losses, and meets the target."""
    for task, epsilon in (("logistic", 1.0), ("log-cosh", 4.0)):
        mechanism = made(task, epsilon)
        assert mechanism.guarantee.delta(epsilon) <= DELTA
        for at in (epsilon, epsilon / 4):
            directions = mechanism.ideal_guarantee._delta_directed(np.array([at]))
            exact = integral(task, at, mechanism)
            for found, truth in zip(directions, exact, strict=True):
                assert truth * (1 - 1e-5) <= found[0] <= truth * (1 + 2e-3)


CHECKS = {
    "metric_law": metric_law,
    "metric_steps": metric_steps,
    "metric_bounds": metric_bounds,
    "metric_numbers": metric_numbers,
    "metric_curve": metric_curve,
}
