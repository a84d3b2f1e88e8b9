"""Gibbs posteriors: published numbers, exact audits by quadrature, and releases."""

import dataclasses
import itertools
import math
import pickle

import numpy as np
import pytest

from skdp.accounting import (
    ApproximateDP,
    GaussianDP,
    PureDP,
    Simultaneous,
    SmoothedGaussianDP,
    ZeroConcentratedDP,
    compose,
)
from skdp.losses import HuberLoss, LogCoshLoss, LogisticLoss, SquaredLoss
from skdp.mechanisms import GibbsPosterior, LatticeSmoothing
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, as_row_blocks
from skdp.samplers import Ball, GibbsSampler

RELATIONS = ("add-remove", "replace-one")


def made(loss, gamma, *, ball=None, alpha=1.0, adjacency="add-remove", radius=1.0, d=1):
    relation = PureDP(1.0, adjacency=adjacency).adjacency
    step = LatticeSmoothing.pure(
        error=1e-9, n_features=d, epsilon=0.01, adjacency=relation
    )
    return GibbsPosterior(
        loss=loss,
        radius=radius,
        n_coefficients=d,
        inverse_temperature=gamma,
        alpha=alpha,
        smoothing=step,
        ball=ball,
        adjacency=relation,
    )


# --- numbers --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "c", "B", "oscillation"),
    [
        (LogisticLoss(), 0.0, 1.0, 1.0),
        (LogisticLoss(), 1.0, 0.5, 0.7273362938),
        (LogisticLoss(), 2.0, 1.0, 1.7353256641),
        (LogisticLoss(), 3.0, 0.25, 0.4760737827),
        (LogisticLoss(), 1.5, 4.0, 5.425188709),
        (SquaredLoss(), 0.0, 1.0, 2.0),
        (SquaredLoss(), 1.0, 0.5, 2.0),
        (SquaredLoss(), 0.0, 2.0, 4.5),
        (SquaredLoss(), 2.0, 1.0, 6.0),
        (HuberLoss(scale=0.3), 0.0, 1.0, 0.555),
        (HuberLoss(scale=0.3), 1.0, 0.5, 0.3),
        (LogCoshLoss(scale=0.3), 0.0, 1.0, 0.5376168995),
    ],
)
def test_oscillations_and_pure_temperatures(loss, c, B, oscillation):
    ball = Ball((c,), B)
    for adjacency, times in zip(RELATIONS, (1, 2), strict=True):
        mechanism = made(loss, 1.0, ball=ball, adjacency=adjacency)
        assert mechanism.oscillation == pytest.approx(oscillation, rel=1e-9)
        assert mechanism.pure_epsilon == pytest.approx(times * oscillation, rel=1e-9)
    if isinstance(loss, LogisticLoss) and c == 1.0:
        one = made(loss, 1.374879830033, ball=ball)
        two = made(loss, 0.687439915016, ball=ball, adjacency="replace-one")
        assert one.pure_epsilon == pytest.approx(1.0, rel=1e-10)
        assert two.pure_epsilon == pytest.approx(1.0, rel=1e-10)


def test_gaussian_temperatures():
    """mu = 1/2 for a slope of one and a ridge of 30."""
    for adjacency, gamma in zip(RELATIONS, (7.5, 1.875), strict=True):
        m = made(LogisticLoss(), gamma, alpha=30.0, adjacency=adjacency)
        assert m.mu == pytest.approx(0.5, rel=1e-12)
        assert m.ideal_guarantee.parts == (GaussianDP(m.mu, adjacency=adjacency),)


def test_on_a_ball_the_slope_is_that_of_the_ball():
    m = made(LogisticLoss(), 4.0, ball=Ball((0.6, 0.8), 0.5), d=2, radius=2.0)
    G = 2.0 / (1.0 + math.exp(-3.0))
    assert m.mu == pytest.approx(2.0 * G, rel=1e-12)
    epsilon = 4.0 * (math.log1p(math.exp(3.0)) - math.log1p(math.exp(1.0)))
    assert m.ideal_guarantee.parts == (
        PureDP(m.pure_epsilon),
        ZeroConcentratedDP(m.pure_epsilon**2 / 8),
        GaussianDP(m.mu),
    )
    assert m.pure_epsilon == pytest.approx(epsilon, rel=1e-12)


@pytest.mark.parametrize("adjacency", RELATIONS)
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
def test_pure_targets_are_met_and_used(epsilon, adjacency):
    target = PureDP(epsilon, adjacency=adjacency)
    m = GibbsPosterior.calibrate(
        target,
        loss=HuberLoss(),
        radius=1.5,
        n_coefficients=4,
        ball=Ball.around_zero(4, 2.0),
    )
    assert m.guarantee.implies(target)
    assert 0.999 * epsilon <= m.guarantee.epsilon(0.0) <= epsilon
    assert m.pure_epsilon >= 0.9899 * epsilon
    # the default ridge: sqrt(d) G / (mu B)
    mu = 2 * _quantile(1 / (1 + math.exp(-epsilon)))
    assert m.alpha == pytest.approx(2.0 * 1.5 * 0.5 / (mu * 2.0), rel=1e-7)


def _quantile(p):
    from scipy.stats import norm

    return float(-norm.isf(p) if p < 0.5 else norm.isf(1 - p))


@pytest.mark.parametrize("adjacency", RELATIONS)
@pytest.mark.parametrize("ball", [None, Ball.around_zero(2, 0.3), Ball((3.0, 4.0), 2)])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1.0, 1e-6), (4.0, 1e-3)])
def test_approximate_targets_are_met_and_used(epsilon, delta, ball, adjacency):
    target = ApproximateDP(epsilon, delta, adjacency=adjacency)
    m = GibbsPosterior.calibrate(
        target, loss=LogisticLoss(), radius=1.0, n_coefficients=2, ball=ball, alpha=3.0
    )
    assert m.guarantee.implies(target)
    assert 0.999 * epsilon <= m.guarantee.epsilon(delta) <= epsilon


@pytest.mark.parametrize("mu", [0.05, 0.5, 3.0])
def test_gaussian_targets_are_met(mu):
    m = GibbsPosterior.calibrate(
        GaussianDP(mu), loss=HuberLoss(), radius=1.0, n_coefficients=3
    )
    assert m.guarantee.implies(GaussianDP(mu))
    assert m.mu >= 0.975 * mu


def test_a_small_ball_lets_the_pure_guarantee_carry_an_approximate_target():
    """With next to no ridge the Gaussian guarantee alone would be useless."""
    m = GibbsPosterior.calibrate(
        ApproximateDP(1.0, 1e-6),
        loss=LogisticLoss(),
        radius=1.0,
        n_coefficients=1,
        ball=Ball.around_zero(1, 0.2),
        alpha=1e-6,
    )
    assert m.mu > 100
    assert 0.95 <= m.pure_epsilon <= 1.0
    assert m.guarantee.epsilon(1e-6) <= 1.0


def test_the_published_guarantee_adds_rounding_and_lattice():
    ball = Ball.around_zero(2, 1.0)
    pure = GibbsPosterior.calibrate(
        PureDP(1.0), loss=LogisticLoss(), radius=1.0, n_coefficients=2, ball=ball
    )
    eta, step = pure.rounding, pure.smoothing.guarantee
    whole = pure.pure_epsilon + 4 * eta
    first, second, third = pure.guarantee.parts
    assert first == PureDP(whole + step.epsilon_bound)
    assert second.parts[0] == ZeroConcentratedDP(whole**2 / 8)
    assert third.parts[0] == GaussianDP(pure.mu + 6 * eta)
    wide = GibbsPosterior.calibrate(
        ApproximateDP(1.0, 1e-6), loss=HuberLoss(), radius=1.0, n_coefficients=2
    )
    step = wide.smoothing.guarantee
    (only,) = wide.guarantee.parts
    assert only == SmoothedGaussianDP(wide.mu + 6 * wide.rounding, step.rho)


def test_many_draws_cost_their_composition():
    m = GibbsPosterior.calibrate(
        PureDP(0.1),
        loss=LogisticLoss(),
        radius=1.0,
        n_coefficients=1,
        ball=Ball.around_zero(1, 1.0),
    )
    total = compose(*[m.guarantee] * 40)
    assert isinstance(total, Simultaneous)
    assert total.epsilon(0.0) == pytest.approx(4.0, rel=1e-3)
    # bounded range: 40 draws at rho = 0.1^2/8 each, far below basic composition
    assert total.epsilon(1e-6) < 1.5


def test_the_guarantee_is_about_the_output_alone():
    m = next(GibbsPosterior.audit_instances())
    assert "the output alone is observed: the running time depends on the data" in (
        m.guarantee.assumptions
    )
    assert not GibbsPosterior.same_draws


# --- exact audits, densities by hand --------------------------------------------------


def value(loss, y, t):
    if isinstance(loss, LogisticLoss):
        return np.logaddexp(0.0, -y * t)
    r = np.abs(t - y)
    if isinstance(loss, SquaredLoss):
        return r**2 / 2
    if isinstance(loss, HuberLoss):
        return np.where(r < loss.scale, r**2 / 2, loss.scale * (r - loss.scale / 2))
    a = r / loss.scale
    return loss.scale**2 * (np.logaddexp(a, -a) - math.log(2))


def log_density(mechanism, table, grid):
    """Normalised on the grid by the trapezoid rule."""
    J = mechanism.alpha * grid**2 / 2
    for count, x, y in table:
        J = J + count * value(mechanism.loss, y, x * grid)
    log_p = -mechanism.inverse_temperature * J
    log_p -= log_p.max()
    return log_p - np.log(np.trapezoid(np.exp(log_p), grid))


def worst_ratio(mechanism, times=1.0):
    """Largest |log ratio| over saturated clusters, in units of the pure epsilon.

    ``times`` multiplies the temperature behind the guarantee's back.
    """
    ball, Y = mechanism.ball, 1.0
    grid = ball.center[0] + ball.radius * np.linspace(-1, 1, 40_001)
    claimed = mechanism.pure_epsilon
    actual = dataclasses.replace(
        mechanism, inverse_temperature=times * mechanism.inverse_temperature
    )
    worst = 0.0
    for count, side in itertools.product((0, 30_000), (-Y, Y)):
        base = [(count, 1.0, side)]
        for y in (-Y, Y):
            one = [*base, (1, 1.0, y)]
            if str(mechanism.adjacency) == "add-remove":
                other = base
            else:
                other = [*base, (1, 1.0, -y)]
            ratio = log_density(actual, one, grid) - log_density(actual, other, grid)
            worst = max(worst, float(np.abs(ratio).max()))
    return worst / claimed


@pytest.mark.parametrize("adjacency", RELATIONS)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize(
    "loss",
    [LogisticLoss(), SquaredLoss(), HuberLoss(scale=0.3), LogCoshLoss(scale=0.3)],
    ids=lambda loss: type(loss).__name__,
)
def test_the_exact_loss_is_within_epsilon_and_uses_it(loss, epsilon, adjacency):
    m = GibbsPosterior.calibrate(
        PureDP(epsilon, adjacency=adjacency),
        loss=loss,
        radius=1.0,
        n_coefficients=1,
        ball=Ball.around_zero(1, 1.0),
    )
    ratio = worst_ratio(m)
    assert 0.97 <= ratio <= 1.0 + 1e-9
    # the audit is audited: 5 % more than was declared is noticed
    assert worst_ratio(m, times=1.05) > 1.0


ALL_LOSSES = pytest.mark.parametrize(
    "loss",
    [LogisticLoss(), SquaredLoss(), HuberLoss(scale=0.3), LogCoshLoss(scale=0.3)],
    ids=lambda loss: type(loss).__name__,
)


@pytest.mark.parametrize("center", [-1.0, 0.5, 2.0])
@ALL_LOSSES
def test_the_exact_loss_is_within_epsilon_off_the_centre(loss, center):
    for adjacency in RELATIONS:
        m = GibbsPosterior.calibrate(
            PureDP(1.0, adjacency=adjacency),
            loss=loss,
            radius=1.0,
            n_coefficients=1,
            ball=Ball((center,), 0.5),
        )
        found = worst_ratio(m)
        assert found <= 1.0 + 1e-9
        # no replacement moves a loss both ways as far as one record moves it one way
        assert adjacency == "replace-one" or found >= 0.97


@pytest.mark.parametrize("adjacency", RELATIONS)
@ALL_LOSSES
def test_no_table_and_no_record_leaves_epsilon(loss, adjacency):
    """Random tables, short and long rows, all labels: the theorem has no exception."""
    generator = np.random.default_rng(11)
    for _ in range(60):
        ball = Ball((generator.normal(),), float(10 ** generator.uniform(-1, 1)))
        gamma = float(10 ** generator.uniform(-2, 1))
        m = made(loss, gamma, ball=ball, adjacency=adjacency)
        grid = ball.center[0] + ball.radius * np.linspace(-1, 1, 2001)
        x, y = generator.uniform(-1, 1, size=(2, 12))
        if isinstance(loss, LogisticLoss):
            y = np.sign(y)
        counts = generator.integers(0, 40, size=10)
        base = list(zip(counts, x[:10], y[:10], strict=True))
        left, right = [*base, (1, x[10], y[10])], base
        if adjacency == "replace-one":
            right = [*base, (1, x[11], y[11])]
        ratio = log_density(m, left, grid) - log_density(m, right, grid)
        assert np.abs(ratio).max() <= m.pure_epsilon * (1 + 1e-9)


@pytest.mark.parametrize(("c", "B"), [(0.0, 1.0), (1.0, 0.5), (2.0, 1.0), (1.5, 4.0)])
@ALL_LOSSES
def test_no_record_spans_more_than_the_oscillation_and_one_spans_it(loss, c, B):
    """Brute force in three dimensions: 4,000 records, and the one along the centre."""
    generator = np.random.default_rng(12)
    x = generator.normal(size=(4000, 3))
    x *= generator.uniform(size=(4000, 1)) ** 0.2 / np.linalg.norm(
        x, axis=1, keepdims=True
    )
    x[:2] = [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]
    y = generator.choice([-1.0, 1.0], size=4000)
    # in a ball the margin of a row runs over an interval
    t = c * x[:, :1] + B * np.linalg.norm(x, axis=1, keepdims=True) * np.linspace(
        -1, 1, 401
    )
    spans = np.maximum(
        np.ptp(value(loss, y[:, None], t), axis=1),
        np.ptp(value(loss, -y[:, None], t), axis=1),
    )
    claimed = made(loss, 1.0, ball=Ball((c, 0.0, 0.0), B), d=3).oscillation
    assert spans.max() <= claimed * (1 + 1e-12)
    # the grid of margins misses a zero residual by little
    assert spans.max() >= claimed * (1 - 1e-4)
    # two records of a replacement: never more than twice that, and twice around 0
    first, second = value(loss, 1.0, t[:2]), value(loss, -1.0, t[:2])
    twice = max(np.ptp(f - g) for f in first for g in second)
    assert twice <= 2 * claimed * (1 + 1e-12)
    assert c > 0 or twice >= 2 * claimed * (1 - 1e-4) or B > 1


def test_twice_slope_times_radius_would_waste_half_of_epsilon():
    """The planted mistake: 2GB in the place of the oscillation, logistic loss."""
    m = GibbsPosterior.calibrate(
        PureDP(1.0),
        loss=LogisticLoss(),
        radius=1.0,
        n_coefficients=1,
        ball=Ball.around_zero(1, 1.0),
    )
    assert worst_ratio(m, times=m.oscillation / 2.0) < 0.97


def hockey_stick(log_p, log_q, grid, epsilon):
    gap = np.exp(log_p) - np.exp(epsilon + log_q)
    return float(np.trapezoid(np.maximum(gap, 0.0), grid))


@pytest.mark.parametrize("mu", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("place", ["space", "ball", "half"])
@pytest.mark.parametrize("loss", [LogisticLoss(), HuberLoss(9.0, 0.3)], ids=str)
def test_the_exact_profile_is_within_the_gaussian_one(loss, place, mu):
    """Attained, on the whole space, by the straight part of the Huber loss."""
    balls = {"space": None, "ball": Ball((0.2,), 1.0), "half": Ball((300.0,), 300.0)}
    m = made(loss, 1.0, ball=balls[place], alpha=2.0)
    G = m.loss.constants(1.0).lipschitz
    gamma = 2.0 * (mu / G) ** 2
    m = made(loss, gamma, ball=balls[place], alpha=2.0)
    reach = 10 / math.sqrt(2 * gamma) + 10.0
    low, high = max(m.support[0], -reach), min(m.support[1], reach)
    grid = np.linspace(low, high, 60_001)
    epsilons = np.array([0.0, mu / 2, mu, 2 * mu, mu + mu**2])
    claimed = GaussianDP(mu)
    for base in ([], [(40, 0.02, 1.0)], [(5, 1.0, -1.0)], [(3, 1.0, 1.0)]):
        p = log_density(m, base, grid)
        y = 9.0 if isinstance(loss, HuberLoss) else 1.0
        for label in (-y, y):
            q = log_density(m, [*base, (1, 1.0, label)], grid)
            for e in epsilons:
                worst = max(hockey_stick(p, q, grid, e), hockey_stick(q, p, grid, e))
                assert worst <= claimed.delta(e) + 1e-5
                if base == [] and place == "space" and isinstance(loss, HuberLoss):
                    assert worst == pytest.approx(claimed.delta(e), abs=1e-5)


def least_power(log_p, log_q, grid):
    """Return sizes and missed detections of the best tests of p against q."""
    p, q = (np.exp(v) * np.gradient(grid) for v in (log_p, log_q))
    order = np.argsort(log_p - log_q, kind="stable")
    alpha, beta = np.cumsum(p[order]) / p.sum(), 1 - np.cumsum(q[order]) / q.sum()
    return np.minimum(alpha, 1.0), np.maximum(beta, 0.0)


@pytest.mark.parametrize("adjacency", RELATIONS)
@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
def test_the_trade_off_of_a_straight_loss_is_the_gaussian_one(mu, adjacency):
    """Two-sided: at no level is the claim above the truth, or below it by 1e-4."""
    m = made(HuberLoss(1e3, 0.3), 1.0, alpha=2.0, adjacency=adjacency)
    gamma = 2.0 * (mu / (0.3 * m.multiplicity)) ** 2
    m = dataclasses.replace(m, inverse_temperature=gamma)
    assert m.mu == pytest.approx(mu, rel=1e-12)
    reach = 9 / math.sqrt(2 * gamma) + 1.0
    grid = np.linspace(-reach, reach, 200_001)
    p = straight(m, grid, 1.0)
    q = straight(m, grid, -1.0 if adjacency == "replace-one" else 0.0)
    alpha, beta = least_power(p, q, grid)
    gap = beta - GaussianDP(mu).tradeoff(alpha)
    assert np.abs(gap).max() <= 1e-4


def straight(m, grid, side):
    """Return the log density under one record far to a side, or no record at all."""
    return log_density(m, [(abs(int(side)), 1.0, 1e3 * side)], grid)


@pytest.mark.parametrize("adjacency", RELATIONS)
@ALL_LOSSES
def test_exact_trade_offs_lie_above_the_gaussian_one(loss, adjacency):
    """On a ball, for saturated, mixed and empty tables; one side, at every level."""
    ball = Ball((0.3,), 1.5)
    for gamma in (0.1, 2.0):
        m = made(loss, gamma, ball=ball, alpha=2.0, adjacency=adjacency)
        grid = np.linspace(-1.2, 1.8, 40_001)
        for base in ([], [(40, 1.0, 1.0)], [(5, 0.3, -1.0), (5, 1.0, 1.0)]):
            for y in (-1.0, 1.0):
                other = [*base, (1, 1.0, -y)] if adjacency == "replace-one" else base
                laws = [
                    log_density(m, table, grid)
                    for table in ([*base, (1, 1.0, y)], other)
                ]
                for pair in (laws, laws[::-1]):
                    alpha, beta = least_power(*pair, grid)
                    assert np.all(beta >= GaussianDP(m.mu).tradeoff(alpha) - 1e-4)


# --- releases -------------------------------------------------------------------------


def data(n=50, d=3, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, d))
    y = np.where(generator.random(n) < 0.5, 1.0, -1.0)
    return PrivateRows(as_row_blocks(X, y), L2Ball(1.0))


def calibrated(**options):
    options = {
        "loss": LogisticLoss(),
        "radius": 1.0,
        "n_coefficients": 3,
        "ball": Ball.around_zero(3, 2.0),
    } | options
    return GibbsPosterior.calibrate(PureDP(1.0), **options)


def test_a_release_is_the_draw_on_the_lattice():
    m = calibrated()
    release = m.release(data(), as_random_source(0))
    assert release.spent == m.guarantee
    gap = np.abs(release.output - release.diagnostics["draw"]).max()
    assert 0 < gap <= 60 * m.smoothing.scale
    assert m.smoothing.error == 2.0**-30 * min(
        2.0, 1 / math.sqrt(m.alpha * m.inverse_temperature)
    )


def test_many_releases_are_independent_and_each_is_paid_for():
    m = calibrated()
    releases = m.release_many(data(), 5, as_random_source(0))
    assert len({tuple(r.output) for r in releases}) == 5
    assert all(r.spent == m.guarantee for r in releases)
    assert m.release_many(data(), 0, as_random_source(0)) == []


def test_the_system_source_serves():
    m = calibrated()
    a, b = (m.release(data(), as_random_source(None)).output for _ in range(2))
    assert not np.array_equal(a, b)


def test_a_mechanism_pickles_without_data():
    m = calibrated()
    m.release(data(), as_random_source(0))
    assert pickle.loads(pickle.dumps(m)) == m
    assert len(pickle.dumps(m)) < 2000


def test_an_envelope_that_is_exceeded_is_no_error(monkeypatch):
    """What the data do to the sampler is not an output."""
    found = GibbsSampler._log_acceptance

    def higher(self, *args):
        return found(self, *args) + 1.0

    monkeypatch.setattr(GibbsSampler, "_log_acceptance", higher)
    assert calibrated().release(data(), as_random_source(0)).output.shape == (3,)


def test_wrong_public_numbers_are_refused_before_the_rows_are_read():
    for options, message in (
        ({"ball": None}, "a pure guarantee needs a ball"),
        ({"ball": Ball.around_zero(2, 1.0)}, "centre of the ball has 2"),
        ({"radius": 0.0}, "radius is out of range"),
        ({"alpha": 0.0}, "alpha is out of range"),
    ):
        with pytest.raises(ValueError, match=message):
            calibrated(**options)
    with pytest.raises(ValueError, match="SquaredLoss has no bound"):
        GibbsPosterior.calibrate(
            GaussianDP(1.0), loss=SquaredLoss(), radius=1.0, n_coefficients=2
        )
    m = calibrated()
    with pytest.raises(ValueError, match="rows give 2 coefficients"):
        m.release(data(d=2), as_random_source(0))
    long = PrivateRows(as_row_blocks(np.ones((1, 3)), np.ones(1)), L2Ball(2.0))
    with pytest.raises(ValueError, match="rows are bounded by 2"):
        m.release(long, as_random_source(0))


def test_densities_are_for_one_or_two_coefficients():
    with pytest.raises(ValueError, match="one or two"):
        calibrated().log_density(np.zeros(3), data())
    two = calibrated(n_coefficients=2, ball=Ball.around_zero(2, 1.0))
    assert two.log_density(np.array([2.0, 0.0]), data(d=2)) == -math.inf


@pytest.mark.statistical
def test_excess_risk_is_that_of_the_theory():
    """GDP on the whole space: mean excess d/(2 gamma) within 20 %, false alarm < 1e-6.

    Twice gamma times the excess is about chi-square with d degrees of freedom, so the
    mean of 100 has a relative deviation of sqrt(2/(20 * 100)) = 3.2 %, a sixth of what
    is allowed less the bias that was measured, 1 %.
    """
    generator = np.random.default_rng(3)
    X = generator.normal(size=(10_000, 20))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(generator.random(10_000) < 1 / (1 + np.exp(-4 * X[:, 0])), 1.0, -1.0)
    rows = PrivateRows(as_row_blocks(X, y), L2Ball(1.0))
    m = made(LogisticLoss(), 10.0 * 0.5**2, alpha=10.0, d=20)
    assert m.mu == pytest.approx(0.5)
    target = m.target(rows)
    sampler = GibbsSampler(target, as_random_source(8))
    J = target.potential(sampler.draw(100))
    least = float(target.potential(posterior_mode(target)[None])[0])
    assert np.mean(J - least) == pytest.approx(20 / 2, rel=0.2)


def posterior_mode(target):
    from skdp.samplers._mode import near_mode

    return near_mode(target)[0]


def test_the_table_of_hard_pairs_is_short_and_public():
    for m in GibbsPosterior.audit_instances():
        for pair in m.hard_pairs():
            for side in (pair.left, pair.right):
                assert side.n_coefficients == m.n_coefficients
                assert sum(len(y) for _, y in side.blocks) <= 20_001
