"""Draws from a product of alphabets that is never written down."""

from itertools import product

import numpy as np
import pytest

from skdp.accounting import PureDP
from skdp.mechanisms import CountWeights, RevealOrObscure
from skdp.mechanisms._sparse_counts import draw_sparse, sparse_totals
from skdp.random import as_random_source
from skdp.synthesis import _whole_records as whole
from skdp.synthesis._whole_records import (
    distinct_records,
    draw_records,
    flat_index,
)

SIZES = (2, 3)
TARGET = PureDP(1.0, adjacency="replace-one")


def made(k=6, n=5, m=1, **kwargs):
    return CountWeights.calibrate(
        TARGET, profile="envelope", n_categories=k, n_rows=n, n_draws=m, **kwargs
    )


def line(k, n, m=1, epsilon=1.0):
    target = PureDP(epsilon, adjacency="replace-one")
    return RevealOrObscure.calibrate(target, n_categories=k, n_rows=n, n_draws=m)


@pytest.mark.parametrize(
    "mechanism", [line(6, 5), made(6, 20)], ids=["line", "envelope"]
)
def test_lazy_and_dense_laws_are_equal(mechanism):
    """Exactly: the entry of the unseen is shared evenly by what is not seen."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        rows = np.column_stack([rng.integers(0, k, mechanism.n_rows) for k in SIZES])
        records, counts = distinct_records(rows, SIZES)
        seen_total, unseen_total = sparse_totals(mechanism.table, counts, 6)
        weights = [*mechanism.table(counts).tolist(), unseen_total]
        assert seen_total == sum(weights[:-1])
        full = np.bincount(flat_index(rows, SIZES), minlength=6)
        dense = mechanism.weights(full).tolist()
        assert sum(weights) == sum(dense)
        seen = flat_index(records, SIZES)
        for place, weight in zip(seen, weights, strict=False):
            assert weight == dense[place]
        unseen = [w for place, w in enumerate(dense) if place not in set(seen)]
        assert weights[-1] == sum(unseen)
        assert len(set(unseen)) <= 1


@pytest.mark.statistical
@pytest.mark.parametrize("few", [True, False], ids=["enumerated", "rejected"])
def test_unseen_records_are_drawn_evenly(few):
    """Binomial counts within 6 standard errors: a false alarm is below 1e-7."""
    seen = np.array([[0, 0], [1, 2], [0, 1], [1, 0]]) if few else np.array([[1, 1]])
    source = as_random_source(3)
    drawn = whole._unseen(seen, SIZES, 6, 12_000, source)
    counts = np.bincount(flat_index(drawn, SIZES), minlength=6)
    absent = np.setdiff1d(np.arange(6), flat_index(seen, SIZES))
    assert counts.sum() == counts[absent].sum() == 12_000
    p = 1 / len(absent)
    spread = np.sqrt(12_000 * p * (1 - p))
    assert np.all(np.abs(counts[absent] - 12_000 * p) < 6 * spread)


@pytest.mark.statistical
def test_draws_follow_the_dense_law():
    """Counts within 6 standard errors: a false alarm is below 1e-7."""
    mechanism = line(6, 5, m=20_000, epsilon=20_000.0 * 0.5)
    rows = np.array([[0, 0], [0, 0], [1, 2], [0, 1], [0, 0]])
    drawn = draw_records(mechanism, rows, SIZES, as_random_source(1))
    counts = np.bincount(flat_index(drawn, SIZES), minlength=6)
    weights = mechanism.weights(np.bincount(flat_index(rows, SIZES), minlength=6))
    p = weights / weights.sum()
    assert np.all(np.abs(counts - 20_000 * p) < 6 * np.sqrt(20_000 * p * (1 - p)))


def test_distinct_records_depend_on_the_set_alone():
    rng = np.random.default_rng(2)
    for sizes in ((2, 3), (7, 5, 11), (10,) * 40, (3_000, 3_000, 5)):
        rows = np.column_stack([rng.integers(0, min(k, 4), 300) for k in sizes])
        records, counts = distinct_records(rows, sizes)
        expected, times = np.unique(rows, axis=0, return_counts=True)
        order = np.lexsort(records.T[::-1])
        np.testing.assert_array_equal(records[order], expected)
        np.testing.assert_array_equal(counts[order], times)
        again, _ = distinct_records(rng.permutation(rows), sizes)
        np.testing.assert_array_equal(again, records)


def test_alphabets_beyond_64_bits_do_not_overflow():
    k = 10**40
    sizes, rows = (10,) * 40, np.zeros((1000, 40), dtype=np.int32)
    mechanism = line(k, 1000, m=3)
    drawn = draw_records(mechanism, rows, sizes, as_random_source(None))
    assert drawn.shape == (3, 40)
    assert drawn.min() >= 0
    assert drawn.max() <= 9
    # with so many categories a draw is a uniform one
    assert mechanism.accuracy_bound(1000) > 1 - 1e-12
    assert mechanism.guarantee.epsilon(0.0) > 0.99


def test_a_trillion_records_cost_no_more_than_the_rows():
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 10, (20_000, 12)).astype(np.int32)
    mechanism = line(10**12, 20_000, m=4)
    records, counts = distinct_records(rows, (10,) * 12)
    assert len(records) <= 20_000
    assert counts.sum() == 20_000
    seen, unseen = sparse_totals(mechanism.table, counts, 10**12)
    assert seen == sum(mechanism.table(counts).tolist())
    assert unseen == (10**12 - len(records)) * mechanism.table.at(0)
    assert draw_records(mechanism, rows, (10,) * 12, as_random_source(0)).shape == (
        4,
        12,
    )


def test_a_sampler_that_forgets_the_unseen_is_not_private():
    """Leaving out the unseen entry makes a record appear from probability 0."""
    mechanism = line(6, 5)
    one = np.array([5])
    drawn = draw_sparse(mechanism.table, one, 6, 200, as_random_source(0))
    assert set(np.unique(drawn)) == {0, 1}
    forgotten = mechanism.table(one)
    assert 0.0 in np.append(forgotten, 0.0) / forgotten.sum()


def test_every_record_can_come_out():
    """Probability below 1e-9 to miss one of 24 in 1,500 nearly uniform draws."""
    sizes = (2, 3, 4)
    mechanism = line(24, 1, m=1500, epsilon=0.15)
    drawn = draw_records(
        mechanism, np.zeros((1, 3), dtype=int), sizes, as_random_source(0)
    )
    assert set(map(tuple, drawn.tolist())) == set(product(*map(range, sizes)))
