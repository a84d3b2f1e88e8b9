"""The softmax loss against 60-digit arithmetic, and beside the logistic loss."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdp.losses import LogisticLoss, SoftmaxLoss

HYPOTHESIS = settings(deadline=None, max_examples=60, derandomize=True)


@pytest.mark.parametrize(
    "t",
    [
        [0.0, 0.0, 0.0],
        [1.0, -2.0, 0.5],
        [40.0, 0.0, 39.0],
        [1e6, 0.0, -1e6],
        [-1e6, 1e6, 1e6],
        [745.0, 0.0, 710.0],
        [1e-9, 0.0, -1e-9],
    ],
    ids=repr,
)
def test_values_and_gradients_keep_their_digits(t):
    loss = SoftmaxLoss(3)
    with mpmath.workdps(60):
        weights = [mpmath.exp(mpmath.mpf(v)) for v in t]
        p = [w / sum(weights) for w in weights]
        for label in range(3):
            y, margins = np.array([float(label)]), np.array([t])
            others = sum(w for k, w in enumerate(weights) if k != label)
            exact = mpmath.log1p(others / weights[label])
            found = loss.value(y, margins)[0]
            assert found == pytest.approx(float(exact), rel=1e-14, abs=1e-300)
            gradient = loss.gradient(y, margins)[0]
            for k in range(3):
                slope = p[k] if k != label else -others / sum(weights)
                assert gradient[k] == pytest.approx(float(slope), rel=1e-14, abs=1e-300)


def test_two_classes_are_the_logistic_loss_of_the_difference():
    generator = np.random.default_rng(0)
    t = 5 * generator.normal(size=(500, 2))
    y = generator.integers(0, 2, size=500).astype(float)
    signs, margin = 2 * y - 1, t[:, 1] - t[:, 0]
    soft, logistic = SoftmaxLoss(2), LogisticLoss()
    np.testing.assert_allclose(
        soft.value(y, t), logistic.value(signs, margin), rtol=1e-13
    )
    slope = logistic.gradient(signs, margin)
    np.testing.assert_allclose(
        soft.gradient(y, t), np.stack([-slope, slope], axis=1), rtol=1e-13
    )
    curve = logistic.hessian(signs, margin)
    np.testing.assert_allclose(
        soft.hessian(y, t),
        curve[:, None, None] * np.array([[1, -1], [-1, 1]]),
        rtol=1e-9,
        atol=1e-300,
    )


@HYPOTHESIS
@given(
    n_classes=st.integers(2, 12),
    size=st.floats(1e-6, 1e6),
    shift=st.floats(-1e6, 1e6),
    seed=st.integers(0, 1000),
)
def test_bounds_hold_and_shifts_of_all_margins_change_nothing(
    n_classes, size, shift, seed
):
    loss, generator = SoftmaxLoss(n_classes), np.random.default_rng(seed)
    t = size * generator.normal(size=(8, n_classes))
    y = generator.integers(0, n_classes, size=8).astype(float)
    gradient, hessian = loss.gradient(y, t), loss.hessian(y, t)
    assert np.linalg.norm(gradient, axis=1).max() <= np.sqrt(2) * (1 + 1e-15)
    assert np.abs(gradient.sum(axis=1)).max() <= 1e-15
    diagonal = np.diagonal(hessian, axis1=1, axis2=2)
    np.testing.assert_allclose(loss.hessian_diagonal(y, t), diagonal, atol=1e-15)
    product = (hessian @ gradient[:, :, None])[:, :, 0]
    np.testing.assert_allclose(
        loss.hessian_product(y, t, gradient), product, atol=1e-15
    )
    assert np.linalg.eigvalsh(hessian).max() <= 0.5 * (1 + 1e-14)
    assert np.trace(hessian, axis1=1, axis2=2).max() <= loss.trace * (1 + 1e-14)
    probabilities = loss.probabilities(t)
    assert probabilities.sum(axis=1) == pytest.approx(1.0, rel=1e-14)
    rounding = 4e-16 * (abs(shift) + np.abs(t).max())
    np.testing.assert_allclose(
        loss.value(y, t + shift), loss.value(y, t), rtol=1e-13, atol=4 * rounding
    )


def test_single_precision_stays_what_it_is():
    generator = np.random.default_rng(0)
    t, y = generator.normal(size=(50, 4)), np.arange(50.0) % 5
    loss, single = SoftmaxLoss(4), t.astype(np.float32)
    for method in (loss.gradient, loss.hessian, loss.hessian_diagonal):
        rough = method(y, single)
        assert rough.dtype == np.float32
        np.testing.assert_allclose(rough, method(y, t), atol=1e-6)
    rough = loss.hessian_product(y, single, single)
    assert rough.dtype == np.float32
    np.testing.assert_allclose(rough, loss.hessian_product(y, t, t), atol=1e-6)


@pytest.mark.parametrize("order", ["C", "F"])
def test_margins_are_read_in_any_order_and_left_alone(order):
    t = np.asarray(np.random.default_rng(0).normal(size=(9, 3)), order=order)
    y, before, loss = np.arange(9.0) % 4, t.copy(), SoftmaxLoss(3)
    for method in (loss.value, loss.gradient, loss.hessian, loss.hessian_diagonal):
        expected = np.concatenate([method(y[[i]], t[[i]]) for i in range(9)])
        np.testing.assert_allclose(method(y, t), expected, rtol=1e-15, atol=1e-300)
    np.testing.assert_array_equal(t, before)


@pytest.mark.parametrize("label", [-1.0, 3.0, 0.5, np.nan, np.inf, -0.5])
def test_a_label_that_is_no_class_counts_for_nothing(label):
    loss, t = SoftmaxLoss(3), np.array([[1.0, -2.0, 3.0]])
    y = np.array([label])
    for method in (loss.value, loss.gradient, loss.hessian, loss.hessian_diagonal):
        np.testing.assert_array_equal(method(y, t), 0.0)
    np.testing.assert_array_equal(loss.hessian_product(y, t, t), 0.0)


@pytest.mark.parametrize("count", [1, 0, -3, 2.0, "3", True, 10_001])
def test_a_number_of_classes_that_is_none_is_refused(count):
    with pytest.raises((ValueError, TypeError), match=r"n_classes .*Allowed: "):
        SoftmaxLoss(count)
