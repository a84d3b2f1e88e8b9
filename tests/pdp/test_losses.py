"""Exact and published per-instance losses against gold values and densities."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import expit, ndtri
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from skdp.accounting import ApproximateDP, PureDP
from skdp.audit import exact_pdp_loss, fit_diagnostics
from skdp.linear_model import ObjPertLogisticRegression
from skdp.mechanisms import (
    GaussianNoise,
    ObjectivePerturbation,
    ReportedObjectivePerturbation,
)
from skdp.pdp import ReleasedStatistic, exact_loss, published_loss
from skdp.preprocessing import RowClipper
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, as_row_blocks

X_GOLD = np.array([[0.6, 0], [0, 0.8], [-0.5, 0.5], [0.3, -0.4]])
Y_GOLD = np.array([1.0, -1.0, 1.0, -1.0])


def rows(X, y, radius=1.0):
    blocks = as_row_blocks(np.asarray(X, float), np.asarray(y, float))
    return PrivateRows(blocks, L2Ball(radius))


def gaussian(alpha=1.0, sigma=2.0, d=2):
    base = ObjectivePerturbation.calibrate(
        ApproximateDP(1.0, 1e-6), radius=1.0, n_coefficients=d
    )
    step = replace(base.smoothing, error=2.1e-8 / alpha)
    return replace(base, alpha=alpha, noise_law=GaussianNoise(sigma), smoothing=step)


def test_gold_values_of_members_and_of_a_stranger():
    theta = np.array([0.5, -0.25])
    train = rows(X_GOLD, Y_GOLD)
    member = exact_loss(gaussian(), theta, train, train)
    np.testing.assert_allclose(
        member, [0.13205945, 0.18858669, 0.03617798, 0.0048579], atol=5e-9
    )
    stranger = exact_loss(
        gaussian(), theta, train, rows([[0.6, 0.8]], [-1.0]), np.array([False])
    )
    np.testing.assert_allclose(stranger, [-0.15116001], atol=5e-9)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("kind", ["gaussian", "pure"])
def test_exact_loss_is_the_log_ratio_of_the_densities(d, kind):
    rng = np.random.default_rng(d)
    X = rng.uniform(-1, 1, (7, d)) / math.sqrt(d)
    y = np.where(rng.random(7) < 0.5, -1.0, 1.0)
    target = ApproximateDP(0.7, 1e-5) if kind == "gaussian" else PureDP(0.7)
    mechanism = ObjectivePerturbation.calibrate(target, radius=1.0, n_coefficients=d)
    for theta in rng.normal(size=(5, d)):
        whole = mechanism.log_density(theta, rows(X, y))
        without = mechanism.log_density(theta, rows(X[1:], y[1:]))
        removed = exact_loss(mechanism, theta, rows(X, y), rows(X[:1], y[:1]))
        added = exact_loss(
            mechanism, theta, rows(X[1:], y[1:]), rows(X[:1], y[:1]), np.array([False])
        )
        assert removed[0] == pytest.approx(whole - without, abs=1e-8)
        assert added[0] == pytest.approx(without - whole, abs=1e-8)


@pytest.mark.statistical
@pytest.mark.parametrize("member", [True, False])
def test_mean_of_exp_minus_loss_is_one(member):
    """The ratio of densities integrates to one; false alarm below 1e-6 (5.2 s.e.)."""
    from skdp.solvers import minimise

    mechanism = gaussian(alpha=1.0, sigma=1.5)
    train = rows(X_GOLD, Y_GOLD)
    asked = rows([X_GOLD[0] if member else [0.6, 0.8]], [1.0])
    source = as_random_source(11)
    ratios = []
    for _ in range(1500):
        b = mechanism.noise_law.draw(2, source)
        theta = minimise(mechanism.objective(train, b), gradient_tol=1e-9).x
        loss = exact_loss(mechanism, theta, train, asked, np.array([member]))
        ratios.append(math.exp(-loss[0]))
    error = np.std(ratios) / math.sqrt(len(ratios))
    assert abs(np.mean(ratios) - 1) < 5.2 * error


def reference_pure(mechanism, theta, X, y):
    """The pure bound, written out from its statement."""
    step, d = mechanism.smoothing, theta.size
    norm = np.linalg.norm(X, axis=1)
    xi = norm * (step.error + step.grid * math.sqrt(d) / 2 + 34 * step.scale)
    slope = expit(-y * (X @ theta))
    h = slope * (1 - slope)
    loss = (
        np.minimum(1, np.exp(xi) * slope) * norm / mechanism.noise_law.scale
        + np.log1p(np.minimum(0.25, np.exp(xi) * h) * norm**2 / mechanism.alpha)
        + 0.01
    )
    return np.minimum(1.0, loss)


def test_published_pure_bound_equals_its_statement():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (300, 3))
    y = np.where(rng.random(300) < 0.5, -1.0, 1.0)
    mechanism = ObjectivePerturbation.calibrate(
        PureDP(1.0), radius=1.0, n_coefficients=3
    )
    theta = np.array([3.0, -2.0, 8.0])
    bound = published_loss(mechanism, theta, rows(X, y))
    clipped = np.concatenate([Z for Z, _ in rows(X, y).projected()])
    reference = reference_pure(mechanism, theta, clipped, y)
    assert reference.min() < 0.1
    assert reference.max() > 0.9
    np.testing.assert_allclose(bound, reference, rtol=0, atol=1e-9)


def test_published_gaussian_bound_without_smoothing_error_is_the_closed_form():
    """With a vanishing solver error only the Gaussian and the log term remain."""
    mechanism = gaussian(alpha=1.0, sigma=4.0)
    theta = np.array([0.4, 0.1])
    bound = published_loss(mechanism, theta, rows(X_GOLD, Y_GOLD), rho=1e-6)
    norm = np.linalg.norm(X_GOLD, axis=1)
    p = expit(-Y_GOLD * (X_GOLD @ theta))
    m = p * norm / 4.0
    z = -ndtri(0.45e-6)
    plain = np.log1p(p * (1 - p) * norm**2) + m**2 / 2 + m * z
    rho = mechanism.smoothing.guarantee.rho
    extra = rho + math.sqrt(2 * rho) * math.sqrt(2 * math.log(40 / 1e-6))
    np.testing.assert_allclose(bound, plain + extra, rtol=2e-4)
    assert (bound >= plain + extra).all()


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize(
    ("fit_intercept", "n"),
    [
        (True, 10_000),
        pytest.param(True, 100_000, marks=pytest.mark.slow),
        (False, 1000),
    ],
)
def test_bound_covers_the_exact_loss_of_members_and_strangers(delta, fit_intercept, n):
    """20 draws; each bound fails with probability at most 1e-6."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (n, 4)) / 2
    y = np.where(X @ [2, -1, 0, 3] + 0.5 * rng.standard_normal(n) > 0, 1, 0)
    strangers = rng.uniform(-1, 1, (500, 4))
    for _ in range(20):
        model = ObjPertLogisticRegression(
            epsilon=1.0, delta=delta, classes=[0, 1], fit_intercept=fit_intercept
        ).fit(X, y)
        exact = exact_pdp_loss(model, X, y, X, y, signed=False)
        assert (exact <= model.pdp_loss(X, y)).all()
        for label in (0, 1):
            labels = np.full(500, label)
            exact = exact_pdp_loss(model, X, y, strangers, labels, signed=False)
            assert (exact <= model.pdp_loss(strangers, labels)).all()


@pytest.mark.parametrize(
    "hold", [np.asfortranarray, pd.DataFrame, sp.csr_array, np.copy, np.ndarray.tolist]
)
def test_members_are_found_however_the_table_lies_in_memory(hold):
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (200, 37))  # most rows are clipped
    y = (X[:, 0] > 0).astype(int)
    model = ObjPertLogisticRegression(classes=[0, 1]).fit(X, y)
    member = exact_pdp_loss(model, X, y, X, y)
    asked = exact_pdp_loss(model, X, y, hold(X), y)
    np.testing.assert_allclose(asked, member, rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 1e3])
def test_the_bound_is_a_number_for_every_epsilon(epsilon, delta):
    X, y = np.eye(1000)[:4], [0, 1, 1, 0]
    X[2] *= 1e-200
    model = ObjPertLogisticRegression(epsilon=epsilon, delta=delta, classes=[0, 1])
    model.fit(X, y)
    bounds = [model.pdp_loss(X, y)]
    bounds += [model.pdp_loss(X, y, rho=rho) for rho in (1e-300, 0.5, 0.999)]
    assert not np.isnan(bounds).any()
    if delta == 0.0:
        assert (np.array(bounds) <= epsilon).all()


def test_membership_is_found_by_value_and_may_be_declared():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (60, 2))
    y = (X[:, 0] > 0).astype(int)
    model = ObjPertLogisticRegression(classes=[0, 1]).fit(X, y)
    members = exact_pdp_loss(model, X, y, X, y)
    mixed = exact_pdp_loss(
        model, X, y, np.vstack([X[5:7], -X[:1]]), np.r_[y[5:7], y[0]]
    )
    np.testing.assert_allclose(mixed[:2], members[5:7], rtol=1e-12)
    declared = exact_pdp_loss(model, X, y, -X[:1], y[:1], kind="non-member")
    np.testing.assert_allclose(mixed[2:], declared, rtol=1e-12)
    as_member = exact_pdp_loss(model, X, y, X[5:7], y[5:7], kind="member")
    np.testing.assert_allclose(as_member, members[5:7], rtol=1e-12)
    with pytest.raises(ValueError, match="kind"):
        exact_pdp_loss(model, X, y, X, y, kind="both")


def test_antisymmetry_of_leaving_and_joining():
    mechanism, theta = gaussian(), np.array([0.2, 0.9])
    whole, rest = rows(X_GOLD, Y_GOLD), rows(X_GOLD[1:], Y_GOLD[1:])
    person = rows(X_GOLD[:1], Y_GOLD[:1])
    leaving = exact_loss(mechanism, theta, whole, person)
    joining = exact_loss(mechanism, theta, rest, person, np.array([False]))
    np.testing.assert_allclose(leaving, -joining, atol=1e-14)


REPORTED = ReportedObjectivePerturbation.calibrate(
    ApproximateDP(2.0, 1e-4), radius=1.0, n_coefficients=2, level="gradient"
)


def statistics_of(mechanism, output):
    """Return the released point, Hessian and gradient as a report holds them."""
    theta, hessian, gradient = mechanism.split(output)
    values = {"hessian": hessian[np.tril_indices(2)], "gradient": gradient}
    released = {}
    for name, numbers in values.items():
        step = getattr(mechanism, f"{name}_smoothing")
        released[name] = ReleasedStatistic(
            values=tuple(numbers),
            scale=getattr(mechanism, f"{name}_scale"),
            smoothing_scale=step.scale,
            smoothing_error=step.error,
            smoothing_step=step.grid,
        )
    return theta, released


def test_exact_loss_of_all_that_is_released_is_the_log_ratio_of_the_densities():
    whole, rest = rows(X_GOLD, Y_GOLD), rows(X_GOLD[1:], Y_GOLD[1:])
    person, source = rows(X_GOLD[:1], Y_GOLD[:1]), as_random_source(0)
    for _ in range(10):
        output = REPORTED.release(whole, source).output
        ratio = REPORTED.log_density(output, whole) - REPORTED.log_density(output, rest)
        theta, released = statistics_of(REPORTED, output)
        leaving = exact_loss(REPORTED.main, theta, whole, person, **released)
        joining = exact_loss(
            REPORTED.main, theta, rest, person, np.array([False]), **released
        )
        assert leaving[0] == pytest.approx(ratio, abs=1e-8)
        np.testing.assert_allclose(leaving, -joining, atol=1e-12)
        alone = exact_loss(REPORTED.main, theta, whole, person)
        assert abs(leaving[0] - alone[0]) > 1e-6


@pytest.mark.statistical
@pytest.mark.parametrize("member", [True, False])
def test_mean_of_exp_minus_loss_of_all_releases_is_one(member):
    """As above, with the Hessian and the gradient: 5.2 s.e. over 200 draws."""
    train, source = rows(X_GOLD, Y_GOLD), as_random_source(12)
    asked = rows([X_GOLD[0] if member else [0.6, 0.8]], [1.0])
    ratios = []
    for _ in range(200):
        output = REPORTED.release(train, source).output
        theta, released = statistics_of(REPORTED, output)
        loss = exact_loss(
            REPORTED.main, theta, train, asked, np.array([member]), **released
        )
        ratios.append(math.exp(-loss[0]))
    error = np.std(ratios) / math.sqrt(len(ratios))
    assert abs(np.mean(ratios) - 1) < 5.2 * error


@pytest.mark.parametrize("level", ["hessian", "gradient"])
def test_the_curator_is_told_the_loss_of_all_that_was_released(level):
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, (500, 3)) / 2
    y = (X[:, 0] > 0).astype(int)
    model = ObjPertLogisticRegression(delta=1e-6, classes=[0, 1], pdp_report=level)
    model.fit(X, y)
    total = exact_pdp_loss(model, X, y, X, y)
    alone = exact_loss(
        model.mechanism_.main, model._theta(), *[model._query_rows(X, y)] * 2
    )
    assert (total != alone).all()
    assert (np.abs(total) <= model.pdp_loss(X, y)).all()
    strangers, labels = rng.uniform(-1, 1, (100, 3)), np.ones(100, int)
    total = exact_pdp_loss(model, X, y, strangers, labels, signed=False)
    assert (total <= model.pdp_loss(strangers, labels)).all()
    assert fit_diagnostics(model, X, y).n_rows == 500


def test_no_rows_have_no_losses():
    mechanism, theta = gaussian(), np.zeros(2)
    none = rows(np.zeros((0, 2)), np.zeros(0))
    assert published_loss(mechanism, theta, none).shape == (0,)
    assert exact_loss(mechanism, theta, none, none).shape == (0,)


def test_the_curators_functions_name_the_step_they_want():
    X, y = np.ones((4, 2)), [0, 1, 1, 0]
    pipe = make_pipeline(RowClipper(), ObjPertLogisticRegression(classes=[0, 1]))
    pipe.fit(X, y)
    for ask in (exact_pdp_loss, lambda est, *data: fit_diagnostics(est, X, y)):
        with pytest.raises(TypeError, match=r"pipeline\[-1\]"):
            ask(pipe, X, y, X, y)
    with pytest.raises(NotFittedError):
        fit_diagnostics(ObjPertLogisticRegression(), X, y)
