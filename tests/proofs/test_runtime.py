"""Numeric checks of docs/proofs/runtime.md, independent of skdp."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad


def geometric(p, last=4000):
    return (1.0 - p) ** np.arange(last) * p


def hockey(P, Q, epsilon):
    return np.maximum(P - math.exp(epsilon) * Q, 0.0).sum()


def test_the_hardest_pair_at_a_fixed_ratio_is_the_fastest():
    for ratio, epsilon in itertools.product(
        (0.1, 0.5, 1.2), (-0.4, 0.0, 0.3, 1.0, 2.0)
    ):
        q = np.linspace(0.05, 1.0, 25)
        values = [
            hockey(geometric(x * math.exp(-ratio)), geometric(x), epsilon) for x in q
        ]
        assert (np.diff(values) >= -1e-12).all()
        mirrored = [
            hockey(geometric(x), geometric(x * math.exp(-ratio)), epsilon) for x in q
        ]
        assert (np.diff(mirrored) >= -1e-12).all()


def test_the_two_orders_are_mirror_images():
    P, Q = geometric(0.3), geometric(0.5)
    for epsilon in (-1.0, 0.0, 0.4):
        expected = 1 - math.exp(epsilon) + math.exp(epsilon) * hockey(P, Q, -epsilon)
        assert hockey(Q, P, epsilon) == pytest.approx(expected, abs=1e-12)


def test_sums_of_times_are_hardest_at_the_fastest_pair_too():
    def total(p, n=3, last=900):
        out = one = np.append(0.0, geometric(p, last - 1))
        for _ in range(n - 1):
            out = np.convolve(out, one)[:last]
        return out

    for epsilon in (0.0, 0.5, 1.5):
        values = [
            hockey(total(q * math.exp(-0.4)), total(q), epsilon)
            for q in np.linspace(0.1, 1.0, 13)
        ]
        assert (np.diff(values) >= -1e-10).all()


def test_batches_are_not_hardest_at_the_fastest_pair():
    """So the maximum over the acceptance is taken batch by batch."""
    values = []
    for q in np.linspace(0.05, 0.9, 40):
        a, b = (1 - q * math.exp(-0.5)) ** 12, (1 - q) ** 12
        values.append(hockey(geometric(1 - a), geometric(1 - b), 0.5))
    best = int(np.argmax(values))
    assert 0 < best < 39


def turning_point(m, epsilon, C):
    s = (math.exp(-epsilon) / C) ** (1 / (m - 1))
    return (1 - s) / (1 - s / C)


@pytest.mark.parametrize(
    ("m", "epsilon", "C"), [(2, 0.5, 1.5), (12, 0.1, 2.0), (40, 2, 3)]
)
def test_where_the_gain_of_a_batch_turns(m, epsilon, C):
    q = np.linspace(0.0, 1.0, 400_001)
    gain = (1 - q / C) ** m - math.exp(epsilon) * (1 - q) ** m
    assert q[gain.argmax()] == pytest.approx(turning_point(m, epsilon, C), abs=1e-5)


def psi(C, p, q, epsilon, last=4000):
    """Return the sum over k of q (1-q)^(k-1) (C rho^(k-1) - e^eps)_+, term by term."""
    k = np.arange(last)
    P, Q = (1.0 - p) ** k * q, (1.0 - q) ** k * q
    return np.maximum(C * P - math.exp(epsilon) * Q, 0.0).sum()


def joint(epsilon, p, q, Dg):
    low, high = math.exp(-Dg), math.exp(Dg)
    b = (p / q - low) / (high - low)
    return b * psi(high, p, q, epsilon) + (1 - b) * psi(low, p, q, epsilon)


def test_the_joint_bound_grows_with_the_larger_acceptance():
    for t, epsilon in itertools.product((0.7, 0.9, 1.1, 1.4), (0.1, 0.3, 0.6, 1.0)):
        larger = np.linspace(0.05, 0.95, 19)
        values = [joint(epsilon, x * min(t, 1.0), x / max(t, 1.0), 0.5) for x in larger]
        assert (np.diff(values) >= -1e-12).all()


def test_the_bound_on_an_interval_of_ratios_holds():
    """Psi at the left end, b at the right one."""
    Dg, top = 0.5, 0.6
    low, high = math.exp(-Dg), math.exp(Dg)
    for left, right in ((0.65, 0.7), (0.9, 1.0), (1.0, 1.1), (1.3, 1.4)):
        for epsilon in (0.1, 0.4, 1.0):
            p, q = top * min(left, 1.0), top / max(left, 1.0)
            b = (right - low) / (high - low)
            upper = b * psi(high, p, q, epsilon) + (1 - b) * psi(low, p, q, epsilon)
            for t in np.linspace(left, right, 7):
                value = joint(epsilon, top * min(t, 1.0), top / max(t, 1.0), Dg)
                assert value <= upper + 1e-12


def test_padding_by_generating_functions():
    z = np.linspace(0.05, 0.95, 10)

    def G(p):
        return p * z / (1 - (1 - p) * z)

    for p, p0 in ((0.4, 0.2), (0.9, 0.1), (0.3, 0.3)):
        padded = p0 / p * G(p) + (1 - p0 / p) * G(p) * G(p0)
        assert padded == pytest.approx(G(p0))


def test_the_second_term_of_the_padded_ratio_is_within_its_bound():
    """(1 - p0/ph)/(1 - p0/p) within exp(-+tau) while p0 <= min(p, ph)/2."""
    for tau in (0.01, 0.2, 1.0):
        for sign in (-1, 1):
            u = np.linspace(0.0, 0.5 * min(1.0, math.exp(-sign * tau)), 500)
            ratio = (1 - u * math.exp(sign * tau)) / (1 - u)
            assert np.max(abs(np.log(ratio))) <= tau + 1e-12


def test_the_second_term_of_the_squeezed_ratio_is_within_its_bound():
    eta = np.linspace(1e-4, 2.0, 400)
    for kappa in (0.1, 0.5):
        worst = (1 - kappa * np.exp(-2 * eta)) / (1 - kappa)
        assert (worst <= np.exp(2 * eta)).all()
    small = 1e-4
    worst = (1 - 0.51 * math.exp(-2 * small)) / (1 - 0.51)
    assert worst > math.exp(2 * small)


@pytest.mark.parametrize(
    ("m", "value"),
    [
        (1, 4.329004e-3),
        (2, 5.646527e-4),
        (3, 9.410879e-5),
        (4, 1.882176e-5),
        (6, 1.126088e-6),
    ],
)
def test_alternating_sums_are_positive(m, value):
    """Z = 1 and m + 1 bumps of mass 0.05, by the sum and by the integral."""
    n, c = m + 1, 0.05
    total = sum((-1) ** k * math.comb(n, k) / (1 + k * c) for k in range(n + 1))
    integral = quad(lambda u: math.exp(-u) * (1 - math.exp(-u * c)) ** n, 0, 60)[0]
    assert total == pytest.approx(value, rel=1e-6)
    assert integral == pytest.approx(value, rel=1e-6)


def test_linear_extrapolation_errs_as_stated():
    """A parabola of curvature M attains M t (w + t) / 2."""
    M, w = 3.0, 0.2
    g = lambda x: -0.5 * M * x**2  # noqa: E731
    for t in (0.05, 0.1, 0.2):
        chord = g(0.0) + (g(0.0) - g(-w)) / w * t
        assert chord - g(t) == pytest.approx(M * t * (w + t) / 2)
    assert M * 0.5 * w * 1.5 * w / 2 == pytest.approx(0.375 * M * w * w)


def test_the_universal_bound():
    value = 0.999 * (1 - math.exp(-1)) / (math.exp(0.01) + math.exp(-1))
    assert value == pytest.approx(0.458, abs=5e-4)
    d = np.linspace(1.0, 50.0, 1000)
    assert (np.exp(-d) / d <= math.exp(-1)).all()
