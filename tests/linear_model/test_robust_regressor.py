"""Robust regression by objective perturbation."""

import numpy as np
import pytest
from objective_models import made, problem
from sklearn.linear_model import HuberRegressor, LinearRegression

from skdp.exceptions import NotForReleaseWarning
from skdp.linear_model import ObjPertLogisticRegression, ObjPertRegressor
from skdp.losses import HuberLoss, LogCoshLoss, PseudoHuberLoss
from skdp.rows import Targets

DELTA = 1e-6
NAMES = ["log-cosh", "pseudo-huber", "huber"]
each = pytest.mark.parametrize("name", NAMES)


@each
def test_a_generous_budget_comes_close_to_the_truth_in_the_units_of_y(name):
    X, y = problem(name, 5000)
    exact = LinearRegression().fit(X, y)
    model = made(name, epsilon=500.0, delta=DELTA).fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=1.0)
    assert model.intercept_ == pytest.approx(exact.intercept_, abs=0.5)
    assert model.score(X, y) > 0.85


@each
def test_outliers_pull_no_harder_than_other_rows(name):
    X, y = problem(name, 5000)
    y[:100] = 100.0
    robust = made(name, epsilon=500.0, delta=DELTA, scale=5.0).fit(X, y)
    plain, outside = LinearRegression().fit(X, y), HuberRegressor(alpha=0.0).fit(X, y)
    assert abs(robust.intercept_ - 50) < 0.5 * abs(plain.intercept_ - 50)
    np.testing.assert_allclose(robust.coef_, outside.coef_, atol=1.5)


@each
def test_the_noise_grows_with_the_scale_which_is_in_the_units_of_y(name):
    X, y = problem(name, 20)
    auto = made(name).fit(X, y)
    assert auto.noise_scale_ == made(name, scale=25.0).fit(X, y).noise_scale_
    small = made(name, scale=2.5).fit(X, y)
    assert auto.noise_scale_ == pytest.approx(10 * small.noise_scale_, rel=1e-12)
    assert small.mechanism_.loss.scale == pytest.approx(0.05)
    assert auto.targets_ == Targets(0.0, 100.0)


@pytest.mark.parametrize("loss", [LogCoshLoss, PseudoHuberLoss, HuberLoss])
@pytest.mark.filterwarnings("ignore::skdp.exceptions.NotForReleaseWarning")
def test_other_units_of_y_give_the_same_line_in_them(loss):
    name = NAMES[[LogCoshLoss, PseudoHuberLoss, HuberLoss].index(loss)]
    X, y = problem(name)
    model = made(name, scale=8.0, random_state=1).fit(X, y)
    assert type(model.mechanism_.loss) is loss
    other = made(name, bounds_y=(-7, 193), scale=16.0, random_state=1)
    other.fit(X, 2 * y - 7)
    np.testing.assert_allclose(other.coef_, 2 * model.coef_, rtol=1e-10)
    assert other.intercept_ == pytest.approx(2 * model.intercept_ - 7, rel=1e-10)


def test_smooth_losses_cost_a_few_percent_more_than_the_logistic_one():
    """Both slopes are possible for a target, for a label only one: delta is doubled."""
    X, y = problem("log-cosh", 20)
    logistic = ObjPertLogisticRegression(delta=DELTA, classes=[0, 1])
    logistic.fit(X, (y > 50).astype(int))
    for name, most in (("log-cosh", 1.05), ("pseudo-huber", 1.05), ("huber", 1.15)):
        model = made(name, delta=DELTA).fit(X, y)
        ratio = model.noise_scale_ / 0.5 / logistic.noise_scale_
        assert 1.0 < ratio < most


@pytest.mark.parametrize("loss", ["squared", None, 3, HuberLoss()])
def test_a_loss_that_is_none_of_the_choices_is_refused(loss):
    with pytest.raises(ValueError, match="loss is not one of the choices") as caught:
        ObjPertRegressor(loss=loss, bounds_y=(0, 1)).fit(None, None)
    assert "'pseudo-huber'" in str(caught.value)


@pytest.mark.parametrize("scale", [0.0, -1.0, "small", None, 1e-3, 1e6])
def test_a_scale_out_of_range_is_refused(scale):
    with pytest.raises((ValueError, TypeError), match="scale") as caught:
        ObjPertRegressor(scale=scale, bounds_y=(0, 100)).fit(None, None)
    assert "Allowed: 'auto' or a number from 0.005 to 50000" in str(caught.value)


@pytest.mark.parametrize("bounds", [(1e6, 1e6 + 1), (-1e-50, 1e-50), (0.0, 1e99)])
def test_bounds_of_any_size_are_computed_with(bounds):
    X, _ = problem("log-cosh", 300)
    low, high = bounds
    y = low + (high - low) * (0.5 + 0.3 * X[:, 0])
    model = ObjPertRegressor(bounds_y=bounds, epsilon=100.0, delta=DELTA).fit(X, y)
    assert np.abs(model.predict(X) - y).max() < 0.1 * (high - low)
    assert np.isfinite(model.pdp_loss(X, y)).all()


def test_useful_accuracy_at_epsilon_one():
    """Power, seeded: with 20,000 rows the fit explains nearly all that can be."""
    X, y = problem("log-cosh", 20_000)
    best = LinearRegression().fit(X, y).score(X, y)
    for name in NAMES:
        with pytest.warns(NotForReleaseWarning):
            model = made(name, delta=DELTA, random_state=0).fit(X, y)
        assert model.score(X, y) > best - 0.01
