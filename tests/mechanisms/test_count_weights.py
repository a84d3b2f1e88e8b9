"""Profiles as tables of integers: privacy over all histograms, accuracy, accounting."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from exhaustive import (
    distances,
    epsilon_add_remove,
    epsilon_replace_one,
    histograms,
    law_by_mechanism,
    law_of,
    worst_distance,
)
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from skdp.accounting import PureDP
from skdp.mechanisms import (
    CountWeights,
    DataSpecificROO,
    RevealOrObscure,
    WeightTable,
)
from skdp.mechanisms._profiles import _majorant, _nearest, envelope, unit
from skdp.mechanisms._rational_exponential import exp_below, log_above
from skdp.mechanisms._weight_table import worst_ratio

LATTICES = [(2, 7), (3, 6), (3, 9), (4, 7), (5, 6), (3, 40), (4, 16), (5, 12)]
EPSILONS = [0.1, 0.2, 0.5, 1.0, 2.0, 3.0]
PROFILES = ["roo", "envelope", "minimax", "ds-roo"]


def made(profile, epsilon, k, n=None, **shape):
    """Return a mechanism of a profile; None where the profile has no table."""
    adjacency = "add-remove" if n is None else "replace-one"
    target = PureDP(epsilon, adjacency=adjacency)
    shape = {"n_categories": k, "n_rows": n, **shape}
    if profile == "roo":
        return RevealOrObscure.calibrate(target, **shape)
    if profile == "ds-roo":
        return DataSpecificROO.calibrate(target, **shape)
    return CountWeights.steepest(target, profile=profile, **shape)


def loss(guarantee):
    return guarantee.epsilon(0.0)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(("k", "n"), LATTICES)
def test_no_replacement_costs_more_than_epsilon_on_any_histogram(profile, k, n):
    for epsilon in EPSILONS:
        mechanism = made(profile, epsilon, k, n)
        if mechanism is None:
            continue
        exact = epsilon_replace_one(law_by_mechanism(mechanism), n, k)
        claimed = loss(mechanism.guarantee)
        assert exact <= claimed + 1e-12
        assert claimed <= epsilon
        if profile in {"roo", "ds-roo"}:
            assert exact == pytest.approx(epsilon, abs=1e-9)
        if profile == "envelope" and n * epsilon > 3:
            assert exact >= epsilon - 0.005


@pytest.mark.parametrize("profile", ["roo", "envelope", "minimax"])
@pytest.mark.parametrize(("k", "n"), LATTICES)
def test_no_addition_costs_more_than_epsilon_on_any_histogram(profile, k, n):
    for epsilon in EPSILONS:
        mechanism = made(profile, epsilon, k)
        exact = epsilon_add_remove(law_by_mechanism(mechanism), n, k)
        assert exact <= loss(mechanism.guarantee) + 1e-12
        assert loss(mechanism.guarantee) <= epsilon


@pytest.mark.parametrize("profile", ["roo", "envelope", "minimax"])
@pytest.mark.parametrize("moved", [2, 3])
def test_groups_are_covered(profile, moved):
    for (k, n), epsilon in itertools.product([(2, 10), (3, 8)], [0.5, 1.0, 2.0]):
        mechanism = made(profile, epsilon, k, group_size=moved)
        law = law_by_mechanism(mechanism)
        assert epsilon_add_remove(law, n, k, moved) <= loss(mechanism.guarantee) + 1e-12
        mechanism = made(profile, epsilon, k, n, group_size=moved)
        if mechanism is not None:
            law = law_by_mechanism(mechanism)
            exact = epsilon_replace_one(law, n, k, moved)
            assert exact <= loss(mechanism.guarantee) + 1e-12 <= epsilon + 1e-11


def test_a_group_costs_reveal_or_obscure_the_log_of_one_plus_its_size_times_the_rest():
    single = made("roo", 1.0, 3, 8)
    group = replace(single, group_size=5)
    assert loss(group.guarantee) == pytest.approx(2.260868, abs=1e-6)
    assert epsilon_replace_one(law_by_mechanism(group), 8, 3, 5) == pytest.approx(
        2.260868, abs=1e-6
    )


@pytest.mark.parametrize(
    ("moved", "start"),
    [(2, (1.4715, 0.7358, 0.2707)), (3, (2.2073, 1.1036, 0.4060))],
)
def test_the_envelope_of_groups_starts_where_published(moved, start):
    for epsilon, expected in zip((0.5, 1.0, 2.0), start, strict=True):
        table = made("envelope", epsilon, 3, group_size=moved).table
        assert table.at(0) / table.slope == pytest.approx(expected, abs=6e-5)


REFERENCE = [
    # n, k, eps, envelope: length, g(0), g(1), alpha; minimax: g(0), alpha
    (1000, 9, 0.1, 10, 3.70141608, 4.08819042, 0.02875972, 2.826123, 0.02210912),
    (1000, 9, 0.5, 2, 0.73652844, 1.21369555, 0.00585771, 0.548888, 0.00437191),
    (1000, 9, 1.0, 1, 0.36801483, 1.0, 0.00293548, 0.269098, 0.00214816),
    (1000, 9, 2.0, 1, 0.1353536, 1.0, 0.00108166, 0.119241, 0.00095302),
    (20, 3, 0.5, 2, 0.77527565, 1.24521134, 0.07194950, 0.622205, 0.05857587),
    (7, 2, 1.0, 1, 0.38828548, 1.0, 0.05255421, 0.298287, 0.04087084),
    (100, 5, 0.2, 5, 1.89469694, 2.30051889, 0.07044872, 1.498443, 0.05654834),
]


@pytest.mark.parametrize("case", REFERENCE, ids=str)
def test_the_tables_are_those_published(case):
    n, k, epsilon, length, g0, g1, alpha, t, minimax_alpha = case
    mechanism = made("envelope", epsilon, k, n)
    table = mechanism.table
    assert len(table.head) == length
    assert table.at(0) / table.slope == pytest.approx(g0, abs=1e-7)
    assert table.at(1) / table.slope == pytest.approx(g1, abs=1e-7)
    assert mechanism.accuracy_bound(n) == pytest.approx(alpha, abs=1e-8)
    assert loss(mechanism.guarantee) == pytest.approx(epsilon, abs=1e-9)
    mechanism = made("minimax", epsilon, k, n)
    table = mechanism.table
    assert table.at(0) / table.slope == pytest.approx(t, abs=1e-6)
    assert mechanism.accuracy_bound(n) == pytest.approx(minimax_alpha, abs=1e-8)


@pytest.mark.parametrize(
    ("n", "k", "epsilon", "exact"),
    [(20, 3, 0.5, 0.4996872305), (7, 2, 1.0, 1.0), (100, 5, 0.2, 0.1999241658)],
)
def test_the_exact_loss_of_the_envelope_is_the_published_one(n, k, epsilon, exact):
    mechanism = made("envelope", epsilon, k, n)
    if k == 5:  # four hundred thousand histograms: those with two symbols attain it
        found = two_symbol_loss(mechanism, n, k)
    else:
        found = epsilon_replace_one(law_by_mechanism(mechanism), n, k)
    assert found == pytest.approx(exact, abs=1e-7)


def two_symbol_loss(mechanism, n, k):
    """The formula for convex profiles: gainer i, loser j, the rest balanced or not."""
    g = [mechanism.table.at(j) / mechanism.table.slope for j in range(n + 2)]
    worst = 0.0
    for i in range(n):
        for j in range(1, n - i + 1):
            change = g[j] - g[j - 1] - (g[i + 1] - g[i])
            rest, cells = n - i - j, k - 2
            if change >= 0:
                q, r = divmod(rest, cells)
                others = r * g[q + 1] + (cells - r) * g[q]
            else:
                others = g[rest] + (cells - 1) * g[0]
            total = g[i] + g[j] + others
            worst = max(worst, math.log(g[i + 1] / g[i]) - math.log1p(-change / total))
    return worst


LARGE_N = [
    # eps, ROO, envelope, minimax, lower bound
    (0.05, 19.5042, 7.3576, 5.5683, 3.0878),
    (0.1, 9.5083, 3.6788, 2.7841, 1.5439),
    (0.2, 4.5167, 1.8394, 1.3889, 0.7707),
    (0.5, 1.5415, 0.7358, 0.5473, 0.3088),
    (1, 0.5820, 0.3679, 0.2689, 0.1447),
    (2, 0.1565, 0.1353, 0.1192, 0.0723),
    (3, 0.0524, 0.0498, 0.0474, 0.0333),
    (4, 0.0187, 0.0183, 0.0180, 0.0142),
]


@pytest.mark.parametrize("row", LARGE_N, ids=str)
def test_constants_for_many_records(row):
    epsilon, *expected, lower = row
    for profile, value in zip(("roo", "envelope", "minimax"), expected, strict=True):
        table = made(profile, float(epsilon), 9).table
        assert table.at(0) / table.slope == pytest.approx(value, abs=6e-5)
    # the limit of the bound for many symbols
    steps = range(1, min(200, int(700 / epsilon)))
    limit = max(j / (1 + math.exp(epsilon * j / 2)) ** 2 for j in steps)
    assert limit == pytest.approx(lower, abs=6e-5)
    assert expected[2] <= 2 * lower


def lower_bound(epsilon, n, k):
    """No sampler can be better than this on its worst data (docs/proofs)."""
    return max(
        (j / n) / (1 / (s + 1) + math.exp(min(epsilon * j, 700)) / (k - 1 - s))
        for s in range(k - 1)
        for j in range(1, min(n // (s + 1), int(40 / epsilon) + 2) + 1)
    )


WORST = [
    # k, n, eps, ROO, DS-ROO, envelope, minimax, lower bound and least of all samplers
    (2, 20, 0.5, 0.0668, 0.0368, 0.0373, 0.0301, 0.0274),
    (2, 20, 1, 0.0275, 0.0184, 0.0184, 0.0136, 0.0134),
    (2, 20, 2, 0.0077, 0.0068, 0.0068, 0.0060, 0.0060),
    (3, 12, 0.5, 0.1854, 0.1854, 0.1180, 0.1074, 0.0771),
    (3, 12, 1, 0.0847, 0.0847, 0.0595, 0.0448, 0.0355),
    (3, 12, 2, 0.0251, 0.0251, 0.0223, 0.0200, 0.0178),
    (3, 24, 0.5, 0.1077, 0.1077, 0.0602, 0.0484, 0.0386),
    (3, 24, 1, 0.0452, 0.0452, 0.0302, 0.0224, 0.0178),
    (3, 24, 2, 0.0128, 0.0128, 0.0112, 0.0100, 0.0089),
    (4, 12, 0.5, 0.2546, 0.2546, 0.1672, 0.1545, 0.1002),
    (4, 12, 1, 0.1219, 0.1219, 0.0867, 0.0659, 0.0481),
    (4, 12, 2, 0.0372, 0.0372, 0.0331, 0.0297, 0.0241),
]


@pytest.mark.parametrize("row", WORST, ids=str)
def test_the_worst_data_are_as_far_as_published_and_as_bounded(row):
    k, n, epsilon, *expected, lower = row
    for profile, value in zip(
        ("roo", "ds-roo", "envelope", "minimax"), expected, strict=True
    ):
        mechanism = made(profile, float(epsilon), k, n)
        found = worst_distance(law_by_mechanism(mechanism), n, k)
        assert found == pytest.approx(value, abs=6e-5)
        assert found <= mechanism.accuracy_bound(n) * (1 + 1e-9)
        assert found >= lower - 6e-5
    assert lower_bound(epsilon, n, k) == pytest.approx(lower, abs=6e-5)


def least_worst_distance(epsilon, n, k):
    """Return what the best of all samplers reaches on its worst data, by an LP.

    The problem does not change under renaming of symbols, so a best sampler exists that
    looks at a symbol's own count and at the multiset of all counts.
    """
    cells = {}

    def cell(counts, y):
        return cells.setdefault((tuple(sorted(counts)), counts[y]), len(cells))

    sorted_counts = sorted({tuple(sorted(c)) for c in histograms(n, k).tolist()})
    for c in sorted_counts:
        for y in range(k):
            cell(c, y)
    size = len(cells)  # probabilities, then distances of each, then the worst one
    at_most, bounds, equal = [], [], []
    for c in sorted_counts:
        total, distance = np.zeros(2 * size + 1), np.zeros(2 * size + 1)
        for y in range(k):
            i = cell(c, y)
            total[i] += 1
            distance[size + i] += 0.5
            for sign in (1.0, -1.0):
                row = np.zeros(2 * size + 1)
                row[i], row[size + i] = sign, -1.0
                at_most.append(row)
                bounds.append(sign * c[y] / n)
        distance[-1] = -1.0
        at_most.append(distance)
        bounds.append(0.0)
        equal.append(total)
        for a, b in itertools.permutations(range(k), 2):
            if c[a] == 0:
                continue
            moved = list(c)
            moved[a], moved[b] = moved[a] - 1, moved[b] + 1
            for y in range(k):
                row = np.zeros(2 * size + 1)
                row[cell(moved, y)] += 1.0
                row[cell(c, y)] -= math.exp(epsilon)
                at_most.append(row)
                bounds.append(0.0)
    goal = np.eye(2 * size + 1)[-1]
    found = linprog(
        goal, A_ub=at_most, b_ub=bounds, A_eq=equal, b_eq=np.ones(len(equal))
    )
    assert found.success
    return found.fun


@pytest.mark.parametrize("row", WORST, ids=str)
def test_no_sampler_at_all_is_better_than_the_bound_on_its_worst_data(row):
    k, n, epsilon, *_, minimax_, lower = row
    best = least_worst_distance(float(epsilon), n, k)
    assert best == pytest.approx(lower, abs=6e-5)
    assert minimax_ <= 2 * best


@pytest.mark.parametrize(
    ("k", "n", "epsilon", "exact"),
    [(3, 6, 1.0, 0.9999999226), (3, 8, 2.0, 1.9999999999), (4, 7, 1.0, 0.9999999685)],
)
def test_the_integers_of_the_envelope_lose_next_to_nothing(k, n, epsilon, exact):
    """At least what coarser tables were measured to use of epsilon."""
    law = law_by_mechanism(made("envelope", epsilon, k, n))
    assert exact - 1e-7 <= epsilon_replace_one(law, n, k) <= epsilon + 1e-12


@pytest.mark.parametrize(
    ("n", "k", "epsilon", "lower"),
    [
        (1000, 9, 0.1, 0.01388527),
        (1000, 9, 0.5, 0.00277705),
        (1000, 9, 1.0, 0.00128569),
        (1000, 9, 2.0, 0.00064285),
        (20, 3, 0.5, 0.04628423),
        (7, 2, 1.0, 0.0384202),
        (100, 5, 0.2, 0.03780242),
    ],
)
def test_the_minimax_profile_is_within_twice_the_lower_bound(n, k, epsilon, lower):
    assert lower_bound(epsilon, n, k) == pytest.approx(lower, abs=1e-8)
    assert made("minimax", epsilon, k, n).accuracy_bound(n) <= 2 * lower


@pytest.mark.parametrize("profile", ["roo", "envelope", "minimax"])
def test_accuracy_bounds_hold_on_every_histogram_of_any_size(profile):
    for epsilon, k in itertools.product([0.2, 0.5, 1.0, 2.0], [2, 3, 4]):
        mechanism = made(profile, epsilon, k)
        law = law_by_mechanism(mechanism)
        for n in (1, 2, 5, 11, 16):
            found = worst_distance(law, n, k)
            assert found <= mechanism.accuracy_bound(n) * (1 + 1e-12)


@pytest.mark.parametrize(("k", "n"), [(3, 24), (3, 40), (4, 16), (5, 12)])
def test_the_envelope_is_nowhere_worse_than_data_specific_obscuring(k, n):
    for epsilon in (0.2, 0.5, 1.0, 2.0, 3.0):
        if n * epsilon < 4.8:
            continue
        found, other = (
            distances(law_by_mechanism(made(profile, epsilon, k, n)), n, k)
            for profile in ("envelope", "ds-roo")
        )
        assert np.all(found <= other + 1e-9)


def test_dense_data_come_out_as_they_are():
    mechanism = made("envelope", 1.0, 3, 100)
    weights = mechanism.weights(np.array([60, 39, 1]))
    np.testing.assert_array_equal(weights * 100, weights.sum() * np.array([60, 39, 1]))


def test_weights_under_add_remove_do_not_know_the_number_of_records():
    for profile in ("roo", "envelope", "minimax"):
        assert made(profile, 1.0, 5).n_rows is None
        with pytest.raises(ValueError, match="private"):
            replace(made(profile, 1.0, 5), n_rows=10)


def test_fallback_to_reveal_or_obscure_is_decided_from_public_numbers():
    assert made("envelope", 0.1, 3, 5) is None
    assert made("envelope", 1e-6, 3) is None  # the table would be too long
    with pytest.raises(ValueError, match="RevealOrObscure"):
        CountWeights.calibrate(
            PureDP(0.1, adjacency="replace-one"),
            profile="minimax",
            n_categories=3,
            n_rows=5,
        )


def test_the_envelope_with_epsilon_unreduced_is_refused_under_replace_one():
    """The normaliser moves: at n = 9, k = 3 the loss would be 1.0401."""
    private = made("envelope", 1.0, 3)
    law = law_by_mechanism(private)
    assert epsilon_replace_one(law, 9, 3) == pytest.approx(1.0401, abs=1e-4)
    with pytest.raises(ValueError, match="more than epsilon"):
        replace(private, n_rows=9, adjacency="replace-one")


def test_the_obligation_of_convex_profiles_would_not_do_for_the_minimax_profile():
    """Slopes above 1 and counts below the line: k = 2, n = 3 would lose 1.142."""
    n, k, most = 3, 2, exp_below(1.0)
    slope = unit(1.0, k, n, 1)
    low, high = Fraction(1), most
    for _ in range(50):
        middle = (low + high) / 2
        if convex_obligation(_nearest(middle, slope, None), n) <= most:
            low = middle
        else:
            high = middle
    table = _nearest(low, slope, None)
    assert convex_obligation(table, n) <= most
    exact = epsilon_replace_one(lambda c: law_of(table(c)), n, k)
    assert exact == pytest.approx(1.1417, abs=2e-3)
    assert worst_ratio(table, k, n, 1) > most
    assert log_above(worst_ratio(table, k, n, 1)) >= exact


def convex_obligation(table, n):
    r = table.slope
    return max(
        Fraction(table.at(j + 1), table.at(j))
        * (1 + Fraction(max(0, r - (table.at(j + 1) - table.at(j))), n * r))
        for j in range(n)
    )


def test_an_envelope_rounded_down_is_refused():
    good = made("envelope", 1.0, 4)
    head = (good.table.at(0) - 1, *good.table.head[1:])
    with pytest.raises(ValueError, match="more than epsilon"):
        replace(good, table=replace(good.table, head=head))


@pytest.mark.parametrize(
    "wrong",
    [
        {"head": (0, 5), "slope": 4},
        {"head": (5, 4), "slope": 4},
        {"head": (9,), "slope": 4},
        {"head": (), "slope": 0, "intercept": 1},
        {"head": (), "slope": 4, "intercept": 0},
    ],
)
def test_weights_must_be_positive_and_nondecreasing(wrong):
    with pytest.raises(ValueError, match="do not fit"):
        WeightTable(**wrong)


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=6),
    st.integers(1, 5),
    st.integers(1, 12),
    st.integers(2, 4),
)
def test_the_ratio_bounds_every_nondecreasing_profile(steps, start, n, k):
    head = tuple(itertools.accumulate([start, *steps]))
    slope = max(steps[-1], 1, -(-head[-1] // len(head)))
    table = WeightTable(head, slope)
    law = lambda c: law_of(table(c))  # noqa: E731
    exact = epsilon_add_remove(law, min(n, 8), k)
    assert exact <= log_above(worst_ratio(table, k, None, 1)) + 1e-12
    if n * slope > k * table.depth:
        exact = epsilon_replace_one(law, n, k)
        assert exact <= log_above(worst_ratio(table, k, n, 1)) + 1e-12


def test_a_law_is_looked_up_as_the_mechanism_weighs():
    for profile in PROFILES:
        for k, n in [(2, 7), (2, 8), (3, 9)]:
            mechanism = made(profile, 0.5, k, n)
            if mechanism is None:
                continue
            table = histograms(n, k)
            expected = law_by_mechanism(mechanism)(table)
            found = law_of([mechanism.weights(c) for c in table])
            np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_draws_share_epsilon():
    single = made("envelope", 0.1, 9, 1000)
    ten = made("envelope", 1.0, 9, 1000, n_draws=10)
    assert ten.epsilon_per_draw == pytest.approx(single.epsilon_per_draw, rel=1e-9)
    assert loss(ten.guarantee) <= 1.0
    assert ten.accuracy_bound(1000) == pytest.approx(0.02876, abs=6e-6)


def test_large_weights_are_drawn_in_python_integers():
    from skdp.mechanisms._count_sampler import draw
    from skdp.random import as_random_source

    weights = np.array([1 << 70, 3 << 70], dtype=object)
    drawn = draw(weights, 4000, as_random_source(0))
    assert 0.7 < drawn.mean() < 0.8
    huge = made("envelope", 1.0, 3)
    assert huge.weights(np.array([2**40, 1, 0])).dtype == object


def test_a_profile_is_flat_enough_at_tiny_and_huge_epsilon():
    for epsilon in (1e-9, 1e-3, 30.0, 1000.0):
        for n in (None, 1, 10, 10**6):
            mechanism = made("roo", epsilon, 4, n)
            assert loss(mechanism.guarantee) <= epsilon
            assert mechanism.table.at(0) >= 1
            steep = made("envelope", epsilon, 4, n)
            assert steep is None or loss(steep.guarantee) <= epsilon


def test_tables_of_many_steps_are_quick():
    table = envelope(1e-4, 3, 10**6, 1)
    assert len(table.head) > 9000
    assert _majorant(Fraction(1), 4, 1, None) is None


def test_exp_is_bounded_from_below_and_log_from_above():
    import mpmath

    with mpmath.workdps(60):
        for epsilon in (1e-9, 1e-3, 0.1, 1.0, 3.7, 63.0):
            bound = exp_below(epsilon)
            exact = mpmath.exp(mpmath.mpf(epsilon))
            ratio = mpmath.mpf(bound.numerator) / bound.denominator
            assert ratio <= exact
            assert (exact - ratio) / (exact - 1) < 1e-20
            found = log_above(bound)
            assert found >= mpmath.log(ratio)
            assert found <= epsilon * (1 + 1e-13)
    assert exp_below(1000.0) == exp_below(64.0)
    assert log_above(Fraction(1 << 1100)) >= 1100 * math.log(2)
