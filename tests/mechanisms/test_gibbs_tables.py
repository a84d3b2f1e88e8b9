"""Hard tables are neighbours: they differ by one row, or in one."""

import pytest

from skdp.mechanisms import GibbsPosterior, OutputPerturbation
from skdp.mechanisms._gibbs_tables import hard_tables
from skdp.mechanisms._pushed_rows import pushed_row_pairs


def rows(data):
    return [
        (*x.tolist(), float(label))
        for block, y in data.blocks
        for x, label in zip(block, y, strict=True)
    ]


def differing(left, right):
    """Return the rows of each side that the other has not, counted."""
    left, right = list(left), list(right)
    for row in list(left):
        if row in right:
            left.remove(row)
            right.remove(row)
    return len(left), len(right)


@pytest.mark.parametrize("mechanism", list(GibbsPosterior.audit_instances()))
@pytest.mark.parametrize("replace_one", [False, True])
def test_hard_tables_differ_in_one_row_within_the_norm(mechanism, replace_one):
    found = list(hard_tables(mechanism, replace_one=replace_one))
    assert found
    for _, larger, other in found:
        assert differing(larger, other) == (1, int(replace_one))
        assert all(abs(position) <= 1.0 for position, _ in [*larger, *other])


@pytest.mark.parametrize("mechanism", list(OutputPerturbation.audit_instances()))
def test_pushed_rows_differ_in_one_row(mechanism):
    replaces = str(mechanism.adjacency) == "replace-one"
    for pair in pushed_row_pairs(mechanism):
        sides = sorted(differing(rows(pair.left), rows(pair.right)))
        assert sides == ([1, 1] if replaces else [0, 1])
