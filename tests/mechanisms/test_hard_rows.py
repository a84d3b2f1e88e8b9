"""The hard rows are neighbours, at the norm bound, on either relation."""

import numpy as np
import pytest

from skdp.accounting import Adjacency
from skdp.mechanisms._hard_rows import hard_row_pairs


def rows_of(table):
    parts = [np.column_stack([X, y]) for X, y in table.projected()]
    return [tuple(row) for row in np.concatenate(parts)] if parts else []


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("radius", [0.25, 7.0])
@pytest.mark.parametrize("adjacency", Adjacency)
def test_each_pair_differs_by_one_row_of_the_stated_relation(d, radius, adjacency):
    pairs = list(hard_row_pairs(radius, d, adjacency))
    assert len({pair.name for pair in pairs}) == len(pairs) == 27
    for pair in pairs:
        left, right = rows_of(pair.left), rows_of(pair.right)
        replaced = adjacency is Adjacency.REPLACE_ONE
        assert len(left) == len(right) + (not replaced)
        # the tables share all but the last row of the longer one
        shared = len(left) - 1
        assert left[:shared] == right[:shared]
        assert left[-1][-1] in (-1.0, 1.0)
        if replaced:
            assert left[-1][:-1] == right[-1][:-1]
            assert left[-1][-1] == -right[-1][-1]
        assert pair.left.ball.radius == radius


def test_some_rows_stand_exactly_at_the_bound():
    tables = [pair.left for pair in hard_row_pairs(2.0, 2, Adjacency.ADD_REMOVE)]
    norms = [np.linalg.norm(row[:-1]) for table in tables for row in rows_of(table)]
    assert max(norms) == 2.0
