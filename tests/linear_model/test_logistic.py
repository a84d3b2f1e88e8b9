"""Behaviour of ObjPertLogisticRegression on good and on hostile input."""

import math
import multiprocessing
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from skdp.exceptions import NotForReleaseWarning, WeakGuaranteeWarning
from skdp.linear_model import ObjPertLogisticRegression
from skdp.preprocessing import BoundedScaler, RowClipper
from skdp.rows import Labels, as_row_blocks

seeded = pytest.mark.filterwarnings("ignore::skdp.exceptions.NotForReleaseWarning")


def problem(n=500, d=4, seed=0, spread=0.3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d)) / math.sqrt(d)
    y = np.where(X @ np.arange(1, d + 1) + spread * rng.standard_normal(n) > 0, 1, 0)
    return X, y


def model(**kwargs):
    return ObjPertLogisticRegression(**{"classes": [0, 1]} | kwargs)


class Untouchable:
    """An X that fails the test when anything at all is read from it."""

    def __getattribute__(self, name):
        raise AssertionError(f"the data was read: {name}")


# --- parameters ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("epsilon", 0, ValueError),
        ("epsilon", -1.0, ValueError),
        ("epsilon", math.nan, ValueError),
        ("epsilon", math.inf, ValueError),
        ("epsilon", 1e-320, ValueError),
        ("epsilon", 1e6, ValueError),
        ("epsilon", "1", TypeError),
        ("epsilon", True, TypeError),
        ("epsilon", None, TypeError),
        ("epsilon", 1j, TypeError),
        ("epsilon", np.array([1.0]), TypeError),
        ("delta", 1, ValueError),
        ("delta", -1e-9, ValueError),
        ("delta", 5e-324, ValueError),
        ("delta", math.nan, ValueError),
        ("delta", "0", TypeError),
        ("data_norm", 0, ValueError),
        ("data_norm", -1, ValueError),
        ("data_norm", 1e308, ValueError),
        ("data_norm", 1e-308, ValueError),
        ("data_norm", math.inf, ValueError),
        ("data_norm", None, TypeError),
        ("alpha", -1, ValueError),
        ("alpha", math.inf, ValueError),
        ("alpha", 1e308, ValueError),
        ("alpha", "AUTO", TypeError),
        ("classes", [0, 0], ValueError),
        ("classes", [0, 1, 1], ValueError),
        ("classes", [0, 1, 2, 2], ValueError),
        ("classes", [0], ValueError),
        ("classes", [0, "a"], ValueError),
        ("adjacency", "bounded?", ValueError),
        ("adjacency", None, ValueError),
        ("fit_intercept", "yes", TypeError),
        ("fit_intercept", 1, TypeError),
        ("fit_intercept", np.array([True, False]), TypeError),
        ("classes", 5, ValueError),
        ("classes", [0, None], ValueError),
        ("classes", [], ValueError),
        ("intercept_scaling", 0, ValueError),
        ("intercept_scaling", "half", TypeError),
        ("random_state", "seed", TypeError),
        ("random_state", -1, ValueError),
    ],
)
def test_wrong_parameter_is_named_before_the_data_is_read(name, value, error):
    with pytest.raises(error, match=name) as caught:
        model(**{name: value}).fit(Untouchable(), Untouchable())
    assert "Allowed" in str(caught.value)


@pytest.mark.parametrize(
    "value", [np.float32(1), np.float64(1), np.int64(1), np.array(1.0), 1]
)
def test_numpy_scalars_are_numbers_and_are_stored_as_given(value):
    fitted = model(epsilon=value).fit(*problem())
    assert fitted.get_params()["epsilon"] is value
    assert fitted.privacy_spent_.epsilon <= 1.0


def test_large_delta_warns_in_a_fixed_text():
    with pytest.warns(WeakGuaranteeWarning, match="delta > 0.001"):
        model(delta=0.01).fit(*problem())


def test_sample_weight_is_refused():
    X, y = problem()
    with pytest.raises(TypeError):
        model().fit(X, y, sample_weight=np.ones(len(y)))
    assert "class_weight" not in model().get_params()


# --- the objective ------------------------------------------------------------------


@seeded
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_large_epsilon_meets_the_optimum_of_the_same_objective(fit_intercept):
    X, y = problem()
    fitted = model(
        epsilon=1e3, fit_intercept=fit_intercept, random_state=0, alpha=2.0
    ).fit(X, y)
    Z = np.column_stack([X, np.full(len(X), 0.5)]) if fit_intercept else X
    signs = 2 * y - 1

    def objective(theta):
        return np.logaddexp(0, -signs * (Z @ theta)).sum() + theta @ theta

    best = minimize(objective, np.zeros(Z.shape[1]), tol=1e-12).x
    theta = np.append(fitted.coef_[0], fitted.intercept_ / 0.5)[: Z.shape[1]]
    assert fitted.alpha_ == 2.0
    assert np.linalg.norm(theta - best) < 0.02
    assert objective(theta) - objective(best) < 1e-3


@seeded
def test_noise_counts_less_when_rows_repeat():
    """The objective is a sum: ten copies of the data divide the noise by about ten."""
    X, y = problem(n=2000, spread=5.0)
    fits, distances = [], []
    for k in (1, 10):
        Z, t = np.tile(X, (k, 1)), np.tile(y, k)
        exact = model(epsilon=1e3, alpha=2.0, random_state=1).fit(Z, t)
        fits.append(model(epsilon=1.0, alpha=2.0, random_state=1).fit(Z, t))
        distances.append(np.linalg.norm(fits[-1].coef_ - exact.coef_))
    once, often = fits
    ratio = distances[0] / distances[1]
    assert 6 < ratio < 16
    assert once.noise_scale_ == often.noise_scale_
    assert once.alpha_ == often.alpha_


def test_noise_scale_does_not_depend_on_the_number_of_rows():
    small, large = model().fit(*problem(10)), model().fit(*problem(10_000))
    assert small.mechanism_ == large.mechanism_


@seeded
@pytest.mark.parametrize("scale", [0.25, 2.0, 1024.0])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_scaling_rows_and_norm_together_scales_the_coefficients(scale, delta):
    X, y = problem()
    unit = model(delta=delta, random_state=5).fit(X, y)
    scaled = model(delta=delta, data_norm=scale, random_state=5).fit(scale * X, y)
    np.testing.assert_allclose(scaled.coef_ * scale, unit.coef_, rtol=1e-9, atol=0)
    np.testing.assert_allclose(scaled.intercept_, unit.intercept_, rtol=1e-9, atol=0)


def test_intercept_stays_within_its_bound_however_large_the_noise():
    """An unpenalised intercept would run away once the noise exceeds n / 2."""
    X, y = np.full((20, 1), 1e-9), np.r_[np.zeros(10), np.ones(10)].astype(int)
    for _ in range(100):
        fitted = model(epsilon=0.1).fit(X, y)
        constant = fitted.intercept_scaling_
        # |theta| <= (n R + |b|) / alpha, and |b| < 60 scales at this size
        bound = (20 * fitted.mechanism_.radius + 60 * fitted.noise_scale_) / (
            fitted.alpha_
        )
        assert abs(fitted.intercept_[0]) <= constant * bound


# --- hostile rows -------------------------------------------------------------------


@seeded
def test_a_long_row_counts_exactly_as_its_clipped_self():
    X, y = problem()
    long, clipped = X.copy(), X.copy()
    long[3] = [3e5, -4e5, 0, 0]
    clipped[3] = [0.6, -0.8, 0, 0]
    a = model(random_state=0).fit(long, y)
    b = model(random_state=0).fit(RowClipper(1.0).fit_transform(clipped), y)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(a.pdp_loss(long, y), b.pdp_loss(clipped, y), rtol=1e-6)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("value", [1e308, 1e200, 1e-200, -1e308, 0.0])
def test_extreme_rows_fit_without_a_murmur(value, delta):
    X, y = problem()
    X[0] = value
    fitted = model(delta=delta).fit(X, y)
    assert np.isfinite(fitted.coef_).all()
    assert np.isfinite(fitted.pdp_loss(X, y)).all()


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.zeros((10, 3)), [0, 1] * 5),
        (np.ones((10, 3)), [0, 1] * 5),
        (np.ones((1, 2)), [1]),
        (np.eye(200)[:5], [0, 1, 0, 1, 1]),
        (np.ones((6, 1)), [1] * 6),
        (np.ones((6, 1)), [7] * 6),
        (np.repeat([[0.5, 0.5]], 6, axis=0), [0, 0, 0, 1, 1, 1]),
        (np.sign(np.linspace(-1, 1, 50)).reshape(-1, 1), [0] * 25 + [1] * 25),
    ],
    ids=[
        "zero rows",
        "constant",
        "one row",
        "wide",
        "one class",
        "undeclared",
        "duplicate columns",
        "separable",
    ],
)
def test_degenerate_tables_fit_and_keep_the_guarantee(X, y, delta):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = model(delta=delta).fit(X, y)
    assert np.isfinite(fitted.coef_).all()
    assert fitted.classes_.tolist() == [0, 1]
    assert fitted.predict_proba(X).shape == (len(y), 2)
    assert fitted.privacy_spent_.epsilon <= 1.0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_non_finite_entries_raise_without_quoting_data(bad):
    X, y = problem()
    X[11, 2] = bad
    X[12, 0] = 0.987654321
    fitted = model().fit(*problem())
    for call in (model().fit, fitted.pdp_loss):
        for table in (X, sp.csr_array(X), pd.DataFrame(X), X.astype(np.float32)):
            with pytest.raises(ValueError, match=r"NaN|infinity") as caught:
                call(table, y)
            assert "0.98765" not in str(caught.value)


@seeded
def test_undeclared_labels_count_for_nothing():
    X, y = problem()
    extra = np.vstack([X, X[:50]])
    labels = np.r_[y, np.full(50, 9)]
    a = model(random_state=0).fit(X, y)
    b = model(random_state=0).fit(extra, labels)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=0, atol=1e-9)
    assert not b.pdp_loss(X[:3], [9, 9, 9]).any()


# --- labels and containers ----------------------------------------------------------


@seeded
@pytest.mark.parametrize(
    ("low", "high"),
    [("no", "yes"), (False, True), (-1, 1), (5, 7), (0.0, 1.0)],
)
def test_any_two_labels_give_the_same_model(low, high):
    X, y = problem()
    reference = model(random_state=2).fit(X, y)
    labels = np.where(y == 1, high, low)
    fitted = ObjPertLogisticRegression(classes=[low, high], random_state=2)
    fitted.fit(X, labels)
    assert fitted.coef_.tobytes() == reference.coef_.tobytes()
    assert fitted.predict(X).dtype == fitted.classes_.dtype
    assert fitted.score(X, labels) == reference.score(X, y)


@seeded
def test_pandas_categories_objects_and_columns_are_labels():
    X, y = problem()
    words = np.where(y == 1, "yes", "no")
    reference = model(random_state=2).fit(X, y).coef_
    categorical = pd.Series(pd.Categorical(words, ["no", "yes", "unused"]))
    for labels in (categorical, words.astype(object), pd.Series(words), list(words)):
        fitted = model(classes=["no", "yes"], random_state=2).fit(X, labels)
        assert fitted.coef_.tobytes() == reference.tobytes()
        assert set(fitted.predict(X)) <= {"no", "yes"}
    with pytest.warns(UserWarning, match="column-vector"):
        model(random_state=2).fit(X, y.reshape(-1, 1))


@seeded
def test_every_container_gives_the_same_model(tmp_path):
    X, y = problem()
    X32 = X.astype(np.float32)
    X = X32.astype(np.float64)  # so that single precision holds the same numbers
    reference = model(delta=1e-6, random_state=1).fit(X, y)
    stored = np.memmap(tmp_path / "X", np.float64, "w+", shape=X.shape)
    stored[:] = X
    frozen = X.copy()
    frozen.flags.writeable = False
    labels = Labels([0, 1])
    chunks = [(X[:123], y[:123]), (X[123:], y[123:])]
    frame = pd.DataFrame(X, columns=list("abcd"))
    mixed = frame.astype({"a": "Float64", "b": "float32"})
    containers = {
        "float32": X32,
        "fortran": np.asfortranarray(X),
        "memory map": stored,
        "read-only": frozen,
        "strided": np.repeat(X, 2, axis=1)[:, ::2],
        "csr matrix": sp.csr_matrix(X),
        "csr array": sp.csr_array(X),
        "csc": sp.csc_array(X),
        "coo": sp.coo_matrix(X),
        "frame": frame,
        "mixed frame": mixed,
        "list": X.tolist(),
    }
    for name, container in containers.items():
        fitted = model(delta=1e-6, random_state=1).fit(container, y)
        np.testing.assert_allclose(
            fitted.coef_, reference.coef_, rtol=0, atol=1e-8, err_msg=name
        )
        np.testing.assert_allclose(
            fitted.pdp_loss(container, y), reference.pdp_loss(X, y), rtol=1e-6
        )
        np.testing.assert_array_equal(
            fitted.decision_function(container).shape, (len(y),)
        )
    streamed = model(delta=1e-6, random_state=1)
    streamed.fit(as_row_blocks(chunks, labels=labels))
    np.testing.assert_allclose(streamed.coef_, reference.coef_, rtol=0, atol=1e-8)
    assert streamed.n_features_in_ == 4


def test_row_blocks_need_declared_classes_and_no_separate_labels():
    X, y = problem()
    blocks = as_row_blocks([(X, y)], labels=Labels([0, 1]))
    with pytest.raises(ValueError, match="classes must be declared"):
        model(classes=None).fit(blocks)
    with pytest.raises(ValueError, match="y must be None"):
        model().fit(blocks, y)


def test_integers_and_booleans_are_rows():
    X, y = problem()
    for table in ((X > 0), (X > 0).astype(np.uint8), (100 * X).astype(np.int64)):
        fitted = model(data_norm=2.0).fit(table, y)
        assert np.isfinite(fitted.coef_).all()
    nullable = pd.DataFrame({"a": pd.array([1, 2, 3] * 20, dtype="Int64")})
    model().fit(nullable, [0, 1, 1] * 20)
    missing = pd.DataFrame({"a": pd.array([1, None, 3] * 20, dtype="Int64")})
    with pytest.raises(ValueError, match="NaN"):
        model().fit(missing, [0, 1, 1] * 20)


def test_feature_names_are_checked():
    X, y = problem()
    frame = pd.DataFrame(X, columns=list("abcd"))
    for table in (frame, frame.astype({"a": "float32"})):
        fitted = model().fit(table, y)
        assert fitted.feature_names_in_.tolist() == list("abcd")
        with pytest.raises(ValueError, match="feature names"):
            fitted.predict(table[list("dcba")])
        with pytest.warns(UserWarning, match="valid feature names"):
            fitted.predict(X)


def test_shapes_that_do_not_fit_are_refused():
    X, y = problem()
    with pytest.raises(ValueError, match="Expected 2D array"):
        model().fit(X[:, 0], y)
    with pytest.raises(ValueError, match="inconsistent"):
        model().fit(X, y[:-1])
    with pytest.raises(ValueError, match="requires y"):
        model().fit(X)
    with pytest.raises(ValueError, match="Complex data not supported"):
        model().fit(X.astype(complex), y)
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        model().fit(X[:0], y[:0])


# --- predictions --------------------------------------------------------------------


def test_probabilities_are_stable_for_huge_margins():
    fitted = model().fit(*problem(d=1))
    fitted.coef_, fitted.intercept_ = np.array([[1e6]]), np.array([-1e6])
    X = np.array([[0.0], [1.0], [1000.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        p, log_p = fitted.predict_proba(X), fitted.predict_log_proba(X)
        loss = fitted.pdp_loss(X, [0, 1, 1])
    np.testing.assert_array_equal(p.sum(axis=1), 1.0)
    np.testing.assert_allclose(log_p[:, 0], [0.0, -math.log(2), -999e6])
    assert not np.isnan(loss).any()


@pytest.mark.parametrize("hold", [np.asarray, sp.csr_array, pd.DataFrame])
def test_margins_of_huge_rows_are_numbers(hold):
    fitted = model().fit(*problem(d=2))
    fitted.coef_ = np.array([[3.0, -2.0]])
    X = np.array([[1e308, 1e308], [1e308, -1e308], [1.0, 2.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        margin = fitted.decision_function(hold(X))
        p = fitted.predict_proba(hold(X))
    np.testing.assert_array_equal(margin[:2], [1e308, np.inf])
    np.testing.assert_array_equal(p[:, 1] > 0.5, margin > 0)


def test_one_observed_label_is_predicted_for_everyone():
    X, _ = problem(20)
    with pytest.warns(UserWarning, match="label set"):
        fitted = ObjPertLogisticRegression().fit(X, ["only"] * 20)
    assert set(fitted.predict(X)) == {"only"}
    np.testing.assert_array_equal(fitted.predict_proba(X), np.ones((20, 1)))
    np.testing.assert_array_equal(fitted.predict_log_proba(X), np.zeros((20, 1)))


# --- per-instance loss --------------------------------------------------------------


def test_one_person_may_ask_alone_and_after_a_pickle():
    X, y = problem()
    fitted = pickle.loads(pickle.dumps(model().fit(X, y)))
    alone = fitted.pdp_loss((X[3], y[3]))
    np.testing.assert_allclose(alone, fitted.pdp_loss(X, y)[3:4], rtol=1e-13)
    frame = pd.DataFrame(X, columns=list("abcd"))
    named = model().fit(frame, y)
    for person in (frame.iloc[3], frame.iloc[[3]]):
        alone = named.pdp_loss((person, y[3]))
        np.testing.assert_allclose(alone, named.pdp_loss(frame, y)[3:4], rtol=1e-13)


def test_bound_reads_nothing_but_the_row_asked_about():
    X, y = problem()
    fitted = model(delta=1e-6).fit(X, y)
    together = fitted.pdp_loss(X, y)
    alone = np.concatenate([fitted.pdp_loss(X[[i]], y[[i]]) for i in range(50)])
    np.testing.assert_allclose(alone, together[:50], rtol=1e-13)
    fitted.set_params(data_norm=5.0)  # a later change does not alter a past release
    np.testing.assert_array_equal(fitted.pdp_loss(X, y), together)


@pytest.mark.parametrize(("rho", "error"), [(0, ValueError), (1, ValueError)])
def test_rho_out_of_range_is_refused(rho, error):
    fitted = model(delta=1e-6).fit(*problem())
    with pytest.raises(error, match="rho"):
        fitted.pdp_loss(*problem(), rho=rho)
    with pytest.raises(TypeError, match="y is missing"):
        fitted.pdp_loss(problem()[0])


# --- the company of scikit-learn ----------------------------------------------------


def test_cross_validation_and_grid_search():
    X, y = problem()
    assert cross_val_score(model(epsilon=5.0), X, y, cv=3).shape == (3,)
    grid = GridSearchCV(model(epsilon=5.0), {"alpha": ["auto", 1.0, 10.0]}, cv=2)
    grid.fit(X, y)
    assert grid.best_estimator_.privacy_spent_.epsilon <= 5.0


def test_pipelines_and_column_transformers():
    X, y = problem()
    frame = pd.DataFrame(X, columns=list("abcd"))
    scaled = ColumnTransformer([("s", BoundedScaler((-1.0, 1.0)), ["a", "b"])])
    scaled.set_output(transform="pandas")
    pipe = make_pipeline(scaled, model(epsilon=5.0)).fit(frame, y)
    assert pipe.predict(frame).shape == (len(y),)
    assert pipe[-1].n_features_in_ == 2


def test_calibration_wraps_the_model():
    X, y = problem()
    wrapped = CalibratedClassifierCV(model(epsilon=5.0), cv=2).fit(X, y)
    assert wrapped.predict_proba(X).shape == (len(y), 2)


def test_clone_and_set_params_keep_every_parameter():
    original = model(epsilon=2.0, delta=1e-5, alpha=3.0, adjacency="replace-one")
    assert clone(original).get_params() == original.get_params()
    assert clone(original).set_params(epsilon=0.5).epsilon == 0.5


def _forked_coefficients(_):
    return model().fit(*problem()).coef_.tobytes()


def test_forked_and_joblib_workers_draw_fresh_noise():
    model().fit(*problem())
    with multiprocessing.get_context("fork").Pool(2) as pool:
        forked = pool.map(_forked_coefficients, range(4))
    assert len(set(forked)) == 4
    X, y = problem()
    scores = cross_val_score(model(), X, y, cv=4, n_jobs=2)
    assert scores.shape == (4,)


def test_the_card_states_the_guarantee():
    before = model()._repr_html_()
    assert "no privacy spent" in before
    fitted = model(delta=1e-6).fit(*problem())
    card = fitted._repr_mimebundle_()["text/html"]
    with sklearn.config_context(display="text"):
        assert set(fitted._repr_mimebundle_()) == {"text/plain"}
    for part in ("epsilon", "delta", "add-remove", "label set"):
        assert part in card


def test_replace_one_is_stated_and_costs_more_noise():
    X, y = problem()
    for delta in (0.0, 1e-6):
        one = model(delta=delta, adjacency="replace-one").fit(X, y)
        other = model(delta=delta).fit(X, y)
        assert one.privacy_spent_.adjacency.value == "replace-one"
        assert "replace-one" in repr(one.privacy_spent_)
        assert one.noise_scale_ >= 1.98 * other.noise_scale_
        assert one.privacy_spent_.epsilon <= 1.0


def test_alpha_below_the_floor_is_raised_to_it():
    low = model(alpha=0.0).fit(*problem())
    floor = low.mechanism_.radius**2 / 0.99
    assert low.alpha_ == pytest.approx(floor, rel=1e-9)
    assert model().fit(*problem()).alpha_ == pytest.approx(1.05 * floor, rel=1e-9)
    assert model(alpha=50.0).fit(*problem()).alpha_ == 50.0


def test_useful_accuracy_at_epsilon_one():
    """Power: with 20,000 rows the private model is within a point of the other."""
    X, y = make_classification(20_000, 10, n_informative=5, random_state=0)
    X = RowClipper(1.0).fit_transform(X / 5)
    with pytest.warns(NotForReleaseWarning):
        fitted = model(epsilon=1.0, delta=1e-6, random_state=0).fit(X, y)
    with pytest.warns(NotForReleaseWarning):
        ceiling = model(epsilon=1e3, delta=1e-6, random_state=0).fit(X, y)
    assert fitted.score(X, y) > ceiling.score(X, y) - 0.01
