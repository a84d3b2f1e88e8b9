"""Numeric checks of docs/proofs/bounded_posterior.md, independent of skdp."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import ndtri

# --- the mixture, on finite laws at their extremes ------------------------------------


def random_pair(generator, epsilon, size=4):
    """Two laws on some points with log ratios in an interval of length epsilon.

    Both sum to one, so the interval straddles zero; most ratios are at its ends.
    """
    p = generator.dirichlet(np.full(size, generator.choice([0.05, 0.5, 5.0]))) + 1e-30
    p /= p.sum()
    tilt = generator.choice([0.0, epsilon, epsilon * generator.random()], size=size)
    q = p * np.exp(-tilt)
    return p, q / q.sum()


def mixture(p, u, q, omega, fallback=None):
    fallback = u if fallback is None else fallback
    return (1 - omega) * ((1 - q) * p + q * fallback) + omega * u


def mixed_before(p, u, q, omega):
    """The planted order: uniform points face accept and reject like proposals.

    What is accepted has the law p whatever was proposed, so no floor is left.
    """
    return (1 - q) * p + q * u


def total(epsilon, q, omega):
    return max(epsilon - np.log1p(-q), np.log1p(q / omega))


def worst_excess(law, bound=total, n=4000, seed=0):
    """Largest log ratio less the bound, over random pairs and extreme failures."""
    generator, worst = np.random.default_rng(seed), -np.inf
    for _ in range(n):
        epsilon = generator.choice([0.1, 1.0, 3.0])
        p, other = random_pair(generator, epsilon)
        u = generator.dirichlet(np.full(4, 0.3)) + 1e-12
        u /= u.sum()
        q = 10 ** generator.uniform(-4, -0.3)
        omega = 10 ** generator.uniform(-4, -0.3)
        some = generator.choice([0.0, q, q * generator.random()], size=2)
        laws = [law(p, u, some[0], omega), law(other, u, some[1], omega)]
        seen = np.abs(np.log(laws[0]) - np.log(laws[1])).max()
        worst = max(worst, seen - bound(epsilon, q, omega))
    return worst


def test_the_mixture_is_pure_as_stated_and_the_bound_is_attained():
    """Theorem 1."""
    worst = worst_excess(mixture)
    assert -1e-2 < worst <= 1e-12


def test_a_common_point_mass_serves_as_well_as_the_uniform_law():
    """Only that fallback and mixing share one law matters."""
    corner = np.array([1.0, 0.0, 0.0, 0.0])
    assert worst_excess(lambda p, u, q, w: mixture(p, corner, q, w)) <= 1e-12


def test_a_fallback_of_its_own_is_caught():
    corner = np.array([1.0, 0.0, 0.0, 0.0])
    assert worst_excess(lambda p, u, q, w: mixture(p, u, q, w, corner)) > 1.0


def test_mixing_before_accept_and_reject_is_caught():
    assert worst_excess(mixed_before) > 1.0


def test_a_failure_above_the_bound_is_caught():
    """q from an acceptance that was measured, and is lower on a neighbour."""
    assert worst_excess(lambda p, u, q, w: mixture(p, u, min(1.0, 30 * q), w)) > 0.5


def test_the_kept_share_counts():
    """Without -log(1 - q) the claim is too small."""
    without = worst_excess(mixture, lambda e, q, w: max(e, np.log1p(q / w)))
    assert without > 1e-2


def renyi(a, b, order):
    return np.log(np.sum(a**order * b ** (1 - order))) / (order - 1)


@pytest.mark.parametrize("order", [1.01, 1.5, 2.0, 8.0])
def test_the_coin_keeps_zero_concentration(order):
    """Theorem 2: epsilon^2/8 and b^2/2; the bounded range alone would not do."""
    generator, worst, bare = np.random.default_rng(1), -np.inf, -np.inf
    for _ in range(3000):
        epsilon = generator.choice([0.1, 1.0, 3.0])
        p, other = random_pair(generator, epsilon)
        u = generator.dirichlet(np.full(4, 0.3)) + 1e-9
        u /= u.sum()
        q, omega = 10 ** generator.uniform(-4, -0.3, size=2)
        some = generator.choice([0.0, q], size=2)
        found = renyi(
            mixture(p, u, some[0], omega), mixture(other, u, some[1], omega), order
        )
        b = max(np.log1p(q / omega), -np.log1p(-q))
        worst = max(worst, found - order * (epsilon**2 / 8 + b**2 / 2))
        bare = max(bare, found - order * epsilon**2 / 8)
    assert worst <= 1e-12
    assert bare > 1e-2


def test_the_coin_has_the_trade_off_curve_of_its_mu():
    """Randomised response at b lies above the Gaussian curve of mu_b everywhere."""
    from scipy.stats import norm

    for b in (1e-3, 0.1, 1.0, 4.0):
        mu = 2 * ndtri(1 / (1 + np.exp(-b)))
        alpha = np.linspace(1e-9, 1 - 1e-9, 20_001)
        response = np.maximum(1 - np.exp(b) * alpha, np.exp(-b) * (1 - alpha))
        assert np.all(norm.cdf(norm.isf(alpha) - mu) <= response + 1e-12)


# --- the constant ---------------------------------------------------------------------


def standardised(shape):
    """A law of two log-affine pieces on an interval, mean 0 and variance 1.

    ``shape`` holds the log slopes of the pieces, the second not above the first, and
    the share of the interval that the first covers. Returns a function t -> density.
    """
    first, second, share = shape
    # fine near both ends, where steep pieces have their mass
    grid = 0.5 - 0.5 * np.cos(np.pi * np.arange(4001) / 4000)
    grid = np.unique(np.append(grid, share))
    log_w = np.minimum(first * (grid - share), second * (grid - share))
    log_w -= log_w.max()
    log_w -= np.log(np.trapezoid(np.exp(log_w), grid))
    w = np.exp(log_w)
    mean = np.trapezoid(w * grid, grid)
    sd = np.sqrt(np.trapezoid(w * (grid - mean) ** 2, grid))

    def density(t):
        x = mean + sd * np.asarray(t)
        inside = (x >= 0) & (x <= 1)
        return np.where(inside, sd * np.exp(np.interp(x, grid, log_w)), 0.0)

    return density, (0.0 - mean) / sd, (1.0 - mean) / sd


def least_density(shape):
    """The least density within one standard deviation of the mean.

    A log-concave law is smallest at an end of an interval; a law whose support ends
    there to the digit is left to its limit.
    """
    density, low, high = standardised(shape)
    ends = [t for t, ok in ((-1.0, low <= -1.0), (1.0, high >= 1.0)) if ok]
    return min((float(density(t)) for t in ends), default=np.inf)


def test_the_least_density_within_one_deviation_is_that_of_the_exponential_law():
    """The certificate of 0.135: a grid over the extremal family, then searches."""
    slopes = np.concatenate(
        [-np.geomspace(0.1, 300, 16), [0], np.geomspace(0.1, 300, 16)]
    )
    found = []
    for first in slopes:
        for second in slopes[slopes <= first]:
            for share in (0.0, 0.01, 0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.99, 1.0):
                shape = (first, second, share)
                found.append((least_density(shape), shape))
    found.sort(key=lambda pair: pair[0])
    assert found[0][0] >= 0.1353
    for _, (first, second, share) in found[:: len(found) // 12]:
        start = np.array([first, first - second, share])

        def value(v):
            # steeper pieces are the same laws on a longer interval
            first, drop, share = v
            first = float(np.clip(first, -100, 100))
            second = float(np.clip(first - abs(drop), -100, 100))
            return least_density((first, second, float(np.clip(share, 0, 1))))

        best = minimize(value, start, method="Nelder-Mead", options={"maxfev": 150})
        assert best.fun >= 0.1352
    exponential, _, _ = standardised((-60.0, -60.0, 0.0))
    assert float(exponential(1.0)) == pytest.approx(np.exp(-2), rel=1e-3)
