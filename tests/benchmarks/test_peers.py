"""The peers follow the formulas of their papers."""

import math

import numpy as np
import pytest
from _peers import (
    CMS11,
    KST12,
    RKW23,
    NoisyGradientDescent,
    OutputPerturbation,
    ceiling,
    gaussian_delta,
    gaussian_mu,
    minimise,
    rkw_delta,
    rkw_ridge,
)
from mpmath import mp, mpf, ncdf
from scipy.integrate import quad
from scipy.optimize import minimize as scipy_minimize
from scipy.stats import norm

DELTA = 1e-6
PRIVATE = [KST12, RKW23, CMS11, OutputPerturbation, NoisyGradientDescent]
EPSILONS = [0.1, 0.5, 1.0, 2.0, 4.0, 8.0]


def problem(n=400, d=4):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(X @ np.arange(1, d + 1) + rng.normal(size=n) > 0, 1, -1)
    return X, y


@pytest.mark.parametrize(
    ("epsilon", "scale"),
    [
        (0.1, 107.9209),
        (0.5, 21.7319),
        (1.0, 10.9576),
        (2.0, 5.5693),
        (4.0, 2.8730),
        (8.0, 1.5210),
    ],
)
def test_kst12_noise_has_the_published_scale(epsilon, scale):
    peer = KST12(epsilon=epsilon, delta=DELTA)
    assert peer.noise_scale == pytest.approx(scale, abs=6e-5)
    assert peer.ridge == pytest.approx(1.0 / (2.0 * epsilon))


@pytest.mark.parametrize(
    ("epsilon", "scale"),
    [(0.1, 49.7927), (0.5, 11.1760), (1.0, 5.9921), (2.0, 3.4036)],
)
def test_rkw23_noise_has_the_published_scale_at_ridge_one_over_epsilon(epsilon, scale):
    ridge = rkw_ridge(epsilon, DELTA, scale)
    assert ridge == pytest.approx(1.0 / epsilon, rel=1e-4)
    assert rkw_delta(epsilon, scale, 1.0 / epsilon) == pytest.approx(DELTA, rel=1e-3)


@pytest.mark.parametrize("scale", [4.0, 0.3])
def test_rkw23_delta_is_the_expectation_it_stands_for(scale):
    """Loss at most c + mu^2/2 + mu|w|, w normal; both branches of the theorem."""
    epsilon, ridge = 1.0, 1.0
    constant = -math.log1p(-0.25 / ridge) + 1.0 / (2.0 * scale**2)

    def integrand(w):
        gain = -math.expm1(min(0.0, epsilon - constant - w / scale))
        return 2.0 * norm.pdf(w) * gain

    kink = max(0.0, (epsilon - constant) * scale)
    expected = quad(integrand, kink, kink + 12.0, epsabs=1e-15)[0]
    assert rkw_delta(epsilon, scale, ridge) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_rkw23_has_the_smallest_ridge_that_keeps_the_guarantee(epsilon):
    peer = RKW23(epsilon=epsilon, delta=DELTA)
    scale = 1.3 / gaussian_mu(epsilon, DELTA)
    assert peer.noise_scale == pytest.approx(scale)
    assert rkw_delta(epsilon, scale, peer.ridge) == pytest.approx(DELTA, rel=1e-6)
    assert rkw_delta(epsilon, scale, 0.99 * peer.ridge) > DELTA


@pytest.mark.parametrize(
    ("epsilon", "scale"),
    [
        (0.1, 36.3047),
        (0.5, 8.0576),
        (1.0, 4.2247),
        (2.0, 2.2305),
        (4.0, 1.1935),
        (8.0, 0.6529),
    ],
)
def test_analytic_gaussian_scale_is_the_published_one(epsilon, scale):
    assert 1.0 / gaussian_mu(epsilon, DELTA) == pytest.approx(scale, abs=6e-5)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_gaussian_delta_agrees_with_high_precision(epsilon):
    mp.dps = 40
    mu = gaussian_mu(epsilon, DELTA)
    ratio = mpf(epsilon) / mpf(mu)
    upper, lower = ncdf(mpf(mu) / 2 - ratio), ncdf(-mpf(mu) / 2 - ratio)
    exact = float(upper - mp.exp(epsilon) * lower)
    assert gaussian_delta(epsilon, mu) == pytest.approx(exact, rel=1e-8)
    assert exact == pytest.approx(DELTA, rel=1e-6)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_cms11_charges_of_curvature_and_noise_sum_to_epsilon(epsilon):
    peer = CMS11(epsilon=epsilon, delta=0.0)
    share = 0.1 if epsilon < 1.0 else 0.2
    assert math.log1p(0.25 / peer.ridge) == pytest.approx(share * epsilon)
    assert math.log1p(0.25 / peer.ridge) + peer.rate == pytest.approx(epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_output_noise_covers_the_sensitivity_of_the_minimiser(epsilon):
    peer = OutputPerturbation(epsilon=epsilon, delta=DELTA)
    mu = 1.0 / (peer.ridge * peer.noise_scale)
    assert gaussian_delta(epsilon, mu) == pytest.approx(DELTA, rel=1e-6)


def test_one_row_moves_the_ridge_minimiser_by_at_most_one_over_ridge():
    X, y = problem()
    A, ridge = X * y[:, None], 2.0
    moves = [
        np.linalg.norm(minimise(A, ridge) - minimise(np.delete(A, i, axis=0), ridge))
        for i in range(20)
    ]
    assert max(moves) <= 1.0 / ridge


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_noisy_gradient_steps_compose_to_the_guarantee(epsilon):
    peer = NoisyGradientDescent(epsilon=epsilon, delta=DELTA)
    n_steps = peer.schedule[0]
    mu = math.sqrt(n_steps) / peer.noise_scale
    assert gaussian_delta(epsilon, mu) == pytest.approx(DELTA, rel=1e-6)


@pytest.mark.parametrize("ridge", [1e-3, 1.0, 30.0])
def test_newton_agrees_with_another_solver(ridge):
    X, y = problem()
    A, linear = X * y[:, None], np.array([3.0, -2.0, 0.5, 1.0])

    def value(theta):
        loss = np.logaddexp(0.0, -(A @ theta)).sum()
        return loss + ridge / 2 * theta @ theta + linear @ theta

    expected = scipy_minimize(value, np.zeros(4), method="BFGS", tol=1e-8).x
    np.testing.assert_allclose(minimise(A, ridge, linear), expected, atol=1e-4)


def test_newton_converges_on_separable_rows():
    X, _ = problem()
    y = np.where(X[:, 0] > 0, 1, -1)
    theta = minimise(X * y[:, None], 1e-3)
    gradient = 1e-3 * theta - (X * y[:, None]).T @ (1 / (1 + np.exp(y * (X @ theta))))
    assert np.linalg.norm(gradient) <= 1e-6


@pytest.mark.parametrize("peer", PRIVATE)
def test_peer_without_noise_to_speak_of_reaches_the_ceiling(peer):
    X, y = problem(4000)
    model = peer(epsilon=50.0, delta=0.1, random_state=0).fit(X, y)
    assert model.score(X, y) >= ceiling().fit(X, y).score(X, y) - 0.02


@pytest.mark.parametrize("peer", PRIVATE)
def test_peer_repeats_with_its_seed_only(peer):
    X, y = problem()
    first, again, other = (
        peer(epsilon=1.0, random_state=seed).fit(X, y).coef_ for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
