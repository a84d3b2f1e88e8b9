"""Objective perturbation of every loss of bounded slope: noise, ridge, release."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from skdp.accounting import (
    Adjacency,
    ApproximateDP,
    ConservativeObjectiveDP,
    ObjectivePerturbationDP,
    PureDP,
    TiltedObjectiveDP,
    gaussian_mu,
)
from skdp.losses import (
    ClippedPoissonLoss,
    Fading,
    HuberLoss,
    LogCoshLoss,
    LogisticLoss,
    PseudoHuberLoss,
    SmoothedHingeLoss,
    SmoothedQuantileLoss,
    SquaredLoss,
)
from skdp.mechanisms import ObjectivePerturbation
from skdp.mechanisms._tilt import Tilt
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks

DELTA = 1e-6
LOSSES = [
    LogisticLoss(),
    LogCoshLoss(scale=0.3),
    PseudoHuberLoss(),
    HuberLoss(scale=2.0),
    SmoothedHingeLoss(width=0.25),
    SmoothedQuantileLoss(),
    SmoothedQuantileLoss(quantile=0.9),
    ClippedPoissonLoss(max_log_rate=1.5, target_bound=4.0),
]
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=repr)


def calibrate(loss, epsilon=1.0, delta=DELTA, radius=1.0, alpha="auto", **options):
    conservative = options.pop("conservative", False)
    target = (
        ApproximateDP(epsilon, delta, **options)
        if delta
        else PureDP(epsilon, **options)
    )
    return ObjectivePerturbation.calibrate(
        target,
        radius=radius,
        n_coefficients=2,
        alpha=alpha,
        loss=loss,
        conservative=conservative,
    )


def relative_noise(m, epsilon):
    """The noise in units of the least that one release of a gradient needs."""
    least = m.loss.constants(m.radius).lipschitz / gaussian_mu(epsilon, DELTA)
    return m.noise_law.scale / least


@each_loss
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_the_noise_is_never_below_the_analytic_gaussian_and_near_it(loss, epsilon):
    excess = relative_noise(calibrate(loss, epsilon), epsilon)
    # two signs of one size cost 2 to 5 percent, a curvature that stays up to 11
    both = not loss.one_signed and max(loss.slope_range) == -min(loss.slope_range)
    most = 1.001 + 0.044 * both + 0.1 * (not isinstance(loss, Fading))
    assert 1.0 <= excess <= most
    assert (excess >= 1.02) == (both or not isinstance(loss, Fading))
    assert relative_noise(calibrate(loss, epsilon, alpha=0.0), epsilon) >= 1.0
    replaced = calibrate(loss, epsilon, adjacency="replace-one")
    assert 2.0 <= relative_noise(replaced, epsilon) <= 2.35


@each_loss
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("delta", [0.0, DELTA])
def test_the_guarantee_spends_what_was_allowed_and_no_more(loss, relation, delta):
    for epsilon, alpha in ((0.05, 0.0), (8.0, "auto")):
        m = calibrate(loss, epsilon, delta, alpha=alpha, adjacency=relation)
        spent = m.guarantee.epsilon(delta)
        assert 0.97 * epsilon <= spent <= epsilon
        assert m.guarantee.adjacency == relation


@each_loss
def test_ridge_and_noise_scale_with_the_rows(loss):
    for delta in (0.0, DELTA):
        one, quarter = (calibrate(loss, delta=delta, radius=r) for r in (1.0, 0.25))
        assert quarter.alpha == one.alpha / 16
        assert quarter.noise_law.scale == one.noise_law.scale / 4
        assert quarter.guarantee.epsilon(delta) == one.guarantee.epsilon(delta)


def test_the_ridge_follows_its_rule():
    """1.05 times the floor where the curvature fades, else 5 times."""
    for delta in (0.0, DELTA):
        floor = calibrate(LogisticLoss(), delta=delta, alpha=0.0).alpha
        for loss in LOSSES:
            least = calibrate(loss, delta=delta, alpha=0.0).alpha
            auto = calibrate(loss, delta=delta).alpha
            assert calibrate(loss, delta=delta, alpha=2 * least).alpha == 2 * least
            if isinstance(loss, Fading):
                assert least == pytest.approx(loss.fading[0] * floor)
                assert auto == pytest.approx(1.05 * least)
            else:
                assert least == pytest.approx(2 * loss.bend * floor)
                assert auto == pytest.approx(5 * least)


def test_the_scale_of_a_robust_loss_scales_the_noise_and_nothing_else():
    for cls in (HuberLoss, LogCoshLoss, PseudoHuberLoss):
        one, other = (calibrate(cls(scale=s)) for s in (0.25, 1.0))
        assert one.alpha == other.alpha
        assert one.noise_law.scale == other.noise_law.scale / 4


@pytest.mark.parametrize(
    ("epsilon", "rate"), [(0.1, 0.03765), (1.0, 0.38843), (8.0, 3.45069)]
)
def test_a_pure_replacement_pays_one_logarithm(epsilon, rate):
    """Slope 1 and curvature 1/4, at the ridge R^2 / epsilon."""
    tilt = Tilt(SmoothedHingeLoss(width=2.0), epsilon)
    found = tilt.pure_loss(rate, Adjacency.REPLACE_ONE)
    assert found == pytest.approx(epsilon, rel=2e-4)
    assert found == 2 * rate + math.log1p(epsilon / 4)


@each_loss
@pytest.mark.parametrize("c", [0.01, 0.5, 2.0, 20.0])
def test_the_pure_loss_bounds_every_slope(loss, c):
    p = np.linspace(0.0, 1.0, 20_001)
    for kappa in c * np.array([1e-3, 0.1, 0.5, 1.0, 3.0, 1e3]) / loss.bend:
        tilt = Tilt(loss, kappa)
        truth = np.max(np.log1p(kappa * loss.curvature_at(p)) + c * p)
        bound = tilt.pure_loss(c, Adjacency.ADD_REMOVE)
        assert truth <= bound * (1 + 1e-12)
        # log(1 + u) <= u, or the two terms apart
        assert bound <= c + math.log1p(kappa * loss.bend)
        if tilt.fading[0] <= c:
            assert bound == c
        assert tilt.pure_loss(c, Adjacency.REPLACE_ONE) == bound + c


@each_loss
def test_the_notion_of_the_guarantee_says_what_is_known_of_the_loss(loss):
    g = calibrate(loss).guarantee
    if isinstance(loss, LogisticLoss):
        assert isinstance(g, ObjectivePerturbationDP)
        return
    assert isinstance(g, TiltedObjectiveDP)
    low, high = loss.slope_range
    ratio = 0.0 if loss.one_signed else min(-low, high) / max(-low, high)
    assert g.opposite_mu == pytest.approx(ratio * g.mu)
    assert math.isinf(g.fading) != isinstance(loss, Fading)


@pytest.mark.parametrize("loss", LOSSES[:4], ids=repr)
def test_the_conservative_bound_costs_noise_and_is_the_published_one(loss):
    for epsilon in (0.1, 8.0):
        m = calibrate(loss, epsilon, conservative=True)
        assert isinstance(m.guarantee, ConservativeObjectiveDP)
        assert "Redberg" in m.guarantee.source
        assert 0.99 * epsilon <= m.guarantee.epsilon(DELTA) <= epsilon
        assert relative_noise(m, epsilon) > relative_noise(
            calibrate(loss, epsilon, alpha=m.alpha), epsilon
        )
        assert m.curvature * loss.bend < 1.0
        tight = calibrate(loss, epsilon, alpha=0.0, conservative=True)
        assert tight.noise_law.scale > m.noise_law.scale
        assert tight.guarantee.epsilon(DELTA) <= epsilon


def test_the_conservative_bound_speaks_about_one_case_only():
    for options in ({"delta": 0.0}, {"adjacency": "replace-one"}):
        with pytest.raises(ValueError, match="conservative=True does not fit"):
            calibrate(LogisticLoss(), conservative=True, **options)
    m = calibrate(HuberLoss(), conservative=True)
    with pytest.raises(ValueError, match="ridge above"):
        replace(m, alpha=0.5, smoothing=replace(m.smoothing, error=1.0))
    pure = calibrate(HuberLoss(), delta=0.0)
    with pytest.raises(ValueError, match="Gaussian noise and add-remove"):
        replace(pure, conservative=True)


def test_a_loss_of_unbounded_slope_is_refused():
    m = calibrate(LogisticLoss())
    with pytest.raises(ValueError, match="bounds of its slopes"):
        replace(m, loss=SquaredLoss())


def rows(loss, n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    X *= 0.9 / np.linalg.norm(X, axis=1, keepdims=True)
    y = np.clip(X[:, 0] + 0.3 * rng.normal(size=n), -1.0, 1.0)
    if not hasattr(loss, "target_bound"):
        y = np.where(y > 0.0, 1.0, -1.0)
        return X, y, PrivateRows(as_row_blocks(X, y), L2Ball(1.0))
    blocks = as_row_blocks(X, y, labels=Targets(-1.0, 1.0, bound=1.0))
    return X, y, PrivateRows(blocks, L2Ball(1.0))


@each_loss
@pytest.mark.parametrize("delta", [0.0, DELTA])
def test_the_released_point_solves_the_tilted_problem(loss, delta):
    X, y, data = rows(loss)
    m = calibrate(loss, delta=delta)
    b = m.noise_law.draw(2, as_random_source(9))
    release = m.release(data, as_random_source(9))

    def objective(theta):
        ridge = m.alpha / 2 * theta @ theta
        return loss.value(y, X @ theta).sum() + ridge + b @ theta

    def gradient(theta):
        return X.T @ loss.gradient(y, X @ theta) + m.alpha * theta + b

    expected = minimize(objective, np.zeros(2), jac=gradient, tol=1e-12).x
    np.testing.assert_allclose(release.output, expected, atol=2e-4)
    assert release.diagnostics["gradient_norm"] <= m.gradient_tol
    assert m.gradient_tol >= 1e-8 * loss.constants(1.0).lipschitz
    assert m.smoothing.error >= 2 * m.gradient_tol / m.alpha
    assert np.abs(m.noise(release.output, data) - b).max() < 1e-2


@each_loss
def test_the_density_is_the_noise_density_times_the_jacobian(loss):
    X, y, data = rows(loss, 12)
    for delta in (0.0, DELTA):
        m = calibrate(loss, delta=delta)
        for theta in (np.zeros(2), np.array([3.0, -0.7])):
            slope, curvature = loss.derivatives(y, X @ theta)
            H = (X * curvature[:, None]).T @ X + m.alpha * np.eye(2)
            b = -(X.T @ slope + m.alpha * theta)
            expected = m.noise_law.log_density(b) + np.linalg.slogdet(H)[1]
            assert m.log_density(theta, data) == pytest.approx(expected)
