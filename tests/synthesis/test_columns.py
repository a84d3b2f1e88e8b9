"""Independent columns: every column pays, and the bill is exact."""

import math
from itertools import product

import numpy as np
import pytest

from skdp.accounting import ApproximateDP, PureDP
from skdp.mechanisms import CountWeights, RevealOrObscure
from skdp.random import as_random_source
from skdp.synthesis._columns import IndependentColumns

SIZES = (2, 3)
REPLACE = PureDP(1.0, adjacency="replace-one")


def tables(n):
    """Return all tables of n records, as sequences."""
    records = list(product(*map(range, SIZES)))
    for rows in product(range(len(records)), repeat=n):
        if list(rows) == sorted(rows):
            yield np.array([records[r] for r in rows])


def joint_law(samplers, table):
    """Return the law of one synthetic record, by column."""
    laws = [
        s.weights(np.bincount(table[:, j], minlength=s.n_categories))
        for j, s in enumerate(samplers)
    ]
    laws = [law / law.sum() for law in laws]
    return np.multiply.outer(*laws)


def exact_loss(samplers, n):
    """Return the largest log ratio over all neighbours and records drawn."""
    records = np.array(list(product(*map(range, SIZES))))
    worst = 0.0
    for table in tables(n):
        law = np.log(joint_law(samplers, table))
        for i in range(n):
            for record in records:
                other = table.copy()
                other[i] = record
                gap = np.abs(np.log(joint_law(samplers, other)) - law)
                worst = max(worst, float(gap.max()))
    return worst


def test_the_joint_loss_is_within_epsilon_and_nearly_attained():
    made = IndependentColumns.calibrate(
        REPLACE, sizes=SIZES, n_rows=3, group_size=1, n_draws=1
    )
    loss = exact_loss(made.samplers, 3)
    assert loss <= made.guarantee.epsilon(0.0) <= 1.0
    assert loss > 0.9


def test_charging_epsilon_once_for_the_row_would_double_the_loss():
    naive = [
        RevealOrObscure.calibrate(REPLACE, n_categories=k, n_rows=3) for k in SIZES
    ]
    assert exact_loss(naive, 3) == pytest.approx(2.0, abs=1e-6)


def test_exact_accounting_agrees_with_all_outcomes_of_all_columns():
    """Hockey sticks of the joint law of two columns, every neighbour."""
    target = ApproximateDP(1.0, 1e-2, adjacency="replace-one")
    made = IndependentColumns.calibrate(
        target, sizes=SIZES, n_rows=4, group_size=1, n_draws=1
    )
    records = np.array(list(product(*map(range, SIZES))))
    for epsilon in (0.2, 0.5, 1.0):
        worst = 0.0
        for table in tables(4):
            law = joint_law(made.samplers, table)
            for record in records:
                other = table.copy()
                other[0] = record
                gap = law - math.exp(epsilon) * joint_law(made.samplers, other)
                worst = max(worst, float(np.maximum(gap, 0).sum()))
        claimed = float(made.guarantee.delta(epsilon))
        assert worst <= claimed * (1 + 1e-9) + 1e-15
    assert made.guarantee.delta(1.0) <= 1e-2


def test_published_figures_of_exact_and_pure_accounting():
    """Sum of worst-case distances, 5 categories a column."""
    for n, d, epsilon, exact, pure in (
        (100_000, 100, 1.0, 0.0023, 0.396),
        (100_000, 100, 3.0, 0.0002, 0.131),
        (1_000, 20, 1.0, 0.195, 1.0),
        (1_000, 20, 3.0, 0.040, 0.48),
    ):
        shape = {"sizes": (5,) * d, "n_rows": n, "group_size": 1, "n_draws": 1}
        target = ApproximateDP(epsilon, 1e-6, adjacency="replace-one")
        made = IndependentColumns.calibrate(target, **shape)
        assert sum(made.accuracy_bounds(n)) == pytest.approx(exact, rel=0.35)
        share = PureDP(epsilon / d, adjacency="replace-one")
        line = RevealOrObscure.calibrate(share, n_categories=5, n_rows=n)
        assert min(1.0, d * line.accuracy_bound(n)) == pytest.approx(pure, rel=0.02)
        envelope = IndependentColumns.calibrate(
            PureDP(epsilon, adjacency="replace-one"), **shape
        )
        assert sum(envelope.accuracy_bounds(n)) < d * line.accuracy_bound(n)


def test_constant_columns_cost_nothing():
    alone = IndependentColumns.calibrate(
        REPLACE, sizes=(3,), n_rows=50, group_size=1, n_draws=1
    )
    beside = IndependentColumns.calibrate(
        REPLACE, sizes=(1, 3, 1), n_rows=50, group_size=1, n_draws=1
    )
    assert beside.samplers[1] == alone.samplers[0]
    assert isinstance(beside.samplers[1], CountWeights)
    codes = np.zeros((50, 3), dtype=np.int32)
    assert beside.release(codes, as_random_source(0)).shape == (1, 3)


def test_weights_do_not_depend_on_a_private_number_of_rows():
    target = PureDP(1.0, adjacency="add-remove")
    made = IndependentColumns.calibrate(
        target, sizes=(3, 4), n_rows=None, group_size=1, n_draws=2
    )
    assert all(sampler.n_rows is None for sampler in made.samplers)
    for n in (5, 500):
        codes = np.zeros((n, 2), dtype=np.int32)
        assert made.release(codes, as_random_source(0)).shape == (2, 2)
