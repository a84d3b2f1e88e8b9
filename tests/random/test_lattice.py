"""The exact rejection sampler: its identity, its bounds, and its two arithmetics."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdp.random import _lattice, as_random_source
from skdp.random._discrete import _gaussian_law, _laplace_law
from skdp.random._exponential_tables import exp_lower
from skdp.random._lattice import STEP, LatticeLaw

LAWS = {"gaussian": _gaussian_law, "laplace": _laplace_law}
SCALES = [
    Fraction(1, 1000),
    Fraction(7, 10),
    Fraction(1),
    Fraction(3),
    Fraction(1000),
    Fraction(2**43 + 1, 2**20),
    Fraction(2**52 - 1),
    Fraction(2**60),
    Fraction(10**40),
]
each_law = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
each_scale = pytest.mark.parametrize("scale", SCALES, ids=str)
scales = st.fractions(
    min_value=Fraction(1, 10**6), max_value=10**12, max_denominator=10**6
) | st.floats(1e-30, 1e30).map(Fraction)


def potential(law, scale, m):
    """Minus the log of the unnormalised probability, from its definition."""
    return m**2 / (2 * scale**2) if law is _gaussian_law else m / scale


@settings(deadline=None, max_examples=50, derandomize=True)
@given(scale=scales, block=st.integers(0, 200), offset=st.fractions(0, 1))
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
def test_proposal_times_acceptance_is_the_law(law, scale, block, offset):
    """The exponents add up to the law's, and the acceptance is a probability."""
    sampler = law(scale)
    t = 2**sampler._width
    magnitude = block * t + min(int(offset * t), t - 1)
    exponent = sampler._exponent(magnitude, block)
    assert exponent >= 0
    total = STEP * block + exponent
    assert total == potential(law, scale, magnitude) + sampler._constant


@settings(deadline=None, max_examples=50, derandomize=True)
@given(scale=scales)
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
def test_the_block_length_is_within_the_sampler_s_limits(law, scale):
    sampler = law(scale)
    t = 2**sampler._width
    if sampler._width:
        assert sampler._quadratic * t**2 <= Fraction(1, 16)
        assert sampler._linear * t <= Fraction(1, 2)
    assert sampler._tables.linear.max() <= 2**31
    assert int(sampler._tables.linear.max()) * (2**32 - 1) < 2**63


@each_law
@each_scale
def test_tabulated_coefficients_lose_no_more_than_stated(law, scale):
    sampler = law(scale)
    t, tables = 2**sampler._width, sampler._tables
    for v, low in enumerate(tables.constant.tolist()):
        exact = sampler._exponent(t * v, v) * 2**32
        assert low <= exact
        assert exact < low + 4 or low > 24 * 2**32
    if t > 1:
        a, b = sampler._quadratic * t**2, sampler._linear * t
        for v, low in enumerate(tables.linear.tolist()):
            assert low <= (2 * a * v + b) * 2**27 < low + 1 + Fraction(1, 32)
        assert tables.quadratic <= a * 2**32 < int(tables.quadratic) + 1


@each_law
@each_scale
def test_fast_and_exact_arithmetic_agree_on_every_candidate(law, scale):
    sampler, source = law(scale), as_random_source(1)
    n = 400
    words = np.frombuffer(source.bytes(4 * sampler._n_words * n), dtype="<u4")
    words = words.reshape(sampler._n_words, n).copy()
    words[0, : n // 2] >>= np.arange(n // 2, dtype=np.uint32) % 30
    words[1, ::50] = 2**32 - 1
    words[1, 1::50] = 0
    block, accepted, undecided = sampler._quick(words)
    draws = sampler._signed(words, block)
    assert undecided.sum() < 40
    for i in np.flatnonzero(~undecided):
        assert sampler._exact(words[:, i], source) == (draws[i], accepted[i])


@each_law
@each_scale
def test_the_acceptance_bounds_enclose_the_exact_probability(law, scale, monkeypatch):
    """Words moved right onto the bounds are decided as in exact arithmetic."""
    sampler, source = law(scale), as_random_source(2)
    n = 100
    words = np.frombuffer(source.bytes(4 * sampler._n_words * n), dtype="<u4")
    words = words.reshape(sampler._n_words, n).copy()
    seen = []
    monkeypatch.setattr(
        _lattice, "exp_lower", lambda x: seen.append(exp_lower(x)) or seen[-1]
    )
    sampler._quick(words)
    for shift in (-33, 5):
        edge = np.clip(seen[0].astype(np.int64) + shift, 0, 2**31 - 1)
        words[2] = edge << 1
        _, accepted, undecided = sampler._quick(words)
        for i in np.flatnonzero(~undecided):
            assert sampler._exact(words[:, i], source)[1] == accepted[i]


class Words:
    """Hands out given 32-bit words, then seeded bytes; counts what it hands out."""

    seeded = True

    def __init__(self, words=()):
        self.head = np.array(words, dtype="<u4").tobytes()
        self.tail = as_random_source(0)
        self.n_bytes = 0

    def bytes(self, n):
        self.n_bytes += n
        taken, self.head = self.head[:n], self.head[n:]
        return taken + self.tail.bytes(n - len(taken))


def test_an_open_candidate_is_finished_exactly_and_in_place():
    """The middle one of three has an all-zero block word: deep in the tail."""
    sampler = _laplace_law(Fraction(1000))
    source = Words([2**31, 0, 2**31, 0, 0, 0, 0, 0, 0])
    draws = sampler._round(3, source)
    assert draws[0] == draws[2] == 2 * 256
    assert draws[1] >= 88 * 256
    assert source.n_bytes == 36 + 8


def test_block_of_an_all_zero_word_goes_beyond_the_table():
    sampler = _laplace_law(Fraction(4))
    draw, accepted = sampler._exact(np.zeros(3, dtype=np.uint32), Words())
    # At this scale the proposal is the law itself, so the acceptance is certain.
    assert draw >= 88
    assert accepted


def test_a_draw_beyond_int64_is_an_error_not_a_wrong_number():
    """int64 is forced on a scale it is not made for; the block is beyond 2**6."""
    law = LatticeLaw(Fraction(0), Fraction(1, 2**62), Fraction(0), width=60, wide=False)
    with pytest.raises(OverflowError):
        law._round(1, Words([0]))


@each_law
@each_scale
def test_bytes_of_a_round_do_not_depend_on_the_values(law, scale):
    sampler = law(scale)
    counts = set()
    for seed in range(100):
        source = Words()
        source.tail = as_random_source(seed)
        sampler._round(28, source)
        counts.add(source.n_bytes)
    assert counts == {28 * 4 * sampler._n_words}


@pytest.mark.parametrize(
    ("law", "scale", "least"),
    [
        *((law, Fraction(s), 0.11) for law in LAWS.values() for s in (1e-3, 0.05, 0.3)),
        *((_gaussian_law, Fraction(s) / 4, 0.57) for s in range(16, 64, 3)),
        *((_laplace_law, Fraction(s) / 4, 0.44) for s in range(16, 64, 3)),
    ],
)
def test_acceptance_is_at_least_what_is_promised(law, scale, least):
    """One block's normalisation times the sum of all unnormalised probabilities."""
    sampler = law(scale)
    z = range(1, 3 + int(40 * scale))
    mass = 1 + 2 * math.fsum(math.exp(-float(potential(law, scale, k))) for k in z)
    proposal = -math.expm1(-float(STEP)) / (2 * 2**sampler._width)
    assert proposal * math.exp(-float(sampler._constant)) * mass >= least
