import numpy as np
import pytest

from skdp.accounting import ApproximateDP, PureDP
from skdp.mechanisms import GaussianMechanism, KNormMechanism
from skdp.random import as_random_source

MECHANISMS = [
    GaussianMechanism.calibrate(
        ApproximateDP(1.0, 1e-6), l2_sensitivity=2.0, n_features=3
    ),
    KNormMechanism.calibrate(PureDP(1.0), l2_sensitivity=2.0, n_features=3),
]
each = pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: type(m).__name__)


@each
@pytest.mark.parametrize("shape", [(2,), (3, 1), ()])
def test_a_statistic_of_the_wrong_shape_is_refused(mechanism, shape):
    with pytest.raises(ValueError, match="shape"):
        mechanism.release(np.zeros(shape), as_random_source(0))


@each
def test_the_error_of_the_statistic_is_a_written_assumption(mechanism):
    texts = " ".join(mechanism.guarantee.assumptions)
    assert "sensitivity <= 2" in texts
    assert "error of the computed statistic" in texts
    assert mechanism.smoothing.error == 2.0**-30 * mechanism.noise_law.scale


@each
def test_the_noise_is_the_release_minus_the_statistic(mechanism):
    value = np.array([1.0, -2.0, 3.0])
    output = mechanism.release(value, as_random_source(0)).output
    noise = mechanism.noise(output, value)
    np.testing.assert_array_equal(noise, output - value)
    expected = mechanism.noise_law.log_density(noise)
    assert mechanism.log_density(output, value) == expected
