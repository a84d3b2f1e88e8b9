"""Exact sums meet lattice noise before any rounding, however coarse floats are."""

import dataclasses

import numpy as np
import pytest

from skdp.accounting import ApproximateDP
from skdp.losses import LogCoshLoss
from skdp.mechanisms import (
    AdaSSP,
    LatticeSmoothing,
    PreconditionedObjectivePerturbation,
)
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks


def rows(x, y):
    blocks = as_row_blocks(x, y, labels=Targets(-1.0, 1.0))
    return PrivateRows(blocks, L2Ball(1.0))


def shares(numbers, grid, exponent, modulus):
    """Share of each remainder among numbers whose floats are ``modulus / 4`` apart."""
    k = np.abs(numbers / grid)
    far = k[(k > 2.0**exponent) & (k < 2.0 ** (exponent + 1))]
    assert far.size > 100
    remainders = np.mod(far, modulus)
    return [np.mean(remainders == r) for r in range(0, modulus, modulus // 4)]


def test_the_metric_does_not_tell_its_sums_by_the_rounding_of_large_noise():
    """Noise rounded before the sums are added leaves two remainders in four empty."""
    mechanism = PreconditionedObjectivePerturbation.calibrate(
        ApproximateDP(1.0, 1e-6), loss=LogCoshLoss(), radius=1.0, n_coefficients=100
    )
    coarse = LatticeSmoothing.concentrated(
        error=mechanism.metric.step.error, n_features=mechanism.metric.size, mu=1e-14
    )
    metric = dataclasses.replace(mechanism.metric, step=coarse)
    mechanism = dataclasses.replace(mechanism, metric=metric)
    x = np.zeros((2, 100))
    x[1, :44] = 0.15
    upper = np.triu_indices(44)
    found = [
        mechanism.release(rows(x, np.zeros(2)), as_random_source(seed)).output.metric
        for seed in range(3)
    ]
    numbers = np.concatenate([released[upper] for released in found])
    share = shares(numbers, coarse.grid, 54, 16)
    # hundreds of numbers: a fourth of them within .2, at more than six deviations
    assert share == pytest.approx([0.25] * 4, abs=0.2)


def test_moments_do_not_tell_their_sums_by_the_rounding_of_large_noise():
    mechanism = AdaSSP.calibrate(
        ApproximateDP(1e-9, 1e-300), radius=1.0, n_coefficients=100
    )
    data = rows(np.full((1, 100), 0.1), np.zeros(1))
    found = [
        mechanism.release(data, as_random_source(seed)).output for seed in range(3)
    ]
    share = shares(np.concatenate(found), mechanism.smoothing.grid, 53, 8)
    assert share == pytest.approx([0.25] * 4, abs=0.2)


def test_steps_are_integers_that_no_float_holds():
    step = LatticeSmoothing.concentrated(error=1.0, n_features=1, mu=1e-9)
    points = np.full(200, 2.0**75 * step.grid)
    steps = step.release_steps(points, as_random_source(0))
    assert all(isinstance(k, int) for k in steps)
    remainders = {int(k) % 1024 for k in steps}
    assert len(remainders) > 100
    small = step.release_steps(np.zeros(3), as_random_source(0))
    assert small.dtype == np.int64
