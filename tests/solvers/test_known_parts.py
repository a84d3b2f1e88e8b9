"""A part of a table that was read takes over what is known about its rows."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from skdp.rows import L2Ball, as_row_blocks
from skdp.solvers import Table

RNG = np.random.default_rng(0)
N = 3000
X = RNG.standard_normal((N, 7)) * RNG.choice([0.1, 1.0, 3.0], (N, 1))
Y = RNG.choice([-1.0, 1.0], N)
LAYOUTS = {
    "rows": (X, {}),
    "short blocks": (X, {"block_rows": 100}),
    "columns": (np.asfortranarray(X), {}),
    "frame": (pd.DataFrame(X), {}),
    "sparse": (sp.csr_array(X), {"block_rows": 64}),
}


class Weigh:
    """Weights that tell rows apart, and how many of them were asked for."""

    def __init__(self):
        self.n_rows = 0

    def __call__(self, x, factors):
        self.n_rows += len(factors)
        first = x[:, [0]].toarray() if sp.issparse(x) else x[:, [0]]
        return np.exp(first.ravel() * factors)


def contents(table):
    rows = [(x.toarray() if sp.issparse(x) else x, y, f) for x, y, f in table]
    ones = [np.ones_like(y) for _, y, _ in rows]
    for index, values in enumerate(ones):
        table.apply_weights(index, values)
    return [np.concatenate(part) for part in (*zip(*rows, strict=True), ones)]


def table_of(layout):
    x, options = LAYOUTS[layout]
    weigh = Weigh()
    table = Table(as_row_blocks(x, Y, **options), L2Ball(1.0, 0.5))
    return table.weighted_by(weigh), weigh


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("fraction", [0.1, 0.5])
def test_factors_and_weights_are_those_computed_anew(layout, fraction):
    fresh, _ = table_of(layout)
    expected = contents(fresh.part(fraction, 10)[0])
    seen, weigh = table_of(layout)
    contents(seen)
    assert weigh.n_rows == N
    part, share = seen.part(fraction, 10)
    for found, other in zip(contents(part), expected, strict=True):
        np.testing.assert_allclose(found, other, rtol=1e-14)
    assert weigh.n_rows == N
    assert len(expected[1]) == round(share * N)


def test_other_weights_are_computed_and_far_rows_clipped_anew():
    seen, _ = table_of("rows")
    contents(seen)
    other = Weigh()
    contents(seen.weighted_by(other).part(0.1, 10)[0])
    assert other.n_rows > 0
    far = X.copy()
    far[::2] *= 1e200
    table = Table(as_row_blocks(far, Y), L2Ball(1.0))
    list(table)
    for x, _, f in table.part(0.5, 10)[0]:
        lengths = np.linalg.norm(x * f[:, None] * table.unit, axis=1)
        assert np.all(lengths <= 1.0)
