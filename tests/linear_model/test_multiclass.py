"""Logistic regression of more than two classes: one softmax fit, never one for each."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import log_softmax, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import skdp
from skdp.audit import exact_pdp_loss
from skdp.exceptions import PrivacyLeakWarning
from skdp.linear_model import ObjPertLogisticRegression
from skdp.mechanisms import SoftmaxPerturbation
from skdp.preprocessing import RowClipper
from skdp.rows import Classes, as_row_blocks

seeded = pytest.mark.filterwarnings("ignore::skdp.exceptions.NotForReleaseWarning")
NAMES = ["ant", "bee", "cow", "dog"]
both = pytest.mark.parametrize("delta", [0.0, 1e-6])


def model(**kwargs):
    return ObjPertLogisticRegression(**{"classes": NAMES} | kwargs)


def problem(n=800, d=3, seed=0, names=NAMES):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d)) / np.sqrt(d)
    scores = X @ rng.standard_normal((d, len(names))) * 5
    return X, np.array(names)[scores.argmax(axis=1)]


@both
def test_the_fit_is_one_softmax_release_with_coefficients_for_each_class(delta):
    X, y = problem()
    fitted = model(epsilon=5.0, delta=delta).fit(X, y)
    assert isinstance(fitted.mechanism_, SoftmaxPerturbation)
    assert fitted.mechanism_.n_classes == 4
    assert fitted.coef_.shape == (4, 3)
    assert fitted.intercept_.shape == (4,)
    assert fitted.theta_.shape == (4, 4)
    np.testing.assert_array_equal(fitted.theta_[:, :3], fitted.coef_)
    np.testing.assert_allclose(
        fitted.intercept_, fitted.theta_[:, 3] * fitted.intercept_scaling_
    )
    assert fitted.classes_.tolist() == NAMES
    assert fitted.report_ is None
    assert fitted.metric_ is None
    epsilon, at = fitted.privacy_spent_
    assert 0.99 * 5.0 < epsilon <= 5.0
    assert at == delta


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_without_much_noise_it_is_the_penalised_fit_of_scikit_learn(fit_intercept):
    X, y = problem(n=3000)
    fitted = model(epsilon=1000.0, delta=1e-3, alpha=3.0, fit_intercept=fit_intercept)
    fitted.fit(X, y)
    design = X
    if fit_intercept:
        design = np.column_stack([X, np.full(len(X), fitted.intercept_scaling_)])
    peer = LogisticRegression(C=1 / fitted.alpha_, fit_intercept=False, tol=1e-10)
    peer.set_params(max_iter=10_000).fit(design, y)
    # noise of scale sigma moves a coefficient by about sigma over its curvature
    np.testing.assert_allclose(fitted.theta_, peer.coef_, atol=0.1)
    assert np.mean(fitted.predict(X) == peer.predict(design)) > 0.98


def test_predictions_are_the_softmax_of_the_margins():
    X, y = problem()
    fitted = model(epsilon=20.0).fit(X, y)
    margins = X @ fitted.coef_.T + fitted.intercept_
    np.testing.assert_allclose(fitted.decision_function(X), margins, rtol=1e-12)
    np.testing.assert_allclose(fitted.predict_proba(X), softmax(margins, axis=1))
    np.testing.assert_allclose(
        fitted.predict_log_proba(X), log_softmax(margins, axis=1), rtol=1e-9
    )
    best = np.array(NAMES)[margins.argmax(axis=1)]
    assert fitted.predict(X).tolist() == best.tolist()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e6, 1e30, 1e300, 1.7e308])
def test_probabilities_are_numbers_at_huge_margins(size):
    fitted = model().fit(*problem())
    X = size * np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.5]])
    probability = fitted.predict_proba(X)
    assert np.isfinite(probability).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    logs = fitted.predict_log_proba(X)
    assert not np.isnan(logs).any()
    assert (logs <= 0).all()


@seeded
@both
def test_every_storage_gives_the_same_fit(delta):
    X, y = problem()
    reference = model(delta=delta, random_state=4).fit(X, y)
    blocks = as_row_blocks(
        [(X[:300], y[:300]), (X[300:], y[300:])], labels=Classes(NAMES)
    )
    tables = [sp.csr_array(X), pd.DataFrame(X), np.asfortranarray(X), blocks]
    for table in tables:
        labels = None if table is blocks else pd.Series(y)
        fitted = model(delta=delta, random_state=4).fit(table, labels)
        np.testing.assert_allclose(fitted.coef_, reference.coef_, rtol=0, atol=1e-7)
    small = model(delta=delta, random_state=4).fit(X.astype(np.float32), y)
    assert small.coef_.dtype == np.float64
    np.testing.assert_allclose(small.coef_, reference.coef_, atol=1e-4)


@seeded
@pytest.mark.parametrize(
    "names", [[3, 5, 7, 9], [0.5, 1.0, 2.0, 4.0], ["a", "bb", "ccc", "d"]], ids=str
)
def test_any_labels_give_the_same_model(names):
    X, y = problem()
    reference = model(random_state=2).fit(X, y)
    labels = np.array(names)[np.searchsorted(NAMES, y)]
    order = np.argsort(np.argsort(names))
    fitted = model(classes=names[::-1], random_state=2).fit(X, labels)
    assert fitted.classes_.tolist() == sorted(names)
    if order.tolist() == [0, 1, 2, 3]:
        np.testing.assert_array_equal(fitted.coef_, reference.coef_)
    assert fitted.predict(X).dtype == fitted.classes_.dtype


@seeded
@both
def test_undeclared_labels_count_for_nothing(delta):
    X, y = problem()
    extra = np.vstack([X, X[:50]])
    labels = [*y.tolist(), *["elk"] * 50]
    a = model(delta=delta, random_state=0).fit(X, y)
    b = model(delta=delta, random_state=0).fit(extra, labels)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=0, atol=1e-8)
    assert not b.pdp_loss(X[:3], ["elk", "fox", "elk"]).any()


def test_declared_classes_that_nobody_has_are_fitted_too():
    X, y = problem()
    keep = y != "cow"
    fitted = model().fit(X[keep], y[keep])
    assert fitted.predict_proba(X).shape == (len(X), 4)
    alone = model().fit(X[:1], y[:1])
    assert alone.coef_.shape == (4, 3)


def test_labels_read_from_y_are_recorded_as_not_paid_for():
    X, y = problem()
    with pytest.warns(PrivacyLeakWarning, match="label set"):
        fitted = ObjPertLogisticRegression().fit(X, y)
    assert fitted.classes_.tolist() == NAMES
    assert any("not paid for" in note for note in fitted.privacy_spent_.assumptions)


@both
def test_the_published_bound_covers_the_exact_loss_and_stays_within_epsilon(delta):
    X, y = problem(n=200)
    fitted = model(epsilon=1.0, delta=delta).fit(X, y)
    bound = fitted.pdp_loss(X, y)
    exact = exact_pdp_loss(fitted, X, y, X, y)
    assert exact.shape == bound.shape == (200,)
    assert (np.abs(exact) <= bound).all()
    if delta == 0.0:
        assert (bound <= 1.0).all()
    assert fitted.pdp_loss((X[5], y[5]))[0] == pytest.approx(bound[5], rel=1e-12)
    member = fitted.pdp_loss(X, y, kind="member")
    assert (exact <= member).all()
    assert (member <= bound).all()
    assert (fitted.pdp_loss(X, y, simultaneous=True) >= bound).all()


def test_a_pipeline_knows_what_it_spent_and_what_it_cost_whom():
    X, y = problem()
    pipeline = make_pipeline(RowClipper(data_norm=0.8), model(data_norm=0.8))
    pipeline.fit(X, y)
    assert skdp.privacy_spent(pipeline).epsilon <= 1.0
    loss = skdp.pdp_loss(pipeline, X[:5], y[:5])
    assert loss.shape == (5,)
    assert (loss <= 1.0).all()


def test_searches_and_pickles():
    X, y = problem()
    assert cross_val_score(model(epsilon=30.0), X, y, cv=3).mean() > 0.5
    search = GridSearchCV(
        model(epsilon=30.0), {"alpha": ["auto", 5.0], "delta": [0.0, 1e-6]}, cv=2
    )
    best = search.fit(X, y).best_estimator_
    again = pickle.loads(pickle.dumps(best))
    np.testing.assert_array_equal(again.predict(X), best.predict(X))


@seeded
def test_fits_of_two_classes_are_not_touched_by_the_softmax():
    X, y = problem(names=["no", "yes"])
    fitted = model(classes=["no", "yes"], random_state=1).fit(X, y)
    assert fitted.coef_.shape == (1, 3)
    again = model(random_state=1).fit(*problem()).set_params(classes=["no", "yes"])
    again.fit(X, y)
    assert again.coef_.tobytes() == fitted.coef_.tobytes()
    assert again.report_ is not None


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_replace_one_costs_more_noise(delta):
    X, y = problem(n=50)
    a = model(delta=delta).fit(X, y)
    b = model(delta=delta, adjacency="replace-one").fit(X, y)
    assert b.noise_scale_ > 1.5 * a.noise_scale_
    assert b.privacy_spent_.adjacency == "replace-one"
