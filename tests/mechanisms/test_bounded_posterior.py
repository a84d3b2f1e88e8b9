"""Posterior draws of a public amount of work: price, exact audits, refusals."""

import dataclasses
import itertools
import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from skdp.accounting import (
    ApproximateDP,
    GaussianDP,
    PureDP,
    SmoothedGaussianDP,
    ZeroConcentratedDP,
)
from skdp.audit import exact_curve
from skdp.losses import HuberLoss, LogCoshLoss, LogisticLoss, SquaredLoss
from skdp.mechanisms import AdjacentPair, BoundedPosterior, GibbsPosterior
from skdp.mechanisms._bounded_guarantee import Coin
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, as_row_blocks
from skdp.samplers import Ball, EnvelopeBounds, log_normaliser
from skdp.samplers._bounded import FixedEnvelope


def calibrated(target=None, **options):
    options = {
        "loss": LogisticLoss(),
        "radius": 1.0,
        "n_coefficients": 3,
        "ball": Ball.around_zero(3, 1.0),
        "n_rows": 100,
    } | options
    return BoundedPosterior.calibrate(target or PureDP(1.0), **options)


def data(n=50, d=3, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, d))
    y = np.where(generator.random(n) < 0.5, 1.0, -1.0)
    return PrivateRows(as_row_blocks(X, y), L2Ball(1.0))


# --- numbers --------------------------------------------------------------------------


def test_the_price_of_the_coin():
    coin = Coin(mixing=1e-6, failure=1e-9)
    assert coin.epsilon == pytest.approx(math.log1p(1e-3), rel=1e-12)
    assert coin.pure(1.0) == pytest.approx(1.0 + 1e-9, rel=1e-12)
    assert coin.pure(1.0) >= 1.0 - math.log1p(-1e-9)
    # with a tiny epsilon the uniform points decide
    assert coin.pure(1e-4) == pytest.approx(math.log1p(1e-3), rel=1e-12)
    assert coin.mu == pytest.approx(coin.epsilon * math.sqrt(2 * math.pi) / 2, rel=1e-4)
    # epsilon = 1, omega = 1000 q
    rho = 1 / 8 + coin.epsilon**2 / 2
    assert rho == pytest.approx(0.1250005, abs=1e-9)


def test_the_published_guarantee_is_never_of_bounded_range():
    m = dataclasses.replace(calibrated(), mixing=0.01, failure=0.05)
    posterior, step = m.posterior, m.posterior.smoothing.guarantee
    epsilon = posterior.pure_epsilon + 4 * posterior.rounding
    pure, concentrated, gaussian = m.guarantee.parts
    b = math.log1p(5.0)
    assert pure.epsilon(0.0) == pytest.approx(
        max(epsilon - math.log1p(-0.05), b) + step.epsilon_bound, rel=1e-12
    )
    assert concentrated.parts[0].rho == pytest.approx(epsilon**2 / 8 + b**2 / 2)
    mu = posterior.mu + 6 * posterior.rounding
    assert gaussian.parts[0].mu == pytest.approx(math.hypot(mu, Coin(0.01, 0.05).mu))
    ideal = m.ideal_guarantee.parts
    assert ideal[0].epsilon(0.0) == pytest.approx(b)
    assert isinstance(ideal[1], ZeroConcentratedDP)
    assert isinstance(ideal[2], GaussianDP)


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
@pytest.mark.parametrize("n", [1, 4])
@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(1e-3, 0.0), (1.0, 0.0), (30.0, 0.0), (0.01, 1e-9), (1.0, 1e-6), (8.0, 1e-3)],
)
def test_targets_are_met_and_used(epsilon, delta, n, adjacency):
    if delta:
        target = ApproximateDP(epsilon, delta, adjacency=adjacency)
    else:
        target = PureDP(epsilon, adjacency=adjacency)
    m = calibrated(target, n_releases=n)
    assert m.guarantee_of(n).implies(target)
    assert 0.998 * epsilon <= m.guarantee_of(n).epsilon(delta) <= epsilon
    assert m.mixing == 1e-6
    assert m.failure <= 1e-9
    assert m.adjacency is target.adjacency


@pytest.mark.parametrize("mu", [0.01, 0.5, 4.0])
def test_gaussian_targets_are_met(mu):
    m = calibrated(GaussianDP(mu))
    assert m.guarantee.implies(GaussianDP(mu))
    assert isinstance(m.guarantee.parts[2], SmoothedGaussianDP)


def test_several_releases_add_up():
    m = calibrated(PureDP(0.1))
    one, many = m.guarantee, m.guarantee_of(40)
    assert many.epsilon(0.0) == pytest.approx(40 * one.epsilon(0.0))
    # the posterior's range counts through zCDP, the coin adds next to nothing
    assert many.epsilon(1e-6) < 1.5


def test_failure_follows_from_public_numbers_alone():
    """The planted mistake is an acceptance that was measured; here no data enter."""
    m = calibrated()
    p = m.least_acceptance
    assert (1 - p) ** m.n_proposals <= m.failure < (1 - p) ** (m.n_proposals - 1)
    names = set(EnvelopeBounds.acceptance.__code__.co_varnames)
    assert names.isdisjoint({"data", "rows", "X", "y", "target"})
    larger = dataclasses.replace(m, n_rows=1000)
    assert larger.n_proposals > m.n_proposals
    assert larger.n_steps > m.n_steps


def test_the_grade_and_the_assumptions_say_what_is_not_proved():
    m = calibrated()
    assert m.grade == "numerically certified"
    assert m.same_draws
    text = " ".join(m.guarantee.assumptions)
    assert "0.135 numerically certified" in text
    assert "at most 100 rows" in text


# --- exact audits ---------------------------------------------------------------------


def table(X, y):
    return PrivateRows(as_row_blocks(np.array(X)[:, None], np.array(y)), L2Ball(1.0))


def frequent(failure, mixing, n_rows=12, **options):
    """A mechanism that fails often, for laws in which one sees it."""
    posterior = GibbsPosterior.calibrate(
        PureDP(1.0),
        loss=LogisticLoss(),
        radius=1.0,
        n_coefficients=1,
        ball=Ball.around_zero(1, 2.0),
        alpha=0.3,
    )
    return BoundedPosterior(
        posterior=posterior, n_rows=n_rows, mixing=mixing, failure=failure
    )


def pairs():
    bases = ([], [1.0] * 11, [-1.0] * 11, [0.3] * 6)
    for base, x in itertools.product(bases, (1.0, -1.0)):
        X, y = [*base, x], np.ones(len(base) + 1)
        yield AdjacentPair("", table(X, y), table(X[:-1], y[:-1]))


@pytest.mark.parametrize(("failure", "mixing"), [(0.9, 0.5), (0.5, 0.3), (0.1, 1e-3)])
def test_exact_losses_are_within_the_guarantee(failure, mixing):
    m = frequent(failure, mixing)
    claimed = m.ideal_guarantee.parts
    for pair in pairs():
        curve = exact_curve(m, pair)
        assert curve.mass == pytest.approx((1.0, 1.0), abs=1e-9)
        assert curve.max_loss <= claimed[0].epsilon(0.0) * (1 + 1e-9)
        for order in (1.5, 4.0):
            assert curve.renyi(order) <= order * claimed[1].rho
        for epsilon in (0.1, 0.5, 1.0):
            assert curve.delta(epsilon) <= claimed[2].delta(epsilon) + 1e-9


def worst_loss(mechanism, *, planted):
    """Largest log ratio of the exact laws, on a grid and at the atom, if there is one.

    ``planted`` makes the fallback, and it alone, a point mass.
    """
    worst = 0.0
    for pair in pairs():
        sides = (pair.left, pair.right)
        if planted:
            left, right = (mechanism.log_failure(side) for side in sides)
            worst = max(worst, abs(left - right))
        laws = [mechanism.log_density_on(side) for side in sides]
        for x in np.linspace(-2, 2, 61):
            worst = max(worst, abs(laws[0](np.array([x])) - laws[1](np.array([x]))))
    return worst


def test_a_point_mass_as_fallback_alone_is_caught_by_the_audit():
    """However rare failure is; the mechanism as it is passes on the same pairs."""
    m = frequent(1e-9, 1e-6)
    claimed = m.ideal_guarantee.epsilon(0.0)
    assert worst_loss(m, planted=False) <= claimed
    assert worst_loss(m, planted=True) > 5 * claimed


def test_an_acceptance_that_was_measured_would_be_caught():
    """N from the data set's own acceptance fails more often than q on a neighbour."""
    m = frequent(1e-9, 1e-6)
    laws = [m.log_failure(side) for p in pairs() for side in (p.left, p.right)]
    logs = np.array(laws) / m.n_proposals
    measured = math.log(m.failure) / logs  # proposals each table would ask for
    assert (logs * measured.min()).max() > 0.9 * math.log(m.failure)
    assert max(laws) <= math.log(m.failure)


def test_the_stated_failure_is_within_its_bound_and_near_the_measured_one():
    m = frequent(0.5, 0.3)
    for pair in pairs():
        assert m.log_failure(pair.left) <= math.log(m.failure)
    # by hand: acceptance is the target's integral over the envelope's
    side = next(pairs()).left
    target = m.padded_target(side)
    envelope = FixedEnvelope.fit(target, m.bounds, m.n_steps)
    acceptance = math.exp(
        log_normaliser(target) + envelope.height - envelope.gaussian.log_mass
    )
    assert m.log_failure(side) == pytest.approx(
        m.n_proposals * math.log1p(-acceptance), rel=1e-9
    )


# --- releases -------------------------------------------------------------------------


def test_a_release_is_the_draw_on_the_lattice():
    m = calibrated()
    release = m.release(data(), as_random_source(0))
    assert release.spent == m.guarantee
    gap = np.abs(release.output - release.diagnostics["draw"]).max()
    assert 0 < gap <= 60 * m.smoothing.scale
    several = m.release_many(data(), 3, as_random_source(0))
    assert len({tuple(r.output) for r in several}) == 3


@pytest.mark.statistical
def test_releases_agree_with_those_of_the_unbounded_sampler():
    """Means within 7 standard errors: a false alarm below 1e-10."""
    ball = Ball((0.2, 0.1), 0.7)
    m = calibrated(PureDP(4.0), n_coefficients=2, ball=ball, n_rows=80)
    rows = data(80, 2)
    one = [r.output for r in m.release_many(rows, 300, as_random_source(1))]
    other = [r.output for r in m.posterior.release_many(rows, 300, as_random_source(2))]
    error = np.std(one, axis=0) * math.sqrt(2 / 300)
    assert np.all(np.abs(np.mean(one, axis=0) - np.mean(other, axis=0)) < 7 * error)


def test_the_squared_loss_reads_no_row_after_the_preparation(monkeypatch):
    from skdp.samplers import GibbsTarget

    m = calibrated(loss=SquaredLoss())
    calls = []
    found = GibbsTarget.blocks
    monkeypatch.setattr(
        GibbsTarget, "blocks", lambda self: calls.append(1) or found(self)
    )
    counts = []
    for n in (1, 5):
        calls.clear()
        m.release_many(data(), n, as_random_source(0))
        counts.append(len(calls))
    assert counts[0] == counts[1] <= 2


def test_a_mechanism_pickles_without_data():
    m = calibrated()
    m.release(data(), as_random_source(0))
    assert pickle.loads(pickle.dumps(m)) == m
    assert len(pickle.dumps(m)) < 3000


def test_wrong_public_numbers_are_refused():
    for options, message in (
        ({"n_rows": 0}, "n_rows is out of range"),
        ({"ball": Ball.around_zero(3, 30.0)}, "one draw would take"),
        ({"ball": Ball.around_zero(3, 60.0)}, "parts without curvature"),
        ({"loss": HuberLoss(scale=0.3)}, "parts without curvature"),
        ({"loss": LogCoshLoss(scale=0.3)}, "one draw would take"),
        ({"n_rows": 10**9}, "leaves no digits"),
        ({"ball": None}, "needs a ball"),
    ):
        with pytest.raises(ValueError, match=message):
            calibrated(**options)
    m = calibrated()
    for field in ("mixing", "failure"):
        for value in (0.0, 1.0, -0.1, math.nan):
            with pytest.raises(ValueError, match=f"{field} must be a number between"):
                dataclasses.replace(m, **{field: value})
    wide = GibbsPosterior.calibrate(
        GaussianDP(1.0), loss=LogisticLoss(), radius=1.0, n_coefficients=3
    )
    with pytest.raises(ValueError, match="posterior must have a ball"):
        dataclasses.replace(m, posterior=wide)


def test_wrong_data_are_refused_and_no_message_tells_their_number():
    m = calibrated(n_rows=20)
    with pytest.raises(
        ValueError, match="more rows than its public bound, got a bound of 20"
    ) as caught:
        m.release(data(33), as_random_source(0))
    assert "33" not in str(caught.value)
    with pytest.raises(ValueError, match="rows give 2 coefficients"):
        m.release(data(5, 2), as_random_source(0))

    blocks = as_row_blocks(sp.csr_array(np.ones((4, 3))), np.ones(4))
    with pytest.raises(ValueError, match="the rows are sparse"):
        m.release(PrivateRows(blocks, L2Ball(1.0)), as_random_source(0))
