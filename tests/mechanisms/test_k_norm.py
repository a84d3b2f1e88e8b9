import numpy as np
import pytest

from skdp.accounting import PureDP
from skdp.mechanisms import KNormMechanism
from skdp.random import as_random_source


def calibrate(epsilon=1.0, sensitivity=1.0, d=3, **options):
    return KNormMechanism.calibrate(
        PureDP(epsilon, **options), l2_sensitivity=sensitivity, n_features=d
    )


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 8.0, 100.0])
@pytest.mark.parametrize("d", [1, 3, 500])
def test_99_percent_of_epsilon_go_to_the_noise_and_the_rest_to_the_lattice(epsilon, d):
    m = calibrate(epsilon, 2.0, d)
    assert 2.0 / m.noise_law.scale == pytest.approx(0.99 * epsilon, rel=1e-11)
    assert 0.9999 * epsilon <= m.guarantee.epsilon(0.0) <= epsilon
    assert m.guarantee.delta(epsilon) == 0.0
    assert m.ideal_guarantee.epsilon(0.0) == pytest.approx(0.99 * epsilon)
    if epsilon <= 8.0:
        assert m.smoothing.scale >= 128 * m.smoothing.grid


def test_the_loss_between_neighbours_never_exceeds_the_ratio():
    m = calibrate(1.0, 2.0)
    rng = np.random.default_rng(0)
    for pair in m.hard_pairs():
        loss = [
            m.log_density(b, pair.left) - m.log_density(b, pair.right)
            for b in rng.normal(scale=20.0, size=(500, 3))
        ]
        assert np.max(np.abs(loss)) <= m.sensitivity_ratio * (1 + 1e-12)
        assert np.max(np.abs(loss)) > 0.9 * m.sensitivity_ratio


def test_the_release_is_the_statistic_plus_its_noise():
    m = calibrate(adjacency="replace-one")
    noise = m.noise_law.draw(3, as_random_source(2))
    release = m.release(np.ones(3), as_random_source(2))
    assert np.abs(release.output - 1 - noise).max() < 80 * m.smoothing.scale
    assert m.smoothing.scale < 1e-4 * m.noise_law.scale
    assert m.guarantee.adjacency == "replace-one"
