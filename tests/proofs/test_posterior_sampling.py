"""Numeric checks of docs/proofs/posterior_sampling.md, independent of skdp."""

import mpmath
import numpy as np
import pytest
from scipy.special import expit, ndtr, ndtri


def test_the_log_ratio_of_a_tilted_law_lies_in_its_range_and_crosses_zero():
    """Theorem 1 on random finite laws: |log p'/p| <= max - min of the tilt."""
    generator = np.random.default_rng(0)
    for _ in range(500):
        p = generator.dirichlet(np.full(8, 0.3)) + 1e-300
        tilt = generator.normal(size=8) * generator.choice([0.01, 1, 10])
        q = p * np.exp(-tilt)
        ratio = -tilt - np.log(q.sum() / p.sum())
        assert ratio.max() >= -1e-12
        assert ratio.min() <= 1e-12
        assert np.abs(ratio).max() <= np.ptp(tilt) * (1 + 1e-12)


def test_a_log_ratio_of_bounded_range_is_concentrated():
    """rho = epsilon^2/8, on two-point laws, the extreme ones."""
    for epsilon in (0.1, 1.0, 3.0):
        # log ratio in {a, a - epsilon} with total mass 1 on both sides
        for share in np.linspace(0.001, 0.999, 200):
            a = -np.log(share + (1 - share) * np.exp(-epsilon))
            for order in (1.01, 1.5, 2.0, 10.0):
                terms = [share * np.exp(order * a)]
                terms.append((1 - share) * np.exp(order * (a - epsilon)))
                renyi = np.log(sum(terms)) / (order - 1)
                assert renyi <= order * epsilon**2 / 8 * (1 + 1e-9)


def hockey_stick(p, q, epsilon, grid):
    return np.trapezoid(np.maximum(p - np.exp(epsilon) * q, 0.0), grid)


def gaussian_delta(epsilon, mu):
    return ndtr(mu / 2 - epsilon / mu) - np.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize("mu", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("domain", [(-30.0, 30.0), (0.0, 1.0), (-0.5, 2.0)])
def test_strong_convexity_gives_the_gaussian_profile(mu, domain):
    """Theorem 2 for straight, logistic and kinked losses and their differences."""
    grid = np.linspace(*domain, 200_001)
    losses = {
        "straight": grid,
        "logistic": np.logaddexp(0.0, grid),
        "kink": np.abs(grid - 0.3),
    }
    for m, kink in ((1.0, 0.0), (0.3, 50.0), (2.0, 1.0)):
        gamma = m * mu**2
        base = gamma * (m * grid**2 / 2 + kink * np.abs(grid - 0.4))
        for loss in losses.values():
            laws = []
            for J in (base, base + gamma * loss):
                p = np.exp(J.min() - J)
                laws.append(p / np.trapezoid(p, grid))
            for e in (0.0, mu / 2, mu, 2 * mu):
                worst = max(
                    hockey_stick(*laws, e, grid), hockey_stick(*laws[::-1], e, grid)
                )
                assert worst <= gaussian_delta(e, mu) + 3e-5


def test_a_straight_loss_attains_the_gaussian_profile():
    grid = np.linspace(-20, 20, 200_001)
    for mu in (0.3, 1.0):
        p = np.exp(-(mu**2) * grid**2 / 2)
        q = np.exp(-(mu**2) * (grid**2 / 2 + grid))
        laws = [v / np.trapezoid(v, grid) for v in (p, q)]
        if mu > 0.5:
            found = hockey_stick(*laws, mu, grid)
            assert found == pytest.approx(gaussian_delta(mu, mu), abs=1e-6)


@pytest.mark.parametrize("eta", [1e-6, 1e-4, 5e-3])
@pytest.mark.parametrize("mu", [0.01, 0.3, 1.0, 5.0, 20.0])
def test_rounding_costs_at_most_six_eta_in_mu(mu, eta):
    """Lemma 3: the worst power of a test under e^(2 eta) distorted laws."""
    size = np.concatenate(
        [np.geomspace(1e-300, 0.5, 4000), 1 - np.geomspace(1e-15, 0.5, 4000)]
    )
    grow, shrink = np.exp(2 * eta), np.exp(-2 * eta)
    # largest undistorted size, and largest distorted power, by either tail
    x = np.minimum(ndtri(np.minimum(grow * size, 1.0)), -ndtri(shrink * (1 - size)))
    power = np.minimum(grow * ndtr(x + mu), 1 - shrink * ndtr(-x - mu))
    claimed = ndtr(ndtri(size) + mu + 6 * eta)
    assert np.all(power <= claimed * (1 + 1e-13))


@pytest.mark.parametrize("name", ["logistic", "huber", "log-cosh"])
def test_chord_curvature_is_smallest_at_an_end(name):
    """Lemma 4 in 60 digits, on random intervals around a point of contact."""
    losses = {
        "logistic": lambda z: mpmath.log1p(mpmath.exp(-z)),
        "huber": lambda z: z * z / 2 if abs(z) <= 1 else abs(z) - mpmath.mpf(1) / 2,
        "log-cosh": lambda z: mpmath.log(mpmath.cosh(z)),
    }
    slopes = {
        "logistic": lambda z: -1 / (1 + mpmath.exp(z)),
        "huber": lambda z: max(min(z, mpmath.mpf(1)), mpmath.mpf(-1)),
        "log-cosh": mpmath.tanh,
    }
    loss, slope = losses[name], slopes[name]
    generator = np.random.default_rng(3)
    with mpmath.workdps(60):
        for _ in range(40):
            z0, down, up = (mpmath.mpf(float(v)) for v in generator.normal(size=3) * 3)
            ends = [z0 - abs(down), z0 + abs(up)]

            def chord(z, z0=z0):
                gap = loss(z) - loss(z0) - slope(z0) * (z - z0)
                return 2 * gap / (z - z0) ** 2

            least = min(chord(z) for z in ends)
            for share in np.linspace(0.02, 0.98, 25):
                for end in ends:
                    z = z0 + mpmath.mpf(float(share)) * (end - z0)
                    assert chord(z) >= least - mpmath.mpf("1e-40")


def test_a_convex_rise_outside_the_core_is_at_least_linear():
    """The tail: h(t) >= t h(1) for convex h with h(0) = 0, on random convex rises."""
    generator = np.random.default_rng(5)
    t = np.linspace(1, 30, 200)
    for _ in range(200):
        a, b, c = generator.normal(size=3)
        h = np.abs(a) * t**2 + b * t + np.abs(c) * np.logaddexp(0, 3 * t)
        h0 = np.abs(c) * np.log(2.0)
        one = np.abs(a) + b + np.abs(c) * np.logaddexp(0, 3.0) - h0
        assert np.all(h - h0 >= t * one - 1e-9)


def test_the_loss_of_one_person_is_bounded_by_the_range_of_theirs():
    """Theorem 5 in one dimension, members and others, exact densities."""
    grid = np.linspace(-1, 1, 4001)
    generator = np.random.default_rng(4)
    gamma = 1.7
    for _ in range(50):
        x = generator.uniform(-1, 1, size=20)
        y = generator.choice([-1.0, 1.0], size=20)
        F = np.logaddexp(0.0, -np.outer(y * x, grid)).sum(axis=0) + grid**2
        one = np.logaddexp(0.0, generator.uniform(-1, 1) * grid)
        laws = []
        for J in (F, F + one):
            p = np.exp(-gamma * (J - J.min()))
            laws.append(np.log(p / np.trapezoid(p, grid)))
        bound = gamma * np.maximum(one - one.min(), one.max() - one)
        assert np.all(np.abs(laws[0] - laws[1]) <= bound * (1 + 1e-9) + 1e-9)


def test_the_steepest_row_of_a_ball_is_long_and_parallel():
    """Lemma 1 in three dimensions: random rows never span more than the formula."""
    generator = np.random.default_rng(6)
    for c, B in ((0.0, 1.0), (1.0, 0.5), (2.0, 1.0)):
        claimed = np.logaddexp(0, c + B) - np.logaddexp(0, c - B)
        center = np.array([c, 0.0, 0.0])
        x = generator.normal(size=(5000, 3))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        x *= generator.uniform(size=(5000, 1)) ** 0.2
        reach = B * np.linalg.norm(x, axis=1)
        middle = x @ center
        far = np.logaddexp(0.0, middle + reach) - np.logaddexp(0.0, middle - reach)
        assert far.max() <= claimed * (1 + 1e-12)
        along = np.logaddexp(0.0, c + B) - np.logaddexp(0.0, c - B)
        assert along == pytest.approx(claimed)
        assert expit(c + B) * 2 * B >= claimed
