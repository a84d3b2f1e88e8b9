"""Private linear regression from noisy moments, with scikit-learn's interface."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import skdp
from skdp.audit import exact_pdp_loss
from skdp.exceptions import AdjacencyMismatchError, NotForReleaseWarning
from skdp.linear_model import AdaSSPRegressor, ASAPRegressor
from skdp.mechanisms import AdaSSP
from skdp.preprocessing import RowClipper
from skdp.rows import Targets, as_row_blocks

BOUNDS = (0.0, 100.0)
DELTA = 1e-6


class Untouchable:
    """An X that fails the test when anything at all is read from it."""

    def __getattribute__(self, name):
        raise AssertionError(f"the data was read: {name}")


def problem(n=3000, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 0.25
    return X, 50 + 30 * X[:, 0] - 10 * X[:, -1] + rng.normal(size=n)


def made(**parameters):
    return AdaSSPRegressor(**{"bounds_y": BOUNDS, "delta": DELTA} | parameters)


def seeded(X, y=None, **parameters):
    with pytest.warns(NotForReleaseWarning):
        return made(random_state=3, **parameters).fit(X, y)


def test_a_generous_budget_comes_close_to_least_squares_in_the_units_of_y():
    X, y = problem(20_000)
    exact = LinearRegression().fit(X, y)
    model = made(epsilon=50.0, data_norm=2.0, delta=1e-3).fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=0.5)
    assert model.intercept_ == pytest.approx(exact.intercept_, abs=0.5)
    assert model.score(X, y) > 0.95


def test_a_given_ridge_is_that_of_scikit_learn_on_targets_in_plus_minus_one():
    X, y = problem(20_000)
    constant = np.column_stack([X, np.full(len(X), 0.7)])
    model = made(epsilon=500.0, data_norm=2.0, alpha=30.0, intercept_scaling=0.7)
    model.fit(X, y)
    exact = Ridge(alpha=30.0, fit_intercept=False).fit(constant, (y - 50) / 50)
    np.testing.assert_allclose(model.coef_, 50 * exact.coef_[:3], atol=0.2)
    assert model.intercept_ == pytest.approx(50 + 50 * 0.7 * exact.coef_[3], abs=0.2)
    assert model.alpha_ == 30.0


def test_the_moments_are_those_of_the_rows_with_little_noise():
    X, y = problem(5000)
    model = made(epsilon=1000.0, data_norm=4.0).fit(X, y)
    design = np.column_stack([X, np.full(len(X), 2.0)])
    assert model.intercept_scaling_ == 2.0
    target = np.clip((y - 50) / 50, -1, 1)
    np.testing.assert_allclose(model.gram_, design.T @ design, atol=20)
    np.testing.assert_allclose(model.moments_, design.T @ target, atol=5)
    np.testing.assert_array_equal(model.gram_, model.gram_.T)


def test_without_an_intercept_the_constant_is_the_middle_of_the_range():
    X, y = problem()
    model = made(fit_intercept=False).fit(X, y)
    assert model.intercept_ == 50.0
    assert model.intercept_scaling_ == 0.0
    assert model.gram_.shape == (3, 3)


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
@pytest.mark.parametrize("epsilon", [1e-9, 0.01, 1.0, 1000.0])
def test_the_spend_is_what_was_asked(adjacency, epsilon):
    X, y = problem(50)
    model = made(epsilon=epsilon, adjacency=adjacency).fit(X, y)
    spent, delta = model.privacy_spent_
    assert 0.999 * epsilon <= spent <= epsilon
    assert delta == DELTA
    assert str(model.privacy_spent_.adjacency) == adjacency
    [part] = model.privacy_spent_.parts
    assert part.name == "AdaSSP"
    assert part.guarantee == model.privacy_spent_.guarantee
    text = " ".join(model.privacy_spent_.assumptions)
    for words in (
        "row L2 norm <= 1.118",
        "[0, 100] is public",
        "rounding of the noise",
    ):
        assert words in text


def test_replace_one_needs_half_as_much_noise_again():
    X, y = problem(50)
    ratio = (
        made(adjacency="replace-one").fit(X, y).noise_scale_
        / made().fit(X, y).noise_scale_
    )
    assert ratio == pytest.approx(1.5, rel=1e-12)


def test_a_fit_composes_with_others_as_a_gaussian_does():
    X, y = problem(50)
    one = made().fit(X, y).privacy_spent_.guarantee
    four = skdp.compose(one, one, one, one)
    assert four.epsilon(DELTA) < 2.2
    with pytest.raises(AdjacencyMismatchError):
        skdp.compose(
            one, made(adjacency="replace-one").fit(X, y).privacy_spent_.guarantee
        )


# --- the door -------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [0, 0.0])
def test_no_delta_is_refused_before_anything_is_read(delta):
    with pytest.raises(ValueError, match="delta is out of range, got 0") as caught:
        made(delta=delta).fit(Untouchable(), None)
    text = str(caught.value)
    assert "Allowed: above 0 and below 1" in text
    assert "delta=1e-6" in text
    assert "ASAPRegressor" in text
    with pytest.raises(ValueError, match="delta is out of range"):
        AdaSSPRegressor(bounds_y=BOUNDS).fit(Untouchable(), None)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epsilon", 0.0),
        ("epsilon", "1"),
        ("delta", -1e-6),
        ("delta", 1.0),
        ("data_norm", 0.0),
        ("data_norm", 1e51),
        ("intercept_scaling", 1e4),
        ("alpha", 0.0),
        ("alpha", -1.0),
        ("alpha", "large"),
        ("alpha", 1e13),
        ("bounds_y", None),
        ("bounds_y", (1.0, 1.0)),
        ("bounds_y", 5.0),
        ("intercept_scaling", 0.0),
        ("fit_intercept", 1),
        ("adjacency", "swap"),
        ("random_state", "seed"),
    ],
    ids=lambda v: v if isinstance(v, str) else repr(v),
)
def test_parameters_out_of_range_are_refused_before_anything_is_read(name, value):
    with pytest.raises((ValueError, TypeError), match=name) as caught:
        made(**{name: value}).fit(Untouchable(), None)
    assert "Allowed: " in str(caught.value)


@pytest.mark.parametrize("data_norm", [1e-50, 1e-20, 1.0, 1e20, 1e50])
@pytest.mark.parametrize("scaling", [1e-3, 1e3])
def test_rows_of_any_scale_give_finite_coefficients(data_norm, scaling):
    X, y = problem(200)
    model = made(data_norm=data_norm, intercept_scaling=scaling * data_norm)
    model.fit(X * data_norm, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.gram_).all()
    assert np.isfinite(model.predict(X * data_norm)).all()


def test_powers_of_two_in_the_rows_change_the_coefficients_by_that_power():
    X, y = problem(300)
    small, large = seeded(X, y), seeded(X * 2.0**30, y, data_norm=2.0**30)
    np.testing.assert_array_equal(small.coef_, large.coef_ * 2.0**30)
    assert small.intercept_ == large.intercept_


def test_every_container_gives_the_same_fit():
    X, y = problem(500)
    X[np.abs(X) < 0.05] = 0.0
    reference = seeded(X, y)
    chunks = [(X[:100], y[:100]), (X[100:], y[100:])]
    for other, target in (
        (sp.csr_array(X), y),
        (np.asfortranarray(X), y),
        (pd.DataFrame(X, columns=list("abc")), pd.Series(y)),
        (X.tolist(), y.tolist()),
        (as_row_blocks(chunks, labels=Targets(*BOUNDS)), None),
        (X[::-1], y[::-1]),  # the sums are exact, so the order is no matter
    ):
        model = seeded(other, target)
        np.testing.assert_array_equal(model.coef_, reference.coef_)
        assert model.intercept_ == reference.intercept_


def test_single_precision_rows_and_integers_are_taken():
    X, y = problem(500)
    model = seeded(X.astype(np.float32), y)
    np.testing.assert_allclose(model.coef_, seeded(X, y).coef_, rtol=1e-4)
    assert model.coef_.dtype == np.float64
    whole = made().fit(np.arange(30).reshape(10, 3) % 2, np.arange(10))
    assert np.isfinite(whole.coef_).all()


def test_long_rows_and_far_targets_count_as_clipped():
    X, y = problem(500)
    X[0], y[0] = 1e300, 1e300
    long = seeded(X, y)
    X[0], y[0] = 1.0 / np.sqrt(3), 100.0
    np.testing.assert_allclose(long.gram_, seeded(X, y).gram_, atol=1e-4)
    np.testing.assert_allclose(long.moments_, seeded(X, y).moments_, atol=1e-4)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_refused_as_scikit_learn_does(bad):
    X, y = problem(20)
    X[3, 1] = bad
    with pytest.raises(ValueError, match=r"contains (NaN|infinity)"):
        made().fit(X, y)
    X, y = problem(20)
    y[3] = bad
    with pytest.raises(ValueError, match=r"contains (NaN|infinity)"):
        made().fit(X, y)


def test_one_row_and_one_column_are_enough():
    model = made().fit([[0.5]], [7.0])
    assert model.coef_.shape == (1,)
    assert np.isfinite(model.predict([[0.5]])).all()


def test_a_failed_fit_leaves_the_earlier_one():
    X, y = problem(50)
    model = made().fit(X, y)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((3, 2), np.nan), np.ones(3))
    np.testing.assert_array_equal(model.coef_, before)
    assert model.n_features_in_ == 3


# --- what leaves ----------------------------------------------------------------------


def test_seeded_fits_repeat_and_say_that_they_are_not_for_release():
    X, y = problem(50)
    assert seeded(X, y).gram_.tobytes() == seeded(X, y).gram_.tobytes()
    assert not seeded(X, y).privacy_spent_.releasable
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert made().fit(X, y).privacy_spent_.releasable


def test_a_fitted_model_survives_pickling():
    X, y = problem(50)
    model = made().fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(model.predict(X), again.predict(X))
    np.testing.assert_array_equal(model.pdp_loss(X, y), again.pdp_loss(X, y))
    assert isinstance(again.mechanism_, AdaSSP)


def test_feature_names_are_kept_and_checked():
    X, y = problem(50)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = made().fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["c", "b", "a"]])


def test_huge_rows_are_predicted_without_a_warning():
    X, y = problem(50)
    model = made().fit(X, y)
    assert np.isfinite(model.predict(np.full((2, 3), 1e200))).all()


def test_a_grid_search_may_try_any_parameter():
    X, y = problem(400)
    grid = {"epsilon": [1.0, 50.0], "alpha": ["auto", 1.0], "fit_intercept": [True]}
    search = GridSearchCV(made(), grid, cv=2).fit(X, y)
    assert set(search.best_params_) == set(grid)
    assert clone(search.best_estimator_).get_params()["delta"] == DELTA


def test_nothing_is_told_before_a_fit():
    for method in ("predict", "pdp_loss"):
        with pytest.raises(NotFittedError):
            getattr(made(), method)(np.zeros((1, 2)))


# --- what it cost each person ---------------------------------------------------------


def test_the_loss_of_a_person_is_her_own_and_at_most_about_epsilon():
    X, y = problem(300)
    model = made().fit(X, y)
    loss = model.pdp_loss(X, y)
    assert loss.shape == (300,)
    # at rho = delta the quantile of the largest row is a fifth above epsilon
    assert np.all((loss > 0) & (loss < 1.25))
    assert model.pdp_loss((X[5], y[5]))[0] == loss[5]
    short, long = model.pdp_loss([[0.0, 0, 0], [2.0, 0, 0]], [50.0, 100.0])
    assert short < 0.35 < 1.1 < long
    # a smaller target tells less
    near, far = model.pdp_loss([[0.9, 0, 0]] * 2, [50.0, 0.0])
    assert near < far
    assert np.all(model.pdp_loss(X, y, rho=1e-3) < loss)
    with pytest.raises(ValueError, match="rho is out of range"):
        model.pdp_loss(X, y, rho=0.0)


@pytest.mark.statistical
def test_the_exact_loss_stays_within_the_bound():
    """False alarm below 1e-3 of 1e-6: 600 rows and 300 others at rho = 1e-9."""
    X, y = problem(300)
    others = problem(150, seed=9)
    for seed in range(2):
        with pytest.warns(NotForReleaseWarning):
            model = made(epsilon=3.0, random_state=seed).fit(X, y)
        loss = exact_pdp_loss(model, X, y, X, y)
        assert np.abs(loss).max() > 0.1
        assert np.all(np.abs(loss) <= model.pdp_loss(X, y, rho=1e-9))
        loss = exact_pdp_loss(model, X, y, *others, signed=False)
        assert np.all(loss <= model.pdp_loss(*others, rho=1e-9))


def test_the_published_loss_passes_through_a_pipeline():
    X, y = problem(50)
    pipe = make_pipeline(RowClipper(), made()).fit(X, y)
    np.testing.assert_array_equal(
        skdp.pdp_loss(pipe, X, y), pipe[-1].pdp_loss(pipe[:-1].transform(X), y)
    )
    assert skdp.privacy_spent(pipe).epsilon == pipe[-1].privacy_spent_.epsilon


@pytest.mark.statistical
@pytest.mark.slow
def test_it_beats_exact_draws_from_a_posterior_where_columns_are_few():
    """Mean R2 over ten fits at epsilon 0.5; no false alarm to speak of: 0.1 apart."""
    X, y = problem(3000)
    found = np.mean([made(epsilon=0.5).fit(X, y).score(X, y) for _ in range(10)])
    draws = [
        ASAPRegressor(bounds_y=BOUNDS, epsilon=0.5, delta=DELTA, loss="huber")
        .fit(X, y)
        .score(X, y)
        for _ in range(10)
    ]
    assert found > 0.5
    assert found > np.mean(draws) - 0.1
