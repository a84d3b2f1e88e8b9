"""Localized posteriors: radii, shares, joint laws, and mutants the audit refutes."""

import itertools
import math
from dataclasses import fields, replace

import numpy as np
import pytest
from scipy.stats import chi, gamma

from skdp.accounting import ApproximateDP, GaussianDP, PureDP
from skdp.audit import simulated_delta
from skdp.losses import HuberLoss, LogCoshLoss, LogisticLoss, SquaredLoss
from skdp.mechanisms import (
    GaussianNoise,
    KNormNoise,
    LocalizedPosterior,
    OutputPerturbation,
)
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, as_row_blocks
from skdp.samplers import Ball

LOSSES = [LogisticLoss(), SquaredLoss(), HuberLoss(scale=0.3), LogCoshLoss(scale=0.3)]
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda v: type(v).__name__)
RELATIONS = ("add-remove", "replace-one")


def calibrate(target=None, loss=None, radius=1.0, d=1, **options):
    return LocalizedPosterior.calibrate(
        target or PureDP(1.0),
        loss=loss or LogisticLoss(),
        radius=radius,
        n_coefficients=d,
        **options,
    )


def rows(X, y, radius=1.0):
    blocks = as_row_blocks(np.asarray(X, float), np.asarray(y, float))
    return PrivateRows(blocks, L2Ball(radius))


# --- the ball -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("d", "quantile"), [(1, 4.6052), (5, 11.6046), (21, 33.1031), (50, 67.9034)]
)
def test_the_noise_of_the_centre_is_covered_to_99_percent(d, quantile):
    pure = calibrate(d=d)
    assert isinstance(pure.center.noise_law, KNormNoise)
    in_scales = pure.noise_radius / pure.center.noise_law.scale
    assert in_scales == pytest.approx(quantile, abs=5e-5)
    assert in_scales == pytest.approx(gamma.ppf(0.99, d), rel=1e-12)
    gaussian = calibrate(GaussianDP(1.0), d=d)
    assert isinstance(gaussian.center.noise_law, GaussianNoise)
    in_scales = gaussian.noise_radius / gaussian.center.noise_law.scale
    assert in_scales == pytest.approx(chi.ppf(0.99, d), rel=1e-12)


def needed(m, center, B):
    """Return the right side of the inequality for B, from formulas alone."""
    R, d, loss, alpha = m.center.radius, len(center), m.center.loss, m.center.alpha
    k = 2.0 if m.adjacency == "replace-one" else 1.0
    r = float(np.linalg.norm(center))
    if isinstance(m.draw, PureDP):
        o = loss.oscillation(R, center_norm=r, radius=B)
        temperature = 0.99 * m.draw.epsilon(0.0) / (1 + 2.0**-18) / (k * o)
        noise = m.center.noise_law.scale * gamma.ppf(0.99, d)
    else:
        G = loss.constants(R, radius=r + B).lipschitz
        temperature = alpha * (0.98 * m.draw.mu / (1 + 6 * 2.0**-20) / (k * G)) ** 2
        noise = m.center.noise_law.scale * chi.ppf(0.99, d)
    width = math.sqrt(d) + math.sqrt(2 * math.log(100))
    return noise + width / math.sqrt(temperature * m.curvature)


@each_loss
@pytest.mark.parametrize("target", [PureDP(2.0), GaussianDP(1.0)], ids=str)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("c", [0.0, 0.7, 30.0])
def test_the_radius_is_the_least_that_suffices(loss, target, relation, c):
    target = replace(target, adjacency=relation)
    options = {"alpha": 400.0, "max_radius": 50.0, "curvature": 900.0}
    m = calibrate(target, loss, radius=1.5, d=3, **options)
    center = c * np.array([0.6, 0.0, -0.8])
    B = m.ball(center).radius
    assert m.ball(center).center == tuple(center)
    low, high = 0.0, 50.0
    assert needed(m, center, high) < high
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if needed(m, center, middle) > middle else (low, middle)
        )
    assert pytest.approx(high, rel=1e-9) == B
    assert m.posterior(center).ball.radius == B
    # none that is smaller would do
    for share in np.linspace(0.01, 0.999, 50):
        assert needed(m, center, share * B) > share * B


@each_loss
@pytest.mark.parametrize("target", [PureDP(2.0), GaussianDP(1.0)], ids=str)
def test_what_is_needed_is_a_concave_function_of_the_radius(loss, target):
    m = calibrate(target, loss, alpha=5.0)
    for c in (0.0, 0.3, 2.0, 10.0):
        grid = np.linspace(0.01, 20.0, 500)
        values = np.array([needed(m, np.array([c]), B) for B in grid])
        assert np.max(np.diff(values, 2)) <= 1e-12 * values.max()


def test_the_radius_is_capped_where_none_suffices():
    m = calibrate(PureDP(0.5), SquaredLoss(), d=20, alpha=10.0, max_radius=1e6)
    assert m.ball(np.ones(20)).radius == 1e6
    assert m.center.ball == Ball.around_zero(20, 1e6)
    m = calibrate(PureDP(0.1), LogisticLoss(), radius=2.0, d=5, alpha=1.0)
    assert m.max_radius == m.ball(np.ones(5)).radius == 1.5
    assert m.center.ball is None


def test_the_finest_lattice_is_that_of_a_centre_at_zero():
    m = calibrate(PureDP(3.0), alpha=200.0, d=2)
    for c in (0.0, 0.1, 1.0, 20.0):
        posterior = m.posterior(np.array([c, c]))
        assert posterior.smoothing.grid >= m.smoothing.grid
    assert m.center.smoothing.grid >= m.smoothing.grid


# --- the price ------------------------------------------------------------------------


@each_loss
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("n_draws", [1, 4])
def test_half_of_epsilon_each_and_never_more_than_all(loss, relation, n_draws):
    for epsilon in (0.1, 1.0, 7.3):
        target = PureDP(epsilon, adjacency=relation)
        m = calibrate(target, loss, d=2, n_draws=n_draws)
        total = m.guarantee.epsilon(0.0)
        assert 0.9999 * epsilon <= total <= epsilon
        assert m.guarantee.implies(target)
        assert m.center.guarantee.epsilon(0.0) == pytest.approx(epsilon / 2)
        assert m.draw.epsilon(0.0) == pytest.approx(epsilon / (2 * n_draws))


@pytest.mark.parametrize("n_draws", [1, 9])
def test_gaussian_shares_add_up_in_squares(n_draws):
    m = calibrate(GaussianDP(1.0), n_draws=n_draws)
    assert m.guarantee.implies(GaussianDP(1.0))
    assert m.draw.mu == pytest.approx(math.sqrt(0.5 / n_draws))
    assert m.center.ideal_guarantee.mu == pytest.approx(0.98 * math.sqrt(0.5))
    target = ApproximateDP(1.0, 1e-6)
    m = calibrate(target, n_draws=n_draws)
    assert m.guarantee.implies(target)
    assert m.guarantee.epsilon(1e-6) > 0.97
    pure = calibrate(ApproximateDP(1.0, 0.0), n_draws=n_draws)
    assert pure == calibrate(PureDP(1.0), n_draws=n_draws)


def test_many_pure_draws_profit_from_their_bounded_range():
    m = calibrate(PureDP(10.0), n_draws=100)
    bounded, plain = m.guarantee.parts
    assert m.guarantee.epsilon(1e-6) < 0.9 * min(10.0, bounded.epsilon(1e-6))
    assert plain.epsilon(1e-6) == m.guarantee.epsilon(1e-6)


@each_loss
@pytest.mark.parametrize("target", [PureDP(2.0), GaussianDP(1.0)], ids=str)
def test_every_centre_gives_draws_of_the_declared_price(loss, target):
    m = calibrate(target, loss, d=2, n_draws=3)
    for c in (0.0, 1.0, -40.0, 1e6):
        posterior = m.posterior(np.array([c, 0.5]))
        assert posterior.guarantee.implies(m.draw)
        assert posterior.alpha == m.center.alpha
        if isinstance(m.draw, PureDP):
            pure, concentrated, _ = posterior.guarantee.parts
            rho = m.draw.epsilon(0.0) ** 2 / 8
            lattice = posterior.smoothing.guarantee.epsilon(0.0) ** 2 / 2
            assert posterior.pure_epsilon**2 / 8 * (1 + 1e-5) + lattice < rho
            assert pure.epsilon(0.0) <= m.draw.epsilon(0.0)
            assert concentrated.epsilon(1e-6) > 0.0


def test_what_does_not_fit_is_refused():
    m = calibrate()
    other = PureDP(1.0, adjacency="replace-one")
    for wrong, what in (
        ({"draw": other}, "adjacency"),
        ({"draw": ApproximateDP(1.0, 1e-6)}, "draw"),
        ({"n_draws": 0}, "n_draws"),
        ({"max_radius": -1.0}, "max_radius"),
        ({"curvature": m.center.alpha / 2}, "curvature"),
    ):
        with pytest.raises(ValueError, match=what):
            replace(m, **wrong)
    with pytest.raises(TypeError, match="n_draws"):
        calibrate(n_draws=1.5)
    with pytest.raises(ValueError, match="radius"):
        calibrate(radius=0.0)


def test_a_guess_of_the_curvature_shapes_the_ball_and_costs_nothing():
    plain = calibrate(PureDP(4.0), alpha=40.0)
    guessed = calibrate(PureDP(4.0), alpha=40.0, curvature=400.0)
    assert guessed.guarantee == plain.guarantee
    assert guessed.ball(np.zeros(1)).radius < plain.ball(np.zeros(1)).radius
    assert calibrate(alpha=40.0, curvature=1.0).curvature == 40.0


# --- releases and laws ----------------------------------------------------------------


def test_a_release_is_the_centre_and_then_the_draws_around_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    data = rows(X, np.where(X @ [1.0, -1.0, 0.5] > 0, 1.0, -1.0))
    m = calibrate(PureDP(20.0), d=3, alpha=20.0, n_draws=5)
    release = m.release(data, as_random_source(3))
    assert release.output.shape == (6, 3)
    assert release.spent == m.guarantee
    center, *draws = release.output
    np.testing.assert_array_equal(
        center, m.center.release(data, as_random_source(3)).output
    )
    ball = m.ball(center)
    for draw in draws:
        assert np.linalg.norm(draw - center) <= ball.radius * (1 + 1e-6)
    assert m.noise(release.output, data).shape == (6, 3)
    assert math.isfinite(m.center.log_density(center, data))


@pytest.mark.parametrize("loss", [LogisticLoss(), SquaredLoss()], ids=str)
def test_joint_losses_of_centre_and_draw_stay_below_and_come_near(loss):
    """Centres along the line, draws at both ends of their balls."""
    alpha = 60.0 if isinstance(loss, SquaredLoss) else 0.25
    m = calibrate(PureDP(2.0), loss, alpha=alpha, max_radius=0.5)
    worst = 0.0
    for pair in m.hard_pairs():
        left, right = (m.log_density_on(data) for data in (pair.left, pair.right))
        middle = m.center.minimiser(pair.left)[0]
        for away, end in itertools.product((-30.0, -3.0, 3.0, 30.0), (-1, 1)):
            c = middle + away * m.center.noise_law.scale
            ball = m.ball(np.array([c]))
            draw = ball.center[0] + end * ball.radius * (1 - 1e-9)
            output = np.array([[c], [draw]])
            worst = max(worst, abs(left(output) - right(output)))
    assert worst <= m.ideal_guarantee.epsilon(0.0)
    assert worst > 0.7 * m.ideal_guarantee.epsilon(0.0)


def test_the_ball_stays_within_reach_of_zero_and_centres_of_noise_are_not_used():
    sharp = calibrate(PureDP(20.0), d=2, alpha=1e3, max_radius=2.0)
    far, near = np.array([30.0, -40.0]), np.array([0.3, -0.4])
    assert sharp.ball(far).center == pytest.approx((1.2, -1.6))
    assert sharp.ball(near).center == pytest.approx((0.3, -0.4))
    assert sharp.narrows
    noisy = calibrate(PureDP(0.1), d=2, alpha=1.0, max_radius=2.0)
    assert noisy.noise_radius > 2.0
    assert noisy.ball(far) == noisy.ball(near) == Ball.around_zero(2, 2.0)
    assert not noisy.narrows


# --- mutants --------------------------------------------------------------------------


def mutated(cls, m, **changes):
    own = {field.name: getattr(m, field.name) for field in fields(m)}
    return cls(**{**own, **changes})


def found(m, pair, n_runs=15):
    guarantee = m.ideal_guarantee
    epsilon = guarantee.epsilon(0.0)
    audit = simulated_delta(m, pair, epsilon / 4, n_runs=n_runs, random_state=0)
    return audit.max_loss / epsilon


class FreeCentre(LocalizedPosterior):
    """The ball is an output too, but nobody pays for it."""

    @property
    def ideal_guarantee(self):
        return self.draw


class Fallback(OutputPerturbation):
    """Zero where the solver would take long: "it did not converge"."""

    def minimiser(self, data):
        n_rows = sum(len(y) for _, y in data.blocks)
        x = OutputPerturbation.minimiser(self, data)
        return np.zeros_like(x) if n_rows > 200 else x


class RadiusOfTheData(LocalizedPosterior):
    """A ball that shrinks with the number of rows."""

    def _for(self, data):
        n_rows = sum(len(y) for _, y in data.blocks)
        return mutated(LocalizedPosterior, self, max_radius=self.max_radius / n_rows)

    def release(self, data, source):
        return self._for(data).release(data, source)

    def log_density_on(self, data):
        return self._for(data).log_density_on(data)


@pytest.fixture(scope="module")
def many_rows():
    m = calibrate(PureDP(2.0), alpha=1.0)
    left, right = (rows(np.ones((n, 1)), np.ones(n)) for n in (201, 200))
    return m, replace(next(iter(m.hard_pairs())), left=left, right=right)


@pytest.mark.statistical
def test_a_centre_without_its_price_is_refuted():
    """Fixed seed; the honest mechanism can never exceed its pure epsilon."""
    m = calibrate(PureDP(2.0), HuberLoss(5.0, 0.3), alpha=1.0)
    pair = next(iter(m.hard_pairs()))
    assert 0.6 < found(m, pair) <= 1.0
    assert found(mutated(FreeCentre, m), pair) > 1.2


@pytest.mark.statistical
def test_a_centre_that_falls_back_is_refuted(many_rows):
    """Fixed seed; the honest mechanism can never exceed its pure epsilon."""
    m, pair = many_rows
    assert found(m, pair, 8) <= 1.0
    broken = replace(m, center=mutated(Fallback, m.center))
    assert found(broken, pair, 8) > 1.5


@pytest.mark.statistical
def test_a_radius_read_off_the_data_is_refuted():
    """Fixed seed; a point outside of one of the two balls tells all."""
    m = calibrate(PureDP(2.0), alpha=1.0, max_radius=0.5)
    left, right = (rows(np.ones((n, 1)), np.ones(n)) for n in (2, 1))
    pair = replace(next(iter(m.hard_pairs())), left=left, right=right)
    assert found(m, pair, 8) <= 1.0
    assert found(mutated(RadiusOfTheData, m), pair, 8) == math.inf
