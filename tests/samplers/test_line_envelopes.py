"""Deterministic envelopes on the line: they cover, and accept as often as stated."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import kstest

from skdp.accounting import Public, PureDP
from skdp.random import as_random_source
from skdp.samplers import (
    BatchedLoop,
    ConcaveHull,
    SlackSqueeze,
    concave_stage,
    holder_stage,
    holder_stages,
    log_concave_acceptance,
    log_concave_target,
)
from skdp.samplers._log_concave import _fitted
from skdp.samplers._piecewise_linear import PiecewiseLinear, fall

FINE = np.linspace(0.0, 1.0, 200_001)


def mass(values, x=FINE):
    return np.trapezoid(np.exp(values), x)


# --- piecewise linear log densities ---------------------------------------------------


def pieces():
    logs = np.array([-3.0, 0.0, -1.0, -8.0])
    return PiecewiseLinear(np.array([0.0, 0.2, 0.5, 1.0]), logs[:-1], logs[1:])


def test_known_masses_of_segments():
    masses = np.exp(pieces().log_masses())
    assert masses == pytest.approx([0.06334753, 0.18963617, 0.02625314], abs=6e-9)
    assert masses.sum() == pytest.approx(0.2792368377, abs=6e-11)
    shares = masses / masses.sum()
    assert shares == pytest.approx([0.2268595, 0.67912303, 0.09401747], abs=6e-9)


@pytest.mark.parametrize(
    ("slope", "u", "share"),
    [
        (-5.0, 0.1, 0.020922426997),
        (-5.0, 0.5, 0.137286366414),
        (-5.0, 0.9, 0.448742231513),
        (-0.1, 0.1, 0.095618271089),
        (-0.1, 0.5, 0.487505204864),
        (-0.1, 0.9, 0.895378280731),
        (0.1, 0.1, 0.104621719269),
        (0.1, 0.9, 0.904381728911),
        (5.0, 0.1, 0.551257768487),
        (5.0, 0.5, 0.862713633586),
        (5.0, 0.9, 0.979077573003),
        (800.0, 0.3, 0.998495033995),
        (1e-9, 0.3, 0.300000000105),
        (-1e-9, 0.3, 0.299999999895),
        (1e-7, 0.3, 0.3000000105),
        (0.0, 0.3, 0.3),
    ],
)
def test_known_quantiles_within_a_segment(slope, u, share):
    law = PiecewiseLinear(np.array([0.0, 1.0]), np.zeros(1), np.array([slope]))
    inside = law._within(np.zeros(1, dtype=int), np.array([u]))
    assert inside[0] == pytest.approx(share, abs=6e-13)


def test_both_formulas_agree_where_they_meet():
    v = np.linspace(0.01, 0.99, 11)
    below, above = fall(np.full(11, 0.99e-8), v), fall(np.full(11, 1.01e-8), v)
    assert below == pytest.approx(above, abs=1e-9)


def test_empty_segments_are_never_drawn():
    law = PiecewiseLinear(
        np.array([0.0, 0.0, 1.0, 1.0]), np.array([50.0, 0.0, 50.0]), np.zeros(3)
    )
    x = law.draw(500, as_random_source(0))
    assert ((x > 0.0) & (x < 1.0)).all()


@pytest.mark.statistical
def test_draws_follow_the_density():
    """Kolmogorov-Smirnov on 20,000 draws; rejected below 1e-7; the seed is fixed."""
    law = pieces()
    x = law.draw(20_000, as_random_source(1))
    density = np.exp(law.log_density(FINE))
    cdf = np.append(0.0, np.cumsum((density[1:] + density[:-1]) / 2))
    cdf /= cdf[-1]
    assert kstest(x, lambda t: np.interp(t, FINE, cdf)).pvalue > 1e-7


# --- log-Hölder densities -------------------------------------------------------------

HOLDER = [
    (4.0, 1.0, 16, 0.125, 0.778801, 0.878580),
    (4.0, 0.5, 64, 0.353553, 0.493069, 0.703418),
    (10.0, 1.0, 40, 0.125, 0.778801, 0.880349),
    (2.0, 0.5, 256, 0.088388, 0.837967, 0.915530),
]


@pytest.mark.parametrize(("s", "power", "m", "eta", "p0", "p"), HOLDER)
def test_known_acceptances_on_cells(s, power, m, eta, p0, p):
    def g(x):
        return -s * abs(x - 0.41) ** power

    stage = holder_stage(
        g, (0.0, 1.0), constant=Public(s), power=Public(power), n_cells=m
    )
    assert float(stage.eta) == pytest.approx(eta, abs=5e-7)
    assert math.exp(-2 * float(stage.eta)) == pytest.approx(p0, abs=5e-7)
    inner = 0.5 * (FINE[1:] + FINE[:-1])
    middle = (np.floor(inner * m) + 0.5) / m
    envelope = np.exp(g(middle) + float(stage.eta)).mean()
    assert np.exp(g(inner)).mean() / envelope == pytest.approx(p, abs=3e-6)
    log_a = stage.target.log_acceptance(inner[::7, None])
    expected = g(inner[::7]) - g(middle[::7]) - float(stage.eta)
    assert log_a == pytest.approx(expected, abs=1e-9)
    assert (log_a <= 0).all()
    assert (log_a >= -2 * float(stage.eta)).all()


def test_each_stage_halves_the_cells():
    stages = holder_stages(
        lambda x: -4.0 * abs(x - 0.41),
        (0.0, 1.0),
        constant=Public(4.0),
        power=Public(1.0),
        n_cells=16,
        n_stages=3,
    )
    assert [float(stage.eta) for stage in stages] == [0.125, 0.0625, 0.03125]
    total = SlackSqueeze(stages).guarantee(PureDP(1.0))
    assert total.epsilon(0.0) == pytest.approx(1.5)


def test_sites_are_the_same_for_all_data():
    """No refinement where the gradient is large: sites and their number are public."""
    sites = []
    for centre in (0.1, 0.5, 0.9):
        seen = []

        def g(x, centre=centre, seen=seen):
            seen.append(x.copy())
            return -4.0 * abs(x - centre)

        stages = holder_stages(
            g,
            (0.0, 1.0),
            constant=Public(4.0),
            power=Public(1.0),
            n_cells=8,
            n_stages=2,
        )
        for stage in stages:
            stage.target.log_acceptance(np.full((1, 1), 0.3))
        sites.append(np.concatenate(seen))
    assert (sites[0] == sites[1]).all()
    assert (sites[0] == sites[2]).all()


@pytest.mark.statistical
def test_adaptive_draws_follow_the_density():
    """Kolmogorov-Smirnov on 1500 draws; rejected below 1e-7; the seed is fixed."""

    def g(x):
        return -4.0 * abs(x - 0.41)

    stages = holder_stages(
        g, (0.0, 1.0), constant=Public(4.0), power=Public(1.0), n_cells=8, n_stages=3
    )
    squeeze = SlackSqueeze(stages)
    source = as_random_source(2)
    x = np.array([squeeze.draw(source)[0] for _ in range(1500)])
    cdf = np.append(0.0, np.cumsum(np.exp(g(FINE[1:]))))
    assert kstest(x, lambda t: np.interp(t, FINE, cdf / cdf[-1])).pvalue > 1e-7


# --- hulls of concave functions -------------------------------------------------------

HULLS = [
    (lambda x: -((x - 0.37) ** 2) / 0.02, 8, 0.7590, 0.6675),
    (lambda x: -((x - 0.37) ** 2) / 0.02, 16, 0.9361, 0.9062),
    (lambda x: -((x - 0.37) ** 2) / 0.02, 32, 0.9838, 0.9758),
    (lambda x: -((x - 0.37) ** 2) / 0.02, 64, 0.9959, 0.9939),
    (lambda x: -25.0 * abs(x - 0.5), 8, 1.0, 1.0),
    (lambda x: -30.0 * x, 16, 1.0, 1.0),
]


def test_known_acceptances_of_hulls():
    for g, m, accepted, squeezed in HULLS:
        knots = np.arange(m + 1) / m
        hull = ConcaveHull(knots, g(knots))
        target, upper = mass(g(FINE)), np.exp(hull.upper.log_masses()).sum()
        lower = np.exp(hull.lower.log_masses()).sum()
        assert target / upper == pytest.approx(accepted, abs=6e-5)
        assert lower / upper == pytest.approx(squeezed, abs=6e-5)
        top, bottom = hull.upper.log_density(FINE), hull.lower.log_density(FINE)
        assert (g(FINE) <= top + 1e-9).all()
        assert (g(FINE) >= bottom - 1e-9).all()


def test_hulls_of_random_concave_functions_cover_them_and_are_as_close_as_stated():
    """Gap at most 3/8 M w^2 inside and M w^2 in the two end intervals."""
    rng = np.random.default_rng(6)
    x = np.linspace(0.0, 1.0, 6001)
    for _ in range(60):
        m = int(rng.integers(4, 20))
        bend = 50.0 * rng.random(6001) * (rng.random(6001) < rng.random())
        slope = rng.normal() * 10.0 - np.append(0.0, np.cumsum(bend[1:]) / 6000)
        g = np.append(0.0, np.cumsum((slope[1:] + slope[:-1]) / 2) / 6000)
        knots = np.arange(m + 1) / m
        hull = ConcaveHull(knots, np.interp(knots, x, g))
        gap = hull.upper.log_density(x) - g
        assert gap.min() > -1e-7
        scale = 50.0 / m**2
        assert gap.max() <= scale
        inner = (x >= knots[1]) & (x <= knots[-2])
        assert gap[inner].max() <= 0.375 * scale + 1e-7


@pytest.mark.statistical
def test_hull_draws_follow_the_density():
    """Kolmogorov-Smirnov on 3000 draws; rejected below 1e-7; the seed is fixed."""

    def g(x):
        return -((x - 0.37) ** 2) / 0.02

    stage = concave_stage(g, (0.0, 1.0), curvature=Public(100.0), n_cells=16)
    p_lo = Public(math.exp(-2 * float(stage.eta)))
    loop = BatchedLoop(stage.target, p_lo, 1e-12, n_samples=3000)
    x = loop.draw(as_random_source(3))[:, 0]
    cdf = np.append(0.0, np.cumsum(np.exp(g(FINE[1:]))))
    assert kstest(x, lambda t: np.interp(t, FINE, cdf / cdf[-1])).pvalue > 1e-7


# --- the universal envelope -----------------------------------------------------------

#: log density, its mass, and the acceptance when both drops are exactly one.
LOG_CONCAVE = {
    "normal": (lambda x: -(x**2) / 2, 0.6478837965),
    "laplace": (lambda x: -abs(x), 0.7310585786),
    "logistic": (lambda x: -x - 2 * np.logaddexp(0.0, -x), 0.6738),
    "gumbel": (lambda x: -x - np.exp(np.minimum(-x, 700.0)), 0.6652),
    "quartic": (lambda x: -(x**4), 0.6626),
}


def fitted(g, location=(-20.0, 20.0), scale=(0.2, 8.0)):
    return _fitted(lambda x: np.maximum(g(x), -1e300), *location, *scale)


def acceptance(g, sides):
    total = sum(
        quad(lambda x: math.exp(float(g(x)) - sides.top), *ends, limit=200)[0]
        for ends in ((-60.0, sides.mode), (sides.mode, 60.0))
    )
    return total / np.exp(sides.log_masses() - sides.top).sum()


@pytest.mark.parametrize("name", LOG_CONCAVE)
@pytest.mark.parametrize(("shift", "stretch"), [(0.0, 1.0), (7.3, 0.4), (-15.0, 3.5)])
def test_the_universal_envelope_accepts_and_covers(name, shift, stretch):
    base, known = LOG_CONCAVE[name]

    def g(x):
        return base((np.asarray(x) - shift) / stretch)

    sides = fitted(g)
    p = acceptance(g, sides)
    assert p == pytest.approx(known, abs=4e-3)
    assert p >= float(log_concave_acceptance)
    x = np.linspace(-60.0, 60.0, 100_001)
    assert (g(x) <= sides.log_envelope(x) + 1e-9).all()


def test_acceptance_holds_for_random_log_concave_densities():
    """Piecewise linear and concave, kinks and cliffs included, within the bounds."""
    rng = np.random.default_rng(9)
    worst = 1.0
    for _ in range(60):
        knots = np.sort(rng.normal(size=7)) * rng.uniform(0.5, 3.0) + rng.normal() * 3
        slopes = np.sort(rng.normal(size=8) * np.exp(rng.normal() * 2))[::-1]
        slopes[0], slopes[-1] = abs(slopes[0]) + 0.2, -abs(slopes[-1]) - 0.2
        slopes = np.sort(slopes)[::-1]

        def g(x, knots=knots, slopes=slopes):
            x = np.asarray(x, float)[..., None]
            start = np.append(knots[0] - 1.0, knots)
            lengths = np.clip(x - start, 0.0, np.append(np.diff(start), np.inf))
            below = np.minimum(x[..., 0] - start[0], 0.0) * slopes[0]
            return lengths @ slopes + below

        grid = np.linspace(-80.0, 80.0, 100_001)
        values = g(grid)
        top = values.max()
        mode = grid[values.argmax()]
        inside = grid[values >= top - 1.0]
        drops = mode - inside[0], inside[-1] - mode
        least, most = min(drops) * 0.9, max(drops) * 1.1
        if least < 1e-3 or most > 15.0 or abs(mode) > 20.0:
            continue
        sides = fitted(g, scale=(least, most))
        assert (values <= sides.log_envelope(grid) + 1e-7).all()
        total = np.trapezoid(np.exp(values - sides.top), grid)
        p = total / np.exp(sides.log_masses() - sides.top).sum()
        worst = min(worst, p)
    assert float(log_concave_acceptance) <= worst < 0.75


def test_the_end_of_a_support_is_covered():
    """A uniform density on [-1, 2]: g falls from 0 to nothing."""

    def g(x):
        return np.where((x >= -1.0) & (x <= 2.0), 0.0 * x, -np.inf)

    sides = fitted(g, location=(-0.9, 1.9), scale=(0.05, 4.0))
    p = 3.0 / np.exp(sides.log_masses()).sum()
    assert p > 0.9
    x = np.linspace(-3.0, 4.0, 7001)
    inside = (x >= -1.0) & (x <= 2.0)
    assert (sides.log_envelope(x)[inside] >= 0.0).all()


@pytest.mark.parametrize(
    ("drop", "bound"),
    [
        (0.5, 0.355588),
        (0.8, 0.440773),
        (1.0, 0.4621171573),
        (1.14619, 0.465941),
        (1.5, 0.450848),
        (2.0, 0.404932),
    ],
)
def test_known_bounds_by_the_drop(drop, bound):
    value = (1 - math.exp(-drop)) / (drop + math.exp(-drop))
    assert value == pytest.approx(bound, abs=6e-7)
    stated = (1 - math.exp(-1)) * 0.999 / (math.exp(0.01) + math.exp(-1))
    assert float(log_concave_acceptance) <= stated == pytest.approx(0.4583, abs=1e-4)


@pytest.mark.statistical
def test_universal_draws_follow_the_density():
    """Kolmogorov-Smirnov on 4000 draws; rejected below 1e-7; the seed is fixed."""
    target = log_concave_target(
        lambda x: -((x - 3.0) ** 2) / 8, location=(-20.0, 20.0), scale=(0.2, 8.0)
    )
    loop = BatchedLoop(target, log_concave_acceptance, 1e-12, n_samples=4000)
    x = loop.draw(as_random_source(4))[:, 0]
    assert kstest((x - 3.0) / 2.0, "norm").pvalue > 1e-7


# --- what is refused ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("interval", "match"),
    [
        ((1.0, 0.0), "empty or infinite"),
        ((0.0, math.inf), "empty or infinite"),
        ((0.0,), "not a pair"),
    ],
)
def test_intervals_are_finite(interval, match):
    with pytest.raises(ValueError, match=match):
        concave_stage(np.negative, interval, curvature=Public(1.0), n_cells=8)


def test_constants_must_be_declared_public():
    """Not the largest eigenvalue of the data at hand."""
    measured = float(np.linalg.eigvalsh(np.eye(2)).max())
    with pytest.raises(TypeError, match="curvature is not declared public"):
        concave_stage(np.negative, (0.0, 1.0), curvature=measured, n_cells=8)
    with pytest.raises(TypeError, match="constant is not declared public"):
        holder_stage(
            np.negative, (0.0, 1.0), constant=measured, power=Public(1.0), n_cells=8
        )
    with pytest.raises(ValueError, match="power is out of range"):
        holder_stage(
            np.negative, (0.0, 1.0), constant=Public(1.0), power=Public(2.0), n_cells=8
        )
    with pytest.raises(ValueError, match="n_cells is out of range"):
        concave_stage(np.negative, (0.0, 1.0), curvature=Public(1.0), n_cells=2)
    with pytest.raises(ValueError, match="scale is not positive"):
        log_concave_target(np.negative, location=(0.0, 1.0), scale=(0.0, 1.0))


@pytest.mark.parametrize(("eta", "cells"), [(0.25, 20)])
def test_known_numbers_of_cells(eta, cells):
    """A slope of 10 on [0, 1], in one to four dimensions of the sup norm."""
    m = math.ceil(10.0 / (2 * eta))
    assert [m**d for d in (1, 2, 3, 4)] == [cells, 400, 8000, 160_000]


# --- public ends ----------------------------------------------------------------------


@pytest.mark.parametrize("ends", ["both", "first", "second", "array"])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.array])
def test_ends_that_come_out_of_an_array_are_refused(ends, kind):
    """As bounds that are not declared public are: they decide what is claimed."""
    rows = np.array([1.0, 2.0])
    low, high = rows.min(), rows.max()
    interval = {
        "both": (kind(low), kind(high)),
        "first": (kind(low), 2.0),
        "second": [1.0, kind(high)],
        "array": rows.astype(np.float64),
    }[ends]
    one, smooth = Public(1.0), Public(4.0)

    def g(x):
        return -(x**2)

    for make in (
        lambda: log_concave_target(g, location=interval, scale=(0.1, 10.0)),
        lambda: log_concave_target(g, location=(-1.0, 1.0), scale=interval),
        lambda: holder_stage(g, interval, constant=smooth, power=one, n_cells=4),
        lambda: holder_stages(
            g, interval, constant=smooth, power=one, n_cells=4, n_stages=2
        ),
        lambda: concave_stage(g, interval, curvature=smooth, n_cells=8),
    ):
        with pytest.raises(TypeError, match="comes out of an array"):
            make()


def test_ends_may_be_numbers_declared_or_not():
    ends = (Public(-1.0), 2)
    assert log_concave_target(lambda x: -(x**2), location=ends, scale=(0.1, 10.0))
