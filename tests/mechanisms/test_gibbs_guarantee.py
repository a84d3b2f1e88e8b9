"""What holds of several draws, side by side, with rounding and lattice steps."""

import math

import pytest

from skdp.accounting import Adjacency, GaussianDP, PureDP, ZeroConcentratedDP
from skdp.mechanisms._gibbs_guarantee import MU_COST, PURE_COST, gibbs_guarantee

COMMON = {"adjacency": Adjacency.ADD_REMOVE, "assumptions": ()}


@pytest.mark.parametrize("n", [1, 4])
def test_an_ideal_draw_is_pure_of_bounded_range_and_gaussian(n):
    parts = gibbs_guarantee(
        0.8, 0.3, rounding=0.0, step=None, n_draws=n, **COMMON
    ).parts
    pure, ranged, gaussian = parts
    assert pure.epsilon_bound == pytest.approx(0.8 * n)
    assert ranged.rho == pytest.approx(n * 0.8**2 / 8)
    assert gaussian.mu == pytest.approx(math.sqrt(n) * 0.3)


def test_rounding_is_paid_for_in_each_of_them():
    eta = 0.01
    pure, ranged, gaussian = gibbs_guarantee(
        0.8, 0.3, rounding=eta, step=None, n_draws=1, **COMMON
    ).parts
    assert pure == PureDP(0.8 + PURE_COST * eta)
    assert ranged == ZeroConcentratedDP((0.8 + PURE_COST * eta) ** 2 / 8)
    assert gaussian == GaussianDP(0.3 + MU_COST * eta)


def test_every_draw_pays_for_its_lattice_step():
    total = gibbs_guarantee(
        0.8, 0.3, rounding=0.0, step=PureDP(0.01), n_draws=3, **COMMON
    )
    assert total.epsilon(0.0) == pytest.approx(3 * 0.81)


def test_without_a_ball_the_gaussian_one_alone_is_left():
    parts = gibbs_guarantee(
        math.inf, 0.3, rounding=0.0, step=None, n_draws=1, **COMMON
    ).parts
    assert parts == (GaussianDP(0.3),)
