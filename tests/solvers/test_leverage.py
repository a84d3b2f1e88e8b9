"""Row statistics in blocks equal their definitions on projected rows."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from skdp.rows import L2Ball, PrivateRows, as_row_blocks
from skdp.solvers import RowStatistics, Table, row_statistics

RNG = np.random.default_rng(0)
X = RNG.standard_normal((500, 6))
X[3], X[4], X[5] = 0.0, 1e300, 1e-200
A = RNG.standard_normal((7, 7))


def gathered(*args):
    """Statistics of all rows in one object."""
    blocks = list(row_statistics(*args))
    names = RowStatistics.__slots__
    parts = [[getattr(block, name) for block in blocks] for name in names]
    return RowStatistics(*(np.concatenate([*part, np.zeros(0)]) for part in parts))


@pytest.mark.parametrize("B0", [0.0, 0.5])
@pytest.mark.parametrize("hold", [np.asarray, np.asfortranarray, sp.csr_array])
@pytest.mark.parametrize("R", [1.0, 1e-50, 1e50])
def test_statistics_are_what_their_names_say(B0, hold, R):
    ball = L2Ball(R, B0 * R)
    rows = PrivateRows(as_row_blocks(hold(X), np.ones(500), block_rows=64), ball)
    d = rows.n_coefficients
    H = (A @ A.T + np.eye(7))[:d, :d] * R * R
    theta, g = RNG.standard_normal(d) / R, RNG.standard_normal(d)
    out = gathered(Table(rows.blocks, rows.ball), theta, H, g)
    P = ball.project(X)
    close = {"rtol": 1e-10, "atol": 1e-12}
    np.testing.assert_allclose(out.margins, P @ theta, **close)
    leverages = np.einsum("ij,ij->i", P @ np.linalg.inv(H), P)
    np.testing.assert_allclose(out.leverages, leverages, **close)
    squares = (P / R) ** 2
    np.testing.assert_allclose(out.squared_norms / R**2, squares.sum(1), **close)
    np.testing.assert_allclose(out.products / R, (P / R) @ g, **close)


def test_no_rows_give_no_statistics():
    rows = PrivateRows(as_row_blocks(np.empty((0, 2)), np.empty(0)), L2Ball(1.0))
    table = Table(rows.blocks, rows.ball)
    out = gathered(table, np.zeros(2), np.eye(2), np.zeros(2))
    assert out.leverages.shape == out.margins.shape == (0,)


def test_nothing_of_the_size_of_the_table_is_formed():
    n, d = 100_000, 40
    rows = PrivateRows(as_row_blocks(np.ones((n, d)), np.ones(n)), L2Ball(1.0))
    tracemalloc.start()
    for _ in row_statistics(
        Table(rows.blocks, rows.ball), np.zeros(d), np.eye(d), np.zeros(d)
    ):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # a clip factor for each row, and some blocks; X has 40 numbers a row
    assert peak < 4 * 8 * n
