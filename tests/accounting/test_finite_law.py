"""Laws of few losses that stand for continuous ones, from above."""

import mpmath
import numpy as np
import pytest
from scipy.stats import norm

from skdp.accounting import SmoothedGaussianDP, gaussian_delta
from skdp.accounting._concentrated import concentrated_curve
from skdp.accounting._finite_law import FiniteLaw, chord_masses, concentrated_atoms

NODES = np.concatenate([np.arange(-8.0, 8.0, 0.05), np.geomspace(8.0, 39.0, 60)])


def by_definition(losses, masses, epsilon):
    """E[(1 - exp(eps - l))_+] at 40 digits."""
    with mpmath.workdps(40):
        terms = (
            mpmath.mpf(float(m)) * -mpmath.expm1(mpmath.mpf(float(epsilon)) - float(v))
            for v, m in zip(losses, masses, strict=True)
            if v > epsilon
        )
        return float(mpmath.fsum(terms))


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 300.0])
def test_the_hockey_stick_is_the_defining_sum_however_small_the_losses(scale):
    rng = np.random.default_rng(0)
    losses = scale * rng.normal(1.0, 2.0, 120)
    masses = rng.random(120) ** 8
    masses /= masses.sum()
    law = FiniteLaw.of(losses, masses)
    at = np.concatenate([scale * np.linspace(-9, 9, 15), losses[:9]])
    expected = [by_definition(losses, masses, e) for e in at]
    np.testing.assert_allclose(law.hockey_stick(at), expected, rtol=1e-11, atol=1e-300)


def test_losses_without_mass_are_left_out_and_equal_ones_are_added():
    law = FiniteLaw.of(np.array([2.0, 0.0, 2.0, 5.0]), np.array([0.25, 0.5, 0.25, 0.0]))
    assert law.losses.size == 3
    found = law.hockey_stick(np.array([-np.inf, 0.0, 1.0, 2.0, 3.0]))
    rest = -0.5 * np.expm1([-2.0, -1.0])
    np.testing.assert_allclose(found, [1.0, *rest, 0.0, 0.0], rtol=1e-14)


@pytest.mark.parametrize("slope", [1e-300, 1e-8, 0.05, 1.0, 60.0])
def test_chord_masses_keep_mass_and_raise_every_gaussian_profile(slope):
    """The loss slope^2/2 + slope w has exp(-l) proportional to exp(-slope w)."""
    masses = chord_masses(NODES, slope)
    assert (masses >= 0.0).all()
    assert masses.sum() == pytest.approx(1.0, rel=1e-13)
    if slope < 1e-8:
        return
    law = FiniteLaw.of(slope * slope / 2 + slope * NODES, masses)
    epsilon = slope * np.linspace(-4.0, 6.0, 41)
    exact = gaussian_delta(epsilon, slope)
    found = law.hockey_stick(epsilon)
    assert (found >= exact * (1 - 1e-12)).all()
    assert (found <= exact * 1.02 + slope * 1e-12).all()


def test_chord_masses_keep_the_mean_of_the_exponential():
    masses = chord_masses(NODES, 0.7)
    inside = masses @ np.exp(-0.7 * NODES)
    # E exp(-s w) = exp(s^2/2); what is below the first node is moved up to it
    below = norm.cdf(NODES[0]) * np.exp(-0.7 * NODES[0])
    cut = np.exp(0.7**2 / 2) * norm.sf(NODES[0] + 0.7)
    assert inside == pytest.approx(below + cut, rel=1e-13)


@pytest.mark.parametrize("rho", [1e-12, 2.8e-6, 1e-2, 0.5, 30.0])
def test_concentrated_atoms_are_above_every_pair_that_has_the_divergence(rho):
    """The Gaussian pair of the same rho, and shifted discrete Gaussians."""
    losses, masses, certain = concentrated_atoms(rho)
    assert masses.sum() + certain == pytest.approx(1.0, abs=1e-12)
    width = np.sqrt(2 * rho)
    epsilon = width * np.linspace(-6.0, 6.0, 97)
    found = certain + np.maximum(-np.expm1(epsilon[:, None] - losses), 0.0) @ masses
    assert (found >= gaussian_delta(epsilon, width) * (1 - 1e-12)).all()
    for multiple in (1.0, 3.0):
        shift = round(multiple * width)
        if 0 < shift < 20:
            z = np.arange(-60.0, 80.0)
            p = np.exp(-(z**2) / (2 * multiple**2))
            q = np.exp(-((z - shift) ** 2) / (2 * multiple**2))
            truth = np.maximum(p - np.exp(epsilon)[:, None] * q, 0.0).sum(axis=1)
            scale = (shift / multiple / width) ** 2
            assert (truth / p.sum() <= found + 1e-13).all() or scale > 1.0
    # near the best bound there is, but for the corner at zero, which is no profile's
    away = np.abs(epsilon) > 0.1 * width
    best = concentrated_curve(epsilon, rho)
    assert (found[away] <= best[away] * 1.06).all()
    assert concentrated_atoms(0.0)[1].sum() == 1.0


@pytest.mark.parametrize("ratio", [0.0, 0.01, 0.3])
def test_smoothing_a_gaussian_law_is_above_the_composition_of_two(ratio):
    mu, epsilon = 0.25, np.array([-0.3, 0.0, 0.5, 1.0, 2.0])
    law = FiniteLaw.of(mu * mu / 2 + mu * NODES, chord_masses(NODES, mu))
    found = law.smoothed(epsilon, (ratio * mu) ** 2 / 2)
    exact = gaussian_delta(epsilon, mu * np.hypot(1.0, ratio))
    assert (found >= exact * (1 - 1e-12)).all()
    near = SmoothedGaussianDP(mu, (ratio * mu) ** 2 / 2).delta(epsilon)
    assert (found <= near * 1.03).all()
    assert (found >= near * 0.98).all()
