"""The published bound, against its formula and its table."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from skdp.accounting import (
    ConservativeObjectiveDP,
    TiltedObjectiveDP,
    compose,
    gaussian_delta,
)

DELTA = 1e-6


def published(epsilon, mu, bend):
    """The bound of Redberg, Koskela and Wang in its two cases."""
    left = epsilon + math.log1p(-bend)
    if left >= mu * mu / 2:
        return 2 * gaussian_delta(left, mu)
    # the hockey stick where both laws meet, 2 H = Phi(...) in closed form
    crossing = 2 * (norm.cdf(0.0) - math.exp(mu * mu / 2) * norm.cdf(-mu))
    gap = left - mu * mu / 2
    return 1 - math.exp(gap) + math.exp(gap) * crossing


@pytest.mark.parametrize("bend", [0.0, 0.1, 0.25, 0.9])
@pytest.mark.parametrize("mu", [0.1, 0.25, 1.0, 3.0])
def test_the_profile_is_the_published_formula(mu, bend):
    g = ConservativeObjectiveDP(mu, -math.log1p(-bend))
    for epsilon in (0.01, 0.1, 1.0, 3.0):
        expected = published(epsilon, mu, bend)
        assert g.delta(epsilon) == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_reference_value():
    g = ConservativeObjectiveDP(0.25, -math.log(0.75))
    assert g.delta(1.0) == pytest.approx(4.569592e-04, rel=1e-6)


@pytest.mark.parametrize(
    ("epsilon", "sigma"), [(0.1, 49.7927), (0.5, 11.1760), (1.0, 5.9921), (2.0, 3.4036)]
)
def test_published_noise_at_a_curvature_of_a_quarter(epsilon, sigma):
    low, high = 0.1, 900.0
    for _ in range(40):
        middle = math.sqrt(low * high)
        g = ConservativeObjectiveDP(1 / middle, -math.log1p(-epsilon / 4))
        good = g.delta(epsilon) <= DELTA
        low, high = (low, middle) if good else (middle, high)
    assert high == pytest.approx(sigma, abs=6e-5)


@pytest.mark.parametrize("rho", [0.0, 1e-5])
def test_it_is_never_below_the_bound_of_the_package(rho):
    epsilon = np.linspace(-1.0, 4.0, 26)
    for mu, bend in [(0.1, 0.05), (0.5, 0.4), (2.0, 0.9)]:
        for relation in ("add-remove", "replace-one"):
            ours = TiltedObjectiveDP(
                mu, mu, bend, smoothing_rho=rho, adjacency=relation
            )
            g = ConservativeObjectiveDP(mu, -math.log1p(-bend), rho, adjacency=relation)
            assert (ours.delta(epsilon) <= g.delta(epsilon) * (1 + 1e-12)).all()


def test_the_smoothing_is_charged_and_composes():
    plain, smooth = (ConservativeObjectiveDP(0.2, 0.05, r) for r in (0.0, 1e-6))
    assert plain.epsilon(DELTA) < smooth.epsilon(DELTA) < 1.001 * plain.epsilon(DELTA)
    assert compose(smooth, smooth).epsilon(DELTA) < 2 * smooth.epsilon(DELTA)
    pair = smooth.to_replace_one()
    assert (pair.mu, pair.jacobian, pair.smoothing_rho) == (0.2, 0.05, 1e-6)
    assert pair.epsilon(DELTA) > 2 * smooth.epsilon(DELTA)
