"""Public bounds on an envelope's acceptance: their numbers, and that they hold."""

import dataclasses

import mpmath
import numpy as np
import pytest
from gibbs_by_hand import LOSSES, rows, table

from skdp.losses import HuberLoss, LogCoshLoss, LogisticLoss, SquaredLoss
from skdp.samplers import (
    Ball,
    EnvelopeBounds,
    GibbsTarget,
    curvature_ratio,
    log_normaliser,
)
from skdp.samplers._bounded import FixedEnvelope, _tilted
from skdp.samplers._fixed_descent import descent_steps
from skdp.samplers._gauss import _ball_precision
from skdp.samplers._minorant import minorant_curvature
from skdp.samplers._padded import padded_rows

GAP = 0.01
TABLE = {
    0.0: (0.98966, 0.95952, 0.85092, 0.55144, 0.14657),
    1.0: (0.91718, 0.82640, 0.64057, 0.33621, 0.07119),
    2.0: (0.87356, 0.75113, 0.53204, 0.23431, 0.03750),
    3.0: (0.85348, 0.71753, 0.48520, 0.19010, 0.02232),
}
RADII = (0.25, 0.5, 1.0, 2.0, 4.0)


def ratio(loss, c, B, R=1.0):
    return curvature_ratio(loss, R, center_norm=c, radius=B)


@pytest.mark.parametrize("c", TABLE)
def test_the_curvature_ratios_of_the_logistic_loss(c):
    for B, expected in zip(RADII, TABLE[c], strict=True):
        assert ratio(LogisticLoss(), c, B) == pytest.approx(expected, abs=1e-5)


def chord(z0, z):
    with mpmath.workdps(30):
        z0, z = mpmath.mpf(float(z0)), mpmath.mpf(float(z))
        f = lambda u: mpmath.log1p(mpmath.exp(u))  # noqa: E731
        slope = 1 / (1 + mpmath.exp(-z0))
        if z == z0:
            return slope * (1 - slope)
        return 2 * (f(z) - f(z0) - slope * (z - z0)) / (z - z0) ** 2


@pytest.mark.parametrize(("c", "B"), [(0, 0.25), (0, 4), (1, 1), (3, 2), (3, 0.5)])
def test_the_ratio_is_rounded_down(c, B):
    """Below the ratio at one admissible row, in 30 digits, and within 2e-6 of it."""
    z0 = c + B
    most = max(chord(z0, z) for z in np.linspace(c - B, c + B, 801))
    seen = chord(z0, z0) / most
    found = ratio(LogisticLoss(), float(c), float(B))
    assert found < seen
    assert found == pytest.approx(float(seen), rel=3e-6)


@pytest.mark.parametrize("loss", [LogisticLoss(), LogCoshLoss(scale=1.5)], ids=str)
def test_no_row_and_no_point_of_expansion_has_a_smaller_ratio(loss):
    generator = np.random.default_rng(0)
    settings = [(0.3, 2.0, 1.0), (1.5, 0.4, 0.0), (1.0, 1.0, 1.7)]
    found = [ratio(loss, c, B, R) for R, B, c in settings]
    for k in range(300):
        R, B, c = settings[k % 3]
        norm = R * generator.choice([1.0, generator.random()])
        middle = norm * c * generator.choice([1.0, -1.0, generator.uniform(-1, 1)])
        y = np.array(generator.choice([-1.0, 1.0]))
        low, high = middle - norm * B, middle + norm * B
        z0 = generator.choice([low, high, generator.uniform(low, high)])
        z = np.linspace(low, high, 400)
        z = z[np.abs(z - z0) > 1e-2]
        gap = loss.value(y, z) - loss.value(y, z0) - loss.gradient(y, z0) * (z - z0)
        D = np.append(2 * gap / (z - z0) ** 2, loss.hessian(y, z0))
        assert D.min() / D.max() >= found[k % 3] - 1e-9


def test_quadratic_losses_have_ratio_one_and_straight_ones_none():
    assert ratio(SquaredLoss(), 3.0, 5.0) == 1.0
    assert ratio(HuberLoss(target_bound=0.5, scale=2.0), 0.5, 1.0) == 1.0
    assert ratio(HuberLoss(target_bound=0.5, scale=2.0), 0.5, 1.1) == 0.0
    assert ratio(LogisticLoss(), 30.0, 30.0) == 0.0
    # sech^2(r/s) is the logistic curvature at 2r/s
    same = ratio(LogisticLoss(), 4.0, 2.0), ratio(LogCoshLoss(1.0, 1.0), 1.0, 1.0)
    assert same[0] == pytest.approx(same[1], rel=1e-12)


def test_a_loss_of_another_kind_is_refused():
    with pytest.raises(ValueError, match="has no bound here"):
        ratio(object(), 0.0, 1.0)


# --- acceptance against quadrature ----------------------------------------------------


def posed(name, X, y, gamma, alpha, ball, extra=7):
    loss = LOSSES[name][0]
    if name == "log-cosh":
        loss = LogCoshLoss(scale=2.0)
    numbers = {"inverse_temperature": gamma, "alpha": alpha, "ball": ball}
    bounds = EnvelopeBounds(
        loss=loss, data_norm=1.0, n_rows=max(1, len(X)) + extra, **numbers
    )
    target = GibbsTarget(padded_rows(rows(X, y), bounds.n_rows, loss), loss, **numbers)
    return target, bounds


def acceptance(target, height, gaussian):
    return float(np.exp(log_normaliser(target) + height - gaussian.log_mass))


def fuzzed(seed):
    """Random and saturated tables, small and large temperatures, balls anywhere."""
    generator = np.random.default_rng(seed)
    name = ("logistic", "squared", "log-cosh")[seed % 3]
    d = 1 + seed % 2
    n = int(generator.choice([0, 1, 5, 60]))
    X, y = table(name, max(n, 1), d, seed)
    X, y = X[:n], y[:n]
    if seed % 4 == 0:
        X, y = np.tile(np.eye(d)[:1], (n, 1)), np.ones(n)
    center = tuple(generator.uniform(-1, 1, size=d))
    ball = Ball(center, float(generator.choice([0.2, 1.0, 2.0])))
    gamma, alpha = 10.0 ** generator.uniform(-2, 1.5), 10.0 ** generator.uniform(-1, 1)
    return posed(name, X, y, float(gamma), float(alpha), ball)


@pytest.mark.parametrize("seed", range(36))
def test_the_acceptance_is_at_least_the_bound(seed):
    target, bounds = fuzzed(seed)
    envelope = FixedEnvelope.fit(target, bounds, descent_steps(bounds, GAP))
    # quadrature in the plane has four digits where the mode is on the border
    found = acceptance(target, envelope.height, envelope.gaussian)
    assert bounds.acceptance(GAP) <= found * (1 + 1e-3)
    assert found <= 1 + 1e-3


@pytest.mark.parametrize("seed", range(24))
def test_the_bound_pays_for_a_displaced_point_of_expansion(seed):
    """With the gap that the point has; without it the bound would be wrong."""
    target, bounds = fuzzed(seed)
    generator, ball = np.random.default_rng(seed + 100), bounds.ball
    best = FixedEnvelope.fit(target, bounds, descent_steps(bounds, GAP)).point
    other = generator.normal(size=best.size)
    other *= ball.radius / np.linalg.norm(other)
    for share in (1e-3, 1e-2, 0.1, 0.9):
        point = best + share * (ball.midpoint + other - best)
        g, H = target.gradient_hessian(point)
        A = H if target.is_gaussian else _ball_precision(target, point)
        gap = float(g @ (point - ball.midpoint) + ball.radius * np.linalg.norm(g))
        height = float(target.potential(point[None])[0])
        found = acceptance(target, height, _tilted(g, A, point, bounds))
        assert bounds.acceptance(max(gap, 0.0)) <= found * (1 + 1e-3)


def test_without_the_gap_a_displaced_point_breaks_the_bound():
    """The planted mistake: r^(d/2) alone, at a point that is no minimiser."""
    X, y = np.ones((60, 1)), np.ones(60)
    target, bounds = posed("logistic", X, y, 10.0, 0.1, Ball((0.0,), 2.0))
    point = np.array([-1.9])
    g, _ = target.gradient_hessian(point)
    A = _ball_precision(target, point)
    height = float(target.potential(point[None])[0])
    found = acceptance(target, height, _tilted(g, A, point, bounds))
    assert found < 1e-3 * bounds.acceptance(0.0)
    gap = float(g @ point + 2.0 * np.abs(g[0]))
    assert found >= bounds.acceptance(gap)


@pytest.mark.parametrize("seed", range(12))
def test_the_tilt_is_within_its_public_bound_and_meets_the_radius(seed):
    target, bounds = fuzzed(seed)
    gaussian = FixedEnvelope.fit(target, bounds, descent_steps(bounds, GAP)).gaussian
    B2 = bounds.ball.radius**2
    assert gaussian.tilt * B2 <= max(1.0, bounds.tilt_product)
    covariance = np.linalg.inv(
        gaussian.precision + gaussian.tilt * np.eye(gaussian.mean.size)
    )
    mean = gaussian.offset + gaussian.mean
    spread = float(mean @ mean + np.trace(covariance))
    assert spread <= B2 * (1 + 1e-8)
    if gaussian.tilt > 1.01 * bounds.least_tilt:
        room = min(1e-4 * B2, 2 / gaussian.tilt)
        assert spread + room >= B2 * (1 - 1e-8)


@pytest.mark.parametrize("seed", range(12))
def test_smoothness_slope_and_weights_are_within_their_public_bounds(seed):
    target, bounds = fuzzed(seed)
    generator, ball = np.random.default_rng(seed), bounds.ball
    g, _ = target.gradient_hessian(ball.midpoint)
    assert np.linalg.norm(g) <= bounds.steepness * (1 + 1e-12)
    for _ in range(5):
        theta = ball.midpoint + 3 * ball.radius * generator.normal(size=g.size)
        values = np.linalg.eigvalsh(target.gradient_hessian(theta)[1])
        assert values[0] >= bounds.convexity * (1 - 1e-9)
        assert values[-1] <= bounds.smoothness * (1 + 1e-9)


@pytest.mark.parametrize("d", [1, 20, 60])
def test_a_factor_exists_where_the_ridge_is_lost_in_rounding(d):
    """Rows on one line, a ridge far below the rounding of their sum."""
    n = 3000
    X = np.tile(np.random.default_rng(d).normal(size=d), (n, 1)) + 1e-9
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    for name, gamma in (("squared", 1.0), ("logistic", 1e3)):
        target, bounds = posed(
            name, X, np.ones(n), gamma, 1e-14, Ball.around_zero(d, 1.0)
        )
        assert bounds.convexity < 1e-3 * bounds.least_tilt
        gaussian = FixedEnvelope.fit(target, bounds, 50).gaussian
        assert np.isfinite(gaussian.factor).all()
        assert gaussian.tilt >= bounds.least_tilt


def test_short_chords_keep_the_ratio_but_for_a_stated_factor():
    """The weights that the envelope takes are at least r times the largest chord."""
    loss, B = LogisticLoss(), 0.5
    r = ratio(loss, 1.0, B) * np.exp(-1e-3)
    middle = np.full(2001, 1.0)
    z0 = np.linspace(0.5, 1.5, 2001)
    y = np.ones_like(z0)
    w = minorant_curvature(loss, y, z0, middle - B, middle + B)
    # the largest chord curvature is at most the largest f''
    most = np.array(
        [float(max(chord(a, z) for z in (0.5, 1.0, 1.5))) for a in z0[::50]]
    )
    assert np.all(w[::50] >= r * most)


def test_the_bound_falls_with_rows_radius_and_gap_and_reads_no_data():
    bounds = EnvelopeBounds(
        loss=LogisticLoss(),
        data_norm=1.0,
        ball=Ball.around_zero(4, 1.0),
        n_rows=100,
        inverse_temperature=1.0,
        alpha=1.0,
    )
    found = bounds.acceptance(GAP)
    assert bounds.acceptance(1.0) < found
    for field, value in (
        ("n_rows", 1000),
        ("ball", Ball.around_zero(4, 1.5)),
        ("data_norm", 1.5),
    ):
        assert dataclasses.replace(bounds, **{field: value}).acceptance(GAP) < found
    names = {field.name for field in dataclasses.fields(EnvelopeBounds)}
    assert not names & {"data", "rows", "X", "y"}


def test_sums_that_lose_all_digits_have_no_bound():
    bounds = EnvelopeBounds(
        loss=SquaredLoss(),
        data_norm=1.0,
        ball=Ball.around_zero(1, 1e3),
        n_rows=10**6,
        inverse_temperature=1e6,
        alpha=1.0,
    )
    assert bounds.acceptance(GAP) == 0.0
