"""Cells of a box: they cover, accept as often as stated, and ask at public places."""

import math

import numpy as np
import pytest
from scipy.stats import chisquare

from skdp.accounting import Public, PureDP
from skdp.audit import work_trace
from skdp.random import as_random_source
from skdp.samplers import BatchedLoop, SlackSqueeze, holder_box_stage, holder_stage

ONE = Public(1.0)


def cone(centre, slope=4.0, power=1.0, order=2):
    """Return a log density of known modulus in the L2 or in the maximum norm."""
    return lambda x: (
        -slope * np.linalg.norm(x - np.asarray(centre), ord=order, axis=1) ** power
    )


def made(g, cells, *, slope=4.0, power=1.0, norm="l2", upper=None):
    d = len(cells)
    return holder_box_stage(
        g, (0.0,) * d, upper or (1.0,) * d, constant=Public(slope),
        power=Public(power), n_cells=cells, norm=norm,
    )  # fmt: skip


@pytest.mark.parametrize(("d", "cells"), [(1, 20), (2, 400), (3, 8000)])
def test_known_numbers_of_cells(d, cells):
    """A slope of 10 in the maximum norm and a squeeze of eta = 0.25."""
    stage = made(cone([0.5] * d, 10.0, 1.0, np.inf), (20,) * d, slope=10.0, norm="max")
    assert float(stage.eta) == pytest.approx(0.25, abs=1e-12)
    assert 20**d == cells


def test_on_an_interval_it_is_the_other_one():
    box = made(cone([0.41], power=0.5), (16,), power=0.5)
    line = holder_stage(
        lambda x: -4.0 * abs(x - 0.41) ** 0.5, (0.0, 1.0), constant=Public(4.0),
        power=Public(0.5), n_cells=16,
    )  # fmt: skip
    assert box.eta == line.eta
    x = np.linspace(0.001, 0.999, 101)[:, None]
    np.testing.assert_allclose(
        box.target.log_acceptance(x), line.target.log_acceptance(x)
    )


@pytest.mark.parametrize(
    ("norm", "order", "power", "cells", "upper"),
    [
        ("l2", 2, 1.0, (5, 7), None),
        ("l2", 2, 0.5, (4, 3, 2), (2.0, 1.0, 0.3)),
        ("max", np.inf, 1.0, (6, 4), (1.0, 3.0)),
    ],
)
def test_the_log_acceptance_lies_within_the_squeeze(norm, order, power, cells, upper):
    """Before anything is clipped, at 4000 points of random cones."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        corner = np.array(upper or (1.0,) * len(cells))
        g = cone(rng.random(len(cells)) * corner, 4.0, power, order)
        stage = made(g, cells, power=power, norm=norm, upper=upper)
        eta = float(stage.eta)
        x = rng.random((4000, len(cells))) * corner
        width = corner / np.array(cells)
        raw = g(x) - g((np.floor(x / width) + 0.5) * width) - eta
        assert raw.max() <= 1e-12
        assert raw.min() >= -2.0 * eta - 1e-12
        np.testing.assert_allclose(stage.target.log_acceptance(x), raw, atol=1e-9)


def test_the_wrong_norm_would_not_cover():
    """A planted fault: the radius of the maximum norm for a constant of the L2 norm."""
    g = cone([0.0, 0.0])
    x = np.full((1, 2), 0.249)
    right, wrong = made(g, (4, 4)), made(g, (4, 4), norm="max")
    centre = np.full((1, 2), 0.125)
    gap = float((g(x) - g(centre))[0])
    assert abs(gap) <= float(right.eta)
    assert abs(gap) > float(wrong.eta)


@pytest.mark.statistical
@pytest.mark.parametrize("batched", [False, True])
def test_draws_follow_the_density(batched):
    """Chi-squared on 6 x 6 squares, 1500 draws; rejected below 1e-7; seed fixed."""
    g = cone([0.3, 0.7])
    stages = [made(g, (m, m)) for m in (6, 12)]
    loop = SlackSqueeze(stages)
    if batched:
        p_lo = Public(math.exp(-2.0 * float(stages[0].eta)))
        loop = BatchedLoop(stages[0].target, p_lo, 1e-9)
    source = as_random_source(4)
    x = np.array([loop.draw(source) for _ in range(1500)])
    fine = (np.arange(240) + 0.5) / 240
    grid = np.stack(np.meshgrid(fine, fine, indexing="ij"), axis=-1).reshape(-1, 2)
    mass = np.exp(g(grid)).reshape(6, 40, 6, 40).sum(axis=(1, 3))
    seen, *_ = np.histogram2d(x[:, 0], x[:, 1], bins=6, range=[[0, 1], [0, 1]])
    expected = 1500 * mass / mass.sum()
    assert chisquare(seen.ravel(), expected.ravel()).pvalue > 1e-7


def test_the_cost_is_that_of_the_first_stage():
    stages = [made(cone([0.5, 0.5]), (m, m)) for m in (16, 32)]
    eta = 4.0 * math.hypot(1 / 32, 1 / 32)
    total = SlackSqueeze(stages).guarantee(PureDP(1.0)).epsilon(0.0)
    assert total == pytest.approx(1.0 + 4.0 * eta)


def test_the_same_work_for_all_data():
    def run(data, generator):
        centre = np.fmin(np.fmax(data, 0.0), 1.0).mean(axis=0)
        stage = made(lambda x: -4.0 * np.abs(x - centre).max(axis=1), (6, 6))
        return SlackSqueeze(stage).draw(as_random_source(generator))

    rng = np.random.default_rng(0)
    data = [rng.random((9, 2)), np.zeros((9, 2)), np.full((9, 2), 1e9)]
    found = work_trace(run, data, n_seeds=4)
    assert found.identical, found.difference


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"lower": (0.0,)}, ValueError, "differ in length"),
        ({"n_cells": ()}, ValueError, "differ in length"),
        ({"n_cells": (4, 0)}, ValueError, "n_cells"),
        ({"n_cells": (2000, 2000)}, ValueError, "4000000 cells"),
        ({"upper": (1.0, 0.0)}, ValueError, "the box"),
        ({"upper": tuple(np.ones(2))}, TypeError, "comes out of an array"),
        ({"norm": "l1"}, ValueError, "norm"),
        ({"constant": 1.0}, TypeError, "constant is not declared public"),
        ({"power": Public(1.5)}, ValueError, "power is out of range"),
    ],
)
def test_wrong_settings_are_refused(change, error, match):
    settings = {
        "lower": (0.0, 0.0), "upper": (1.0, 1.0), "constant": ONE, "power": ONE,
        "n_cells": (4, 4),
    } | change  # fmt: skip
    lower, upper = settings.pop("lower"), settings.pop("upper")
    with pytest.raises(error, match=match):
        holder_box_stage(cone([0.5, 0.5]), lower, upper, **settings)
