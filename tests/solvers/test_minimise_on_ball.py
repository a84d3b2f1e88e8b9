"""Minimisers over a ball are certified: inside, at the border, however ill-posed."""

import math
import warnings

import numpy as np
import pytest
from scipy.optimize import brentq

from skdp.losses import HuberLoss, LogCoshLoss, LogisticLoss, SquaredLoss
from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks
from skdp.solvers import Objective, minimise, minimise_on_ball
from skdp.solvers._ball_model import Place, gradient_mapping

LOSSES = [LogisticLoss(), SquaredLoss(), HuberLoss(scale=0.3), LogCoshLoss(scale=0.3)]
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda v: type(v).__name__)
TOL = 1e-9


def pose(loss, n=200, d=5, alpha=0.1, decay=0.0, seed=0, scale=1.0):
    """Return an objective whose minimiser is long: targets that rows explain well."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.logspace(0, -decay, d)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.sign(X @ rng.normal(size=d) + 0.05 * rng.normal(size=n))
    rows = as_row_blocks(scale * X, y, labels=Targets(-1, 1))
    return Objective(PrivateRows(rows, L2Ball(scale)), loss, alpha * scale**2)


def tangential(objective, x, center):
    """Return the norm of the gradient without its part against the outward normal."""
    out = (x - center) / np.linalg.norm(x - center)
    gradient = objective.gradient(x)
    return np.linalg.norm(gradient - min(gradient @ out, 0.0) * out)


@each_loss
@pytest.mark.parametrize("d", [1, 5, 40])
@pytest.mark.parametrize("share", [0.1, 0.9, 1 - 1e-9])
def test_at_the_border_the_gradient_points_outwards(loss, d, share):
    objective = pose(loss, d=d)
    free = minimise(objective, gradient_tol=TOL).x
    radius = share * float(np.linalg.norm(free))
    solution = minimise_on_ball(objective, np.zeros(d), radius, mapping_tol=TOL)
    assert solution.mapping_norm <= TOL
    assert np.linalg.norm(solution.x) == pytest.approx(radius, rel=1e-14)
    assert tangential(objective, solution.x, np.zeros(d)) <= 2 * TOL
    assert solution.n_passes <= 60


@each_loss
def test_inside_the_answer_is_that_without_the_ball(loss):
    objective = pose(loss)
    free = minimise(objective, gradient_tol=TOL)
    for radius in (1.000001 * np.linalg.norm(free.x), 1e6):
        solution = minimise_on_ball(objective, np.zeros(5), radius, mapping_tol=TOL)
        np.testing.assert_array_equal(solution.x, free.x)
        assert solution.mapping_norm == free.gradient_norm


@each_loss
def test_a_ball_away_from_the_origin(loss):
    objective = pose(loss)
    center = np.array([3.0, -4.0, 0.0, 1.0, 0.5])
    solution = minimise_on_ball(objective, center, 0.5, mapping_tol=TOL)
    assert np.linalg.norm(solution.x - center) == pytest.approx(0.5, rel=1e-14)
    assert tangential(objective, solution.x, center) <= 2 * TOL


def by_multiplier(X, y, alpha, radius):
    """Minimise the squared loss over a ball by its dual, in an eigenbasis."""
    values, vectors = np.linalg.eigh(X.T @ X)
    b = vectors.T @ (X.T @ y)

    def excess(nu):
        return np.linalg.norm(b / (values + alpha + nu)) - radius

    high = 1.0
    while excess(high) > 0.0:
        high *= 2.0
    nu = brentq(excess, 0.0, high, xtol=1e-300, rtol=1e-15)
    return vectors @ (b / (values + alpha + nu))


@pytest.mark.parametrize("decay", [0, 4, 8])
@pytest.mark.parametrize("alpha", [1e-6, 1e-2, 1.0])
@pytest.mark.parametrize("radius", [0.05, 0.8])
def test_the_distance_to_an_independent_minimiser(decay, alpha, radius):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 20)) * np.logspace(0, -decay, 20)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.clip(X @ rng.normal(size=20), -1.0, 1.0)
    rows = PrivateRows(as_row_blocks(X, y, labels=Targets(-1, 1)), L2Ball(1.0))
    objective = Objective(rows, SquaredLoss(), alpha)
    solution = minimise_on_ball(objective, np.zeros(20), radius, mapping_tol=TOL)
    exact = by_multiplier(X, y, alpha, radius)
    assert solution.mapping_norm <= TOL
    away = np.linalg.norm(solution.x - exact)
    assert away <= 2 * TOL / alpha + 1e-9


def test_the_mapping_is_that_of_its_definition():
    """In long double, on the border, near it and inside."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        u = rng.normal(size=4)
        radius = float(rng.uniform(0.5, 2.0))
        u *= radius / np.linalg.norm(u)
        L = float(10.0 ** rng.uniform(-1, 6))
        g = rng.normal(size=4) * 10.0 ** rng.uniform(-6, 1) - rng.uniform(0, 5) * u
        for share in (1.0, 1 - 1e-6, 0.3):
            offset = share * u
            place = Place(offset, on_border=share == 1.0)
            found = gradient_mapping(place, g, L, radius)
            wide = offset.astype(np.longdouble)
            if share == 1.0:
                wide *= radius / np.linalg.norm(wide)
            v = wide - g.astype(np.longdouble) / np.longdouble(L)
            projected = v * min(np.longdouble(1.0), radius / np.linalg.norm(v))
            expected = (L * (wide - projected)).astype(np.float64)
            # long doubles cancel too: 1e-19 L
            slack = 1e-14 * np.linalg.norm(g) + 1e-15 * L * (share != 1.0) + 1e-18 * L
            np.testing.assert_allclose(found, expected, rtol=0, atol=slack)
            assert np.linalg.norm(found) <= np.linalg.norm(g) * (1 + 1e-12)


def test_no_rows_give_the_point_of_the_ball_nearest_to_zero():
    rows = PrivateRows(as_row_blocks(np.zeros((0, 2)), np.zeros(0)), L2Ball(1.0))
    objective = Objective(rows, LogisticLoss(), 2.0)
    solution = minimise_on_ball(objective, np.array([3.0, 4.0]), 1.0, mapping_tol=TOL)
    np.testing.assert_allclose(solution.x, [2.4, 3.2], rtol=1e-14)


@each_loss
@pytest.mark.parametrize("alpha", [1e-12, 1e8])
@pytest.mark.parametrize("radius", [1e-6, 1.0, 1e6])
def test_nothing_is_said_whatever_the_problem(loss, alpha, radius):
    objective = pose(loss, n=100, d=10, alpha=alpha, decay=10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solution = minimise_on_ball(objective, np.ones(10), radius, mapping_tol=1e-8)
    # a ridge of 1e8 leaves 1e-8 to rounding
    assert solution.mapping_norm <= max(1e-8, 1e-14 * alpha * radius)


@each_loss
def test_a_tolerance_beyond_rounding_ends_all_the_same(loss):
    objective = pose(loss)
    for radius in (0.1, 2.0):
        solution = minimise_on_ball(objective, np.zeros(5), radius, mapping_tol=1e-300)
        assert solution.mapping_norm < 1e-10


@each_loss
@pytest.mark.parametrize("R", [0.25, 1024.0, 2.0**-100, 2.0**100])
def test_powers_of_two_scale_the_answer(loss, R):
    """Rows R times as long have a minimiser R times as short."""
    one = minimise_on_ball(pose(loss), np.zeros(5), 0.5, mapping_tol=TOL)
    scaled = pose(loss, scale=R)
    other = minimise_on_ball(scaled, np.zeros(5), 0.5 / R, mapping_tol=TOL * R)
    np.testing.assert_allclose(other.x * R, one.x, rtol=1e-12)


def test_rows_with_a_constant_and_in_many_blocks():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(5000, 3))
    y = np.where(X[:, 0] > 0.3, 1.0, -1.0)
    answers = []
    for block_rows in (64, None):
        blocks = as_row_blocks(X, y, block_rows=block_rows)
        objective = Objective(PrivateRows(blocks, L2Ball(1.0, 0.5)), LOSSES[0], 1.0)
        answers.append(minimise_on_ball(objective, np.zeros(4), 1.0, mapping_tol=TOL))
    assert math.hypot(*answers[0].x) == pytest.approx(1.0, rel=1e-14)
    np.testing.assert_allclose(answers[0].x, answers[1].x, rtol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("radius", [1.0, 30.0])
def test_a_large_table_takes_few_passes(radius):
    objective = pose(LogisticLoss(), n=100_000, d=200, alpha=1.0)
    solution = minimise_on_ball(objective, np.zeros(200), radius, mapping_tol=1e-8)
    assert solution.mapping_norm <= 1e-8
    assert solution.n_passes <= 30
