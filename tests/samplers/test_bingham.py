"""The Bingham law below its angular central Gaussian envelope."""

import math

import numpy as np
import pytest
from mpmath import mp
from scipy.special import ive
from scipy.stats import kstest

from skdp.random import as_random_source
from skdp.samplers import Bingham, acceptance_limit

LIMITS = {
    2: 0.65774462,
    3: 0.52313358,
    4: 0.44698381,
    5: 0.39653836,
    10: 0.27580139,
    20: 0.19340633,
    50: 0.12171114,
    100: 0.08591947,
}


@pytest.mark.parametrize(
    ("lam", "b", "acceptance"),
    [
        (0.0, 2.0, 1.0),
        (0.5, 1.6180339887, 0.9853266661),
        (1.0, 1.4142135624, 0.9498569746),
        (5.0, 1.0990195136, 0.7399440791),
        (50.0, 1.0099990002, 0.6644243521),
        (5000.0, 1.0001000000, 0.6578104078),
    ],
)
def test_root_and_acceptance_on_the_circle(lam, b, acceptance):
    law = Bingham(np.array([0.0, lam]))
    assert law.b == pytest.approx(b, abs=5e-11)
    assert law.acceptance == pytest.approx(acceptance, abs=5e-11)


def test_root_acceptance_and_log_acceptance_on_the_sphere():
    law = Bingham(np.array([0.0, 1.0, 4.0]))
    v = np.array([[0.6, 0.64, 0.48]])
    assert law.b == pytest.approx(1.6146270042, abs=5e-11)
    assert law.log_acceptance(v)[0] == pytest.approx(-0.1065447205, abs=5e-11)
    # a Monte Carlo value with a standard error of 13 in the last places
    assert law.acceptance == pytest.approx(0.86179, abs=4 * 0.00013)


@pytest.mark.parametrize(("q", "expected"), LIMITS.items())
def test_the_limit_is_that_of_infinite_eigenvalues(q, expected):
    assert acceptance_limit(q) == pytest.approx(expected, abs=5e-9)
    far = Bingham(np.append(0.0, np.full(q - 1, 1e9)))
    assert far.acceptance == pytest.approx(expected, rel=1e-6)


def test_no_searched_spectrum_accepts_less_than_the_limit():
    """And never less than nine tenths of it, which is what the mechanism uses."""
    rng = np.random.default_rng(0)
    for q in (2, 3, 4, 6, 10):
        limit = acceptance_limit(q)
        for _ in range(60):
            spectrum = np.append(0.0, 10.0 ** rng.uniform(-2, 5, q - 1))
            assert Bingham(spectrum).acceptance >= limit * (1 - 1e-9)
    assert Bingham(np.array([0.0, 0.0, 1e8])).acceptance == pytest.approx(
        0.795345, abs=5e-7
    )


def test_the_envelope_lies_above_the_law_everywhere():
    rng = np.random.default_rng(1)
    for _ in range(200):
        q = int(rng.integers(1, 9))
        spectrum = np.append(0.0, 10.0 ** rng.uniform(-3, 6, q - 1))
        law = Bingham(spectrum)
        v = rng.standard_normal((500, q)) / np.sqrt(1 + spectrum * rng.choice([0, 1]))
        v /= np.linalg.norm(v, axis=1, keepdims=True)
        assert np.max(law.log_acceptance(v)) <= 1e-9


def test_the_envelope_is_touched():
    """At v'Av = (q - b) / 2 the log acceptance is 0: a lower envelope would fail."""
    law = Bingham(np.array([0.0, 30.0]))
    share = (2 - law.b) / 2 / 30.0
    v = np.array([[math.sqrt(1 - share), math.sqrt(share)]])
    assert law.log_acceptance(v)[0] == pytest.approx(0.0, abs=1e-12)


def test_the_normaliser_agrees_with_bessel_functions():
    for lam in (0.0, 0.3, 4.0, 90.0, 1e6):
        found = Bingham(np.array([0.0, lam])).log_mean
        assert found == pytest.approx(math.log(ive(0, lam / 2)), abs=1e-11)


@pytest.mark.parametrize("q", [3, 4, 12, 100])
def test_the_normaliser_agrees_with_kummers_function(q):
    """All but one eigenvalue equal: E exp(-a (1 - v_1^2)), a beta variable."""
    for lam in (0.0, 0.1, 5.0, 400.0):
        spectrum = np.append(0.0, np.full(q - 1, lam))
        exact = mp.log(mp.hyp1f1(0.5, mp.mpf(q) / 2, lam)) - lam
        assert Bingham(spectrum).log_mean == pytest.approx(float(exact), abs=1e-10)


@pytest.mark.statistical
def test_accepted_proposals_follow_the_law():
    """False alarm below 1e-6: KS tests of v_1^2 and of a sign, at 4e-7 together."""
    lam, q, n = 3.0, 4, 40_000
    source = as_random_source(5)
    law = Bingham(np.append(0.0, np.full(q - 1, lam)))
    v = law.propose(n, source)
    keep = v[np.random.default_rng(0).random(n) < np.exp(law.log_acceptance(v))]
    assert abs(len(keep) / n - law.acceptance) < 5 * 0.5 / math.sqrt(n)
    # density of v_1 is (1 - x^2)^((q - 3) / 2) exp(lam x^2)
    grid = np.linspace(-1, 1, 20_001)
    density = np.sqrt(1 - grid**2) * np.exp(lam * grid**2)
    mass = np.cumsum(density)
    u = np.interp(keep[:, 0], grid, mass / mass[-1])
    assert kstest(u, "uniform").pvalue > 1e-7
    assert abs(np.mean(keep[:, 0] > 0) - 0.5) < 5.2 * 0.5 / math.sqrt(len(keep))


def test_one_dimension_is_two_points():
    law = Bingham(np.zeros(1))
    v = law.propose(50, as_random_source(0))
    assert set(v.ravel()) == {-1.0, 1.0}
    assert law.acceptance == pytest.approx(1.0, abs=1e-11)
    assert acceptance_limit(1) == pytest.approx(1.0)
