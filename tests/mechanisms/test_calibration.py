import numpy as np
import pytest

from skdp.accounting import (
    ApproximateDP,
    GaussianDP,
    gaussian_delta,
    gaussian_mu,
)
from skdp.mechanisms import GaussianMechanism, ObjectivePerturbation
from skdp.mechanisms._calibration import largest_mu

EPSILONS = (1e-9, 1e-3, 1e-2, 1.0, 8.0, 100.0, 1e3)
DELTAS = (1e-6, 1e-9, 1e-12, 1e-18)


def calibrated(epsilon, delta, adjacency, alpha="auto", radius=1.0):
    target = ApproximateDP(epsilon, delta, adjacency=adjacency)
    return ObjectivePerturbation.calibrate(
        target, radius=radius, n_coefficients=3, alpha=alpha
    ).guarantee


def test_the_search_for_the_least_noise_ends_on_the_safe_side():
    for epsilon, delta in ((0.5, 1e-8), (3.0, 1e-3)):
        mu = largest_mu(GaussianDP, epsilon, delta)
        assert gaussian_delta(epsilon, mu) <= delta
        assert gaussian_delta(epsilon, mu * (1 + 1e-9)) > delta


class Rough:
    """A curve with rounding errors far beyond those of any of ours."""

    def __init__(self, mu):
        self.exact = GaussianDP(mu)
        self.error = 1.0 + 1e-9 * np.sin(1e14 * mu)

    def delta(self, epsilon):
        return self.exact.delta(epsilon) * self.error

    def epsilon(self, delta):
        return self.exact.epsilon(delta / self.error) * self.error


def test_noise_in_a_curve_never_ends_on_the_wrong_side():
    for epsilon in np.geomspace(0.1, 10.0, 20):
        mu = largest_mu(Rough, epsilon, 1e-6)
        for near in (mu, np.nextafter(mu, 0.0), np.nextafter(mu, 1e3)):
            assert Rough(near).delta(epsilon) <= 1e-6
        assert Rough(mu).epsilon(1e-6) <= epsilon
        assert mu >= gaussian_mu(epsilon, 1e-6) * (1 - 1e-6)


#: Replacements take some five seconds each: one by default.
SETTINGS = [(epsilon, "add-remove") for epsilon in EPSILONS] + [
    pytest.param(
        epsilon, "replace-one", marks=[] if epsilon == 1.0 else pytest.mark.slow
    )
    for epsilon in EPSILONS
]


@pytest.mark.parametrize(("epsilon", "adjacency"), SETTINGS)
def test_every_setting_meets_its_target_and_uses_it_up(epsilon, adjacency):
    """Over 100 settings, at the ridge's default and at its floor."""
    for delta in DELTAS:
        for alpha in ("auto", 0.0):
            g = calibrated(epsilon, delta, adjacency, alpha)
            assert g.delta(epsilon) <= delta
            assert 0.999 * epsilon <= g.epsilon(delta) <= epsilon


def test_the_row_norm_does_not_matter():
    """Its noise is the norm over mu, so mu comes back with rounding errors."""
    for radius in np.geomspace(1e-3, 1e3, 7):
        g = calibrated(1e-3, 1e-9, "replace-one", 0.0, float(radius))
        assert g.delta(1e-3) <= 1e-9
        assert g.epsilon(1e-9) <= 1e-3


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("delta", [1e-100, 1e-300])
def test_tiny_deltas_work(epsilon, delta, adjacency):
    g = calibrated(epsilon, delta, adjacency)
    people = 1 if adjacency == "add-remove" else 2
    assert 0.0 < gaussian_delta(epsilon, people * g.mu) <= g.delta(epsilon) <= delta
    assert 0.999 * epsilon <= g.epsilon(delta) <= epsilon


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
@pytest.mark.parametrize("delta", [9e-301, 5e-324])
def test_smaller_deltas_are_refused_by_name(delta, adjacency):
    target = ApproximateDP(1.0, delta, adjacency=adjacency)
    words = "delta is out of range, got .* 1e-300 <= delta < 1. Use delta=0"
    with pytest.raises(ValueError, match=words):
        ObjectivePerturbation.calibrate(target, radius=1.0, n_coefficients=2)
    with pytest.raises(ValueError, match=words):
        GaussianMechanism.calibrate(target, l2_sensitivity=1.0, n_features=2)
