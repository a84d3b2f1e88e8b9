"""The continuous samplers against their laws, and wrong samplers against the checks."""

import numpy as np
import pytest
from scipy import stats

from skdp.random import as_random_source, k_norm_vector, standard_normal, uniform

#: Each check is several tests at this level; the seeds are fixed.
LEVEL = 1e-7
N_DRAWS = 100_000
DIMENSION, RATE = 3, 0.7


def assert_uniform(u):
    """Kolmogorov-Smirnov, and the binades down to 2**-12 by chi-square."""
    assert stats.kstest(u, "uniform").pvalue > LEVEL
    edges = np.concatenate([[0.0], 2.0 ** np.arange(-12, 1)])
    assert_cells(u, edges, np.diff(edges))


def assert_normal(z):
    """Law, moments, tails cell by cell, and the precision of single draws."""
    assert stats.kstest(z, "norm").pvalue > LEVEL
    edges = np.concatenate([[-np.inf], np.arange(-4, 4.1, 0.25), [np.inf]])
    assert_cells(z, edges, np.diff(stats.norm.cdf(edges)))
    for power, mean, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        error = np.mean(z**power) - mean
        assert abs(error) < 5.4 * np.sqrt(variance / len(z))
    assert np.mean(z.astype(np.float32) == z) < 1e-4


def assert_k_norm(vectors):
    """Gamma radius, direction without preference, each independent of the other."""
    radius = np.linalg.norm(vectors, axis=1)
    assert stats.kstest(radius, "gamma", (DIMENSION, 0, 1 / RATE)).pvalue > LEVEL
    # A coordinate of a uniform direction in three dimensions is uniform on [-1, 1].
    direction = vectors / radius[:, None]
    for coordinate in direction.T:
        assert stats.kstest(coordinate, "uniform", (-1, 2)).pvalue > LEVEL
        assert stats.spearmanr(coordinate, radius).pvalue > LEVEL
        assert stats.spearmanr(abs(coordinate), radius).pvalue > LEVEL


def assert_cells(draws, edges, probabilities):
    """Chi-square over cells whose expected count is at least 10."""
    observed = np.histogram(draws, edges)[0]
    expected = len(draws) * probabilities / probabilities.sum()
    kept = expected >= 10
    observed = np.append(observed[kept], observed[~kept].sum())
    expected = np.append(expected[kept], expected[~kept].sum())
    nonempty = expected > 0
    test = stats.chisquare(observed[nonempty], expected[nonempty])
    assert test.pvalue > LEVEL


def k_norm_vectors(source, n=10_000):
    return np.array([k_norm_vector(DIMENSION, RATE, source) for _ in range(n)])


@pytest.mark.statistical
def test_uniform_follows_its_law():
    """False alarm below 1e-6: two tests at 1e-7."""
    assert_uniform(uniform(N_DRAWS, as_random_source(11)))


@pytest.mark.statistical
def test_standard_normal_follows_its_law():
    """False alarm below 1e-6: six tests at 1e-7."""
    assert_normal(standard_normal(N_DRAWS, as_random_source(12)))


@pytest.mark.statistical
def test_k_norm_vector_follows_its_law():
    """False alarm at most 1e-6: ten tests at 1e-7."""
    assert_k_norm(k_norm_vectors(as_random_source(13)))


@pytest.mark.statistical
@pytest.mark.parametrize("n_features", [1, 2, 50])
def test_the_radius_is_gamma_in_every_dimension(n_features):
    """False alarm 1e-7 each."""
    source = as_random_source(14)
    norms = [
        np.linalg.norm(k_norm_vector(n_features, 1.0, source)) for _ in range(3000)
    ]
    assert stats.kstest(norms, "gamma", (n_features,)).pvalue > LEVEL


def _gaussian_clipped(rng):
    return np.clip(rng.standard_normal(N_DRAWS), -3, 3)


def _gaussian_narrow(rng):
    z = rng.standard_normal(2 * N_DRAWS)
    return z[abs(z) < 4][:N_DRAWS] * 0.97


def _gaussian_single(rng):
    return rng.standard_normal(N_DRAWS, dtype=np.float32).astype(float)


def _gaussian_half(rng):
    return abs(rng.standard_normal(N_DRAWS))


@pytest.mark.parametrize(
    "wrong", [_gaussian_clipped, _gaussian_narrow, _gaussian_single, _gaussian_half]
)
def test_a_wrong_normal_is_caught(wrong):
    with pytest.raises(AssertionError):
        assert_normal(wrong(np.random.default_rng(0)))


def test_a_coarse_uniform_is_caught():
    coarse = np.random.default_rng(0).integers(1, 1024, N_DRAWS) / 1024
    with pytest.raises(AssertionError):
        assert_uniform(coarse)


def _directions(rng, n=10_000):
    z = rng.standard_normal((n, DIMENSION))
    return z / np.linalg.norm(z, axis=1, keepdims=True)


def _exponential_radius(rng):
    return _directions(rng) * rng.gamma(1, 1 / RATE, (10_000, 1))


def _product_laplace(rng):
    return rng.laplace(0, 1 / RATE, (10_000, DIMENSION))


def _cube_directions(rng):
    z = rng.uniform(-1, 1, (10_000, DIMENSION))
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    return z * rng.gamma(DIMENSION, 1 / RATE, (10_000, 1))


@pytest.mark.parametrize(
    "wrong", [_exponential_radius, _product_laplace, _cube_directions]
)
def test_a_wrong_k_norm_vector_is_caught(wrong):
    with pytest.raises(AssertionError):
        assert_k_norm(wrong(np.random.default_rng(0)))
