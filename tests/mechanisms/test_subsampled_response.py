"""Draws without replacement: the joint law of all outputs, enumerated."""

import itertools
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from exhaustive import histograms, replaced
from scipy.stats import chisquare

from skdp.accounting import PureDP
from skdp.mechanisms import SubsampledResponse
from skdp.mechanisms._subsampled_response import distinct_integers
from skdp.random import as_random_source


def made(epsilon, k, n, m, **shape):
    target = PureDP(epsilon, adjacency="replace-one")
    return SubsampledResponse.calibrate(
        target, n_categories=k, n_rows=n, n_draws=m, **shape
    )


def with_odds(n, k, m, epsilon0, **shape):
    return replace(made(1.0, k, n, m, **shape), odds=round(math.exp(epsilon0) * 2**26))


def joint_law(counts, m, odds, *, again=False):
    """Enumerate ordered draws of records and all responses."""
    k = len(counts)
    records = np.repeat(np.arange(k), counts)
    response = (np.ones((k, k)) + (odds - 1) * np.eye(k)) / (odds + k - 1)
    choose = itertools.product if again else itertools.permutations
    draws = (
        itertools.product(range(len(records)), repeat=m)
        if again
        else choose(range(len(records)), m)
    )
    tally = Counter(tuple(records[list(draw)]) for draw in draws)
    out = np.zeros(k**m)
    for symbols, times in tally.items():
        law = np.ones(1)
        for x in symbols:
            law = np.outer(law, response[x]).ravel()
        out += times * law
    return out / out.sum()


def worst(n, k, m, odds, moved=1, *, again=False):
    laws = [np.log(joint_law(c, m, odds, again=again)) for c in histograms(n, k)]
    return max(
        float(np.abs(laws[a] - laws[b]).max())
        for a, b in np.column_stack(replaced(n, k, moved))
    )


@pytest.mark.parametrize(
    ("n", "k", "m", "epsilon0", "exact"),
    [
        (4, 2, 2, 1.0, 0.620115),
        (4, 3, 2, 1.5, 1.008266),
        (5, 3, 3, 1.0, 0.708513),
        (5, 3, 2, 3.0, 2.155733),
        (3, 2, 3, 1.0, None),
        (1, 3, 1, 1.0, None),
    ],
)
def test_the_joint_law_costs_exactly_what_is_stated(n, k, m, epsilon0, exact):
    mechanism = with_odds(n, k, m, epsilon0)
    found = worst(n, k, m, mechanism.odds / 2**26)
    assert found == pytest.approx(mechanism.guarantee.epsilon(0.0), abs=1e-9)
    if exact is not None:
        assert found == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize(("n", "k", "m", "moved"), [(5, 2, 2, 2), (5, 3, 3, 2)])
def test_a_group_costs_exactly_what_is_stated(n, k, m, moved):
    mechanism = with_odds(n, k, m, 1.0, group_size=moved)
    found = worst(n, k, m, mechanism.odds / 2**26, moved)
    assert found == pytest.approx(mechanism.guarantee.epsilon(0.0), abs=1e-9)


def test_drawing_with_replacement_would_cost_more():
    """A record hit twice is told twice: 3.1443 instead of 2.1557."""
    found = worst(5, 3, 2, math.exp(3.0), again=True)
    assert found == pytest.approx(3.1443, abs=1e-4)
    assert found > with_odds(5, 3, 2, 3.0).guarantee.epsilon(0.0) + 0.9


@pytest.mark.parametrize(("n", "k", "m"), [(4, 2, 2), (5, 3, 3), (3, 3, 3)])
def test_the_stated_law_is_the_enumerated_one(n, k, m):
    mechanism = with_odds(n, k, m, 1.2)
    for counts in histograms(n, k):
        expected = joint_law(counts, m, mechanism.odds / 2**26)
        law = mechanism.log_density_on(counts)
        outputs = itertools.product(range(k), repeat=m)
        found = [math.exp(law(np.array(y, dtype=float))) for y in outputs]
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert law(np.full(m, k)) == -math.inf


@pytest.mark.statistical
def test_releases_follow_the_enumerated_law():
    """A chi-square test at 1e-7."""
    mechanism, counts = with_odds(5, 3, 2, 1.0), np.array([3, 2, 0])
    source = as_random_source(5)
    tally = np.zeros(9)
    for _ in range(2500):
        a, b = mechanism.release(counts, source).output
        tally[int(3 * a + b)] += 1
    expected = joint_law(counts, 2, mechanism.odds / 2**26) * tally.sum()
    assert chisquare(tally, expected).pvalue > 1e-7


@pytest.mark.parametrize(("m", "alpha", "e0"), [(10, 0.04424089, 5.15229794)])
def test_reference_values(m, alpha, e0):
    mechanism = made(1.0, 9, 1000, m)
    assert mechanism.accuracy_bound(1000) == pytest.approx(alpha, abs=1e-8)
    assert math.log(mechanism.odds / 2**26) == pytest.approx(e0, abs=1e-8)
    assert made(1.0, 9, 1000, 100).accuracy_bound(1000) == pytest.approx(
        0.30554388, abs=1e-8
    )
    with pytest.raises(ValueError, match="n_rows"):
        mechanism.accuracy_bound(5)


def test_calibration_uses_the_budget_and_no_more():
    for epsilon, moved in itertools.product((1e-6, 0.1, 1.0, 8.0), (1, 3)):
        mechanism = made(epsilon, 4, 50, 7, group_size=moved)
        assert mechanism.guarantee.epsilon(0.0) <= epsilon
        above = replace(mechanism, odds=mechanism.odds + 1)
        assert above.guarantee.epsilon(0.0) > epsilon
    assert made(1000.0, 4, 50, 7).odds == 2**60


@pytest.mark.parametrize(("bound", "size"), [(10, 10), (1000, 3), (40, 10), (7, 1)])
def test_no_record_is_drawn_twice(bound, size):
    source = as_random_source(1)
    for _ in range(50):
        drawn = distinct_integers(bound, size, source)
        assert len(set(drawn.tolist())) == size
        assert drawn.min() >= 0
        assert drawn.max() < bound


@pytest.mark.statistical
@pytest.mark.parametrize(("bound", "size"), [(4, 3), (13, 2)])
def test_every_ordered_choice_is_equally_likely(bound, size):
    """A chi-square test at 1e-7 on each branch."""
    source = as_random_source(2)
    tally = Counter(
        tuple(distinct_integers(bound, size, source).tolist()) for _ in range(8000)
    )
    choices = list(itertools.permutations(range(bound), size))
    assert chisquare([tally[c] for c in choices]).pvalue > 1e-7


def test_fields_that_do_not_fit_are_refused():
    good = made(1.0, 3, 9, 4)
    for wrong in ({"n_draws": 10}, {"n_draws": 0}, {"odds": 5}, {"n_categories": 1}):
        with pytest.raises(ValueError, match="do not fit"):
            replace(good, **wrong)
    with pytest.raises(ValueError, match="public"):
        replace(good, n_rows=None, adjacency="add-remove")
    with pytest.raises(ValueError, match="n_rows"):
        made(1.0, 3, 9, 10)
