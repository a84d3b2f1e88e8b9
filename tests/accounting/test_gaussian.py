"""Gaussian differential privacy and the analytic Gaussian mechanism."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdp.accounting import (
    GaussianDP,
    ZeroConcentratedDP,
    gaussian_delta,
    gaussian_mu,
)


def exact_delta(epsilon, mu):
    """The two-tail formula with 80 digits."""
    with mpmath.workdps(80):
        e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        left = mpmath.ncdf(m / 2 - e / m)
        return float(left - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m))


@pytest.mark.parametrize(
    ("epsilon", "mu"),
    [
        (0.0, 1.0),
        (1.0, 0.25),
        (0.3, 1e-3),
        (1e-9, 1e-10),
        (0.004, 1e-3),
        (2e-5, 1e-6),
        (1486.0, 50.0),
        (30.0, 1.0),
        (0.1, 0.4999),
        (0.1, 0.5001),
        (-1.0, 0.7),
        (-3.0, 0.2),
        (500.0, 40.0),
    ],
)
def test_delta_agrees_with_eighty_digits(epsilon, mu):
    assert gaussian_delta(epsilon, mu) == pytest.approx(
        exact_delta(epsilon, mu), rel=2e-11, abs=1e-300
    )


@pytest.mark.parametrize(
    ("epsilon", "delta", "sigma"),
    [
        (10.0, 1e-5, 0.499889),
        (1.0, 1e-6, 4.224679),
        (0.1, 1e-6, 36.30469),
        (0.5, 1e-6, 8.0576),
        (2.0, 1e-6, 2.2305),
        (4.0, 1e-6, 1.1935),
        (8.0, 1e-6, 0.6529),
        (100.0, 1e-6, 0.0978372),
        (500.0, 1e-6, 0.0366926),
    ],
)
def test_calibration_reproduces_published_noise_and_never_less(epsilon, delta, sigma):
    mu = gaussian_mu(epsilon, delta)
    digits = 1e-5 if sigma != round(sigma, 4) else 2e-4
    assert 1 / mu == pytest.approx(sigma, rel=digits)
    assert exact_delta(epsilon, mu) <= delta
    assert exact_delta(epsilon, mu * (1 + 1e-10)) > delta


def test_classical_noise_is_too_small_above_epsilon_one():
    assert gaussian_delta(10.0, 1 / 0.48448) == pytest.approx(2.265e-5, rel=1e-3)


@pytest.mark.parametrize(
    ("mu", "delta", "epsilon"),
    [
        (50.0, 1e-6, 1486.716),
        (1.0, 1e-18, 8.997181734),
        (0.5, 1.1e-18, 4.331166),
        (1.0, 1e-3, 3.13867),
        (1.0, 1e-5, 4.377178),
    ],
)
def test_epsilon_of_large_mu_and_tiny_delta(mu, delta, epsilon):
    found = GaussianDP(mu).epsilon(delta)
    assert found == pytest.approx(epsilon, rel=1e-6)
    assert exact_delta(found, mu) <= delta * (1 + 1e-11)


def test_epsilon_is_monotone_and_continuous_down_to_tiny_deltas():
    deltas = np.logspace(-3, -30, 271)
    found = np.array([GaussianDP(1.0).epsilon(d) for d in deltas])
    steps = np.diff(found)
    assert (steps > 0).all()
    assert steps.max() < 0.1


def test_epsilon_below_reachable_floats_is_finite_and_zero_delta_is_infinite():
    assert 30 < GaussianDP(1.0).epsilon(1e-310) < 45
    assert GaussianDP(1.0).epsilon(0.0) == math.inf
    assert GaussianDP(0.0).epsilon(0.0) == 0.0
    assert GaussianDP(0.0).delta([-1.0, 0.0, 1.0]) == pytest.approx(
        [1 - math.exp(-1), 0.0, 0.0]
    )


def test_conversions_are_ordered_from_exact_to_loose():
    """Exact <= improved Rényi <= basic Rényi conversion, 200 random cases."""
    rng = np.random.Generator(np.random.PCG64(1))
    for mu, log_delta in zip(
        np.exp(rng.uniform(-3, 2, 200)), rng.uniform(-12, -1, 200), strict=True
    ):
        delta, rho = 10**log_delta, mu**2 / 2
        exact = GaussianDP(mu).epsilon(delta)
        improved = ZeroConcentratedDP(rho).epsilon(delta)
        basic = rho + 2 * math.sqrt(rho * math.log(1 / delta))
        assert exact <= improved <= basic
    assert ZeroConcentratedDP(0.5).epsilon(1e-5) == pytest.approx(4.728387, abs=1e-6)


@settings(deadline=None, max_examples=50, derandomize=True)
@given(st.floats(1e-6, 40.0), st.floats(1e-12, 0.5))
def test_calibration_and_epsilon_invert_each_other(epsilon, delta):
    mu = gaussian_mu(epsilon, delta)
    assert gaussian_delta(epsilon, mu) <= delta
    assert GaussianDP(mu).epsilon(delta) <= epsilon * (1 + 1e-9)


def test_tradeoff_is_the_normal_shift():
    f = GaussianDP(1.0).tradeoff([0.0, 0.05, 0.5, 1.0])
    assert f == pytest.approx([1.0, 0.7404886, 0.1586553, 0.0], abs=1e-6)


def test_pure_calibration_is_refused():
    with pytest.raises(ValueError, match="delta is out of range"):
        gaussian_mu(1.0, 0.0)
