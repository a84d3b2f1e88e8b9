import dataclasses

import numpy as np
import pytest

from skdp.accounting import ApproximateDP, gaussian_mu
from skdp.audit import lower_bound
from skdp.audit._binomial import probability_above, probability_below
from skdp.mechanisms import (
    GaussianMechanism,
    GaussianNoise,
    ObjectivePerturbation,
    Release,
)
from skdp.random import as_random_source


def randomised_response(epsilon):
    """The seed is a uniform 32-bit number: the coin of one run."""
    keep = 1 / (1 + np.exp(-epsilon))

    def answer(truth, seed):
        return truth ^ (seed >= keep * 2**32)

    return answer


@pytest.mark.statistical
def test_identical_laws_give_zero():
    """At 95 % confidence in at least 95 % of 200 repetitions of 1000 runs.

    The Clopper-Pearson bounds fail together far more rarely than allowed, so a false
    alarm has probability below 1e-6.
    """

    def same(data, seed):
        return seed / 2**32

    rng = np.random.default_rng(0)

    def fresh(data, seed):
        return rng.random()

    for release in (same, fresh):
        alarms = sum(
            lower_bound(
                release, 0, 1, n_runs=1000, confidence=0.95, random_state=k
            ).epsilon
            > 0
            for k in range(200 if release is fresh else 5)
        )
        assert alarms <= 10


@pytest.mark.statistical
def test_randomised_response_is_bounded_close_to_its_epsilon():
    """The bound is above the truth with probability below 1e-6 at this confidence."""
    found = lower_bound(
        randomised_response(2.0),
        True,
        False,
        n_runs=100_000,
        confidence=1 - 1e-6,
        random_state=1,
    )
    assert 1.8 <= found.epsilon <= 2.0


def test_exchanging_the_data_sets_gives_the_same_bound():
    def release(shift, seed):
        return np.random.default_rng(seed).normal(size=2) + np.array([shift, 0.0])

    for kind, delta in (("event", 0.0), ("gdp", 1e-3)):
        one, other = (
            lower_bound(
                release, *pair, n_runs=800, kind=kind, delta=delta, random_state=3
            )
            for pair in ((0.0, 1.5), (1.5, 0.0))
        )
        assert one.epsilon == pytest.approx(other.epsilon, rel=1e-9)
        assert one.epsilon > 0.1


def test_an_event_that_never_happens_on_one_side_is_bounded_too():
    found = lower_bound(lambda data, _: data, 0.0, 1.0, n_runs=2000)
    n = 1400
    error = (1 - 0.999) / 4
    q = 1 - error ** (1 / n)
    assert found.epsilon == pytest.approx(np.log((1 - q) / q), rel=1e-9)


@pytest.mark.statistical
def test_halved_noise_is_caught_with_the_runs_that_pass_the_correct_mechanism():
    """Correct: an alarm has probability 1e-6. Halved: truly epsilon 2.155, not 1."""
    sigma = 1 / gaussian_mu(1.0, 1e-5)

    def release(scale):
        rng = np.random.default_rng(4)
        return lambda data, _: data + scale * rng.normal()

    def bound(scale):
        return lower_bound(
            release(scale),
            0.0,
            1.0,
            n_runs=20_000,
            confidence=1 - 1e-6,
            delta=1e-5,
            kind="gdp",
        ).epsilon

    assert bound(sigma) <= 1.0 < bound(sigma / 2)


@pytest.mark.slow
@pytest.mark.statistical
def test_objective_perturbation_from_outside_passes_and_with_half_the_noise_fails():
    """False alarm 1e-6. The row is badly misclassified, so its slope is near one."""
    mechanism = ObjectivePerturbation.calibrate(
        ApproximateDP(1.0, 1e-3), radius=1.0, n_coefficients=1
    )
    pair = next(p for p in mechanism.hard_pairs() if p.name == "hundred agreeing, -")

    def bound(mechanism):
        return lower_bound(
            lambda data, seed: mechanism.release(data, as_random_source(seed)),
            pair.left,
            pair.right,
            n_runs=5000,
            confidence=1 - 1e-6,
            delta=1e-3,
            kind="gdp",
            random_state=5,
        ).epsilon

    half = GaussianNoise(mechanism.noise_law.scale / 2)
    assert 0.2 < bound(mechanism) <= 1.0
    assert bound(dataclasses.replace(mechanism, noise_law=half)) > 1.0


@pytest.mark.slow
@pytest.mark.statistical
def test_the_gaussian_mechanism_from_outside_comes_near_its_claim():
    """False alarm 1e-6."""
    mechanism = GaussianMechanism.calibrate(
        ApproximateDP(1.0, 1e-5), l2_sensitivity=1.0, n_features=1
    )
    found = lower_bound(
        lambda data, seed: mechanism.release(data, as_random_source(seed)),
        np.zeros(1),
        np.ones(1),
        n_runs=40_000,
        confidence=1 - 1e-6,
        delta=1e-5,
        kind="gdp",
        random_state=6,
    )
    assert 0.5 < found.epsilon <= 1.0


def test_categories_in_the_middle_are_events_too():
    """A rare middle value tells the sides apart though no tail does."""

    def release(data, seed):
        u = seed / 2**32
        if u < 0.2:
            return 1.0 if data else (0.0 if seed % 2 else 2.0)
        return 0.0 if seed % 2 else 2.0

    found = lower_bound(release, True, False, n_runs=3000, random_state=0)
    assert found.epsilon > 3
    assert "== 1" in found.event


def test_a_learnt_score_finds_what_no_coordinate_shows():
    def release(data, seed):
        z = np.random.default_rng(seed).normal(size=20)
        return z + 0.5 * data * np.ones(20)

    found = lower_bound(release, 0, 1, n_runs=2000, random_state=0)
    assert found.event.startswith("learnt score")
    assert found.epsilon > 1.5


def test_releases_and_linear_models_and_scores_are_understood():
    class Model:
        def __init__(self, value):
            self.coef_, self.intercept_ = np.array([[value]]), np.zeros(1)

    options = {"n_runs": 200, "confidence": 0.9}
    for wrap in (
        lambda v: Release(output=np.array([v]), spent=None),
        Model,
        lambda v: [v, np.nan],
        lambda v: [v, np.inf],
    ):
        found = lower_bound(lambda data, _, w=wrap: w(float(data)), 0, 1, **options)
        assert found.epsilon > 2
    text = lower_bound(
        lambda data, _: "yes" if data else "no", 0, 1, score=len, **options
    )
    assert text.epsilon > 2
    assert str(text).startswith("epsilon >= ")
    assert "score" in text.event


def test_without_a_seed_each_run_gets_none():
    seen = []
    lower_bound(lambda data, seed: seen.append(seed) or 0.0, 0, 1, n_runs=10)
    assert set(seen) == {None}


def test_constant_releases_find_nothing():
    found = lower_bound(lambda data, _: 1.0, 0, 1, n_runs=50)
    assert found.epsilon == 0.0
    assert found.event == "no event found"


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"n_runs": 9}, ValueError, "n_runs"),
        ({"n_runs": 10.5}, ValueError, "n_runs"),
        ({"n_runs": "many"}, TypeError, "n_runs"),
        ({"confidence": 1.0}, ValueError, "confidence"),
        ({"delta": 1.0}, ValueError, "delta"),
        ({"kind": "exact"}, ValueError, "kind"),
        ({"kind": "gdp"}, ValueError, "delta=0"),
    ],
)
def test_wrong_parameters_are_refused(options, error, text):
    with pytest.raises(error, match=text):
        lower_bound(lambda data, _: 0.0, 0, 1, **options)


def test_releases_that_are_not_numbers_or_differ_in_length_are_refused():
    with pytest.raises(TypeError, match="numeric"):
        lower_bound(lambda data, _: "yes", 0, 1, n_runs=10)
    lengths = iter([1, 2] * 10)
    with pytest.raises(ValueError, match="lengths"):
        lower_bound(lambda data, _: np.zeros(next(lengths)), 0, 1, n_runs=10)


def test_clopper_pearson_bounds_invert_the_binomial_tail():
    from scipy.stats import binom

    counts = np.array([0, 1, 7, 19, 20])
    low, high = probability_above(counts, 20, 0.01), probability_below(counts, 20, 0.01)
    assert low[0] == 0.0
    assert high[-1] == 1.0
    np.testing.assert_allclose(binom.sf(counts[1:] - 1, 20, low[1:]), 0.01)
    np.testing.assert_allclose(binom.cdf(counts[:-1], 20, high[:-1]), 0.01)
