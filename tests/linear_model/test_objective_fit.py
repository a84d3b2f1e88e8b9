"""What all linear models by objective perturbation do the same way."""

import math
import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from objective_models import NAMES, NUMERIC, made, problem
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import skdp
from skdp.audit import exact_pdp_loss
from skdp.exceptions import AdjacencyMismatchError, NotForReleaseWarning
from skdp.linear_model import ObjPertLogisticRegression
from skdp.losses import (
    ClippedPoissonLoss,
    HuberLoss,
    LogCoshLoss,
    PseudoHuberLoss,
    SmoothedHingeLoss,
    SmoothedQuantileLoss,
)
from skdp.mechanisms import ObjectivePerturbation
from skdp.preprocessing import BoundedScaler, RowClipper
from skdp.rows import Labels, as_row_blocks

seeded = pytest.mark.filterwarnings("ignore::skdp.exceptions.NotForReleaseWarning")
each = pytest.mark.parametrize("name", NAMES)
each_number = pytest.mark.parametrize("name", NUMERIC)
both = pytest.mark.parametrize("delta", [0.0, 1e-6])

DELTA = 1e-6
LOSSES = {
    "log-cosh": LogCoshLoss(scale=0.5),
    "pseudo-huber": PseudoHuberLoss(scale=0.5),
    "huber": HuberLoss(scale=0.5),
    "median": SmoothedQuantileLoss(quantile=0.5, width=0.02),
    "upper": SmoothedQuantileLoss(quantile=0.9, width=0.02),
    "svc": SmoothedHingeLoss(),
    "poisson": ClippedPoissonLoss(max_log_rate=math.log(4), target_bound=4.0),
}


class Untouchable:
    """An X that fails the test when anything at all is read from it."""

    def __getattribute__(self, name):
        raise AssertionError(f"the data was read: {name}")


def encoded(name, y):
    """Return what the loss sees."""
    if name == "svc":
        return 2.0 * y - 1.0
    if name == "poisson":
        return np.clip(y, 0, 100) / 25
    return (np.clip(y, 0, 100) - 50) / 50


# --- parameters ---------------------------------------------------------------------


@each
def test_the_mechanism_minimises_the_loss_that_was_asked_for(name):
    fitted = made(name).fit(*problem(name))
    assert isinstance(fitted.mechanism_, ObjectivePerturbation)
    assert fitted.mechanism_.loss == LOSSES[name]


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("epsilon", 0),
        ("epsilon", math.nan),
        ("epsilon", "1"),
        ("epsilon", True),
        ("delta", 1.0),
        ("delta", -1e-9),
        ("data_norm", 0.0),
        ("data_norm", None),
        ("alpha", -1.0),
        ("alpha", "large"),
        ("intercept_scaling", 0.0),
        ("fit_intercept", 1),
        ("adjacency", "swap"),
        ("conservative", 1),
        ("conservative", "yes"),
        ("random_state", "seed"),
    ],
    ids=lambda v: v if isinstance(v, str) else repr(v),
)
def test_parameters_out_of_range_are_refused_before_anything_is_read(parameter, value):
    for name in ("log-cosh", "median", "svc", "poisson"):
        with pytest.raises((ValueError, TypeError), match=parameter):
            made(name, **{parameter: value}).fit(Untouchable(), None)


@each_number
@pytest.mark.parametrize(
    "value", [None, (1.0, 1.0), 5.0, (0, math.inf), "ab", (0, 1, 2), (0, math.nan)]
)
def test_bounds_that_are_none_are_refused_before_anything_is_read(name, value):
    with pytest.raises((ValueError, TypeError), match="bounds_y") as caught:
        made(name, bounds_y=value).fit(Untouchable(), None)
    assert "Allowed: " in str(caught.value)


@each
def test_noise_and_ridge_do_not_depend_on_the_number_of_rows(name):
    small, large = (made(name).fit(*problem(name, n)) for n in (5, 5000))
    assert small.mechanism_ == large.mechanism_


@pytest.mark.parametrize("name", [name for name in NUMERIC if name != "poisson"])
def test_noise_does_not_depend_on_where_the_bounds_lie_and_never_vanishes(name):
    X, y = problem(name)
    scales = {
        made(name, bounds_y=bounds).fit(X, y).noise_scale_
        for bounds in ((0, 100), (-100, 0), (-1, 1), (0, 3), (1e6, 1e6 + 1))
    }
    assert len(scales) == 1
    assert scales.pop() > 0


@each
@both
def test_the_spend_is_what_was_asked(name, delta):
    """The least and the largest epsilon; those between are asked of every estimator."""
    X, y = problem(name, 20)
    for epsilon, adjacency in ((1e-9, "add-remove"), (1000.0, "replace-one")):
        model = made(name, epsilon=epsilon, delta=delta, adjacency=adjacency)
        spent = model.fit(X, y).privacy_spent_
        assert 0.999 * epsilon <= spent.epsilon <= epsilon
        assert spent.delta == delta
        assert str(spent.adjacency) == adjacency
        [part] = spent.parts
        assert part.guarantee == spent.guarantee
        assert np.isfinite(model.coef_).all()


@each
def test_the_card_says_what_is_assumed(name):
    text = " ".join(made(name).fit(*problem(name)).privacy_spent_.assumptions)
    public = "label set [0, 1]" if name == "svc" else "range of targets [0, 100]"
    for words in (public, "row L2 norm <= 1.118", "finite", "at least one row"):
        assert words in text


@each
def test_replace_one_costs_more_noise(name):
    X, y = problem(name, 20)
    for delta in (0.0, DELTA):
        one = made(name, delta=delta, adjacency="replace-one").fit(X, y)
        other = made(name, delta=delta).fit(X, y)
        # a row added to a two-signed loss has paid for a part of it already
        assert one.noise_scale_ >= 1.7 * other.noise_scale_
        with pytest.raises(AdjacencyMismatchError):
            skdp.compose(one.privacy_spent_.guarantee, other.privacy_spent_.guarantee)


@each
def test_fits_compose_better_than_their_epsilons_add(name):
    one = made(name, delta=DELTA).fit(*problem(name, 20)).privacy_spent_.guarantee
    assert skdp.compose(*[one] * 4).epsilon(4 * DELTA) < 3.2


@each
def test_alpha_below_the_floor_is_raised_to_it(name):
    X, y = problem(name, 20)
    low = made(name, alpha=0.0).fit(X, y)
    assert low.alpha_ > 0.1
    assert low.privacy_spent_.epsilon <= 1.0
    assert made(name, alpha=low.alpha_ * 100).fit(X, y).alpha_ == low.alpha_ * 100
    ratio = made(name).fit(X, y).alpha_ / low.alpha_
    pays = name in ("huber", "svc", "poisson")
    assert ratio == pytest.approx(5.0 if pays else 1.05, rel=1e-6)


@pytest.mark.parametrize("name", [*NAMES, "logistic"])
def test_the_published_calibration_asks_for_more_noise_and_a_larger_ridge(name):
    if name == "logistic":
        data = problem("svc", 20)

        def make(**kwargs):
            return ObjPertLogisticRegression(classes=[0, 1], **kwargs)

    else:
        data = problem(name, 20)

        def make(**kwargs):
            return made(name, **kwargs)

    ours = make(delta=DELTA).fit(*data)
    theirs = make(delta=DELTA, conservative=True).fit(*data)
    assert theirs.noise_scale_ > ours.noise_scale_
    assert theirs.alpha_ > ours.alpha_
    assert theirs.privacy_spent_.epsilon <= 1.0
    assert "Redberg" in theirs.privacy_spent_.guarantee.source
    for kwargs in ({}, {"delta": DELTA, "adjacency": "replace-one"}):
        with pytest.raises(ValueError, match="conservative=True does not fit"):
            make(conservative=True, **kwargs).fit(Untouchable(), None)


# --- the minimiser ------------------------------------------------------------------


@each
@both
def test_a_large_budget_gives_the_minimiser_of_the_stated_objective(name, delta):
    X, y = problem(name)
    fitted = made(name, epsilon=1e3, delta=delta, alpha=2.0).fit(X, y)
    assert fitted.alpha_ == 2.0
    Z = np.column_stack([X, np.full(len(X), 0.5)])
    loss, t = LOSSES[name], encoded(name, y)

    def objective(theta):
        value = loss.value(t, Z @ theta).sum() + theta @ theta
        return value, Z.T @ loss.gradient(t, Z @ theta) + 2 * theta

    best = minimize(objective, np.zeros(5), jac=True, tol=1e-12).x
    np.testing.assert_allclose(fitted.theta_, best, atol=0.05)
    assert objective(fitted.theta_)[0] < objective(best)[0] + 0.02


@each
@seeded
def test_noise_counts_less_when_rows_repeat(name):
    """The objective is a sum: ten copies of the data divide the noise by about ten."""
    X, y = problem(name, 2000)
    distances = []
    for k in (1, 10):
        Z, t = np.tile(X, (k, 1)), np.tile(y, k)
        exact = made(name, epsilon=1e3, alpha=100.0 * k, random_state=1).fit(Z, t)
        noisy = made(name, epsilon=1.0, alpha=100.0 * k, random_state=1).fit(Z, t)
        distances.append(np.linalg.norm(noisy.theta_ - exact.theta_))
    assert 6 < distances[0] / distances[1] < 16


@each
@seeded
@pytest.mark.parametrize("scale", [0.25, 1024.0])
def test_scaling_rows_and_norm_together_scales_the_coefficients(name, scale):
    X, y = problem(name)
    unit = made(name, random_state=5).fit(X, y)
    scaled = made(name, data_norm=scale, random_state=5).fit(scale * X, y)
    np.testing.assert_allclose(scaled.coef_ * scale, unit.coef_, rtol=1e-8)
    np.testing.assert_allclose(scaled.intercept_, unit.intercept_, rtol=1e-8)


@each
def test_coefficients_stay_within_the_noise_over_the_ridge(name):
    """An intercept without penalty would run away once the noise exceeds n / 2."""
    X = np.full((20, 1), 1e-9)
    y = np.r_[np.zeros(10), np.ones(10)].astype(int)
    for _ in range(20):
        fitted = made(name, epsilon=0.1).fit(X, y)
        slope = fitted.mechanism_.loss.constants(fitted.mechanism_.radius).lipschitz
        bound = (20 * slope + 60 * fitted.noise_scale_) / fitted.alpha_
        assert np.linalg.norm(fitted.theta_) <= bound


# --- rows ---------------------------------------------------------------------------


@each
@seeded
def test_every_container_gives_the_same_model(name):
    X, y = problem(name)
    X[np.abs(X) < 0.05] = 0.0
    X32 = X.astype(np.float32)
    X = X32.astype(np.float64)  # so that single precision holds the same numbers
    reference = made(name, delta=DELTA, random_state=1).fit(X, y)
    frame = pd.DataFrame(X, columns=list("abcd"))
    containers = {
        "float32": X32,
        "fortran": np.asfortranarray(X),
        "csr matrix": sp.csr_matrix(X),
        "csr array": sp.csr_array(X),
        "csc": sp.csc_array(X),
        "coo": sp.coo_matrix(X),
        "frame": frame,
        "mixed frame": frame.astype({"a": "Float64", "b": "float32"}),
        "list": X.tolist(),
    }
    for kind, container in containers.items():
        fitted = made(name, delta=DELTA, random_state=1).fit(container, y)
        np.testing.assert_allclose(
            fitted.theta_, reference.theta_, rtol=0, atol=1e-8, err_msg=kind
        )
        np.testing.assert_allclose(
            fitted.pdp_loss(container, y), reference.pdp_loss(X, y), rtol=1e-5
        )
        assert fitted.predict(container).shape == y.shape


@each
@seeded
def test_row_blocks_bring_their_own_targets(name):
    X, y = problem(name)
    reference = made(name, random_state=1).fit(X, y)
    encoder = Labels([0, 1]) if name == "svc" else reference.targets_
    chunks = [(X[:123], y[:123]), (X[123:], y[123:])]
    blocks = as_row_blocks(chunks, labels=encoder)
    streamed = made(name, random_state=1).fit(blocks)
    np.testing.assert_allclose(streamed.theta_, reference.theta_, atol=1e-8)
    with pytest.raises(ValueError, match="y must be None"):
        made(name).fit(blocks, y)


@each_number
def test_row_blocks_of_other_bounds_are_refused(name):
    X, y = problem(name)
    other = made(name, bounds_y=(0, 7)).fit(X, y).targets_
    with pytest.raises(ValueError, match="bounds_y must be the same"):
        made(name).fit(as_row_blocks([(X, y)], labels=other))


@each
@both
@pytest.mark.parametrize("value", [1e308, 1e-200, -1e308, 0.0])
def test_extreme_rows_fit_without_a_murmur(name, delta, value):
    X, y = problem(name, 50)
    X[0] = value
    fitted = made(name, delta=delta).fit(X, y)
    assert np.isfinite(fitted.coef_).all()
    assert np.isfinite(fitted.pdp_loss(X, y)).all()
    assert not np.isnan(np.asarray(fitted.predict(X), dtype=float)).any()


@each
@pytest.mark.parametrize(
    "X",
    [
        np.zeros((10, 3)),
        np.ones((10, 3)),
        np.ones((1, 2)),
        np.eye(200)[:5],
        np.repeat([[0.5, 0.5]], 6, axis=0),
        np.array([[True], [False]] * 4),
        np.arange(12).reshape(4, 3),
    ],
    ids=["zero", "constant", "one row", "wide", "duplicate columns", "flags", "whole"],
)
def test_degenerate_tables_fit_and_keep_the_guarantee(name, X):
    for y in (np.zeros(len(X), dtype=int), np.arange(len(X)) % 2):
        for delta in (0.0, DELTA):
            fitted = made(name, delta=delta).fit(X, y)
            assert np.isfinite(fitted.coef_).all()
            assert fitted.predict(X).shape == (len(X),)
            assert fitted.privacy_spent_.epsilon <= 1.0


@each
@seeded
def test_a_long_row_counts_exactly_as_its_clipped_self(name):
    X, y = problem(name)
    long, clipped = X.copy(), X.copy()
    long[3] = [3e5, -4e5, 0, 0]
    clipped[3] = [0.6, -0.8, 0, 0]
    a = made(name, random_state=0).fit(long, y)
    b = made(name, random_state=0).fit(RowClipper(1.0).fit_transform(clipped), y)
    np.testing.assert_allclose(a.theta_, b.theta_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(a.pdp_loss(long, y), b.pdp_loss(clipped, y), rtol=1e-5)


@each_number
@seeded
def test_a_far_target_counts_exactly_as_its_clipped_self(name):
    X, y = problem(name)
    far, clipped = y.copy(), y.copy()
    far[:2], clipped[:2] = [1e300, -1e300], [100.0, 0.0]
    a = made(name, random_state=0).fit(X, far)
    b = made(name, random_state=0).fit(X, clipped)
    np.testing.assert_array_equal(a.theta_, b.theta_)
    np.testing.assert_array_equal(a.pdp_loss(X, far), b.pdp_loss(X, clipped))


@each
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_non_finite_entries_raise_without_quoting_data(name, bad):
    X, y = problem(name, 30)
    fitted = made(name).fit(X, y)
    X[11, 2], X[12, 0] = bad, 0.987654321
    for call in (made(name).fit, fitted.pdp_loss):
        for table in (X, sp.csr_array(X), pd.DataFrame(X)):
            with pytest.raises(ValueError, match=r"NaN|infinity") as caught:
                call(table, y)
            assert "0.98765" not in str(caught.value)
    X, y = problem(name, 30)
    y = y.astype(float)
    y[3] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        made(name).fit(X, y)


@each
def test_shapes_that_do_not_fit_are_refused(name):
    X, y = problem(name)
    for bad, words in (
        ((X[:, 0], y), "Expected 2D array"),
        ((X, y[:-1]), "inconsistent"),
        ((X,), "requires y"),
        ((X[:0], y[:0]), "minimum of 1 is required"),
        ((X, np.column_stack([y, y])), "one value for each row"),
    ):
        with pytest.raises(ValueError, match=words):
            made(name).fit(*bad)
    with pytest.warns(UserWarning, match="column-vector"):
        made(name).fit(X, y.reshape(-1, 1))


@each
def test_a_failed_fit_leaves_the_earlier_one(name):
    X, y = problem(name)
    fitted = made(name).fit(X, y)
    before = fitted.coef_.copy()
    with pytest.raises(ValueError, match="NaN"):
        fitted.fit(np.full((3, 2), np.nan), [0, 1, 0])
    np.testing.assert_array_equal(fitted.coef_, before)
    assert fitted.n_features_in_ == 4


# --- what leaves --------------------------------------------------------------------


@each
@seeded
def test_without_an_intercept_there_is_no_constant_column(name):
    X, y = problem(name)
    fitted = made(name, fit_intercept=False).fit(X, y)
    assert fitted.intercept_scaling_ == 0.0
    assert fitted.theta_.shape == (4,)
    middle = {"svc": 0.0, "poisson": math.log(25)}.get(name, 50.0)
    assert float(np.sum(fitted.intercept_)) == pytest.approx(middle, rel=1e-15)


@each
def test_coefficients_are_the_released_vector_in_the_units_of_y(name):
    X, y = problem(name)
    fitted = made(name, intercept_scaling=0.7).fit(X, y)
    unit = 1.0 if name in ("svc", "poisson") else 50.0
    middle = {"svc": 0.0, "poisson": math.log(25)}.get(name, 50.0)
    np.testing.assert_allclose(np.ravel(fitted.coef_), unit * fitted.theta_[:4])
    constant = middle + unit * 0.7 * fitted.theta_[4]
    np.testing.assert_allclose(np.ravel(fitted.intercept_), [constant])


@each
def test_a_fitted_model_survives_pickling(name, tmp_path):
    X, y = problem(name)
    fitted = made(name).fit(X, y)
    joblib.dump(fitted, tmp_path / "model")
    copies = pickle.loads(pickle.dumps(fitted)), joblib.load(tmp_path / "model")
    for again in copies:
        np.testing.assert_array_equal(fitted.predict(X), again.predict(X))
        np.testing.assert_array_equal(fitted.pdp_loss(X, y), again.pdp_loss(X, y))
        assert again.privacy_spent_ == fitted.privacy_spent_


@each
def test_feature_names_are_kept_and_checked(name):
    X, y = problem(name)
    frame = pd.DataFrame(X, columns=list("abcd"))
    fitted = made(name).fit(frame, y)
    assert fitted.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(frame[list("dcba")])
    with pytest.warns(UserWarning, match="valid feature names"):
        fitted.predict(X)
    alone = fitted.pdp_loss((frame.iloc[3], y[3]))
    np.testing.assert_allclose(alone, fitted.pdp_loss(frame, y)[3:4], rtol=1e-12)


@each
def test_seeded_fits_are_flagged_and_others_are_not(name):
    X, y = problem(name, 20)
    with pytest.warns(NotForReleaseWarning) as caught:
        fitted = made(name, random_state=0).fit(X, y)
    assert caught[0].filename == __file__
    assert not fitted.privacy_spent_.releasable
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert made(name).fit(X, y).privacy_spent_.releasable


@each
def test_nothing_is_told_before_a_fit(name):
    for method in ("predict", "pdp_loss"):
        with pytest.raises(NotFittedError):
            getattr(made(name), method)(np.zeros((1, 2)))


# --- the company of scikit-learn ----------------------------------------------------


@each
def test_a_grid_search_may_try_any_parameter(name):
    X, y = problem(name, 60)
    values = {
        "epsilon": [5.0],
        "delta": [0.0],
        "alpha": ["auto", 10.0],
        "fit_intercept": [True],
        "adjacency": ["replace-one"],
        "data_norm": [1.0],
        "intercept_scaling": ["auto"],
        "conservative": [False],
    }
    values |= {k: [v] for k, v in made(name).get_params().items() if k not in values}
    search = GridSearchCV(made(name), values, cv=2).fit(X, y)
    assert set(search.best_params_) == set(made(name).get_params())
    assert search.best_estimator_.privacy_spent_.epsilon <= 5.0


@each
def test_clone_and_set_params_keep_every_parameter(name):
    original = made(name, epsilon=2.0, delta=1e-5, alpha=3.0, conservative=True)
    assert clone(original).get_params() == original.get_params()
    assert clone(original).set_params(epsilon=0.5).epsilon == 0.5


@each
def test_the_cost_passes_through_a_pipeline(name):
    X, y = problem(name)
    pipe = make_pipeline(BoundedScaler((-1.0, 1.0)), RowClipper(), made(name))
    pipe.fit(X, y)
    np.testing.assert_array_equal(
        skdp.pdp_loss(pipe, X, y), pipe[-1].pdp_loss(pipe[:-1].transform(X), y)
    )
    assert skdp.privacy_spent(pipe).epsilon == pipe[-1].privacy_spent_.epsilon
    assert cross_val_score(pipe, X, y, cv=2).shape == (2,)


# --- what it cost each person -------------------------------------------------------


@each
@both
def test_the_bound_reads_nothing_but_the_row_asked_about(name, delta):
    X, y = problem(name, 60)
    fitted = made(name, delta=delta).fit(X, y)
    together = fitted.pdp_loss(X, y)
    assert np.all(together > 0)
    alone = np.concatenate([fitted.pdp_loss((X[i], y[i])) for i in range(10)])
    np.testing.assert_allclose(alone, together[:10], rtol=1e-12)
    fitted.set_params(data_norm=5.0)  # a later change does not alter a past release
    np.testing.assert_array_equal(fitted.pdp_loss(X, y), together)
    for rho in (0.0, 1.0, math.nan):
        with pytest.raises(ValueError, match="rho"):
            fitted.pdp_loss(X, y, rho=rho)
    with pytest.raises(TypeError, match="y is missing"):
        fitted.pdp_loss(X)


@each
def test_a_shorter_row_costs_less(name):
    X, y = problem(name)
    fitted = made(name, fit_intercept=False).fit(X, y)
    fitted.theta_ = np.zeros(4)  # so that every row has the same margin
    target = y[:1].repeat(3)
    loss = fitted.pdp_loss(
        np.array([[0.9, 0, 0, 0], [0.3, 0, 0, 0], [0.0] * 4]), target
    )
    assert loss[0] > loss[1] > loss[2]


@each
@both
@pytest.mark.statistical
@seeded
def test_the_exact_loss_stays_within_the_bound(name, delta):
    """False alarm below 1e-6: 300 rows and 100 others, at rho = 1e-9 or surer."""
    X, y = problem(name, 150)
    others = problem(name, 50, seed=9)
    for seed in range(2):
        fitted = made(name, epsilon=3.0, delta=delta, random_state=seed).fit(X, y)
        loss = exact_pdp_loss(fitted, X, y, X, y)
        assert np.abs(loss).max() > 0.01
        assert np.all(np.abs(loss) <= fitted.pdp_loss(X, y, rho=1e-9))
        loss = exact_pdp_loss(fitted, X, y, *others, signed=False)
        assert np.all(loss <= fitted.pdp_loss(*others, rho=1e-9))


@pytest.mark.parametrize("name", ["log-cosh", "huber", "median"])
def test_a_target_in_the_middle_of_its_range_is_as_private_as_another(name):
    """It is encoded as zero, which for labels marks a row of weight zero."""
    X, y = problem(name)
    fitted = made(name, delta=DELTA).fit(X, y)
    middle, near = fitted.pdp_loss(X[:2] * 0 + 0.4, [50.0, 50.01])
    assert middle == pytest.approx(near, rel=0.02)
    exact = exact_pdp_loss(fitted, X, y, X[:2] * 0 + 0.4, [50.0, 50.01])
    assert exact[0] == pytest.approx(exact[1], abs=0.02)
