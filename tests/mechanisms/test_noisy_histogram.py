"""A histogram with integer noise on every count."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from skdp.accounting import ApproximateDP, PureDP
from skdp.mechanisms import NoisyHistogram
from skdp.random import as_random_source


def made(target, k, n=None, **shape):
    return NoisyHistogram.calibrate(target, n_categories=k, n_rows=n, **shape)


def test_a_replaced_record_changes_two_counts():
    """The exact largest log ratio of neighbours is epsilon, not a half of it."""
    target = PureDP(1.0, adjacency="replace-one")
    mechanism = made(target, 2, 10)
    p = mechanism.log_density_on(np.array([6, 4]))
    q = mechanism.log_density_on(np.array([5, 5]))
    grid = [np.array([a, b]) for a in range(-5, 20) for b in range(-5, 20)]
    assert max(abs(p(y) - q(y)) for y in grid) == pytest.approx(1.0, abs=1e-12)
    assert mechanism.guarantee.epsilon(0.0) == 1.0
    halved = replace(mechanism, scale=mechanism.scale / 2)
    assert halved.guarantee.epsilon(0.0) == 2.0


def test_a_group_multiplies_the_noise():
    mechanism = made(PureDP(0.5), 3, group_size=4)
    assert mechanism.scale == 8
    assert made(ApproximateDP(0.5, 1e-6), 3, group_size=4).guarantee.delta(0.5) <= 1e-6


def test_gaussian_noise_is_near_that_of_the_analytic_curve():
    """The continuous release needs 5.9746; the concentrated bound costs 8 %."""
    target = ApproximateDP(1.0, 1e-6, adjacency="replace-one")
    mechanism = made(target, 9, 1000)
    assert 5.9746 < float(mechanism.scale) < 1.08 * 5.9746
    assert mechanism.guarantee.epsilon(1e-6) <= 1.0


def test_counts_of_unseen_symbols_get_noise_too():
    mechanism = made(PureDP(0.2), 6)
    source = as_random_source(0)
    zeros = np.zeros(6, dtype=np.int64)
    table = np.array([mechanism.release(zeros, source).output for _ in range(50)])
    assert np.all(table.std(axis=0) > 2)
    np.testing.assert_array_equal(table, np.rint(table))


@pytest.mark.statistical
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_mean_error_is_that_of_the_noise(delta):
    """40,000 draws within 6 standard errors: a false alarm is below 1e-7."""
    target = ApproximateDP(0.5, delta) if delta else PureDP(0.5)
    mechanism = made(target, 40_000)
    noise = mechanism.release(np.zeros(40_000, np.int64), as_random_source(0)).output
    error = np.abs(noise)
    slack = 6 * error.std() / 200
    assert abs(error.mean() - mechanism.mean_error) < slack
    spread = float(np.sqrt(np.mean(noise**2)))
    wide = replace(mechanism, n_categories=2).accuracy_bound(10**6) * 10**6
    assert wide == pytest.approx(spread, rel=0.05)


def test_the_law_adds_up_to_one():
    for target in (PureDP(0.5), PureDP(3.0), ApproximateDP(3.0, 1e-3)):
        mechanism = made(target, 1)
        law = mechanism.log_density_on(np.array([3]))
        total = sum(math.exp(law(np.array([z]))) for z in range(-200, 200))
        assert total == pytest.approx(1.0, abs=1e-9)


def test_a_scale_that_is_none_is_refused():
    good = made(PureDP(1.0), 3)
    for wrong in (Fraction(0), Fraction(1 << 54)):
        with pytest.raises(ValueError, match="scale"):
            replace(good, scale=wrong)
    with pytest.raises(ValueError, match="private"):
        replace(good, n_rows=4)
