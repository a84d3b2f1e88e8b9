"""Zero-concentrated differential privacy."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from skdp.accounting import (
    GaussianDP,
    ZeroConcentratedDP,
    concentrated_delta,
    concentrated_epsilon,
)


def best_order_by_search(epsilon, rho):
    """Minimise the bound over the order with a general-purpose optimiser."""

    def log_bound(t):
        s = math.exp(t)
        a = 1 + s
        return s * (a * rho - epsilon) - a * math.log1p(1 / s) - t

    grid = np.linspace(-60, 60, 4001)
    start = grid[np.argmin([log_bound(t) for t in grid])]
    ends = (start - 0.03, start + 0.03)
    found = minimize_scalar(log_bound, bounds=ends, method="bounded")
    return min(1.0, math.exp(found.fun))


@pytest.mark.parametrize("rho", [1e-9, 1e-4, 0.05, 0.5, 3.0, 40.0])
@pytest.mark.parametrize("ratio", [0.0, 0.1, 1.0, 3.0, 10.0])
def test_delta_is_the_best_over_orders(rho, ratio):
    epsilon = ratio * math.sqrt(2 * rho) + (rho if ratio else 0.0)
    expected = best_order_by_search(epsilon, rho)
    assert concentrated_delta(epsilon, rho) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("rho", "delta", "epsilon"),
    [
        (0.5, 1e-6, 5.221534),
        (30 * 0.1 * math.tanh(0.05), 1e-6, 2.67),
        (100 * 0.1 * math.tanh(0.05), 1e-6, 5.22),
        (1000 * 0.01 * math.tanh(0.005), 1e-6, 1.47),
        (20 * math.tanh(0.5), 1e-6, 30.6),
        (50 * 0.1 * math.tanh(0.05) + 0.25, 1e-6, 5.220305),
    ],
)
def test_epsilon_reproduces_published_values(rho, delta, epsilon):
    digits = 2e-3 if epsilon == round(epsilon, 2) else 2e-7
    assert concentrated_epsilon(rho, delta) == pytest.approx(epsilon, rel=digits)


def test_no_release_costs_nothing():
    assert concentrated_delta([-1.0, 0.0, 2.0], 0.0) == pytest.approx(
        [1 - math.exp(-1), 0.0, 0.0]
    )
    assert concentrated_epsilon(0.0, 0.0) == 0.0
    assert concentrated_epsilon(0.1, 0.0) == math.inf


@pytest.mark.parametrize("mu", [0.01, 0.3, 1.0, 4.0])
def test_delta_bounds_the_gaussian_at_every_real_epsilon(mu):
    epsilon = np.linspace(-8 * mu, 8 * mu + mu**2, 401)
    bound = concentrated_delta(epsilon, mu**2 / 2)
    assert (GaussianDP(mu).delta(epsilon) <= bound + 1e-15).all()
    assert (np.diff(bound) <= 1e-15).all()


def test_order_near_one_never_gives_zero():
    """A Gaussian release with mu = 1 has epsilon 3.13867 at delta = 1e-3."""
    assert ZeroConcentratedDP(0.5).epsilon(1e-3) >= 3.13867
