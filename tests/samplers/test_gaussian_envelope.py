"""The Gaussian envelope of a strongly concave density, from any point."""

import math

import numpy as np
import pytest

from skdp.accounting import Public
from skdp.audit import work_trace
from skdp.random import as_random_source, standard_normal
from skdp.samplers import BatchedLoop, gaussian_acceptance, strongly_concave_target
from skdp.samplers._gaussian_envelope import _Envelope


@pytest.mark.parametrize(
    ("m", "M", "d", "value"),
    [
        (1.0, 2.0, 1, 0.7071067812),
        (1.0, 2.0, 5, 0.1767766953),
        (1.0, 10.0, 3, 0.0316227766),
        (5.0, 11.25, 2, 0.4444444444),
    ],
)
def test_known_acceptances(m, M, d, value):
    bound = gaussian_acceptance(m * np.eye(d), M * np.eye(d), np.zeros(d))
    assert bound == pytest.approx(value, abs=6e-11)


def test_the_known_case_from_an_inexact_point():
    """g = -1.5 x^2, m = 1, M = 3, from x0 = 0.5: the bound is attained."""
    g = lambda x: -1.5 * x[:, 0] ** 2  # noqa: E731
    x0, v = np.array([0.5]), np.array([-1.5])
    envelope = _Envelope(g, x0, v, 1.0)
    assert envelope._centre[0] == -1.0
    height = g(x0[None])[0] + v @ v / 2
    assert height == 0.75
    exact = math.sqrt(2 * math.pi / 3) / (math.exp(0.75) * math.sqrt(2 * math.pi))
    bound = gaussian_acceptance(np.eye(1), 3.0 * np.eye(1), v)
    assert bound == pytest.approx(0.2727209564, abs=6e-11)
    assert exact == pytest.approx(bound)


def test_the_matrix_bound_needs_the_gradient():
    """Quadratic targets attain the bound; without the gradient it would be wrong."""
    low, high = np.diag([1.0, 2.0]), np.diag([4.0, 4.0])
    v = np.array([1.2, -0.8])
    apart = np.linalg.inv(low) - np.linalg.inv(high)
    # g = -x'Hx/2 about x0 = -H^-1 v, so its mass and the envelope's are known
    log_height = 0.5 * v @ (np.linalg.inv(low) - np.linalg.inv(high)) @ v
    dets = np.linalg.det(low) / np.linalg.det(high)
    exact = math.sqrt(dets) * math.exp(-log_height)
    assert gaussian_acceptance(low, high, v) == pytest.approx(exact)
    assert exact < math.sqrt(dets) * 0.75
    assert 0.5 * v @ apart @ v == pytest.approx(log_height)


def logistic(seed, n=60, d=2, ridge=3.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)

    def g(theta):
        margins = y * (theta @ X.T)
        return -np.logaddexp(0.0, -margins).sum(axis=1) - ridge / 2 * (theta**2).sum(1)

    def gradient(theta):
        p = 1.0 / (1.0 + np.exp(y * (X @ theta)))
        return X.T @ (y * p) - ridge * theta

    # rows of norm one and n of them are public under replace-one
    return g, gradient, (Public(ridge), Public(ridge + n / 4))


def test_the_envelope_covers_from_any_point():
    """Points up to 10 % off, and far off, dominate all the same."""
    rng = np.random.default_rng(1)
    g, gradient, (least, _) = logistic(0)
    for scale in (0.0, 0.1, 1.0, 5.0):
        x0 = scale * rng.normal(size=2)
        envelope = _Envelope(g, x0, gradient(x0), float(least))
        x = 4.0 * rng.normal(size=(5000, 2))
        v = gradient(x0)
        height = g(x0[None])[0] + v @ v / (2 * float(least))
        away = np.sum((x - envelope._centre) ** 2, axis=1)
        assert (g(x) <= height - 0.5 * float(least) * away + 1e-9).all()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_acceptance_is_at_least_what_is_stated(seed):
    """By the mean acceptance over 20,000 proposals; 6 standard errors."""
    g, gradient, curvature = logistic(seed)
    made = strongly_concave_target(
        g, gradient, start=[0.0, 0.0], radius=Public(10.0), curvature=curvature
    )
    x = made.target.propose(20_000, as_random_source(0))
    a = np.exp(made.target.log_acceptance(x))
    assert a.mean() + 6 * a.std() / math.sqrt(a.size) >= float(made.p_lo)


def test_steps_and_batches_are_public():
    made = [
        strongly_concave_target(
            g, gradient, start=[0.0, 0.0], radius=Public(10.0), curvature=curvature
        )
        for g, gradient, curvature in map(logistic, range(4))
    ]
    assert len({m.n_steps for m in made}) == 1
    assert len({BatchedLoop(m.target, m.p_lo, 1e-12).batch for m in made}) == 1


def test_the_same_work_for_all_data():
    def run(seed, generator):
        g, gradient, curvature = PARTS[seed]
        made = strongly_concave_target(
            g, gradient, start=[0.0, 0.0], radius=Public(10.0), curvature=curvature
        )
        loop = BatchedLoop(made.target, made.p_lo, 1e-12)
        return loop.draw(as_random_source(generator))

    assert work_trace(run, [0, 1, 2], n_seeds=2).identical


PARTS = {seed: logistic(seed) for seed in range(3)}


@pytest.mark.statistical
def test_draws_have_the_mean_and_spread_of_a_gaussian():
    """A quadratic target: 3000 draws, 5.6 standard errors (false alarm below 1e-6)."""
    A, mode = np.array([[2.0, 0.6], [0.6, 1.5]]), np.array([1.0, -2.0])
    made = strongly_concave_target(
        lambda x: -0.5 * np.sum((x - mode) @ A * (x - mode), axis=1),
        lambda x: -A @ (x - mode),
        start=[0.0, 0.0],
        radius=Public(5.0),
        curvature=(Public(1.0), Public(2.5)),
    )
    loop = BatchedLoop(made.target, made.p_lo, 1e-9, n_samples=3000)
    x = loop.draw(as_random_source(7))
    spread = np.linalg.inv(A)
    error = np.sqrt(np.diag(spread) / 3000)
    assert (abs(x.mean(axis=0) - mode) < 5.6 * error).all()
    assert np.cov(x.T) == pytest.approx(spread, abs=5.6 * 0.7 * math.sqrt(2 / 3000))


def test_constants_must_be_declared_public():
    g, gradient, (least, most) = logistic(0)
    for settings in (
        {"curvature": (float(least), most), "radius": Public(1.0)},
        {"curvature": (least, np.float64(9.0)), "radius": Public(1.0)},
        {"curvature": (least, most), "radius": 1.0},
    ):
        with pytest.raises(TypeError, match="is not declared public"):
            strongly_concave_target(g, gradient, start=[0.0, 0.0], **settings)
    with pytest.raises(ValueError, match=r"curvature\[0\] is out of range"):
        strongly_concave_target(
            g,
            gradient,
            start=[0.0, 0.0],
            radius=Public(1.0),
            curvature=(most, least),
        )


def test_a_gaussian_target_of_known_curvature_always_accepts():
    made = strongly_concave_target(
        lambda x: -0.5 * np.sum(x**2, axis=1),
        lambda x: -x,
        start=[3.0],
        radius=Public(3.0),
        curvature=(Public(1.0), Public(1.0)),
    )
    x = standard_normal(50, as_random_source(0))[:, None]
    assert made.n_steps == 1
    assert made.target.log_acceptance(x) == pytest.approx(0.0, abs=1e-12)
