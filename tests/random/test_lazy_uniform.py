"""Integer bounds of exp(-x) against mpmath, and the comparisons they decide."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdp.random import as_random_source
from skdp.random._exponential_tables import (
    EXCESS,
    _factors,
    exp_lower,
    geometric_thresholds,
)
from skdp.random._lazy_uniform import LazyUniform, _exp_bounds, floor_exp

rationals = st.builds(
    Fraction, st.integers(1, 2**80), st.integers(1, 2**80)
) | st.fractions(min_value=Fraction(1, 10**9), max_value=100)


def scaled_exp(x, bits):
    """Return ``2**bits * exp(-x)`` to 60 places past the point."""
    if x > 2 * bits + 400:
        return mpmath.mpf(0)
    return mpmath.ldexp(mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator), bits)


@settings(deadline=None, max_examples=60, derandomize=True)
@given(x=rationals, bits=st.integers(1, 200))
def test_floor_exp_is_the_floor(x, bits):
    with mpmath.workdps(200):
        assert floor_exp(x, bits) == int(mpmath.floor(scaled_exp(x, bits)))


@settings(deadline=None, max_examples=60, derandomize=True)
@given(x=rationals, bits=st.integers(40, 120))
def test_the_integer_bounds_enclose_exp(x, bits):
    x = min(x, Fraction(200))
    lower, upper = _exp_bounds(x, bits)
    with mpmath.workdps(200):
        assert lower <= scaled_exp(x, bits) < upper


def test_bounds_too_wide_for_the_floor_are_tightened():
    """exp(-x) this close below one needs more than the first guard of 32 places."""
    assert floor_exp(Fraction(1, 2**200), 64) == 2**64 - 1


@settings(deadline=None, max_examples=50, derandomize=True)
@given(x=st.lists(st.integers(0, 30 * 2**32), min_size=1, max_size=50))
def test_table_bounds_enclose_exp(x):
    lower = exp_lower(np.array(x, dtype=np.uint64))
    with mpmath.workdps(60):
        for xi, p in zip(x, lower.tolist(), strict=True):
            assert p <= scaled_exp(Fraction(xi, 2**32), 31) < p + EXCESS


def test_table_bounds_enclose_exp_at_every_corner_of_the_tables():
    corners = [a << 26 for a in range(24 * 64 + 2)]
    corners += [c - 1 for c in corners[1:]] + [b << 16 for b in range(1024)]
    test_table_bounds_enclose_exp.hypothesis.inner_test([*corners, 2**38, 2**50])


def test_table_factors_lose_no_more_than_stated():
    coarse, fine = _factors()
    with mpmath.workdps(60):
        for table, step in ((coarse[:-1], 64), (fine, 65536)):
            for j, value in enumerate(table.tolist()):
                assert value <= scaled_exp(Fraction(j, step), 31) < value + 1.01


def test_geometric_thresholds_are_the_floors_and_end_at_zero():
    step = Fraction(1, 4)
    thresholds = geometric_thresholds(step)[::-1].tolist()
    assert thresholds == [floor_exp(k * step, 32) for k in range(1, 90)]
    assert thresholds[-2:] == [1, 0]


class Bits:
    """Hands out given words, then fails."""

    seeded = True

    def __init__(self, *words):
        self.words = list(words)

    def bytes(self, n):
        return self.words.pop(0).to_bytes(n, "little")


@pytest.mark.parametrize(
    ("excess", "expected"), [(-1, True), (1, False)], ids=["below", "above"]
)
def test_a_tie_goes_on_with_further_bits(excess, expected):
    """The known bits equal those of exp(-x) for 8 + 64 + 64 places, then differ."""
    x = Fraction(2, 3)
    places = floor_exp(x, 8 + 3 * 64) + excess
    words = [(places >> shift) % 2**64 for shift in (128, 64, 0)]
    uniform = LazyUniform(places >> 192, 8, Bits(*words))
    assert uniform.below_exp(x) is expected
    assert uniform.bits == 200
    assert uniform.value == places


def test_known_bits_are_kept_for_the_next_comparison():
    uniform = LazyUniform(floor_exp(Fraction(1), 4), 4, Bits(2**63))
    first = uniform.below_exp(Fraction(1))
    assert uniform.below_exp(Fraction(1)) is first
    assert uniform.below_exp(Fraction(0))


@pytest.mark.statistical
@pytest.mark.parametrize("x", [Fraction(1, 1000), Fraction(1), Fraction(29, 7)])
def test_frequencies_are_exp(x):
    """Five standard errors: false alarm 6e-7. Few known bits force further ones."""
    source, n = as_random_source(5), 4000
    starts = np.random.default_rng(6).integers(0, 4, n).tolist()
    hits = sum(LazyUniform(start, 2, source).below_exp(x) for start in starts)
    p = float(mpmath.exp(-float(x)))
    assert abs(hits / n - p) < 5 * np.sqrt(p * (1 - p) / n)
