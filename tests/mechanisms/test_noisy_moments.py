"""What is made of released moments: good where noise is small, tame where it is not."""

import numpy as np
import pytest

from skdp.mechanisms import NoisyMoments


def problem(n, d, noise, seed=0):
    """Return noisy moments of n rows in the unit ball, and what they are made of."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.geomspace(1, 0.2, d)
    X /= np.linalg.norm(X, axis=1).max()
    theta = rng.normal(size=d)
    theta /= np.abs(X @ theta).max()
    gram = X.T @ X
    N = rng.normal(size=(d, d))
    moments = gram @ theta + noise * rng.normal(size=d)
    return NoisyMoments(gram + noise * (N + N.T) / 2, moments, noise), gram, theta


def excess(coefficients, gram, theta):
    """Excess risk over that of no model."""
    away = coefficients - theta
    return (away @ gram @ away) / (theta @ gram @ theta)


def test_without_noise_to_speak_of_they_are_least_squares():
    released, _, theta = problem(1000, 5, 1e-6)
    coefficients, ridge = released.coefficients()
    np.testing.assert_allclose(coefficients, theta, atol=1e-6)
    assert 0.0 < ridge < 1e-4


def test_a_given_ridge_is_added_to_the_matrix():
    released, gram, theta = problem(1000, 5, 1e-6)
    coefficients, ridge = released.coefficients(3.0)
    expected = np.linalg.solve(gram + 3.0 * np.eye(5), gram @ theta)
    np.testing.assert_allclose(coefficients, expected, rtol=1e-5)
    assert ridge == 3.0


@pytest.mark.parametrize("d", [1, 2, 30])
def test_nothing_but_noise_gives_a_model_that_says_next_to_nothing(d):
    for seed in range(20):
        released = NoisyMoments(*_noise(d, seed), 10.0)
        coefficients, ridge = released.coefficients()
        assert np.all(np.isfinite(coefficients))
        # margins of unit rows are below two, though the matrix has no inverse to trust
        assert np.linalg.norm(coefficients) <= 2.0 + np.sqrt(2)
        assert ridge >= 10.0 * np.sqrt((d + 1) / 2)


def _noise(d, seed):
    rng = np.random.default_rng(seed)
    N = rng.normal(size=(d, d))
    return 10.0 * (N + N.T) / 2, 10.0 * rng.normal(size=d)


@pytest.mark.parametrize(("noise", "times"), [(0.3, 0.8), (3.0, 0.8), (30.0, 1.1)])
def test_they_beat_the_inverse_and_the_worst_case_ridge(noise, times):
    """Mean excess risk over 40 draws, beside the ridge that bounds the noise's norm.

    Where nearly all is noise that ridge is a little better.
    """
    found, plain, bounded = [], [], []
    for seed in range(40):
        released, gram, theta = problem(2000, 20, noise, seed)
        found.append(excess(released.coefficients()[0], gram, theta))
        inverse = np.linalg.solve(released.gram, released.moments)
        plain.append(excess(inverse, gram, theta))
        worst = noise * (np.sqrt(40) + np.sqrt(2 * np.log(20)))
        bounded.append(excess(released.coefficients(worst)[0], gram, theta))
    assert np.mean(found) < times * np.mean(bounded)
    assert np.mean(found) < np.mean(plain)
    assert np.mean(found) < 1.0


def test_a_rotation_of_the_rows_rotates_the_coefficients():
    released, _, _ = problem(500, 6, 1.0)
    Q = np.linalg.qr(np.random.default_rng(5).normal(size=(6, 6)))[0]
    turned = NoisyMoments(Q @ released.gram @ Q.T, Q @ released.moments, 1.0)
    coefficients, ridge = released.coefficients()
    again, same = turned.coefficients()
    np.testing.assert_allclose(again, Q @ coefficients, rtol=1e-8)
    assert same == pytest.approx(ridge, rel=1e-12)


def test_negative_eigenvalues_count_as_zero():
    released = NoisyMoments(np.diag([-100.0, 100.0]), np.array([1.0, 1.0]), 1.0)
    coefficients, _ = released.coefficients(2.0)
    np.testing.assert_allclose(coefficients, [1 / 2, 1 / 102])
