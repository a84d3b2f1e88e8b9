"""The law on an interval whose log density is straight between knots."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from scipy.integrate import quad
from scipy.stats import chisquare, kstest

from skdp.random import as_random_source
from skdp.samplers import LogLinear

KNOTS = np.array([0.0, 0.2, 0.5, 1.0])
LOGS = np.array([-3.0, 0.0, -1.0, -8.0])


def quantile_in_segment(drop, u):
    """Which part of [0, 1] lies below the u-quantile, log density from 0 to drop."""
    law = LogLinear(np.array([0.0, 1.0]), np.array([-max(drop, 0.0), min(drop, 0.0)]))
    # levels count from the lower end of the density
    level = u if drop > 0 else 1.0 - u
    return law.fraction(np.zeros(np.size(u), dtype=int), np.atleast_1d(level))


def test_masses_are_those_of_the_integrals():
    law = LogLinear(KNOTS, LOGS)
    masses = np.exp(law.log_masses)
    np.testing.assert_allclose(masses, [0.06334753, 0.18963617, 0.02625314], atol=5e-9)
    assert math.exp(law.log_total) == pytest.approx(0.2792368377, abs=5e-11)
    expected = [0.2268595, 0.67912303, 0.09401747]
    np.testing.assert_allclose(masses / masses.sum(), expected, atol=5e-9)
    for j, mass in enumerate(masses):
        direct, _ = quad(
            lambda x: math.exp(np.interp(x, KNOTS, LOGS)), KNOTS[j], KNOTS[j + 1]
        )
        assert mass == pytest.approx(direct, rel=1e-12)


@pytest.mark.parametrize(
    ("drop", "expected"),
    [
        (-5.0, [0.020922426997, 0.137286366414, 0.448742231513]),
        (-0.1, [0.095618271089, 0.487505204864, 0.895378280731]),
        (0.1, [0.104621719269, 0.512494795136, 0.904381728911]),
        (5.0, [0.551257768487, 0.862713633586, 0.979077573003]),
    ],
)
def test_places_within_a_segment_invert_the_distribution_function(drop, expected):
    found = quantile_in_segment(drop, np.array([0.1, 0.5, 0.9]))
    np.testing.assert_allclose(found, expected, atol=5e-13)


@pytest.mark.parametrize(
    ("drop", "expected"),
    [
        (1e-12, 0.3),
        (1e-9, 0.300000000105),
        (1e-7, 0.3000000105),
        (0.001, 0.300105013998),
        (40.0, 0.969900679892),
        (800.0, 0.998495033995),
    ],
)
def test_flat_and_steep_segments_lose_no_digits(drop, expected):
    assert quantile_in_segment(drop, 0.3)[0] == pytest.approx(expected, abs=1e-12)


@settings(deadline=None, max_examples=200, derandomize=True)
@given(st.floats(-60, 2.84), st.floats(1e-300, 1.0, exclude_max=True))
def test_the_place_agrees_with_many_digits(log10_drop, u):
    """The exact inverse with 60 digits; levels near 0 keep their relative accuracy."""
    drop = 10.0**log10_drop
    law = LogLinear(np.array([0.0, 1.0]), np.array([0.0, -drop]))
    found = law.fraction(np.zeros(1, dtype=int), np.array([u]))[0]
    with mp.workdps(400):
        end = mp.exp(-mp.mpf(drop))
        exact = -mp.log(end + mp.mpf(u) * (1 - end)) / mp.mpf(drop)
    assert found == pytest.approx(float(exact), abs=4e-15)


def test_unlikely_segments_keep_their_relative_accuracy():
    """Stretches of the sorted sums, as exact differences, against the masses."""
    rng = np.random.default_rng(0)
    for n in (8, 257, 1000):
        heights = -rng.uniform(0, 300, n + 1)
        law = LogLinear(np.linspace(0.0, 1.0, n + 1), heights)
        masses = np.exp(law.log_masses - np.max(law.log_masses))
        sums = [mp.mpf(0), *map(mp.mpf, law._sums.tolist())]
        for rank, j in enumerate(law._order):
            stretch = float(sums[rank + 1] - sums[rank])
            assert stretch == pytest.approx(masses[j], rel=4 * n * 2.0**-53)
        assert sorted(law._order) == list(range(n))


def test_in_the_order_of_the_knots_unlikely_segments_would_be_lost():
    law = LogLinear(np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.0, -100.0]))
    small = np.exp(law.log_masses[1] - law.log_masses[0])
    assert 0 < small < 0.02
    law = LogLinear(np.arange(4.0), np.array([0.0, 0.0, -100.0, -100.0]))
    masses = np.exp(law.log_masses)
    plain = np.cumsum(masses)
    assert plain[2] - plain[1] == 0.0 < masses[2]
    assert law._sums[0] == masses[2] / masses.max()


@pytest.mark.statistical
def test_draws_follow_the_law():
    """False alarm 1e-6: one chi-square test and three KS tests at 2.5e-7."""
    n = 200_000
    law = LogLinear(KNOTS, LOGS)
    draws = law.draw(n, as_random_source(3))
    segment = np.searchsorted(KNOTS, draws) - 1
    probability = np.exp(law.log_masses - law.log_total)
    counts = np.bincount(segment, minlength=3)
    assert chisquare(counts, n * probability).pvalue > 2.5e-7
    for j in range(3):
        inside = draws[segment == j]
        l0, l1 = LOGS[j], LOGS[j + 1]
        t = (inside - KNOTS[j]) / (KNOTS[j + 1] - KNOTS[j])
        u = np.expm1((l1 - l0) * t) / np.expm1(l1 - l0)
        assert kstest(u, "uniform").pvalue > 2.5e-7


def test_the_density_is_that_of_the_masses_and_zero_outside():
    law = LogLinear(KNOTS, LOGS)
    total, _ = quad(
        lambda x: math.exp(law.log_density(x)), 0, 1, points=KNOTS[1:3].tolist()
    )
    assert total == pytest.approx(1.0, abs=1e-10)
    assert law.log_density(-1e-9) == law.log_density(1.1) == -math.inf


class CountingSource:
    """A seeded source that records how many bytes each call asked for."""

    seeded = True

    def __init__(self):
        self._source, self.calls = as_random_source(1), []

    def bytes(self, n):
        self.calls.append(n)
        return self._source.bytes(n)


def test_hostile_heights_ask_for_the_same_randomness():
    n = 65
    rng = np.random.default_rng(1)
    seen = []
    for heights in (
        np.zeros(n),
        -np.arange(n) * 4.0,
        -300.0 * (np.arange(n) != 7),
        -rng.uniform(0, 300, n),
        np.where(np.arange(n) % 2, -1e-320, 0.0),
    ):
        source = CountingSource()
        draws = LogLinear(np.linspace(-1, 1, n), heights).draw(100, source)
        assert np.all((draws >= -1) & (draws <= 1))
        seen.append((source.calls, source.bytes(8)))
    assert all(item == seen[0] for item in seen)
