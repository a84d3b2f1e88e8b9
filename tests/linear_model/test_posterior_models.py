"""Behaviour of the estimators made of posterior draws, on good and on hostile input."""

import math
import pickle
import traceback
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from scipy.special import expit
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import skdp
from skdp.exceptions import (
    BudgetExceededError,
    NotForReleaseWarning,
    UncertifiedPrivacyWarning,
)
from skdp.linear_model import ASAPClassifier, ASAPRegressor, PosteriorSampler
from skdp.losses import HuberLoss, LogisticLoss
from skdp.preprocessing import BoundedScaler, RowClipper
from skdp.rows import Labels, Targets, as_row_blocks

BOUNDS = (-2.0, 6.0)
seeded = pytest.mark.filterwarnings("ignore::skdp.exceptions.NotForReleaseWarning")


def problem(n=400, d=3, seed=0):
    """Return rows, labels, and targets of the same linear model."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d)) / math.sqrt(d)
    line = X @ np.arange(1, d + 1)
    y = np.where(line + 0.3 * rng.standard_normal(n) > 0, 1, 0)
    return X, y, 2.0 + line + 0.1 * rng.standard_normal(n)


def classifier(**kwargs):
    return ASAPClassifier(**{"classes": [0, 1], "radius": 4.0} | kwargs)


def regressor(**kwargs):
    return ASAPRegressor(**{"bounds_y": BOUNDS, "radius": 4.0} | kwargs)


def sampler(**kwargs):
    return PosteriorSampler(**{"classes": [0, 1], "radius": 4.0} | kwargs)


def fitted(make, n=400, **kwargs):
    X, y, t = problem(n)
    return make(**kwargs).fit(X, t if make is regressor else y)


each = pytest.mark.parametrize("make", [classifier, regressor, sampler])


# --- the law ------------------------------------------------------------------------


@seeded
@pytest.mark.parametrize("loss", ["squared", "huber", "log-cosh"])
def test_draws_of_a_regressor_spread_around_the_ridge_solution(loss):
    """2,000 seeded draws: their mean is within 6 standard errors of the mode."""
    X, _, t = problem()
    wide = {} if loss == "squared" else {"scale": 1e3}
    model = regressor(
        loss=loss, **wide, delta=1e-6, epsilon=900.0, alpha=50.0, n_samples=2000,
        radius=3.0, random_state=0,
    ).fit(X, t)  # fmt: skip
    Z = np.column_stack([X, np.full(len(X), 0.5)])
    A = Z.T @ Z + model.alpha_ * np.eye(4)
    mode = np.linalg.solve(A, Z.T @ ((t - 2.0) / 4.0))
    spread = np.linalg.inv(A) / model.inverse_temperature_
    draws = model.draws_
    error = (draws.mean(axis=0) - mode) / np.sqrt(np.diag(spread) / len(draws))
    assert np.abs(error).max() < 6
    np.testing.assert_allclose(np.cov(draws.T), spread, atol=0.2 * spread.max())


@seeded
def test_coordinates_are_those_of_the_targets():
    model = fitted(regressor, n_samples=4, random_state=0)
    np.testing.assert_allclose(model.samples_, 4.0 * model.draws_[:, :3])
    np.testing.assert_allclose(
        model.intercept_samples_, 2.0 + 4.0 * 0.5 * model.draws_[:, 3]
    )
    np.testing.assert_array_equal(model.coef_, model.samples_[0])
    assert model.intercept_ == model.intercept_samples_[0]
    flat = fitted(regressor, fit_intercept=False)
    assert flat.intercept_ == 2.0
    assert flat.draws_.shape == (1, 3)
    labels = fitted(classifier, n_samples=4)
    np.testing.assert_array_equal(labels.coef_, labels.samples_[:1])
    np.testing.assert_array_equal(labels.intercept_, labels.intercept_samples_[:1])
    np.testing.assert_allclose(labels.intercept_samples_, 0.5 * labels.draws_[:, 3])
    assert fitted(classifier, fit_intercept=False).intercept_.tolist() == [0.0]


@seeded
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_shifting_targets_and_bounds_together_shifts_the_model(delta):
    X, _, t = problem()
    here = regressor(delta=delta, random_state=1).fit(X, t)
    there = regressor(delta=delta, random_state=1, bounds_y=(98.0, 106.0))
    there.fit(X, t + 100.0)
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(there.intercept_, here.intercept_ + 100, atol=1e-6)
    scaled = regressor(delta=delta, random_state=1, bounds_y=(-20.0, 60.0))
    scaled.fit(X, 10 * t)
    np.testing.assert_allclose(scaled.coef_, 10 * here.coef_, rtol=1e-6)


def test_draws_are_independent_and_all_different():
    for make in (classifier, regressor, sampler):
        draws = fitted(make, n_samples=50).samples_
        assert len({row.tobytes() for row in draws}) == 50


@each
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_epsilon_is_the_total_of_all_draws(make, delta):
    one, many = (fitted(make, delta=delta, n_samples=m) for m in (1, 100))
    for model in (one, many):
        assert 0.98 < model.privacy_spent_.epsilon <= 1.0
    ratio = one.inverse_temperature_ / many.inverse_temperature_
    assert ratio == pytest.approx(100, rel=1e-3) if delta == 0.0 else 10 < ratio < 100
    assert many.privacy_spent_.parts[0].note == "100 draws"
    assert one.privacy_spent_.parts[0].note == "1 draw"


@each
def test_the_parts_of_a_localized_fit_add_up(make):
    model = fitted(make, radius="auto", localize=True, n_samples=3)
    centre, draws = (part.guarantee.epsilon(0.0) for part in model.privacy_spent_.parts)
    assert centre == pytest.approx(0.5, rel=1e-6)
    assert draws == pytest.approx(0.5, rel=1e-3)
    assert centre + draws <= 1.0 + 1e-9
    assert model.pdp_loss(*_asked(make)).max() <= 1.0


def _asked(make):
    X, y, t = problem()
    return X, t if make is regressor else y


# --- heuristic draws ----------------------------------------------------------------


@each
@pytest.mark.parametrize("kwargs", [{}, {"delta": 1e-6}, {"radius": "auto"}])
def test_a_heuristic_claims_nothing_and_says_so(make, kwargs):
    X, y, t = problem(60, 2)
    target = t if make is regressor else y
    with pytest.warns(UncertifiedPrivacyWarning, match="not certified") as caught:
        model = make(sampler="mala", alpha=30.0, **kwargs).fit(X, target)
    assert caught[0].filename == __file__
    spent = model.privacy_spent_
    assert math.isnan(spent.epsilon)
    assert spent.nominal_epsilon == pytest.approx(1.0, rel=0.02)
    assert spent.grade == "heuristic"
    assert spent.guarantee is None
    assert not spent.releasable
    assert "heuristic" in repr(spent)
    assert np.isnan(model.pdp_loss(X, target)).all()
    assert "heuristic" in model._repr_html_()


class Steep(skdp.losses.HuberLoss):
    """A Huber loss that says it is less steep than it is."""


def test_the_constants_of_a_loss_of_ones_own_are_an_assumption():
    X, _, t = problem(60, 2)
    spent = regressor(loss=Steep()).fit(X, t).privacy_spent_
    assert "constants of Steep hold (asserted)" in spent.assumptions
    spent = regressor(loss=skdp.losses.HuberLoss()).fit(X, t).privacy_spent_
    assert not [text for text in spent.assumptions if "asserted" in text]


def test_a_private_centre_is_bought_where_public_numbers_say_that_it_pays():
    X, y, _ = problem(60, 2)
    plain = classifier(radius="auto").fit(X, y)
    assert isinstance(plain.mechanism_, skdp.mechanisms.GibbsPosterior)
    assert plain.radius_ == 3.0
    assert len(plain.privacy_spent_.parts) == 1
    ridge = classifier(radius="auto", alpha=1e4).fit(X, y)
    assert isinstance(ridge.mechanism_, skdp.mechanisms.LocalizedPosterior)
    assert ridge.radius_ <= 0.75
    forced = classifier(radius="auto", localize=True).fit(X, y)
    assert isinstance(forced.mechanism_, skdp.mechanisms.LocalizedPosterior)


@each
def test_nothing_chooses_the_heuristic_by_itself(make, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("mala was chosen")

    monkeypatch.setattr("skdp.linear_model._posterior_release.mala", refuse)
    for kwargs in ({}, {"delta": 1e-6}, {"radius": "auto"}, {"sampler": "exact"}):
        assert fitted(make, **kwargs).privacy_spent_.grade == "proved"


# --- predictions --------------------------------------------------------------------


def test_probabilities_are_the_mean_of_the_draws():
    model = fitted(classifier, n_samples=7)
    X, _, _ = problem(50, seed=1)
    each_draw = expit(X @ model.samples_.T + model.intercept_samples_)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p[:, 1], each_draw.mean(axis=1), rtol=1e-12)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), p, rtol=1e-12)
    odds = model.decision_function(X)
    np.testing.assert_allclose(odds, np.log(p[:, 1] / p[:, 0]), rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X), (odds > 0).astype(int))


def test_one_draw_is_the_model_of_its_coefficients():
    X, _, _ = problem(50, seed=1)
    model = fitted(classifier)
    margin = X @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(X), margin, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(margin), rtol=1e-12)
    line = fitted(regressor)
    np.testing.assert_allclose(line.predict(X), X @ line.coef_ + line.intercept_)


def test_mean_and_spread_are_those_of_the_draws():
    model = fitted(regressor, n_samples=9)
    X, _, _ = problem(50, seed=1)
    each_draw = X @ model.samples_.T + model.intercept_samples_
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(mean, each_draw.mean(axis=1), rtol=1e-10)
    np.testing.assert_allclose(std, each_draw.std(axis=1, ddof=1), rtol=1e-10)
    np.testing.assert_array_equal(model.predict(X), mean)
    with pytest.raises(ValueError, match="n_samples=1"):
        fitted(regressor).predict(X, return_std=True)
    with pytest.raises(TypeError, match="return_std"):
        model.predict(X, return_std="yes")


def test_predictions_of_huge_rows_are_numbers():
    model = fitted(classifier, n_samples=3)
    X = np.array([[1e308, 1e308, 0.0], [-1e308, 1e308, 1e308], [1.0, 2.0, 3.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        p, odds = model.predict_proba(X), model.decision_function(X)
    assert not np.isnan(p).any()
    assert not np.isnan(odds).any()


def test_one_observed_label_is_predicted_for_everyone():
    X, _, _ = problem(20)
    with pytest.warns(UserWarning, match="label set"):
        model = ASAPClassifier(radius=1.0, n_samples=2).fit(X, ["only"] * 20)
    assert set(model.predict(X)) == {"only"}
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((20, 1)))
    np.testing.assert_array_equal(model.predict_log_proba(X), np.zeros((20, 1)))
    assert model.pdp_loss(X, ["only"] * 20).shape == (20,)


def test_useful_accuracy_at_epsilon_one():
    X, y, t = problem(20_000)
    assert classifier(delta=1e-6).fit(X, y).score(X, y) > 0.85
    assert regressor().fit(X, t).score(X, t) > 0.9


# --- handing out --------------------------------------------------------------------


@seeded
def test_a_sampler_hands_out_each_draw_once_and_no_other():
    model = fitted(sampler, n_samples=5, random_state=0)
    paid = np.column_stack([model.samples_, model.intercept_samples_])
    first, second = model.sample(2), model.sample()
    np.testing.assert_array_equal(np.vstack([first, second]), paid[:3])
    assert model.n_handed_out_ == 3
    with pytest.raises(BudgetExceededError, match="got 2 left of the 5") as caught:
        model.sample(3)
    assert "n_samples" in str(caught.value)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(model.sample(2), paid[3:])
    assert copy.sample(0).shape == (0, 4)
    np.testing.assert_array_equal(copy.sample(2), paid[3:])
    with pytest.raises(BudgetExceededError, match=r"1 draw was .* got none left"):
        copy.sample()
    for k, error in ((-1, ValueError), (1.0, TypeError), (True, TypeError)):
        with pytest.raises(error, match="k"):
            copy.sample(k)
    assert copy.fit(*_asked(sampler)).n_handed_out_ == 0
    assert fitted(sampler, fit_intercept=False).sample().shape == (1, 3)


def test_what_is_handed_out_cannot_change_what_is_stored():
    model = fitted(sampler, n_samples=2)
    before = model.samples_.copy()
    model.sample()[:] = 0.0
    model.coef_[:] = 0.0
    np.testing.assert_array_equal(model.samples_, before)


def test_a_sampler_takes_numbers_or_labels_and_forgets_the_others():
    X, y, t = problem()
    model = sampler(loss="squared", bounds_y=BOUNDS, classes=None).fit(X, t)
    assert model.targets_ == Targets(*BOUNDS)
    assert not hasattr(model, "classes_")
    model.set_params(loss="logistic", bounds_y=None, classes=[0, 1]).fit(X, y)
    assert model.classes_.tolist() == [0, 1]
    assert not hasattr(model, "targets_")
    assert model.pdp_loss(X, y).shape == (400,)


# --- hostile rows and targets -------------------------------------------------------


@seeded
@pytest.mark.parametrize("loss", ["squared", "huber", "log-cosh"])
def test_a_wild_target_counts_as_clipped_and_changes_nobody_else(loss):
    X, _, t = problem()
    wild, tame = t.copy(), t.copy()
    wild[3], tame[3] = 1e9, 6.0
    a = regressor(loss=loss, random_state=0).fit(X, wild)
    b = regressor(loss=loss, random_state=0).fit(X, tame)
    np.testing.assert_array_equal(a.draws_, b.draws_)
    np.testing.assert_array_equal(a.pdp_loss(X, wild), b.pdp_loss(X, tame))
    assert a.privacy_spent_ == b.privacy_spent_


@seeded
@each
def test_a_long_row_counts_exactly_as_its_clipped_self(make):
    X, target = _asked(make)
    long, clipped = X.copy(), X.copy()
    long[3], clipped[3] = [3e5, -4e5, 0], [0.6, -0.8, 0]
    a = make(random_state=0).fit(long, target)
    b = make(random_state=0).fit(RowClipper(1.0).fit_transform(clipped), target)
    np.testing.assert_allclose(a.draws_, b.draws_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(
        a.pdp_loss(long, target), b.pdp_loss(clipped, target), rtol=1e-5
    )


@each
@pytest.mark.parametrize("kwargs", [{}, {"radius": "auto"}, {"delta": 1e-6}])
@pytest.mark.parametrize(
    "X",
    [
        np.zeros((10, 3)),
        np.ones((1, 2)),
        np.eye(30)[:5],
        np.full((6, 1), 1e308),
        np.full((6, 1), 1e-300),
        np.sign(np.linspace(-1, 1, 50)).reshape(-1, 1),
    ],
    ids=["zeros", "one row", "wide", "huge", "tiny", "separable"],
)
def test_degenerate_tables_fit_and_keep_the_guarantee(make, X, kwargs):
    target = (np.arange(len(X)) >= len(X) / 2).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = make(**kwargs).fit(X, target)
        loss = model.pdp_loss(X, target)
    assert np.isfinite(model.draws_).all()
    assert model.privacy_spent_.epsilon <= 1.0
    assert np.isfinite(loss).all()


@each
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_non_finite_entries_raise_without_quoting_data(make, bad):
    X, target = _asked(make)
    X = X.copy()
    X[11, 2], X[12, 0] = bad, 0.987654321
    model = fitted(make)
    for call in (make().fit, model.pdp_loss):
        for hold in (np.asarray, sp.csr_array, pd.DataFrame):
            with pytest.raises(ValueError, match=r"NaN|infinity") as caught:
                call(hold(X), target)
            assert "0.98765" not in str(caught.value)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_non_finite_targets_raise_without_quoting_data(bad):
    X, _, t = problem()
    t[11], t[12] = bad, 0.987654321
    model = fitted(regressor)
    for call in (regressor().fit, model.pdp_loss):
        for hold in (np.asarray, list, pd.Series):
            with pytest.raises(
                ValueError, match=r"y contains (NaN|infinity)"
            ) as caught:
                call(X, hold(t))
            assert "0.98765" not in str(caught.value)


SECRET = "123.456"


@pytest.mark.parametrize(
    "y",
    [
        ["123.456x", "b", "c", "d"],
        np.array(["123.456x"] * 4, dtype=object),
        np.full((4, 2), 123.456),
        np.full(4, 123.456 + 1j),
        [{"123.456": 1}] * 4,
        pd.Series([123.456, None, 1, 2], dtype="object"),
        pd.Series([123.456, None, 1, 2], dtype="Float64"),
        np.full(5, 123.456),
        None,
    ],
    ids=str,
)
def test_no_error_about_targets_quotes_one_or_counts_them(y):
    with pytest.raises((TypeError, ValueError)) as caught:
        regressor().fit(np.ones((4, 1)), y)
    text = "".join(traceback.format_exception(caught.value, limit=0))
    assert SECRET not in text
    assert "[4, 5]" not in text


def test_sample_weight_is_refused():
    X, y, _ = problem()
    with pytest.raises(TypeError):
        classifier().fit(X, y, sample_weight=np.ones(len(y)))


@seeded
def test_undeclared_labels_count_for_nothing():
    X, y, _ = problem()
    extra, labels = np.vstack([X, X[:50]]), np.r_[y, np.full(50, 9)]
    a = classifier(random_state=0).fit(X, y)
    b = classifier(random_state=0).fit(extra, labels)
    np.testing.assert_allclose(a.draws_, b.draws_, rtol=0, atol=1e-6)
    assert not b.pdp_loss(X[:3], [9, 9, 9]).any()


# --- containers ---------------------------------------------------------------------


@seeded
@each
def test_every_container_gives_the_same_model(make):
    X, target = _asked(make)
    X32 = X.astype(np.float32)
    X = X32.astype(np.float64)  # so that single precision holds the same numbers
    reference = make(random_state=1).fit(X, target)
    frame = pd.DataFrame(X, columns=list("abc"))
    containers = {
        "float32": X32,
        "fortran": np.asfortranarray(X),
        "csr": sp.csr_array(X),
        "csr matrix": sp.csr_matrix(X),
        "csc": sp.csc_array(X),
        "frame": frame,
        "mixed frame": frame.astype({"a": "Float64", "b": "float32"}),
        "list": X.tolist(),
    }
    for name, container in containers.items():
        for held in (target, list(target), pd.Series(target)):
            model = make(random_state=1).fit(container, held)
            np.testing.assert_allclose(
                model.draws_, reference.draws_, rtol=0, atol=1e-6, err_msg=name
            )
        np.testing.assert_allclose(
            model.pdp_loss(container, target), reference.pdp_loss(X, target), rtol=1e-4
        )
        if make is not sampler:
            np.testing.assert_array_equal(model.predict(container).shape, (400,))
    encoder = Targets(*BOUNDS) if make is regressor else Labels([0, 1])
    chunks = [(X[:123], target[:123]), (X[123:], target[123:])]
    streamed = make(random_state=1).fit(as_row_blocks(chunks, labels=encoder))
    np.testing.assert_allclose(streamed.draws_, reference.draws_, rtol=0, atol=1e-6)


def test_row_blocks_bring_their_own_targets():
    X, _, t = problem()
    for labels in (
        None,
        Targets(-2.0, 7.0),
        Targets(*BOUNDS, bound=2.0),
        Labels([0, 1]),
    ):
        blocks = as_row_blocks(X, np.sign(t), labels=labels)
        with pytest.raises(ValueError, match="bounds_y"):
            regressor().fit(blocks)
    with pytest.raises(ValueError, match="y must be None"):
        regressor().fit(as_row_blocks(X, t, labels=Targets(*BOUNDS)), t)
    model = regressor().fit(pd.DataFrame(X, columns=list("abc")), t)
    model.fit(as_row_blocks(X, t, labels=Targets(*BOUNDS)))
    assert not hasattr(model, "feature_names_in_")


@each
def test_feature_names_are_checked(make):
    X, target = _asked(make)
    frame = pd.DataFrame(X, columns=list("abc"))
    model = make().fit(frame, target)
    assert model.feature_names_in_.tolist() == list("abc")
    with pytest.raises(ValueError, match="feature names"):
        model.pdp_loss(frame[list("cba")], target)


@each
def test_one_person_may_ask_alone_and_after_a_pickle(make):
    X, target = _asked(make)
    model = pickle.loads(pickle.dumps(make(n_samples=3, delta=1e-6).fit(X, target)))
    together = model.pdp_loss(X, target)
    np.testing.assert_allclose(model.pdp_loss((X[3], target[3])), together[3:4])
    model.set_params(data_norm=5.0, epsilon=9.0, n_samples=7, radius=9.0)
    np.testing.assert_array_equal(model.pdp_loss(X, target), together)
    with pytest.raises(TypeError, match="y is missing"):
        model.pdp_loss(X)
    for rho in (0, 1):
        with pytest.raises(ValueError, match="rho"):
            model.pdp_loss(X, target, rho=rho)


@each
@pytest.mark.parametrize(
    "kwargs",
    [
        {"delta": 1e-6, "radius": "auto"},
        {"delta": 1e-6, "radius": "auto", "localize": True},
        {"delta": 1e-6},
        {"radius": 0.5, "constant_time": True, "n_max": 500},
        {"radius": 0.5, "constant_time": True, "n_max": 500, "delta": 1e-6},
    ],
)
def test_everyone_may_ask_what_a_fit_cost_her(make, kwargs):
    X, target = _asked(make)
    loss = {"loss": "huber", "scale": 9.0} if make is regressor else {}
    model = make(n_samples=2, **loss, **kwargs).fit(X, target)
    found = model.pdp_loss(X, target)
    assert (found > 0).all()
    assert np.isfinite(found).all()
    assert (found < 3.0).all()
    if "delta" in kwargs:
        assert (model.pdp_loss(X, target, rho=1e-9) >= found).all()


# --- the company of scikit-learn ----------------------------------------------------


def test_cross_validation_and_grid_search():
    X, y, t = problem()
    assert cross_val_score(classifier(epsilon=5.0), X, y, cv=3).shape == (3,)
    assert cross_val_score(regressor(epsilon=5.0), X, t, cv=3).shape == (3,)
    grid = GridSearchCV(regressor(), {"alpha": ["auto", 10.0]}, cv=2).fit(X, t)
    assert grid.best_estimator_.privacy_spent_.epsilon <= 1.0
    flip = {"func": np.negative, "inverse_func": np.negative}
    wrapped = TransformedTargetRegressor(regressor(), **flip)
    assert wrapped.fit(X, t).predict(X).shape == (400,)


@each
def test_pipelines_know_what_they_spent_and_what_it_cost_whom(make):
    X, target = _asked(make)
    pipeline = make_pipeline(BoundedScaler((-1.0, 1.0)), make(n_samples=2))
    pipeline.fit(X, target)
    assert tuple(skdp.privacy_spent(pipeline)) == tuple(pipeline[-1].privacy_spent_)
    np.testing.assert_allclose(
        skdp.pdp_loss(pipeline, X, target), pipeline[-1].pdp_loss(X, target), rtol=1e-6
    )


@each
def test_clone_and_set_params_keep_every_parameter(make):
    original = make(epsilon=2.0, delta=1e-5, alpha=3.0, n_samples=4, sampler="exact")
    assert clone(original).get_params() == original.get_params()
    assert clone(original).set_params(radius="auto").radius == "auto"
    if make is sampler:
        loss = HuberLoss(scale=0.3)
        assert clone(sampler(loss=loss)).loss == loss


@each
def test_a_seed_repeats_a_fit_and_the_warning_points_at_the_caller(make):
    X, target = _asked(make)
    with pytest.warns(NotForReleaseWarning) as caught:
        model = make(random_state=3, n_samples=2).fit(X, target)
    assert caught[0].filename == __file__
    assert not model.privacy_spent_.releasable
    with pytest.warns(NotForReleaseWarning):
        again = clone(model).fit(X, target)
    np.testing.assert_array_equal(model.draws_, again.draws_)


@each
def test_the_pickle_holds_the_draws_and_does_not_grow_with_the_rows(make):
    small, large = (len(pickle.dumps(fitted(make, n))) for n in (50, 2000))
    assert abs(small - large) <= 8  # digits of released floats
    few, many = (len(pickle.dumps(fitted(make, n_samples=m))) for m in (10, 110))
    assert many - few < 100 * 8 * 12


@each
def test_the_card_states_the_guarantee(make):
    assert "no privacy spent" in make()._repr_html_()
    model = fitted(make, radius="auto", localize=True, n_samples=2)
    card = model._repr_mimebundle_()["text/html"]
    for part in ("epsilon", "add-remove", "proved", "OutputPerturbation", "2 draws"):
        assert part in card
    with sklearn.config_context(display="text"):
        assert set(model._repr_mimebundle_()) == {"text/plain"}
    what = "range of targets [-2, 6]" if make is regressor else "label set [0, 1]"
    assert what in repr(model.privacy_spent_)


@each
def test_replace_one_is_stated_and_twice_as_dear(make):
    here = fitted(make, adjacency="replace-one")
    there = fitted(make)
    assert "replace-one" in repr(here.privacy_spent_)
    assert there.inverse_temperature_ == pytest.approx(2 * here.inverse_temperature_)


class Hinged(LogisticLoss):
    """A loss of one's own, with everything the protocol asks for."""


@seeded
def test_a_loss_of_ones_own_takes_the_protocol():
    X, y, _ = problem()
    own = sampler(loss=Hinged(), random_state=0).fit(X, y)
    named = sampler(random_state=0).fit(X, y)
    np.testing.assert_array_equal(own.draws_, named.draws_)
