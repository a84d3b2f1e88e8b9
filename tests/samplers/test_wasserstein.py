"""From total variation to W-infinity: published digits, inverses, exact distances."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import betainc, log10, mp, mpf
from scipy.integrate import quad

from skdp.random import as_random_source
from skdp.samplers import (
    Ball,
    density_floor,
    mix_with_uniform,
    potential_oscillation,
    total_variation_needed,
    uniform_points,
    wasserstein_bound,
)

#: (d, distance, floor times volume 1, mixing at 2**-40, floor e**-100)
PUBLISHED = [
    (5, 1e-2, -11.8082, -23.8494, -55.2377),
    (5, 1e-6, -31.8062, -43.8474, -75.2356),
    (20, 1e-2, -46.3256, -58.3668, -89.755),
    (20, 1e-6, -126.3216, -138.3628, -169.7511),
]
#: d -> three distances of (10 nats, 1000 nats, mixing at 2**-40)
TABLE = {
    2: ((-9, -439, -17), (-11, -441, -19), (-17, -447, -25)),
    5: ((-16, -446, -24), (-21, -451, -29), (-36, -466, -44)),
    10: ((-28, -458, -35), (-38, -468, -45), (-68, -498, -75)),
    20: ((-51, -481, -58), (-71, -501, -78), (-131, -561, -138)),
    50: ((-120, -550, -127), (-170, -600, -177), (-320, -750, -327)),
}


@pytest.mark.parametrize(("d", "distance", "flat", "mixed", "deep"), PUBLISHED)
def test_published_values_to_four_decimals(d, distance, flat, mixed, deep):
    ball = {"radius": 1.0, "n_features": d}
    found = [
        total_variation_needed(distance, **ball, log_floor=0.0),
        total_variation_needed(distance, **ball, mixing=2.0**-40),
        total_variation_needed(distance, **ball, log_floor=-100.0),
    ]
    np.testing.assert_allclose(found, [flat, mixed, deep], atol=5.1e-5)


@pytest.mark.parametrize("d", TABLE)
def test_published_table_to_the_digits_given(d):
    ball = {"radius": 1.0, "n_features": d}
    for distance, expected in zip((1e-2, 1e-3, 1e-6), TABLE[d], strict=True):
        found = [
            total_variation_needed(distance, **ball, log_floor=-10.0),
            total_variation_needed(distance, **ball, log_floor=-1000.0),
            total_variation_needed(distance, **ball, mixing=2.0**-40),
        ]
        assert [round(value) for value in found] == list(expected)


@pytest.mark.parametrize("d", [1, 3, 40, 1000])
@pytest.mark.parametrize("distance", [1e-30, 1e-3, 1.0, 1.99])
def test_rounding_goes_to_the_safe_side_of_forty_digits(d, distance):
    with mp.workdps(40):
        eta = mpf(distance) / 4
        cap = betainc((d + 1) / mpf(2), mpf(1) / 2, 0, 1 - eta**2, regularized=True) / 2
        exact = d * log10(mpf(distance) / 2) + log10(cap) - 7 / mp.log(10)
    found = total_variation_needed(distance, radius=1.0, n_features=d, log_floor=-7.0)
    assert found <= exact
    assert found == pytest.approx(float(exact), rel=1e-11)


@given(
    d=st.integers(1, 300),
    log10_xi=st.floats(-5000, 0),
    radius=st.floats(1e-3, 1e3),
    floor=st.one_of(st.just(-math.inf), st.floats(-3000, 0)),
    mixing=st.sampled_from([0.0, 2.0**-40, 1e-3, 0.5]),
)
def test_the_bound_is_the_inverse_rounded_up(d, log10_xi, radius, floor, mixing):
    known = {"radius": radius, "n_features": d, "log_floor": floor, "mixing": mixing}
    bound = wasserstein_bound(log10_xi, **known)
    assert 0.0 < bound <= 2.0 * radius
    assert total_variation_needed(bound, **known) >= log10_xi
    if 1e-290 < bound < 2.0 * radius:
        assert total_variation_needed(bound * (1 - 1e-6), **known) < log10_xi


def quantile_distance(p, q, x):
    """Exact W-infinity of two laws on the same sorted points of the line."""
    levels = np.unique(np.concatenate([np.cumsum(p), np.cumsum(q)]))
    middles = (levels[1:] + levels[:-1]) / 2
    middles = middles[np.diff(levels) > 1e-15]
    last = len(x) - 1
    at = [x[np.minimum(np.searchsorted(np.cumsum(m), middles), last)] for m in (p, q)]
    return float(np.max(np.abs(at[0] - at[1]), initial=0.0))


def test_exact_distances_on_the_line_stay_below_the_bound_and_use_half_of_it():
    """Quantile couplings of random laws with mass moved as far as it can be."""
    generator = np.random.default_rng(0)
    x = np.linspace(-1, 1, 401)
    used = []
    for k in range(400):
        q = np.exp(generator.normal(size=401) * generator.choice([0.0, 0.5, 2.0]))
        q /= q.sum()
        if k % 2:
            # all mass of a stretch next to the floor: the hardest place to cross
            start = generator.integers(0, 350)
            q[start : start + 40] = q.min()
            q /= q.sum()
        take, give = generator.integers(0, 401, size=2)
        if k % 4 == 1:
            take, give = start - 1, start + 40
        xi = q[take] * generator.uniform(0.05, 1)
        p = q.copy()
        p[take] -= xi
        p[give] += xi
        floor = math.log(q.min() / (x[1] - x[0]) * 2)
        bound = wasserstein_bound(
            math.log10(xi), radius=1.0, n_features=1, log_floor=min(0.0, floor)
        )
        # a point mass stands for a cell of the grid
        used.append((quantile_distance(p, q, x) - (x[1] - x[0])) / bound)
    assert max(used) <= 0.51
    assert max(used) > 0.35


@pytest.mark.parametrize("m", [0.0, 4.0, 30.0])
def test_floors_hold_for_quadratic_potentials_and_are_attained_by_flat_ones(m):
    """One dimension, by quadrature; the minimiser inside and outside of the ball."""
    for centre in (0.0, 0.7, 1.5):
        R = 1.2

        def J(t, centre=centre):
            return m / 2 * (t - centre) ** 2

        osc = J(-R) - J(min(centre, R))
        total, _ = quad(lambda t: math.exp(-J(t)), -R, R, epsabs=1e-12)
        exact = math.log(2 * R * math.exp(-J(-R)) / total)
        found = density_floor(osc, radius=R, n_features=1, strong_convexity=m)
        assert found <= exact + 1e-9
        if m == 0.0:
            assert found == pytest.approx(exact, abs=1e-9)
        slope = m * abs(min(centre, R) - centre)
        assert osc <= potential_oscillation(R, slope=slope, smoothness=m) + 1e-12
        assert osc <= potential_oscillation(R, slope=m * (R + centre)) + 1e-12


def test_any_law_will_do_at_the_diameter_and_none_without_a_floor():
    assert total_variation_needed(2.0, radius=1.0, n_features=3) == 0.0
    assert total_variation_needed(0.1, radius=1.0, n_features=3) == -math.inf
    assert total_variation_needed(0.1, radius=1.0, n_features=3, mixing=1.0) == 0.0
    assert wasserstein_bound(-500.0, radius=1.0, n_features=3) == 2.0
    assert wasserstein_bound(-math.inf, radius=1.0, n_features=3) == 0.0


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: total_variation_needed(0.0, radius=1.0, n_features=1), "distance"),
        (lambda: total_variation_needed(0.1, radius=-1.0, n_features=1), "radius"),
        (lambda: total_variation_needed(0.1, radius=1.0, n_features=0), "n_features"),
        (
            lambda: total_variation_needed(0.1, radius=1.0, n_features=1, mixing=1.5),
            "probability",
        ),
        (
            lambda: wasserstein_bound(0.1, radius=1.0, n_features=1),
            "log10_total_variation",
        ),
        (
            lambda: wasserstein_bound(-1.0, radius=1.0, n_features=1, log_floor=0.1),
            "log_floor",
        ),
        (lambda: density_floor(-1.0, radius=1.0, n_features=1), "oscillation"),
        (lambda: potential_oscillation(1.0), "neither"),
        (lambda: potential_oscillation(1.0, slope=math.inf), "slope"),
    ],
)
def test_numbers_out_of_range_are_refused_by_name(call, match):
    with pytest.raises(ValueError, match=match):
        call()


@pytest.mark.statistical
@pytest.mark.parametrize("d", [1, 2, 7])
def test_uniform_points_fill_the_ball_evenly(d):
    """KS of the radius and, on each axis, the mean; false alarms below 1e-6 in all."""
    from scipy.stats import kstest

    n = 20_000
    ball = Ball(tuple(range(d)), 2.5)
    away = uniform_points(ball, n, as_random_source(3)) - ball.midpoint
    share = (np.linalg.norm(away, axis=1) / 2.5) ** d
    assert kstest(share, "uniform").pvalue > 1e-7
    # each coordinate has variance R^2 / (d + 2)
    assert np.all(np.abs(away.mean(axis=0)) < 5.7 * 2.5 / np.sqrt(n * (d + 2)))


@pytest.mark.statistical
def test_mixing_replaces_the_stated_share_and_keeps_the_rest():
    """A binomial count within six standard deviations: false alarm below 1e-8."""
    n, p = 20_000, 0.1
    draws = np.tile([0.25, -0.5], (n, 1))
    ball = Ball.around_zero(2, 1.0)
    mixed = mix_with_uniform(draws, ball, probability=p, source=as_random_source(5))
    changed = (mixed != draws).any(axis=1)
    assert abs(changed.sum() - n * p) < 6 * np.sqrt(n * p * (1 - p))
    assert np.all(np.linalg.norm(mixed, axis=1) <= 1.0)
    for probability, share in ((0.0, 0), (1.0, n)):
        mixed = mix_with_uniform(
            draws, ball, probability=probability, source=as_random_source(5)
        )
        assert (mixed != draws).any(axis=1).sum() == share
