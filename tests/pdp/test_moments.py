"""What released second moments cost one person: the exact loss, and its bound."""

import numpy as np
import pytest
from scipy.special import ndtri

from skdp.accounting import ApproximateDP
from skdp.mechanisms import AdaSSP
from skdp.pdp import exact_moments_loss, moments_loss
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks

MECHANISM = AdaSSP.calibrate(
    ApproximateDP(4.0, 1e-6), radius=np.hypot(1.0, 0.5), n_coefficients=3
)


def rows(X, y):
    X = np.atleast_2d(np.asarray(X, float))
    blocks = as_row_blocks(X, np.asarray(y, float), labels=Targets(-1, 1))
    return PrivateRows(blocks, L2Ball(1.0, 0.5))


def table(n=30, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)), rng.uniform(-1, 1, n)


def test_the_exact_loss_is_the_log_ratio_of_the_densities():
    X, y = table()
    data = rows(X, y)
    output = MECHANISM.release(data, as_random_source(1)).output
    found = exact_moments_loss(MECHANISM, output, data, data)
    with_all = MECHANISM.log_density(output, data)
    for k in (0, 7, 29):
        without = rows(np.delete(X, k, axis=0), np.delete(y, k))
        ratio = with_all - MECHANISM.log_density(output, without)
        assert found[k] == pytest.approx(ratio, abs=1e-9)
    others = table(5, 1)
    member = np.zeros(5, dtype=bool)
    found = exact_moments_loss(MECHANISM, output, data, rows(*others), member)
    for k in range(5):
        more = rows(np.vstack([X, others[0][k]]), np.append(y, others[1][k]))
        ratio = with_all - MECHANISM.log_density(output, more)
        assert found[k] == pytest.approx(ratio, abs=1e-9)


def test_the_bound_is_mu_squared_over_two_and_a_quantile_and_a_little_more():
    """Of the row's own change: |x|^2 in the matrix, |x y| in the vector."""
    data = rows([[0.6, 0.8], [0.3, 0.0], [0.0, 0.0]], [1.0, -0.5, 0.2])
    q = np.array([1.25, 0.09 + 0.25, 0.25]) / 1.25
    mu = np.sqrt(q**2 + q * np.array([1.0, 0.25, 0.04])) / MECHANISM.noise_law.scale
    for rho in (1e-6, 1e-3):
        plain = mu**2 / 2 - mu * ndtri(rho)
        found = moments_loss(MECHANISM, data, rho=rho)
        assert np.all(found >= plain)
        assert np.all(found <= 1.08 * plain + 0.07)


def test_rows_of_zeros_without_a_constant_cost_nothing():
    mechanism = AdaSSP.calibrate(ApproximateDP(1.0, 1e-6), radius=1.0, n_coefficients=2)
    X = np.array([[0.0, 0.0], [1e-9, 0.0], [1.0, 0.0]])
    blocks = as_row_blocks(X, np.ones(3), labels=Targets(-1, 1))
    loss = moments_loss(mechanism, PrivateRows(blocks, L2Ball(1.0)))
    np.testing.assert_array_equal(loss[:2], 0.0)
    assert loss[2] <= 1.3


def test_nobody_asked_about_gives_an_empty_answer():
    empty = rows(np.zeros((0, 2)), [])
    assert moments_loss(MECHANISM, empty).shape == (0,)


@pytest.mark.statistical
def test_the_bound_fails_no_more_often_than_promised():
    """False alarm below 1e-7: 1000 releases, rho = 0.05, six deviations and more.

    The noise is drawn here, where a draw costs next to nothing.
    """
    X, y = table(6)
    data, rho, n = rows(X, y), 0.05, 1000
    sums = MECHANISM._steps(data).astype(float) * MECHANISM.smoothing.grid
    rng = np.random.default_rng(2)
    noise = rng.normal(size=(n, sums.size)) * MECHANISM.noise_law.scale
    bound = moments_loss(MECHANISM, data, rho=rho)
    failures = np.zeros(6)
    for draw in noise:
        output = sums + draw / MECHANISM.weights
        loss = exact_moments_loss(MECHANISM, output, data, data)
        failures += np.abs(loss) > bound
    assert failures.max() <= rho * n + 6 * np.sqrt(rho * n)
    # and not much less often: the bound is about the right size
    assert failures.max() >= 1
