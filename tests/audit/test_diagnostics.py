import dataclasses
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.exceptions import NotFittedError

from skdp.audit import fit_diagnostics
from skdp.linear_model import (
    AdaSSPRegressor,
    ObjPertLogisticRegression,
    ObjPertRegressor,
)


def table(n=400, d=3, length=0.8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X *= length / np.linalg.norm(X, axis=1, keepdims=True)
    return X, np.where(rng.random(n) < expit(8 * X[:, 0]), 1, 0)


def fit(X, y, **options):
    options = {"classes": [0, 1], "random_state": 0} | options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ObjPertLogisticRegression(**options).fit(X, y)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_displacements_are_the_formulas_written_out(delta):
    X, y = table()
    model = fit(X, y, epsilon=2.0, delta=delta)
    found = fit_diagnostics(model, X, y)
    Z = np.column_stack([X, np.full(len(X), 0.5)])
    theta = np.append(model.coef_, model.intercept_ / 0.5)
    p = expit(Z @ theta)
    H = (Z * (p * (1 - p))[:, None]).T @ Z + model.alpha_ * np.eye(4)
    variance = model.noise_scale_**2 * (1 if delta else 5)
    expected = np.sqrt(np.trace(np.linalg.inv(H) @ np.linalg.inv(H)) * variance)
    assert found.noise_displacement == pytest.approx(expected)
    ridge = model.alpha_ * np.linalg.norm(np.linalg.solve(H, theta))
    assert found.ridge_displacement == pytest.approx(ridge)
    assert found.coefficient_norm == pytest.approx(np.linalg.norm(theta))
    assert found.noise_to_signal == pytest.approx(expected / np.linalg.norm(theta))


@pytest.mark.statistical
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_expected_displacement_is_that_of_many_fits(delta):
    """The root of a mean of some 160 squares within 45 %: more than five errors."""
    X, y = table(1000)
    fits = [
        fit(X, y, epsilon=20.0, delta=delta, random_state=seed) for seed in range(40)
    ]
    thetas = np.stack([np.append(m.coef_, m.intercept_ / 0.5) for m in fits])
    spread = np.sqrt(np.sum(np.var(thetas, axis=0)))
    predicted = fit_diagnostics(fits[0], X, y).noise_displacement
    assert spread == pytest.approx(predicted, rel=0.45)


def test_shares_and_quantiles_of_the_rows():
    X, y = table(200)
    X[:50] *= 10.0
    X[50] = 0.0
    y = y.astype(float)
    y[:20] = 7.0
    found = fit_diagnostics(fit(X, y, data_norm=1.0), X, y)
    assert found.n_rows == 200
    assert found.clipped_share == 0.25
    assert found.undeclared_share == 0.1
    assert found.norm_quantiles[1.0] == pytest.approx(8.0)
    assert found.norm_quantiles[0.5] == pytest.approx(0.8)
    assert found.data_norm == 1.0
    assert 1 / 3 < found.largest_column_share < 0.5


def test_the_report_says_that_it_is_not_for_release():
    X, y = table()
    found = fit_diagnostics(fit(X, y), X, y)
    text = str(found)
    assert text.startswith("NOT FOR RELEASE")
    assert "data_norm" in text
    assert "NOT FOR RELEASE" in type(found).__doc__
    assert "NOT FOR RELEASE" in fit_diagnostics.__doc__
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.n_rows = 3


def advice(X, y, **options):
    return " ".join(fit_diagnostics(fit(X, y, **options), X, y).advice)


def test_a_healthy_fit_gets_no_advice():
    X, y = table(50_000)
    assert advice(X, y, epsilon=8.0) == ""


def test_each_sickness_gets_its_own_advice():
    X, y = table(50_000)
    assert "many rows are clipped" in advice(X, y, epsilon=8.0, data_norm=0.2)
    assert "far shorter" in advice(X, y, epsilon=8.0, data_norm=4.0)
    one = X * np.array([1.0, 1e-3, 1e-3])
    assert "one column outweighs" in advice(one, y, epsilon=8.0)
    odd = y.copy()
    odd[0] = 9
    assert "check classes" in advice(X, odd, epsilon=8.0)
    X, y = table(30)
    noisy = advice(X, y, epsilon=0.1)
    assert "larger epsilon" in noisy
    assert "ridge holds the coefficients back" in noisy
    assert "delta > 0" not in noisy
    X, y = table(30, d=40)
    assert "delta > 0" in advice(X, y, epsilon=0.1)
    gaussian = {"delta": 1e-6, "metric": "identity"}
    assert "delta > 0" not in advice(X, y, epsilon=0.1, **gaussian)
    assert "lower alpha" in advice(*table(5000), epsilon=8.0, alpha=1e5)


def test_frames_and_sparse_matrices_are_read_alike():
    X, y = table()
    model = fit(X, y)
    plain = fit_diagnostics(model, X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the model saw no column names
        frame = fit_diagnostics(model, pd.DataFrame(X), y)
    sparse = fit_diagnostics(model, sp.csr_array(X), y)
    for other in (frame, sparse):
        assert other.noise_displacement == pytest.approx(plain.noise_displacement)
        assert other.norm_quantiles == pytest.approx(plain.norm_quantiles)


def test_rows_of_zeros_and_zero_coefficients_are_no_trouble():
    X, y = np.zeros((5, 2)), np.array([0, 1, 0, 1, 1])
    found = fit_diagnostics(fit(X, y, fit_intercept=False), X, y)
    assert found.norm_quantiles[1.0] == 0.0
    assert found.largest_column_share == 0.0
    assert np.isfinite(found.noise_displacement)


def test_an_unfitted_estimator_is_refused():
    with pytest.raises(NotFittedError):
        fit_diagnostics(ObjPertLogisticRegression(), np.zeros((2, 2)), [0, 1])


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.filterwarnings("ignore::skdp.exceptions.NotForReleaseWarning")
def test_several_classes_and_targets_are_explained_too(delta):
    rng = np.random.default_rng(0)
    X = rng.uniform(-0.5, 0.5, (300, 3))
    y = np.array(["a", "b", "c", "?"])[np.arange(300) % 4]
    several = ObjPertLogisticRegression(classes=["a", "b", "c"], delta=delta).fit(X, y)
    found = fit_diagnostics(several, X, y)
    assert found.undeclared_share == 0.25
    assert found.coefficient_norm == pytest.approx(np.linalg.norm(several.theta_))
    means = [
        ObjPertLogisticRegression(
            classes=["a", "b", "c"], delta=delta, random_state=seed
        ).fit(X, y)
        for seed in range(40)
    ]
    spread = np.linalg.norm(np.std([m.theta_ for m in means], axis=0))
    # 40 draws of 12 coordinates: within a third, at far more than five deviations
    assert spread == pytest.approx(found.noise_displacement, rel=1 / 3)
    numbers = ObjPertRegressor(bounds_y=(-1.0, 1.0), delta=delta).fit(X, np.zeros(300))
    assert fit_diagnostics(numbers, X, np.zeros(300)).undeclared_share == 0.0


def test_models_of_other_mechanisms_are_refused():
    X, y = np.eye(3), np.zeros(3)
    fitted = AdaSSPRegressor(bounds_y=(-1.0, 1.0), delta=1e-6).fit(X, y)
    with pytest.raises(ValueError, match="ObjPert"):
        fit_diagnostics(fitted, X, y)
