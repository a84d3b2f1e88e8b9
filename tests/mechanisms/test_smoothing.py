import dataclasses
import functools
import itertools
import math

import numpy as np
import pytest
from scipy.special import logsumexp

from skdp.accounting import PureDP, ZeroConcentratedDP
from skdp.mechanisms import LatticeLaw, LatticeSmoothing
from skdp.random import as_random_source

GAUSSIAN = {"error": 0.3, "n_features": 2, "mu": 0.5}
LAPLACE = {"error": 0.3, "n_features": 2, "epsilon": 2.0}


def pmf(law, scale, shift, reach):
    """Log probabilities of the shifted integer noise, from the definition."""
    k = np.arange(-reach, reach + 1)
    log = -np.abs(k - shift) / scale
    if law is LatticeLaw.GAUSSIAN:
        log = -((k - shift) ** 2) / (2 * scale**2)
    return log - logsumexp(log)


@functools.cache
def _renyi(order, scale, shift):
    reach = int(abs(shift) * 10 + 12 * scale)
    p, q = (pmf(LatticeLaw.GAUSSIAN, scale, at, reach) for at in (shift, 0))
    return logsumexp(order * p - (order - 1) * q) / (order - 1)


def steps(step, vector):
    return np.rint(vector / step.grid).astype(int)


def computed_pairs(step, n=24):
    """Pairs of points within the error ball of one ideal point, often on its edge."""
    rng = np.random.default_rng(0)
    d = step.n_features
    for k in range(n):
        ideal = rng.normal(size=d)
        u, v = rng.normal(size=(2, d))
        if k % 2:
            u, v = np.sign(u), -np.sign(u)
        unit = [w / np.linalg.norm(w) for w in (u, v)]
        yield tuple(ideal + step.error * w for w in unit)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("mu", [0.05, 0.125, 0.5, 3.0])
def test_the_gaussian_theorem_by_enumeration(d, mu):
    """Renyi divergences of integer and other orders, product laws over coordinates."""
    step = LatticeSmoothing.concentrated(error=0.3, n_features=d, mu=mu)
    rho = step.guarantee.rho
    assert isinstance(step.guarantee, ZeroConcentratedDP)
    assert rho <= mu**2 / 2
    worst = 0.0
    for left, right in computed_pairs(step):
        shifts = steps(step, left) - steps(step, right)
        for order in (1.5, 7.3):
            divergences = [_renyi(order, step.multiple, int(k)) for k in shifts]
            worst = max(worst, sum(divergences) / (order * rho))
    assert 0.7 < worst <= 1 + 1e-9


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 4.0])
def test_the_laplace_theorem_by_enumeration(d, epsilon):
    """The largest loss is the L1 distance of the centres over the scale."""
    step = LatticeSmoothing.pure(error=0.3, n_features=d, epsilon=epsilon)
    claimed = step.guarantee.epsilon(0.0)
    assert isinstance(step.guarantee, PureDP)
    assert claimed <= epsilon
    losses = [
        np.abs(steps(step, left) - steps(step, right)).sum() / step.multiple
        for left, right in computed_pairs(step)
    ]
    assert 0.8 * claimed < max(losses) <= claimed * (1 + 1e-12)


@pytest.mark.parametrize("law", LatticeLaw)
def test_log_density_is_the_log_probability_of_the_lattice_point(law):
    if law is LatticeLaw.GAUSSIAN:
        step = LatticeSmoothing.concentrated(**{**GAUSSIAN, "mu": 20.0})
    else:
        step = LatticeSmoothing.pure(**{**LAPLACE, "epsilon": 32.0})
    centre = np.array([0.1, -0.7])
    middle = steps(step, centre)
    reach = int(40 * step.multiple) + 3
    total = 0.0
    expected = pmf(law, step.multiple, 0, reach)
    for i, j in itertools.product(range(-reach, reach + 1, 1), repeat=2):
        if abs(i) + abs(j) > 8:
            continue
        output = (middle + np.array([i, j])) * step.grid
        found = step.log_density(output, centre)
        assert found == pytest.approx(expected[i + reach] + expected[j + reach])
        total += math.exp(found)
    assert 0.9 < total <= 1 + 1e-9


@pytest.mark.parametrize("d", [1, 5, 1000])
@pytest.mark.parametrize("error", [1e-250, 1e-8, 1.0, 1e10])
def test_sizes_are_public_powers_of_two_and_scale_with_the_error(d, error):
    for step in (
        LatticeSmoothing.concentrated(error=error, n_features=d, mu=0.125),
        LatticeSmoothing.pure(error=error, n_features=d, epsilon=0.125),
    ):
        assert math.frexp(step.grid)[0] == 0.5
        assert error / (16 * math.sqrt(d)) < step.grid <= error / (8 * math.sqrt(d))
        assert step.scale / step.grid == step.multiple >= 128
        assert step.lattice == step.grid
        assert step.ideal_guarantee == step.guarantee


@pytest.mark.parametrize("where", [0.0, 1.0, -1e9, 1e30])
def test_the_release_is_the_rounded_vector_plus_integer_noise(where):
    for step in (
        LatticeSmoothing.concentrated(**GAUSSIAN),
        LatticeSmoothing.pure(**LAPLACE),
    ):
        centre = np.full(2, where)
        release = step.release(centre, as_random_source(1))
        k = release.output / step.grid
        np.testing.assert_array_equal(k, np.rint(k))
        assert release.spent == step.guarantee
        if abs(where) < 1e10:
            z = step.noise(release.output, centre)
            assert 0 < np.abs(z).max() < 60 * step.multiple


def test_vectors_far_from_the_origin_keep_their_noise():
    """Beyond 2**63 steps integers must not wrap around."""
    step = LatticeSmoothing.concentrated(error=1e-8, n_features=1, mu=0.01)
    outputs = {
        step.release(np.array([1e12]), as_random_source(s)).output[0] for s in range(5)
    }
    assert all(abs(value - 1e12) < 1.0 for value in outputs)


def test_hard_pairs_are_both_within_the_error_of_one_point():
    for step in LatticeSmoothing.audit_instances():
        for pair in step.hard_pairs():
            gap = np.linalg.norm(pair.left - pair.right)
            assert gap == pytest.approx(2 * step.error)


@pytest.mark.parametrize("far", [0.0, 1e30])
@pytest.mark.parametrize("law", ["concentrated", "pure"])
def test_many_vectors_are_smoothed_as_one_is(law, far):
    size = {"mu": 0.1} if law == "concentrated" else {"epsilon": 0.1}
    step = getattr(LatticeSmoothing, law)(error=1e-3, n_features=2, **size)
    points = far + np.arange(6.0).reshape(3, 2)
    together = step.release_each(points, as_random_source(3))
    # the same integers: the noise of six coordinates in a row
    wide = dataclasses.replace(step, n_features=6)
    alone = wide.release(points.ravel(), as_random_source(3)).output
    np.testing.assert_array_equal(together.ravel(), alone)
    np.testing.assert_array_equal(together / step.grid % 1.0, 0.0)
