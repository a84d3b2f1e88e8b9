from skdp.accounting import GaussianDP, gaussian_delta
from skdp.mechanisms._calibration import largest_mu


def test_the_search_for_the_least_noise_ends_on_the_safe_side():
    for epsilon, delta in ((0.5, 1e-8), (3.0, 1e-3)):
        mu = largest_mu(GaussianDP, epsilon, delta)
        assert gaussian_delta(epsilon, mu) <= delta
        assert gaussian_delta(epsilon, mu * (1 + 1e-9)) > delta
