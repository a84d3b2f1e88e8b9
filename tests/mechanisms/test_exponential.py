"""Selection by private scores: laws, guarantees, exactness, and what is refused."""

import dataclasses
import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import lambertw
from scipy.stats import chisquare

from skdp.accounting import (
    Adjacency,
    PureDP,
    Simultaneous,
    ZeroConcentratedDP,
    compose,
)
from skdp.exceptions import NotForReleaseWarning
from skdp.mechanisms import ExponentialMechanism
from skdp.random import as_random_source
from skdp.random._exponents import ERROR

LAWS = ("exponential", "permute-and-flip")
EPSILONS = (0.1, 1.0, 3.0)


def permute_and_flip_by_hand(p):
    """Walk all orders: the first raised flag wins; whoever is best raises it."""
    total = np.zeros(len(p))
    orders = list(itertools.permutations(range(len(p))))
    for order in orders:
        still = 1.0
        for r in order:
            total[r] += still * p[r]
            still *= 1 - p[r]
    return total / len(orders)


def exponential_by_hand(q, coefficient):
    """Weights in rational exponents, at the precision of Python's floats."""
    weights = [math.exp(coefficient * (s - max(q))) for s in q]
    return np.array(weights) / math.fsum(weights)


# --- laws -----------------------------------------------------------------------------


def test_published_probabilities():
    scores = (3, 2.5, 0, 1)
    np.testing.assert_allclose(
        ExponentialMechanism(1.0, 1).pmf(scores),
        [0.47990076, 0.31801459, 0.07424924, 0.12783541],
        atol=5e-9,
    )
    np.testing.assert_allclose(
        ExponentialMechanism(1.0, 1, selection="exponential").pmf(scores),
        [0.42197469, 0.32863422, 0.09415528, 0.15523581],
        atol=5e-9,
    )


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_permute_and_flip_is_the_walk_through_a_random_order(n):
    rng = np.random.default_rng(n)
    for scale in (0.3, 3.0, 40.0):
        q = scale * rng.random(n)
        law = ExponentialMechanism(2.0, 1).pmf(q)
        by_hand = permute_and_flip_by_hand(np.exp(q - q.max()))
        np.testing.assert_allclose(law, by_hand, rtol=1e-12)


def test_permute_and_flip_is_the_race_of_exponential_noise():
    """Two candidates: the difference of two exponential variables is Laplace."""
    for gap in (0.0, 0.7, 5.0):
        law = ExponentialMechanism(2.0, 1).pmf([gap, 0.0])
        assert law[1] == pytest.approx(math.exp(-gap) / 2, rel=1e-13)


@pytest.mark.parametrize("n", [255, 256, 257, 3000])
def test_the_law_of_many_candidates_has_total_one_and_full_accuracy(n):
    q = np.sort(np.random.default_rng(0).exponential(3.0, n))
    law = ExponentialMechanism(2.0, 1).pmf(q)
    assert law.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.all(np.diff(law) >= 0)
    # equal candidates: each is as likely as the others, however many
    equal = ExponentialMechanism(2.0, 1).pmf(np.zeros(n))
    np.testing.assert_allclose(equal, 1 / n, rtol=1e-12)


def test_weights_far_below_the_range_of_floats_do_not_disturb():
    """The best candidate has measure 0, so shifting by the largest score is no help."""
    mechanism = ExponentialMechanism(2.0, 1, base_measure=(0, 1, 1))
    law = mechanism.pmf([0, -500, -1200])
    assert law[0] == 0.0
    assert law[1] == 1.0
    assert law[2] == pytest.approx(9.86e-305, rel=1e-3)
    source = as_random_source(0)
    assert mechanism.release([0, -500, -1200], source).output == [1.0]


@pytest.mark.parametrize("selection", LAWS)
@pytest.mark.parametrize("exact", [True, False])
def test_extreme_scores_ties_and_single_candidates_work(selection, exact):
    m = ExponentialMechanism(2.0, 1, selection=selection, exact=exact)
    source = as_random_source(0)
    for scores in ([1e6, -1e6], [1e308, -1e308], [5e-324, -1e300], [2**70, 0]):
        assert m.release(scores, source).output == [0.0]
    assert m.release([7.0], source).output == [0.0]
    assert {m.release([4, 4], source).output[0] for _ in range(60)} == {0.0, 1.0}
    many = m.release(np.zeros(10**5), source).output[0]
    assert 0 <= many < 10**5


@pytest.mark.statistical
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("law", [*LAWS, "measure"])
def test_draws_follow_the_law(law, exact, many):
    """False alarm 1e-8 each: a chi-square test of up to 10,000 draws."""
    scores = np.array([3, 2.5, 0, 1, 2.9])
    measure = [3, 0, 1, 2, 1]
    n = 10_000 if exact else 3_000
    if many:
        rng = np.random.default_rng(3)
        scores, measure = rng.normal(0, 2, 90).round(3), rng.integers(0, 4, 90)
        n = 2_500
    options = {"base_measure": measure} if law == "measure" else {"selection": law}
    m = ExponentialMechanism(1.0, 1, exact=exact, **options)
    source = as_random_source(17)
    draws = [int(m.release(scores, source).output[0]) for _ in range(n)]
    counts, expected = np.bincount(draws, minlength=scores.size), n * m.pmf(scores)
    assert np.all(counts[expected == 0] == 0)
    # rare candidates count as one
    group = np.where(expected > 5, np.arange(scores.size), scores.size)
    counts, expected = (np.bincount(group, weights=w) for w in (counts, expected))
    some = expected > 0
    assert chisquare(counts[some], expected[some]).pvalue > 1e-8


# --- guarantees -----------------------------------------------------------------------


def parts(mechanism):
    g = mechanism.guarantee
    assert isinstance(g, Simultaneous)
    pure, concentrated = g.parts
    assert isinstance(pure, PureDP)
    assert isinstance(concentrated, ZeroConcentratedDP)
    return pure.epsilon_bound, concentrated.rho


def renyi(p, q, order):
    return math.log(np.sum(p**order * q ** (1 - order))) / (order - 1)


def test_published_constants_of_concentrated_privacy():
    """Scores (0, 0) against (1, -1) at epsilon 2."""
    em = ExponentialMechanism(2.0, 1, selection="exponential")
    pf = ExponentialMechanism(2.0, 1, selection="permute-and-flip")
    assert parts(em) == (2.0, 0.5)
    assert parts(pf)[1] == pytest.approx(1.5232, abs=5e-5)
    for m, published in ((em, 0.8676), (pf, 1.3769)):
        p, q = m.pmf([0, 0]), m.pmf([1, -1])
        found = max(renyi(p, q, 2), renyi(q, p, 2))
        assert found == pytest.approx(published, abs=5e-5)
        assert found <= 2 * parts(m)[1]
    # permute-and-flip is not of bounded range: a charge of epsilon^2 / 8 is too little
    assert max(renyi(pf.pmf([1, -1]), pf.pmf([0, 0]), 2), 1.3768) > 2 * 0.5


def test_the_ledger_adds_each_law_by_its_own_rule():
    em = ExponentialMechanism(1.0, 1, selection="exponential").guarantee
    total = compose(*[em] * 10)
    assert total.epsilon(0.0) == pytest.approx(10.0)
    ten = ZeroConcentratedDP(10 / 8)
    assert total.epsilon(1e-6) <= ten.epsilon(1e-6) * (1 + 1e-12)
    pf = ExponentialMechanism(1.0, 1).guarantee
    assert compose(*[pf] * 10).epsilon(1e-6) > total.epsilon(1e-6)


def neighbours(monotone, far):
    """Scores on a small lattice, and every move of size at most one of each."""
    moves = (0, 1) if monotone else (-1, 0, 1)
    for n in (2, 3, 4):
        for rest in itertools.product((0, 1, 3, far), repeat=n - 1):
            q = np.array([0, *rest])
            for move in itertools.product(moves, repeat=n):
                yield q, q + np.array(move)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("law", LAWS)
def test_every_pair_on_a_lattice_of_scores_is_within_the_guarantee(
    law, monotone, epsilon
):
    """Loss, range of the loss, and Renyi divergences, by enumeration."""
    m = ExponentialMechanism(epsilon, 1, monotone=monotone, selection=law)
    c = float(m.coefficient)
    assert c == pytest.approx(epsilon / (1 if monotone else 2))
    known, worst, widest = {}, 0.0, 0.0

    def law_of(q):
        key = tuple(sorted(q - q.max()))
        if key not in known:
            values, where = np.unique(key, return_index=True)
            known[key] = dict(zip(values, m.pmf(np.array(key))[where], strict=True))
        return np.array([known[key][s] for s in q - q.max()])

    _, rho = parts(m)
    # one candidate far below the others nearly attains the bound
    for left, right in neighbours(monotone, far=math.ceil(6 / c)):
        p, q = law_of(left), law_of(right)
        loss = np.log(p / q)
        worst = max(worst, np.abs(loss).max())
        widest = max(widest, np.ptp(loss))
        for order in (2, 8):
            assert max(renyi(p, q, order), renyi(q, p, order)) <= order * rho * (
                1 + 1e-9
            )
    assert worst <= epsilon * (1 + 1e-9)
    assert worst >= 0.97 * epsilon
    if law == "exponential":
        assert widest <= epsilon * (1 + 1e-9)
    else:
        assert widest >= 1.05 * epsilon


def histograms(n, k):
    return [c for c in itertools.product(range(n + 1), repeat=k) if sum(c) == n]


def counts_audit(mechanism, n, k, adjacency):
    """Return the largest loss over all data sets of n symbols of k, and neighbours."""
    worst = 0.0
    for c in histograms(n, k):
        p = mechanism.pmf(c)
        for b in range(k):
            more = [x + (r == b) for r, x in enumerate(c)]
            if adjacency == "add-remove":
                worst = max(worst, np.abs(np.log(p / mechanism.pmf(more))).max())
                continue
            for a in np.flatnonzero(c):
                moved = [x - (r == a) for r, x in enumerate(more)]
                worst = max(worst, np.abs(np.log(p / mechanism.pmf(moved))).max())
    return worst


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("n", "k"), [(0, 2), (4, 2), (5, 3), (3, 4)])
def test_counts_of_all_small_data_sets_are_private(law, n, k):
    adding = ExponentialMechanism(1.0, 1, monotone=True, selection=law)
    assert counts_audit(adding, n, k, "add-remove") <= 1 + 1e-9
    replacing = ExponentialMechanism(1.0, 1, selection=law, adjacency="replace-one")
    assert counts_audit(replacing, n, k, "replace-one") <= 1 + 1e-9


def test_the_monotone_coefficient_under_replace_one_would_cost_twice():
    """Published values for six rows of three symbols."""
    halved = ExponentialMechanism(1.0, 1, selection="exponential")
    wrong = ExponentialMechanism(1.0, 1, selection="exponential", monotone=True)
    assert counts_audit(wrong, 6, 3, "replace-one") == pytest.approx(1.9802, abs=5e-5)
    assert counts_audit(halved, 6, 3, "replace-one") == pytest.approx(0.8982, abs=5e-5)
    with pytest.raises(ValueError, match="both ways"):
        ExponentialMechanism(1.0, 1, monotone=True, adjacency="replace-one")


@pytest.mark.parametrize("law", LAWS)
def test_a_private_median_needs_one_half_of_one_and_the_whole_of_the_other(law):
    """All data sets of up to four rows on a grid; one half is too little to replace."""
    grid = np.arange(4)

    def scores(rows):
        below = (np.array(rows, dtype=int)[:, None] <= grid).sum(axis=0)
        return -np.abs(below - len(rows) / 2)

    def largest_loss(mechanism, pairs):
        laws = {}
        for rows in {rows for pair in pairs for rows in pair}:
            laws[rows] = np.log(mechanism.pmf(scores(rows)))
        return max(np.abs(laws[a] - laws[b]).max() for a, b in pairs)

    tables = [t for n in range(4) for t in itertools.product(range(4), repeat=n)]
    adding = [(t, (*t, z)) for t in tables for z in range(4)]
    replacing = [((*t, y), (*t, z)) for t in tables for y in range(4) for z in range(4)]
    half, whole = (
        ExponentialMechanism(2.0, s, selection=law) for s in (Fraction(1, 2), 1)
    )
    assert largest_loss(half, adding) <= 2.0 * (1 + 1e-9)
    assert largest_loss(whole, replacing) <= 2.0 * (1 + 1e-9)
    assert largest_loss(half, replacing) > 2.1


def test_a_utility_of_density_exp_epsilon_q_over_delta_would_cost_twice():
    """Five candidates, all patterns of plus and minus the sensitivity."""
    m = ExponentialMechanism(1.0, 1, selection="exponential")
    twice = ExponentialMechanism(2.0, 1, selection="exponential")
    q = np.array([0.0, 6.0, 6.0, 6.0, 7.0])
    worst = [0.0, 0.0]
    for signs in itertools.product((-1, 1), repeat=5):
        for i, mechanism in enumerate((m, twice)):
            loss = np.log(mechanism.pmf(q) / mechanism.pmf(q + signs))
            worst[i] = max(worst[i], np.abs(loss).max())
    assert worst[0] <= 1 + 1e-12
    assert worst[1] > 1.9


@pytest.mark.parametrize("law", LAWS)
def test_the_expected_shortfall_at_its_worst(law):
    """All others share one gap; the worst gap is known for the exponential law."""
    published = {
        2: (0.2778, 0.1839),
        10: (1.0985, 0.8906),
        100: (2.6284, 2.4272),
        1000: (4.4203, 4.2611),
    }
    m = ExponentialMechanism(2.0, 1, selection=law)  # one nat a unit
    for n in (2, 10, 100, 1000):
        shortfalls = [
            float(m.pmf([g, *[0] * (n - 1)])[0]) * -g + g
            for g in np.arange(0.2, 9, 0.2)
        ]
        worst = max(shortfalls)
        assert worst == pytest.approx(published[n][LAWS.index(law)], rel=6e-3)
        if law == "exponential":
            assert worst <= lambertw((n - 1) / math.e).real + 1e-12
        assert worst <= m.utility_bound(n)


def test_permute_and_flip_is_never_worse_than_exponential():
    rng = np.random.default_rng(1)
    for _ in range(200):
        q = rng.exponential(rng.uniform(0.1, 5), rng.integers(2, 9))
        em, pf = (
            ExponentialMechanism(1.0, 1, selection=law).pmf(q) @ q for law in LAWS
        )
        assert pf >= em - 1e-12


# --- exactness ------------------------------------------------------------------------


def test_the_coefficient_is_the_exact_quotient():
    """A rounded reciprocal of 3 * 0.1 would promise more than was asked."""
    for epsilon in (0.1, 1.0, 1 / 3, 7.7):
        for sensitivity in (0.1, 3, Fraction(1, 7), 1e-7):
            m = ExponentialMechanism(epsilon, sensitivity)
            assert m.coefficient * 2 * Fraction(sensitivity) == Fraction(epsilon)
            assert isinstance(m.coefficient, Fraction)
    fast = ExponentialMechanism(1.0, 1, exact=False)
    assert fast.coefficient == Fraction(1, 2) - Fraction(1, 2**36)


def test_scores_count_as_the_exact_numbers_they_are():
    """1e16 + 1 is no float, but it is an integer."""
    m = ExponentialMechanism(2.0, 1, selection="exponential")
    law = m.pmf([10**16, 10**16 + 1])
    assert law[1] == pytest.approx(math.e / (1 + math.e))
    law = m.pmf(np.array([2**63, 2**63 + 1], dtype=np.uint64))
    assert law[1] == pytest.approx(math.e / (1 + math.e))
    law = m.pmf([Fraction(1, 3), 1.0, 0])
    expected = exponential_by_hand([1 / 3, 1.0, 0.0], 1.0)
    np.testing.assert_allclose(law, expected, rtol=1e-14)
    np.testing.assert_array_equal(
        m.pmf(np.array([1.5, 0.1], dtype=np.float32)),
        m.pmf([1.5, float(np.float32(0.1))]),
    )


def test_kinds_of_numbers_make_no_difference_to_a_choice():
    kinds = ([3, 1, 2], [3.0, 1.0, 2.0], [Fraction(3), Fraction(1), Fraction(2)])
    for selection in LAWS:
        m = ExponentialMechanism(1.0, 1, selection=selection)
        for seed in range(20):
            choices = {
                m.release(kind, as_random_source(seed)).output[0] for kind in kinds
            }
            assert len(choices) == 1


# --- parameters and input ----------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"epsilon": 0.0}, ValueError, "epsilon"),
        ({"epsilon": math.nan}, ValueError, "epsilon"),
        ({"epsilon": "1"}, TypeError, "epsilon"),
        ({"epsilon": True}, TypeError, "epsilon"),
        ({"epsilon": 1e4}, ValueError, "epsilon"),
        ({"sensitivity": -1}, ValueError, "sensitivity"),
        ({"sensitivity": 0}, ValueError, "sensitivity"),
        ({"sensitivity": math.inf}, ValueError, "sensitivity"),
        ({"sensitivity": None}, TypeError, "sensitivity"),
        ({"monotone": "yes"}, ValueError, "monotone"),
        ({"exact": None}, ValueError, "exact"),
        ({"selection": "gumbel"}, ValueError, "selection"),
        ({"adjacency": "swap"}, ValueError, "adjacency"),
        ({"base_measure": (0, 0)}, ValueError, "base_measure"),
        ({"base_measure": (-1, 2)}, ValueError, "base_measure"),
        ({"base_measure": (math.nan, 2)}, ValueError, "base_measure"),
        ({"base_measure": (math.inf, 2)}, ValueError, "base_measure"),
        ({"base_measure": (1, "2")}, ValueError, "base_measure"),
        ({"base_measure": (True, 2)}, ValueError, "base_measure"),
        ({"base_measure": 3}, ValueError, "base_measure"),
        ({"base_measure": (2**62, 2**62)}, ValueError, "too large"),
        (
            {"base_measure": (1, 1), "selection": "permute-and-flip"},
            ValueError,
            "no base measure",
        ),
        ({"score_range": (1, 0)}, ValueError, "score_range"),
        ({"score_range": (0, math.inf)}, ValueError, "score_range"),
        ({"score_range": 1}, ValueError, "score_range"),
        ({"score_range": ("a", 1)}, TypeError, "score_range"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(options, error, match):
    with pytest.raises(error, match=match):
        ExponentialMechanism(**({"epsilon": 1.0, "sensitivity": 1} | options))


def test_numpy_numbers_are_numbers():
    m = ExponentialMechanism(
        np.float32(1.0), np.int64(2), base_measure=np.array([1, 2])
    )
    assert (m.epsilon, m.sensitivity, m.base_measure) == (1.0, 2, (1, 2))
    assert m.law == "exponential"
    assert ExponentialMechanism(1, Fraction(4, 2)) == ExponentialMechanism(1.0, 2)
    third = ExponentialMechanism(1.0, 1, base_measure=(Fraction(1, 3), 0.5))
    assert third.base_measure == (2, 3)


class Untouchable:
    """A source that must not be asked."""

    seeded = False

    def bytes(self, n):
        raise AssertionError("randomness was drawn before the check")


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("as_object", [False, True])
def test_scores_that_are_not_finite_are_refused_before_any_draw(bad, as_object):
    scores = [1.0, bad, 77.125]
    if as_object:
        scores = np.array(scores, dtype=object)
    m = ExponentialMechanism(1.0, 1)
    with pytest.raises(ValueError, match="finite") as caught:
        m.release(scores, Untouchable())
    assert "77" not in str(caught.value)


@pytest.mark.parametrize(
    "scores", [["a", "b"], [1, None], [1j, 2], [True, False], [[1], [2, 3]], [1, "2"]]
)
def test_what_is_not_a_number_is_refused(scores):
    with pytest.raises((TypeError, ValueError)):
        ExponentialMechanism(1.0, 1).release(scores, Untouchable())


@pytest.mark.parametrize("scores", [[], [[1, 2]], 3.0])
def test_what_is_not_a_vector_is_refused(scores):
    with pytest.raises(ValueError, match="vector"):
        ExponentialMechanism(1.0, 1).release(scores, Untouchable())


@pytest.mark.parametrize("kind", [float, object])
def test_a_range_of_scores_clamps_and_takes_nan_for_its_lower_end(kind):
    m = ExponentialMechanism(2.0, 1, score_range=(-1, 2))
    wild = np.array([math.nan, math.inf, -math.inf, 0.5, 9.0], dtype=kind)
    np.testing.assert_array_equal(m.pmf(wild), m.pmf([-1, 2, -1, 0.5, 2]))
    np.testing.assert_array_equal(m.pmf([10**400, -(10**400)]), m.pmf([2, -1]))
    notes = m.guarantee.assumptions
    assert not any("finite" in note for note in notes)
    assert any(
        "finite" in n for n in ExponentialMechanism(1.0, 1).guarantee.assumptions
    )


def test_the_number_of_candidates_must_fit():
    m = ExponentialMechanism(1.0, 1, base_measure=(1, 2))
    with pytest.raises(ValueError, match="differ in length"):
        m.select([1, 2, 3])
    with pytest.raises(ValueError, match="differ in length"):
        ExponentialMechanism(1.0, 1).select([1, 2], candidates="abc")


def test_select_returns_the_candidate_or_its_index():
    m = ExponentialMechanism(8.0, 1)
    assert m.select([0, 400]) == 1
    assert isinstance(m.select([0, 400]), int)
    assert m.select([0, 400], candidates=["no", "yes"]) == "yes"
    assert m.select(np.array([0, 400]), candidates=np.array([2.5, 3.5])) == 3.5


def test_a_seeded_choice_repeats_and_warns():
    m = ExponentialMechanism(1.0, 1)
    choices = []
    for _ in range(2):
        with pytest.warns(NotForReleaseWarning, match="not for release"):
            choices.append([m.select(range(50), random_state=4)])
    assert choices[0] == choices[1]
    assert len({m.select(np.zeros(1000)) for _ in range(5)}) > 1


def test_the_law_is_chosen_without_a_look_at_the_scores():
    plain = ExponentialMechanism(1.0, 1)
    assert plain.law == "permute-and-flip"
    for scores in ([0] * 9, [9] + [0] * 8):
        plain.release(scores, as_random_source(0))
        assert plain.law == "permute-and-flip"
    assert ExponentialMechanism(1.0, 1, base_measure=[1, 1]).law == "exponential"


def test_a_mechanism_holds_public_numbers_only():
    m = ExponentialMechanism(1.0, 1)
    before = pickle.dumps(m)
    m.select([0.123456789, 5])
    m.pmf([0.123456789, 5])
    assert pickle.dumps(m) == before
    assert dataclasses.asdict(m)["adjacency"] is Adjacency.ADD_REMOVE


@pytest.mark.parametrize("selection", LAWS)
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("n", [3, 200])
def test_every_data_set_asks_for_the_same_bytes(selection, exact, n):
    class Counting:
        seeded = True

        def __init__(self):
            self.source, self.calls = as_random_source(5), []

        def bytes(self, n):
            self.calls.append(n)
            return self.source.bytes(n)

    m = ExponentialMechanism(1.0, 1, selection=selection, exact=exact)
    seen = set()
    for scores in (
        np.zeros(n),
        np.arange(n),
        -np.arange(n) * 1e6,
        np.geomspace(1, 9, n),
    ):
        source = Counting()
        m.release(scores, source)
        seen.add(tuple(source.calls))
    assert len(seen) == 1


def test_a_floating_point_choice_says_so_and_stays_within_epsilon():
    fast = ExponentialMechanism(1.0, 1, exact=False)
    assert parts(fast)[0] == 1.0
    assert fast.ideal_guarantee.epsilon(0.0) < 1.0
    assert any("units in the last place" in n for n in fast.guarantee.assumptions)
    # no candidate has probability 0, however poor: the loss stays finite
    law = fast.pmf([0.0, -1e9])
    assert law[1] == pytest.approx(math.exp(-300) / 2, rel=1e-9)


# --- numbers of several types ---------------------------------------------------------

BIG = 2**60
MIXED = {
    "int, float": [BIG + 128, BIG, 0.5],
    "int, float, odd": [BIG + 129, BIG, 0.5],
    "beyond 64 bits": [2**63 + 1024, 2**63, -1],
    "beyond 64 bits, odd": [2**63 + 1025, 2**63 + 1024, -1],
    "far beyond": [2**200 + 1, 2**200, 2.0**200, 0],
    "just beyond 53 bits": [2**53 + 1, 2**53, 2.0**53 - 1],
    "just beyond 53 bits, alike": [2**53 + 1, 2**53, 2**53 - 1],
    "Fraction, float, int": [Fraction(BIG * 3 + 1, 3), float(BIG), BIG + 1],
    "Fraction, small": [Fraction(1, 3), 1 / 3, 0],
    "NumPy scalars": [np.int64(BIG + 1), np.float64(BIG), np.uint64(BIG + 2)],
    "negative": [-BIG - 1, -BIG, -float(BIG) - 256, Fraction(-BIG * 2 - 1, 2)],
    "float32 among ints": [np.float32(2**24), 2**24 + 1, BIG],
}


def law_by_fractions(scores, coefficient):
    """Return the exponential law from exact differences."""
    q = [
        Fraction(int(s)) if isinstance(s, int | np.integer) else Fraction(s)
        for s in (x.item() if isinstance(x, np.generic) else x for x in scores)
    ]
    x = np.array([float(min((max(q) - s) * coefficient, 700)) for s in q])
    return np.exp(-x) / np.exp(-x).sum()


@pytest.mark.parametrize("container", [list, tuple, "objects", "series"])
@pytest.mark.parametrize("scores", MIXED.values(), ids=MIXED)
def test_lists_of_several_types_are_exact(scores, container):
    if container == "objects":
        given = np.empty(len(scores), dtype=object)
        given[:] = scores
    elif container == "series":
        given = pytest.importorskip("pandas").Series(scores, dtype=object)
    else:
        given = container(scores)
    for sensitivity in (1, 64):
        m = ExponentialMechanism(1.0, sensitivity, selection="exponential")
        expected = law_by_fractions(scores, m.coefficient)
        assert m.pmf(given) == pytest.approx(expected, rel=1e-12, abs=1e-300)
        exponents = m._exponents(m._table(given))
        exact = [exponents.exact(i) for i in range(len(scores))]
        assert max(exact) > 0
        assert exact == [
            m.coefficient * (max(map(as_fraction, scores)) - as_fraction(s))
            for s in scores
        ]


def as_fraction(score):
    return Fraction(score.item() if isinstance(score, np.generic) else score)


@pytest.mark.parametrize("scores", MIXED.values(), ids=MIXED)
def test_one_step_of_a_score_costs_no_more_than_promised(scores):
    """Neighbours one sensitivity apart, beside numbers of other types."""
    for law in LAWS:
        m = ExponentialMechanism(1.0, 1, selection=law)
        for i, score in enumerate(scores):
            neighbour = list(scores)
            neighbour[i] = as_fraction(score) + 1
            p, q = m.pmf(scores), m.pmf(neighbour)
            kept = (p > 1e-290) & (q > 1e-290)
            assert (abs(np.log(p[kept] / q[kept])) <= 1.0 + 1e-9).all()


@pytest.mark.filterwarnings("ignore::skdp.exceptions.NotForReleaseWarning")
def test_draws_tell_mixed_numbers_apart():
    """One sensitivity apart, at a distance where doubles are 128 or 256 apart."""
    m = ExponentialMechanism(1.0, 64, selection="exponential")
    for gain in (128, 129):
        draws = [m.select([BIG + gain, BIG, 0.5], random_state=i) for i in range(40)]
        assert 20 <= draws.count(0) <= 40
        assert draws.count(1) >= 1


def test_quick_bounds_hold_at_the_end_of_53_bits():
    """2**53 + 1 is no double, and rounds to one that is."""
    scores = np.full(60, 2**53 + 1)
    scores[::2] -= 1
    m = ExponentialMechanism(1.0, 1, selection="exponential")
    assert m.pmf(scores)[:2] * 30 == pytest.approx(
        law_by_fractions([2**53, 2**53 + 1], m.coefficient)
    )
    for power in range(24, 34):
        m = ExponentialMechanism(1.0, 2**power, selection="exponential")
        exponents = m._exponents(m._table(scores))
        for i, lower in enumerate(exponents.quick()):
            weight = 2**31 * math.exp(-float(exponents.exact(i)))
            assert int(lower) <= weight < int(lower) + ERROR


@pytest.mark.parametrize(
    "scores", [[1, True], ["1", 2], [1, None], [[1], 2], [1, 1j], [1, np.longdouble(1)]]
)
def test_lists_with_something_else_are_refused(scores):
    with pytest.raises((TypeError, ValueError), match=r"^scores must be"):
        ExponentialMechanism(1.0, 1).pmf(scores)


def test_clamping_of_mixed_lists_is_exact():
    m = ExponentialMechanism(1.0, 1, score_range=(0.0, 10.0), selection="exponential")
    scores = [BIG, math.nan, Fraction(1, 3), 2.5, -math.inf]
    assert m.pmf(scores) == pytest.approx(m.pmf([10, 0, 1 / 3, 2.5, 0]))


# --- the bound of races ---------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("failure", [0.5, 1e-6, 1e-100, 1e-125, 1e-131, 1e-140, 1e-300])
def test_the_utility_bound_knows_the_cut_of_races(law, failure):
    """A race chooses what is 10^6 below the best with a chance of e^-300."""
    scores = [0.0, -1e6, -1e6]
    for score_range in (None, (-1e6, 0.0)):
        m = ExponentialMechanism(
            1.0, 1, selection=law, exact=False, score_range=score_range
        )
        bound = m.utility_bound(3, failure=failure)
        beyond = m.pmf(scores)[-np.array(scores) > bound].sum()
        assert beyond <= failure
        if failure == 1e-300:
            assert bound == (math.inf if score_range is None else 1e6)
        exact = replace_exact(m).utility_bound(3, failure=failure)
        assert exact <= bound


def replace_exact(m):
    return dataclasses.replace(m, exact=True)


def test_the_expected_shortfall_of_a_race_needs_a_range():
    race = ExponentialMechanism(1.0, 1, exact=False)
    assert race.utility_bound(5) == math.inf
    assert replace_exact(race).utility_bound(5) < 6
    ranged = dataclasses.replace(race, score_range=(0.0, 1e10))
    assert ranged.utility_bound(5) == pytest.approx(
        replace_exact(race).utility_bound(5)
    )
