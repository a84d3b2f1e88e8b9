"""Multiplicative weights: integer scores, a budget that sums, answers that improve."""

import inspect
import pickle
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
import pytest

from skdp.accounting import ApproximateDP, PureDP
from skdp.exceptions import NotForReleaseWarning, WeakGuaranteeWarning
from skdp.random import as_random_source
from skdp.synthesis import MWEM
from skdp.synthesis import _multiplicative_weights as module
from skdp.synthesis._multiplicative_weights import MultiplicativeWeights
from skdp.synthesis._queries import pair_queries

BITS = [[0, 1]] * 3


def rows(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 2, n)
    return np.column_stack([first, first, rng.integers(0, 2, n)])


def pure(epsilon, n_rounds=10, n_rows=100):
    target = PureDP(epsilon, adjacency="replace-one")
    return MultiplicativeWeights.calibrate(target, n_rows=n_rows, n_rounds=n_rounds)


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 7.3, 900.0])
@pytest.mark.parametrize("n_rounds", [1, 3, 10, 97])
def test_the_pure_budget_sums_to_epsilon(epsilon, n_rounds):
    made = pure(epsilon, n_rounds)
    choices = n_rounds * Fraction(made.choice.epsilon)
    measured = n_rounds / made.scale  # one count of sensitivity 1 each
    assert choices + measured <= Fraction(epsilon)
    assert choices + measured >= Fraction(epsilon) * Fraction(1 - 1e-12)
    assert made.guarantee.epsilon(0.0) <= epsilon
    assert float(choices + measured) <= made.guarantee.epsilon(0.0)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("n_rounds", [1, 30])
def test_the_concentrated_budget_sums_to_rho(epsilon, n_rounds):
    target = ApproximateDP(epsilon, 1e-6, adjacency="replace-one")
    made = MultiplicativeWeights.calibrate(target, n_rows=100, n_rounds=n_rounds)
    assert made.choice.law == "exponential"
    per_round = made.choice.epsilon**2 / 8 + 1 / (2 * float(made.scale) ** 2)
    assert made.guarantee.rho == pytest.approx(n_rounds * per_round, rel=1e-12)
    assert made.guarantee.epsilon(1e-6) <= epsilon
    assert made.guarantee.epsilon(1e-6) >= 0.999 * epsilon


def test_scores_change_by_at_most_the_sensitivity():
    """All data sets of three records over 2 x 2, all neighbours, random weights."""
    queries = pair_queries((2, 2))
    made, rng = pure(1.0), np.random.default_rng(0)
    seen = []

    def scores_of(counts, law):
        true = module._answers(queries, counts)
        expected = 3 * (queries @ law)
        public = np.rint(expected * module._UNITS).astype(np.int64)
        return np.abs(true * module._UNITS - public)

    for law in rng.dirichlet(np.ones(4), 5):
        for some in combinations_with_replacement(range(4), 3):
            counts = np.bincount(some, minlength=4)
            for gone in set(some):
                for new in range(4):
                    other = counts.copy()
                    other[gone] -= 1
                    other[new] += 1
                    change = np.abs(scores_of(counts, law) - scores_of(other, law))
                    seen.append(int(change.max()))
    assert max(seen) == made.choice.sensitivity


def test_rounds_are_fixed_and_nothing_else_reads_the_data(monkeypatch):
    calls = []
    original = module.ExponentialMechanism.release

    def counted(self, data, source):
        calls.append(np.asarray(data).dtype.kind)
        return original(self, data, source)

    monkeypatch.setattr(module.ExponentialMechanism, "release", counted)
    for X in (rows(), np.zeros((3000, 3), dtype=int)):
        calls.clear()
        MWEM(categories=BITS, n_rounds=7).fit(X)
        assert calls == ["i"] * 7
    assert "tol" not in inspect.signature(MWEM).parameters


def test_a_round_moves_towards_its_measurement():
    queries = pair_queries((2, 2))
    law = np.full(4, 0.25)
    moved = module._replayed(law, queries, [(3, 0.75)])
    assert moved.sum() == pytest.approx(1.0)
    assert 0.25 < moved[3] < 0.75
    np.testing.assert_allclose(law, 0.25)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_answers_come_close_with_many_records(delta):
    """Seeded: 3,000 records and epsilon 10 leave noise far below what is asked."""
    X = rows()
    with pytest.warns(NotForReleaseWarning):
        model = MWEM(
            epsilon=10.0, delta=delta, categories=BITS, n_rounds=12, random_state=0
        ).fit(X)
    law = model.probabilities_
    assert law.shape == (2, 2, 2)
    real = np.array(
        [[np.mean((X[:, 0] == a) & (X[:, 1] == b)) for b in (0, 1)] for a in (0, 1)]
    )
    assert np.abs(law.sum(axis=2) - real).max() < 0.1
    assert model.privacy_spent_.epsilon <= 10.0
    assert [part.name for part in model.privacy_spent_.parts] == [
        "choices",
        "measurements",
    ]


def test_rows_are_free_and_keep_the_declared_dtypes():
    frame = pd.DataFrame(rows(200), columns=["a", "b", "c"]).astype({"c": bool})
    declared = {"a": [0, 1], "b": [0, 1], "c": [False, True]}
    model = MWEM(categories=declared, n_rounds=3).fit(frame)
    out = model.sample(50)
    assert out.dtypes.tolist() == frame.dtypes.tolist()
    before = pickle.dumps(model)
    model.sample(5)
    assert pickle.dumps(model) == before
    assert set(vars(model)) - set(model.get_params()) <= model._released
    loss = model.pdp_loss(frame[:4])
    assert np.all(loss == loss[0])
    assert loss[0] <= model.privacy_spent_.epsilon * (1 + 1e-12)


def test_queries_of_ones_own_and_limits():
    X = rows(100)
    queries = np.eye(8, dtype=int)
    model = MWEM(categories=BITS, queries=queries, n_rounds=2).fit(X)
    assert model.mechanism_.n_rounds == 2
    with pytest.raises(ValueError, match="predicates"):
        MWEM(categories=BITS, queries=queries[:, :4]).fit(X)
    wide = np.zeros((5, 21), dtype=int)
    with pytest.raises(ValueError, match="2097152 different records"):
        MWEM(categories=[[0, 1]] * 21).fit(wide)
    with pytest.raises(ValueError, match="n_rounds"):
        MWEM(categories=BITS, n_rounds=0).fit(X)
    with pytest.warns(WeakGuaranteeWarning), pytest.raises(ValueError, match="raw"):
        MWEM(categories=BITS, delta=0.01).fit(X)


def test_answers_are_exact_counts():
    rng = np.random.default_rng(0)
    queries = rng.integers(0, 2, (40, 1 << 10)).astype(np.uint8)
    counts = rng.integers(0, 10**9, 1 << 10)
    found = module._answers(queries, counts)
    np.testing.assert_array_equal(found, queries.astype(np.int64) @ counts)


def test_noise_is_that_of_the_scale():
    made = pure(2.0, 1)
    assert made.scale == 1 / Fraction(made.choice.epsilon)
    draws = {made._noise(as_random_source(i)) for i in range(40)}
    assert len(draws) > 3


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.1])
def test_noise_beyond_all_shares_still_leaves_a_distribution(epsilon, delta):
    for _ in range(3):
        model = MWEM(epsilon=epsilon, delta=delta, categories=BITS).fit(rows(20))
        assert np.all(np.isfinite(model.probabilities_))
        assert np.all(model.probabilities_ > 0.0)
        assert model.probabilities_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("value", [-1e300, -1.0, 2.0, 1e300])
def test_a_measurement_outside_0_and_1_is_no_more_than_the_end(value):
    queries, law = pair_queries((2, 2)), np.full(4, 0.25)
    end = min(max(value, 0.0), 1.0)
    np.testing.assert_array_equal(
        module._replayed(law, queries, [(0, value)]),
        module._replayed(law, queries, [(0, end)]),
    )


def test_an_epsilon_too_small_for_the_rounds_is_refused_by_its_own_name():
    with pytest.raises(ValueError, match="epsilon=1e-09 and n_rounds=10"):
        MWEM(epsilon=1e-9, categories=BITS).fit(rows(20))
