"""The published bound of a Gibbs draw against exact log ratios in one dimension."""

import numpy as np
import pytest

from skdp.accounting import ApproximateDP, PureDP
from skdp.losses import HuberLoss, LogCoshLoss, LogisticLoss, SquaredLoss
from skdp.mechanisms import GibbsPosterior
from skdp.pdp import posterior_loss
from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks
from skdp.samplers import Ball

LOSSES = [LogisticLoss(), SquaredLoss(), HuberLoss(scale=0.3), LogCoshLoss(scale=0.3)]
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda v: type(v).__name__)


def rows(X, y):
    numeric = not set(np.abs(y)) <= {0.0, 1.0}
    labels = Targets(-1.0, 1.0) if numeric else None
    return PrivateRows(
        as_row_blocks(np.reshape(X, (-1, 1)), y, labels=labels), L2Ball(1.0)
    )


def calibrated(loss, target=None, ball=None):
    return GibbsPosterior.calibrate(
        target or PureDP(1.0),
        loss=loss,
        radius=1.0,
        n_coefficients=1,
        ball=ball or Ball((0.4,), 1.0),
    )


def table(loss, n, seed):
    generator = np.random.default_rng(seed)
    X = generator.uniform(-1.5, 1.5, size=n)
    if isinstance(loss, LogisticLoss):
        return X, generator.choice([-1.0, 1.0], size=n)
    return X, generator.uniform(-1.2, 1.2, size=n)


@each_loss
def test_the_bound_covers_the_exact_loss_of_members_and_others(loss):
    m = calibrated(loss)
    X, y = table(loss, 30, seed=1)
    asked_X, asked_y = table(loss, 12, seed=2)
    thetas = np.linspace(-0.6, 1.4, 9)
    here = m.log_density_on(rows(X, y))
    tightest = np.inf
    for k in range(12):
        others = [
            m.log_density_on(rows(np.append(X, asked_X[k]), np.append(y, asked_y[k]))),
            m.log_density_on(rows(np.delete(X, k), np.delete(y, k))),
        ]
        asked = rows([asked_X[k], X[k]], np.array([asked_y[k], y[k]]))
        for theta in thetas:
            point = np.array([theta])
            truth = [abs(here(point) - other(point)) for other in others]
            bound = posterior_loss(m, point, asked)
            assert np.all(truth <= bound)
            assert np.all(bound <= m.guarantee.epsilon(0.0) * (1 + 1e-9))
            tightest = min(tightest, float(np.min(bound / np.maximum(truth, 1e-3))))
    assert tightest < 2.0


@each_loss
def test_the_bound_reads_nothing_but_the_row_and_its_clipped_length(loss):
    m = calibrated(loss)
    theta = np.array([0.3])
    X, y = np.array([1.0, 0.2, 1e9]), np.array([1.0, -1.0, 1.0])
    together = posterior_loss(m, theta, rows(X, y))
    alone = [posterior_loss(m, theta, rows(X[[k]], y[[k]])) for k in range(3)]
    np.testing.assert_allclose(together, np.concatenate(alone), rtol=1e-12)
    assert together[2] == pytest.approx(together[0], rel=1e-9)
    assert posterior_loss(m, theta, rows(np.empty(0), np.empty(0))).shape == (0,)


def test_rows_that_are_no_part_of_the_objective_lose_nothing():
    m = calibrated(LogisticLoss())
    found = posterior_loss(m, np.zeros(1), rows([0.0, 0.7], np.array([1.0, 0.0])))
    np.testing.assert_array_equal(found, 0.0)


def test_gaussian_smoothing_pays_for_its_own_loss():
    m = calibrated(LogisticLoss(), ApproximateDP(1.0, 1e-6))
    asked = rows([1.0], np.array([1.0]))
    loose = posterior_loss(m, np.zeros(1), asked, rho=1e-9)
    tight = posterior_loss(m, np.zeros(1), asked, rho=1e-3)
    assert tight[0] < loose[0] < 1.1 * m.pure_epsilon


def test_without_a_ball_there_is_no_bound():
    m = GibbsPosterior.calibrate(
        ApproximateDP(1.0, 1e-6), loss=HuberLoss(), radius=1.0, n_coefficients=1
    )
    with pytest.raises(ValueError, match="the mechanism has no ball"):
        posterior_loss(m, np.zeros(1), rows([1.0], np.array([1.0])))
