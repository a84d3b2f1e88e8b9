"""The lemmas of docs/proofs/softmax_perturbation.md on random points."""

import math

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import norm

CLASSES = [2, 3, 5, 12]
each_count = pytest.mark.parametrize("K", CLASSES)


def simplex(K, n=400, seed=0):
    """Return probabilities from nearly uniform to nearly vertices."""
    rng = np.random.default_rng(seed)
    return softmax(rng.normal(size=(n, K)) * rng.uniform(0, 12, (n, 1)), axis=1)


def curvatures(p):
    return p[:, :, None] * (np.eye(p.shape[1]) - p[:, None, :])


def squares(p, y):
    """Return S = |p - e_y|^2 and T = 1 - |p|^2."""
    S = np.sum((p - np.eye(p.shape[1])[y]) ** 2, axis=1)
    return S, 1.0 - np.sum(p**2, axis=1)


@each_count
def test_trace_and_gradient_share_what_there_is(K):
    p = simplex(K)
    S, T = squares(p, 0)
    np.testing.assert_allclose(T, 2 - S - 2 * p[:, 0], atol=1e-14)
    assert (S <= 2.0).all()


@each_count
def test_log_determinants_are_within_their_bounds(K):
    p, rng = simplex(K), np.random.default_rng(1)
    A = curvatures(p)
    root = rng.normal(size=(len(p), K, K))
    M = root @ root.transpose(0, 2, 1)
    q = np.linalg.eigvalsh(M)[:, -1]
    inner = np.linalg.slogdet(np.eye(K) + A @ M)[1]
    outer = np.linalg.slogdet(np.eye(K) + q[:, None, None] * A)[1]
    _, T = squares(p, 0)
    assert (inner >= -1e-12).all()
    assert (inner <= outer + 1e-10).all()
    assert (outer <= q * T + 1e-10).all()
    assert (outer <= (K - 1) * np.log1p(q / K) + 1e-10).all()
    middle = np.eye(K) / K - 1 / K**2
    attained = np.linalg.slogdet(np.eye(K) + 0.7 * middle)[1]
    assert attained == pytest.approx((K - 1) * math.log1p(0.7 / K))


@each_count
def test_the_gaussian_term_is_a_mean_of_corners_less_a_share_of_the_trace(K):
    p, rng = simplex(K), np.random.default_rng(2)
    mu, r, y = 0.8, 0.6, 1
    u = rng.normal(size=(len(p), K)) * math.sqrt(2) / mu  # sigma = sqrt(2) R / mu, R=1
    sigma2 = 2 / mu**2
    g = p - np.eye(K)[y]
    term = r**2 * (g**2).sum(axis=1) / (2 * sigma2) + r * (g * u).sum(axis=1) / sigma2
    w = (u - u[:, y : y + 1]) / math.sqrt(2 * sigma2)
    corners = r**2 * mu**2 / 2 + r * mu * w
    corners[:, y] = 0.0
    _, T = squares(p, y)
    mean = (p * corners).sum(axis=1) - r**2 * mu**2 / 4 * T
    np.testing.assert_allclose(term, mean, atol=1e-12)
    assert (corners <= np.maximum(0, mu**2 / 2 + mu * w) + 1e-12).all()


def largest(M, k):
    """Return max over p of sum p M + k (1 - |p|^2): concave, by its multiplier."""
    K = len(M)
    order = np.sort(M)[::-1]
    for n in range(K, 0, -1):
        shift = (order[:n].sum() - 2 * k) / n
        p = np.maximum((M - shift) / (2 * k), 0.0)
        if order[n - 1] >= shift:
            break
    assert p.sum() == pytest.approx(1.0)
    return p @ M + k * (1 - p @ p)


@each_count
def test_classes_that_compete_raise_the_loss_by_no_more_than_said(K):
    rng = np.random.default_rng(3)
    a = (1 + 1 / K) / 2
    for _ in range(300):
        k = rng.uniform(0.01, 2.0)
        M = np.maximum(0.0, rng.normal(size=K) * rng.uniform(0, 4))
        M[0] = 0.0
        first, second = np.sort(M)[::-1][:2]
        found = largest(M, k)
        c = k * (1 - 1 / K)
        bound = max(first, a * first + (1 - a) * second + c)
        assert found <= min(bound, first + c) + 1e-12
        if first - second >= 2 * k:
            assert found == pytest.approx(first)
    assert largest(np.zeros(K), 0.5) == pytest.approx(0.5 * (1 - 1 / K))


@pytest.mark.statistical
def test_pairs_of_corners_have_the_stated_law():
    """False alarm below 1e-6: mean and variance within six standard errors."""
    rng, n, mu, K = np.random.default_rng(4), 200_000, 0.7, 3
    a = (1 + 1 / K) / 2
    u = rng.normal(size=(3, n))
    one, two = (mu**2 / 2 + mu * (u[k] - u[0]) / math.sqrt(2) for k in (1, 2))
    pair = a * one + (1 - a) * two
    m2 = mu**2 * (1 - a * (1 - a))
    assert abs(pair.mean() - mu**2 / 2) < 6 * math.sqrt(m2 / n)
    assert abs(pair.var() / m2 - 1) < 6 * math.sqrt(2 / n)
    shift = mu**2 * a * (1 - a) / 2
    assert mu**2 / 2 == pytest.approx(m2 / 2 + shift)


@each_count
def test_pure_losses_hide_the_jacobian_up_to_a_quarter_of_the_rate(K):
    p, s = simplex(K, n=3000, seed=5), 0.8
    S, T = squares(p, 0)
    for kappa in (s / 4, s / 10):
        assert (kappa * T + s * np.sqrt(S / 2) <= s + 1e-12).all()
    for kappa in (s / 2, 3.0):
        most = 2 * kappa + s**2 / (8 * kappa)
        assert (kappa * T + s * np.sqrt(S / 2) <= most + 1e-12).all()
    # a quarter is needed as soon as there are two wrong classes
    near = np.zeros((1, K))
    near[0, -1], near[0, 1 if K > 2 else 0] = 0.999, 0.001
    S, T = squares(near, 0)
    excess = (0.27 * s * T + s * np.sqrt(S / 2) - s).item()
    assert (excess > 0) == (K > 2)


@each_count
def test_margins_near_each_other_have_probabilities_in_proportion(K):
    rng, xi = np.random.default_rng(6), 0.3
    t = rng.normal(size=(300, K)) * 4
    moved = t + rng.choice([-xi, xi], size=t.shape)
    p, q = softmax(t, axis=1), softmax(moved, axis=1)
    grow = math.exp(2 * xi)
    assert (q <= p * grow * (1 + 1e-12)).all()
    g, h = (np.linalg.norm(v - np.eye(K)[0], axis=1) for v in (p, q))
    assert (h <= g * grow * (1 + 1e-12)).all()
    least = np.linalg.eigvalsh(grow * curvatures(p) - curvatures(q))[:, 0]
    assert (least >= -1e-12).all()


def test_a_union_of_many_margins_leaves_the_pure_bound_its_failure_probability():
    r = 1 - 1 / 34
    for K in (2, 10, 10_000):
        tail = 34 + 1.05 * math.log(K)
        assert K * 2 * math.exp(-r * tail) / (1 - r**2) < 1.7e-13


def test_correlated_corners_are_below_their_union():
    """The union bound overcounts little: under 3 % at ten classes and delta 1e-6."""
    s = 4.6
    u = np.linspace(-12, 12, 4001)
    weights = norm.pdf(u) * (u[1] - u[0])
    for K in (3, 10):
        exact = weights @ -np.expm1((K - 1) * norm.logcdf(math.sqrt(2) * s + u))
        union = (K - 1) * norm.sf(s)
        assert exact <= union
        assert exact >= 0.97 * union
