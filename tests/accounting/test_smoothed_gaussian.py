"""A Gaussian release drawn on a lattice."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad

from skdp.accounting import (
    GaussianDP,
    SmoothedGaussianDP,
    ZeroConcentratedDP,
    concentrated_delta,
    gaussian_delta,
)


def by_quadrature(epsilon, mu, rho):
    """The defining integral by adaptive quadrature between marked points."""

    def integrand(w):
        density = math.exp(-w * w / 2) / math.sqrt(2 * math.pi)
        return density * concentrated_delta(epsilon - mu * mu / 2 - mu * w, rho)

    centre, width = (epsilon - mu * mu / 2) / mu, math.sqrt(2 * rho) / mu
    marks = [centre + k * width for k in (-20, -8, -3, -1, 0, 1, 3, 8)]
    marks += [centre + k for k in (1, 2, 4)] + [-37, -3, 0, 3, 6, 10, 15, 38]
    ends = sorted({min(max(m, -37.0), 38.0) for m in marks})
    return sum(
        quad(integrand, a, b, epsabs=0, epsrel=1e-11, limit=200)[0]
        for a, b in itertools.pairwise(ends)
    )


@pytest.mark.parametrize(
    ("epsilon", "mu", "rho"),
    [
        (1.0, 0.2367, 2.8e-6),
        (3.0, 0.1, 0.5),
        (2.0, 0.3, 0.045),
        (30.0, 2.0, 1e-3),
        (1700.0, 50.0, 0.01),
        (0.008, 1e-3, 5e-7),
        (0.0, 0.5, 1e-4),
        (-0.4, 0.5, 1e-2),
    ],
)
def test_delta_is_the_integral_rounded_up_by_a_billionth(epsilon, mu, rho):
    truth = by_quadrature(epsilon, mu, rho)
    found = SmoothedGaussianDP(mu, rho).delta(epsilon)
    assert truth * (1 + 5e-10) <= found <= truth * (1 + 2e-9)


def test_without_smoothing_the_closed_form_is_exact():
    epsilon = np.linspace(-3, 6, 91)
    assert (
        SmoothedGaussianDP(0.9, 0.0).delta(epsilon) == gaussian_delta(epsilon, 0.9)
    ).all()


def test_without_the_gaussian_only_the_smoothing_remains():
    epsilon = np.linspace(-1, 3, 41)
    expected = ZeroConcentratedDP(0.1).delta(epsilon)
    assert (SmoothedGaussianDP(0.0, 0.1).delta(epsilon) == expected).all()
    assert SmoothedGaussianDP(0.0, 0.0).epsilon(0.0) == 0.0


@pytest.mark.parametrize(("share", "cost"), [(100, 7e-5), (25, 1.4e-3)])
def test_cost_in_noise_is_the_published_one(share, cost):
    """sigma grows by .007 % (mu/100) and .14 % (mu/25) at (1, 1e-6)."""
    low, high, mu = 0.9, 1.0, 1 / 4.224678889
    for _ in range(50):
        middle = (low + high) / 2
        m = mu * middle
        ok = SmoothedGaussianDP(m, (m / share) ** 2 / 2).delta(1.0) <= 1e-6
        low, high = (middle, high) if ok else (low, middle)
    assert 1 / low - 1 == pytest.approx(cost, rel=0.35)


def test_group_scales_both_parts():
    group = SmoothedGaussianDP(0.2, 1e-5).group(3)
    assert group.mu == pytest.approx(0.6)
    assert group.smoothing_rho == pytest.approx(9e-5)
    assert GaussianDP(0.6).epsilon(1e-6) < group.epsilon(1e-6)
