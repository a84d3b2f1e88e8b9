"""Numeric checks of docs/proofs/k_norm.md, independent of skdp."""

import numpy as np
import pytest
from scipy.integrate import dblquad, quad
from scipy.special import gamma, gammainc


def log_density(b, rate):
    """Log density c^d Gamma(d/2) / (2 pi^(d/2) Gamma(d)) exp(-c |b|)."""
    d = np.size(b)
    area = 2 * np.pi ** (d / 2) / gamma(d / 2)
    return d * np.log(rate) - np.log(area * gamma(d)) - rate * np.linalg.norm(b)


def test_density_integrates_to_one_in_one_and_two_dimensions():
    """Direct quadrature of the density in Cartesian coordinates."""
    rate = 1.7
    line = 2 * quad(lambda x: np.exp(log_density(np.array([x]), rate)), 0, 40)[0]
    assert line == pytest.approx(1, abs=1e-9)
    plane, _ = dblquad(
        lambda y, x: np.exp(log_density(np.array([x, y]), rate)), 0, 15, 0, 15
    )
    assert 4 * plane == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_radius_follows_the_gamma_law(d):
    """Mass of balls: the Gamma(d) distribution function of c r."""
    rate = 0.8
    area = 2 * np.pi ** (d / 2) / gamma(d / 2)
    for r in (0.1, 1.0, 5.0, 20.0):
        mass, _ = quad(
            lambda s: (
                area * s ** (d - 1) * np.exp(log_density(np.full(d, s / d**0.5), rate))
            ),
            0,
            r,
        )
        assert mass == pytest.approx(gammainc(d, rate * r), abs=1e-9)


def test_log_ratio_is_at_most_rate_times_shift_and_attains_it():
    """The triangle inequality, tight on the ray through the shift."""
    rng = np.random.default_rng(0)
    rate = 1.3
    for _ in range(300):
        d = int(rng.integers(1, 8))
        b, shift = rng.normal(size=d) * 3, rng.normal(size=d)
        ratio = log_density(b, rate) - log_density(b + shift, rate)
        size = np.linalg.norm(shift)
        assert abs(ratio) <= rate * size + 1e-12
        far = 3.0 * shift
        attained = log_density(far, rate) - log_density(far + shift, rate)
        assert attained == pytest.approx(rate * size)


@pytest.mark.parametrize(("error", "grid", "multiple"), [(0.1, 2**-4, 16), (0.5, 1, 4)])
def test_published_number_keeps_pure_dp(error, grid, multiple):
    """Exact one-dimensional law of g(round(f + noise + bias) + Z)."""
    rate, sensitivity = 0.7, 1.0
    z = np.arange(-60 * multiple, 60 * multiple + 1)
    noise = np.tanh(0.5 / multiple) * np.exp(-np.abs(z) / multiple)
    edges = (np.arange(-int(60 / grid), int(60 / grid) + 1) + 0.5) * grid

    def law(centre):
        x = rate * (edges - centre)
        small = np.exp(-np.abs(x)) / 2
        lower, upper = (
            np.where(x < 0, small, 1 - small),
            np.where(x < 0, 1 - small, small),
        )
        cells = np.where(x[1:] < 0, np.diff(lower), -np.diff(upper))
        return np.convolve(cells, noise)

    p, q = law(sensitivity + error), law(-error)
    inner = (p > 1e-10) & (q > 1e-10)
    largest = np.max(np.abs(np.log(p[inner] / q[inner])))
    budget = rate * sensitivity + (2 * error + grid) / (grid * multiple)
    assert largest <= budget + 1e-6
    assert largest >= 0.4 * budget
