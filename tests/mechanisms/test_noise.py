import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi2, gamma, kstest, norm

from skdp.mechanisms import GaussianNoise, KNormNoise
from skdp.random import as_random_source


def test_the_gaussian_density_is_scipys():
    law = GaussianNoise(2.5)
    b = np.array([0.3, -4.0, 1.0])
    assert law.log_density(b) == pytest.approx(norm(scale=2.5).logpdf(b).sum())


@pytest.mark.parametrize("d", [1, 2, 3, 8])
def test_the_k_norm_density_integrates_to_one_over_shells(d):
    law = KNormNoise(0.7)
    area = 2 * np.pi ** (d / 2) / gamma_function(d / 2)

    def shell(r):
        b = np.zeros(d)
        b[0] = r
        return area * r ** (d - 1) * np.exp(law.log_density(b))

    assert quad(shell, 0, 60)[0] == pytest.approx(1.0, rel=1e-8)


def gamma_function(x):
    return quad(lambda t: t ** (x - 1) * np.exp(-t), 0, np.inf)[0]


@pytest.mark.statistical
@pytest.mark.parametrize("d", [1, 3, 20])
def test_draws_follow_the_two_laws(d):
    """Four tests at 2e-7."""
    source = as_random_source(d)
    z = np.stack([GaussianNoise(3.0).draw(d, source) for _ in range(500)]) / 3.0
    assert kstest(z.ravel(), "norm").pvalue > 2e-7
    assert kstest(np.sum(z**2, axis=1), chi2(d).cdf).pvalue > 2e-7
    k = np.stack([KNormNoise(3.0).draw(d, source) for _ in range(500)]) / 3.0
    assert kstest(np.linalg.norm(k, axis=1), gamma(d).cdf).pvalue > 2e-7
    assert np.all(np.abs(np.mean(np.sign(k), axis=0)) < 5.3 / np.sqrt(500))
