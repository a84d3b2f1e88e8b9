"""The shipped sampler, audited by running it: nothing is assumed about its code."""

import pytest

from skdp.audit import lower_bound
from skdp.synthesis import ROOSampler

#: Draws of one fit; they share epsilon.
N_DRAWS = 500
ALL_EQUAL, ONE_REPLACED = [0, 0, 0, 0, 0], [0, 0, 0, 0, 1]


def one_by_one(epsilon):
    """Return a release of one draw at epsilon, of which fits make many at a time."""
    left = {}

    def draw(data, random_state):
        key = tuple(data)
        if not left.get(key):
            sampler = ROOSampler(
                categories=[0, 1, 2],
                epsilon=epsilon * N_DRAWS,
                n_samples=N_DRAWS,
                release="draws",
                profile="roo",
            )
            left[key] = sampler.fit(data).samples_.tolist()
        return left[key].pop()

    return draw


def certified(epsilon, n_runs):
    return lower_bound(
        one_by_one(epsilon),
        ALL_EQUAL,
        ONE_REPLACED,
        n_runs=n_runs,
        confidence=1 - 1e-6,
        score=lambda symbol: symbol == 1,
    ).epsilon


@pytest.mark.statistical
def test_draws_are_told_apart_by_hardly_less_than_epsilon():
    """Below 0.75 by 6 standard errors, above 1 with probability below 1e-6."""
    assert 0.75 <= certified(1.0, 60_000) <= 1.0


@pytest.mark.statistical
def test_a_sampler_that_spent_half_as_much_again_would_be_seen():
    """1.35 expected: not above 1 by 10 standard errors."""
    assert certified(1.5, 60_000) > 1.0


@pytest.mark.slow
@pytest.mark.statistical
def test_two_million_draws_certify_nearly_all_of_epsilon():
    """0.98 expected: below 0.95 by 8 standard errors, above 1 with less than 1e-6."""
    assert 0.95 <= certified(1.0, 2_000_000) <= 1.0
