"""Poisson regression by objective perturbation."""

import math
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from objective_models import made, problem
from sklearn.linear_model import PoissonRegressor
from sklearn.metrics import d2_tweedie_score

from skdp.exceptions import NotForReleaseWarning
from skdp.linear_model import ObjPertPoissonRegressor
from skdp.rows import Counts

DELTA = 1e-6


def test_a_generous_budget_comes_close_to_scikit_learn():
    X, y = problem("poisson", 3000)
    constant = np.column_stack([X, np.full(len(X), 0.5)])
    # a mean of deviances there, a sum in units of a quarter of the bound here
    exact = PoissonRegressor(alpha=125.0 / len(X), fit_intercept=False, tol=1e-8)
    exact.fit(constant, y / 25)
    model = made("poisson", epsilon=1000.0, delta=DELTA, alpha=125.0).fit(X, y)
    assert model.alpha_ == 125.0
    np.testing.assert_allclose(model.theta_, exact.coef_, atol=0.05)
    assert model.score(X, y) == pytest.approx(exact.score(constant, y / 25), abs=0.01)


def test_coefficients_are_those_of_the_log_rate():
    X, y = problem("poisson", 5000)
    model = made("poisson", epsilon=1000.0, delta=DELTA).fit(X, y)
    np.testing.assert_allclose(model.coef_, np.linspace(1, -1, 4), atol=0.1)
    assert model.intercept_ == pytest.approx(3.0, abs=0.05)
    rate = np.exp(X @ model.coef_ + model.intercept_)
    np.testing.assert_allclose(model.predict(X), rate, rtol=1e-12)


@pytest.mark.parametrize("high", [1e-50, 0.7, 1.0, 3.0, 1e99])
def test_predictions_stay_within_the_bounds(high):
    X, y = problem("poisson")
    model = made("poisson", bounds_y=(0, high)).fit(X, y)
    assert model.targets_ == Counts(high, bound=4.0)
    far = np.vstack([X, np.full((2, 4), 1e300), np.full((2, 4), -1e300)])
    model.coef_ = np.abs(model.coef_) + 0.1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for table in (far, sp.csr_array(far)):
            rate = model.predict(table)
            assert np.all((rate >= 0) & (rate <= high))
    assert rate[-4] == high
    assert rate[-1] == 0.0


def test_the_score_is_the_share_of_deviance_explained():
    X, y = problem("poisson")
    model = made("poisson", epsilon=50.0, delta=DELTA).fit(X, y)
    expected = d2_tweedie_score(y, model.predict(X), power=1)
    assert model.score(X, y) == expected
    weights = np.arange(len(y))
    weighted = d2_tweedie_score(y, model.predict(X), sample_weight=weights, power=1)
    assert model.score(X, y, sample_weight=weights) == weighted
    model.coef_ = np.full(4, 1e300)
    assert model.score(-np.abs(X), y) < -1


def test_counts_need_not_be_whole_and_are_clipped_where_they_cannot_be_counts():
    X, y = problem("poisson")
    low = y.copy()
    low[0], y[0] = -5.0, 0.0
    with pytest.warns(NotForReleaseWarning):
        a = made("poisson", random_state=0).fit(X, low + 0.25 * (low > 0))
    with pytest.warns(NotForReleaseWarning):
        b = made("poisson", random_state=0).fit(X, y + 0.25 * (y > 0))
    np.testing.assert_array_equal(a.theta_, b.theta_)


def test_other_units_of_counts_move_the_constant_alone():
    X, y = problem("poisson")
    with pytest.warns(NotForReleaseWarning):
        a = made("poisson", random_state=0).fit(X, y)
    with pytest.warns(NotForReleaseWarning):
        b = made("poisson", bounds_y=(0, 700), random_state=0).fit(X, 7 * y)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-9)
    assert b.intercept_ == pytest.approx(a.intercept_ + math.log(7), rel=1e-9)
    assert a.noise_scale_ == b.noise_scale_
    assert a.alpha_ == b.alpha_


@pytest.mark.parametrize("bounds", [(1, 5), (-1, 5), (0.5, 1)])
def test_bounds_that_do_not_begin_at_zero_are_refused(bounds):
    with pytest.raises(ValueError, match="must begin at 0") as caught:
        ObjPertPoissonRegressor(bounds_y=bounds).fit(None, None)
    assert "Allowed: (0, high)" in str(caught.value)


def test_useful_accuracy_at_epsilon_one():
    X, y = problem("poisson", 20_000)
    best = PoissonRegressor(alpha=0.0).fit(X, y).score(X, y)
    with pytest.warns(NotForReleaseWarning):
        model = made("poisson", delta=DELTA, random_state=0).fit(X, y)
    assert model.score(X, y) > best - 0.03
