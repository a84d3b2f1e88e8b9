"""Regression by the K-norm gradient mechanism on a public box."""

import dataclasses
import itertools

import numpy as np
import pytest

from skdp.accounting import Adjacency, PureDP
from skdp.audit import exact_curve
from skdp.mechanisms import ExponentialMechanism, KNGRegression
from skdp.mechanisms._kng_scores import (
    gradient_norms,
    quantile_gradients,
    squared_gradients,
)
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks

X = np.array([[1.0, 0.0], [1.0, 0.5], [1.0, 1.0]])
Y = np.array([0.0, 0.4, 1.0])
THETA = np.array([[0, 0], [0, 1], [0.5, 0.5], [1, -1], [0.02, 0.95]])


def squared_scores(theta):
    gradients = squared_gradients([(X, Y)], theta, bound=1.0, target_bound=1.0)
    return -gradient_norms(gradients, "sup")


def rows(X, y, radius=1.0):
    blocks = as_row_blocks(np.asarray(X, float), y, labels=Targets(-1.0, 1.0))
    return PrivateRows(blocks, L2Ball(radius))


def test_squared_scores_are_the_published_ones():
    """Up to the lattice of 2^-21 to which rows are rounded."""
    expected = [-1.4, -0.1, -0.85, -0.95, -0.085]
    np.testing.assert_allclose(squared_scores(THETA), expected, atol=2e-6)
    grid = np.array(list(itertools.product([-1.0, 0.0, 1.0], repeat=2)))
    expected = [-5.9, -4.4, -2.9, -2.9, -1.4, -0.1, -0.95, -1.6, -3.1]
    np.testing.assert_allclose(squared_scores(grid), expected, atol=2e-6)


def test_grid_probabilities_are_the_published_ones():
    grid = np.array(list(itertools.product([-1.0, 0.0, 1.0], repeat=2)))
    mechanism = ExponentialMechanism(12.0, 6, selection="exponential")
    left = ".00143413 .00642731 .02880519 .02880519 .1290959"
    right = ".47369115 .20246267 .10569478 .02358369"
    expected = [float(p) for p in f"{left} {right}".split()]
    pmf = mechanism.pmf(np.round(squared_scores(grid), 4))
    np.testing.assert_allclose(pmf, expected, atol=5e-9)


def test_median_scores_are_the_published_ones():
    gradients = quantile_gradients([(X, Y)], THETA, quantile=0.5, bound=1.0)
    expected = [-0.75, -1.5, -1.5, -0.5, -0.5]
    np.testing.assert_array_equal(-gradient_norms(gradients, "sup"), expected)


def test_gradients_are_those_of_the_losses():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1, 1, (50, 3)) / 2, rng.uniform(-1, 1, 50)
    theta = rng.uniform(-1, 1, (7, 3))
    below = (y[:, None] <= X @ theta.T).astype(float)
    found = quantile_gradients([(X, y)], theta, quantile=0.3, bound=1.0)
    np.testing.assert_allclose(found, (below - 0.3).T @ X, atol=1e-5)
    found = squared_gradients([(X, y)], theta, bound=1.0, target_bound=1.0)
    np.testing.assert_allclose(found, theta @ X.T @ X - y @ X, atol=1e-5)


@pytest.mark.parametrize("quantile", [None, 0.9])
def test_scores_are_the_same_bits_in_any_order_and_any_blocks(quantile):
    rng = np.random.default_rng(1)
    X, y = rng.uniform(-1, 1, (301, 2)), rng.uniform(-1, 1, 301)
    mechanism = KNGRegression.calibrate(
        PureDP(1.0), radius=1.5, box=(1.0, 2.0), quantile=quantile, n_candidates=50
    )
    first = mechanism.scores(rows(X, y, 1.5))
    for block in (1, 7, 300):
        order = rng.permutation(301)
        blocks = as_row_blocks(
            X[order], y[order], labels=Targets(-1.0, 1.0), block_rows=block
        )
        again = mechanism.scores(PrivateRows(blocks, L2Ball(1.5)))
        np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("quantile", [None, 0.5, 0.8])
@pytest.mark.parametrize("norm", ["l2", "sup"])
def test_no_random_neighbours_exceed_the_sensitivity(adjacency, quantile, norm):
    rng = np.random.default_rng(2)
    mechanism = KNGRegression(
        epsilon=1.0,
        radius=1.3,
        box=(0.5, 1.0),
        quantile=quantile,
        norm=norm,
        adjacency=adjacency,
        n_candidates=100,
    )
    worst = 0.0
    for _ in range(150):
        n = int(rng.integers(0, 6))
        X = rng.choice([-2.0, 0.0, 1.0, 2.0], (n + 1, 2))
        y = rng.choice([-1.0, 1.0, 0.3], n + 1)
        other_X, other_y = X.copy(), y.copy()
        other_X[-1], other_y[-1] = rng.choice([-2.0, 0.0, 2.0], 2), -y[-1]
        here = mechanism.scores(rows(X, y, 1.3))
        there = (
            mechanism.scores(rows(other_X, other_y, 1.3))
            if adjacency is Adjacency.REPLACE_ONE
            else mechanism.scores(rows(X[:-1], y[:-1], 1.3))
        )
        worst = max(worst, float(np.max(np.abs(here - there))))
    assert worst <= mechanism.sensitivity
    assert worst >= 0.4 * mechanism.sensitivity


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"quantile": 0.5}, 1.0),
        ({"quantile": 0.9}, 1.8),
        ({"quantile": 0.1, "adjacency": "replace-one"}, 3.6),
        ({}, 2 * (2 * 5 + 1)),
        ({"adjacency": "replace-one"}, 4 * (2 * 5 + 1)),
    ],
)
def test_the_sensitivity_is_that_of_the_proof(fields, expected):
    mechanism = KNGRegression(epsilon=1.0, radius=2.0, box=(3.0, 4.0), **fields)
    assert mechanism.sensitivity == pytest.approx(expected, rel=1e-4)
    assert mechanism.sensitivity > expected


def test_rows_in_a_unit_cube_have_sensitivity_one_in_the_largest_entry():
    """Replace-one, pinball loss: entries of one gradient span [-tau, 1 - tau]."""
    rng = np.random.default_rng(3)
    theta, worst = rng.uniform(-2, 2, (40, 2)), 0.0
    for _ in range(500):
        X, y = rng.choice([0.0, 0.5, 1.0], (5, 2)), rng.uniform(-1, 1, 5)
        other, z = X.copy(), y.copy()
        other[-1], z[-1] = rng.choice([0.0, 1.0], 2), rng.uniform(-1, 1)
        norms = [
            gradient_norms(
                quantile_gradients([(A, b)], theta, quantile=0.3, bound=2.0), "sup"
            )
            for A, b in ((X, y), (other, z))
        ]
        worst = max(worst, float(np.max(np.abs(norms[0] - norms[1]))))
    assert worst == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize(
    "box", [(), (np.inf,), (0.0,), (1.0, np.nan), (1.0, -1.0), (1.0, np.inf)]
)
def test_a_forgotten_box_is_refused(box):
    for quantile in (None, 0.5):
        with pytest.raises(ValueError, match="box must be bounded"):
            KNGRegression(epsilon=1.0, radius=1.0, box=box, quantile=quantile)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"radius": 0.0}, "radius"),
        ({"quantile": 1.0}, "quantile"),
        ({"target_bound": np.inf}, "target_bound"),
        ({"norm": "l1"}, "norm"),
        ({"n_candidates": 0}, "n_candidates"),
    ],
)
def test_fields_that_make_no_mechanism_are_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        KNGRegression(**{"epsilon": 1.0, "radius": 1.0, "box": (1.0,)} | fields)


def test_rows_that_do_not_fit_are_refused():
    mechanism = KNGRegression(epsilon=1.0, radius=1.0, box=(1.0,), quantile=0.5)
    with pytest.raises(ValueError, match="as many coefficients"):
        mechanism.scores(rows(np.ones((2, 2)), np.ones(2)))
    with pytest.raises(ValueError, match="radius must bound"):
        mechanism.scores(rows(np.ones((2, 1)), np.ones(2), radius=2.0))


def small(**fields):
    plain = {"epsilon": 1.0, "radius": 1.0, "box": (0.9,), "quantile": 0.5}
    return KNGRegression(**plain | {"n_candidates": 24, "resolution": 2} | fields)


def test_losses_on_hard_pairs_come_close_to_epsilon():
    for mechanism in (small(), small(quantile=None, box=(0.2,)), small(quantile=0.8)):
        worst = max(exact_curve(mechanism, p).max_loss for p in mechanism.hard_pairs())
        assert 0.9 < worst <= 1.0 + 1e-12


def test_a_planted_sensitivity_of_the_other_relation_is_caught(monkeypatch):
    mechanism = small(adjacency="replace-one")
    pairs = list(mechanism.hard_pairs())
    assert max(exact_curve(mechanism, p).max_loss for p in pairs) <= 1.0 + 1e-12
    right = KNGRegression.sensitivity
    halved = property(lambda self: right.fget(self) / 2)
    monkeypatch.setattr(KNGRegression, "sensitivity", halved)
    assert max(exact_curve(mechanism, p).max_loss for p in pairs) > 1.8


def test_a_planted_row_that_is_not_clipped_is_caught(monkeypatch):
    mechanism = small(quantile=None, box=(0.2,))
    long = rows([[9.0]], np.array([1.0]))
    nobody = rows(np.empty((0, 1)), np.empty(0))
    clipped = np.max(np.abs(mechanism.scores(long) - mechanism.scores(nobody)))
    assert clipped <= mechanism.sensitivity
    monkeypatch.setattr(L2Ball, "project", lambda self, X: np.asarray(X, float))
    longer = np.max(np.abs(mechanism.scores(long) - mechanism.scores(nobody)))
    assert longer > mechanism.sensitivity


@pytest.mark.parametrize("d", [1, 2, 3, 4, 20])
def test_candidates_fill_the_box_whatever_the_rows(d):
    box = tuple(0.5 * (j + 1) for j in range(d))
    mechanism = KNGRegression(epsilon=1.0, radius=1.0, box=box, quantile=0.5)
    points = mechanism.candidates
    assert len(points) <= 4096
    assert np.all(np.abs(points) <= box)
    assert np.all(np.abs(points.mean(axis=0)) < 0.02 * np.array(box))
    assert np.all(np.ptp(points, axis=0) > 1.8 * np.array(box))
    steps = points / mechanism.lattice
    if d > 3:
        np.testing.assert_array_equal(steps, np.rint(steps))


def test_many_rows_are_fitted_closely():
    rng = np.random.default_rng(4)
    X = rng.uniform(-0.7, 0.7, (4000, 2))
    y = X @ [0.5, -0.3] + rng.uniform(-0.1, 0.1, 4000)
    for quantile in (0.5, None):
        mechanism = KNGRegression.calibrate(
            PureDP(5.0), radius=1.0, box=(1.0, 1.0), quantile=quantile
        )
        theta = mechanism.release(rows(X, y), as_random_source(0)).output
        assert np.max(np.abs(theta - [0.5, -0.3])) < 0.12


def test_the_guarantee_is_that_of_the_fields():
    mechanism = small(epsilon=3.0)
    assert mechanism.guarantee.epsilon(0.0) == 3.0
    assert mechanism.guarantee.parts[1].rho == pytest.approx(9 / 8)
    assert dataclasses.replace(mechanism, epsilon=1.0).guarantee.epsilon(0.0) == 1.0
