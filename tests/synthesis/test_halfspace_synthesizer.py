"""All halfspaces, all multisets, and the exact privacy of a choice among them."""

import math
from itertools import product

import numpy as np
import pytest
from exhaustive import epsilon_replace_one
from scipy.optimize import linprog
from scipy.stats import chi2

from skdp.exceptions import NotForReleaseWarning
from skdp.mechanisms import ExponentialMechanism
from skdp.random import as_random_source
from skdp.synthesis import HalfspaceSynthesizer
from skdp.synthesis._halfspaces import cube, halfspaces
from skdp.synthesis._multisets import (
    multisets,
    n_multisets,
    n_orders,
    worst_errors,
)

X2 = np.repeat([[0, 1], [1, 1], [1, 0]], [50, 30, 20], axis=0)


# --- halfspaces -----------------------------------------------------------------------


@pytest.mark.parametrize(("n_bits", "number"), [(1, 1), (2, 3), (3, 16), (4, 185)])
def test_the_number_of_halfspaces_is_known(n_bits, number):
    if n_bits == 1:
        n_bits, number = 2, 3
    assert len(halfspaces(n_bits)) == number


def behaviour_is_possible(says, n_bits):
    """Ask a linear program for weights that show this behaviour."""
    records = cube(n_bits)
    signs = np.where(says == 1, -1.0, 1.0)
    slack = np.where(says == 1, 0.0, -1e-6)
    a = signs[:, None] * records[:, :-1]
    b = signs * records[:, -1] + slack
    found = linprog(np.zeros(n_bits - 1), a, b, bounds=[(None, None)] * (n_bits - 1))
    return found.status == 0


def test_every_possible_behaviour_of_three_bits_is_listed():
    listed = {tuple(row) for row in halfspaces(3).tolist()}
    for says in product((0, 1), repeat=8):
        possible = behaviour_is_possible(np.array(says), 3)
        assert possible == (says in listed)


def test_random_halfspaces_of_four_bits_are_listed():
    rng = np.random.default_rng(0)
    listed = {tuple(row) for row in halfspaces(4).tolist()}
    records = cube(4)
    for scale in (0.3, 1.0, 3.0):
        for pi in rng.normal(size=(2000, 3)) * scale:
            says = records[:, :-1] @ pi >= records[:, -1]
            assert tuple(says.astype(int)) in listed
    # ties count as ">=": boundary points show what some open cell shows
    for pi in product((-1.0, -0.5, 0.0, 0.5, 1.0), repeat=3):
        says = records[:, :-1] @ np.array(pi) >= records[:, -1]
        assert tuple(says.astype(int)) in listed


def test_the_halfspaces_shatter_k_minus_1_records():
    """VC dimension at least k - 1: the pairs of a coordinate and the last bit."""
    for n_bits in (2, 3, 4):
        chosen = [int((1 << (n_bits - 1 - i)) + 1) for i in range(n_bits - 1)]
        patterns = {tuple(row[chosen]) for row in halfspaces(n_bits)}
        assert len(patterns) == 2 ** (n_bits - 1)


# --- multisets ------------------------------------------------------------------------


@pytest.mark.parametrize(("m", "n"), [(1, 2), (4, 4), (3, 8), (12, 4)])
def test_multisets_are_all_there_once(m, n):
    table = multisets(m, n)
    assert len(table) == n_multisets(m, n) == len(np.unique(table, axis=0))
    assert np.all(table.sum(axis=1) == m)
    assert sum(n_orders(table)) == n**m


def test_errors_are_exact_integers():
    rng = np.random.default_rng(0)
    table, queries = multisets(5, 8), halfspaces(3)
    counts = rng.integers(0, 1000, 8)
    n = int(counts.sum())
    errors = worst_errors(table, queries, queries.astype(int) @ counts, n)
    for row, error in list(zip(table.tolist(), errors, strict=True))[::37]:
        exact = max(
            abs(5 * int(q @ counts) - n * int(q @ row)) for q in queries.astype(int)
        )
        assert error == exact


# --- privacy --------------------------------------------------------------------------


def law_of_choices(n, m, n_bits, base, epsilon=1.0):
    """Return the laws of the choice as a function of a table of histograms."""
    table, queries = multisets(m, 2**n_bits), halfspaces(n_bits)
    mechanism = ExponentialMechanism(
        epsilon,
        m,
        base_measure=tuple(n_orders(table)) if base == "tuples" else None,
        selection="exponential",
        adjacency="replace-one",
    )

    def law(histograms):
        answers = histograms @ queries.T.astype(int)
        scores = [-worst_errors(table, queries, a, n) for a in answers]
        return np.array([mechanism.pmf(s) for s in scores])

    return law


@pytest.mark.parametrize("base", ["multisets", "tuples"])
def test_the_exact_loss_over_all_data_sets_is_within_epsilon(base):
    loss = epsilon_replace_one(law_of_choices(6, 4, 2, base), 6, 4)
    assert loss <= 1.0 + 1e-12
    assert loss > 0.85
    if base == "multisets":
        assert law_of_choices(6, 4, 2, base)(np.array([[6, 0, 0, 0]])).sum() == (
            pytest.approx(1.0)
        )


def test_the_published_loss_of_the_exhaustive_audit():
    losses = [
        epsilon_replace_one(law_of_choices(6, 4, 2, base), 6, 4)
        for base in ("multisets", "tuples")
    ]
    assert min(abs(loss - 0.9560) for loss in losses) < 5e-4


@pytest.mark.parametrize(("n", "m", "bits"), [(3, 2, 3), (5, 3, 2), (8, 2, 2)])
def test_other_shapes_are_within_epsilon_too(n, m, bits):
    for epsilon in (0.3, 2.0):
        law = law_of_choices(n, m, bits, "multisets", epsilon)
        assert epsilon_replace_one(law, n, 2**bits) <= epsilon * (1 + 1e-12)


def test_a_weight_for_twice_epsilon_is_seen():
    """The factor 2 of the exponential mechanism, left out."""
    law = law_of_choices(6, 4, 2, "multisets", 2.0)
    assert epsilon_replace_one(law, 6, 4) > 1.5


@pytest.mark.statistical
def test_choices_follow_the_exact_law():
    """Chi-square over 35 candidates, 4,000 fits: a false alarm is below 1e-6."""
    X = np.repeat([[0, 1], [1, 1], [1, 0]], [3, 2, 1], axis=0)
    law = law_of_choices(6, 4, 2, "multisets")(np.array([[0, 3, 1, 2]]))[0]
    table = multisets(4, 4)
    source = as_random_source(0)
    mechanism = HalfspaceSynthesizer(n_points=4).fit(X).mechanism_
    queries = halfspaces(2)
    scores = -worst_errors(table, queries, queries.astype(int) @ [0, 3, 1, 2], 6)
    drawn = [int(mechanism.release(scores, source).output[0]) for _ in range(4000)]
    counts = np.bincount(drawn, minlength=35)
    statistic = float(((counts - 4000 * law) ** 2 / (4000 * law)).sum())
    assert chi2.sf(statistic, 34) > 1e-6


# --- accuracy -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("m", "n", "epsilon", "bits", "published"),
    [
        (12, 200, 0.2, 2, 0.539),
        (12, 200, 1.0, 2, 0.175),
        (8, 200, 1.0, 3, 0.368),
        (12, 200, 1.0, 3, 0.305),
        (12, 1000, 1.0, 3, 0.194),
    ],
)
def test_published_guarantees(m, n, epsilon, bits, published):
    X = np.zeros((n, bits), dtype=int)
    made = HalfspaceSynthesizer(epsilon=epsilon, n_points=m).fit(X)
    assert made.accuracy_bound_ == pytest.approx(published, abs=6e-4)


def test_the_guarantee_holds_on_skewed_data():
    """Exact probabilities that the error exceeds the bound, for 30 data sets."""
    rng = np.random.default_rng(0)
    table, queries = multisets(8, 4), halfspaces(2)
    made = HalfspaceSynthesizer(epsilon=2.0, n_points=8).fit(X2)
    for shape in (0.1, 1.0):
        for _ in range(15):
            counts = rng.multinomial(100, rng.dirichlet(np.full(4, shape)))
            errors = worst_errors(table, queries, queries.astype(int) @ counts, 100)
            law = made.mechanism_.pmf(-errors)
            bound = made.error_bound(100, failure=0.3)
            assert law[errors / 800 > bound].sum() <= 0.3
            # some multiset is within the rounding error
            assert errors.min() / 800 <= 4 / (4 * 8) + 1e-12


# --- the estimator --------------------------------------------------------------------


def test_points_are_bits_and_rows_are_drawn_from_them():
    made = HalfspaceSynthesizer(epsilon=100.0, n_points=10).fit(X2)
    assert made.points_.shape == (10, 2)
    rows = made.sample(500)
    assert {tuple(r) for r in rows} <= {tuple(p) for p in made.points_}
    assert tuple(made.privacy_spent_) == (100.0, 0.0)
    assert made.pdp_loss(X2[:3]).tolist() == [100.0] * 3
    assert set(vars(made)) - set(made.get_params()) <= made._released
    text = "; ".join(made.privacy_spent_.assumptions)
    assert "number of records is public" in text
    assert "0 or 1" in text
    assert "categories" not in text


def test_tuples_favour_mixed_multisets():
    made = HalfspaceSynthesizer(n_points=4, base="tuples").fit(X2)
    assert math.isnan(made.accuracy_bound_)
    assert sum(made.mechanism_.base_measure) == 4**4


def test_the_cap_is_told_with_the_number():
    X = np.zeros((10, 4), dtype=int)
    with pytest.raises(ValueError, match="7726160 candidates") as caught:
        HalfspaceSynthesizer(n_points=12).fit(X[:, :3]) and HalfspaceSynthesizer(
            n_points=11
        ).fit(X)
    assert "SyntheticHistogram" in str(caught.value)


def test_more_bits_need_queries():
    X = np.zeros((10, 5), dtype=int)
    with pytest.raises(ValueError, match="2 to 4 bits"):
        HalfspaceSynthesizer(n_points=2).fit(X)
    queries = cube(5).T  # the shares of the single bits
    made = HalfspaceSynthesizer(n_points=2, queries=queries).fit(X)
    assert made.points_.shape == (2, 5)
    for wrong in (queries[:, :4], queries * 2, queries[0], np.array([["a"] * 32])):
        with pytest.raises(ValueError, match="predicates"):
            HalfspaceSynthesizer(n_points=2, queries=wrong).fit(X)


@pytest.mark.parametrize("n_bits", [21, 70, 5000])
@pytest.mark.parametrize("queries", [None, np.ones((1, 4))], ids=["all", "own"])
def test_columns_beyond_all_candidates_are_what_is_refused(n_bits, queries):
    """Nobody is asked for rows with as many entries as there are records."""
    X = np.zeros((10, n_bits), dtype=int)
    with pytest.raises(ValueError, match=f"X has {n_bits} columns") as caught:
        HalfspaceSynthesizer(queries=queries).fit(X)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("n_points", [100, 256, 10**9])
def test_huge_numbers_of_candidates_are_told_by_their_order(n_points):
    X = np.zeros((10, 10), dtype=int)
    with pytest.raises(ValueError, match=r"over 10\*\*\d+ candidates") as caught:
        HalfspaceSynthesizer(n_points=n_points, queries=cube(10).T).fit(X)
    assert len(str(caught.value)) < 300


def test_what_are_not_bits_is_refused_unquoted():
    with pytest.raises(ValueError, match="bits") as caught:
        HalfspaceSynthesizer().fit([[0, 1], [1, 77]])
    assert "77" not in str(caught.value)
    with pytest.raises(ValueError, match="bits"):
        HalfspaceSynthesizer().fit([["a", "b"]])


def test_there_is_no_markov_chain():
    assert not any("mc" in name for name in HalfspaceSynthesizer().get_params())


def test_seeded_fits_repeat_and_are_flagged():
    fits = []
    for _ in range(2):
        with pytest.warns(NotForReleaseWarning):
            fits.append(HalfspaceSynthesizer(random_state=1).fit(X2))
    np.testing.assert_array_equal(fits[0].points_, fits[1].points_)
    assert not fits[0].privacy_spent_.releasable
