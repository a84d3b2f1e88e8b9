"""Draws end, are finite and inside, and nothing is raised or warned, whatever the rows.

Whether a draw fails would tell something about the rows, so it never does. Warnings and
floating-point errors other than underflow are errors here.
"""

import itertools

import numpy as np
import pytest
from gibbs_by_hand import LOSSES
from scipy.stats import chi2, chisquare, truncnorm

from skdp.losses import LogisticLoss
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks
from skdp.samplers import Ball, GibbsSampler, GibbsTarget

TEMPERATURES = (1e-6, 1e-2, 1.0, 1e2, 1e6)


def tables(d):
    generator = np.random.default_rng(d)
    row = generator.normal(size=(1, d))
    wild = 10.0 ** generator.uniform(-300, 300, size=(40, 1))
    return {
        "empty": np.empty((0, d)),
        "one row": row,
        "equal rows": np.repeat(row, 300, axis=0),
        "rank one": generator.normal(size=(50, 1)) * row,
        "zeros": np.zeros((20, d)),
        "longest": np.full((5, d), 1e308) * np.array([[1], [-1], [1], [1], [1]]),
        "shortest": np.full((5, d), 5e-324),
        "all sizes": generator.normal(size=(40, d)) * wild,
    }


def balls(d):
    return {
        "space": None,
        "tiny": Ball.around_zero(d, 1e-12),
        "tiny, off the origin": Ball((1.0,) * d, 1e-12),
        "unit": Ball.around_zero(d, 1.0),
        "large": Ball.around_zero(d, 1e6),
    }


def draws(X, y, name, gamma, ball, *, size=3, alpha=1.0):
    blocks = as_row_blocks(X, y, labels=Targets(-1.0, 1.0))
    target = GibbsTarget(
        PrivateRows(blocks, L2Ball(1.0)),
        LOSSES[name][0],
        inverse_temperature=gamma,
        alpha=alpha,
        ball=ball,
    )
    sampler = GibbsSampler(target, as_random_source(0))
    return sampler.draw(size), sampler


def inside(found, ball):
    """Return whether all draws are in the ball, up to the rounding of its centre."""
    if ball is None:
        return True
    away = np.linalg.norm(found - ball.midpoint, axis=1)
    return bool(np.all(away <= ball.radius + 1e-15 * ball.reach))


def labels(n):
    return {"one side": np.ones(n), "mixed": np.where(np.arange(n) % 2, 1.0, -1.0)}


#: With 200 coefficients a border 1e-6 wide, or a loss that bends ten times as much at
#: the mode as a step away, is met once in many thousand proposals: slow, not endless.
SLOW = {(200, "unit", 1.0), (200, "unit", 1e2), (200, "unit", 1e6)}


@pytest.mark.parametrize("name", ["logistic", "log-cosh"])
@pytest.mark.parametrize("d", [1, 2])
def test_every_draw_ends_inside(d, name):
    everything = itertools.product(tables(d).values(), balls(d), (1e-6, 1.0, 1e6))
    for k, (X, place, gamma) in enumerate(everything):
        side = "one side" if k % 2 else "mixed"
        ends_inside(X, labels(len(X))[side], name, gamma, balls(d)[place])


@pytest.mark.parametrize("name", ["huber", "squared"])
@pytest.mark.parametrize("gamma", [1e-6, 1e6])
def test_every_draw_of_many_coefficients_ends_inside(name, gamma):
    for table, place in itertools.product(
        ("empty", "one row", "equal rows", "longest"),
        ("space", "tiny", "tiny, off the origin"),
    ):
        X = tables(200)[table]
        ends_inside(X, np.ones(len(X)), name, gamma, balls(200)[place])


@pytest.mark.slow
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("d", [1, 2, 200])
def test_every_draw_of_a_wider_search_ends_inside(d, name):
    gammas = TEMPERATURES if d < 200 else TEMPERATURES[::2]
    for X, place, gamma in itertools.product(tables(d).values(), balls(d), gammas):
        if (d, place, gamma) not in SLOW:
            for y in labels(len(X)).values():
                ends_inside(X, y, name, gamma, balls(d)[place])


def ends_inside(X, y, name, gamma, ball, **options):
    with np.errstate(all="raise", under="ignore"):
        found, _ = draws(X, y, name, gamma, ball, **options)
    assert np.isfinite(found).all()
    assert inside(found, ball)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["logistic", "squared"])
def test_draws_at_a_sharp_border_end_too(name):
    ball = Ball.around_zero(200, 1.0)
    for X, gamma in itertools.product(tables(200).values(), (1.0, 1e2, 1e6)):
        for y in labels(len(X)).values():
            ends_inside(X, y, name, gamma, ball, size=1)


@pytest.mark.parametrize("alpha", [1e-6, 1e6])
@pytest.mark.parametrize("name", LOSSES)
def test_ridges_of_all_sizes_serve(name, alpha):
    for X, gamma in itertools.product(tables(2).values(), (1e-6, 1.0, 1e6)):
        for ball in (None, Ball.around_zero(2, 1.0)):
            ends_inside(X, np.ones(len(X)), name, gamma, ball, alpha=alpha)


@pytest.mark.parametrize("name", LOSSES)
def test_equal_rows_do_not_make_the_tail_heavy(name):
    """They bend at the mode alone: in its metric a draw would take e^98 proposals."""
    X = tables(200)["equal rows"]
    for gamma in (1e-6, 1e-2, 1.0):
        _, sampler = draws(X, np.ones(300), name, gamma, None, size=200)
        assert sampler.n_accepted / sampler.n_proposals > 0.01


@pytest.mark.statistical
def test_mass_at_the_wall_is_that_of_the_truncated_law():
    """A standard normal cut to [-1/2, 1/2]: no rows, a ridge of one; alarm 1e-9.

    Twenty cells, the outer ones a fortieth of the width each: proposals that are drawn
    again, or moved to the wall, would show there.
    """
    ball = Ball.around_zero(1, 0.5)
    for seed, envelope in enumerate(("core-tail", "gauss")):
        found = plain(1, ball, envelope, seed).draw(100_000)[:, 0]
        law = truncnorm(-0.5, 0.5)
        edges = np.concatenate([[-0.5, -0.475], np.linspace(-0.4, 0.4, 17)])
        edges = np.concatenate([edges, [0.475, 0.5]])
        seen = np.histogram(found, edges)[0]
        assert seen.sum() == found.size
        assert chisquare(seen, found.size * np.diff(law.cdf(edges))).pvalue > 1e-9


@pytest.mark.statistical
def test_mass_at_the_rim_of_a_disc_is_that_of_the_truncated_law():
    """The squared norm of a plane normal cut to radius 1 is a cut chi-square; 1e-9."""
    ball = Ball.around_zero(2, 1.0)
    for seed, envelope in enumerate(("core-tail", "gauss")):
        found = plain(2, ball, envelope, seed).draw(100_000)
        squares = np.sum(found**2, axis=1)
        edges = np.append(np.linspace(0, 0.95, 20), 1.0)
        seen = np.histogram(squares, edges)[0]
        share = np.diff(chi2.cdf(edges, 2)) / chi2.cdf(1.0, 2)
        assert seen.sum() == len(found)
        assert chisquare(seen, len(found) * share).pvalue > 1e-9
        # directions are uniform: octants of the circle
        octant = np.floor(4 + 4 * np.arctan2(found[:, 1], found[:, 0]) / np.pi)
        counts = np.bincount(octant.astype(int), minlength=8)
        assert chisquare(counts).pvalue > 1e-9


def plain(d, ball, envelope, seed):
    rows = PrivateRows(as_row_blocks(np.empty((0, d)), np.empty(0)), L2Ball(1.0))
    target = GibbsTarget(
        rows, LogisticLoss(), inverse_temperature=1.0, alpha=1.0, ball=ball
    )
    return GibbsSampler(target, as_random_source(seed), envelope=envelope)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_rows_that_are_no_numbers_are_refused_without_naming_a_value(bad):
    X = np.full((3, 2), 123.456)
    X[1, 0] = bad
    with pytest.raises(ValueError, match=r"(?i)finite|nan") as caught:
        draws(X, np.ones(3), "logistic", 1.0, None)
    assert "123" not in str(caught.value)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e308])
def test_targets_that_are_no_numbers_are_clipped(bad):
    found, _ = draws(np.ones((2, 1)), np.array([0.5, bad]), "huber", 1.0, None)
    assert np.isfinite(found).all()
