"""The lemmas of docs/proofs/output_perturbation.md, on random problems."""

import numpy as np
import pytest
from scipy.optimize import brentq, minimize

from skdp.losses import HuberLoss, LogCoshLoss, LogisticLoss, SquaredLoss

LOSSES = [LogisticLoss(), SquaredLoss(), HuberLoss(scale=0.3), LogCoshLoss(scale=0.3)]
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda v: type(v).__name__)


def unit(v):
    return v / np.linalg.norm(v)


def projected(v, c, B):
    return c + (v - c) / max(1.0, np.linalg.norm(v - c) / B)


def minimiser(loss, X, y, alpha, c, B):
    """Minimise by accelerated projected gradient steps, nothing of the package."""
    L = len(y) * loss.constants(1.0).smoothness + alpha
    rate = (np.sqrt(L / alpha) - 1) / (np.sqrt(L / alpha) + 1)
    x = z = np.array(c, float)
    for _ in range(int(40 * np.sqrt(L / alpha)) + 50):
        gradient = X.T @ loss.gradient(y, X @ z) + alpha * z
        last, x = x, projected(z - gradient / L, c, B)
        z = x + rate * (x - last)
    return x


@each_loss
@pytest.mark.parametrize("replace_one", [False, True])
def test_strong_convexity_bounds_the_move_of_a_minimiser(loss, replace_one):
    """Lemma 1 on balls small and large, with and without an active border."""
    rng = np.random.default_rng(0)
    worst = 0.0
    for _ in range(40):
        n, d = int(rng.integers(0, 12)), int(rng.integers(1, 4))
        X = np.array([unit(v) for v in rng.normal(size=(n + 2, d))])
        y = rng.choice([-1.0, 1.0], size=n + 2)
        alpha, B = 10.0 ** rng.uniform(-1, 1.5), 10.0 ** rng.uniform(-1, 1)
        c = rng.normal(size=d) * rng.integers(0, 2)
        G = loss.constants(1.0, radius=np.linalg.norm(c) + B).lipschitz
        pair = [np.arange(n), np.arange(n + 1)]
        if replace_one:
            X[n + 1], y[n + 1] = X[n], -y[n]
            pair = [np.append(np.arange(n), n + 1), np.arange(n + 1)]
        a, b = (minimiser(loss, X[i], y[i], alpha, c, B) for i in pair)
        ratio = np.linalg.norm(a - b) * alpha / ((1 + replace_one) * G)
        worst = max(worst, ratio)
    assert 0.2 < worst <= 1.0 + 1e-12


def test_a_straight_loss_attains_the_bound():
    loss, alpha = HuberLoss(target_bound=9.0, scale=0.3), 2.0
    X, y = np.ones((1, 1)), np.array([9.0])
    a = minimiser(loss, X, y, alpha, np.zeros(1), 3.0)
    assert abs(a[0]) == pytest.approx(0.3 / alpha, rel=1e-12)
    b = minimiser(loss, X, -y, alpha, np.zeros(1), 3.0)
    assert abs(a[0] - b[0]) == pytest.approx(0.6 / alpha, rel=1e-12)


def test_twice_the_mapping_bounds_the_distance():
    """Lemma 3 at random points of a ball, for random quadratics."""
    rng = np.random.default_rng(1)
    worst = 0.0
    for _ in range(300):
        d = int(rng.integers(1, 4))
        alpha, c, B = 10.0 ** rng.uniform(-3, 0), rng.normal(size=d), 1.0
        A = rng.normal(size=(d, d)) * 10.0 ** rng.uniform(-2, 1, size=d)
        H = A.T @ A + alpha * np.eye(d)
        peak = c + rng.normal(size=d) * 10.0 ** rng.uniform(-1, 2)
        L = float(np.linalg.eigvalsh(H)[-1]) * 10.0 ** rng.uniform(0, 2)
        values, vectors = np.linalg.eigh(H)
        b = vectors.T @ (H @ (peak - c))

        def excess(nu, values=values, b=b):
            return np.linalg.norm(b / (values + nu)) - 1.0

        nu = 0.0 if excess(0.0) <= 0 else brentq(excess, 0.0, 1e9, rtol=1e-14)
        best = c + vectors @ (b / (values + nu))
        for away in (rng.normal(size=d), best - c + 1e-3 * rng.normal(size=d)):
            x = projected(c + away, c, B)
            g = H @ (x - peak)
            G = L * (x - projected(x - g / L, c, B))
            assert np.linalg.norm(G) <= np.linalg.norm(g) * (1 + 1e-9)
            gap = np.linalg.norm(x - best)
            if gap > 1e-6:
                worst = max(worst, alpha * gap / np.linalg.norm(G))
    assert 0.9 < worst <= 2.0


def test_a_minimiser_that_falls_back_to_zero_moves_by_its_norm():
    """The example of section 4: 1000 equal rows, R = alpha = 1."""
    theta = brentq(lambda t: t - 1000.0 / (1.0 + np.exp(t)), 0.0, 10.0)
    assert theta == pytest.approx(5.25, abs=0.005)
    found = minimize(lambda t: 1000 * np.logaddexp(0, -t[0]) + t[0] ** 2 / 2, [1.0])
    assert found.x[0] == pytest.approx(theta, abs=1e-4)
