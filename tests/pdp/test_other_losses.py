"""Per-instance losses of every loss of bounded slope, not of the logistic one alone."""

import math
from dataclasses import replace

import numpy as np
import pytest

from skdp.accounting import ApproximateDP, PureDP
from skdp.losses import (
    ClippedPoissonLoss,
    HuberLoss,
    LogCoshLoss,
    LogisticLoss,
    PseudoHuberLoss,
    SmoothedHingeLoss,
    SmoothedQuantileLoss,
)
from skdp.mechanisms import ObjectivePerturbation
from skdp.pdp import exact_loss, published_loss
from skdp.pdp._terms import margin_terms
from skdp.random import as_random_source
from skdp.rows import Counts, L2Ball, PrivateRows, Targets, as_row_blocks

LOSSES = [
    LogisticLoss(),
    SmoothedHingeLoss(),
    LogCoshLoss(),
    PseudoHuberLoss(),
    HuberLoss(),
    SmoothedQuantileLoss(quantile=0.9),
    ClippedPoissonLoss(),
]
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda v: type(v).__name__)
each_kind = pytest.mark.parametrize("target", [ApproximateDP(0.7, 1e-5), PureDP(0.7)])


def rows(loss, X, y):
    """Return rows that bring the targets their loss is for."""
    encoder = Counts(1.0) if isinstance(loss, ClippedPoissonLoss) else Targets(-1, 1)
    labels = encoder if hasattr(loss, "target_bound") else None
    blocks = as_row_blocks(np.asarray(X, float), np.asarray(y, float), labels=labels)
    return PrivateRows(blocks, L2Ball(1.0))


def targets(loss, rng, n):
    if hasattr(loss, "target_bound"):
        return rng.uniform(-1, 1, n)
    return np.where(rng.random(n) < 0.5, -1.0, 1.0)


@each_loss
@each_kind
@pytest.mark.parametrize("d", [1, 2, 3])
def test_exact_loss_is_the_log_ratio_of_the_densities(loss, target, d):
    rng = np.random.default_rng(d)
    X, y = rng.uniform(-1, 1, (7, d)) / math.sqrt(d), targets(loss, rng, 7)
    mechanism = ObjectivePerturbation.calibrate(
        target, radius=1.0, n_coefficients=d, loss=loss
    )
    all_rows, others, first = rows(loss, X, y), rows(loss, X[1:], y[1:]), X[:1]
    asked = rows(loss, first, y[:1])
    for theta in rng.normal(size=(5, d)):
        whole = mechanism.log_density(theta, all_rows)
        without = mechanism.log_density(theta, others)
        removed = exact_loss(mechanism, theta, all_rows, asked)
        added = exact_loss(mechanism, theta, others, asked, np.array([False]))
        assert removed[0] == pytest.approx(whole - without, abs=1e-8)
        assert added[0] == pytest.approx(without - whole, abs=1e-8)


@each_loss
@pytest.mark.parametrize("reach", [1e-3, 0.4, 5.0])
def test_the_terms_are_the_largest_within_reach_of_the_margin(loss, reach):
    rng = np.random.default_rng(3)
    X, y = rng.uniform(-0.7, 0.7, (40, 2)), targets(loss, rng, 40)
    y[:3] = 1.0, -1.0, 0.0
    theta, table = np.array([1.5, -2.0]), rows(loss, X, y)
    (block,) = margin_terms(table, loss, theta, reach=reach)
    ((_, labels),) = table.blocks
    away = reach * np.linalg.norm(X, axis=1) * np.linspace(-1, 1, 4001)[:, None]
    t, labels = (X @ theta) + away, np.broadcast_to(labels, away.shape)
    slopes, curvatures = np.abs(loss.gradient(labels, t)), loss.hessian(labels, t)
    np.testing.assert_allclose(block.slope, slopes.max(axis=0), rtol=1e-9, atol=1e-12)
    assert np.all(block.curvature >= curvatures.max(axis=0) * (1 - 1e-12))
    np.testing.assert_allclose(block.curvature, curvatures.max(axis=0), rtol=0.05)


@each_loss
def test_only_a_label_of_zero_has_no_weight(loss):
    table = rows(loss, [[0.5], [0.5]], [0.0, 1.0])
    (block,) = margin_terms(table, loss, np.ones(1))
    assert block.declared.tolist() == [hasattr(loss, "target_bound"), True]


@each_loss
@each_kind
@pytest.mark.statistical
def test_the_published_bound_holds_for_the_release(loss, target):
    """False alarm below 1e-6: 900 rows at rho = 1e-10, or surer; real noise."""
    rng = np.random.default_rng(5)
    X, y = rng.uniform(-0.7, 0.7, (30, 2)), targets(loss, rng, 30)
    train = rows(loss, X, y)
    mechanism = ObjectivePerturbation.calibrate(
        replace(target), radius=1.0, n_coefficients=2, loss=loss
    )
    source, largest = as_random_source(7), 0.0
    for _ in range(30):
        theta = mechanism.release(train, source).output
        exact = np.abs(exact_loss(mechanism, theta, train, train))
        assert np.all(exact <= published_loss(mechanism, theta, train, rho=1e-10))
        largest = max(largest, float(exact.max()))
    assert largest > 0.01


@each_loss
@pytest.mark.parametrize("kind", ["either", "non-member"])
def test_failures_for_someone_outside_are_at_most_rho_by_the_exact_law(loss, kind):
    """Without rows theta is the noise over the ridge: what fails is an integral."""
    mechanism = ObjectivePerturbation.calibrate(
        ApproximateDP(1.0, 1e-6), radius=1.0, n_coefficients=1, loss=loss
    )
    sigma, rho = mechanism.noise_law.scale, 0.01
    z = np.linspace(-8.0, 8.0, 8001)
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * (z[1] - z[0])
    asked = rows(loss, [[1.0]], [1.0 if loss.one_signed else 0.0])
    theta = -sigma * z / mechanism.alpha
    coarse = [
        published_loss(mechanism, np.array([t]), asked, kind=kind, rho=rho)[0]
        for t in theta[::20]
    ]
    [(_, y)] = asked.blocks
    f1, f2 = loss.derivatives(np.repeat(y, z.size), theta)
    exact = -np.log1p(f2 / mechanism.alpha) + (f1 / sigma - 2 * z) * f1 / (2 * sigma)
    size = np.abs(exact) if kind == "either" else exact
    failed = density @ (size > np.interp(z, z[::20], coarse))
    # a share .9 of rho is for the noise; a cell of the grid is .3 % of a tail
    assert failed <= rho
