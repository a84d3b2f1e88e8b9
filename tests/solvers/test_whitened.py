"""Minimising over weighted rows in the coordinates of a matrix."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from skdp.losses import LogCoshLoss, LogisticLoss
from skdp.rows import L2Ball, as_row_blocks
from skdp.solvers import Table, WhitenedObjective

RNG = np.random.Generator(np.random.PCG64(3))
X = RNG.standard_normal((400, 5)) / 2
Y = np.where(RNG.random(400) < 0.3, -1.0, 1.0)
A = RNG.standard_normal((6, 6)) + 2 * np.eye(6)
BALL = L2Ball(1.0, intercept_scaling=0.5)
PULL = np.array([0.3, -1.0, 0.2, 0.0, 2.0, 0.5])


def weigh(x, factors):
    first = np.asarray(x[:, [0]].toarray() if sp.issparse(x) else x[:, [0]])
    return 1.0 / (1.0 + (first[:, 0] * factors) ** 2)


def objective(loss, x=X, **options):
    table = Table(as_row_blocks(x, Y, **options), BALL).weighted_by(weigh)
    return WhitenedObjective(table, loss, 0.7, A)


def dense(loss, phi, linear):
    """The defining sum, its gradient included, over clipped rows."""
    rows = BALL.project(X)
    t = rows @ (A @ phi)
    # the table hands out factors in its units, powers of two above the radius
    w = 1.0 / (1.0 + (rows[:, 0] / 2.0) ** 2)
    value = w @ loss.value(Y, t) + 0.35 * phi @ phi + linear @ phi
    gradient = A.T @ (rows.T @ (w * loss.gradient(Y, t))) + 0.7 * phi + linear
    return value, gradient


@pytest.mark.parametrize("loss", [LogisticLoss(), LogCoshLoss(scale=0.3)], ids=str)
def test_the_minimiser_is_that_of_the_defining_sum(loss):
    found = objective(loss).minimise(PULL, start=np.zeros(6), gradient_tol=1e-9)
    assert found.gradient_norm <= 1e-9
    _, gradient = dense(loss, found.x, PULL)
    assert np.linalg.norm(gradient) < 1e-8
    answer = minimize(lambda p: dense(loss, p, PULL), np.zeros(6), jac=True, tol=1e-12)
    np.testing.assert_allclose(found.x, answer.x, atol=1e-5)


@pytest.mark.parametrize("loss", [LogisticLoss(), LogCoshLoss(scale=0.3)], ids=str)
def test_gradient_and_hessian_are_derivatives_of_the_defining_sum(loss):
    of = objective(loss)
    phi, zero = PULL / 3, np.zeros(6)
    gradient, hessian = of.gradient_hessian(phi)
    np.testing.assert_allclose(gradient, dense(loss, phi, zero)[1], rtol=1e-12)
    np.testing.assert_array_equal(of.gradient(phi), gradient)
    for i, e in enumerate(np.eye(6) * 1e-5):
        slope = of.gradient(phi + e) - of.gradient(phi - e)
        np.testing.assert_allclose(hessian[i], slope / 2e-5, rtol=1e-6, atol=1e-8)


def test_sparse_rows_other_blocks_and_far_rows_give_the_same():
    loss, options = LogisticLoss(), {"start": np.zeros(6), "gradient_tol": 1e-10}
    whole = objective(loss).minimise(PULL, **options)
    outside = np.argmax(np.linalg.norm(X, axis=1))
    far = X.copy()
    far[outside] *= 1e200
    for other in (
        objective(loss, sp.csr_array(X)),
        objective(loss, X, block_rows=7),
        objective(loss, far),
    ):
        found = other.minimise(PULL, **options)
        np.testing.assert_allclose(found.x, whole.x, atol=1e-9)


def test_a_second_solve_starts_from_the_model_of_the_first():
    of = objective(LogisticLoss())
    first = of.minimise(PULL, start=np.zeros(6), gradient_tol=1e-10)
    nearby = of.minimise(PULL * 1.001, start=first.x, gradient_tol=1e-10)
    assert nearby.n_passes <= first.n_passes
    again = of.minimise(PULL * 1.001, start=RNG.standard_normal(6), gradient_tol=1e-10)
    np.testing.assert_allclose(nearby.x, again.x, atol=1e-9)


def test_weights_are_computed_once_and_the_plain_table_stays_plain():
    calls = []

    def counted(x, factors):
        calls.append(len(factors))
        return np.ones(len(factors))

    table = Table(as_row_blocks(X, Y, block_rows=100), BALL)
    weighted = table.weighted_by(counted)
    for _ in range(3):
        assert [y.size for _, y, _ in weighted] == [100] * 4
    assert calls == [100] * 4
    ones = np.ones(100)
    table.apply_weights(0, ones)
    assert (ones == 1.0).all()
    part = Table(as_row_blocks(np.tile(X, (40, 1)), np.tile(Y, 40)), BALL)
    part, share = part.weighted_by(counted).part(0.1, 10)
    assert part is not None
    assert 0.05 < share < 0.2
    list(part)
    assert len(calls) > 4
