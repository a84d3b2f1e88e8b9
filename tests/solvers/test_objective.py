"""Value, gradient and Hessian belong to each other, to every loss and storage."""

import numpy as np
import pytest
import scipy.sparse as sp

from skdp.losses import LogisticLoss
from skdp.rows import L2Ball, PrivateRows, as_row_blocks
from skdp.solvers import Objective

RNG = np.random.default_rng(0)
X = RNG.standard_normal((200, 5)) * 2
X[3] = 1e300
Y = np.sign(RNG.standard_normal(200))
Y[::9] = 0.0
B = RNG.standard_normal(6)


def pose(held=X, **options):
    rows = PrivateRows(as_row_blocks(held, Y, block_rows=17), L2Ball(1.3, 0.5))
    return Objective(rows, LogisticLoss(), 0.7, B, **options)


def reference(theta):
    """The same sums, written in one line each on projected rows."""
    P = L2Ball(1.3, 0.5).project(X)
    loss, t = LogisticLoss(), P @ theta
    value = loss.value(Y, t).sum() + 0.35 * theta @ theta + B @ theta
    gradient = P.T @ loss.gradient(Y, t) + 0.7 * theta + B
    hessian = (P * loss.hessian(Y, t)[:, None]).T @ P + 0.7 * np.eye(6)
    return value, gradient, hessian


@pytest.mark.parametrize(
    "hold", [np.asarray, np.asfortranarray, sp.csr_array], ids=["C", "F", "csr"]
)
def test_sums_in_blocks_are_the_sums(hold):
    theta = RNG.standard_normal(6)
    objective = pose(hold(X))
    value, gradient, hessian = reference(theta)
    assert objective.value(theta) == pytest.approx(value, rel=1e-14)
    np.testing.assert_allclose(objective.gradient(theta), gradient, rtol=1e-12)
    np.testing.assert_allclose(objective.hessian(theta), hessian, rtol=1e-12)


def test_the_hessian_is_symmetric_and_above_the_ridge():
    hessian = pose().hessian(np.zeros(6))
    np.testing.assert_array_equal(hessian, hessian.T)
    assert np.linalg.eigvalsh(hessian).min() >= 0.7


def test_no_linear_term_means_zeros():
    rows = PrivateRows(as_row_blocks(X, Y), L2Ball(1.0))
    assert Objective(rows, LogisticLoss(), 1.0).linear.tolist() == [0.0] * 5


@pytest.mark.parametrize("alpha", [0.0, -1.0, float("nan")])
def test_a_ridge_that_is_not_positive_is_refused(alpha):
    rows = PrivateRows(as_row_blocks(X, Y), L2Ball(1.0))
    with pytest.raises(ValueError, match="alpha"):
        Objective(rows, LogisticLoss(), alpha)


def test_a_linear_term_of_another_length_is_refused():
    rows = PrivateRows(as_row_blocks(X, Y), L2Ball(1.0))
    with pytest.raises(ValueError, match="linear"):
        Objective(rows, LogisticLoss(), 1.0, B)


def test_summing_twice_gives_the_same_bits():
    theta = RNG.standard_normal(6)
    objective = pose()
    np.testing.assert_array_equal(objective.gradient(theta), objective.gradient(theta))
