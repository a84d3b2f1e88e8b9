"""Pure and approximate differential privacy."""

import math

import numpy as np
import pytest

from skdp.accounting import ApproximateDP, PureDP, TradeoffDP


def response(epsilon, delta=0.0):
    """Outcome laws of the hardest (epsilon, delta) mechanism on two neighbours."""
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    rest = 1 - delta
    return np.array([delta, rest * p, rest * (1 - p), 0]), np.array(
        [0, rest * (1 - p), rest * p, delta]
    )


@pytest.mark.parametrize("bound", [0.0, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.2])
def test_profile_is_that_of_randomised_response(bound, delta):
    P, Q = response(bound, delta)
    guarantee = ApproximateDP(bound, delta) if delta else PureDP(bound)
    for epsilon in np.linspace(-7, 7, 57):
        truth = np.maximum(P - math.exp(epsilon) * Q, 0).sum()
        assert guarantee.delta(epsilon) == pytest.approx(truth, abs=2e-15)


@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.2])
def test_tradeoff_has_two_lines(delta):
    alpha = np.linspace(0, 1, 41)
    e = math.exp(1.0)
    expected = np.maximum(0, np.maximum(1 - delta - e * alpha, (1 - delta - alpha) / e))
    assert ApproximateDP(1.0, delta).tradeoff(alpha) == pytest.approx(expected)


def test_huge_epsilon_stays_finite():
    guarantee = PureDP(1500.0)
    assert guarantee.delta(1499.0) == pytest.approx(1 - math.exp(-1))
    assert guarantee.tradeoff([0.0, 1e-300, 0.5]) == pytest.approx([1.0, 0.0, 0.0])
    assert guarantee.epsilon(0.0) == 1500.0


def test_group_rules():
    assert PureDP(0.5).group(3) == PureDP(1.5)
    k, epsilon, delta = 4, 0.3, 1e-5
    series = delta * math.expm1(k * epsilon) / math.expm1(epsilon)
    group = ApproximateDP(epsilon, delta).group(k)
    assert (group.epsilon_bound, group.delta_bound) == pytest.approx((1.2, series))
    assert ApproximateDP(0.0, delta).group(k).delta_bound == pytest.approx(k * delta)
    with pytest.raises(ValueError, match="promises nothing"):
        ApproximateDP(3.0, 0.01).group(5)


def test_epsilon_of_the_stated_delta_is_exact():
    guarantee = ApproximateDP(1.0, 1e-6)
    assert guarantee.epsilon(1e-6) == 1.0
    assert guarantee.epsilon(9e-7) == math.inf
    assert 0.0 < guarantee.epsilon(0.1) < 1.0
    assert guarantee.epsilon(0.9) == 0.0
    assert guarantee.epsilon(0.0) == math.inf
    assert ApproximateDP(1.0, 0.0).epsilon(0.0) == 1.0


def test_corners_of_randomised_response_give_the_pure_guarantee():
    a = 1 / (1 + math.exp(1.0))
    corners = TradeoffDP([(0.0, 1.0), (a, a), (1.0, 0.0)])
    epsilon = np.linspace(-2, 2, 41)
    assert corners.delta(epsilon) == pytest.approx(PureDP(1.0).delta(epsilon))
    assert corners.epsilon(0.0) == pytest.approx(1.0)
