"""Trade-off curves given by their corners."""

import math

import numpy as np
import pytest

from skdp.accounting import ApproximateDP, GaussianDP, TradeoffDP

ASYMMETRIC = TradeoffDP([(0.0, 0.95), (0.1, 0.6), (0.5, 0.1), (1.0, 0.0)])


def gaussian_corners(mu, n=2001):
    """Corners on a Gaussian curve, dense at both ends."""
    alpha = np.geomspace(1e-14, 0.5, n)
    alpha = np.unique(np.concatenate([[0.0], alpha, GaussianDP(mu).tradeoff(alpha)]))
    alpha = np.append(alpha[alpha < 1.0], 1.0)
    beta = GaussianDP(mu).tradeoff(alpha)
    return TradeoffDP(list(zip(alpha, beta, strict=True)))


def test_delta_is_the_largest_gap_of_the_symmetrised_curve():
    alpha = np.linspace(0, 1, 200_001)
    f = ASYMMETRIC.tradeoff(alpha)
    for epsilon in (0.0, 0.4, 1.0, 2.5, 6.0):
        truth = np.max(1 - math.exp(epsilon) * alpha - f)
        found = ASYMMETRIC.delta(epsilon)
        assert found == pytest.approx(max(truth, 0.0), abs=1e-4)
        assert found >= truth - 1e-12


def test_mirror_image_counts():
    mirrored = TradeoffDP([(0.0, 1.0), (0.1, 0.5), (0.6, 0.1), (0.95, 0.0), (1.0, 0.0)])
    alpha = np.linspace(0, 1, 101)
    assert ASYMMETRIC.tradeoff(alpha) == pytest.approx(mirrored.tradeoff(alpha))
    assert ASYMMETRIC.delta([0.0, 1.0]) == pytest.approx(mirrored.delta([0.0, 1.0]))


def test_chords_of_a_gaussian_curve_approximate_it():
    g = gaussian_corners(0.8)
    assert g.epsilon(1e-6) == pytest.approx(GaussianDP(0.8).epsilon(1e-6), rel=1e-3)


def test_group_of_gaussian_corners_is_the_gaussian_group():
    g = gaussian_corners(0.5).group(3)
    alpha = np.linspace(0.01, 0.99, 50)
    assert g.tradeoff(alpha) == pytest.approx(GaussianDP(1.5).tradeoff(alpha), abs=1e-4)


def test_pure_epsilon_needs_a_curve_that_starts_at_one():
    assert ASYMMETRIC.epsilon(0.0) == pytest.approx(math.log(5.0))
    leaky = TradeoffDP([(0.0, 0.9), (0.3, 0.3), (0.9, 0.0), (1.0, 0.0)])
    assert leaky.epsilon(0.0) == math.inf
    assert TradeoffDP([(0.0, 1.0), (1.0, 0.0)]).epsilon(0.0) == 0.0
    assert TradeoffDP([(0.0, 0.0), (1.0, 0.0)]).epsilon(0.0) == math.inf


def test_replacement_composes_the_curve_with_itself():
    pair = ASYMMETRIC.to_replace_one()
    assert str(pair.adjacency) == "replace-one"
    alpha = np.array([0.05, 0.2, 0.4])
    step = np.interp(alpha, *np.array(ASYMMETRIC.knots).T)
    expected = np.interp(1 - step, *np.array(ASYMMETRIC.knots).T)
    assert np.interp(alpha, *np.array(pair.knots).T) == pytest.approx(expected)


@pytest.mark.parametrize(
    "knots",
    [
        [(0.0, 1.0)],
        [(0.0, 1.0), (0.5, 0.1), (0.4, 0.0), (1.0, 0.0)],
        [(0.0, 1.0), (0.5, 0.6), (1.0, 0.0)],
        [(0.0, 1.0), (0.3, 0.1), (0.5, 0.2), (1.0, 0.0)],
        [(0.0, 0.5), (0.2, 0.4), (0.4, 0.1), (1.0, 0.0)],
        [(0.1, 0.9), (1.0, 0.0)],
        [(0.0, 1.0), (1.0, 0.1)],
        [(0.0, 1.0), (math.nan, 0.1), (1.0, 0.0)],
    ],
)
def test_curves_that_are_not_trade_offs_are_refused(knots):
    with pytest.raises(ValueError, match="knots are not a trade-off curve"):
        TradeoffDP(knots)


@pytest.mark.parametrize("knots", [3.0, [(0.0, "1"), (1.0, "0")], [(0, 1, 2)], None])
def test_corners_of_the_wrong_shape_are_refused(knots):
    with pytest.raises(TypeError, match="knots must be pairs"):
        TradeoffDP(knots)


def test_approximate_corners_agree_with_the_approximate_notion():
    e, d = math.exp(0.7), 0.05
    a = (1 - d) / (1 + e)
    g = TradeoffDP([(0.0, 1 - d), (a, a), (1 - d, 0.0), (1.0, 0.0)])
    epsilon = np.linspace(-1, 2, 31)
    assert g.delta(epsilon) == pytest.approx(ApproximateDP(0.7, d).delta(epsilon))
