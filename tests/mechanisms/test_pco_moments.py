"""Second moments of a table: exact in one word, in two, and with steps added."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from skdp.mechanisms._exact_moments import (
    _TwoWords,
    exact_gram,
    fixed_point_rows,
    rounded_once,
)
from skdp.rows import L2Ball, PrivateRows, as_row_blocks
from skdp.solvers import Table

RNG = np.random.default_rng(3)
X = RNG.normal(size=(900, 5)) * RNG.choice([0.1, 1.0, 1e6], (900, 1))
SIGNS = RNG.choice([-1.0, 0.0, 1.0], 900)
BALL = L2Ball(1.0, 0.5)


def gram(x, y, bits, *, labelled=True, **options):
    table = Table(as_row_blocks(x, y, **options), BALL)
    return exact_gram(table, BALL.radius, bits, labelled=labelled)


@pytest.mark.parametrize("labelled", [True, False])
@pytest.mark.parametrize("bits", [3, 20])
def test_sums_are_exact_however_rows_are_held(bits, labelled):
    found = gram(X, SIGNS, bits, labelled=labelled)
    rows = PrivateRows(as_row_blocks(X, SIGNS), BALL)
    [(cut, _)] = fixed_point_rows(rows, BALL.radius, bits)
    # a table's factors round on their own, so entries may be one unit off
    kept = cut[SIGNS != 0.0] if labelled else cut
    plain = kept.astype(int).T @ kept.astype(int)
    assert np.abs(found - plain).max() <= 2**bits * len(X) / 500
    order = RNG.permutation(len(X))
    for other in (
        gram(X[order], SIGNS[order], bits, labelled=labelled),
        gram(np.asfortranarray(X), SIGNS, bits, labelled=labelled),
        gram(sp.csr_array(X), SIGNS, bits, labelled=labelled),
        gram(X, SIGNS, bits, labelled=labelled, block_rows=7),
    ):
        np.testing.assert_array_equal(other, found)


def test_one_word_is_used_where_it_holds_the_sum():
    sums = _TwoWords((2,))
    sums.add(np.array([-(2**53), 2**53 - 1]))
    assert sums.compact().dtype == np.int64
    assert sums.compact().tolist() == sums.total().tolist() == [-(2**53), 2**53 - 1]
    for _ in range(2000):
        sums.add(np.array([-(2**53), 2**53 - 1]))
    assert sums.compact().dtype == object
    assert sums.compact().tolist() == [-2001 * 2**53, 2001 * (2**53 - 1)]


@pytest.mark.parametrize("size", [2**20, 2**50, 2**61, 2**70])
@pytest.mark.parametrize("unit", [1, 2**12])
def test_a_sum_is_rounded_once(size, unit):
    integers = [size + 1, -size - 3, 0, size // 3]
    steps = np.array([1, -1, 2**40 + 1, 2**61])
    held = np.array(integers, dtype=object if size > 2**62 else np.int64)
    found = rounded_once(held, unit, steps, 2.0**-30)
    for value, k, step in zip(found, integers, steps.tolist(), strict=True):
        assert value == float(Fraction(k * unit + step, 2**30))
    assert rounded_once(held[:0], unit, steps[:0], 1.0).size == 0
