"""Properties of every loss that exists, found by walking the package."""

import dataclasses
import importlib
import inspect
import pkgutil

import numpy as np
import pytest

import skdp.losses
from skdp.losses import Loss, Oscillating

MARGINS = np.concatenate([[0.0], *([-m, m] for m in np.geomspace(1e-3, 40, 60))])
METHODS = ("value", "gradient", "hessian", "constants")


def _every_loss():
    found = set()
    for info in pkgutil.walk_packages(skdp.losses.__path__, "skdp.losses."):
        module = importlib.import_module(info.name)
        for cls in vars(module).values():
            if (
                isinstance(cls, type)
                and not inspect.isabstract(cls)
                and not getattr(cls, "_is_protocol", False)
                and cls.__module__ == module.__name__
                and all(hasattr(cls, name) for name in METHODS)
            ):
                found.add(cls)
    return sorted(found, key=lambda cls: cls.__name__)


LOSSES = [cls() for cls in _every_loss()]
#: Losses of a sign; the others take real targets, among which 0 is like any other.
SIGNED = [loss for loss in LOSSES if not hasattr(loss, "target_bound")]


def each(losses):
    return pytest.mark.parametrize("loss", losses, ids=lambda loss: type(loss).__name__)


each_loss = each(LOSSES)
OSCILLATING = [loss for loss in LOSSES if isinstance(loss, Oscillating)]


@pytest.fixture(params=[-1.0, 1.0], ids=["-1", "+1"])
def y(request):
    return np.full(MARGINS.shape, request.param)


def test_the_walk_finds_the_losses_there_are():
    assert len(LOSSES) >= 4
    assert SIGNED


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
    # the difference quotient rounds in proportion to the values
    atol = 1e-9 * max(1.0, loss.value(y, MARGINS).max() / 100)
    np.testing.assert_allclose(loss.gradient(y, MARGINS), slope, atol=atol)
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
@pytest.mark.parametrize("radius", [None, 0.5, 4.0])
@pytest.mark.parametrize("data_norm", [0.25, 1.0, 3.0])
def test_the_constants_bound_the_derivatives_and_are_attained(loss, data_norm, radius):
    reach = 1e3 if radius is None else data_norm * radius
    t = np.linspace(-reach, reach, 200_001)
    slopes, curves = [], []
    for label in (-1.0, 1.0):
        y = np.full(t.shape, label)
        slopes.append(np.abs(loss.gradient(y, t)).max() * data_norm)
        curves.append(loss.hessian(y, t).max() * data_norm**2)
    constants = loss.constants(data_norm, radius=radius)
    assert max(slopes) <= constants.lipschitz * (1 + 1e-15)
    assert max(curves) <= constants.smoothness
    if np.isfinite(constants.lipschitz):
        assert 0.99 * constants.lipschitz <= max(slopes)
    if reach >= 2:
        # otherwise the point of the largest curvature may be out of reach
        assert 0.99 * constants.smoothness <= max(curves)


@each_loss
@pytest.mark.parametrize("ball", [(0.0, 1.0), (1.0, 0.5), (2.0, 1.0), (1.5, 4.0)])
@pytest.mark.parametrize("data_norm", [0.5, 1.0, 2.0])
def test_the_oscillation_is_the_largest_over_all_rows(loss, ball, data_norm):
    assert isinstance(loss, Oscillating)
    center, radius = ball
    claimed = loss.oscillation(data_norm, center_norm=center, radius=radius)
    widest = 0.0
    for label in (-1.0, -0.3, 0.0, 0.6, 1.0):
        for x in np.linspace(-data_norm, data_norm, 41):
            t = x * np.linspace(center - radius, center + radius, 801)
            value = loss.value(np.full(t.shape, label), t)
            widest = max(widest, np.ptp(value))
    assert 0.9999 * claimed <= widest <= claimed * (1 + 1e-12)


@each_loss
def test_extremes_are_those_of_a_fine_grid(loss):
    generator = np.random.default_rng(0)
    for _ in range(200):
        low, high = np.sort(generator.normal(size=2) * 3)
        y = np.array([generator.choice([-1.0, -0.2, 0.0, 1.0, 5.0])])
        if loss in SIGNED:
            y = np.sign(y)
        value = loss.value(y, np.linspace(low, high, 4001))
        least, largest = loss.extremes(y, np.array([low]), np.array([high]))
        assert largest[0] == pytest.approx(value.max(), abs=1e-12)
        assert value.min() - 1e-5 <= least[0] <= value.min() + 1e-15


@each_loss
def test_totals_are_sums_of_values(loss):
    generator = np.random.default_rng(1)
    for n in (0, 1, 511, 513, 2000):
        t = 5 * generator.normal(size=(n, 3))
        y = generator.choice([-1.0, 0.0, 1.0], size=n)
        expected = loss.value(y[:, None], t).sum(axis=0)
        np.testing.assert_allclose(loss.total(y, t.copy()), expected, rtol=1e-13)


@each_loss
@pytest.mark.parametrize("step", [1e-300, -1e-12, 1e-6, -0.01, 0.2, -1.5, 40.0])
def test_a_rise_keeps_its_digits_however_small_the_step(loss, step):
    for y in (-1.0, 0.3, 1.0) if loss not in SIGNED else (-1.0, 1.0):
        for t in (-30.0, -1.0, 0.0, 0.02, 2.0, 30.0):
            found = float(loss.rise(np.array(y), np.array(t), np.array(step)))
            steepest = abs(step) * loss.constants(1.0, radius=abs(t) + 41).lipschitz
            if abs(step) < 0.005:
                near = t + step * np.array([0.0, 1.0])
                slopes = loss.gradient(np.full(2, y), near)
                expected = step * slopes.mean()
                assert (
                    abs(found - expected) <= 1e-5 * abs(step * step) + 4e-15 * steepest
                )
            else:
                ends = loss.value(np.full(2, y), np.array([t, t + step]))
                assert found == pytest.approx(
                    ends[1] - ends[0], abs=1e-13 * steepest + 1e-14 * max(ends)
                )


@each_loss
def test_rises_broadcast_like_margins_and_add_up_to_differences_of_totals(loss):
    generator = np.random.default_rng(2)
    t, step = generator.normal(size=(300, 1)), generator.normal(size=(300, 4))
    y = generator.choice([-1.0, 0.0, 1.0], size=300)
    expected = loss.total(y, t + step) - loss.total(y, t.copy())
    found = loss.rise(y[:, None], t, step).sum(axis=0)
    np.testing.assert_allclose(found, expected, rtol=1e-11)


@pytest.mark.parametrize("scale", [1e2, 1e5, 1e8])
def test_a_wide_log_cosh_loss_is_nearly_squared_and_keeps_its_digits(scale):
    loss = skdp.losses.LogCoshLoss(scale=scale)
    t = np.linspace(-3, 3, 2001)[:, None]
    squares = 0.5 * np.sum(t**2)
    found = loss.total(np.zeros(2001), t.copy())[0]
    assert found == pytest.approx(squares, rel=3 / scale**2 + 1e-13)


@each(OSCILLATING)
def test_the_oscillation_over_a_tiny_ball_is_slope_times_width(loss):
    for center, radius in ((0.0, 2.7e-16), (2000.0, 1e-12), (3.0, 1e-9)):
        found = loss.oscillation(1.0, center_norm=center, radius=radius)
        slope = loss.constants(1.0, radius=center).lipschitz
        assert found == pytest.approx(2 * radius * slope, rel=1e-6)


@each_loss
@pytest.mark.parametrize("label", [-1.0, 0.3, 1.0])
def test_the_curvature_rises_to_a_peak_and_falls(loss, label):
    t = np.linspace(-30, 30, 60_001)
    turns = np.sign(np.diff(loss.hessian(np.full(t.shape, np.sign(label)), t)))
    turns = turns[turns != 0]
    assert np.count_nonzero(np.diff(turns)) <= 1
    assert turns.size == 0 or turns[0] > 0


@each(SIGNED)
def test_a_label_of_zero_is_a_row_of_weight_zero(loss):
    zero = np.zeros(MARGINS.shape)
    for method in (loss.value, loss.gradient, loss.hessian):
        np.testing.assert_array_equal(method(zero, MARGINS), 0.0)


@each_loss
def test_extreme_margins_give_finite_numbers_without_warnings(loss):
    # of residuals, the square has to be a float
    far = 1e308 if loss in SIGNED else 1e150
    t = np.array([-far, -1e16, -745.0, -37.0, 37.0, 745.0, 1e16, far])
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
