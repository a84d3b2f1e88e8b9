"""What a posterior fit cost one person, against exact log ratios in one dimension."""

import math

import numpy as np
import pytest
from scipy.special import logsumexp

from skdp.accounting import ApproximateDP, PureDP
from skdp.losses import HuberLoss, LogCoshLoss, LogisticLoss, SquaredLoss
from skdp.mechanisms import BoundedPosterior, GibbsPosterior, LocalizedPosterior
from skdp.pdp import center_loss, draws_loss, fit_loss, posterior_loss
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks
from skdp.samplers import Ball

SLOPED = [LogisticLoss(), HuberLoss(scale=0.3), LogCoshLoss(scale=0.3)]
each_loss = pytest.mark.parametrize("loss", SLOPED, ids=lambda v: type(v).__name__)
GAUSSIAN = ApproximateDP(1.0, 1e-6)


def rows(X, y, loss):
    labels = None if isinstance(loss, LogisticLoss) else Targets(-1.0, 1.0)
    table = np.reshape(np.asarray(X, dtype=float), (-1, 1))
    blocks = as_row_blocks(table, np.asarray(y, dtype=float), labels=labels)
    return PrivateRows(blocks, L2Ball(1.0))


def table(loss, n, seed):
    generator = np.random.default_rng(seed)
    X = generator.uniform(-1.5, 1.5, size=n)
    if isinstance(loss, LogisticLoss):
        return X, generator.choice([-1.0, 1.0], size=n)
    return X, generator.uniform(-1.2, 1.2, size=n)


def gibbs(loss, target=GAUSSIAN, ball=None, **kwargs):
    return GibbsPosterior.calibrate(
        target, loss=loss, radius=1.0, n_coefficients=1, ball=ball, **kwargs
    )


def neighbours(loss, n=20, seed=1, asked=4):
    """Yield data, data with one record more, and that record, some times over."""
    X, y = table(loss, n, seed)
    new_X, new_y = table(loss, asked, seed + 1)
    new_X[0] = 1.0
    for x, t in zip(new_X, new_y, strict=True):
        data = rows(X, y, loss)
        more = rows(np.append(X, x), np.append(y, t), loss)
        yield data, more, rows([x], [t], loss)


# --- draws on the whole space -------------------------------------------------------


@each_loss
@pytest.mark.parametrize("rho", [1e-6, 1e-2])
def test_one_draw_on_the_line_loses_more_than_the_bound_with_probability_rho(loss, rho):
    """Exact probabilities by summation over a fine grid, both orders of the pair."""
    m = gibbs(loss, alpha=2.0)
    width = 14 / math.sqrt(m.inverse_temperature * m.alpha)
    for data, more, asked in neighbours(loss):
        bound = draws_loss(m, np.zeros((1, 1)), asked, rho=rho)[0]
        grid = np.linspace(-width - 12, width + 12, 40_001)[:, None]
        p, q = (-m.target(d).potential(grid) for d in (data, more))
        p, q = p - logsumexp(p), q - logsumexp(q)
        for law in (p, q):
            assert np.exp(law[np.abs(p - q) > bound]).sum() <= rho


@each_loss
@pytest.mark.statistical
def test_several_draws_on_the_line_lose_no_more_than_the_bound(loss):
    """400 fits at rho = 1e-10: false alarm below 1e-7. The bound grows by sqrt m."""
    n_draws, rho = 9, 1e-10
    m = gibbs(loss, n_releases=n_draws, alpha=2.0)
    source = as_random_source(5)
    for data, more, asked in neighbours(loss, asked=2):
        bound = draws_loss(m, np.zeros((n_draws, 1)), asked, rho=rho)[0]
        one = draws_loss(m, np.zeros((1, 1)), asked, rho=rho)[0]
        assert 2.9 * one < bound < 3.1 * one
        log_p, log_q = m.log_density_on(data), m.log_density_on(more)
        points = np.array(
            [r.output for r in m.release_many(data, 200 * n_draws, source)]
        )
        ratio = np.array([log_p(t) - log_q(t) for t in points])
        assert np.abs(ratio.reshape(200, n_draws).sum(axis=1)).max() <= bound


def test_the_loss_of_a_straight_record_is_nearly_attained():
    """A target out of reach pushes with a constant slope: a normal law is shifted."""
    loss = HuberLoss(target_bound=50.0, scale=0.1)
    m = gibbs(loss, alpha=2.0)
    labels = Targets(-50.0, 50.0, bound=50.0)
    none, more = (
        PrivateRows(as_row_blocks(x, np.array([50.0]), labels=labels), L2Ball(1.0))
        for x in (np.zeros((1, 1)), np.ones((1, 1)))
    )
    bound = draws_loss(m, np.zeros((1, 1)), more)[0]
    width = 9 / math.sqrt(m.inverse_temperature * m.alpha)
    grid = np.linspace(-width, width, 20_001)[:, None]
    p, q = (-m.target(d).potential(grid) for d in (none, more))
    p, q = p - logsumexp(p), q - logsumexp(q)
    order = np.argsort(np.abs(p - q))[::-1]
    beyond = order[np.cumsum(np.exp(p[order])) > 1e-6][0]
    assert 0.94 * bound < abs(p - q)[beyond] <= bound


@each_loss
def test_the_bound_reads_the_length_of_the_row_and_its_label_alone(loss):
    m = gibbs(loss)
    X, y = np.array([1.0, -0.2, 1e9]), np.array([1.0, -1.0, 1.0])
    together = draws_loss(m, np.zeros((3, 1)), rows(X, y, loss))
    alone = [
        draws_loss(m, np.ones((3, 1)), rows([a], [b], loss))
        for a, b in zip(X, y, strict=True)
    ]
    np.testing.assert_allclose(together, np.concatenate(alone), rtol=1e-12)
    assert together[2] == pytest.approx(together[0], rel=1e-9)
    assert together[1] < 0.3 * together[0]
    assert draws_loss(m, np.zeros((3, 1)), rows([], [], loss)).shape == (0,)


def test_rows_that_are_no_part_of_the_objective_lose_nothing():
    loss = LogisticLoss()
    asked = rows([0.0, 0.7], [1.0, 0.0], loss)
    ball = Ball.around_zero(1, 0.5)
    for m in (gibbs(loss), gibbs(loss, ball=ball), gibbs(loss, PureDP(1.0), ball)):
        np.testing.assert_array_equal(draws_loss(m, np.zeros((2, 1)), asked), 0.0)


# --- draws on a ball ----------------------------------------------------------------


@pytest.mark.parametrize("target", [PureDP(1.0), GAUSSIAN], ids=repr)
def test_draws_add_up_however_they_are_cut_in_parts(target, monkeypatch):
    loss = SquaredLoss()
    m = gibbs(loss, target, Ball((0.4,), 1.0), n_releases=5)
    draws = np.linspace(-0.5, 1.3, 5)[:, None]
    asked = rows(*table(loss, 40, seed=3), loss)
    together = posterior_loss(m, draws, asked, rho=1e-6)
    each = [posterior_loss(m, draw, asked, rho=1e-6 / 5) for draw in draws]
    np.testing.assert_allclose(together, np.sum(each, axis=0), rtol=1e-12)
    monkeypatch.setattr("skdp.pdp._posterior._CHUNK", 7)
    np.testing.assert_allclose(posterior_loss(m, draws, asked), together, rtol=1e-12)


def test_gaussian_draws_on_a_ball_take_the_smaller_of_both_bounds():
    loss, rho = LogisticLoss(), 1e-6
    asked = rows([1.0], [1.0], loss)
    small = gibbs(loss, ball=Ball.around_zero(1, 0.3), n_releases=2)
    draws = np.array([[0.1], [0.2]])
    by_draws = posterior_loss(small, draws, asked, rho=rho / 2)
    np.testing.assert_array_equal(draws_loss(small, draws, asked, rho=rho), by_draws)
    many = gibbs(loss, ball=Ball.around_zero(1, 9.0), n_releases=100, alpha=5.0)
    draws = np.full((100, 1), 0.1)
    by_draws = posterior_loss(many, draws, asked, rho=rho / 2)
    assert draws_loss(many, draws, asked, rho=rho) < 0.5 * by_draws


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_a_pure_bound_is_never_above_the_total(adjacency):
    loss = LogisticLoss()
    ball = Ball.around_zero(1, 2.0)
    m = gibbs(loss, PureDP(1.0, adjacency=adjacency), ball, n_releases=3)
    asked = rows([1.0, -1.0, 0.3], [1.0, 1.0, -1.0], loss)
    for theta in (-2.0, 0.0, 2.0):
        bound = fit_loss(m, np.full((3, 1), theta), asked)
        assert np.all(bound <= m.guarantee_of(3).epsilon(0.0) * (1 + 1e-12))


# --- a private centre ---------------------------------------------------------------


def localized(loss, target, **kwargs):
    return LocalizedPosterior.calibrate(
        target, loss=loss, radius=1.0, n_coefficients=1, alpha=3.0, **kwargs
    )


@each_loss
@pytest.mark.statistical
@pytest.mark.parametrize("target", [PureDP(1.0), GAUSSIAN], ids=repr)
def test_centre_and_draws_lose_no_more_than_the_bound(loss, target):
    """20 releases at rho = 1e-9 or certain: false alarm below 1e-7 for each pair."""
    m, source = localized(loss, target, n_draws=2), as_random_source(11)
    for data, more, asked in neighbours(loss, asked=2):
        log_p, log_q = m.log_density_on(data), m.log_density_on(more)
        for _ in range(20):
            output = m.release(data, source).output
            bound = fit_loss(m, output[1:], asked, center=output[0], rho=1e-9)[0]
            # the published draws may lie outside the ball by the lattice step
            ball = m.ball(output[0])
            low, high = ball.midpoint - ball.radius, ball.midpoint + ball.radius
            inside = np.vstack([output[:1], np.clip(output[1:], low, high)])
            assert abs(log_p(inside) - log_q(inside)) <= bound
            if isinstance(target, PureDP):
                assert bound <= m.guarantee.epsilon(0.0) * (1 + 1e-9)


def test_the_loss_of_a_localized_fit_is_nearly_attained():
    """Straight losses, the posterior at one end of its ball, and draws at the other."""
    loss, n = HuberLoss(scale=0.3), 100
    m = LocalizedPosterior.calibrate(
        PureDP(1.0),
        loss=loss,
        radius=1.0,
        n_coefficients=1,
        alpha=0.6 * n,
        max_radius=2.0,
        n_draws=2,
    )
    data, more, asked = (rows([1.0] * k, [1.0] * k, loss) for k in (n, n + 1, 1))
    ball = m.ball(np.array([-4.0]))
    low = ball.center[0] - ball.radius
    output = np.array([[-4.0], [low], [low]])
    ratio = m.log_density_on(data)(output) - m.log_density_on(more)(output)
    bound = fit_loss(m, output[1:], asked, center=output[0])[0]
    assert 0.97 * bound < abs(ratio) <= bound <= 1.0


def test_the_centre_costs_a_row_by_its_own_slope():
    m = localized(LogisticLoss(), PureDP(1.0)).center
    loss = center_loss(m, rows([1.0, 0.25, 0.0], [1.0, -1.0, 1.0], LogisticLoss()))
    assert loss[0] == pytest.approx(m.guarantee.epsilon(0.0), rel=1e-9)
    assert loss[1] == pytest.approx(0.25 * loss[0], rel=0.05)
    assert loss[2] == 0.0
    m = localized(SquaredLoss(), GAUSSIAN, max_radius=2.0).center
    loss = center_loss(m, rows([1.0, 0.5], [1.0, 0.0], SquaredLoss()), rho=1e-6)
    # |t - y| up to 3 against up to 1, at norms 1 and 1/2
    assert loss[0] / loss[1] == pytest.approx(6.0, rel=0.1)


def test_a_localized_fit_needs_its_centre():
    m = localized(LogisticLoss(), PureDP(1.0))
    with pytest.raises(ValueError, match="center is missing"):
        fit_loss(m, np.zeros((1, 1)), rows([1.0], [1.0], LogisticLoss()))


# --- a bounded amount of work -------------------------------------------------------


@pytest.mark.parametrize("loss", [LogisticLoss(), SquaredLoss()], ids=repr)
@pytest.mark.parametrize("target", [PureDP(1.0), GAUSSIAN], ids=repr)
def test_draws_of_bounded_work_lose_no_more_than_the_bound(loss, target):
    """The law is a mixture: its exact log ratio, on a grid of the whole ball."""
    ball = Ball.around_zero(1, 1.0)
    m = BoundedPosterior.calibrate(
        target, loss=loss, radius=1.0, n_coefficients=1, ball=ball, n_rows=30
    )
    for data, more, asked in neighbours(loss):
        log_p, log_q = m.log_density_on(data), m.log_density_on(more)
        ratio = [abs(log_p(t) - log_q(t)) for t in np.linspace(-1, 1, 41)[:, None]]
        bound = fit_loss(m, np.zeros((1, 1)), asked)[0]
        # Gaussian: the smaller of two bounds may fail in the tails, the sure one not
        if isinstance(target, PureDP):
            assert max(ratio) <= bound <= m.guarantee.epsilon(0.0) * (1 + 1e-9)
    several = fit_loss(m, np.zeros((4, 1)), asked)[0]
    assert bound < several <= 4 * bound * (1 + 1e-9)
    none = fit_loss(m, np.zeros((1, 1)), rows([0.0], [1.0], loss))
    np.testing.assert_array_equal(none, 0.0)
