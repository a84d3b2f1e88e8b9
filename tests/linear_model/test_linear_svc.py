"""Support vector classification by objective perturbation."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from objective_models import made, problem
from sklearn.svm import LinearSVC

from skdp.exceptions import NotForReleaseWarning, PrivacyLeakWarning
from skdp.linear_model import ObjPertLinearSVC

DELTA = 1e-6
seeded = pytest.mark.filterwarnings("ignore::skdp.exceptions.NotForReleaseWarning")


def test_a_generous_budget_comes_close_to_the_hinge_of_scikit_learn():
    X, y = problem("svc", 3000)
    constant = np.column_stack([X, np.full(len(X), 0.5)])
    exact = LinearSVC(loss="hinge", C=0.1, fit_intercept=False, max_iter=10**5)
    exact.fit(constant, y)
    model = made("svc", epsilon=1000.0, delta=DELTA, alpha=10.0).fit(X, y)
    np.testing.assert_allclose(model.theta_, exact.coef_[0], atol=0.15)
    assert np.mean(model.predict(X) == exact.predict(constant)) > 0.99


@seeded
@pytest.mark.parametrize(
    ("low", "high"),
    [("no", "yes"), (False, True), (-1, 1), (5, 7), (0.0, 1.0)],
)
def test_any_two_labels_give_the_same_model(low, high):
    X, y = problem("svc")
    reference = made("svc", random_state=2).fit(X, y)
    labels = np.where(y == 1, high, low)
    fitted = ObjPertLinearSVC(classes=[low, high], random_state=2).fit(X, labels)
    assert fitted.coef_.tobytes() == reference.coef_.tobytes()
    assert fitted.predict(X).dtype == fitted.classes_.dtype
    assert fitted.score(X, labels) == reference.score(X, y)


@seeded
def test_pandas_categories_and_objects_are_labels():
    X, y = problem("svc")
    words = np.where(y == 1, "yes", "no")
    reference = made("svc", random_state=2).fit(X, y).coef_
    categorical = pd.Series(pd.Categorical(words, ["no", "yes", "unused"]))
    for labels in (categorical, words.astype(object), pd.Series(words), list(words)):
        fitted = made("svc", classes=["no", "yes"], random_state=2).fit(X, labels)
        assert fitted.coef_.tobytes() == reference.tobytes()
        assert set(fitted.predict(X)) <= {"no", "yes"}


def test_labels_that_are_read_are_said_to_leak():
    X, y = problem("svc")
    with pytest.warns(PrivacyLeakWarning, match="label set"):
        read = ObjPertLinearSVC().fit(X, y)
    assert "not paid for" in " ".join(read.privacy_spent_.assumptions)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        declared = made("svc").fit(X, y)
    assert "(declared)" in " ".join(declared.privacy_spent_.assumptions)
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        ObjPertLinearSVC().fit(X[:9], [0, 1, 2] * 3)


@seeded
def test_undeclared_labels_count_for_nothing():
    X, y = problem("svc")
    extra, labels = np.vstack([X, X[:50]]), np.r_[y, np.full(50, 9)]
    a = made("svc", random_state=0).fit(X, y)
    b = made("svc", random_state=0).fit(extra, labels)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=0, atol=1e-9)
    assert not b.pdp_loss(X[:3], [9, 9, 9]).any()


def test_one_class_is_fitted_where_two_are_declared():
    X, _ = problem("svc", 20)
    fitted = made("svc").fit(X, np.ones(20, dtype=int))
    assert fitted.classes_.tolist() == [0, 1]
    assert fitted.coef_.shape == (1, 4)
    assert fitted.intercept_.shape == (1,)


def test_one_observed_label_is_predicted_for_everyone():
    X, _ = problem("svc", 20)
    with pytest.warns(PrivacyLeakWarning):
        fitted = ObjPertLinearSVC().fit(X, ["only"] * 20)
    assert set(fitted.predict(X)) == {"only"}
    assert fitted.decision_function(X).shape == (20,)


@pytest.mark.parametrize("hold", [np.asarray, sp.csr_array, pd.DataFrame])
def test_margins_of_huge_rows_are_numbers(hold):
    fitted = made("svc").fit(*problem("svc", d=2))
    fitted.coef_ = np.array([[3.0, -2.0]])
    X = np.array([[1e308, 1e308], [1e308, -1e308], [1.0, 2.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        margin = fitted.decision_function(hold(X))
        labels = fitted.predict(hold(X))
    np.testing.assert_array_equal(margin[:2], [1e308, np.inf])
    np.testing.assert_array_equal(labels, (margin > 0).astype(int))


def test_rows_beyond_the_margin_tell_nothing_but_the_lattice_step():
    X, y = problem("svc")
    fitted = made("svc", delta=DELTA, fit_intercept=False).fit(X, y)
    fitted.theta_ = np.array([4.0, 0.0, 0.0, 0.0])
    far, near = fitted.pdp_loss([[0.9, 0, 0, 0], [0.2, 0, 0, 0]], [1, 1])
    assert 0 < far < 0.02 < near


def test_there_are_no_probabilities():
    assert not hasattr(made("svc"), "predict_proba")


def test_useful_accuracy_at_epsilon_one():
    X, y = problem("svc", 20_000)
    best = LinearSVC().fit(X, y).score(X, y)
    with pytest.warns(NotForReleaseWarning):
        model = made("svc", delta=DELTA, random_state=0).fit(X, y)
    assert model.score(X, y) > best - 0.01
