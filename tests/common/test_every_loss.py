"""Properties of every loss that exists, found by walking the package."""

import dataclasses
import importlib
import pkgutil

import numpy as np
import pytest

import skdp.losses
from skdp.losses import Loss

MARGINS = np.concatenate([[0.0], *([-m, m] for m in np.geomspace(1e-3, 40, 60))])
METHODS = ("value", "gradient", "hessian", "constants")


def _every_loss():
    found = set()
    for info in pkgutil.walk_packages(skdp.losses.__path__, "skdp.losses."):
        module = importlib.import_module(info.name)
        for cls in vars(module).values():
            if (
                isinstance(cls, type)
                and cls is not Loss
                and cls.__module__ == module.__name__
                and all(hasattr(cls, name) for name in METHODS)
            ):
                found.add(cls)
    return sorted(found, key=lambda cls: cls.__name__)


each_loss = pytest.mark.parametrize(
    "loss", [cls() for cls in _every_loss()], ids=lambda loss: type(loss).__name__
)


@pytest.fixture(params=[-1.0, 1.0], ids=["-1", "+1"])
def y(request):
    return np.full(MARGINS.shape, request.param)


def test_the_walk_finds_the_losses_there_are():
    assert _every_loss()


@each_loss
def test_a_loss_is_public_frozen_and_of_the_protocol(loss):
    assert isinstance(loss, Loss)
    assert type(loss).__name__ in skdp.losses.__all__
    assert dataclasses.is_dataclass(loss)
    assert type(loss).__dataclass_params__.frozen


@each_loss
def test_derivatives_agree_with_central_differences(loss, y):
    h = 1e-5
    slope = (loss.value(y, MARGINS + h) - loss.value(y, MARGINS - h)) / (2 * h)
    np.testing.assert_allclose(loss.gradient(y, MARGINS), slope, atol=1e-9)
    curve = (loss.gradient(y, MARGINS + h) - loss.gradient(y, MARGINS - h)) / (2 * h)
    np.testing.assert_allclose(loss.hessian(y, MARGINS), curve, atol=1e-9)


@each_loss
def test_both_derivatives_at_once_are_the_two_apart(loss, y):
    for labels in (y, 0.0 * y):
        slope, curvature = loss.derivatives(labels, MARGINS)
        np.testing.assert_array_equal(slope, loss.gradient(labels, MARGINS))
        np.testing.assert_allclose(
            curvature, loss.hessian(labels, MARGINS), rtol=1e-12, atol=1e-15
        )


@each_loss
def test_a_loss_is_convex_and_nonnegative(loss, y):
    assert np.all(loss.value(y, MARGINS) >= 0)
    assert np.all(loss.hessian(y, MARGINS) >= 0)
    t = np.sort(MARGINS)
    assert np.all(np.diff(loss.gradient(y, t)) >= 0)


@each_loss
@pytest.mark.parametrize("radius", [0.25, 1.0, 3.0])
def test_the_constants_bound_the_derivatives_and_are_attained(loss, radius):
    t = np.linspace(-1e3, 1e3, 200_001)
    slopes, curves = [], []
    for label in (-1.0, 1.0):
        y = np.full(t.shape, label)
        slopes.append(np.abs(loss.gradient(y, t)).max() * radius)
        curves.append(loss.hessian(y, t).max() * radius**2)
    constants = loss.constants(radius)
    assert 0.99 * constants.lipschitz <= max(slopes) <= constants.lipschitz
    assert 0.99 * constants.smoothness <= max(curves) <= constants.smoothness


@each_loss
def test_a_label_of_zero_is_a_row_of_weight_zero(loss):
    zero = np.zeros(MARGINS.shape)
    for method in (loss.value, loss.gradient, loss.hessian):
        np.testing.assert_array_equal(method(zero, MARGINS), 0.0)


@each_loss
def test_extreme_margins_give_finite_numbers_without_warnings(loss):
    t = np.array([-1e308, -1e16, -745.0, -37.0, 37.0, 745.0, 1e16, 1e308])
    for label in (-1.0, 0.0, 1.0):
        y = np.full(t.shape, label)
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            for method in (loss.value, loss.gradient, loss.hessian):
                out = method(y, t)
                assert np.all(np.isfinite(out))
                assert out.dtype == np.float64


@each_loss
def test_arguments_are_left_alone_and_results_are_new(loss, y):
    t, labels = MARGINS.copy(), y.copy()
    t.flags.writeable = labels.flags.writeable = False
    for method in (loss.value, loss.gradient, loss.hessian):
        out = method(labels, t)
        assert out.shape == t.shape
        assert not np.shares_memory(out, t)
        assert method(labels[:0], t[:0]).shape == (0,)
