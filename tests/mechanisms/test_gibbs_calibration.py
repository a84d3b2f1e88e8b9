"""How the budget of several draws is shared."""

import math

import numpy as np
import pytest

from skdp.accounting import (
    ApproximateDP,
    GaussianDP,
    PureDP,
    compose,
)
from skdp.losses import LogisticLoss
from skdp.mechanisms import GibbsPosterior
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, as_row_blocks
from skdp.samplers import Ball

BALL = Ball.around_zero(2, 2.0)
TARGETS = [
    (PureDP(3.0), BALL),
    (PureDP(1.0, adjacency="replace-one"), BALL),
    (ApproximateDP(1.0, 1e-6), None),
    (ApproximateDP(1.0, 1e-6), BALL),
    (GaussianDP(0.5), None),
]
each_target = pytest.mark.parametrize(("target", "ball"), TARGETS)


def calibrated(target, ball, n_releases):
    return GibbsPosterior.calibrate(
        target,
        loss=LogisticLoss(),
        radius=1.0,
        n_coefficients=2,
        ball=ball,
        n_releases=n_releases,
    )


@pytest.mark.parametrize("n_releases", [1, 2, 30])
@each_target
def test_releases_together_meet_the_target_and_use_it(target, ball, n_releases):
    total = calibrated(target, ball, n_releases).guarantee_of(n_releases)
    assert total.implies(target)
    delta = 0.0 if isinstance(target, PureDP) else 1e-6
    assert total.epsilon(delta) > 0.95 * target.epsilon(delta)


@each_target
def test_the_price_of_several_releases_is_near_their_composition(target, ball):
    mechanism = calibrated(target, ball, 5)
    composed = compose(*[mechanism.guarantee] * 5)
    total = mechanism.guarantee_of(5)
    for delta in (0.0, 1e-9, 1e-3):
        # sums of alternatives on one side, optimal composition on the other
        sizes = total.epsilon(delta), composed.epsilon(delta)
        assert sizes[0] == pytest.approx(sizes[1], rel=0.05)


def test_draws_share_a_pure_epsilon_evenly_and_a_mu_by_the_root():
    one, nine = (calibrated(PureDP(0.9), BALL, n) for n in (1, 9))
    assert one.inverse_temperature / nine.inverse_temperature == pytest.approx(9.0)
    one, nine = (calibrated(GaussianDP(0.9), None, n) for n in (1, 9))
    assert one.mu / nine.mu == pytest.approx(3.0)


def test_the_ridge_makes_the_posterior_of_no_rows_as_wide_as_the_ball():
    mechanism = calibrated(GaussianDP(0.9), BALL, 1)
    # sqrt(d) standard deviations of exp(-gamma alpha |theta|^2 / 2)
    spread = math.sqrt(2 / (mechanism.inverse_temperature * mechanism.alpha))
    assert spread == pytest.approx(BALL.radius, rel=1e-4)


@pytest.mark.parametrize("n_releases", [0, -1])
def test_a_count_below_one_is_refused(n_releases):
    with pytest.raises(ValueError, match="n_releases is out of range"):
        calibrated(PureDP(1.0), BALL, n_releases)
    with pytest.raises(ValueError, match="n_releases is out of range"):
        calibrated(PureDP(1.0), BALL, 1).guarantee_of(n_releases)


def test_releases_are_apart_and_have_the_spread_of_the_prior_without_rows():
    rows = PrivateRows(as_row_blocks(np.zeros((1, 2)), np.ones(1)), L2Ball(1.0))
    mechanism = calibrated(PureDP(1000.0), BALL, 1000)
    releases = mechanism.release_many(rows, 1000, as_random_source(0))
    outputs = np.stack([release.output for release in releases])
    assert len(np.unique(outputs[:, 0])) == 1000
    assert np.all(np.linalg.norm(outputs, axis=1) < BALL.radius * 1.001)


def test_a_density_that_falls_faster_than_floats_can_tell_is_refused():
    with pytest.raises(ValueError, match="falls faster than floats can tell"):
        GibbsPosterior.calibrate(
            PureDP(1.0),
            loss=LogisticLoss(),
            radius=1.0,
            n_coefficients=1,
            ball=Ball((1e3,), 1.0),
            alpha=1e9,
        )
