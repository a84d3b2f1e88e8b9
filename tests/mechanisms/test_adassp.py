"""Noisy second moments: one spherical Gaussian release of an exact statistic."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.stats import kstest

from skdp.accounting import Adjacency, ApproximateDP, gaussian_delta
from skdp.mechanisms import AdaSSP, GaussianNoise, LatticeSmoothing
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks

DELTA = 1e-6
each_relation = pytest.mark.parametrize("adjacency", Adjacency)


def made(epsilon=1.0, d=3, radius=1.0, adjacency="add-remove", delta=DELTA):
    target = ApproximateDP(epsilon, delta, adjacency=adjacency)
    return AdaSSP.calibrate(target, radius=radius, n_coefficients=d)


def rows(X, y, radius=1.0):
    X = np.atleast_2d(np.asarray(X, float))
    blocks = as_row_blocks(X, np.asarray(y, float), labels=Targets(-1, 1))
    return PrivateRows(blocks, L2Ball(radius))


def exact_mu(mechanism, left, right):
    """Distance of the statistics of two tables over the noise, in its own norm."""
    steps = (mechanism._steps(left) - mechanism._steps(right)).astype(float)
    change = steps * mechanism.smoothing.grid * mechanism.weights
    return float(np.linalg.norm(change)) / mechanism.noise_law.scale


@each_relation
@pytest.mark.parametrize("delta", [1e-300, 1e-6, 0.1])
def test_calibration_spends_the_target_and_no_more(adjacency, delta):
    for epsilon in (1e-9, 0.1, 1.0, 1000.0):
        mechanism = made(epsilon, 2, 3.0, adjacency, delta)
        spent = mechanism.guarantee.epsilon(delta)
        assert (1 - 1e-3) * epsilon <= spent <= epsilon
        assert mechanism.guarantee.delta(epsilon) <= delta


def test_the_noise_is_that_of_one_number_times_the_sensitivity():
    """4.2247 is the analytic Gaussian's at (1, 1e-6); smoothing adds 1e-4 of it."""
    assert made().noise_law.scale == pytest.approx(math.sqrt(2) * 4.2247, rel=2e-4)
    ratio = made(adjacency="replace-one").noise_law.scale / made().noise_law.scale
    assert ratio == pytest.approx(1.5, rel=1e-12)


@each_relation
@pytest.mark.parametrize("d", [1, 2, 3])
def test_no_random_neighbours_are_farther_than_the_sensitivity(adjacency, d):
    rng = np.random.default_rng(d)
    mechanism = made(d=d, radius=2.0, adjacency=adjacency)
    worst = 0.0
    for _ in range(150):
        n = int(rng.integers(1, 5))
        X = rng.normal(size=(n, d)) * rng.choice([0.5, 2.0, 50.0], (n, 1))
        y = rng.choice([-1.0, 1.0, 0.4, 7.0], n)
        other_X, other_y = X.copy(), y.copy()
        if adjacency is Adjacency.REPLACE_ONE:
            other_X[0], other_y[0] = -X[0] + rng.normal(size=d), rng.choice([-1.0, 1.0])
        else:
            other_X, other_y = X[1:], y[1:]
        pair = rows(X, y, 2.0), rows(other_X.reshape(-1, d), other_y, 2.0)
        worst = max(worst, exact_mu(mechanism, *pair))
    assert 0.8 * mechanism.sensitivity_ratio <= worst <= mechanism.sensitivity_ratio


@each_relation
@pytest.mark.parametrize("d", [2, 5])
def test_the_hard_pairs_attain_the_sensitivity(adjacency, d):
    mechanism = made(d=d, radius=0.7, adjacency=adjacency)
    for pair in mechanism.hard_pairs():
        found = exact_mu(mechanism, pair.left, pair.right)
        assert 0.9999 * mechanism.sensitivity_ratio <= found
        assert found <= mechanism.sensitivity_ratio


def test_the_largest_change_under_replacement_is_at_sixty_degrees():
    """2 + 2 + 2p - 2p^2 over the inner product p of two rows of norm one."""
    mechanism = made(d=2, adjacency="replace-one")
    found = []
    for p in np.linspace(0, 1, 21):
        z = [p, math.sqrt(1 - p * p)]
        pair = rows([[1.0, 0.0]], [1.0]), rows([z], [-1.0])
        found.append((exact_mu(mechanism, *pair) * mechanism.noise_law.scale) ** 2)
    expected = 4 + 2 * np.linspace(0, 1, 21) * (1 - np.linspace(0, 1, 21))
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    assert int(np.argmax(found)) == 10


def _noise_of_the_other_relation(honest):
    step = dataclasses.replace(made(d=2).smoothing, adjacency=honest.adjacency)
    noise_law = made(d=2).noise_law
    return dataclasses.replace(honest, noise_law=noise_law, smoothing=step)


def _a_hundredth_too_little_noise(honest):
    noise_law = GaussianNoise(honest.noise_law.scale / 1.01)
    return dataclasses.replace(honest, noise_law=noise_law)


@pytest.mark.parametrize(
    "mutate",
    [_noise_of_the_other_relation, _a_hundredth_too_little_noise],
    ids=lambda mutate: mutate.__name__,
)
def test_the_hard_pairs_refute_a_mechanism_with_too_little_noise(mutate):
    honest = made(d=2, adjacency="replace-one")
    broken, pairs = mutate(honest), list(honest.hard_pairs())
    found = max(exact_mu(broken, p.left, p.right) for p in pairs)
    assert found > 1.005 * honest.sensitivity_ratio


def test_noise_without_the_weights_would_not_be_private():
    """Were all entries as noisy as those off the diagonal, some row would show."""
    mechanism = made(d=2)
    row = rows([[1.0, 0.0]], [1.0])
    change = mechanism._steps(row).astype(float) * mechanism.smoothing.grid
    plain = np.linalg.norm(change) / (mechanism.noise_law.scale / math.sqrt(2))
    assert plain > 1.4 * mechanism.sensitivity_ratio


def test_the_difference_of_two_releases_with_one_noise_is_that_of_the_sums():
    mechanism = made(d=3)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 3)), rng.uniform(-1, 1, 500)
    tables = rows(X, y), rows(X[:-1], y[:-1])
    outputs = [mechanism.release(t, as_random_source(5)).output for t in tables]
    steps = [mechanism._steps(t) for t in tables]
    found = (outputs[0] - outputs[1]) / mechanism.smoothing.grid
    np.testing.assert_array_equal(found, (steps[0] - steps[1]).astype(float))


@pytest.mark.statistical
def test_the_noise_is_spherical_in_the_frobenius_norm():
    """False alarm 1e-6 a test: one of 9 coordinates, and the sum of squares."""
    mechanism = made(d=3)
    data = rows(np.eye(3), np.ones(3))
    source = as_random_source(3)
    draws = np.stack(
        [
            mechanism.noise(mechanism.release(data, source).output, data)
            for _ in range(400)
        ]
    )
    z = draws / mechanism.noise_law.scale
    assert z.shape == (400, 9)
    for k in range(9):
        assert kstest(z[:, k], "norm").pvalue > 1e-7
    assert kstest(np.sum(z**2, axis=1), "chi2", (9,)).pvalue > 1e-7
    correlations = np.corrcoef(z.T)[np.triu_indices(9, 1)]
    assert np.abs(correlations).max() < 6.5 / 20  # 36 of them, each 6.5 deviations


def test_the_density_adds_up_to_one_and_its_ratio_is_the_gaussian_one():
    mechanism = made(epsilon=4.0, d=1)
    left, right = rows([[1.0]], [1.0]), rows(np.zeros((0, 1)), [])
    grid = np.linspace(-9, 9, 121) * mechanism.noise_law.scale
    step = (grid[1] - grid[0]) ** 2
    log_p, log_q = (
        np.array([[density(np.array([a, b])) for b in grid] for a in grid])
        for density in map(mechanism.log_density_on, (left, right))
    )
    p, q = np.exp(log_p), np.exp(log_q)
    assert step * p.sum() == pytest.approx(1.0, abs=1e-9)
    mu = exact_mu(mechanism, left, right)
    for epsilon in (0.0, 1.0, 3.0):
        found = step * np.maximum(p - np.exp(epsilon) * q, 0.0).sum()
        assert found == pytest.approx(gaussian_delta(epsilon, mu), rel=2e-2)
        assert mechanism.guarantee.delta(epsilon) >= gaussian_delta(epsilon, mu)


def test_moments_put_the_output_into_shape():
    mechanism = made(d=3)
    output = np.arange(9.0)
    found = mechanism.moments(output)
    np.testing.assert_array_equal(found.gram, [[0, 1, 2], [1, 3, 4], [2, 4, 5]])
    np.testing.assert_array_equal(found.moments, [6, 7, 8])
    assert found.noise_scale == mechanism.noise_law.scale


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 1.0, 1e3])
@pytest.mark.parametrize("d", [1, 40, 4096])
def test_products_are_multiples_of_the_lattice_step(epsilon, d):
    mechanism = made(epsilon, d)
    assert 1 <= mechanism.bits <= 20
    ratio = 2.0 ** (-2 * mechanism.bits) / mechanism.smoothing.grid
    assert ratio >= 1.0
    assert ratio == int(ratio)


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("radius", 0.0, "radius"),
        ("radius", math.inf, "radius"),
        ("n_coefficients", 0, "n_coefficients"),
        ("n_coefficients", 4097, "n_coefficients"),
        ("n_coefficients", 2, "length"),
        ("adjacency", "replace-one", "adjacency"),
        ("noise_law", GaussianNoise(1e9), "rounding of the noise"),
        (
            "smoothing",
            LatticeSmoothing.concentrated(error=1e3, n_features=9, mu=0.01),
            "finer than a row",
        ),
    ],
    ids=lambda v: v if isinstance(v, str) else None,
)
def test_fields_that_do_not_fit_are_refused(field, value, error):
    with pytest.raises(ValueError, match=error):
        dataclasses.replace(made(d=3), **{field: value})


def test_rows_of_another_shape_or_bound_are_refused():
    with pytest.raises(ValueError, match="calibrated for n_coefficients=3"):
        made().release(rows(np.eye(2), np.ones(2)), as_random_source(0))
    with pytest.raises(ValueError, match="radius=1"):
        made().release(rows(np.eye(3), np.ones(3), radius=2.0), as_random_source(0))
