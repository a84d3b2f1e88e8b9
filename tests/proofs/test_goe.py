"""Numeric checks of docs/proofs/goe.md, independent of skdp."""

import math

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson, simpson
from scipy.special import eval_hermite, gammaln, ndtr, ndtri

GRID = np.linspace(-14.0, 14.0, 40_001)
N = 8


def hermite(i, x=GRID):
    """Return the orthonormal function from its polynomial."""
    log_norm = 0.5 * (i * math.log(2) + gammaln(i + 1) + 0.5 * math.log(math.pi))
    return eval_hermite(i, x) * np.exp(-0.5 * x * x - log_norm)


def antiderivative(f):
    return cumulative_simpson(f, x=GRID, initial=0.0)


def of_two(t):
    """Return the tail at order two from section 4."""
    return ndtr(-np.sqrt(2) * t) + np.exp(-t * t / 2) * ndtr(t) / np.sqrt(2)


def test_functions_and_antiderivatives_follow_the_recurrences():
    h = [hermite(i) for i in range(N + 1)]
    H = [antiderivative(f) for f in h]
    np.testing.assert_allclose(
        H[0], np.pi**-0.25 * np.sqrt(2 * np.pi) * ndtr(GRID), atol=1e-12
    )
    np.testing.assert_allclose(H[1], -np.sqrt(2) * h[0], atol=1e-12)
    for i in range(1, N):
        root = np.sqrt(i + 1)
        step = np.sqrt(2) * GRID * h[i] - np.sqrt(i) * h[i - 1]
        np.testing.assert_allclose(root * h[i + 1], step, atol=1e-12)
        step = np.sqrt(i) * H[i - 1] - np.sqrt(2) * h[i]
        np.testing.assert_allclose(root * H[i + 1], step, atol=1e-12)


def test_skew_products_follow_the_recurrence_and_vanish_by_parity():
    h = [hermite(i) for i in range(N + 1)]
    H = [antiderivative(f) for f in h]
    # the double integral as it stands, one variable after the other
    A = np.array(
        [[simpson((2 * F - F[-1]) * g, x=GRID) for g in h] for F in H],
    )
    np.testing.assert_allclose(A, -A.T, atol=1e-10)
    for i in range(1, N):
        for j in range(N + 1):
            left = np.sqrt(i) * A[i - 1, j] - np.sqrt(i + 1) * A[i + 1, j]
            assert left == pytest.approx(np.sqrt(8) * (i == j), abs=1e-10)
    assert A[0, 1] == pytest.approx(np.sqrt(8))
    odd = np.add.outer(np.arange(N + 1), np.arange(N + 1)) % 2
    np.testing.assert_allclose(A[odd == 0], 0.0, atol=1e-10)
    totals = np.array([F[-1] for F in H])
    np.testing.assert_allclose(totals[1::2], 0.0, atol=1e-12)
    for i in range(1, N, 2):
        step = np.sqrt(i / (i + 1)) * totals[i - 1]
        assert totals[i + 1] == pytest.approx(step, abs=1e-12)


def test_products_up_to_t_are_what_integration_by_parts_gives():
    h = [hermite(i) for i in range(4)]
    H = [antiderivative(f) for f in h]
    cut = 26_000
    below, x = slice(0, cut + 1), GRID[: cut + 1]
    for i in range(4):
        for j in range(4):
            direct = simpson((2 * H[i] - H[i][cut])[below] * h[j][below], x=x)
            parts = simpson((H[i] * h[j] - H[j] * h[i])[below], x=x)
            assert direct == pytest.approx(parts, abs=1e-10)


@pytest.mark.parametrize("t", [-0.5, 0.87, 2.5])
def test_the_pfaffian_at_order_three_is_the_integral_of_the_density(t):
    """The joint density of three eigenvalues, integrated over their order."""

    def mass(top):
        nodes, weights = np.polynomial.legendre.leggauss(48)
        u, w = (nodes + 1) / 2, weights / 2
        # a < b < c: there the integrand is smooth
        c = (-8.0 + (top + 8.0) * u)[:, None, None]
        b = -8.0 + (c + 8.0) * u[:, None]
        a = -8.0 + (b + 8.0) * u
        cells = w[:, None, None] * w[:, None] * w * (c + 8.0) * (b + 8.0)
        density = (b - a) * (c - b) * (c - a) * np.exp(-(a**2 + b**2 + c**2) / 2)
        return (top + 8.0) * np.sum(density * cells)

    def pfaffian(cut):
        below = slice(0, cut + 1)
        H = [antiderivative(hermite(i))[below] for i in range(3)]
        A = np.zeros((4, 4))
        for i in range(3):
            for j in range(3):
                f = H[i] * hermite(j)[below] - H[j] * hermite(i)[below]
                A[i, j] = simpson(f, x=GRID[below])
            A[i, 3], A[3, i] = H[i][-1], -H[i][-1]
        return np.sqrt(np.linalg.det(A))

    cut = int(np.searchsorted(GRID, t))
    exact = pfaffian(cut) / pfaffian(GRID.size - 1)
    assert mass(GRID[cut]) / mass(8.0) == pytest.approx(exact, rel=1e-9)


@pytest.mark.statistical
def test_order_two_is_a_normal_plus_a_rayleigh_variable():
    """False alarms below 1e-6: three counts of 20,000 draws at 5.4 deviations."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 20_000))
    c = rng.normal(size=20_000) * np.sqrt(0.5)
    largest = (a + b) / 2 + np.hypot((a - b) / 2, c)
    for t in (0.0, 1.0, 2.5):
        p = of_two(t)
        count = np.count_nonzero(largest > t)
        assert abs(count - 20_000 * p) < 5.4 * np.sqrt(20_000 * p * (1 - p))


def test_the_comparison_behind_the_mean_holds():
    """Increments of u'Gu are at most those of sqrt(2) g.u."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        u, v = rng.normal(size=(2, 4))
        u, v = u / np.linalg.norm(u), v / np.linalg.norm(v)
        move = np.sum((np.outer(u, u) - np.outer(v, v)) ** 2)
        assert move == pytest.approx(2 * (1 - (u @ v) ** 2), abs=1e-12)
        assert move <= 2 * np.sum((u - v) ** 2) + 1e-12


def test_normal_scores_at_order_two_are_concave_and_grow_at_least_as_fast_as_t():
    t = np.linspace(-3.0, 6.0, 200)
    z = -ndtri(of_two(t))
    slopes = np.diff(z) / np.diff(t)
    assert np.all(slopes >= 1.0)
    assert np.all(np.diff(slopes) <= 1e-9)


def test_the_concentration_bound_holds_at_order_two():
    s = np.linspace(0.0, 6.0, 50)
    assert np.all(of_two(2.0 + s) <= np.exp(-s * s / 2))
