"""Races in floating point: the short cut changes nothing, and rounding is small."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.stats import kstest

import skdp.random._race as race
from skdp.random import as_random_source


class Recording:
    """A seeded source that lets all places of every V be looked up afterwards."""

    seeded = True

    def __init__(self, seed):
        self.source = as_random_source(seed)
        self.blocks = []

    def bytes(self, n):
        self.blocks.append(self.source.bytes(n))
        return self.blocks[-1]


def bounds_of_noise(block):
    """Return the range of each E over all further places, computed at 40 digits."""
    words = np.frombuffer(block, dtype="<u4").tolist()
    ranges = []
    with mpmath.workdps(40):
        for word in words:
            low, high = (Fraction((word >> 1) + k, 2**32) for k in (0, 1))
            ends = []
            for share in (low, high):
                v = mpmath.mpf(share.numerator) / share.denominator
                if word & 1:
                    ends.append(mpmath.inf if v == 0 else -mpmath.log(v))
                else:
                    ends.append(-mpmath.log1p(-v))
            ranges.append((float(min(ends)), float(max(ends))))
    return np.array(ranges).T


@pytest.mark.parametrize("gumbel", [True, False])
def test_the_winner_is_never_one_that_cannot_win(gumbel):
    """Whatever the further places, somebody the winner beats was put out."""
    rng = np.random.default_rng(0)
    for seed in range(60):
        x = np.minimum(rng.exponential(3.0, 40), 300.0)
        x[rng.integers(40)] = 0.0
        source = Recording(seed)
        run = race.gumbel_race if gumbel else race.exponential_race
        winner = run(x, source)
        low, high = bounds_of_noise(source.blocks[0])
        with np.errstate(divide="ignore"):
            if gumbel:
                worst, best = -np.log(high) - x, -np.log(low) - x
            else:
                worst, best = low - x, high - x
        assert best[winner] >= worst.max() - 1e-8


def test_noise_has_the_stated_law_and_both_tails(monkeypatch):
    """False alarm 1e-8: a KS test on a fixed seed."""
    source = as_random_source(2)
    words, large = race._first_places(20_000, source)
    noise = race._exponentials(words, large, source)
    assert kstest(noise, "expon").pvalue > 1e-8
    tiny = race._exponentials(
        np.zeros(50, dtype=np.uint32), np.zeros(50, dtype=bool), source
    )
    assert np.all((tiny > 0) & (tiny < 2.0**-31))
    assert np.unique(tiny).size == 50
    huge = race._exponentials(
        np.zeros(50, dtype=np.uint32), np.ones(50, dtype=bool), source
    )
    assert np.all((huge > 32 * math.log(2) - 1) & (huge < 100))


def test_logarithms_are_as_accurate_as_the_proof_takes_them_to_be():
    """Within 4 units in the last place, on the ranges that occur."""
    rng = np.random.default_rng(1)
    v = np.concatenate([rng.random(400) / 2, 2.0 ** -rng.uniform(1, 900, 400)])
    with mpmath.workdps(40):
        for ours, exact in ((np.log, mpmath.log), (np.log1p, mpmath.log1p)):
            arguments = v if ours is np.log else -v
            for a, value in zip(arguments, ours(arguments), strict=True):
                truth = exact(mpmath.mpf(float(a)))
                assert abs(float(truth - float(value))) <= 4 * np.spacing(abs(value))


@pytest.mark.parametrize("run", [race.gumbel_race, race.exponential_race])
def test_one_candidate_and_the_deepest_exponent_are_no_trouble(run):
    source = as_random_source(0)
    assert run(np.zeros(1), source) == 0
    for _ in range(50):
        assert run(np.array([300.0, 0.0, 300.0]), source) == 1


@pytest.mark.parametrize("run", [race.gumbel_race, race.exponential_race])
@pytest.mark.parametrize("word", [0, 1, 2**32 - 2, 2**32 - 1])
def test_extreme_first_places_lead_to_a_winner(run, word):
    class Constant:
        seeded = True

        def bytes(self, n):
            if n == 12:
                return word.to_bytes(4, "little") * 3
            return as_random_source(0).bytes(n)

    assert run(np.array([0.0, 0.5, 1.0]), Constant()) in {0, 1, 2}
