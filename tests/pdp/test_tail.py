"""The tail of the privacy loss under Gaussian DP, against exact probabilities."""

import mpmath as mp
import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from skdp.accounting import PureDP, SmoothedGaussianDP, ZeroConcentratedDP
from skdp.pdp._tail import gaussian_tail

RHOS = [1e-12, 1e-6, 1e-2, 0.5, 0.99]
MUS = np.array([1e-6, 1e-3, 0.02, 0.24, 1.0, 4.0, 20.0])


def exceeding(mu, t):
    """Probability that a loss of law N(mu^2/2, mu^2) exceeds t in size."""
    return ndtr((mu**2 / 2 - t) / mu) + ndtr((-t - mu**2 / 2) / mu)


@pytest.mark.parametrize("rho", RHOS)
def test_the_loss_of_a_normal_shift_exceeds_the_bound_no_more_often_than_said(rho):
    t = gaussian_tail(MUS, rho=rho)
    assert np.all(exceeding(MUS, t) <= rho)


@pytest.mark.parametrize("rho", [1e-12, 1e-6, 1e-4])
def test_the_bound_is_within_a_few_percent_of_the_normal_quantile(rho):
    t = gaussian_tail(MUS, rho=rho)
    exact = MUS**2 / 2 - MUS * ndtri(rho / 2)
    np.testing.assert_array_less(t, 1.07 * exact)


@pytest.mark.parametrize("rho", [1e-6, 0.1])
def test_no_coarser_view_of_the_shift_exceeds_the_bound_more_often(rho):
    """Cells of a partition see a loss of their own; it is Gaussian DP all the same."""
    generator = np.random.default_rng(0)
    for mu in (0.1, 1.0, 4.0):
        t = gaussian_tail(np.array([mu]), rho=rho)[0]
        for _ in range(200):
            cells = np.sort(generator.normal(mu / 2, 4.0, generator.integers(1, 30)))
            ends = np.concatenate([[-np.inf], cells, [np.inf]])
            p, q = (np.diff(ndtr(ends - shift)) for shift in (0.0, mu))
            with np.errstate(divide="ignore", invalid="ignore"):
                far = np.abs(np.log(p) - np.log(q)) > t
            assert p[far].sum() <= rho


def test_the_closed_form_is_the_least_loss_a_profile_allows():
    """The formula solves (1 + e^-t) delta / (1 - e^(s-t)) = rho, in 40 digits."""
    with mp.workdps(40):
        for delta, s in ((1e-9, 0.5), (3e-7, 2.0), (9e-7, 0.1)):
            rho, d = mp.mpf("1e-6"), mp.mpf(delta)
            t = mp.log((d + rho * mp.e**s) / (rho - d))
            found = (1 + mp.e ** (-t)) * d / (1 - mp.e ** (s - t))
            assert t > s
            assert abs(found / rho - 1) < mp.mpf("1e-30")


@pytest.mark.parametrize("rho", [1e-12, 1e-6, 1e-2])
@pytest.mark.parametrize("mu", [1e-3, 0.24, 4.0])
def test_lattice_steps_cost_little_beside_what_they_follow(mu, rho):
    """Within 2 % of the bound read off the composed profile itself."""
    step = ZeroConcentratedDP((mu / 100) ** 2 / 2)
    t = gaussian_tail(np.array([mu]), step, rho=rho)[0]
    s = mu * (mu / 2 - ndtri(rho) + np.linspace(-1, 3, 400))
    delta = SmoothedGaussianDP(mu, step.rho).delta(s)
    known = delta < rho
    best = np.log((delta + rho * np.exp(s)) / (rho - delta), where=known, out=s + 1e9)
    assert best.min() <= t <= 1.02 * best.min()
    pure = gaussian_tail(np.array([mu]), PureDP(0.01), rho=rho)[0]
    plain = gaussian_tail(np.array([mu]), rho=rho)[0]
    assert plain < pure < plain + 0.0101


def test_nothing_shifted_is_nothing_lost_and_the_bound_grows_with_mu():
    t = gaussian_tail(np.concatenate([[0.0, 1e-300], MUS]), rho=1e-6)
    assert np.all(t[:2] < 1e-15)
    assert np.all(np.diff(t[1:]) > 0)
    assert np.isfinite(gaussian_tail(np.array([1e3]), rho=1e-300)).all()
