"""Clipping: never outside, inside never touched, exact under powers of two."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skdp.rows import L2Ball

finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
tables = arrays(
    np.float64, st.tuples(st.integers(1, 6), st.integers(1, 9)), elements=finite
)
steady = settings(deadline=None, max_examples=100, derandomize=True)


def square(row):
    """Exact squared norm, in rational numbers."""
    return sum(Fraction(float(v)) ** 2 for v in row)


def norm_at_most(row, bound):
    return square(row) <= Fraction(float(bound)) ** 2


@steady
@given(tables, st.sampled_from([1e-50, 0.3, 1.0, 7.0, 1e50]))
def test_a_clipped_row_is_inside_the_ball_in_exact_arithmetic(X, R):
    ball = L2Ball(R)
    out = ball.project(X)
    assert np.isfinite(out).all()
    moved = (out != X).any(axis=1)
    for row in out[moved]:
        assert norm_at_most(row, R)
    for row in out[~moved]:
        # an untouched row may exceed R by the rounding of the norm that was compared
        assert norm_at_most(row, R * (1 + 4 * np.finfo(float).eps))


@steady
@given(tables)
def test_clipping_keeps_the_direction(X):
    out = L2Ball(1.0).project(X)
    for before, after in zip(X, out, strict=True):
        if np.abs(before).max() > 1e-290:
            unit = before / np.abs(before).max()
            np.testing.assert_allclose(
                after / np.abs(after).max(), unit, rtol=1e-14, atol=1e-300
            )


@steady
@given(tables)
def test_clipping_twice_is_clipping_once(X):
    ball = L2Ball(1.0)
    once = ball.project(X)
    np.testing.assert_array_equal(ball.project(once), once)


@pytest.mark.parametrize("k", [-60, -2, -1, 1, 10, 300])
def test_powers_of_two_scale_without_rounding(k):
    X = np.random.default_rng(0).standard_normal((200, 7)) * 2.0
    scale = 2.0**k
    one, other = L2Ball(1.0, 0.5), L2Ball(scale, scale / 2)
    np.testing.assert_array_equal(other.project(X * scale), one.project(X) * scale)
    np.testing.assert_array_equal(other.clip_factors(X * scale), one.clip_factors(X))
    assert other.radius == one.radius * scale


def test_rows_inside_are_not_touched_and_rows_outside_shrink_by_four_ulps():
    X = np.array([[0.0, 0.0], [0.6, 0.8], [3.0, 4.0], [1e-200, 0.0]])
    shrink = 1 - 4 * np.finfo(float).eps
    assert L2Ball(1.0).clip_factors(X).tolist() == [1.0, 1.0, shrink / 5, 1.0]


def test_no_clipped_row_of_many_exceeds_the_norm_by_one_ulp():
    X = np.random.default_rng(1).standard_normal((200_000, 5)) * 10
    assert np.linalg.norm(L2Ball(1.0).project(X), axis=1).max() <= 1.0


def test_wide_rows_stay_inside_too():
    X = np.random.default_rng(2).standard_normal((2, 20_000))
    assert all(norm_at_most(row, 1.0) for row in L2Ball(1.0).project(X))


@pytest.mark.parametrize("size", [1e308, 1.7e308, 1e200, 1e155])
@pytest.mark.parametrize("R", [1e-50, 1.0, 1e50])
def test_enormous_rows_neither_vanish_nor_overflow(size, R):
    X = np.array([[size, 0.0, -size], [1.0 * R, 0.0, 0.0]])
    out = L2Ball(R).project(X)
    expected = np.array([1.0, 0.0, -1.0]) / np.sqrt(2) * R
    np.testing.assert_allclose(out[0], expected, rtol=1e-15)
    np.testing.assert_array_equal(out[1], X[1])


def test_a_row_of_the_smallest_numbers_is_left_alone():
    X = np.array([[5e-324, -1e-200, 1e-308]])
    np.testing.assert_array_equal(L2Ball(1.0).project(X), X)


@pytest.mark.parametrize("dtype", ["f4", "f2", "i8", "i1", "u1", "?"])
def test_other_dtypes_are_raised_to_float64_first(dtype):
    X = np.random.default_rng(3).integers(0, 2, (50, 3)).astype(dtype)
    expected = L2Ball(1.2, 0.5).project(X.astype(np.float64))
    np.testing.assert_array_equal(L2Ball(1.2, 0.5).project(X), expected)


def test_sparse_rows_clip_like_dense_ones():
    X = np.random.default_rng(4).standard_normal((60, 9)) * 3
    X[X < 1] = 0.0
    X[5], X[7, 2] = 0.0, 1e300
    tame = np.minimum(X, 9.0)
    for held in (X, tame.astype(np.float32), tame.astype(int)):
        ball = L2Ball(1.5, 0.25)
        factors = ball.clip_factors(sp.csr_array(held))
        np.testing.assert_allclose(factors, ball.clip_factors(held), rtol=1e-14)
        projected = ball.project(sp.csr_array(held))
        np.testing.assert_array_equal(projected, ball.project(held))
        clipping = ball.clipping(sp.csr_array(held))
        near = clipping.nearer(sp.csr_array(held)).toarray()
        out = near * clipping.factors[:, None]
        np.testing.assert_allclose(out, projected[:, :-1], rtol=1e-14)


def test_the_constant_comes_last_and_counts_in_the_radius():
    ball = L2Ball(3.0, 4.0)
    assert ball.radius == 5.0
    assert ball.n_coefficients(2) == 3
    assert ball.project(np.array([[1.0, 2.0]])).tolist() == [[1.0, 2.0, 4.0]]
    assert L2Ball(3.0).project(np.array([[1.0, 2.0]])).tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize("value", [0.0, -1.0, 1e-308, 1e308, float("inf")])
def test_an_impossible_norm_is_refused_by_name(value):
    with pytest.raises(ValueError, match="data_norm"):
        L2Ball(value)
    with pytest.raises(ValueError, match="intercept_scaling"):
        L2Ball(1.0, value or -2.0)


def test_a_row_knows_nothing_of_other_rows():
    X = np.random.default_rng(5).standard_normal((10, 4)) * 5
    changed = X.copy()
    changed[3] = 1e300
    before, after = L2Ball(1.0).project(X), L2Ball(1.0).project(changed)
    keep = np.arange(10) != 3
    np.testing.assert_array_equal(before[keep], after[keep])
