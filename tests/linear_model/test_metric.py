"""The metric of linear models: where it is learned, what is published, what refused."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import skdp
from skdp.audit import exact_pdp_loss, fit_diagnostics
from skdp.inspection import PdpLossDisplay
from skdp.linear_model import ObjPertLogisticRegression, ObjPertRegressor
from skdp.mechanisms import ObjectivePerturbation, PreconditionedObjectivePerturbation
from skdp.pdp import preconditioned_loss
from skdp.preprocessing import RowClipper
from skdp.rows import L2Ball, Labels, PrivateRows, as_row_blocks

seeded = pytest.mark.filterwarnings("ignore::skdp.exceptions.NotForReleaseWarning")
MODELS = {
    "logistic": (ObjPertLogisticRegression, {"classes": [0, 1]}),
    "log-cosh": (ObjPertRegressor, {"bounds_y": (0.0, 100.0)}),
}
each = pytest.mark.parametrize("name", list(MODELS))


def made(name, **kwargs):
    cls, needed = MODELS[name]
    return cls(**needed | {"delta": 1e-6} | kwargs)


def problem(name, n=600, d=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d)) / math.sqrt(d)
    line = X @ np.linspace(2.0, -2.0, d)
    if name == "logistic":
        return X, np.where(line + 0.2 * rng.standard_normal(n) > 0, 1, 0)
    return X, 50 + 15 * line + 3 * rng.standard_normal(n)


class Untouchable:
    """An X that fails the test when anything at all is read from it."""

    def __getattribute__(self, name):
        raise AssertionError(f"the data was read: {name}")


# --- which metric -------------------------------------------------------------------


@each
@pytest.mark.parametrize(
    ("d", "kwargs", "private"),
    [
        (9, {}, True),  # with the intercept there are ten
        (9, {"fit_intercept": False}, False),
        (10, {"fit_intercept": False}, True),
        (12, {"delta": 0.0}, False),
        (12, {"adjacency": "replace-one"}, False),
        (12, {"conservative": True}, False),
        (12, {"alpha": 3.0}, True),
        (12, {"metric": "identity"}, False),
        (2, {"metric": "private"}, True),
        (1, {"metric": "private", "fit_intercept": False}, True),
    ],
    ids=str,
)
def test_auto_learns_a_metric_where_it_is_proved_and_pays(name, d, kwargs, private):
    fitted = made(name, **kwargs).fit(*problem(name, 50, d))
    kind = PreconditionedObjectivePerturbation if private else ObjectivePerturbation
    assert type(fitted.mechanism_) is kind
    assert (fitted.metric_ is not None) == private


@pytest.mark.parametrize("loss", ["huber", "pseudo-huber"])
def test_auto_leaves_other_losses_alone(loss):
    fitted = made("log-cosh", loss=loss).fit(*problem("log-cosh", 50))
    assert fitted.metric_ is None
    with pytest.raises(ValueError, match="no proof"):
        made("log-cosh", loss=loss, metric="private").fit(Untouchable(), None)


@pytest.mark.parametrize("level", ["hessian", "gradient"])
def test_auto_leaves_paid_reports_alone(level):
    fitted = made("logistic", pdp_report=level).fit(*problem("logistic", 50))
    assert fitted.metric_ is None
    assert fitted.report_.level == level
    with pytest.raises(ValueError, match="one release"):
        made("logistic", pdp_report=level, metric="private").fit(Untouchable(), None)


@each
@pytest.mark.parametrize(
    ("kwargs", "match"),
    [
        ({"delta": 0.0}, "delta=0"),
        ({"adjacency": "replace-one"}, "adjacency='replace-one'"),
        ({"conservative": True}, "conservative=True"),
    ],
    ids=str,
)
def test_what_has_no_proof_is_refused_before_anything_is_read(name, kwargs, match):
    with pytest.raises(ValueError, match=match) as caught:
        made(name, metric="private", **kwargs).fit(Untouchable(), None)
    assert "Allowed: " in str(caught.value)
    assert "metric='identity'" in str(caught.value)


@each
def test_a_ridge_is_a_least_ridge_in_the_metric(name):
    X, y = problem(name, 50)
    floor = made(name).fit(X, y).alpha_
    for alpha, expected in [(1e-3, None), (400.0, 400.0 / 1.25)]:
        fitted = made(name, alpha=alpha).fit(X, y)
        assert fitted.alpha_ == fitted.mechanism_.ridge(fitted.release_.geometry)
        if expected is None:  # the metric's own, within what its noise changes
            assert floor / 3 < fitted.alpha_ < 3 * floor
        else:
            assert fitted.alpha_ == pytest.approx(expected)


@pytest.mark.parametrize(
    ("kwargs", "match"),
    [
        ({"metric": "private", "delta": 1e-6}, "metric='private'"),
        ({"conservative": True, "delta": 1e-6}, "conservative=True"),
        ({"pdp_report": "hessian", "delta": 1e-6}, "pdp_report='hessian'"),
    ],
    ids=str,
)
def test_what_has_no_proof_for_several_classes_is_refused(kwargs, match):
    """Before anything is read where they are declared, else before any noise."""
    model = ObjPertLogisticRegression(classes=["a", "b", "c"], **kwargs)
    with pytest.raises(ValueError, match=match) as caught:
        model.fit(Untouchable(), None)
    assert "two classes" in str(caught.value)
    X, _ = problem("logistic", 60)
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        ObjPertLogisticRegression(**kwargs).fit(X, np.tile(["a", "b", "c"], 20))


@each
@pytest.mark.parametrize("value", ["whitened", None, True, 1], ids=str)
def test_an_unknown_metric_is_refused_before_anything_is_read(name, value):
    with pytest.raises((ValueError, TypeError), match="metric"):
        made(name, metric=value).fit(Untouchable(), None)


# --- what is published --------------------------------------------------------------


@each
@seeded
def test_the_coefficients_are_those_of_the_mechanism(name):
    X, y = problem(name)
    fitted = made(name, data_norm=2.0, random_state=3).fit(X, y)
    release = fitted.release_
    np.testing.assert_array_equal(fitted.theta_, release.coefficients)
    assert fitted.metric_ is release.metric
    assert fitted.center_ is release.center
    assert fitted.metric_.shape == (13, 13)
    unit = 50.0 if name == "log-cosh" else 1.0
    np.testing.assert_allclose(np.ravel(fitted.coef_), unit * fitted.theta_[:12])
    # theta is the last minimiser, in the original columns
    last = release.geometry.transform @ release.minimisers[-1] * release.scale
    radius = fitted.mechanism_.radius
    np.testing.assert_allclose(fitted.theta_, last / radius, rtol=1e-12)
    assert radius == pytest.approx(math.hypot(2.0, fitted.intercept_scaling_))


@each
def test_every_released_number_moves_with_the_noise(name):
    X, y = problem(name)
    one, other = (made(name, epsilon=20.0).fit(X, y) for _ in range(2))
    for part in ("theta_", "metric_", "center_", "coef_", "intercept_"):
        assert not np.any(np.equal(getattr(one, part), getattr(other, part))), part


@each
def test_the_constants_are_those_of_the_last_objective(name):
    fitted = made(name, epsilon=5.0).fit(*problem(name))
    last = fitted.mechanism_.phases[-1]
    assert fitted.noise_scale_ == last.noise_law.scale
    assert fitted.smoothing_scale_ == last.step.scale
    assert fitted.alpha_ == fitted.mechanism_.ridge(fitted.release_.geometry)


@each
def test_the_budget_names_every_release_and_sums_to_one(name):
    fitted = made(name).fit(*problem(name))
    table = pd.DataFrame(fitted.budget_)
    assert list(table.columns) == ["name", "mu", "share"]
    assert table["share"].sum() == pytest.approx(1.0)
    assert table["name"].iloc[0] == "second moments"
    assert len(table) == len(fitted.mechanism_.parts) + 1  # all lattice steps


@each
@pytest.mark.parametrize("epsilon", [1e-5, 0.1, 3.0, 1000.0])
def test_the_spend_is_what_was_asked(name, epsilon):
    spent = made(name, epsilon=epsilon).fit(*problem(name, 30)).privacy_spent_
    assert 0.999 * epsilon <= spent.epsilon <= epsilon
    assert spent.delta == 1e-6
    [part] = spent.parts
    assert part.name == "PreconditionedObjectivePerturbation"
    assert part.guarantee == spent.guarantee


@each
def test_budgets_too_small_for_a_metric_are_refused_or_left_to_the_identity(name):
    X, y = problem(name, 30)
    fitted = made(name, epsilon=1e-9).fit(X, y)
    assert fitted.metric_ is None
    assert 0.999e-9 <= fitted.privacy_spent_.epsilon <= 1e-9
    with pytest.raises(ValueError, match="metric='private'") as caught:
        made(name, epsilon=1e-9, metric="private").fit(X, y)
    assert "metric='identity'" in str(caught.value)


@each
@seeded
@pytest.mark.parametrize(
    "hold", [sp.csr_array, pd.DataFrame, lambda X: X.astype(np.float32)],
    ids=["csr", "frame", "float32"],
)  # fmt: skip
def test_rows_are_the_same_however_they_are_held(name, hold):
    X, y = problem(name)
    X = X.astype(np.float32).astype(float)
    one, other = (made(name, random_state=1).fit(Z, y) for Z in (X, hold(X)))
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-5)


@seeded
def test_blocks_are_the_same_as_arrays():
    X, y = problem("logistic")
    whole = made("logistic", random_state=1).fit(X, y)
    blocks = as_row_blocks(X, y, labels=Labels([0, 1]), block_rows=100)
    parts = made("logistic", random_state=1).fit(blocks)
    np.testing.assert_allclose(whole.coef_, parts.coef_, rtol=1e-6)


@each
@seeded
def test_a_fit_survives_a_pickle_and_another_metric(name):
    X, y = problem(name)
    fitted = made(name, random_state=1).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.coef_, fitted.coef_)
    np.testing.assert_array_equal(again.pdp_loss(X, y), fitted.pdp_loss(X, y))
    plain = fitted.set_params(metric="identity").fit(X, y)
    assert plain.release_ is None
    np.testing.assert_array_equal(
        plain.coef_, made(name, metric="identity", random_state=1).fit(X, y).coef_
    )


@each
@seeded
def test_a_search_may_try_both(name):
    X, y = problem(name, 200)
    grid = {"metric": ["private", "identity"]}
    search = GridSearchCV(made(name, random_state=0), grid, cv=2).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_a_fitted_scale_replaces_the_automatic_one():
    X, y = problem("log-cosh")
    given = made("log-cosh", scale=10.0, epsilon=10.0).fit(X, y)
    assert given.release_.scale == pytest.approx(0.2)
    found = made("log-cosh", epsilon=10.0).fit(X, y)
    assert found.mechanism_.scale == "auto"
    assert given.mechanism_.scale == "loss"


# --- what it cost -------------------------------------------------------------------


@each
def test_the_loss_of_a_person_is_that_of_all_releases(name):
    X, y = problem(name)
    fitted = made(name).fit(X, y)
    loss = fitted.pdp_loss(X, y, rho=1e-4)
    encoder = fitted.targets_ if name == "log-cosh" else Labels([0, 1])
    ball = L2Ball(1.0, fitted.intercept_scaling_)
    rows = PrivateRows(as_row_blocks(X, y, labels=encoder), ball)
    direct = preconditioned_loss(fitted.mechanism_, fitted.release_, rows, rho=1e-4)
    np.testing.assert_allclose(loss, direct, rtol=1e-12)
    assert fitted.pdp_loss((X[0], y[0]), rho=1e-4) == pytest.approx(loss[:1])
    assert np.all(fitted.pdp_loss(X, y, rho=1e-9) > loss)


def test_there_is_no_report_of_a_metric_and_an_earlier_one_is_gone():
    X, y = problem("logistic")
    fitted = made("logistic", metric="identity").fit(X, y)
    assert fitted.report_ is not None
    fitted.set_params(metric="private").fit(X, y)
    assert fitted.report_ is None
    with pytest.raises(TypeError, match="report"):
        skdp.published_report(make_pipeline(RowClipper(), fitted))
    with pytest.raises(TypeError, match="report"):
        PdpLossDisplay.from_estimator(fitted, X, y)


def test_questions_about_a_metric_are_checked():
    X, y = problem("logistic")
    fitted = made("logistic").fit(X, y)
    either = fitted.pdp_loss(X, y)
    for kind in ("member", "non-member"):
        np.testing.assert_array_equal(fitted.pdp_loss(X, y, kind=kind), either)
    with pytest.raises(ValueError, match="simultaneous"):
        fitted.pdp_loss(X, y, simultaneous=True)
    with pytest.raises(ValueError, match="rho"):
        fitted.pdp_loss(X, y, rho=0.0)
    with pytest.raises(ValueError, match="kind"):
        fitted.pdp_loss(X, y, kind="both")
    with pytest.raises(TypeError, match="y is missing"):
        fitted.pdp_loss(X)
    undeclared = fitted.pdp_loss(X[:1], [7])
    assert undeclared.tolist() == [0.0]


@each
def test_exact_numbers_of_a_metric_are_refused(name):
    X, y = problem(name)
    fitted = made(name).fit(X, y)
    for ask in (exact_pdp_loss, fit_diagnostics):
        extra = (X, y) if ask is exact_pdp_loss else ()
        with pytest.raises(ValueError, match="metric='identity'"):
            ask(fitted, X, y, *extra)
