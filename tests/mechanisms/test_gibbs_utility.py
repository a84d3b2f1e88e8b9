"""Excess risk of Gibbs posteriors: bounds against quadrature, formulas against laws."""

import itertools
import math

import numpy as np
import pytest

from skdp.losses import LogisticLoss
from skdp.mechanisms import (
    gaussian_gibbs_excess,
    gibbs_excess,
    gibbs_excess_bound,
    output_perturbation_excess,
    pure_gibbs_excess,
)


def excess(f, low, high, d, gamma, inside=None, n=1201):
    """Mean of f - min f under exp(-gamma f), on a grid of the box."""
    axis = np.linspace(low, high, n if d == 1 else 241)
    points = np.stack(np.meshgrid(*[axis] * d, indexing="ij"), axis=-1).reshape(-1, d)
    if inside is not None:
        points = points[inside(points)]
    values = f(points)
    rise = values - values.min()
    p = np.exp(-gamma * rise)
    return float(p @ rise / p.sum())


def random_convex(generator, d, ridge):
    """A sum of hinges, absolute values and logistic losses, with a ridge."""
    X = generator.normal(size=(12, d))
    y = generator.choice([-1.0, 1.0], size=12)
    kind = generator.integers(0, 3, size=12)
    weight = generator.exponential(size=12)

    def f(points):
        m = points @ X.T * y
        terms = np.select(
            [kind == 0, kind == 1],
            [np.maximum(0, 1 - m), np.abs(m - 0.3)],
            np.logaddexp(0, -m),
        )
        return terms @ weight + ridge / 2 * np.sum(points**2, axis=1)

    return f


@pytest.mark.parametrize("d", [1, 2])
def test_convex_losses_on_boxes_and_balls_never_exceed_the_first_bound(d):
    """Kinks, no ridge, minimiser inside or at the border, hot and cold."""
    generator = np.random.default_rng(d)
    largest = 0.0
    for gamma, shift in itertools.product((0.05, 1.0, 20.0), (0.0, 0.8, 2.5)):
        for ridge in (0.0, 1.0):
            f = random_convex(generator, d, ridge)
            for inside in (None, lambda t: np.linalg.norm(t, axis=1) <= 1.5):
                low, high = (
                    (-1.5, 1.5) if inside is not None else (shift - 2, shift + 2)
                )
                found = excess(f, low, high, d, gamma, inside)
                largest = max(largest, found / gibbs_excess_bound(d, gamma))
    assert largest <= 1.0


def test_a_straight_loss_attains_the_first_bound():
    """f = |t| has the mean excess 1 / gamma, and t on a half-line alike."""
    found = excess(lambda t: np.abs(t[:, 0]), -30.0, 30.0, 1, 1.0, n=200_001)
    assert found == pytest.approx(gibbs_excess_bound(1, 1.0), rel=1e-4)


@pytest.mark.parametrize("c", [0.01, 0.1, 0.5, 0.9])
def test_curved_losses_never_exceed_the_second_bound_and_come_near_it(c):
    """Second derivative L within a, m = c L beyond: the hardest of all profiles."""
    used = []
    for a, gamma in itertools.product((0.03, 0.1, 0.3, 1.0, 3.0), (0.1, 1.0, 10.0)):

        def f(t, a=a):
            r = np.abs(t[:, 0])
            inner, outer = np.minimum(r, a), np.maximum(r - a, 0.0)
            return inner**2 / 2 + a * outer + c * outer**2 / 2

        reach = 12 / math.sqrt(gamma * c)
        found = excess(f, -reach, reach, 1, gamma, n=60_001)
        used.append(found / gibbs_excess_bound(1, gamma, conditioning=c))
    assert max(used) <= 1.0
    # the mixture over radii keeps part of the pointwise worst case
    assert max(used) > 0.9


def test_the_second_bound_in_the_plane_and_its_equality_for_a_quadratic():
    for c in (0.2, 1.0):
        found = excess(
            lambda t, c=c: t[:, 0] ** 2 / 2 + c * t[:, 1] ** 2 / 2, -20, 20, 2, 1.0
        )
        assert found == pytest.approx(gibbs_excess(2, 1.0), rel=1e-3)
        assert found <= gibbs_excess_bound(2, 1.0, conditioning=c) + 1e-6
    assert gibbs_excess_bound(2, 1.0, conditioning=1.0) == gibbs_excess(2, 1.0)


@pytest.mark.parametrize("c", [0.0, 0.05, 0.4, 1.0])
def test_the_second_bound_lies_below_the_bounds_with_the_plain_ratio(c):
    found = gibbs_excess_bound(3, 2.0, conditioning=c)
    assert gibbs_excess(3, 2.0) <= found <= 1.5 / (1 + c) <= 1.5 * (1 - c / 2)


def test_cold_posteriors_approach_half_the_first_bound():
    X = np.random.default_rng(0).normal(size=(15, 2))
    y = np.sign(X[:, 0] + 0.3)

    def f(t):
        return np.logaddexp(0, -t @ X.T * y).sum(axis=1) + np.sum(t**2, axis=1) / 2

    ratios = [
        excess(f, -8, 8, 2, gamma) / gibbs_excess(2, gamma) for gamma in (0.3, 3.0)
    ]
    assert abs(ratios[1] - 1) < abs(ratios[0] - 1)
    assert ratios[1] == pytest.approx(1.0, abs=0.06)


def test_formulas_are_those_of_the_temperatures_that_meet_the_guarantees():
    o = LogisticLoss().oscillation(1.0, center_norm=1.0, radius=0.5)
    # 1 / o is the published inverse temperature at epsilon = 1
    assert 1 / o == pytest.approx(1.374879830033, rel=1e-12)
    found = pure_gibbs_excess(7, oscillation=o, epsilon=1.0)
    assert found == pytest.approx(gibbs_excess(7, 1.374879830033), rel=1e-12)
    # m (mu / G)^2 = 7.5 at mu = 0.5, G = 1, m = 30; a quarter under replace-one
    found = gaussian_gibbs_excess(7, lipschitz=1.0, alpha=30.0, mu=0.5)
    assert found == pytest.approx(7 / 15)
    found = gaussian_gibbs_excess(7, lipschitz=2.0, alpha=30.0, mu=0.5)
    assert found == pytest.approx(gibbs_excess(7, 1.875))


def test_output_perturbation_is_exact_for_a_quadratic_and_worse_by_the_mean_curvature():
    H = np.diag([40.0, 10.0, 5.0])
    G, alpha, mu = 1.5, 5.0, 0.7
    found = output_perturbation_excess(np.trace(H), lipschitz=G, alpha=alpha, mu=mu)
    scale = G / (alpha * mu)
    # E b'Hb / 2 for normal b
    assert found == pytest.approx(0.5 * scale**2 * np.trace(H))
    gibbs = gaussian_gibbs_excess(3, lipschitz=G, alpha=alpha, mu=mu)
    assert found / gibbs == pytest.approx(np.trace(H) / (3 * alpha))


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: gibbs_excess(0, 1.0), "n_coefficients"),
        (lambda: gibbs_excess(1, 0.0), "inverse_temperature"),
        (lambda: gibbs_excess_bound(1, 1.0, conditioning=1.1), "conditioning"),
        (lambda: pure_gibbs_excess(1, oscillation=0.0, epsilon=1.0), "oscillation"),
        (
            lambda: gaussian_gibbs_excess(1, lipschitz=1.0, alpha=-1.0, mu=1.0),
            "alpha",
        ),
        (
            lambda: output_perturbation_excess(0.0, lipschitz=1.0, alpha=1.0, mu=1.0),
            "hessian_trace",
        ),
    ],
)
def test_numbers_out_of_range_are_refused_by_name(call, match):
    with pytest.raises(ValueError, match=match):
        call()
