"""Private quantiles on a public grid."""

import dataclasses
import itertools

import numpy as np
import pytest

from skdp.accounting import Adjacency, PureDP
from skdp.audit import exact_curve
from skdp.mechanisms import (
    IntervalExponential,
    QuantileMechanism,
    quantile_scores,
    quantile_sensitivity,
)
from skdp.random import as_random_source

VALUES = np.array([0.1, 0.2, 0.25, 0.4, 0.7])
GRID = np.array([0.0, 0.25, 0.5, 0.75, 1.0])


def step_law(values, quantile, epsilon):
    """Probabilities of the segments between sorted data, with Delta = 1."""
    edges = np.concatenate([[0.0], np.sort(values), [1.0]])
    scores = quantile_scores(values, edges[:-1], quantile)
    mass = np.diff(edges) * np.exp(epsilon * scores / 2)
    return mass / mass.sum()


@pytest.mark.parametrize(
    ("quantile", "epsilon", "expected"),
    [
        (0.5, 2, ".0337254 .09167515 .12459945 .37379834 .27502545 .10117621"),
        (0.25, 1, ".14846599 .24477904 .09531705 .17343815 .21039111 .12760866"),
        (0.5, 4, ".00700513 .0517613 .19123357 .57370071 .1552839 .02101539"),
    ],
)
def test_scores_give_the_published_law_between_sorted_numbers(
    quantile, epsilon, expected
):
    np.testing.assert_allclose(
        step_law(VALUES, quantile, epsilon),
        [float(p) for p in expected.split()],
        atol=5.1e-9,
    )


def test_scores_on_the_grid():
    scores = quantile_scores(VALUES, GRID, 0.5)
    np.testing.assert_array_equal(scores, [-2.5, -0.5, -1.5, -2.5, -2.5])


def test_interpolated_scores_give_the_published_law_on_the_grid():
    interval = IntervalExponential.calibrate(PureDP(2.0), knots=GRID, sensitivity=1.0)
    interval = dataclasses.replace(interval, coefficient=1.0)
    law = interval.law(quantile_scores(VALUES, GRID, 0.5))
    expected = [0.30183802, 0.44132254, 0.16235349, 0.09448595]
    np.testing.assert_allclose(
        np.exp(law.log_masses - law.log_total), expected, atol=5e-9
    )


def neighbours(values, places, adjacency):
    """Every data set next to one: all removals and additions, or replacements."""
    gone = [np.delete(values, i) for i in range(len(values))]
    if adjacency is Adjacency.ADD_REMOVE:
        yield from gone
        bases = [values]
    else:
        bases = gone
    for base, place in itertools.product(bases, places):
        yield np.append(base, place)


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.75])
def test_sensitivity_is_that_of_all_neighbours_of_all_small_data_sets(
    adjacency, quantile
):
    points = np.array([0.0, 1.0, 2.0])
    places = [-1.0, 0.0, 0.5, 1.5, 3.0]
    claimed = quantile_sensitivity(quantile, adjacency)
    worst = 0.0
    for n in range(4):
        for values in itertools.combinations_with_replacement(places, n):
            here = quantile_scores(values, points, quantile)
            for other in neighbours(np.array(values), places, adjacency):
                there = quantile_scores(other, points, quantile)
                worst = max(worst, np.max(np.abs(here - there)))
    assert worst <= claimed
    assert worst >= claimed * (1 - 1e-5)


def interpolated(values, knots, points, quantile):
    return np.interp(points, knots, quantile_scores(values, knots, quantile))


def test_interpolation_on_public_knots_keeps_the_sensitivity():
    rng = np.random.default_rng(0)
    points = np.linspace(0, 1, 200)
    for _ in range(500):
        values = rng.choice(np.round(rng.uniform(0, 1, 8), 2), 20)
        other = np.append(values[1:], rng.uniform(0, 1))
        change = interpolated(values, GRID, points, 0.3) - interpolated(
            other, GRID, points, 0.3
        )
        assert np.max(np.abs(change)) <= 1.0 + 1e-12


def test_planted_private_knots_are_caught():
    """Straight lines between the data themselves: one point moves half the ranks."""
    values = np.repeat([0.0, 1.0], 50)
    other = np.append(values[:-1], 0.99)
    points = np.linspace(0, 1, 1001)

    def change(knots, other_knots):
        here = interpolated(values, knots, points, 0.5)
        return np.max(np.abs(here - interpolated(other, other_knots, points, 0.5)))

    assert change(GRID, GRID) <= 1.0
    assert change(np.unique(values), np.unique(other)) > 48.0


def test_planted_sensitivity_of_the_other_relation_is_caught():
    """Half a rank, right where a number comes or goes, sold for replaced numbers."""
    target = PureDP(1.0, adjacency=Adjacency.REPLACE_ONE)
    good = QuantileMechanism.calibrate(
        target, quantile=0.5, lower=0.0, upper=1.0, n_cells=64
    )
    claim = good.ideal_guarantee.epsilon(0.0)
    pairs = list(good.hard_pairs())
    assert max(exact_curve(good, pair).max_loss for pair in pairs) <= claim
    weak = IntervalExponential.calibrate(
        target,
        knots=good.knots,
        sensitivity=quantile_sensitivity(0.5, Adjacency.ADD_REMOVE),
    )
    with pytest.raises(ValueError, match="must be that of the scores"):
        dataclasses.replace(good, interval=weak)
    # built behind the check's back, the audit sees it
    object.__setattr__(good, "interval", weak)
    assert max(exact_curve(good, pair).max_loss for pair in pairs) > 1.9 * claim


def test_planted_monotone_scores_are_caught():
    good = QuantileMechanism.calibrate(
        PureDP(1.0), quantile=0.5, lower=0.0, upper=1.0, n_cells=64
    )
    claim = good.ideal_guarantee.epsilon(0.0)
    pairs = list(good.hard_pairs())
    broken = IntervalExponential.calibrate(
        PureDP(1.0),
        knots=good.knots,
        sensitivity=good.interval.sensitivity,
        monotone=True,
    )
    with pytest.raises(ValueError, match="not monotone"):
        dataclasses.replace(good, interval=broken)
    object.__setattr__(good, "interval", broken)
    assert max(exact_curve(good, pair).max_loss for pair in pairs) > 1.9 * claim


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("quantile", [0.2, 0.5, 0.9])
def test_losses_on_hard_pairs_come_close_to_epsilon(adjacency, quantile):
    mechanism = QuantileMechanism.calibrate(
        PureDP(1.0, adjacency=adjacency),
        quantile=quantile,
        lower=-3.0,
        upper=5.0,
        n_cells=128,
    )
    worst = max(exact_curve(mechanism, p).max_loss for p in mechanism.hard_pairs())
    claim = mechanism.ideal_guarantee.epsilon(0.0)
    assert 0.95 * claim < worst <= claim


@pytest.mark.statistical
def test_a_median_of_many_is_close():
    """False alarm below 1e-9: the rank error is beyond 60 with less than e^-20."""
    rng = np.random.default_rng(0)
    values = rng.uniform(20, 60, 2001)
    mechanism = QuantileMechanism.calibrate(
        PureDP(1.0), quantile=0.5, lower=0.0, upper=120.0
    )
    source = as_random_source(1)
    for _ in range(30):
        found = mechanism.release(values, source).output[0]
        assert abs((values <= found).sum() - 1000.5) < 60


def test_hostile_numbers_ask_for_the_same_randomness():
    class CountingSource:
        seeded = True

        def __init__(self):
            self._source, self.calls = as_random_source(2), []

        def bytes(self, n):
            self.calls.append(n)
            return self._source.bytes(n)

    mechanism = QuantileMechanism.calibrate(
        PureDP(1.0), quantile=0.5, lower=0.0, upper=1.0, n_cells=64
    )
    seen = []
    for values in (
        np.zeros(50),
        np.ones(49),
        np.full(50, np.nan),
        np.array([np.inf, -np.inf, 1e300]),
        np.linspace(0, 1, 50),
        np.empty(0),
    ):
        source = CountingSource()
        output = mechanism.release(values, source).output
        assert np.isfinite(output).all()
        seen.append((source.calls, source.bytes(8)))
    assert all(item == seen[0] for item in seen)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"quantile": 0.0}, "quantile"),
        ({"quantile": 1.0}, "quantile"),
        ({"lower": 1.0, "upper": 0.0}, "empty"),
        ({"n_cells": 5000}, "n_cells"),
        ({"n_cells": 0}, "n_cells"),
        ({"upper": np.inf}, "infinite"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    good = {"quantile": 0.5, "lower": 0.0, "upper": 1.0}
    with pytest.raises(ValueError, match=message):
        QuantileMechanism.calibrate(PureDP(1.0), **good | parameters)
