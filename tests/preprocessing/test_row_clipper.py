"""Rows end inside the ball, keep their direction, and stay sparse."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from skdp.preprocessing import RowClipper

TABLE = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
    elements=st.floats(allow_nan=False, allow_infinity=False),
)


@parametrize_with_checks([RowClipper(), RowClipper(data_norm=3.0)])
def test_scikit_learn_accepts_the_clipper(estimator, check):
    check(estimator)


def exact_norm(row):
    """Norm in extended precision, on the row divided by its largest entry."""
    largest = np.max(np.abs(row))
    if largest == 0:
        return np.longdouble(0)
    unit = (row / largest).astype(np.longdouble)
    return np.sqrt(np.sum(unit**2)) * np.longdouble(largest)


@given(TABLE, st.floats(1e-100, 1e100))
def test_no_row_leaves_the_ball(X, data_norm):
    out = RowClipper(data_norm).fit_transform(X)
    assert all(exact_norm(row) <= np.longdouble(data_norm) for row in out)


@given(TABLE, st.floats(1e-3, 1e3))
def test_short_rows_are_untouched_and_clipping_twice_is_clipping_once(X, data_norm):
    clipper = RowClipper(data_norm)
    once = clipper.fit_transform(X)
    short = [exact_norm(row) <= data_norm * (1 - 1e-12) for row in X]
    np.testing.assert_array_equal(once[short], X[short])
    np.testing.assert_array_equal(clipper.transform(once), once)


@given(TABLE)
def test_sparse_rows_are_clipped_like_dense_ones(X):
    dense = RowClipper().fit_transform(X)
    out = RowClipper().fit_transform(sparse.csr_array(X))
    assert sparse.issparse(out)
    np.testing.assert_allclose(out.toarray(), dense, rtol=1e-14)


@pytest.mark.parametrize("size", [1e-40, 1.0, 1e200, 1.7e308])
def test_a_long_row_is_clipped_to_its_direction(size):
    """Also when its norm, or the square of its norm, is beyond the doubles."""
    out = RowClipper(data_norm=1e-50).fit_transform([[size, -size, 0.0]])
    half = 1e-50 / np.sqrt(2)
    np.testing.assert_allclose(out, [[half, -half, 0.0]], rtol=1e-14)


def test_a_row_whose_squares_underflow_is_kept():
    X = np.array([[3e-200, 4e-200]])
    np.testing.assert_array_equal(RowClipper().fit_transform(X), X)


def test_zero_rows_stay_zero():
    np.testing.assert_array_equal(
        RowClipper().fit_transform(np.zeros((10, 3))), np.zeros((10, 3))
    )
    empty = RowClipper().fit_transform(sparse.csr_array((4, 3)))
    assert empty.nnz == 0


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
@pytest.mark.parametrize("family", ["array", "matrix"])
def test_every_sparse_format_is_accepted_and_left_unchanged(kind, family):
    dense = np.array([[3.0, 4.0, 0.0], [0.0, 0.1, 0.0]])
    X = getattr(sparse, f"{kind}_{family}")(dense)
    out = RowClipper().fit_transform(X)
    np.testing.assert_allclose(out.toarray(), [[0.6, 0.8, 0], [0, 0.1, 0]], rtol=1e-14)
    np.testing.assert_array_equal(X.toarray(), dense)


def test_repeated_entries_of_a_sparse_row_count_as_their_sum():
    X = sparse.csr_array((np.array([3.0, 1.5, 2.5]), np.array([0, 1, 1]), [0, 3]))
    np.testing.assert_allclose(
        RowClipper().fit_transform(X).toarray(), [[0.6, 0.8]], rtol=1e-14
    )


def test_wide_sparse_tables_stay_sparse_in_memory():
    """Ten thousand by ten thousand at density 1e-3: never a dense copy."""
    n, stored = 10_000, 10
    columns = np.arange(n * stored) * 997 % n
    X = sparse.csr_array(
        (np.ones(n * stored), columns, np.arange(0, n * stored + 1, stored)),
        shape=(n, n),
    )
    clipper = RowClipper().fit(X)
    tracemalloc.start()
    clipper.transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    assert peak < 8 * size


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, 1e308, 1e-308])
def test_a_bad_norm_is_refused_by_name_before_the_data_are_read(value):
    with pytest.raises(ValueError, match="data_norm"):
        RowClipper(data_norm=value).fit("not even a table")


@pytest.mark.parametrize("value", ["1", True, None])
def test_a_norm_of_the_wrong_type_is_refused_by_name(value):
    with pytest.raises(TypeError, match="data_norm"):
        RowClipper(data_norm=value).fit("not even a table")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_non_finite_rows_raise_without_quoting_the_row(value):
    with pytest.raises(ValueError, match=r"NaN|infinity") as caught:
        RowClipper().fit([[value, 12345.678]])
    assert "12345" not in str(caught.value)


def test_frames_keep_their_names():
    frame = pd.DataFrame({"a": [3.0, 0.1], "b": [4.0, 0.1]}, index=["x", "y"])
    clipper = RowClipper().set_output(transform="pandas")
    out = clipper.fit_transform(frame)
    assert list(out.columns) == ["a", "b"]
    assert list(out.index) == ["x", "y"]
    with pytest.raises(ValueError, match="feature names"):
        clipper.transform(frame[["b", "a"]])
