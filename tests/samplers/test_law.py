"""Draws follow the Gibbs law: against quadrature of densities written down by hand."""

import itertools

import numpy as np
import pytest
from gibbs_by_hand import LOSSES, potential, rows, table
from scipy.stats import chisquare, kstest

from skdp.random import as_random_source
from skdp.samplers import Ball, GibbsSampler, GibbsTarget
from skdp.samplers._mode import near_mode

ALPHA = 0.7
#: Each p-value must exceed this; with fewer than 400 of them in a default run, and
#: fewer than 2,000 in all, a false alarm is below 1e-6 a run.
ALARM = 5e-10
#: The p-values of many cases, taken together, must look uniform at this level.
TOGETHER = 1e-7
GAMMAS = (1e-3, 0.05, 1.0, 30.0)
FEW, MANY = 20_000, 200_000
PLACES = {"interior": Ball((0.1,), 2.0), "border": Ball((-0.3,), 0.4), "space": None}
CASES = [
    (name, place, envelope)
    for name, place in itertools.product(LOSSES, PLACES)
    for envelope in ("core-tail", "gauss")
    if envelope == "core-tail" or place != "space" or name == "squared"
]


def sampler(name, place, envelope, gamma, *, seed, displaced=False, n=30):
    X, y = table(name, n, 1, seed=n)
    if place == "border":
        # all rows pull to one side
        y = np.where(X[:, 0] > 0, 1.0, -1.0)
    target = GibbsTarget(
        rows(X, y),
        LOSSES[name][0],
        inverse_temperature=gamma,
        alpha=ALPHA,
        ball=PLACES[place],
    )
    expansion = None
    if displaced:
        mode, _, H = near_mode(target)
        low, high = ends(place, gamma)
        expansion = np.clip(mode + 0.7 / np.sqrt(H[0]), low, high)
    source = as_random_source(seed)
    drawn = GibbsSampler(target, source, envelope=envelope, expansion=expansion)
    return drawn, X, y


def ends(place, gamma):
    ball = PLACES[place]
    if ball is None:
        # the posterior is narrower than that of the ridge alone, around a mode
        # that 30 rows of slope at most 2 can pull no farther than 60 / ALPHA
        return -60 / ALPHA - 9 / np.sqrt(gamma * ALPHA), 60 / ALPHA + 9 / np.sqrt(
            gamma * ALPHA
        )
    return ball.center[0] - ball.radius, ball.center[0] + ball.radius


def uniforms(draws, name, X, y, place, gamma):
    """Return the distribution function, by the trapezoid rule, at the draws."""
    low, high = ends(place, gamma)
    width = np.ptp(draws)
    grid = np.linspace(
        max(low, draws.min() - width), min(high, draws.max() + width), 40_001
    )
    J = potential(name, X, y, gamma, ALPHA, grid[:, None])
    p = np.exp(J.min() - J)
    mass = np.concatenate([[0.0], np.cumsum((p[1:] + p[:-1]) / 2)])
    return np.interp(draws, grid, mass / mass[-1])


def p_value(name, place, envelope, gamma, *, seed, n_draws, displaced=False):
    drawn, X, y = sampler(name, place, envelope, gamma, seed=seed, displaced=displaced)
    draws = drawn.draw(n_draws)[:, 0]
    assert drawn.max_log_acceptance <= 1e-9
    return kstest(uniforms(draws, name, X, y, place, gamma), "uniform").pvalue


def p_values(n_draws, gammas, *, seed, names=tuple(LOSSES)):
    """Return those of all cases in one dimension, in order."""
    return [
        p_value(*case, gamma, seed=seed + k, n_draws=n_draws, displaced=displaced)
        for k, (case, gamma, displaced) in enumerate(
            itertools.product(
                [case for case in CASES if case[0] in names], gammas, (False, True)
            )
        )
    ]


@pytest.mark.statistical
def test_one_dimension_follows_quadrature():
    """Kolmogorov-Smirnov, the best point of expansion and another one.

    Every p-value is above 5e-10, and together they are uniform.
    """
    found = p_values(FEW, GAMMAS[::2], seed=1)
    assert len(found) >= 80
    assert min(found) > ALARM
    assert kstest(found, "uniform").pvalue > TOGETHER


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("name", LOSSES)
def test_one_dimension_follows_quadrature_closely(name):
    found = p_values(MANY, GAMMAS, seed=1000, names=(name,))
    assert min(found) > ALARM
    assert kstest(found, "uniform").pvalue > TOGETHER


@pytest.mark.statistical
@pytest.mark.parametrize("times", [1.3, 0.75])
def test_another_temperature_is_noticed(times):
    """The power of the test above; exact densities tell smaller differences."""
    gamma = 1.0
    drawn, X, y = sampler("squared", "space", "gauss", gamma * times, seed=5)
    found = uniforms(drawn.draw(FEW)[:, 0], "squared", X, y, "space", gamma)
    assert kstest(found, "uniform").pvalue < ALARM


PLANE = {
    "interior": Ball((0.1, -0.2), 2.5),
    "border": Ball((-1.0, 0.9), 0.6),
    "space": None,
}


def cells(name, X, y, gamma, ball, constant, n_cells=8, fine=40):
    """Return edges of a grid that holds the law, and the mass of each cell."""
    span = 2.5 if ball is None else ball.radius
    middle = np.zeros(2) if ball is None else ball.midpoint
    if ball is None:
        span = 7 / np.sqrt(gamma * ALPHA) + 6.0
    for _ in range(3):
        axes = [np.linspace(-span, span, n_cells * fine + 1) + m for m in middle]
        centres = [(a[1:] + a[:-1]) / 2 for a in axes]
        points = np.stack(np.meshgrid(*centres, indexing="ij"), axis=-1).reshape(-1, 2)
        J = potential(name, X, y, gamma, ALPHA, points, constant)
        p = np.exp(J.min() - J)
        if ball is not None:
            p[np.sum((points - ball.midpoint) ** 2, axis=1) > ball.radius**2] = 0.0
            break
        # zoom in on where the mass is
        p /= p.sum()
        middle = p @ points
        span = min(span, 6.5 * np.sqrt(np.max(p @ (points - middle) ** 2)))
    p = p.reshape(n_cells, fine, n_cells, fine).sum(axis=(1, 3))
    return [a[::fine] for a in axes], p / p.sum()


def plane_p_values(name, place, constant, gamma, *, n_draws, seed):
    """Yield the chi-square p-value, over at most 64 cells, of each envelope."""
    d = 1 if constant else 2
    X, y = table(name, 25, d, seed=5)
    if place == "border":
        y = np.where(X[:, 0] > 0, 1.0, -1.0)
    ball = PLANE[place]
    target = GibbsTarget(
        rows(X, y, constant),
        LOSSES[name][0],
        inverse_temperature=gamma,
        alpha=ALPHA,
        ball=ball,
    )
    edges, mass = cells(name, X, y, gamma, ball, constant)
    for k, envelope in enumerate(("core-tail", "gauss")):
        if envelope == "gauss" and ball is None and name != "squared":
            continue
        drawn = GibbsSampler(target, as_random_source(seed + k), envelope=envelope)
        draws = drawn.draw(n_draws)
        assert drawn.max_log_acceptance <= 1e-9
        seen = np.histogram2d(draws[:, 0], draws[:, 1], bins=edges)[0]
        yield grouped(seen, mass * n_draws, n_draws)


def grouped(seen, expected, n_draws):
    """Return the chi-square p-value, with the cells of few draws put together."""
    some = expected >= 8
    seen = np.append(seen[some], n_draws - seen[some].sum())
    expected = np.append(expected[some], n_draws - expected[some].sum())
    if expected[-1] < 4:
        seen = np.append(seen[:-2], seen[-2:].sum())
        expected = np.append(expected[:-2], expected[-2:].sum())
    return chisquare(seen, expected * seen.sum() / expected.sum()).pvalue


def planes(n_draws, gammas, *, seed, names=tuple(LOSSES)):
    """Return the p-values of all cases in the plane."""
    cases = itertools.product(names, PLANE, (0.0, 0.5), gammas)
    return [
        p
        for k, case in enumerate(cases)
        for p in plane_p_values(*case, n_draws=n_draws, seed=seed + 2 * k)
    ]


@pytest.mark.statistical
def test_two_dimensions_follow_quadrature():
    """Chi-square, with and without an intercept; each and all together."""
    found = planes(FEW // 2, (0.05, 4.0), seed=1)
    assert len(found) >= 80
    assert min(found) > ALARM
    assert kstest(found, "uniform").pvalue > TOGETHER


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("name", LOSSES)
def test_two_dimensions_follow_quadrature_closely(name):
    found = planes(MANY, (1e-3, 0.05, 1.0, 4.0), seed=1000, names=(name,))
    assert min(found) > ALARM
    assert kstest(found, "uniform").pvalue > TOGETHER


@pytest.mark.statistical
def test_five_dimensions_agree_with_a_long_chain():
    """Mean and variance of each coordinate within 7 standard errors of both.

    The chain is random-walk Metropolis with 60,000 steps, thinned; its error counts for
    more than that of the draws.
    """
    X, y = table("logistic", 200, 5, seed=9)
    gamma, ball = 1.0, Ball.around_zero(5, 1.2)
    target = GibbsTarget(
        rows(X, y),
        LOSSES["logistic"][0],
        inverse_temperature=gamma,
        alpha=1.0,
        ball=ball,
    )
    draws = GibbsSampler(target, as_random_source(4)).draw(20_000)
    generator = np.random.default_rng(4)
    n_chains, n_steps = 400, 400
    chains = draws[:n_chains].copy() * 0.5

    def J(thetas):
        value = potential("logistic", X, y, gamma, 1.0, thetas)
        return np.where(np.sum(thetas**2, axis=1) <= 1.2**2, value, np.inf)

    height, kept = J(chains), []
    for step in range(n_steps):
        trial = chains + 0.25 * generator.normal(size=chains.shape)
        there = J(trial)
        move = np.log(generator.random(n_chains)) < height - there
        chains[move], height[move] = trial[move], there[move]
        if step >= 200 and step % 40 == 0:
            kept.append(chains.copy())
    long = np.concatenate(kept)
    error = draws.std(axis=0) / np.sqrt(len(long))
    assert np.all(np.abs(long.mean(axis=0) - draws.mean(axis=0)) < 9 * error)
    ratio = long.var(axis=0) / draws.var(axis=0)
    assert np.all(np.abs(ratio - 1) < 9 * np.sqrt(2 / len(long)))


def test_the_same_seed_gives_the_same_draws_and_none_asked_gives_none():
    drawn = [sampler("huber", "interior", "auto", 1.0, seed=3)[0] for _ in range(2)]
    np.testing.assert_array_equal(drawn[0].draw(50), drawn[1].draw(50))
    assert drawn[0].draw(0).shape == (0, 1)
