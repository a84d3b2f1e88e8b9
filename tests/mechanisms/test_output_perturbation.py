"""Output perturbation: numbers, releases, exact audits, and mutants they refute."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest

from skdp.accounting import ApproximateDP, GaussianDP, PureDP
from skdp.audit import exact_curve
from skdp.losses import HuberLoss, LogCoshLoss, LogisticLoss, SquaredLoss
from skdp.mechanisms import (
    GaussianNoise,
    KNormNoise,
    LatticeSmoothing,
    OutputPerturbation,
)
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, as_row_blocks
from skdp.samplers import Ball
from skdp.solvers import Objective

RELATIONS = ("add-remove", "replace-one")
TARGETS = (PureDP, lambda e, **o: ApproximateDP(e, 1e-6, **o), GaussianDP)


def calibrate(target=None, loss=None, radius=1.0, d=1, **options):
    return OutputPerturbation.calibrate(
        target or PureDP(1.0),
        loss=loss or LogisticLoss(),
        radius=radius,
        n_coefficients=d,
        **options,
    )


def rows(X, y, radius=1.0):
    blocks = as_row_blocks(np.asarray(X, float), np.asarray(y, float))
    return PrivateRows(blocks, L2Ball(radius))


@pytest.mark.parametrize(("relation", "k"), [("add-remove", 1), ("replace-one", 2)])
def test_the_sensitivity_is_slope_over_ridge_plus_the_tolerance(relation, k):
    target = PureDP(1.0, adjacency=relation)
    m = calibrate(target, radius=2.0, alpha=5.0)
    assert m.gradient_tol == pytest.approx(2e-8)
    assert m.l2_sensitivity == pytest.approx((2.0 * k + 4e-8) / 5.0, rel=1e-15)
    ball = Ball((3.0, 4.0), 2.0)
    m = calibrate(target, SquaredLoss(1.5), radius=2.0, d=2, alpha=5.0, ball=ball)
    G = 2.0 * (1.5 + 2.0 * 7.0)
    assert m.lipschitz == G
    assert m.l2_sensitivity == pytest.approx(G * (k + 4e-8) / 5.0, rel=1e-15)


def test_a_large_ridge_on_a_ball_asks_for_no_more_than_floats_hold():
    m = calibrate(loss=HuberLoss(scale=1e-4), alpha=1e6, ball=Ball((30.0,), 10.0))
    assert m.gradient_tol == 2.0**-45 * 4e7
    data = rows(np.ones((5, 1)), np.ones(5))
    assert m.minimiser(data)[0] == pytest.approx(20.0, rel=1e-14)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", range(3))
@pytest.mark.parametrize("size", [0.05, 1.0, 6.0])
def test_targets_are_met_and_used(kind, size, relation):
    target = TARGETS[kind](size, adjacency=relation)
    m = calibrate(target, LogCoshLoss(), radius=1.5, d=3, alpha=2.0)
    assert m.guarantee.implies(target)
    assert m.adjacency == relation
    if kind == 0:
        assert isinstance(m.noise_law, KNormNoise)
        assert m.guarantee.epsilon(0.0) >= 0.999 * size
        assert m.l2_sensitivity / m.noise_law.scale == pytest.approx(0.99 * size)
    elif kind == 1:
        assert isinstance(m.noise_law, GaussianNoise)
        assert m.guarantee.epsilon(1e-6) >= 0.999 * size
    else:
        assert m.ideal_guarantee.mu == pytest.approx(0.98 * size)


def test_delta_zero_is_pure():
    assert calibrate(ApproximateDP(1.0, 0.0), alpha=1.0) == calibrate(alpha=1.0)


def test_the_default_ridge_makes_the_noise_as_wide_as_the_domain():
    m = calibrate(GaussianDP(0.5), radius=2.0, d=4)
    assert m.alpha == pytest.approx(2.0 * 2.0 / (0.5 * 1.5))
    ball = Ball.around_zero(4, 3.0)
    m = calibrate(GaussianDP(0.5), SquaredLoss(), d=4, ball=ball)
    assert m.alpha == pytest.approx(2.0 * 4.0 / (0.5 * 3.0))


def test_the_release_is_the_minimiser_plus_noise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    data = rows(X, np.where(X[:, 0] > 0, 1.0, -1.0))
    for target in (PureDP(1.0), GaussianDP(1.0)):
        m = calibrate(target, d=3, alpha=1.0)
        release = m.release(data, as_random_source(4))
        minimiser = release.diagnostics["minimiser"]
        gradient = Objective(data, m.loss, m.alpha).gradient(minimiser)
        assert np.linalg.norm(gradient) <= m.gradient_tol / 2
        noise = m.noise_law.draw(3, as_random_source(4))
        off = np.abs(release.output - minimiser - noise).max()
        assert off < 80 * m.smoothing.scale < 1e-3 * m.noise_law.scale
        np.testing.assert_array_equal(
            m.noise(release.output, data), release.output - minimiser
        )
        assert release.spent == m.guarantee


def test_the_minimiser_of_a_ball_stays_in_it_and_the_release_need_not():
    ball = Ball.around_zero(1, 0.25)
    m = calibrate(loss=SquaredLoss(), alpha=0.5, ball=ball)
    data = rows(np.ones((40, 1)), np.ones(40))
    assert m.minimiser(data)[0] == 0.25
    source = as_random_source(0)
    outputs = [m.release(data, source).output[0] for _ in range(20)]
    assert np.ptp(outputs) > 1.0


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="no bound on the whole space"):
        calibrate(loss=SquaredLoss())
    with pytest.raises(ValueError, match="coordinates"):
        calibrate(d=2, ball=Ball((0.0,), 1.0))
    for name in ("radius", "alpha"):
        with pytest.raises(ValueError, match=name):
            calibrate(**{"alpha": 1.0, name: -1.0})
    m = calibrate(d=2, alpha=1.0)
    with pytest.raises(ValueError, match="coefficients"):
        m.release(rows([[1.0]], [1.0]), as_random_source(0))
    with pytest.raises(ValueError, match="bounded by"):
        m.release(rows([[1.0, 1.0]], [1.0], radius=2.0), as_random_source(0))
    with pytest.raises(ValueError, match="must cover"):
        replace(m, noise_law=KNormNoise(10.0))
    step = LatticeSmoothing.concentrated(error=1.0, n_features=2, mu=0.1)
    with pytest.raises(ValueError, match="do not fit"):
        replace(m, smoothing=step)
    with pytest.raises(ValueError, match="gradient_tol"):
        replace(m, gradient_tol=0.0)


def test_more_tolerance_costs_more():
    m = calibrate(alpha=1.0)
    loose = replace(m, gradient_tol=0.5)
    assert loose.guarantee.epsilon(0.0) == pytest.approx(2 * 0.99 + 0.01, rel=1e-6)


def test_assumptions_are_written_down():
    free = " ".join(calibrate(alpha=1.0).guarantee.assumptions)
    assert "gradient <= 5e-09" in free
    assert "enforced by clipping" in free
    bound = calibrate(loss=SquaredLoss(), alpha=1.0, ball=Ball((0.0,), 1.0))
    assert "gradient mapping" in " ".join(bound.guarantee.assumptions)


@pytest.mark.parametrize(
    "m", list(OutputPerturbation.audit_instances()), ids=lambda m: type(m.loss).__name__
)
def test_the_hard_pairs_move_the_minimiser_by_nearly_the_sensitivity(m):
    moves = [
        np.linalg.norm(m.minimiser(pair.left) - m.minimiser(pair.right))
        for pair in m.hard_pairs()
    ]
    assert max(moves) <= m.l2_sensitivity
    if m.adjacency == "add-remove":
        assert max(moves) > 0.94 * m.l2_sensitivity


# --- mutants --------------------------------------------------------------------------


class Sloppy(OutputPerturbation):
    """A solver that stops wherever the tolerance lets it, out of malice."""

    def minimiser(self, data):
        x = OutputPerturbation.minimiser(self, data)
        n_rows = sum(len(y) for _, y in data.blocks)
        # one row more: off to one side, else to the other
        return x + self.gradient_tol / self.alpha * (1 if n_rows % 2 else -1)


class SloppyUnpriced(Sloppy):
    @property
    def l2_sensitivity(self):
        return self.multiplicity * self.lipschitz / self.alpha


class Fallback(OutputPerturbation):
    """Zero where the solver would take long: "it did not converge"."""

    def minimiser(self, data):
        n_rows = sum(len(y) for _, y in data.blocks)
        x = OutputPerturbation.minimiser(self, data)
        return np.zeros_like(x) if n_rows > 1000 else x


class SlopeAtZero(OutputPerturbation):
    """The slope of the squared loss where theta is zero, not on the ball."""

    @property
    def lipschitz(self):
        return self.radius * self.loss.target_bound


def mutated(cls, m):
    return cls(**{field.name: getattr(m, field.name) for field in fields(m)})


def excess(m, pair):
    """Return the largest true loss of a pure mechanism over its ideal epsilon."""
    return exact_curve(m, pair).max_loss / m.ideal_guarantee.epsilon(0.0)


def test_a_tolerance_without_its_price_is_refuted():
    m = calibrate(loss=HuberLoss(5.0, 0.3), alpha=1.0)
    m = replace(m, gradient_tol=0.1)
    pair = next(iter(m.hard_pairs()))
    assert excess(mutated(Sloppy, m), pair) == pytest.approx(1.0, rel=1e-6)
    assert excess(mutated(SloppyUnpriced, m), pair) > 1.5


def test_a_fallback_for_slow_solvers_is_refuted():
    m = calibrate(alpha=1.0)
    left, right = (rows(np.ones((n, 1)), np.ones(n)) for n in (1001, 1000))
    pair = next(iter(m.hard_pairs()))
    pair = replace(pair, left=left, right=right)
    assert excess(m, pair) < 1.0
    assert excess(mutated(Fallback, m), pair) == pytest.approx(5.25, abs=0.01)


def test_a_slope_taken_at_zero_is_refuted():
    m = calibrate(loss=SquaredLoss(), alpha=60.0, ball=Ball.around_zero(1, 0.5))
    worst = max(excess(mutated(SlopeAtZero, m), pair) for pair in m.hard_pairs())
    assert worst > 1.3
    assert math.isclose(m.lipschitz, 1.5)
