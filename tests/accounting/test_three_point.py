"""Draws with three possible losses, against brute-force convolution."""

import itertools
import math

import mpmath
import numpy as np
import pytest

from skdp.accounting import PureDP, ThreePointDP, compose


def by_convolution(g, epsilon):
    """Sum over all outcomes of all draws."""
    p = np.array([g.gain, g.gain * math.exp(-g.loss), 0.0])
    p[2] = 1 - p.sum()
    q = p[[1, 0, 2]]
    total = 0.0
    for outcome in itertools.product(range(3), repeat=g.n_draws):
        at = list(outcome)
        total += max(0.0, p[at].prod() - math.exp(epsilon) * q[at].prod())
    return total


@pytest.mark.parametrize(
    ("loss", "gain", "m"),
    [(0.5, 0.2, 1), (1.0, 0.05, 4), (0.01, 0.3, 6), (6.0, 0.9, 2)],
)
def test_delta_equals_the_sum_over_all_outcomes(loss, gain, m):
    g = ThreePointDP(loss, gain, m)
    for epsilon in (-2.0, -0.3, 0.0, 0.004, 0.2, 0.9, 2.5, 7.0):
        exact = by_convolution(g, epsilon)
        assert g.delta(epsilon) == pytest.approx(exact, rel=1e-8, abs=1e-14)
        assert g.delta(epsilon) >= exact * (1 - 1e-13)


@pytest.mark.parametrize(
    ("m", "epsilon", "delta"),
    [(10, 1.5, 4.048293e-07), (10, 0.5, 3.491850e-03), (100, 2.0, 9.833077e-05)],
)
def test_reference_values(m, epsilon, delta):
    g = ThreePointDP(math.log(2), 2 / 1009, m)
    assert g.delta(epsilon) == pytest.approx(delta, rel=2e-7)


@pytest.mark.parametrize(("order", "divergence"), [(2, 0.00148552), (8, 0.03196346)])
def test_the_renyi_divergence_of_one_draw_is_the_published_one(order, divergence):
    p, q = 2 / 1009, 1 / 1009
    total = p**order * q ** (1 - order) + q**order * p ** (1 - order) + 1 - p - q
    assert math.log(total) / (order - 1) == pytest.approx(divergence, abs=1e-8)


def test_thousands_of_draws_are_quick_and_nonincreasing():
    g = ThreePointDP(0.01, 0.01, 20_000)
    values = g.delta(np.linspace(0.0, 3.0, 40))
    assert np.all(np.diff(values) <= 0)
    assert 0.0 < values[-1] < 1e-6 or values[-1] == 0.0
    assert g.epsilon(1e-6) < 3.0


def test_nothing_told_costs_nothing_and_all_told_is_pure():
    assert ThreePointDP(1.0, 0.0, 5).epsilon(0.0) == 0.0
    assert ThreePointDP(0.0, 0.3, 5).delta(0.0) == 0.0
    response = ThreePointDP(1.0, 1 / (1 + math.exp(-1.0)), 3)
    exact = compose(*[PureDP(1.0)] * 3)
    for epsilon in (0.0, 0.5, 1.5, 2.9):
        assert response.delta(epsilon) == pytest.approx(exact.delta(epsilon), rel=1e-7)
    assert response.epsilon(0.0) == pytest.approx(3.0)


@pytest.mark.parametrize("wrong", [(1.0, 0.9, 2), (1.0, 0.1, 0), (-1.0, 0.1, 2)])
def test_numbers_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match="out of range"):
        ThreePointDP(*wrong)
    with pytest.raises(TypeError, match="n_draws"):
        ThreePointDP(1.0, 0.1, 2.5)


@pytest.mark.parametrize(
    ("loss", "gain", "m"), [(1e-8, 0.4, 1), (1e-8, 0.4, 20), (1e-6, 0.499, 12)]
)
def test_delta_of_a_tiny_loss_is_still_an_upper_bound(loss, gain, m):
    """Floats cancel here, so the sum is taken at sixty digits."""
    g = ThreePointDP(loss, gain, m)
    for share in (0.001, 0.1, 0.6, 0.95):
        exact = at_sixty_digits(loss, gain, m, share * m * loss)
        assert exact <= g.delta(share * m * loss) <= exact * 1.01


def at_sixty_digits(loss, gain, m, epsilon):
    with mpmath.workdps(60):
        a, p = mpmath.mpf(loss), mpmath.mpf(gain)
        q, e = p * mpmath.exp(-a), mpmath.mpf(epsilon)
        total = mpmath.mpf(0)
        for up in range(m + 1):
            for down in range(m + 1 - up):
                if (gap := a * (up - down) - e) > 0:
                    ways = mpmath.binomial(m, up) * mpmath.binomial(m - up, down)
                    law = p**up * q**down * (1 - p - q) ** (m - up - down)
                    total += ways * law * -mpmath.expm1(-gap)
        return total
