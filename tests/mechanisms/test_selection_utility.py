"""Bounds on what a selection loses: true on random instances, false without care."""

import math

import numpy as np
import pytest

from skdp.mechanisms import ExponentialMechanism, em_expected, em_tail

LAWS = ("exponential", "permute-and-flip")


def test_published_values_on_a_hundred_and_one_scores():
    scores = np.arange(101)
    bound, t = em_expected(scores, 0.5)
    assert bound == pytest.approx(71.913769, abs=5e-7)
    assert t == pytest.approx(9.362077, abs=5e-7)
    law = ExponentialMechanism(1.0, 1, selection="exponential").pmf(scores)
    assert law @ scores == pytest.approx(98.458506, abs=5e-7)


@pytest.mark.parametrize(
    ("epsilon", "exponential", "permute", "guaranteed"),
    [(0.1, 258.27, 258.38, 169.37), (1.0, 263.70, 263.85, 247.14)],
)
def test_published_values_of_the_auction(epsilon, exponential, permute, guaranteed):
    """A thousand uniform bids, a hundred prices, revenue as the score."""
    bids = np.random.default_rng(4).random(1000)
    prices = np.arange(1, 101) / 100
    revenue = prices * (bids >= prices[:, None]).sum(axis=1)
    assert revenue.max() == 264.5
    em, pf = (
        ExponentialMechanism(epsilon, 1, monotone=True, selection=law) for law in LAWS
    )
    assert em.pmf(revenue) @ revenue == pytest.approx(exponential, abs=0.006)
    assert pf.pmf(revenue) @ revenue == pytest.approx(permute, abs=0.006)
    bound, _ = em_expected(revenue, em.coefficient)
    assert bound == pytest.approx(guaranteed, abs=0.006)


def random_instances(count):
    rng = np.random.default_rng(0)
    for _ in range(count):
        n = int(rng.integers(1, 40))
        scores = rng.choice([rng.exponential(5, n), rng.integers(0, 9, n) * 1.0])
        measure = rng.integers(1, 9, n)
        yield scores, measure, float(rng.uniform(0.2, 8)), float(rng.uniform(0.05, 5))


def test_no_bound_fails_on_random_instances():
    """Against the exact law, with and without a base measure."""
    for scores, measure, epsilon, t in random_instances(1000):
        for base in (None, measure.tolist()):
            m = ExponentialMechanism(
                epsilon, 1, base_measure=base, selection="exponential"
            )
            law, c = m.pmf(scores), m.coefficient
            poor = law[scores <= scores.max() - 2 * t].sum()
            assert poor <= em_tail(scores, c, t, base_measure=base) * (1 + 1e-12)
            bound, _ = em_expected(scores, c, base_measure=base)
            assert law @ scores >= bound * (1 - 1e-12)
            shifted, _ = em_expected(scores - 7.5, c, base_measure=base, floor=-7.5)
            assert shifted == pytest.approx(bound - 7.5, abs=1e-9)


@pytest.mark.parametrize("selection", LAWS)
def test_the_bounds_for_any_data_hold_on_random_instances(selection):
    for scores, _, epsilon, _ in random_instances(400):
        m = ExponentialMechanism(epsilon, 1, selection=selection)
        law, n = m.pmf(scores), scores.size
        shortfall = scores.max() - scores
        ties = int((shortfall == 0).sum())
        assert law @ shortfall <= m.utility_bound(n)
        for failure in (0.5, 0.05, 1e-4):
            reach = m.utility_bound(n, failure=failure, n_best=ties)
            assert law[shortfall >= reach].sum() <= failure * (1 + 1e-9)
            assert reach <= m.utility_bound(n, failure=failure)


def test_a_floor_above_a_score_is_refused_because_the_bound_would_be_false():
    scores = np.array([0.0] + [-1e6] * 50)
    with pytest.raises(ValueError, match="below the floor"):
        em_expected(scores, 0.5)
    # what the seeming theorem would say, a shortfall of some tens, is wrong
    law = ExponentialMechanism(1e-5, 1, selection="exponential").pmf(scores)
    assert law @ scores < -1e3
    bound, _ = em_expected(scores, 5e-6, floor=-1e6)
    assert law @ scores >= bound


def test_excluded_candidates_count_for_nothing():
    bound, _ = em_expected([1, 99, 1], 0.5, base_measure=[1, 0, 1], floor=1.0)
    assert bound == 1.0
    assert em_tail([1, math.inf], 0.5, 1.0, base_measure=[1, 0]) == 0.0


def test_equal_scores_lose_nothing():
    assert em_expected([3, 3, 3], 0.5, floor=3.0) == (3.0, 0.0)
    assert em_tail([3, 3, 3], 0.5, 1.0) == 0.0


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: em_tail([], 1.0, 1.0), "do not fit"),
        (lambda: em_tail([1, 2], 1.0, 1.0, base_measure=[1]), "do not fit"),
        (lambda: em_tail([1, 2], 1.0, 1.0, base_measure=[0, 0]), "do not fit"),
        (lambda: em_tail([1, math.nan], 1.0, 1.0), "finite"),
        (lambda: em_tail([1, 2], -1.0, 1.0), "coefficient"),
        (lambda: em_tail([1, 2], 1.0, 0.0), "t is out of range"),
        (lambda: em_expected([1, 2], 1.0, floor=-math.inf), "floor"),
        (lambda: em_expected([1, 2], 1.0, floor=math.nan), "floor"),
        (lambda: ExponentialMechanism(1.0, 1).utility_bound(0), "n_candidates"),
        (lambda: ExponentialMechanism(1.0, 1).utility_bound(2, failure=2.0), "failure"),
        (lambda: ExponentialMechanism(1.0, 1).utility_bound(2, n_best=3), "n_best"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(call, match):
    with pytest.raises(ValueError, match=match):
        call()


def test_the_bound_for_any_data_needs_equal_measures():
    m = ExponentialMechanism(1.0, 1, base_measure=[1, 2])
    with pytest.raises(ValueError, match="em_tail"):
        m.utility_bound(2)
