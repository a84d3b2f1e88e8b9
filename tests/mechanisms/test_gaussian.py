import numpy as np
import pytest

from skdp.accounting import (
    ApproximateDP,
    GaussianDP,
    SmoothedGaussianDP,
    gaussian_delta,
    gaussian_mu,
)
from skdp.mechanisms import GaussianMechanism
from skdp.random import as_random_source


def calibrate(epsilon=1.0, delta=1e-6, sensitivity=1.0, d=3, **options):
    return GaussianMechanism.calibrate(
        ApproximateDP(epsilon, delta, **options),
        l2_sensitivity=sensitivity,
        n_features=d,
    )


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 8.0, 100.0])
@pytest.mark.parametrize("delta", [1e-10, 1e-6, 1e-2])
def test_the_noise_is_analytic_and_the_target_is_met(epsilon, delta):
    m = calibrate(epsilon, delta, sensitivity=2.0)
    mu = 2.0 / m.noise_law.scale
    assert 0.999 * gaussian_mu(epsilon, delta) <= mu <= gaussian_mu(epsilon, delta)
    assert gaussian_delta(epsilon, mu) <= m.guarantee.delta(epsilon) <= delta
    assert 0.999 * epsilon <= m.guarantee.epsilon(delta) <= epsilon


def test_the_guarantees_are_the_smoothed_and_the_plain_gaussian_curve():
    m = calibrate(adjacency="replace-one")
    assert isinstance(m.guarantee, SmoothedGaussianDP)
    assert isinstance(m.ideal_guarantee, GaussianDP)
    assert m.guarantee.adjacency == m.ideal_guarantee.adjacency == "replace-one"
    assert m.guarantee.smoothing_rho == m.smoothing.guarantee.rho


def test_the_release_is_the_statistic_plus_its_noise_on_the_lattice():
    m = calibrate()
    value = np.array([1e6, -3.0, 0.0])
    noise = m.noise_law.draw(3, as_random_source(2))
    release = m.release(value, as_random_source(2))
    assert np.abs(release.output - value - noise).max() < 60 * m.smoothing.scale
    assert m.smoothing.scale < 1e-5 * m.noise_law.scale
    assert release.spent == m.guarantee
    np.testing.assert_array_equal(
        m.noise(release.output, value), release.output - value
    )
    expected = m.noise_law.log_density(release.output - value)
    assert m.log_density(release.output, value) == expected


def test_hard_pairs_lie_at_the_full_sensitivity():
    m = calibrate(sensitivity=2.0)
    for pair in m.hard_pairs():
        assert np.linalg.norm(pair.left - pair.right) == pytest.approx(2.0)
