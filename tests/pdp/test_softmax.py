"""Exact and published losses of a release of several classes."""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import chdtri, ndtri, softmax
from scipy.stats import binom
from sklearn.base import BaseEstimator

from skdp.accounting import ApproximateDP, PureDP
from skdp.audit import exact_pdp_loss
from skdp.mechanisms import (
    GaussianNoise,
    LatticeSmoothing,
    ObjectivePerturbation,
    SoftmaxPerturbation,
)
from skdp.pdp import exact_loss, exact_softmax_loss, softmax_loss
from skdp.pdp._published import step_reach
from skdp.pdp._softmax import _Bound, log_det
from skdp.random import as_random_source
from skdp.rows import Classes, L2Ball, PrivateRows, as_row_blocks

TARGETS = {"gaussian": ApproximateDP(0.7, 1e-5), "pure": PureDP(0.7)}
each_target = pytest.mark.parametrize("kind", TARGETS)


def rows(X, y, n_classes, ball=None, **words):
    blocks = as_row_blocks(X, y, labels=Classes(np.arange(n_classes)), **words)
    return PrivateRows(blocks, ball or L2Ball(1.0))


def table(n, d, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, (n, d)), rng.integers(0, n_classes, n)


def calibrated(kind, d, n_classes, **words):
    return SoftmaxPerturbation.calibrate(
        TARGETS[kind], radius=1.0, n_coefficients=d, n_classes=n_classes, **words
    )


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("d", [1, 2, 3])
@each_target
def test_exact_loss_is_the_log_ratio_of_the_densities(kind, d, n_classes):
    X, y = table(7, d, n_classes, seed=d)
    mechanism = calibrated(kind, d, n_classes, alpha=0.3)
    whole, without = rows(X, y, n_classes), rows(X[1:], y[1:], n_classes)
    asked = rows(X[:1], y[:1], n_classes)
    for theta in np.random.default_rng(d).normal(0.0, 3.0, (5, n_classes * d)):
        ratio = mechanism.log_density(theta, whole)
        ratio -= mechanism.log_density(theta, without)
        removed = exact_softmax_loss(mechanism, theta, whole, asked)
        stranger = np.array([False])
        added = exact_softmax_loss(mechanism, theta, without, asked, stranger)
        np.testing.assert_allclose([removed[0], -added[0]], ratio, atol=1e-8)


def test_members_and_strangers_are_told_apart_in_every_block():
    X, y = table(40, 2, 3)
    mechanism = calibrated("gaussian", 2, 3)
    theta = np.linspace(-2, 2, 6)
    member = np.arange(40) % 3 > 0
    train = rows(X[member], y[member], 3)
    whole = exact_softmax_loss(mechanism, theta, train, rows(X, y, 3), member)
    small = rows(X, y, 3, block_rows=7)
    blocks = exact_softmax_loss(mechanism, theta, train, small, member)
    np.testing.assert_allclose(blocks, whole, atol=1e-12)
    for k in range(5):
        one = rows(X[k : k + 1], y[k : k + 1], 3)
        alone = exact_softmax_loss(mechanism, theta, train, one, member[k : k + 1])
        np.testing.assert_allclose(alone, whole[k : k + 1], atol=1e-12)


def test_two_classes_are_one_margin_of_a_longer_row():
    X, y = table(9, 2, 2, seed=4)
    X /= 2.0
    mechanism = calibrated("gaussian", 2, 2)
    sigma, alpha = mechanism.noise_law.scale, mechanism.alpha
    single = ObjectivePerturbation.calibrate(
        ApproximateDP(0.7, 1e-5), radius=math.sqrt(2), n_coefficients=2, alpha=alpha
    )
    assert single.alpha == alpha
    single = replace(single, noise_law=GaussianNoise(sigma))
    theta = np.array([0.4, -1.0, 2.0, 0.3])
    difference = (theta[2:] - theta[:2]) / math.sqrt(2)
    longer = as_row_blocks(X * math.sqrt(2), 2.0 * y - 1.0)
    signs = PrivateRows(longer, L2Ball(math.sqrt(2)))
    expected = exact_loss(single, difference, signs, signs)
    data = rows(X, y, 2)
    found = exact_softmax_loss(mechanism, theta, data, data)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 20])
def test_log_determinants_are_those_of_the_matrices(n_classes):
    rng = np.random.default_rng(n_classes)
    p = softmax(rng.normal(size=(200, n_classes)) * rng.uniform(0, 30, (200, 1)), 1)
    s = 10 ** rng.uniform(-6, 4, 200)
    A = p[:, :, None] * (np.eye(n_classes) - p[:, None, :])
    expected = np.linalg.slogdet(np.eye(n_classes) + s[:, None, None] * A)[1]
    found = log_det(p, s)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    assert (found >= 0.0).all()


def by_hand(mechanism, theta, X, y, rho=1e-6):
    """The bound of the proof note for rows within the ball, one at a time."""
    K, d = mechanism.n_classes, mechanism.n_coefficients
    step, out = mechanism.smoothing, []
    gaussian = isinstance(mechanism.noise_law, GaussianNoise)
    tail = math.sqrt(2 * math.log(2 * K / (0.05 * rho)))
    if not gaussian:
        tail = 34 + 1.05 * math.log(K)
    for x, label in zip(X, y, strict=True):
        norm = np.linalg.norm(x)
        p = softmax(theta.reshape(K, d) @ x)
        grow = math.exp(2 * norm * step_reach(step, tail))
        g = np.linalg.norm(p - np.eye(K)[label])
        push = min(math.sqrt(2), g * grow) * norm / mechanism.noise_law.scale
        A = np.diag(p) - np.outer(p, p)
        volume = np.linalg.slogdet(np.eye(K) + grow * A * norm**2 / mechanism.alpha)[1]
        volume = min(volume, (K - 1) * math.log1p(norm**2 / mechanism.alpha / K))
        if gaussian:
            chi = math.sqrt(chdtri(K - 1, 0.9 * rho))
            added = step.rho + math.sqrt(2 * step.rho * 2 * math.log(40 / rho))
            out.append(push**2 / 2 + push * chi + volume + added)
        else:
            total = push + volume + step.epsilon
            out.append(min(total, mechanism.guarantee.epsilon(0.0)))
    return np.array(out)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@each_target
def test_the_published_bound_is_that_of_the_proof_note(kind, n_classes):
    X, y = table(30, 3, n_classes, seed=2)
    X /= 2.0
    mechanism = calibrated(kind, 3, n_classes)
    theta = np.random.default_rng(1).normal(size=3 * n_classes) * 3
    expected = by_hand(mechanism, theta, X, y)
    data = rows(X, y, n_classes)
    found = softmax_loss(mechanism, theta, data)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    asked = softmax_loss(mechanism, theta, data, rho=0.01)
    assert (asked <= found).all()
    for words in ({"kind": "member"}, {"kind": "non-member"}):
        assert (softmax_loss(mechanism, theta, data, **words) <= found).all()
    assert (softmax_loss(mechanism, theta, data, simultaneous=True) >= found).all()


@each_target
def test_rows_are_read_alike_sparse_clipped_or_with_an_intercept(kind):
    X, y = table(20, 3, 3, seed=5)
    X *= 3.0
    ball = L2Ball(0.8, 0.5)
    mechanism = SoftmaxPerturbation.calibrate(
        TARGETS[kind], radius=ball.radius, n_coefficients=4, n_classes=3
    )
    theta = np.random.default_rng(2).normal(size=12)
    dense = rows(X, y, 3, ball)
    fitted = rows(ball.project(X), y, 3, L2Ball(ball.radius))
    for other in (rows(sp.csr_array(X), y, 3, ball, block_rows=6), fitted):
        published = [softmax_loss(mechanism, theta, data) for data in (dense, other)]
        np.testing.assert_allclose(published[1], published[0], rtol=1e-12)
        exact = [
            exact_softmax_loss(mechanism, theta, dense, data) for data in (dense, other)
        ]
        np.testing.assert_allclose(exact[1], exact[0], atol=1e-12)


@each_target
def test_a_person_of_no_declared_class_has_loss_zero(kind):
    X, _ = table(4, 2, 3)
    y = np.array([0, 7, -1, 2])
    mechanism = calibrated(kind, 2, 3)
    data, theta = rows(X, y, 3), np.ones(6)
    for found in (
        softmax_loss(mechanism, theta, data),
        exact_softmax_loss(mechanism, theta, data, data),
    ):
        np.testing.assert_array_equal(found == 0.0, [False, True, True, False])
    assert softmax_loss(mechanism, theta, rows(X[:0], y[:0], 3)).shape == (0,)


def test_questions_without_an_answer_are_refused():
    mechanism = calibrated("gaussian", 1, 3)
    data, theta = rows(np.ones((1, 1)), [1], 3), np.zeros(3)
    for words, what in (
        ({"rho": 0.0}, "rho"),
        ({"kind": "worst"}, "kind"),
        ({"simultaneous": 2}, "simultaneous"),
    ):
        with pytest.raises((TypeError, ValueError), match=what):
            softmax_loss(mechanism, theta, data, **words)


@pytest.mark.parametrize("rho", [1e-300, 1e-6, 0.999])
def test_the_bound_is_a_number_at_any_rho_and_margin(rho):
    mechanism = calibrated("gaussian", 1, 3)
    data = rows(np.array([[1.0], [-1.0]]), [1, 0], 3)
    for scale in (0.0, 1.0, 1e6, 1e150):
        theta = scale * np.array([1.0, 0.0, -1.0])
        for simultaneous in (False, True):
            words = {"rho": rho, "simultaneous": simultaneous}
            found = softmax_loss(mechanism, theta, data, **words)
            assert ((found >= 0.0) & np.isfinite(found)).all()


# ---- simulated fits of one row or none -------------------------------------------


def gradient(t, label):
    """Return p - e_y at margins of shape (n, K)."""
    return softmax(t, axis=1) - np.eye(t.shape[1])[label]


def volume(t, s):
    """Return log det(I + s A)."""
    p = softmax(t, axis=1)
    A = p[:, :, None] * (np.eye(t.shape[1]) - p[:, None, :])
    return np.linalg.slogdet(np.eye(t.shape[1]) + s * A)[1]


def simulated(mechanism, b, length, label, *, member):
    """Return margins and the true loss where the data hold the row alone, or nothing.

    With one coefficient a class; the minimum is found by iteration, a contraction.
    """
    t = -length * b / mechanism.alpha
    for _ in range(60 if member else 0):
        t = -(length * b + length**2 * gradient(t, label)) / mechanism.alpha
    g = gradient(t, label)
    scale, side = mechanism.noise_law.scale, 1.0 if member else -1.0
    moved = b + side * length * g
    if isinstance(mechanism.noise_law, GaussianNoise):
        noise = ((moved**2).sum(axis=1) - (b**2).sum(axis=1)) / (2 * scale**2)
    else:
        norms = [np.linalg.norm(v, axis=1) for v in (moved, b)]
        noise = (norms[0] - norms[1]) / scale
    return t, noise + side * volume(t, length**2 / mechanism.alpha)


def published(mechanism, t, length, label, rho, rng):
    """Return the bound at margins that the smoothing step has moved."""
    seen = t + length * mechanism.smoothing.scale * rng.standard_normal(t.shape)
    n = len(t)
    bound = _Bound(mechanism, "either", rho, simultaneous=False)
    return bound(np.full(n, float(label)), seen, np.full(n, length**2))


@pytest.mark.statistical
@pytest.mark.parametrize("member", [True, False])
@pytest.mark.parametrize("length", [1.0, 0.4])
@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_the_bound_fails_no_more_often_than_it_says(n_classes, length, member):
    """False alarm below 1e-6: twelve binomial tests at 1e-8."""
    n, rho = 8_000, 0.05
    mechanism = calibrated("gaussian", 1, n_classes)
    rng = np.random.default_rng(7)
    b = mechanism.noise_law.scale * rng.standard_normal((n, n_classes))
    t, loss = simulated(mechanism, b, length, 1, member=member)
    bound = published(mechanism, t, length, 1, rho, rng)
    assert np.sum(np.abs(loss) > bound) <= binom.isf(1e-8, n, rho)


@pytest.mark.statistical
def test_a_bound_for_one_direction_of_the_noise_is_caught():
    """With a small ridge the noise chooses the class; false alarm below 1e-8."""
    n, rho, K = 8_000, 0.05, 6
    mechanism = calibrated("gaussian", 1, K)
    step = LatticeSmoothing.concentrated(error=1e-5, n_features=K, mu=1e-3)
    mechanism = replace(mechanism, alpha=0.02, smoothing=step)
    rng = np.random.default_rng(7)
    b = mechanism.noise_law.scale * rng.standard_normal((n, K))
    t, loss = simulated(mechanism, b, 1.0, 1, member=False)
    bound = published(mechanism, t, 1.0, 1, rho, rng)
    size = np.linalg.norm(gradient(t, 1), axis=1) / mechanism.noise_law.scale
    excess = math.sqrt(chdtri(K - 1, 0.9 * rho)) + ndtri(0.45 * rho)
    assert np.sum(np.abs(loss) > bound) <= binom.isf(1e-8, n, rho)
    assert np.sum(np.abs(loss) > bound - excess * size) > binom.isf(1e-8, n, rho)


@pytest.mark.parametrize("member", [True, False])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_pure_bound_never_fails_and_never_exceeds_epsilon(n_classes, member):
    mechanism = calibrated("pure", 1, n_classes)
    rng = np.random.default_rng(3)
    b = rng.standard_normal((3000, n_classes))
    norms = mechanism.noise_law.scale * rng.gamma(n_classes, size=(3000, 1))
    b *= norms / np.linalg.norm(b, axis=1, keepdims=True)
    t, loss = simulated(mechanism, b, 1.0, 0, member=member)
    bound = published(mechanism, t, 1.0, 0, 1e-6, rng)
    assert (np.abs(loss) <= bound).all()
    assert (bound <= mechanism.guarantee.epsilon(0.0)).all()


# ---- the door of the audit ------------------------------------------------------


class Fitted(BaseEstimator):
    """What the audit asks of an estimator of several classes."""

    def __init__(self, mechanism=None):
        self.mechanism = mechanism

    def fit(self, X, y):
        self.mechanism_ = self.mechanism
        release = self.mechanism.release(self._query_rows(X, y), as_random_source(0))
        self.theta_ = release.output
        return self

    def _query_rows(self, X, y):
        return rows(X, y, self.mechanism.n_classes)

    def _theta(self):
        return self.theta_


@each_target
def test_the_audit_knows_the_exact_loss_of_several_classes(kind):
    X, y = table(50, 2, 3)
    model = Fitted(calibrated(kind, 2, 3)).fit(X, y)
    train = rows(X, y, 3)
    expected = exact_softmax_loss(model.mechanism, model.theta_, train, train)
    found = exact_pdp_loss(model, X, y, X, y)
    np.testing.assert_array_equal(found, expected)
    assert (np.abs(found) <= softmax_loss(model.mechanism, model.theta_, train)).all()
    stranger = exact_pdp_loss(model, X, y, -X[:3], y[:3])
    member = np.zeros(3, bool)
    asked = rows(-X[:3], y[:3], 3)
    np.testing.assert_array_equal(
        stranger,
        exact_softmax_loss(model.mechanism, model.theta_, train, asked, member),
    )
