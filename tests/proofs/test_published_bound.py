"""Numeric checks of the published per-person bound, independent of skdp.

See "Published bound" in docs/proofs/objective_perturbation.md.
"""

import mpmath
import numpy as np
import pytest
from scipy.special import expit, ndtr, ndtri
from scipy.stats import binom


def lattice_gaussian(scale):
    """Return the integers within 12 scales and their probabilities."""
    z = np.arange(-int(12 * scale) - 2, int(12 * scale) + 3)
    mass = np.exp(-(z**2) / (2 * scale**2))
    return z, mass / mass.sum()


# -- tails of the lattice noise -----------------------------------------------------


@pytest.mark.parametrize("scale", [0.3, 1.0, 3.0, 40.0])
def test_discrete_gaussian_is_sub_gaussian(scale):
    """The moment generating function and both tails stay below the Gaussian proxy."""
    z, p = lattice_gaussian(scale)
    for h in np.linspace(-4, 4, 33) / scale:
        assert np.log(np.sum(p * np.exp(h * z))) <= h**2 * scale**2 / 2 + 1e-12
    for t in np.linspace(0.1, 7, 70):
        assert np.sum(p[np.abs(z) > scale * t]) <= 2 * np.exp(-(t**2) / 2) + 1e-15


@pytest.mark.parametrize("scale", [0.5, 2.0, 9.0])
def test_projected_discrete_gaussian_is_sub_gaussian(scale):
    """The tail of (3 Z1 + 4 Z2)/5 by enumeration."""
    z, p = lattice_gaussian(scale)
    value = (3 * z[:, None] + 4 * z[None, :]) / 5
    mass = p[:, None] * p[None, :]
    for t in np.linspace(0.2, 7, 30):
        tail = np.sum(mass[np.abs(value) > scale * t])
        assert tail <= 2 * np.exp(-(t**2) / 2) + 1e-15


@pytest.mark.parametrize("scale", [0.2, 1.0, 7.0, 300.0])
def test_discrete_laplace_moments_are_below_the_continuous_ones(scale):
    """(cosh l - 1)/(cosh l - cosh l r) <= 1/(1 - r^2) for l = 1/scale."""
    rate = 1 / mpmath.mpf(scale)
    for r in (0.01, 0.3, 0.7, 0.95, 0.99):
        top = mpmath.cosh(rate) - 1
        moment = top / (mpmath.cosh(rate) - mpmath.cosh(rate * r))
        assert moment <= 1 / (1 - mpmath.mpf(r) ** 2)


def test_thirty_four_scales_fail_with_probability_below_1e_12():
    """2 min_r e^(-34 r)/(1 - r^2) < 1.7e-13."""
    r = np.linspace(0.9, 0.9999, 9999)
    assert 2 * np.min(np.exp(-34 * r) / (1 - r**2)) < 1.7e-13


@pytest.mark.parametrize("scale", [0.5, 2.0, 10.0])
def test_projected_discrete_laplace_tail_is_below_chernoff(scale):
    """The tail of (3 Z1 + 4 Z2)/5 at several multiples, by enumeration."""
    z = np.arange(-int(45 * scale), int(45 * scale) + 1)
    p = np.tanh(0.5 / scale) * np.exp(-np.abs(z) / scale)
    value = np.abs(3 * z[:, None] + 4 * z[None, :]) / 5
    mass = p[:, None] * p[None, :]
    r = np.linspace(0.001, 0.999, 999)
    for multiple in (3.0, 8.0, 15.0, 22.0, 34.0):
        chernoff = 2 * np.min(np.exp(-multiple * r) / (1 - r**2))
        assert np.sum(mass[value > multiple * scale]) <= chernoff


def test_derivatives_grow_at_most_exponentially_with_the_margin_error():
    """|f'| and f'' at t + h are at most e^|h| times their values at t."""
    t = np.linspace(-40, 40, 801)
    for h in (-3.0, -0.1, 0.01, 2.0):
        slope, curvature = expit(-t), expit(t) * expit(-t)
        moved = t + h
        grow = np.exp(abs(h)) * (1 + 1e-12)
        assert np.all(expit(-moved) <= grow * slope)
        assert np.all(expit(moved) * expit(-moved) <= grow * curvature)


# -- coverage -----------------------------------------------------------------------

ROWS = np.array([[0.6, 0.8], [-0.8, 0.6], [0.0, -1.0], [0.5, 0.1], [1.0, 0.0]])
LABELS = np.array([1.0, -1.0, -1.0, 1.0, 1.0])


def derivatives(theta, X, y):
    """First and second derivatives, shape (draws, rows)."""
    margin = theta @ X.T
    return -y * expit(-y * margin), expit(margin) * expit(-margin)


def gradient(theta, X, y, alpha):
    """Gradient of J0 for every draw."""
    return derivatives(theta, X, y)[0] @ X + alpha * theta


def hessian(theta, X, y, alpha):
    """Hessian of J0 for every draw, shape (draws, 2, 2)."""
    second = derivatives(theta, X, y)[1]
    return np.einsum("nr,ri,rj->nij", second, X, X) + alpha * np.eye(X.shape[1])


def minimisers(b, X, y, alpha):
    """Solve for every noise vector at once, by Newton with halving steps."""
    theta = -b / alpha
    for _ in range(60):
        score = gradient(theta, X, y, alpha) + b
        step = np.linalg.solve(hessian(theta, X, y, alpha), score[..., None])[..., 0]
        size = np.ones((len(b), 1))
        norm = np.linalg.norm(score, axis=1, keepdims=True)
        for _ in range(6):
            trial = gradient(theta - size * step, X, y, alpha) + b
            worse = np.linalg.norm(trial, axis=1, keepdims=True) > norm
            size = np.where(worse, size / 2, size)
        theta = theta - size * step
        if np.max(norm) < 1e-10:
            break
    assert np.max(norm) < 1e-8
    return theta


def per_instance_loss(theta, b, X, y, x, label, alpha, sigma, *, member):
    """Exact signed loss of one row at the ideal minimiser."""
    first, second = derivatives(theta, x[None], np.array([label]))
    solved = np.linalg.solve(
        hessian(theta, X, y, alpha), np.broadcast_to(x[:, None], (len(b), 2, 1))
    )
    leverage = second[:, 0] * (solved[..., 0] @ x)
    sign = 1.0 if member else -1.0
    jacobian = -np.log1p(-sign * leverage)
    linear = sign * first[:, 0] * (b @ x) / sigma**2
    return jacobian + first[:, 0] ** 2 * (x @ x) / (2 * sigma**2) + linear


@pytest.mark.statistical
@pytest.mark.parametrize("error", [1e-3, 0.05])
@pytest.mark.parametrize("crowd", [0, 10])
def test_gaussian_bound_covers_the_exact_loss(error, crowd):
    """Failures among 5,000 draws at rho = 0.02; false alarm below 1e-6 a case."""
    rng = np.random.default_rng(20 + crowd)
    draws, rho, sigma, alpha, mu_out = 5_000, 0.02, 2.0, 1.0, 0.1
    X = np.vstack([ROWS, np.repeat([[1.0, 0.0]], crowd, axis=0)])
    y = np.append(LABELS, np.full(crowd, -1.0))
    d = 2
    grid = 2.0 ** np.floor(np.log2(error / (8 * np.sqrt(d))))
    scale = (2 * error + grid * np.sqrt(d)) / mu_out
    integers, mass = lattice_gaussian(scale / grid)
    z = ndtri(1 - 0.45 * rho)
    t = np.sqrt(2 * np.log(40 / rho))

    b = sigma * rng.normal(size=(draws, d))
    ideal = minimisers(b, X, y, alpha)
    noise = rng.choice(integers, p=mass, size=(draws, d))
    direction = np.array([0.6, -0.8])
    here = np.rint((ideal + error * direction) / grid)
    there = np.rint((ideal - error * direction) / grid)
    released = grid * (here + noise)
    moved = noise + here - there
    step_loss = (np.sum(moved**2 - noise**2, axis=1)) * grid**2 / (2 * scale**2)

    new = (np.array([0.8, -0.6]), 1.0)
    people = [(ROWS[0], LABELS[0], True), (ROWS[4], LABELS[4], True), (*new, False)]
    for x, label, member in people:
        exact = per_instance_loss(ideal, b, X, y, x, label, alpha, sigma, member=member)
        first, second = derivatives(released, x[None], np.array([label]))
        norm = np.linalg.norm(x)
        xi = norm * (error + grid * np.sqrt(d) / 2 + scale * t)
        m = np.exp(xi) * np.abs(first[:, 0]) * norm / sigma
        bound = np.log1p(np.exp(xi) * second[:, 0] * norm**2 / alpha)
        bound += m**2 / 2 + m * z + mu_out**2 / 2 + mu_out * t
        failures = np.sum(np.abs(exact + step_loss) > bound)
        assert failures <= binom.isf(1e-6, draws, rho)


@pytest.mark.parametrize("rho", [0.05, 1e-3, 1e-6])
@pytest.mark.parametrize("n_opposing", [0, 3, 200])
@pytest.mark.parametrize("member", [True, False])
def test_bound_at_the_ideal_point_fails_with_probability_below_rho(
    rho, n_opposing, member
):
    """Exact failure probability in one dimension, by the masses of noise cells."""
    alpha, sigma = 1.05, 4.2247
    y = np.append(np.full(n_opposing, -1.0), np.ones(int(member)))
    edges = np.linspace(-9, 9, 20_001)
    b = sigma * (edges[1:] + edges[:-1]) / 2
    reach = (len(y) + 10 * sigma) / alpha
    coarse = np.linspace(-reach, reach, 20_001)
    margins = coarse[:, None]
    slope = np.sum(-y * expit(-y * margins), axis=1) + alpha * coarse
    theta = np.interp(-b, slope, coarse)
    p, second = expit(-theta), expit(theta) * expit(-theta)
    curvature = alpha + len(y) * second
    sign = 1.0 if member else -1.0
    exact = -np.log1p(-sign * second / curvature) + p**2 / (2 * sigma**2)
    exact = exact - sign * p * b / sigma**2
    m, z = p / sigma, ndtri(1 - rho / 2)
    bound = np.log1p(second / alpha) + m**2 / 2 + m * z
    failure = np.sum(np.diff(ndtr(edges))[np.abs(exact) > bound])
    assert failure <= rho * (1 + 5e-3)


def test_one_sided_quantile_would_not_bound_the_absolute_loss():
    """With z at 1 - rho and no log term, a person outside exceeds the bound often."""
    rho, alpha, sigma = 1e-6, 1.05, 4.2247
    edges = np.linspace(-9, 9, 40_001)
    b = sigma * (edges[1:] + edges[:-1]) / 2
    theta = -b / alpha
    p, second = expit(-theta), expit(theta) * expit(-theta)
    exact = -np.log1p(second / alpha) + p**2 / (2 * sigma**2) + p * b / sigma**2
    m = p / sigma
    bound = m**2 / 2 + m * ndtri(1 - rho)
    failure = np.sum(np.diff(ndtr(edges))[np.abs(exact) > bound])
    assert failure > 1000 * rho
