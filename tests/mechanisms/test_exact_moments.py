"""Sums of products of integers: exact, whatever the rows and their order."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdp.mechanisms._exact_moments import (
    MOST_BITS,
    _TwoWords,
    exact_moments,
    fixed_point_rows,
)
from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks


def rows(X, y, ball=None, **kwargs):
    blocks = as_row_blocks(np.asarray(X, float), y, labels=Targets(-1, 1), **kwargs)
    return PrivateRows(blocks, ball or L2Ball(1.0))


def table(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.choice([1e-8, 0.1, 1.0, 1e6], (n, 1))
    return X, rng.uniform(-1.5, 1.5, n)


def test_the_sums_are_those_of_rational_arithmetic():
    data = rows(*table(300, 3), ball=L2Ball(1.0, 0.5))
    gram, moments = exact_moments(data, 1.25, MOST_BITS)
    expected_gram, expected_moments = np.zeros((2, 4, 4), dtype=object)
    for X, y in fixed_point_rows(data, 1.25, MOST_BITS):
        for row, target in zip(X, y, strict=True):
            x = np.array([Fraction(v) for v in row])
            expected_gram = expected_gram + np.outer(x, x)
            expected_moments = expected_moments + x * Fraction(target)
    np.testing.assert_array_equal(gram, expected_gram)
    np.testing.assert_array_equal(moments, expected_moments[0])


def test_neither_order_nor_blocks_change_a_bit():
    X, y = table(20_000, 4)
    order = np.random.default_rng(1).permutation(len(y))
    reference = exact_moments(rows(X, y), 1.0, MOST_BITS)
    for other in (
        rows(X[order], y[order]),
        rows(X, y, block_rows=7),
        rows(X, y, block_rows=20_000),
        rows(np.asfortranarray(X), y),
    ):
        for found, expected in zip(
            exact_moments(other, 1.0, MOST_BITS), reference, strict=True
        ):
            np.testing.assert_array_equal(found, expected)


@settings(deadline=None, max_examples=60, derandomize=True)
@given(
    bits=st.integers(1, MOST_BITS),
    radius=st.floats(1e-100, 1e100),
    d=st.integers(1, 40),
    seed=st.integers(0, 10**6),
)
def test_no_row_is_longer_than_its_bound_and_none_is_moved_far(bits, radius, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, d)) * rng.choice([1e-3, 1.0, 1e3], (20, 1)) * radius
    X[0], X[1] = radius / np.sqrt(d), radius * np.eye(d)[0]
    y = rng.uniform(-2, 2, 20)
    data = rows(X, y, ball=L2Ball(radius))
    (cut, targets), *more = fixed_point_rows(data, radius, bits)
    assert not more
    np.testing.assert_array_equal(cut, np.rint(cut))
    np.testing.assert_array_equal(targets, np.rint(targets))
    # integers: the comparison is exact
    squares = [sum(int(v) ** 2 for v in x) for x in cut]
    assert max(squares) <= 4**bits
    assert np.abs(targets).max() <= 2**bits
    away = cut / 2**bits - data.ball.project(X) / radius
    assert np.abs(away).max() <= 2.0**-bits + 1e-11
    assert np.abs(targets / 2**bits - np.clip(y, -1, 1)).max() <= 2.0**-bits


@pytest.mark.parametrize("sign", [-1, 1])
def test_two_words_hold_more_than_one(sign):
    sums, largest = _TwoWords((2,)), sign * 2**53
    for k in range(3000):  # 3000 * 2^53 exceeds 2^64
        sums.add(np.array([largest - k, k], dtype=np.int64))
    total = sums.total()
    assert total[0] == 3000 * largest - 3000 * 2999 // 2
    assert total[1] == 3000 * 2999 // 2
    assert abs(total[0]) > 2**64


def test_no_rows_add_up_to_zero():
    gram, moments = exact_moments(rows(np.zeros((0, 2)), np.zeros(0)), 1.0, 20)
    assert gram.tolist() == [[0, 0], [0, 0]]
    assert moments.tolist() == [0, 0]
