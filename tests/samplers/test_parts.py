"""Ball, target, mode and normaliser."""

import numpy as np
import pytest
import scipy.sparse as sp
from gibbs_by_hand import LOSSES, potential, rows, table
from scipy.optimize import minimize

from skdp.losses import LogisticLoss, SquaredLoss
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, as_row_blocks
from skdp.samplers import Ball, GibbsSampler, GibbsTarget, log_normaliser
from skdp.samplers._factor import factored
from skdp.samplers._mode import near_mode


def target_of(name="logistic", n=40, d=3, *, gamma=2.0, alpha=0.5, ball=None, seed=0):
    X, y = table(name, n, d, seed)
    target = GibbsTarget(
        rows(X, y), LOSSES[name][0], inverse_temperature=gamma, alpha=alpha, ball=ball
    )
    return target, X, y


def test_a_ball_is_a_frozen_value_of_public_numbers():
    ball = Ball(np.array([3.0, 4.0]), 2)
    assert ball == Ball((3.0, 4.0), 2.0)
    assert hash(ball) == hash(Ball((3.0, 4.0), 2.0))
    assert (ball.center_norm, ball.reach) == (5.0, 7.0)
    for center in ((), (np.nan,), (np.inf, 0.0)):
        with pytest.raises(ValueError, match="center is not a vector"):
            Ball(center, 1.0)
    for radius in (0.0, -1.0, np.inf):
        with pytest.raises(ValueError, match="radius is out of range"):
            Ball((0.0,), radius)


@pytest.mark.parametrize("name", LOSSES)
def test_the_potential_is_that_written_by_hand(name):
    target, X, y = target_of(name, n=700)
    thetas = np.random.default_rng(0).normal(size=(333, 3))
    expected = potential(name, X, y, 2.0, 0.5, thetas)
    np.testing.assert_allclose(target.potential(thetas), expected, rtol=1e-12)
    one = thetas[0]
    h = 1e-6
    steps = np.eye(3) * h
    slopes = potential(name, X, y, 2.0, 0.5, one + steps)
    slopes = slopes - potential(name, X, y, 2.0, 0.5, one - steps)
    np.testing.assert_allclose(target.gradient(one), slopes / (2 * h), atol=1e-5)


def test_sparse_rows_blocks_and_dense_rows_are_one_target():
    X, y = table("logistic", 90, 4, seed=3)
    X[np.abs(X) < 0.5] = 0.0
    thetas = np.random.default_rng(1).normal(size=(5, 5))
    found = []
    for blocks in (
        as_row_blocks(X, y),
        as_row_blocks(sp.csr_array(X), y),
        as_row_blocks(X, y, block_rows=7),
        as_row_blocks([(X[:30], y[:30]), (X[30:], y[30:])]),
    ):
        private = PrivateRows(blocks, L2Ball(1.0, 0.5))
        target = GibbsTarget(private, LogisticLoss(), inverse_temperature=1.0, alpha=1)
        found.append(target.potential(thetas))
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-13)


@pytest.mark.parametrize("ball", [None, Ball((0.0, 0.2, 0.0), 0.3), Ball((9, 9, 9), 1)])
@pytest.mark.parametrize("name", LOSSES)
def test_the_mode_is_near_and_in_the_domain(name, ball):
    target, X, y = target_of(name, ball=ball)
    theta, g, H = near_mode(target)
    assert target.inside(theta[None])[0]

    def J(point):
        return float(potential(name, X, y, 2.0, 0.5, point[None])[0])

    bounds = () if ball is None else ({"type": "ineq", "fun": room(ball)},)
    best = minimize(J, theta * 0.9, constraints=bounds, method="SLSQP", tol=1e-12).fun
    assert J(theta) <= best + 1e-4
    np.testing.assert_allclose(g, target.gradient(theta))
    assert np.all(np.linalg.eigvalsh(H) > 0)


def room(ball):
    return lambda point: ball.radius**2 - np.sum((point - ball.midpoint) ** 2)


def test_no_rows_and_rows_of_zeros_leave_the_ridge():
    for X in (np.empty((0, 2)), np.zeros((3, 2))):
        private = PrivateRows(as_row_blocks(X, np.ones(len(X))), L2Ball(1.0))
        target = GibbsTarget(private, SquaredLoss(), inverse_temperature=4.0, alpha=1.0)
        draws = GibbsSampler(target, as_random_source(0)).draw(20_000)
        # 1/sqrt(4): six standard errors of a standard deviation
        assert np.all(np.abs(draws.std(axis=0) - 0.5) < 6 * 0.5 / np.sqrt(40_000))


def test_the_normaliser_in_the_plane_is_that_of_a_fine_grid():
    ball = Ball((0.3, -0.1), 1.0)
    for name in ("logistic", "log-cosh"):
        target, X, y = target_of(name, d=2, ball=ball)
        axis = np.linspace(-1, 1, 801)
        points = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
        points = points[np.sum(points**2, axis=1) <= 1.0] + ball.midpoint
        J = potential(name, X, y, 2.0, 0.5, points)
        truth = np.log(np.sum(np.exp(-J)) * (axis[1] - axis[0]) ** 2)
        assert log_normaliser(target) == pytest.approx(truth, abs=2e-3)
    wide, X, y = target_of("squared", d=2)
    value, _, H = near_mode(wide)
    truth = -wide.potential(value[None])[0] + np.log(2 * np.pi)
    truth -= np.linalg.slogdet(H)[1] / 2
    assert log_normaliser(wide) == pytest.approx(truth, abs=1e-9)


def test_public_numbers_out_of_range_are_refused():
    X, y = table("logistic", 5, 2, seed=0)
    with pytest.raises(ValueError, match="inverse_temperature is out of range"):
        GibbsTarget(rows(X, y), LogisticLoss(), inverse_temperature=0.0, alpha=1.0)
    with pytest.raises(ValueError, match="alpha is out of range"):
        GibbsTarget(rows(X, y), LogisticLoss(), inverse_temperature=1.0, alpha=0.0)
    with pytest.raises(ValueError, match="centre of the ball has 3"):
        target_of(d=2, ball=Ball.around_zero(3, 1.0))
    with pytest.raises(ValueError, match="envelope is not one of"):
        GibbsSampler(target_of()[0], as_random_source(0), envelope="mala")
    with pytest.raises(ValueError, match="no ball to cover"):
        GibbsSampler(target_of()[0], as_random_source(0), envelope="gauss")
    with pytest.raises(ValueError, match="one or two"):
        log_normaliser(target_of(d=3)[0])


def test_the_choice_of_an_envelope_is_the_one_that_accepts_more():
    for seed in range(4):
        ball = Ball.around_zero(3, 0.3 + seed)
        target, *_ = target_of(n=300, ball=ball, seed=seed)
        rates = {}
        for envelope in ("core-tail", "gauss", "auto"):
            drawn = GibbsSampler(target, as_random_source(1), envelope=envelope)
            drawn.draw(3000)
            rates[envelope] = drawn.n_accepted / drawn.n_proposals
        assert rates["auto"] >= 0.9 * max(rates.values())


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("ball", [None, Ball((0.0,) * 4, 5.0)])
def test_a_ridge_below_rounding_is_no_error(name, ball):
    """Equal rows leave directions without curvature; the rest of the law is right."""
    X = np.tile([[0.5, 0.5, 0.5, 0.5]], (2000, 1))
    y = np.where(np.arange(2000) % 3 > 0, 1.0, -1.0)
    target = GibbsTarget(
        rows(X, y), LOSSES[name][0], inverse_temperature=1.0, alpha=1e-14, ball=ball
    )
    draws = GibbsSampler(target, as_random_source(0)).draw(20)
    assert np.isfinite(draws).all()


def test_a_matrix_is_made_definite_within_its_rounding():
    v = np.ones(5) * 1e8
    A = np.outer(v, v)
    raised, factor = factored(A)
    np.testing.assert_allclose(raised, A, rtol=1e-13)
    np.testing.assert_allclose(factor @ factor.T, raised, rtol=1e-13)
    definite = A + 1e16 * np.eye(5)
    assert factored(definite)[0] is definite
