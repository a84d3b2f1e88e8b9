"""Numeric targets are clipped to their range and scaled, each row alone."""

import numpy as np
import pytest

from skdp.losses import HuberLoss, LogisticLoss
from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks
from skdp.solvers import Objective

WILD = np.array([-np.inf, -1e308, -3.0, 1.0, 4.0, 5.0, 1e308, np.inf, np.nan])


def test_targets_are_clipped_and_put_on_the_scale_of_the_loss():
    found = Targets(-2.0, 4.0).encode(WILD)
    np.testing.assert_allclose(found, [-1, -1, -1, 0, 1, 1, 1, 1, 0])
    found = Targets(-2.0, 4.0, bound=3.0).encode(WILD)
    np.testing.assert_allclose(found, [-3, -3, -3, 0, 3, 3, 3, 3, 0])


def test_a_range_around_zero_in_its_own_units_changes_no_bit():
    y = np.random.default_rng(0).uniform(-0.3, 0.3, size=1000)
    np.testing.assert_array_equal(Targets(-0.3, 0.3, bound=0.3).encode(y), y)


@pytest.mark.parametrize("range_", [(0.1, 0.7), (-1e-300, 3e-300), (1e16, 1e16 + 4)])
def test_no_target_leaves_the_bound_by_rounding(range_):
    targets = Targets(*range_, bound=0.1)
    y = np.random.default_rng(1).uniform(*range_, size=1000)
    assert np.abs(targets.encode(np.append(y, WILD))).max() <= 0.1


def test_one_row_never_changes_another():
    y = np.array([1.0, 2.0, 3.0])
    alone = Targets(0.0, 4.0).encode(y)
    np.testing.assert_array_equal(Targets(0.0, 4.0).encode([*y, 1e300])[:3], alone)


def test_blocks_carry_targets_and_what_encoded_them():
    X, y = np.ones((3, 1)), np.array([0.5, 9.0, np.nan])
    targets = Targets(0.0, 2.0)
    for blocks in (
        as_row_blocks(X, y, labels=targets),
        as_row_blocks([(X[:1], y[:1]), (X[1:], y[1:])], labels=targets),
    ):
        found = np.concatenate([y for _, y in PrivateRows(blocks, L2Ball(1.0)).blocks])
        np.testing.assert_array_equal(found, [-0.5, 1.0, 0.0])
        assert blocks.labels == Targets(0, 2)


def test_foreign_blocks_are_clipped_to_the_bound_they_declare():
    class Foreign:
        n_features, labels = 1, Targets(0.0, 2.0)

        def __iter__(self):
            yield np.ones((3, 1)), np.array([0.25, 7.0, np.nan])

        def part(self, fraction, at_least):
            return None

    rows = PrivateRows(Foreign(), L2Ball(1.0))
    np.testing.assert_array_equal(next(iter(rows.blocks))[1], [0.25, 1.0, 0.0])


def test_values_are_compared_hashed_and_shown():
    assert Targets(0, 1) != Targets(0, 1, bound=2.0)
    assert hash(Targets(0, 1)) == hash(Targets(0.0, 1.0))
    assert repr(Targets(0, 1)) == "Targets(0.0, 1.0, bound=1.0)"


@pytest.mark.parametrize("range_", [(1, 1), (2, 1), (0, np.inf), (np.nan, 1)])
def test_an_empty_range_is_refused(range_):
    with pytest.raises(ValueError, match="not an interval"):
        Targets(*range_)
    with pytest.raises(ValueError, match="bound is out of range"):
        Targets(0.0, 1.0, bound=0.0)


def test_a_loss_of_signs_refuses_targets_that_would_weigh_more():
    """A target of 50 would make one row count for fifty."""
    X, y = np.ones((2, 1)), np.array([50.0, 1.0])
    heavy = PrivateRows(
        as_row_blocks(X, y, labels=Targets(-50, 50, bound=50)), L2Ball(1)
    )
    for loss in (LogisticLoss(), HuberLoss(target_bound=49.0)):
        with pytest.raises(ValueError, match="targets up to 50"):
            Objective(heavy, loss, alpha=1.0)
    Objective(heavy, HuberLoss(target_bound=50.0), alpha=1.0)
    light = PrivateRows(as_row_blocks(X, y, labels=Targets(-50, 50)), L2Ball(1))
    Objective(light, LogisticLoss(), alpha=1.0)
