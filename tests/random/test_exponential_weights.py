"""Weights exp(-x) by integer bounds, and the choices they decide, against mpmath."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdp.random._exponential_tables import exp_lower, exp_lower_scalar
from skdp.random._exponential_weights import draw_flagged, draw_weighted
from skdp.random._exponents import ERROR, Exponents

FEW, MANY = 7, 120


def weight(x, bits):
    """Return ``2**bits exp(-x)`` for a Fraction, to 60 places past the point."""
    return mpmath.ldexp(mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator), bits)


class Scripted:
    """A source whose bytes are given; the last word repeats if it is asked for more."""

    seeded = True

    def __init__(self, words):
        self._words = list(words)
        self.n_words = 0

    def bytes(self, n):
        words = [self._next() for _ in range(-(-n // 8))]
        return b"".join(w.to_bytes(8, "little") for w in words)[:n]

    def _next(self):
        self.n_words += 1
        return self._words.pop(0) if len(self._words) > 1 else self._words[0]


KINDS = {
    "floats": lambda rng, n: rng.normal(0, 10, n),
    "wide floats": lambda rng, n: (
        rng.normal(0, 1, n) * 10.0 ** rng.integers(-200, 9, n)
    ),
    "huge floats": lambda rng, n: 1e300 * rng.random(n),
    "tiny floats": lambda rng, n: 5e-324 * rng.integers(0, 9, n),
    "integers": lambda rng, n: rng.integers(-50, 50, n),
    "large integers": lambda rng, n: rng.integers(2**62, 2**62 + 40, n),
    "unsigned": lambda rng, n: rng.integers(0, 40, n).astype(np.uint8),
    "fractions": lambda rng, n: np.array(
        [Fraction(int(a), 7) for a in rng.integers(-99, 99, n)], dtype=object
    ),
}


@pytest.mark.parametrize("n", [FEW, MANY])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "rate", [Fraction(1, 2), Fraction(7, 3), Fraction(10**40), Fraction(1, 3 * 10**40)]
)
def test_quick_bounds_enclose_the_weights(kind, rate, n):
    scores = KINDS[kind](np.random.default_rng(0), n)
    exponents = Exponents(scores, int(np.argmax(scores)), rate)
    lower = exponents.quick()
    with mpmath.workdps(60):
        for i, low in enumerate(lower):
            x = exponents.exact(i)
            w = weight(x, 31) if x < 10**6 else mpmath.mpf(0)
            assert int(low) <= w < int(low) + ERROR
    assert max(map(int, lower)) >= 2**31 - ERROR


@settings(deadline=None, max_examples=200, derandomize=True)
@given(
    gap=st.floats(0, 60, allow_subnormal=False),
    top=st.floats(-1e7, 1e7),
    numerator=st.integers(1, 2**60),
    denominator=st.integers(1, 2**60),
)
def test_arrays_and_integers_bound_the_same_weight(gap, top, numerator, denominator):
    rate = Fraction(numerator, denominator)
    low = top - float(gap / rate)
    scores = np.full(MANY, low)
    scores[5] = max(top, low)
    exponents = Exponents(scores, 5, rate)
    with mpmath.workdps(60):
        x = exponents.exact(0)
        w = weight(x, 31) if x < 10**6 else mpmath.mpf(0)
        for lower in (exponents.quick()[0], Exponents(scores[:9], 5, rate).quick()[0]):
            assert int(lower) <= w < int(lower) + ERROR


def test_the_scalar_table_is_the_table():
    x = np.random.default_rng(0).integers(0, 30 << 32, 2000).astype(np.uint64)
    x[:3] = 0, 1, (24 << 32) - 1
    assert list(map(exp_lower_scalar, x.tolist())) == exp_lower(x).tolist()


def test_candidates_above_the_best_one_have_exponent_zero():
    """They are excluded by their measure, and may score anything."""
    for n in (FEW, MANY):
        scores = np.linspace(0, 9, n)
        exponents = Exponents(scores, 0, Fraction(1))
        assert exponents.exact(3) == 0
        assert exponents.floors(8) == [256] * n
        assert min(map(int, exponents.quick())) >= 2**31 - ERROR
        assert not exponents.as_floats().any()


def test_rounded_exponents_are_close():
    scores = np.array([0.1, 7.0, -3.3, 1e6])
    rate = Fraction(1, 3)
    for table in (scores, scores.astype(object)):
        exponents = Exponents(table, 3, rate)
        exact = [float(exponents.exact(i)) for i in range(4)]
        np.testing.assert_allclose(exponents.as_floats(), exact, rtol=2.0**-51)
    far = Exponents(np.array([1e308, -1e308]), 0, Fraction(10) ** 9)
    assert far.as_floats().tolist() == [0.0, np.inf]
    far = Exponents(np.array([0, -(10**400)], dtype=object), 0, Fraction(1))
    assert far.as_floats().tolist() == [0.0, np.inf]


def edges(exponents, measure):
    """Return the borders of the intervals of u, to 300 digits."""
    with mpmath.workdps(300):
        weights = [m * weight(exponents.exact(i), 0) for i, m in enumerate(measure)]
        total = mpmath.fsum(weights)
        return [mpmath.fsum(weights[: i + 1]) / total for i in range(len(weights))]


CASES = {
    "plain": ([3.0, 2.5, 0.0, 1.0], [1, 1, 1, 1]),
    "ties": ([2, 2, 2], [1, 1, 1]),
    "excluded": ([30.0, 9.0, 30.5, 8.0], [0, 2, 0, 5]),
    "rare": ([40.0, 0.0, 20.0], [1, 1, 1]),
    "far": ([500.0, 0.0, 499.0], [1, 1, 1]),
    "the poor are many": ([90.0, 0.0, 0.0], [1, 10**18, 10**18]),
    "many": (np.linspace(0, 12, MANY), [1] * MANY),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("places", [64, 192])
def test_the_choice_is_that_of_the_real_number_u(case, places):
    """On each side of every border, as near as the places allow, and well inside."""
    scores, measure = CASES[case]
    scores = np.asarray(scores)
    included = np.flatnonzero(measure)
    best = int(included[np.argmax(scores[included])])
    exponents = Exponents(scores, best, Fraction(1, 2))
    borders = edges(exponents, measure)
    uniform = None if set(measure) == {1} else measure
    with mpmath.workdps(300):
        for i, border in enumerate(borders[:-1]):
            here = int(mpmath.floor(mpmath.ldexp(border, places)))
            for value in {max(here - 1, 0), here + 1, here // 2}:
                u = mpmath.ldexp(mpmath.mpf(value), -places)
                expected = sum(b <= u for b in borders)
                top = mpmath.ldexp(mpmath.mpf(value + 1), -places)
                if any(u <= b <= top for b in borders):
                    continue  # the border lies among the places not given
                words = [
                    (value >> (places - 64 * (k + 1))) & (2**64 - 1)
                    for k in range(places // 64)
                ]
                source = Scripted([*words, 0])
                assert draw_weighted(exponents, uniform, source) == expected, i


def test_a_candidate_of_next_to_no_weight_is_chosen_by_the_right_number():
    """Its chance is exp(-250): floats would give it to nobody."""
    exponents = Exponents(np.array([500.0, 0.0]), 0, Fraction(1, 2))
    ones = Scripted([2**64 - 1])
    assert draw_weighted(exponents, None, ones) == 1
    assert ones.n_words >= 5
    assert draw_weighted(exponents, None, Scripted([2**64 - 1] * 3 + [0])) == 0


def test_equal_weights_split_the_words_evenly():
    exponents = Exponents(np.zeros(4), 0, Fraction(1))
    words = [k << 62 for k in range(4)] + [(k << 62) - 1 for k in range(1, 5)]
    draws = [draw_weighted(exponents, None, Scripted([w, 5])) for w in words]
    assert draws == [0, 1, 2, 3] * 2


@pytest.mark.parametrize("n", [FEW, MANY])
def test_flags_are_raised_by_the_right_numbers(n):
    """One candidate of weight exp(-x) beside a best one: words next to its weight."""
    scores = np.full(n, -1e9)
    scores[0], scores[1] = 0.0, -1.7
    exponents = Exponents(scores, 0, Fraction(1, 2))
    with mpmath.workdps(60):
        threshold = int(mpmath.floor(weight(exponents.exact(1), 64)))
    for word, raised in (
        (threshold - 1, True),
        (threshold + 1, False),
        (threshold, None),
        (0, True),
        (2**64 - 1, False),
    ):
        # flags of all, then the choice among those raised: word 1 takes the second
        rest = [2**64 - 1] * (n - 2)
        source = Scripted([2**64 - 1, word, *rest, 1])
        if raised is None:
            draw_flagged(exponents, source)
            assert source.n_words > n + 1  # further places were asked for
            continue
        assert draw_flagged(exponents, source) == (1 if raised else 0)
        assert source.n_words == n + 1
