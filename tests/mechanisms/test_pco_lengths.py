"""Norms of rows in a metric: those of the whole product, from half of it."""

import numpy as np
import pytest
import scipy.sparse as sp

from skdp.mechanisms._pco_geometry import geometry_of, weighted_table
from skdp.mechanisms._pco_lengths import RowLengths
from skdp.rows import L2Ball, as_row_blocks
from skdp.solvers import Table

LAYOUTS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "every other": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "sparse": sp.csr_array,
}


@pytest.mark.parametrize("constant", [0.0, 0.3])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_lengths_are_those_of_the_product(layout, constant):
    rng = np.random.default_rng(0)
    for n, d in ((0, 3), (1, 1), (7, 2), (400, 17)):
        x, factors = rng.standard_normal((n, d)), rng.random(n)
        order = d + (constant > 0.0)
        half = rng.standard_normal((order, order))
        lengths = RowLengths(half @ half.T, constant)
        rows = np.column_stack([x * factors[:, None], np.full(n, constant)])[:, :order]
        expected = np.linalg.norm(rows @ half @ half.T, axis=1)
        held = LAYOUTS[layout](x)
        for _ in range(2):  # the second time in the buffer of the first
            np.testing.assert_allclose(lengths(held, factors), expected, rtol=1e-11)


def test_metrics_of_any_spread_keep_relative_digits():
    rng = np.random.default_rng(1)
    axes = np.linalg.qr(rng.standard_normal((30, 30)))[0]
    stretch = np.logspace(-5, 0, 30)
    lengths = RowLengths((axes * stretch) @ axes.T, 0.0)
    # the shortest rows in the metric
    np.testing.assert_allclose(lengths(axes.T.copy(), np.ones(30)), stretch, rtol=1e-10)


def test_rows_that_cannot_be_long_are_left_alone():
    table = Table(as_row_blocks(np.eye(2), np.ones(2)), L2Ball(1.0))
    geometry = geometry_of(1e9 * np.eye(2), 1.0, 1e-3)
    assert geometry.longest <= 1.0
    assert weighted_table(table, geometry, 1.0) is table
    assert (geometry.weights(np.linspace(0.0, 1.0, 11)) == 1.0).all()
    geometry = geometry_of(np.diag([1e4, 0.0]), 1.0, 1.0)
    assert geometry.longest > 1.0
    assert weighted_table(table, geometry, 1.0) is not table
