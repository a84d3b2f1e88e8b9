"""Samplers that claim fixed work do the same work for hostile data sets."""

import numpy as np
import pytest

from skdp.accounting import Public
from skdp.audit import work_trace
from skdp.random import as_random_source, uniform
from skdp.samplers import (
    BatchedLoop,
    LoopTarget,
    SimpleLoop,
    SlackSqueeze,
    TruncatedLoop,
    concave_stage,
    holder_stage,
    log_concave_acceptance,
    log_concave_target,
)

RNG = np.random.default_rng(0)
#: Data of equal size: spread, tied, constant, sorted, extreme, tiny, with nan and inf.
HOSTILE = [
    RNG.random(50),
    np.repeat([0.2, 0.7], 25),
    np.zeros(50),
    np.sort(RNG.random(50)),
    np.full(50, 1e12),
    np.full(50, 1e-310),
    np.append(RNG.random(47), [np.nan, np.inf, -np.inf]),
]


def log_density(data):
    """Return a utility that touches every row, like a median's."""
    clipped = np.fmin(np.fmax(data, 0.0), 1.0)
    return lambda x: -0.2 * np.sum(np.abs(clipped[:, None] - x), axis=0)


def bumpy(data):
    """Return a log acceptance anywhere from 0 to minus infinity, or nan."""
    return LoopTarget(
        lambda n, source: uniform(n, source)[:, None],
        lambda x: -np.abs(data[:1] * x[:, 0]) - np.abs(data[-1]),
    )


def truncated(data, generator):
    loop = TruncatedLoop(bumpy(data), Public(0.3), 1e-9, fallback=[0.5])
    return loop.draw(as_random_source(generator))


def capped(data, generator):
    loop = BatchedLoop(
        bumpy(data), Public(0.3), 1e-9, max_batches=1, fallback=[0.5], n_samples=3
    )
    return loop.draw(as_random_source(generator))


def batched_hull(data, generator):
    stage = concave_stage(
        log_density(data), (0.0, 1.0), curvature=Public(20.0), n_cells=16
    )
    loop = BatchedLoop(
        stage.target, Public(np.exp(-2 * float(stage.eta)).item()), 1e-12
    )
    return loop.draw(as_random_source(generator))


def batched_cells(data, generator):
    stage = holder_stage(
        log_density(data),
        (0.0, 1.0),
        constant=Public(10.0),
        power=Public(1.0),
        n_cells=40,
    )
    loop = BatchedLoop(
        stage.target, Public(np.exp(-2 * float(stage.eta)).item()), 1e-12
    )
    return loop.draw(as_random_source(generator))


def batched_universal(data, generator):
    centre = float(np.fmin(np.fmax(data, 0.0), 1.0).mean())
    target = log_concave_target(
        lambda x: -((x - centre) ** 2) / (0.5 + centre),
        location=(-1.0, 2.0),
        scale=(0.5, 2.0),
    )
    return BatchedLoop(target, log_concave_acceptance, 1e-12).draw(
        as_random_source(generator)
    )


def squeezed(data, generator):
    """The number of steps is random, but by coins that no data decide."""
    stage = holder_stage(
        log_density(data),
        (0.0, 1.0),
        constant=Public(10.0),
        power=Public(1.0),
        n_cells=40,
    )
    return SlackSqueeze(stage).draw(as_random_source(generator))


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize(
    "run", [truncated, capped, batched_hull, batched_cells, batched_universal, squeezed]
)
def test_the_same_work_for_hostile_data(run):
    found = work_trace(run, HOSTILE, n_seeds=4)
    assert found.identical, found.difference
    assert found.same_generator


def test_the_textbook_loop_is_caught():
    def run(data, generator):
        level = float(data.mean())
        target = LoopTarget(
            lambda n, source: uniform(n, source)[:, None],
            lambda x: np.full(x.shape[0], -3.0 * level),
        )
        loop = SimpleLoop(target, p_hi=Public(1.0), Dg=Public(3.0))
        return loop.draw(as_random_source(generator))

    found = work_trace(run, [np.zeros(5), np.ones(5)], n_seeds=8)
    assert not found.identical
    assert not found.same_generator


@pytest.mark.parametrize("run", [batched_hull, batched_cells, squeezed])
def test_the_same_number_of_evaluations(run, monkeypatch):
    """Counted at the density itself: calls, and points in each call."""
    plain, seen = log_density, []

    def counted(data):
        g = plain(data)

        def counting(x):
            seen[-1].append(x.shape)
            return g(x)

        return counting

    monkeypatch.setitem(run.__globals__, "log_density", counted)
    for data in HOSTILE[:4]:
        seen.append([])
        run(data, np.random.default_rng(1))
    assert seen[0]
    assert all(shapes == seen[0] for shapes in seen)


def test_repeated_runs_do_the_same_work():
    """A cache by data set would make the second run shorter."""
    first = work_trace(batched_cells, HOSTILE[:2], n_seeds=1, warm_up=1)
    second = work_trace(batched_cells, HOSTILE[:2], n_seeds=1, warm_up=3)
    assert first.n_calls == second.n_calls
