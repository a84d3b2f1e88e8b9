"""Properties of every loss that exists, found by walking the package."""

import dataclasses
import functools
import importlib
import inspect
import pkgutil

import numpy as np
import pytest

import skdp.losses
from skdp.losses import Fading, Loss, MatrixLoss, Oscillating, Tilting

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


FOUND = [cls() for cls in _every_loss()]
#: Losses of one margin; those of several are below.
LOSSES = [loss for loss in FOUND if not isinstance(loss, MatrixLoss)]
MATRIX_LOSSES = [loss for loss in FOUND if isinstance(loss, MatrixLoss)]
#: Losses of a sign; the others take real targets, among which 0 is like any other.
SIGNED = [loss for loss in LOSSES if not hasattr(loss, "target_bound")]


def each(losses):
    return pytest.mark.parametrize("loss", losses, ids=lambda loss: type(loss).__name__)


each_loss = each(LOSSES)
OSCILLATING = [loss for loss in LOSSES if isinstance(loss, Oscillating)]
TILTING = [loss for loss in LOSSES if isinstance(loss, Tilting)]
each_oscillating = each(OSCILLATING)
each_tilting = each(TILTING)


@pytest.fixture(params=[-1.0, 1.0], ids=["-1", "+1"])
def y(request):
    return np.full(MARGINS.shape, request.param)


def test_the_walk_finds_the_losses_there_are():
    assert len(LOSSES) >= 8
    assert len(TILTING) >= 7
    assert len(OSCILLATING) >= 5
    assert SIGNED
    assert MATRIX_LOSSES


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
    sides = [loss.hessian(y, t) for t in (MARGINS - h, MARGINS, MARGINS + h)]
    low, high = np.min(sides, axis=0), np.max(sides, axis=0)
    jumps = high - low > 0.1
    gap = np.abs(loss.gradient(y, MARGINS) - slope)
    assert np.all(gap <= atol + 1e-7 * np.abs(slope) + h * high * jumps)
    curve = (loss.gradient(y, MARGINS + h) - loss.gradient(y, MARGINS - h)) / (2 * h)
    smooth = ~jumps
    np.testing.assert_allclose(sides[1][smooth], curve[smooth], atol=1e-9)
    # across a jump the quotient is somewhere between
    assert np.all((curve >= low - 1e-9) & (curve <= high + 1e-9))


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


@each_oscillating
@pytest.mark.parametrize("ball", [(0.0, 1.0), (1.0, 0.5), (2.0, 1.0), (1.5, 4.0)])
@pytest.mark.parametrize("data_norm", [0.5, 1.0, 2.0])
def test_the_oscillation_is_the_largest_over_all_rows(loss, ball, data_norm):
    center, radius = ball
    claimed = loss.oscillation(data_norm, center_norm=center, radius=radius)
    widest = 0.0
    for label in (-1.0, -0.3, 0.0, 0.6, 1.0):
        for x in np.linspace(-data_norm, data_norm, 41):
            t = x * np.linspace(center - radius, center + radius, 801)
            value = loss.value(np.full(t.shape, label), t)
            widest = max(widest, np.ptp(value))
    assert 0.9999 * claimed <= widest <= claimed * (1 + 1e-12)


@each_oscillating
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


@each_oscillating
def test_totals_are_sums_of_values(loss):
    generator = np.random.default_rng(1)
    for n in (0, 1, 511, 513, 2000):
        t = 5 * generator.normal(size=(n, 3))
        y = generator.choice([-1.0, 0.0, 1.0], size=n)
        expected = loss.value(y[:, None], t).sum(axis=0)
        np.testing.assert_allclose(loss.total(y, t.copy()), expected, rtol=1e-13)


@each_oscillating
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


@each_oscillating
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


@each_oscillating
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


# --- what objective perturbation reads ------------------------------------------------


@functools.cache
def _slopes_and_curvatures(loss):
    """Return derivatives over labels and margins, dense around every corner."""
    edges = [1 - 0.5, 1 + 0.5, 0.0]
    near = np.concatenate([e + np.linspace(-1e-9, 1e-9, 3) for e in edges])
    wide = np.geomspace(1e-4, 1e4, 500)
    t = np.concatenate([np.linspace(-8, 8, 4001), near, -near, wide, -wide])
    labels = (-1.0, 1.0) if loss in SIGNED else np.linspace(-1, 1, 41)
    pairs = [loss.derivatives(np.full(t.shape, label), t) for label in labels]
    slopes, curvatures = np.concatenate(pairs, axis=1)
    return slopes, curvatures


@each_tilting
def test_the_range_of_slopes_is_never_left_and_its_ends_are_approached(loss):
    slopes, curvatures = _slopes_and_curvatures(loss)
    low, high = loss.slope_range
    assert low < 0.0 < high
    assert low <= slopes.min() <= 0.99 * low
    assert 0.99 * high <= slopes.max() <= high
    assert 0.99 * loss.bend <= curvatures.max() <= loss.bend * (1 + 1e-15)


@each_tilting
def test_the_constants_are_those_of_a_row_of_any_norm(loss):
    steepest = max(-loss.slope_range[0], loss.slope_range[1])
    for norm in (0.1, 1.0, 7.0):
        constants = loss.constants(norm)
        assert constants.lipschitz == pytest.approx(norm * steepest, rel=1e-15)
        assert constants.smoothness == pytest.approx(norm**2 * loss.bend, rel=1e-15)


@each_tilting
def test_the_curvature_at_a_slope_is_bounded_and_the_bound_is_attained(loss):
    slopes, curvatures = _slopes_and_curvatures(loss)
    share = np.abs(slopes) / max(-loss.slope_range[0], loss.slope_range[1])
    assert np.all(share <= 1 + 1e-15)
    bound = loss.curvature_at(np.minimum(share, 1.0))
    assert np.all(curvatures <= bound * (1 + 1e-9) + 1e-12)
    for start in np.linspace(0, 0.95, 20):
        here = (share >= start) & (share <= start + 0.05)
        assert curvatures[here].max() >= 0.99 * bound[here].max() - 0.01 * loss.bend
    ends = loss.curvature_at(np.array([0.0, 1.0]))
    assert np.all((ends >= 0.0) & (ends <= loss.bend))
    assert loss.curvature_at(np.linspace(0, 1, 10_001)).max() <= loss.bend * (1 + 1e-12)


@each_tilting
def test_one_signed_means_that_the_label_tells_the_sign_of_the_slope(loss):
    signs = set()
    for label in (-1.0, 1.0) if loss in SIGNED else (0.0, 0.5):
        slopes = loss.gradient(np.full(MARGINS.shape, label), MARGINS)
        signs.add((bool(slopes.min() < 0), bool(slopes.max() > 0)))
    assert loss.one_signed == (signs == {(True, False), (False, True)})


@each_tilting
def test_losses_are_values(loss):
    assert hash(loss) == hash(type(loss)())
    assert loss == type(loss)()
    assert isinstance(loss.one_signed, bool)


@each_tilting
def test_fading_bounds_the_curvature_and_cannot_be_less_steep(loss):
    p = np.linspace(0.0, 1.0, 4001)
    curvature = loss.curvature_at(p)
    # who is silent about it has a curvature that stays
    assert isinstance(loss, Fading) == (curvature[-1] == 0.0)
    if isinstance(loss, Fading):
        steepness, lag = loss.fading
        bound = steepness * (1.0 - p) * (lag + (1.0 - lag) * p)
        assert np.all(curvature <= bound * (1 + 1e-14))
        assert np.max(curvature[:-1] / (1.0 - p[:-1])) >= 0.999 * steepness


# --- losses of several margins --------------------------------------------------------

each_matrix_loss = each(MATRIX_LOSSES)


def _matrix_rows(loss, n=400):
    generator = np.random.default_rng(3)
    K = loss.n_classes
    t = generator.normal(size=(n, K)) * np.geomspace(1e-3, 30, n)[:, None]
    return generator.integers(-1, K, size=n).astype(float), t


@each_matrix_loss
def test_a_matrix_loss_is_public_frozen_and_of_the_protocol(loss):
    assert type(loss).__name__ in skdp.losses.__all__
    assert type(loss).__dataclass_params__.frozen
    assert hash(loss) == hash(type(loss)())


@each_matrix_loss
def test_matrix_derivatives_agree_with_central_differences(loss):
    y, t = _matrix_rows(loss)
    h, atol = 1e-5, 1e-9 * max(1.0, np.abs(t).max())
    for k in range(loss.n_classes):
        step = h * np.eye(loss.n_classes)[k]
        slope = (loss.value(y, t + step) - loss.value(y, t - step)) / (2 * h)
        np.testing.assert_allclose(loss.gradient(y, t)[:, k], slope, atol=atol)
        curve = (loss.gradient(y, t + step) - loss.gradient(y, t - step)) / (2 * h)
        np.testing.assert_allclose(loss.hessian(y, t)[:, k], curve, atol=1e-9)


@each_matrix_loss
def test_matrix_constants_bound_the_derivatives_and_are_attained(loss):
    generator = np.random.default_rng(4)
    K = loss.n_classes
    far = 40.0 * np.eye(K)
    tied = 40.0 * (np.eye(K) + np.roll(np.eye(K), 1, axis=1))
    t = np.concatenate([_matrix_rows(loss)[1], far, tied, np.zeros((1, K))])
    y = np.concatenate(
        [_matrix_rows(loss)[0], np.roll(np.arange(K), 1), np.arange(K), [0]]
    ).astype(float)
    constants = loss.constants(2.0)
    slopes = 2.0 * np.linalg.norm(loss.gradient(y, t), axis=1)
    hessians = loss.hessian(y, t)
    eigenvalues = np.linalg.eigvalsh(hessians)
    traces = np.trace(hessians, axis1=1, axis2=2)
    assert 0.99 * constants.lipschitz <= slopes.max()
    assert slopes.max() <= constants.lipschitz * (1 + 1e-15)
    assert 4 * eigenvalues.min() >= -1e-15
    assert 0.99 * constants.smoothness <= 4 * eigenvalues.max()
    assert 4 * eigenvalues.max() <= constants.smoothness * (1 + 1e-14)
    assert traces.max() == pytest.approx(loss.trace, rel=1e-14)
    assert np.all(np.sum(eigenvalues > 1e-9, axis=1) <= loss.rank)
    v = generator.normal(size=t.shape)
    expected = np.einsum("ikl,il->ik", hessians, v)
    np.testing.assert_allclose(loss.hessian_product(y, t, v), expected, atol=1e-14)


@each_matrix_loss
def test_extreme_matrix_margins_give_finite_numbers_without_warnings(loss):
    K = loss.n_classes
    far = np.array([0.0, 1e6, -1e6, 745.0, -37.0, 1e150, -1e150])
    t = np.array(np.meshgrid(*[far] * min(K, 3))).reshape(min(K, 3), -1).T
    t = np.pad(t, [(0, 0), (0, K - t.shape[1])])
    for label in (-1.0, 0.0, K - 1.0, float(K), 0.5):
        y = np.full(len(t), label)
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            outs = [f(y, t) for f in (loss.value, loss.gradient, loss.hessian)]
        for out in outs:
            assert np.all(np.isfinite(out))
            assert out.dtype == np.float64
            if label not in range(K):
                np.testing.assert_array_equal(out, 0.0)
        assert np.all(outs[0] >= 0.0)


@each_matrix_loss
def test_matrix_arguments_are_left_alone(loss):
    y, t = _matrix_rows(loss, 20)
    t.flags.writeable = y.flags.writeable = False
    for method in (loss.value, loss.gradient, loss.hessian):
        assert not np.shares_memory(method(y, t), t)
        assert len(method(y[:0], t[:0])) == 0


@each_tilting
@pytest.mark.parametrize("label", [-1.0, -0.3, 0.0, 0.6, 1.0])
def test_the_curvature_rises_up_to_the_crest_and_falls_beyond(loss, label):
    if loss in SIGNED:
        label = np.sign(label)
    t = np.sort(np.concatenate([MARGINS, np.linspace(-3.0, 3.0, 2001)]))
    y = np.full(t.shape, label)
    crest, rounding = loss.crest(y), 1e-14 * loss.bend
    assert crest.shape == t.shape
    assert np.unique(crest).size == 1
    curvature = loss.hessian(y, t)
    steps, before = np.diff(curvature), t[1:] <= crest[0]
    assert np.all(steps[before] >= -rounding)
    assert np.all(steps[t[:-1] >= crest[0]] <= rounding)
    assert loss.hessian(y, crest)[0] >= curvature.max() - rounding
