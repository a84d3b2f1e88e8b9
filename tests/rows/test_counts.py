"""Counts are clipped to their limit and scaled without moving zero."""

import pickle

import numpy as np
import pytest

from skdp.losses import ClippedPoissonLoss
from skdp.rows import Counts, L2Ball, PrivateRows, Targets, as_row_blocks
from skdp.solvers import Objective

WILD = np.array([-np.inf, -3.0, 0.0, 2.5, 8.0, 9.0, 1e308, np.inf, np.nan])


def test_counts_are_clipped_and_zero_stays_zero():
    np.testing.assert_array_equal(
        Counts(8.0, bound=4.0).encode(WILD), [0, 0, 0, 1.25, 4, 4, 4, 4, 0]
    )
    assert Counts(8.0, bound=4.0).unit == 2.0
    assert Counts(8.0).middle == 0.0


@pytest.mark.parametrize("high", [0.1, 3e-300, 1e100, 7.0])
def test_no_count_leaves_the_bound_by_rounding(high):
    y = np.random.default_rng(1).uniform(0, high, size=1000)
    found = Counts(high, bound=0.3).encode(np.append(y, high))
    assert found.min() >= 0.0
    assert found.max() <= 0.3


def test_counts_are_no_targets_of_the_same_range():
    assert Counts(8.0) == Counts(8.0)
    assert hash(Counts(8.0)) == hash(Counts(8.0))
    assert Counts(8.0) != Targets(0.0, 8.0)
    assert Targets(0.0, 8.0) != Counts(8.0)
    assert repr(Counts(8.0, bound=4.0)) == "Counts(8.0, bound=4.0)"
    assert pickle.loads(pickle.dumps(Counts(8.0, bound=4.0))) == Counts(8.0, bound=4.0)


@pytest.mark.parametrize("high", [0.0, -1.0, np.inf, np.nan])
def test_a_limit_that_is_none_is_refused(high):
    with pytest.raises(ValueError, match="range of the targets"):
        Counts(high)


def test_an_objective_takes_counts_up_to_the_bound_of_its_loss():
    rows = PrivateRows(
        as_row_blocks(np.ones((2, 1)), np.array([3.0, 99.0]), labels=Counts(8.0)),
        L2Ball(1.0),
    )
    gradient = Objective(rows, ClippedPoissonLoss(), alpha=1.0).gradient(np.zeros(1))
    # rates of 1, less three eighths and one
    assert gradient[0] == pytest.approx(2.0 - 3 / 8 - 1.0)
    with pytest.raises(ValueError, match="bound"):
        Objective(
            PrivateRows(
                as_row_blocks(np.ones((1, 1)), np.ones(1), labels=Counts(8, bound=2)),
                L2Ball(1.0),
            ),
            ClippedPoissonLoss(),
            alpha=1.0,
        )
