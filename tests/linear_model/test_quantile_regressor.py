"""Quantile regression by objective perturbation."""

import numpy as np
import pytest
from objective_models import made, problem
from scipy.stats import norm

from skdp.linear_model import ObjPertQuantileRegressor

DELTA = 1e-6


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.8, 0.95])
def test_the_share_of_targets_below_is_the_quantile(quantile):
    X, y = problem("median", 5000)
    model = made("median", quantile=quantile, epsilon=50.0, delta=DELTA).fit(X, y)
    assert np.mean(y <= model.predict(X)) == pytest.approx(quantile, abs=0.02)
    # the spread of the targets around their line is 5
    exact = 50 + 5 * norm.ppf(quantile)
    assert model.intercept_ == pytest.approx(exact, abs=1.0)


def test_a_wide_corner_moves_outer_quantiles_out_and_needs_a_smaller_ridge():
    X, y = problem("median", 5000)
    narrow, wide = (
        made("median", quantile=0.9, width=width, epsilon=50.0, delta=DELTA).fit(X, y)
        for width in (0.5, 10.0)
    )
    assert np.mean(y <= narrow.predict(X)) == pytest.approx(0.9, abs=0.02)
    assert np.mean(y <= wide.predict(X)) > 0.98
    assert narrow.alpha_ == pytest.approx(20 * wide.alpha_, rel=1e-9)
    assert narrow.noise_scale_ == pytest.approx(wide.noise_scale_, rel=1e-6)


def test_the_corner_is_a_hundredth_of_the_range_unless_asked_for():
    X, y = problem("median", 20)
    auto, same = made("median").fit(X, y), made("median", width=1.0).fit(X, y)
    assert auto.mechanism_ == same.mechanism_
    assert auto.mechanism_.loss.width == 0.02


def test_quantiles_far_out_need_more_noise_as_their_slope_is_steeper():
    X, y = problem("median", 20)
    scale = {
        q: made("median", quantile=q, delta=DELTA).fit(X, y).noise_scale_
        for q in (0.01, 0.5, 0.99)
    }
    assert scale[0.99] == pytest.approx(scale[0.01], rel=1e-6)
    # nearly twice the slope; but of one sign, nearly: less of delta is paid twice
    assert 1.85 < scale[0.99] / scale[0.5] < 1.98


@pytest.mark.parametrize("quantile", [0.0, 1.0, -0.1, 1e-7, "median", None, np.nan])
def test_a_quantile_out_of_range_is_refused(quantile):
    with pytest.raises((ValueError, TypeError), match="quantile"):
        ObjPertQuantileRegressor(quantile=quantile, bounds_y=(0, 1)).fit(None, None)


@pytest.mark.parametrize("width", [0.0, -1.0, "narrow", None, 1e-3, 1e5])
def test_a_width_out_of_range_is_refused(width):
    with pytest.raises((ValueError, TypeError), match="width") as caught:
        ObjPertQuantileRegressor(width=width, bounds_y=(0, 100)).fit(None, None)
    assert "'auto' or a number from 0.005 to 5000" in str(caught.value)


@pytest.mark.parametrize("quantile", [1e-6, 1 - 1e-6])
@pytest.mark.parametrize("width", [0.005, 5000.0])
def test_the_ends_of_the_ranges_fit(quantile, width):
    X, y = problem("median", 50)
    for delta in (0.0, DELTA):
        model = made("median", quantile=quantile, width=width, delta=delta).fit(X, y)
        assert np.isfinite(model.coef_).all()
        assert 0.999 <= model.privacy_spent_.epsilon <= 1.0
