"""The tree of noisy marginals: exact scores, an exact bill, rows that look alike."""

import math
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from skdp.accounting import Adjacency, ApproximateDP
from skdp.random import as_random_source
from skdp.synthesis import _marginal_tree as module
from skdp.synthesis._marginal_tree import MarginalTree, TreePlan
from skdp.synthesis._table_settings import concentrated_share

REPLACE, ADD = Adjacency.REPLACE_ONE, Adjacency.ADD_REMOVE
SIZES = (2, 3, 2)


def made(rho=0.1, sizes=SIZES, adjacency=REPLACE, n_rows=4, group_size=1):
    if adjacency is ADD:
        n_rows = None
    return TreePlan.calibrate(
        rho, sizes=sizes, adjacency=adjacency, n_rows=n_rows, group_size=group_size
    )


@pytest.mark.parametrize("adjacency", [REPLACE, ADD])
@pytest.mark.parametrize("sizes", [(3,), (3, 2), SIZES, (2,) * 12])
@pytest.mark.parametrize("group_size", [1, 3])
def test_parts_add_up_to_rho_and_not_more(adjacency, sizes, group_size):
    for rho in (1e-6, 0.03, 5.0):
        plan = made(rho, sizes, adjacency, 400, group_size)
        assert plan.rho <= rho
        assert plan.rho >= rho * (1 - 1e-9)
        costs = [part.guarantee.rho for part in plan.parts]
        assert sum(costs) == pytest.approx(plan.rho, rel=1e-12)
        assert len(costs) == min(3, len(sizes))


def test_the_bill_is_that_of_the_noise_that_is_drawn():
    """Squared distance of all one-way, and of all two-way, histograms, by hand."""
    plan = made(0.3, (2,) * 5, REPLACE, 100)
    one, pair = float(plan.one_way[0].scale), float(plan.pair(0, 1).scale)
    shares = [part.guarantee.rho for part in plan.parts]
    assert shares[0] == pytest.approx(2 * 5 / (2 * one**2), rel=1e-9)
    assert shares[1] == pytest.approx(4 * plan.choice.epsilon**2 / 8, rel=1e-9)
    assert shares[2] == pytest.approx(2 * 4 / (2 * pair**2), rel=1e-9)
    assert shares == pytest.approx([0.1] * 3, rel=1e-9)


@pytest.mark.parametrize("adjacency", [REPLACE, ADD])
def test_scores_change_by_at_most_the_sensitivity(adjacency):
    """Every table of three records, every neighbour, several public expectations."""
    plan = made(adjacency=adjacency, n_rows=3)
    records = np.array(list(product(*map(range, SIZES))))
    rng = np.random.default_rng(0)
    publics = [rng.dirichlet(np.ones(6)).reshape(2, 3) * 3 for _ in range(4)]
    publics.append(np.full((2, 3), 0.5))
    attained = 0
    for rows in combinations_with_replacement(range(len(records)), 3):
        table = records[list(rows)]
        if adjacency is REPLACE:
            others = [np.vstack([table[1:], record]) for record in records]
        else:
            others = [table[1:]]
        for public in publics:
            score = plan._score(table, 0, 1, public)
            for other in others:
                change = abs(plan._score(other, 0, 1, public) - score)
                assert change <= plan.choice.sensitivity
                attained = max(attained, change)
    assert attained >= 0.9 * plan.choice.sensitivity


def test_candidates_of_a_choice_depend_on_released_numbers_alone(monkeypatch):
    """Two tables, the same released choices: the same lists of pairs, in order."""
    seen = []
    original = module.ExponentialMechanism.release

    def first(self, data, source):
        seen.append(len(data))
        release = original(self, data, source)
        return type(release)(output=np.array([0.0]), spent=release.spent)

    monkeypatch.setattr(module.ExponentialMechanism, "release", first)
    plan = made(sizes=(2,) * 5, n_rows=6)
    rng = np.random.default_rng(0)
    for _ in range(2):
        tree = plan.release(rng.integers(0, 2, (6, 5)), as_random_source(0))
        assert tree.edges == ((0, 1), (0, 2), (0, 3), (0, 4))
    assert seen[:4] == seen[4:]


def test_edges_make_a_tree_with_parents_first():
    rng = np.random.default_rng(0)
    plan = made(rho=1.0, sizes=(3,) * 7, n_rows=200)
    tree = plan.release(rng.integers(0, 3, (200, 7)), as_random_source(1))
    known = {0}
    for parent, child in tree.edges:
        assert parent in known
        assert child not in known
        known.add(child)
    assert known == set(range(7))
    for table in tree.conditionals:
        np.testing.assert_allclose(table.sum(axis=1), 1.0, atol=1e-12)
        assert table.min() >= 0.0


def chain(n, d=5, seed=0):
    """Return columns of which each copies the one before, one time in eight not."""
    rng = np.random.default_rng(seed)
    codes = np.empty((n, d), dtype=np.int64)
    codes[:, 0] = rng.integers(0, 3, n)
    for j in range(1, d):
        fresh = rng.random(n) < 1 / 8
        codes[:, j] = np.where(fresh, rng.integers(0, 3, n), codes[:, j - 1])
    return codes


def test_the_strongest_pairs_are_found_and_kept():
    """With 50,000 rows the noise of a seeded run is far below the dependence."""
    codes, sizes = chain(50_000), (3,) * 5
    plan = made(0.05, sizes, REPLACE, 50_000)
    tree = plan.release(codes, as_random_source(2))
    assert {frozenset(edge) for edge in tree.edges} == {
        frozenset((j, j + 1)) for j in range(4)
    }
    drawn = tree.draw(50_000, as_random_source(3))
    for i, j in ((0, 1), (2, 3), (0, 4)):
        tables = [
            np.bincount(c[:, i] * 3 + c[:, j], minlength=9) / len(c)
            for c in (codes, drawn)
        ]
        assert np.abs(tables[0] - tables[1]).sum() / 2 < 0.02


def test_a_parent_that_does_not_occur_passes_on_the_marginal():
    plan = made(2.0, (2, 2), REPLACE, 10_000)
    codes = np.zeros((10_000, 2), dtype=np.int64)
    tree = plan.release(codes, as_random_source(0))
    assert tree.conditionals[0].shape == (2, 2)
    np.testing.assert_allclose(tree.conditionals[0].sum(axis=1), 1.0)


def test_draws_follow_the_released_tables():
    tree = MarginalTree(
        (np.array([0.0, 1.0]), np.array([0.5, 0.5]), np.array([1.0, 0.0])),
        ((0, 1), (1, 2)),
        (np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])),
    )
    drawn = tree.draw(20, as_random_source(None))
    np.testing.assert_array_equal(drawn, np.ones((20, 3)))
    assert tree.draw(0, as_random_source(None)).shape == (0, 3)


def test_the_share_of_a_target_is_as_large_as_may_be():
    target = ApproximateDP(1.0, 1e-6, adjacency="replace-one")
    from skdp.accounting import ZeroConcentratedDP

    rho = concentrated_share(target)
    assert ZeroConcentratedDP(rho).epsilon(1e-6) <= 1.0
    assert ZeroConcentratedDP(rho * 1.001).epsilon(1e-6) > 1.0
    assert math.isfinite(made(rho).accuracy_bounds(100)[1])
