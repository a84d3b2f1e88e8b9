"""The public sequence q_m is the smallest there is, and its integers keep epsilon."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from exhaustive import epsilon_replace_one, histograms, law_by_mechanism, replaced
from scipy.optimize import linprog

import skdp.mechanisms._data_specific_roo as ds_roo
from skdp.accounting import PureDP
from skdp.mechanisms import DataSpecificROO
from skdp.mechanisms._rational_exponential import exp_below


def made(epsilon, k, n, **shape):
    target = PureDP(epsilon, adjacency="replace-one")
    return DataSpecificROO.calibrate(target, n_categories=k, n_rows=n, **shape)


PUBLISHED = [
    (12, 3, 0.7, [0.19782351, 0.06321437, 0, 0, 0]),
    (9, 3, 1.0, [0.16247362, 0, 0, 0]),
    (12, 4, 0.3, [0.48790569, 0.42154293, 0.22245466, 0]),
    (5, 2, 0.3, [0.46710180, 0.38420246, 0.25557483]),
    (8, 2, 0.3, [0.30492724, 0.21547830, 0.11122733, 0, 0]),
]


@pytest.mark.parametrize(("n", "k", "epsilon", "q"), PUBLISHED)
def test_the_sequence_is_the_published_one(n, k, epsilon, q):
    found = made(epsilon, k, n).obscure_probabilities
    np.testing.assert_allclose(found, q[: len(found)], atol=1e-8)
    assert not any(q[len(found) :])


@pytest.mark.parametrize(
    ("epsilon", "q", "end"),
    [
        (0.05, [], 33),
        (
            0.1,
            [
                0.078829,
                0.078033,
                0.076509,
                0.074316,
                0.071510,
                0.068139,
                0.064244,
                0.059865,
            ],
            17,
        ),
        (0.2, [], 8),
        (0.5, [0.013684, 0.010159, 0.004452, 0.0], 3),
        (1.0, [0.005210, 0.0], 1),
        (2.0, [], 1),
    ],
)
def test_nine_symbols_and_a_thousand_records(epsilon, q, end):
    found = made(epsilon, 9, 1000).obscure_probabilities
    np.testing.assert_allclose(found[: len(q)], q, atol=6e-7)
    assert np.flatnonzero(found)[-1] + 1 == end


def least_sequence(epsilon, k, n):
    """Minimise the sum of all q_m under every constraint of every pair, by an LP.

    If a pointwise smallest sequence exists, it is what minimises the sum.
    """
    table, growth = histograms(n, k), np.exp(epsilon)
    left, right = replaced(n, k)
    rows, bounds = set(), []
    for c, d in zip(table[left], table[right], strict=True):
        m, l = int(c.min()), int(d.min())
        for y in range(k):
            # P_m(c) <= E P_l(d), with P = q (1/k - c/n) + c/n
            rows.add((m, l, int(c[y]), int(d[y])))
    size = n // k + 1
    matrix = np.zeros((len(rows), size))
    for i, (m, l, a, b) in enumerate(sorted(rows)):
        matrix[i, m] += 1 / k - a / n
        matrix[i, l] -= growth * (1 / k - b / n)
        bounds.append(growth * b / n - a / n)
    found = linprog(np.ones(size), A_ub=matrix, b_ub=bounds, bounds=(0, 1))
    assert found.success
    return found.x


GRID = list(itertools.product([0.3, 1.0], [2, 3, 4], [3, 4, 5, 7, 8, 9, 12]))
FULL = list(
    itertools.product(
        [0.02, 0.1, 0.3, 0.7, 1.0, 2.0, 2.5, 4.0], [2, 3, 4, 5, 6], [*range(1, 13), 15]
    )
)


def _check_least(epsilon, k, n):
    q = made(epsilon, k, n).obscure_probabilities
    best = least_sequence(epsilon, k, n)
    q = np.append(q, np.zeros(len(best) - len(q)))
    # where all counts are equal, nothing is obscured whatever q is
    free = [m for m in range(len(q)) if k * m == n]
    q, best = np.delete(q, free), np.delete(best, free)
    np.testing.assert_allclose(q, best, atol=2e-7)


@pytest.mark.parametrize(("epsilon", "k", "n"), GRID)
def test_no_valid_sequence_is_smaller(epsilon, k, n):
    _check_least(epsilon, k, n)


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "k", "n"), FULL)
def test_no_valid_sequence_is_smaller_on_the_full_grid(epsilon, k, n):
    if (k, n) not in {(6, 15), (5, 15)}:
        _check_least(epsilon, k, n)


@pytest.mark.parametrize("bits", [3, 6, 12])
def test_a_coarse_grid_rounds_to_the_private_side(bits):
    from skdp.mechanisms._data_specific_roo import _recursion, _two_symbols

    for k, n, epsilon in itertools.product([2, 3, 4], [5, 8, 12], [0.3, 1.0]):
        most = exp_below(epsilon)
        try:
            found = (
                _two_symbols(most, bits, n) if k == 2 else _recursion(most, bits, k, n)
            )
            mechanism = replace(made(epsilon, k, n), obscured=tuple(found), bits=bits)
        except ValueError:
            assert k == 2  # a count of 0 cannot be rounded up above 1/2 of a grid
            continue
        exact = epsilon_replace_one(law_by_mechanism(mechanism), n, k)
        assert exact <= mechanism.guarantee.epsilon(0.0) + 1e-12
        if k > 2:
            assert mechanism.guarantee.epsilon(0.0) <= epsilon


@pytest.mark.parametrize(("k", "n"), [(2, 7), (2, 8), (3, 9), (3, 10), (4, 6), (5, 3)])
def test_the_certified_ratio_is_the_true_one_for_any_nonincreasing_sequence(k, n):
    rng = np.random.default_rng(0)
    for _ in range(30):
        if k == 2:
            rare = np.sort(rng.integers(1, 2**19, n // 2 + 1))
            if n % 2 == 0:
                rare[-1] = 2**19
            obscured = tuple(rare.tolist())
        else:
            obscured = np.sort(rng.integers(0, 2**20, n // k + 1))[::-1].tolist()
            obscured = (max(obscured[0], 1), *obscured[1:])
        mechanism = replace(made(1.0, k, n), obscured=tuple(obscured), bits=20)
        exact = epsilon_replace_one(law_by_mechanism(mechanism), n, k)
        assert exact <= mechanism.epsilon_per_draw + 1e-12


def test_a_sequence_that_increases_or_is_none_is_refused():
    good = made(0.3, 4, 12)
    for wrong in ((1, 2), (1 << 50,), (-1,), (0, 0)):
        with pytest.raises(ValueError, match="do not fit"):
            replace(good, obscured=wrong)
    with pytest.raises(ValueError, match="add-remove"):
        replace(good, n_rows=None, adjacency="add-remove")
    with pytest.raises(ValueError, match="do not fit"):
        replace(made(0.3, 2, 8), obscured=(1 << 39, (1 << 39) + 1))


def test_a_thousandth_less_obscuring_costs_more_than_epsilon():
    good = made(1.0, 3, 9)
    less = replace(good, obscured=(int(good.obscured[0] * 0.999), 0))
    assert less.guarantee.epsilon(0.0) == pytest.approx(1.000755, abs=1e-5)


def test_a_missing_symbol_counts_as_the_rarest():
    mechanism = made(1.0, 3, 9)
    weights = mechanism.weights(np.array([5, 4, 0]))
    q = mechanism.obscure_probabilities[0]
    assert weights[2] / weights.sum() == pytest.approx(q / 3, rel=1e-9)


def test_groups_and_draws_share_epsilon():
    mechanism = made(1.0, 3, 60, n_draws=4, group_size=3)
    assert mechanism.guarantee.epsilon(0.0) <= 1.0
    assert mechanism.epsilon_per_draw == pytest.approx(1 / 12, rel=1e-9)


def test_a_million_records_are_quick():
    mechanism = made(0.01, 9, 10**6)
    assert mechanism.guarantee.epsilon(0.0) <= 0.01
    weights = mechanism.weights(np.full(9, 10**6 // 9) + np.array([1] + [0] * 8))
    assert int(weights.sum()) > 0


def test_two_symbols_and_many_records_need_a_short_table():
    mechanism = made(0.1, 2, 10**6 + 1)
    assert len(mechanism.obscured) < 30
    assert 0.0999 < mechanism.guarantee.epsilon(0.0) <= 0.1
    for rare in (0, 7, 40, 500_000):
        weights = mechanism.weights(np.array([10**6 + 1 - rare, rare]))
        assert weights[1] / weights.sum() >= rare / (10**6 + 1)


def test_accuracy_is_that_of_equal_records():
    mechanism = made(1.0, 9, 1000)
    assert mechanism.accuracy_bound(1000) == pytest.approx(0.004631554543, abs=1e-10)
    with pytest.raises(ValueError, match="n_rows"):
        mechanism.accuracy_bound(999)


@pytest.mark.parametrize("n", [2 * 10**8, 10**9, 10**10, 10**12])
@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_the_guarantee_implies_the_target_for_very_many_records(epsilon, k, n):
    mechanism = made(epsilon, k, n)
    assert mechanism.guarantee.epsilon(0.0) <= epsilon
    for least in (0, 1, 5, n // (3 * k), n // k):
        counts = np.full(k, least)
        counts[-1] = n - (k - 1) * least
        weights = [int(w) for w in mechanism.weights(counts)]
        assert min(weights) > 0 or least == 0
        total = 2**mechanism.bits * (1 if k == 2 else k * n)
        assert sum(weights) == total


@pytest.mark.parametrize("k", [2, 3, 50])
@pytest.mark.parametrize("n", [1000, 10**7, 10**9, 10**15, 2**61])
@pytest.mark.parametrize(
    "epsilon", [0.01, 1e-3, pytest.param(1e-4, marks=pytest.mark.slow)]
)
def test_a_tiny_epsilon_is_kept_exactly_and_used_up(epsilon, k, n):
    """The certified ratio is an exact fraction, and so is the bound of exp(epsilon)."""
    mechanism = made(epsilon, k, n)
    assert mechanism._ratio() <= exp_below(epsilon)
    assert 0.99 * epsilon <= mechanism.guarantee.epsilon(0.0) <= epsilon
    assert len(mechanism.obscured) <= 2.1 / epsilon + 3


@pytest.mark.parametrize("k", [2, 3])
def test_a_table_that_is_too_long_is_refused_or_not_made(k, monkeypatch):
    monkeypatch.setattr(ds_roo, "_LONGEST", 2000)
    target = PureDP(1e-7, adjacency="replace-one")
    shape = {"n_categories": k, "n_rows": 10**12}
    assert DataSpecificROO.smallest(target, **shape) is None
    with pytest.raises(ValueError, match="RevealOrObscure"):
        DataSpecificROO.calibrate(target, **shape)
    assert DataSpecificROO.smallest(target, n_categories=k, n_rows=1000) is not None
