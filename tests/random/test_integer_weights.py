"""Draws with integer weights are exact: every word of a small source is tried."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from skdp.random import as_random_source, integer_weighted
from skdp.random._integer_weights import integers_below


class Words:
    """A source whose words are given, in order; it may not be asked for more."""

    seeded = True

    def __init__(self, words):
        self._data = np.array(words, dtype="<u8").tobytes()

    def bytes(self, n):
        out, self._data = self._data[:n], self._data[n:]
        assert len(out) == n
        return out


def test_each_index_has_as_many_words_as_its_weight():
    weights = [3, 0, 1, 4, 0]
    draws = integer_weighted(weights, 8, Words(range(8)))
    np.testing.assert_array_equal(draws, [0, 0, 0, 2, 3, 3, 3, 3])


def test_the_ends_of_the_range_stay_inside():
    weights = [0, 5, 0, 2**40, 0]
    total = 5 + 2**40
    draws = integer_weighted(weights, 3, Words([0, 4, total - 1]))
    np.testing.assert_array_equal(draws, [1, 1, 3])


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 2**15 + 1, 3 * 2**61, 2**63 - 1])
def test_words_above_the_last_multiple_are_refused(bound):
    last = (2**64 // bound) * bound - 1
    words = [w for w in (2**64 - 1, last + 1) if last < w < 2**64]
    draws = integers_below(bound, 1, Words([*words, last]))
    assert draws[0] == last % bound
    kept = integers_below(bound, 2, Words([*words[:1], 5, *([6] if words else [0])]))
    assert kept.tolist() == [5 % bound, 6 % bound] if words else [5 % bound, 0]


def test_the_accepted_words_cover_each_residue_equally_often():
    # the rule on words of 8 bits, with 256 in place of 2**64: a proof by exhaustion
    for bound in range(1, 129):
        last = 256 - 256 % bound - 1
        counts = np.bincount(np.arange(last + 1) % bound)
        assert counts.size == bound
        assert np.all(counts == counts[0])


@pytest.mark.statistical
@pytest.mark.parametrize("weights", [[1, 2, 3, 4], [10**17, 3 * 10**17, 2 * 10**17]])
def test_frequencies_follow_the_weights(weights):
    """False alarm 1e-7: one chi-square test."""
    draws = integer_weighted(weights, 200_000, as_random_source(5))
    p = np.array([float(Fraction(w, sum(weights))) for w in weights])
    assert chisquare(np.bincount(draws), p * draws.size).pvalue > 1e-7


def test_totals_up_to_the_limit_do_not_overflow():
    top = [2**62, 2**62 - 1]
    draws = integer_weighted(top, 2, Words([0, 2**63 - 2]))
    np.testing.assert_array_equal(draws, [0, 1])
    with pytest.raises(ValueError, match="too large"):
        integer_weighted([2**62, 2**62], 1, as_random_source(0))
    with pytest.raises(ValueError, match="too large"):
        integer_weighted(np.array([2**63], dtype=np.uint64), 1, as_random_source(0))
    assert integer_weighted([2**62 + 1, 0, 0], 1, as_random_source(0))[0] == 0


@pytest.mark.parametrize("weights", [[], [[1, 2]], [0.5], ["1"], [True], [1, None], 3])
def test_what_is_not_a_vector_of_integers_is_refused(weights):
    with pytest.raises(TypeError, match="vector of integers"):
        integer_weighted(weights, 1, as_random_source(0))


@pytest.mark.parametrize("weights", [[-1, 2], [0, 0]])
def test_weights_without_a_law_are_refused_without_being_quoted(weights):
    with pytest.raises(ValueError, match="out of range") as caught:
        integer_weighted(weights, 1, as_random_source(0))
    assert str(weights[0]) not in str(caught.value).split("Allowed")[0]


def test_the_size_may_be_zero_and_exceed_a_batch():
    assert integer_weighted([1], 0, as_random_source(0)).shape == (0,)
    draws = integer_weighted([1, 1], 100_001, as_random_source(0))
    assert draws.shape == (100_001,)
    assert draws.dtype == np.int64
    with pytest.raises(ValueError, match="size"):
        integer_weighted([1], -1, as_random_source(0))
