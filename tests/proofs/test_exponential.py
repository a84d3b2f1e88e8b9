"""Steps of docs/proofs/exponential.md, computed apart from the package."""

import math

import mpmath
import numpy as np
import pytest


def permute_and_flip(p):
    """Formula (1) by expanding the product: exact for few candidates."""
    out = []
    for r in range(len(p)):
        rest = np.polynomial.Polynomial([1.0])
        for s in range(len(p)):
            if s != r:
                rest *= np.polynomial.Polynomial([1.0, -p[s]])
        whole = rest.integ()
        out.append(p[r] * (whole(1.0) - whole(0.0)))
    return np.array(out)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 3.0, 10.0])
def test_pure_privacy_costs_epsilon_tanh_half_epsilon(epsilon):
    """Randomised response at 40 digits: below the constant, and at it for order 1."""
    with mpmath.workdps(40):
        e = mpmath.mpf(epsilon)
        rho = e * mpmath.tanh(e / 2)
        ratios = []
        for order in (1 + 1e-9, 1.1, 1.5, 2, 4, 16, 300):
            a = mpmath.mpf(order)
            divergence = mpmath.log(
                (mpmath.exp(a * e) + mpmath.exp((1 - a) * e)) / (1 + mpmath.exp(e))
            ) / (a - 1)
            ratios.append(divergence / (a * rho))
        assert max(ratios) <= 1
        assert ratios[0] > 1 - mpmath.mpf("1e-6")
        assert ratios == sorted(ratios, reverse=True)


def test_a_loss_of_bounded_range_costs_an_eighth_of_its_square():
    """Random losses on an interval of length epsilon, tilted to be losses."""
    rng = np.random.default_rng(0)
    for _ in range(2000):
        epsilon, n = rng.uniform(0.05, 6), rng.integers(2, 6)
        q = rng.dirichlet(np.full(n, 0.5))
        spread = epsilon * rng.choice([0, 1, rng.random()], n)
        loss = spread - np.log(q @ np.exp(spread))
        for order in (1.001, 1.5, 2, 8, 64):
            top = (order * loss).max()
            moment = top + np.log(q @ np.exp(order * loss - top))
            divergence = moment / (order - 1)
            assert divergence <= order * epsilon**2 / 8 * (1 + 1e-9) + 1e-12


def test_permute_and_flip_exceeds_bounded_range():
    """The widest loss found by a random search, as a share of epsilon."""
    p, q = (
        permute_and_flip(np.exp(np.array(s) - max(s))) for s in ([0, 0], [1.0, -1.0])
    )
    second = max(math.log(np.sum(a**2 / b)) for a, b in ((p, q), (q, p)))
    assert second == pytest.approx(1.3769, abs=5e-5)
    rng = np.random.default_rng(1)
    epsilon, widest, dearest = 1.0, 0.0, 0.0
    for _ in range(800):
        scores = rng.choice([0.0, 1.0, 8.0], 4) * rng.random()
        moved = scores + rng.choice([-1.0, 1.0], 4)
        laws = [
            permute_and_flip(np.exp(epsilon / 2 * (s - s.max())))
            for s in (scores, moved)
        ]
        loss = np.log(laws[0] / laws[1])
        assert np.abs(loss).max() <= epsilon * (1 + 1e-9)
        widest = max(widest, np.ptp(loss))
        dearest = max(dearest, float(laws[0] @ loss))
    assert widest > 1.3 * epsilon
    assert epsilon**2 / 8 < dearest < epsilon * math.tanh(epsilon / 2)


def test_the_race_of_exponential_noise_has_the_law_of_the_walk():
    """By quadrature of the density of the winner."""
    x = np.array([0.0, 0.4, 2.0, 7.0])
    p = np.exp(-x)
    law = permute_and_flip(p)
    for r in range(4):

        def density(z, r=r):
            others = [1 - p[s] * math.exp(-z) for s in range(4) if s != r]
            return p[r] * math.exp(-z) * math.prod(others)

        value = mpmath.quad(lambda z: density(float(z)), [0, 2, 10, 60])
        assert float(value) == pytest.approx(law[r], rel=1e-10)


def test_raising_poor_scores_keeps_every_difference():
    rng = np.random.default_rng(2)
    for one_way in (False, True):
        for _ in range(500):
            q = rng.normal(0, 5, 6)
            move = rng.uniform(0 if one_way else -1, 1, 6)
            moved = q + move
            raised = [np.maximum(s, s.max() - 3.0) for s in (q, moved)]
            change = raised[1] - raised[0]
            assert np.abs(change).max() <= np.abs(move).max() + 1e-12
            if one_way:
                assert change.min() >= -1e-12


def test_the_numbers_of_the_rounding_argument():
    """Condition numbers on the ranges used, and the sum of the errors."""
    v = np.linspace(1e-9, 0.5, 100_000)
    assert np.max(v / ((1 - v) * -np.log1p(-v))) <= 1.45
    assert np.max(1 / -np.log(v)) <= 1.45
    relative = (1.45 + 4) * 2.0**-52
    assert relative < 2.0**-49.5
    logarithm = relative + 4 * 700 * 2.0**-52
    value = 700 * relative
    exponent = (344 * 2.0**-51) + 2.0**-46
    assert max(logarithm, value) + exponent + 2.0**-43 < 2.0**-39
    eta = 2.0**-39
    assert 4 * 2 * eta < 2.0**-35
