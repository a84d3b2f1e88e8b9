"""Losses of bounded slope against 60-digit arithmetic, for parameters of any size."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdp.losses import (
    ClippedPoissonLoss,
    HuberLoss,
    LogCoshLoss,
    LogisticLoss,
    PseudoHuberLoss,
    SmoothedHingeLoss,
    SmoothedQuantileLoss,
)

mpf = mpmath.mpf
MARGINS = [
    *(0.0, 1e-12, -1e-12, 0.1, -0.1, 0.4999, 0.5, 0.5001, -0.5, 1.0, 1.5, 1.5001),
    *(-2.0, 3.0, 20.0, -20.0, 36.0, -36.0, 700.0, -700.0, 1e6, -1e6),
]
SCALES = st.floats(1e-3, 1e3)
HYPOTHESIS = settings(deadline=None, max_examples=60, derandomize=True)


def _logistic(loss, y, t):
    return mpmath.log1p(mpmath.exp(-y * t)) if y else mpf(0)


def _residual(loss, y, t):
    bound = mpf(loss.target_bound)
    return t - max(-bound, min(bound, y))


def _huber(loss, y, t):
    r, s = abs(_residual(loss, y, t)), mpf(loss.scale)
    return r**2 / 2 if r <= s else s * r - s**2 / 2


def _log_cosh(loss, y, t):
    s = mpf(loss.scale)
    return s**2 * mpmath.log(mpmath.cosh(_residual(loss, y, t) / s))


def _pseudo_huber(loss, y, t):
    s = mpf(loss.scale)
    return s**2 * (mpmath.sqrt(1 + (_residual(loss, y, t) / s) ** 2) - 1)


def _hinge(loss, y, t):
    m, h = 1 - y * t, mpf(loss.width)
    if not y:
        return mpf(0)
    return (m + h) ** 2 / (4 * h) if abs(m) <= h else max(m, mpf(0))


def _quantile(loss, y, t):
    r, h = _residual(loss, y, t), mpf(loss.width)
    return h * mpmath.log1p(mpmath.exp(r / h)) - mpf(loss.quantile) * r


def _poisson(loss, y, t):
    y = max(mpf(0), min(mpf(loss.target_bound), y))
    M = mpf(loss.max_log_rate)
    rate = mpmath.exp(t) if t <= M else mpmath.exp(M) * (1 + t - M)
    return rate - y * t + (y * mpmath.log(y) - y if y else 0)


CASES = [
    (LogisticLoss(), _logistic),
    (HuberLoss(scale=0.3), _huber),
    (LogCoshLoss(target_bound=2.0, scale=0.3), _log_cosh),
    (PseudoHuberLoss(scale=0.5), _pseudo_huber),
    (PseudoHuberLoss(target_bound=3.0, scale=7.0), _pseudo_huber),
    (SmoothedHingeLoss(), _hinge),
    (SmoothedHingeLoss(width=2.0), _hinge),
    (SmoothedQuantileLoss(), _quantile),
    (SmoothedQuantileLoss(quantile=0.95, width=0.02), _quantile),
    (ClippedPoissonLoss(), _poisson),
    (ClippedPoissonLoss(max_log_rate=3.0, target_bound=4.0), _poisson),
]
each_case = pytest.mark.parametrize(
    ("loss", "exact"), CASES, ids=lambda c: repr(c) if hasattr(c, "value") else "exact"
)


def _exact_derivative(exact, loss, y, t, order):
    """Central difference at 1e-12 in 60 digits: exact to 1e-20 away from corners."""
    h = mpf(10) ** -12
    f = [exact(loss, mpf(y), mpf(t) + k * h) for k in (-1, 0, 1)]
    if order == 1:
        return (f[2] - f[0]) / (2 * h)
    return (f[2] - 2 * f[1] + f[0]) / h**2


@each_case
def test_values_and_slopes_agree_with_long_arithmetic(loss, exact):
    with mpmath.workdps(60):
        for y in (-1.0, 0.0, 0.3, 1.0):
            if not hasattr(loss, "target_bound") and y == 0.3:
                continue
            label, t = np.full(len(MARGINS), y), np.array(MARGINS)
            values, slopes = loss.value(label, t), loss.gradient(label, t)
            steepest = loss.constants(1.0).lipschitz
            for k, margin in enumerate(MARGINS):
                value = exact(loss, mpf(y), mpf(margin))
                slope = _exact_derivative(exact, loss, y, margin, 1)
                # the rounding of the target and of the margin enters with the slope
                atol = 4e-16 * steepest * (1 + abs(margin))
                assert abs(values[k] - value) <= atol + 1e-15 * abs(value)
                assert abs(slopes[k] - slope) <= 1e-11 * loss.bend + 4e-16 * steepest


@each_case
def test_curvatures_agree_with_long_arithmetic_away_from_corners(loss, exact):
    t = np.array([-700.0, -36.0, -7.3, -2.2, -0.71, -0.01, 0.13, 0.77, 1.9, 2.9, 41.0])
    with mpmath.workdps(60):
        for y in (-1.0, 1.0):
            found = loss.hessian(np.full(t.shape, y), t)
            for k, margin in enumerate(t):
                curve = _exact_derivative(exact, loss, y, margin, 2)
                assert abs(found[k] - curve) <= 1e-13 * loss.bend


def test_the_hinge_bends_on_its_closed_corner_and_nowhere_else():
    loss = SmoothedHingeLoss(width=0.25)
    t = np.array([0.75, 1.25, np.nextafter(0.75, 0), np.nextafter(1.25, 2), 1.0])
    np.testing.assert_array_equal(loss.hessian(np.ones(5), t), [2.0, 2.0, 0, 0, 2.0])
    np.testing.assert_array_equal(loss.gradient(np.ones(5), t)[:2], [-1.0, 0.0])
    np.testing.assert_array_equal(loss.value(np.ones(5), t)[:2], [0.25, 0.0])


def test_the_poisson_loss_bends_up_to_its_largest_rate_and_no_further():
    loss = ClippedPoissonLoss(max_log_rate=2.0, target_bound=5.0)
    t = np.array([2.0, np.nextafter(2.0, 3), 7.0])
    hessian = loss.hessian(np.zeros(3), t)
    np.testing.assert_array_equal(hessian, [np.exp(2.0), 0.0, 0.0])
    np.testing.assert_array_equal(loss.gradient(np.full(3, 9.0), t), math.exp(2) - 5)


def test_a_poisson_rate_below_the_largest_count_is_refused():
    with pytest.raises(ValueError, match="max_log_rate is out of range, got 1"):
        ClippedPoissonLoss(max_log_rate=1.0, target_bound=10.0)
    for bound in (1e-3, 0.3, 7.0, 1e5, 1e30):
        loss = ClippedPoissonLoss(max_log_rate=math.log(bound), target_bound=bound)
        assert loss.slope_range[1] >= bound


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda v: PseudoHuberLoss(scale=v), "scale"),
        (lambda v: PseudoHuberLoss(target_bound=v), "target_bound"),
        (lambda v: SmoothedHingeLoss(width=v), "width"),
        (lambda v: SmoothedQuantileLoss(width=v), "width"),
        (lambda v: SmoothedQuantileLoss(quantile=v), "quantile"),
        (lambda v: ClippedPoissonLoss(target_bound=v), "target_bound"),
    ],
    ids=["scale", "target", "hinge", "quantile-width", "quantile", "count"],
)
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, "1", None, True])
def test_a_parameter_out_of_range_is_named(make, name, value):
    with pytest.raises((ValueError, TypeError), match=f"{name} .*Allowed: "):
        make(value)


@HYPOTHESIS
@given(scale=SCALES, share=st.floats(0, 1), bound=SCALES)
def test_robust_losses_bend_as_their_slope_says(scale, share, bound):
    for cls in (HuberLoss, LogCoshLoss, PseudoHuberLoss):
        loss = cls(target_bound=bound, scale=scale)
        r = np.array([0.0, 1e-9, 0.3, 1.0, 2.5, 9.0]) * scale
        slope, curve = loss.derivatives(np.zeros(6), r)
        at = loss.curvature_at(np.abs(slope) / scale)
        inside = r < scale if cls is HuberLoss else np.ones(6, dtype=bool)
        np.testing.assert_allclose(curve[inside], at[inside], rtol=1e-6, atol=1e-12)
        assert 0.0 <= loss.curvature_at(np.array(share)) <= loss.bend == 1.0


@HYPOTHESIS
@given(
    quantile=st.floats(0.001, 0.999),
    width=SCALES,
    sizes=st.lists(st.floats(-50, 50), min_size=1, max_size=20),
)
def test_a_quantile_loss_keeps_its_promises_at_any_parameters(quantile, width, sizes):
    loss = SmoothedQuantileLoss(quantile=quantile, width=width)
    t = np.array(sizes) * width
    slope, curve = loss.derivatives(np.zeros(t.size), t)
    low, high = loss.slope_range
    steepest = max(-low, high)
    assert np.all((low <= slope) & (slope <= high))
    assert np.all(curve <= loss.bend * (1 + 1e-15))
    at = loss.curvature_at(np.minimum(np.abs(slope) / steepest, 1.0))
    assert np.all(curve <= at + 1e-12 / width)
    pinball = np.maximum((1 - quantile) * t, -quantile * t)
    value = loss.value(np.zeros(t.size), t)
    assert np.all(value >= pinball)
    assert np.all(value <= pinball + width * math.log(2) * (1 + 1e-12))


@HYPOTHESIS
@given(
    bound=st.floats(1e-3, 1e6),
    above=st.floats(0, 5),
    count=st.floats(0, 1.5),
    margins=st.lists(st.floats(-40, 40), min_size=1, max_size=20),
)
def test_a_poisson_loss_keeps_its_promises_at_any_parameters(
    bound, above, count, margins
):
    M = math.log(bound) + above
    loss = ClippedPoissonLoss(max_log_rate=M, target_bound=bound)
    t, y = np.array(margins), np.full(len(margins), count * bound)
    slope, curve = loss.derivatives(y, t)
    low, high = loss.slope_range
    assert (low, high) == (-bound, loss.bend)
    assert np.all((low <= slope) & (slope <= high))
    assert np.all(curve <= loss.bend)
    assert np.all(loss.value(y, t) >= 0.0)
    at = loss.curvature_at(np.abs(slope) / high)
    assert np.all(curve <= at * (1 + 1e-12))
    best = loss.value(y, np.log(np.maximum(np.clip(y, 0, bound), 1e-300)))
    assert np.all(best <= 1e-12 * bound)


@HYPOTHESIS
@given(
    width=SCALES,
    label=st.sampled_from([-1.0, 1.0]),
    margins=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20),
)
def test_a_hinge_loss_is_the_hinge_but_for_its_corner(width, label, margins):
    loss = SmoothedHingeLoss(width=width)
    t, y = np.array(margins), np.full(len(margins), label)
    hinge = np.maximum(1 - y * t, 0)
    away = loss.value(y, t) - hinge
    rounding = 1e-15 * (1 + np.abs(t) + width)
    assert np.all((away >= -rounding) & (away <= width / 4 + rounding))
    slope = -y * loss.gradient(y, t)
    assert np.all((slope >= 0) & (slope <= 1))
