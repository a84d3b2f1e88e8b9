"""Numeric checks of docs/proofs/gaussian.md, independent of skdp."""

import mpmath
import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr


def gaussian_profile(epsilon, mu):
    """Return Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)."""
    top = log_ndtr(mu / 2 - epsilon / mu)
    bottom = epsilon + log_ndtr(-mu / 2 - epsilon / mu)
    return np.exp(top) * -np.expm1(np.minimum(bottom - top, 0.0))


def concentrated_profile(epsilon, rho):
    """Return D2 at a scalar epsilon by a dense minimum over orders."""
    u = np.exp(np.linspace(-12, 14, 2001))
    size = abs(epsilon)
    exponent = u * ((1 + u) * rho - size) - (1 + u) * np.log1p(1 / u) - np.log(u)
    tail = np.exp(np.min(exponent))
    return tail if epsilon >= 0 else -np.expm1(-size) + np.exp(-size) * tail


@pytest.mark.parametrize("mu", [0.05, 0.2367, 1.0, 4.0])
@pytest.mark.parametrize("epsilon", [-2.0, 0.0, 0.5, 1.0, 6.0])
def test_profile_is_the_hockey_stick_of_two_gaussians(mu, epsilon):
    """Agrees with 30-digit quadrature of (p - e^eps q)_+ on its half-line."""
    with mpmath.workdps(30):
        # p > e^eps q exactly beyond this point, for N(mu, 1) against N(0, 1)
        start = mpmath.mpf(epsilon) / mu + mpmath.mpf(mu) / 2

        def integrand(x):
            p = mpmath.npdf(x, mu, 1)
            return p - mpmath.exp(epsilon) * mpmath.npdf(x, 0, 1)

        first = max(start, mpmath.mpf(-14))
        nodes = mpmath.linspace(first, max(start, mpmath.mpf(mu)) + 14, 13)
        exact = mpmath.quad(integrand, nodes)
    assert gaussian_profile(epsilon, mu) == pytest.approx(float(exact), rel=1e-8)


def test_profile_has_density_phi_in_mu():
    """The derivative in mu is phi(mu/2 - eps/mu) > 0, so larger shifts are worse."""
    h = 1e-5
    for mu in (0.1, 0.5, 2.0):
        for epsilon in (-1.0, 0.0, 0.3, 2.0):
            slope = gaussian_profile(epsilon, mu + h) - gaussian_profile(
                epsilon, mu - h
            )
            a = mu / 2 - epsilon / mu
            density = np.exp(-(a**2) / 2) / np.sqrt(2 * np.pi)
            assert slope / (2 * h) == pytest.approx(density, rel=1e-5, abs=1e-9)


def test_profile_obeys_the_symmetry_identity():
    """DG(-eps) = 1 - e^-eps + e^-eps DG(eps)."""
    for epsilon in (0.1, 1.0, 5.0):
        mirrored = -np.expm1(-epsilon) + np.exp(-epsilon) * gaussian_profile(
            epsilon, 0.7
        )
        assert gaussian_profile(-epsilon, 0.7) == pytest.approx(mirrored, rel=1e-12)


@pytest.mark.parametrize(
    ("epsilon", "sigma"),
    [(0.1, 36.3047), (0.5, 8.0576), (1, 4.2247), (2, 2.2305), (4, 1.1935), (8, 0.6529)],
)
def test_calibrated_noise_of_the_literature(epsilon, sigma):
    """The sigma of delta = 1e-6 at unit sensitivity, to the digits published."""
    assert gaussian_profile(epsilon, 1 / (sigma - 1e-4)) > 1e-6
    assert gaussian_profile(epsilon, 1 / (sigma + 1e-4)) < 1e-6


@pytest.mark.parametrize(
    ("error", "grid", "mu_out"),
    [(0.04, 2.0**-8, 0.1), (0.2, 2.0**-4, 0.125), (0.5, 1.0, 1.0)],
)
def test_published_vector_is_below_the_smoothed_profile(error, grid, mu_out):
    """Exact law of g(round(f + noise + bias) + Z) in one dimension, mu = 1/2."""
    mu, scale = 0.5, (2 * error + grid) / mu_out
    z = np.arange(-int(12 * scale / grid), int(12 * scale / grid) + 1)
    noise = np.exp(-((z * grid / scale) ** 2) / 2)
    noise /= noise.sum()
    edges = (np.arange(-int(14 / grid), int(14 / grid) + 1) + 0.5) * grid

    def law(centre):
        return np.convolve(np.diff(ndtr(edges - centre)), noise)

    w = np.linspace(-8, 8, 401)
    weight = np.exp(-(w**2) / 2) / np.sqrt(2 * np.pi) * (w[1] - w[0])
    p, q = law(mu + error), law(-error)
    for epsilon in (0.0, 0.5, 1.5):
        curve = [
            concentrated_profile(epsilon - mu**2 / 2 - mu * v, mu_out**2 / 2) for v in w
        ]
        bound = float(np.sum(weight * curve))
        exact = np.sum(np.maximum(p - np.exp(epsilon) * q, 0.0))
        assert exact <= bound + 1e-9
        assert bound >= gaussian_profile(epsilon, mu) * (1 - 1e-6)
