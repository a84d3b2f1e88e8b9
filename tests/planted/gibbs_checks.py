"""Checks of Gibbs posteriors that a correct library passes, by hand and from outside.

Oscillations by search over records, densities on grids, draws against both.
"""

import itertools
import math
import warnings

import numpy as np
from scipy.stats import kstest

from skdp.accounting import ApproximateDP, GaussianDP, PureDP, ZeroConcentratedDP
from skdp.losses import HuberLoss, LogCoshLoss, LogisticLoss, SquaredLoss
from skdp.mechanisms import GibbsPosterior
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks
from skdp.samplers import Ball

__all__ = ["CHECKS"]

ALARM = 1e-8
DELTA = 1e-6
S = 0.3
LOSSES = (LogisticLoss(), SquaredLoss(), HuberLoss(scale=S), LogCoshLoss(scale=S))
RELATIONS = (("add-remove", 1), ("replace-one", 2))


def value(loss, y, t):
    """The loss of a margin, written down again; targets count within [-1, 1]."""
    if isinstance(loss, LogisticLoss):
        return np.logaddexp(0.0, -y * t)
    r = np.abs(t - np.clip(y, -1, 1))
    if isinstance(loss, SquaredLoss):
        return r**2 / 2
    if isinstance(loss, HuberLoss):
        return np.where(r < S, r**2 / 2, S * (r - S / 2))
    return S**2 * (np.logaddexp(r / S, -r / S) - math.log(2))


def spans(loss, R, c, B):
    """Return the largest range and slope of one record's loss over a ball, by search.

    In the plane, over records of all lengths, directions and labels; the margin of a
    record runs over an interval, which is searched too.
    """
    length, angle, share = np.meshgrid(
        R * np.linspace(0.1, 1, 7),
        np.linspace(0, 2 * np.pi, 13),
        np.linspace(-1, 1, 65),
        indexing="ij",
    )
    t = length * (c * np.cos(angle) + B * share)
    labels = (-1.0, 1.0) if isinstance(loss, LogisticLoss) else (-1.0, -0.4, 0.7, 1.0)
    widest = steepest = 0.0
    for y in labels:
        f = value(loss, y, t)
        widest = max(widest, float(np.ptp(f, axis=2).max()))
        slope = (value(loss, y, t + 1e-6) - value(loss, y, t - 1e-6)) / 2e-6
        steepest = max(steepest, float(np.abs(length * slope).max()))
    return widest, steepest


def gibbs_certificate():
    """The temperature, times what one record can do, is within every claim."""
    for loss, (R, c, B) in itertools.product(
        LOSSES, ((1.0, 0.0, 1.0), (1.0, 1.0, 0.5), (2.0, 3.0, 0.25))
    ):
        widest, steepest = spans(loss, R, c, B)
        for relation, k in RELATIONS:
            targets = [GaussianDP(0.5, adjacency=relation)]
            if R > 1.0 and isinstance(loss, HuberLoss):
                targets.append(ApproximateDP(1.0, DELTA, adjacency=relation))
            for target in targets:
                m = GibbsPosterior.calibrate(
                    target, loss=loss, radius=R, n_coefficients=2, ball=Ball((c, 0), B)
                )
                _ideal_is_honest(m, k * widest, k * steepest)
                if isinstance(target, ApproximateDP):
                    assert m.guarantee.implies(target)
            pure = GibbsPosterior.calibrate(
                PureDP(1.0, adjacency=relation),
                loss=loss,
                radius=R,
                n_coefficients=2,
                ball=Ball((c, 0), B),
            )
            _ideal_is_honest(pure, k * widest, k * steepest)
            # nothing is wasted either
            assert pure.inverse_temperature * k * widest >= 0.97


def _ideal_is_honest(m, widest, steepest):
    epsilon = m.inverse_temperature * widest
    mu = steepest * math.sqrt(m.inverse_temperature / m.alpha)
    pure, of_range, gaussian = m.ideal_guarantee.parts
    assert isinstance(of_range, ZeroConcentratedDP)
    assert isinstance(gaussian, GaussianDP)
    assert pure.epsilon_bound >= epsilon * (1 - 1e-9)
    assert of_range.rho >= epsilon**2 / 8 * (1 - 1e-9)
    assert gaussian.mu >= mu * (1 - 1e-6)
    # what is published costs more than the ideal draw
    assert m.guarantee.epsilon(0.0) > m.ideal_guarantee.epsilon(0.0)


def rows(X, y, constant=0.0):
    blocks = as_row_blocks(np.asarray(X, float), y, labels=Targets(-1.0, 1.0))
    return PrivateRows(blocks, L2Ball(1.0, constant))


def grid_of(ball):
    """Return points of the ball, on a line or in the plane."""
    if len(ball.center) == 1:
        return (ball.center[0] + ball.radius * np.linspace(-1, 1, 2001))[:, None]
    axis = np.linspace(-1, 1, 41)
    unit = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    return ball.midpoint + ball.radius * unit[np.sum(unit**2, axis=1) <= 1.0]


def log_density(J):
    """Return the log of exp(-J) over its mass on the points of an even grid."""
    peak = J.min()
    return peak - J - np.log(np.mean(np.exp(peak - J)))


def by_hand(m, X, y, points, constant):
    """Return the potential of clipped rows, a sum over them and a ridge."""
    X = np.asarray(X, float)
    X = X / np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True))
    if constant:
        X = np.column_stack([X, np.full(len(X), constant)])
    total = value(m.loss, y[:, None], X @ points.T).sum(axis=0)
    ridge = m.alpha / 2 * np.sum(points**2, axis=1)
    return m.inverse_temperature * (total + ridge)


def gibbs_density():
    """The law that is drawn is the one declared, and one record moves it as claimed."""
    cases = [(loss, 0.0, relation) for loss in LOSSES for relation, _ in RELATIONS]
    cases += [(LOSSES[0], 0.5, "add-remove"), (LOSSES[2], 0.5, "replace-one")]
    for loss, constant, relation in cases:
        radius = math.hypot(1.0, constant)
        ball = Ball((0.3,), 1.0) if constant == 0.0 else Ball((0.3, 0.1), 1.0)
        m = GibbsPosterior.calibrate(
            PureDP(1.0, adjacency=relation),
            loss=loss,
            radius=radius,
            n_coefficients=1 if constant == 0.0 else 2,
            ball=ball,
        )
        _moves_within(m, 1.0, constant, grid_of(ball))


def _moves_within(m, epsilon, constant, points):
    """Log ratios of long rows, far labels and saturated tables stay within epsilon.

    The theorem holds for every base measure, so for that of a grid without an error.
    """
    for count, side in itertools.product((0, 60), (-1.0, 1.0)):
        X, y = np.full((count, 1), 7.0), np.full(count, side)
        for x, label in itertools.product((1.0, -500.0), (-1.0, 1.0)):
            one = np.append(X, [[x]], axis=0), np.append(y, label)
            other = X, y
            if str(m.adjacency) == "replace-one":
                other = np.append(X, [[x]], axis=0), np.append(y, -label)
            laws = []
            for table in (one, other):
                J = m.target(rows(*table, constant)).potential(points)
                expected = by_hand(m, *table, points, constant)
                np.testing.assert_allclose(J, expected, rtol=1e-9, atol=1e-9)
                inside = m.target(rows(*table, constant)).inside(points)
                # all but the ends, which may round
                assert np.count_nonzero(~inside) <= 4
                laws.append(log_density(J))
            assert np.abs(laws[0] - laws[1]).max() <= epsilon


def table(loss, n=30):
    generator = np.random.default_rng(4)
    X = generator.normal(size=(n, 1))
    sign = np.where(X[:, 0] > 0, 1.0, -1.0)
    if isinstance(loss, LogisticLoss):
        return X, sign
    # some targets lie beyond their bound
    return X, sign * generator.uniform(0.5, 40.0, size=n)


def gibbs_draws():
    """Released vectors follow the declared law, and each is a draw of its own."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for loss, ball in itertools.product(
            LOSSES, (Ball((0.2,), 0.4), Ball((0.0,), 4.0))
        ):
            m = GibbsPosterior.calibrate(
                PureDP(10.0), loss=loss, radius=1.0, n_coefficients=1, ball=ball
            )
            X, y = table(loss)
            releases = m.release_many(rows(X, y), 4000, as_random_source(6))
            out = np.concatenate([release.output for release in releases])
            assert np.unique(out).size == out.size
            steps = out / m.smoothing.grid
            assert np.array_equal(steps, np.rint(steps))
            points = grid_of(ball)
            p = np.exp(log_density(by_hand(m, X, y, points, 0.0)))
            F = np.concatenate([[0.0], np.cumsum((p[1:] + p[:-1]) / 2)])
            u = np.interp(out, points[:, 0], F / F[-1])
            assert kstest(u, "uniform").pvalue > ALARM
    assert not caught


def gibbs_envelope():
    """No proposal is accepted with a probability above one; log acceptances tell."""
    from skdp.samplers import GibbsSampler

    worst = -np.inf
    for loss, ball, envelope in itertools.product(
        LOSSES, (Ball((1.0,), 2.0), Ball((0.0,), 9.0)), ("core-tail", "gauss")
    ):
        m = GibbsPosterior.calibrate(
            PureDP(10.0), loss=loss, radius=1.0, n_coefficients=1, ball=ball
        )
        target = m.target(rows(*table(loss)))
        sampler = GibbsSampler(target, as_random_source(2), envelope=envelope)
        sampler.draw(3000)
        worst = max(worst, sampler.max_log_acceptance)
    # it is looked at before it is cut at zero, so it comes near zero from below
    assert -1.0 < worst <= 1e-7


CHECKS = {
    check.__name__: check
    for check in (gibbs_certificate, gibbs_density, gibbs_draws, gibbs_envelope)
}
