"""The guarantee of objective perturbation with a reported Hessian and gradient."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import log_ndtr

from skdp.accounting import (
    GaussianDP,
    Guarantee,
    ObjectivePerturbationDP,
    PureDP,
    ReportedPerturbationDP,
    ZeroConcentratedDP,
    compose,
    concentrated_delta,
)
from skdp.accounting._reported_perturbation import joint_loss


def psi(w, w3, joint_mu, kappa, m3, size=251):
    """The supremum over slopes, by a grid that contains 0 and 1: never above it."""
    p = (1 - np.cos(np.pi * np.linspace(0, 1, size))) / 2
    q = p * (1 - p)
    fixed = np.log1p(kappa * q) + (p * joint_mu) ** 2 / 2 + (q * m3) ** 2 / 2
    out = np.full((w3.size, w.size), -np.inf)
    for a, b, c in zip(fixed, p * joint_mu, q * m3, strict=True):
        np.maximum(out, a + b * w + c * w3[:, None], out=out)
    return out


def brute_profile(epsilon, g, *, remove=True):
    """The defining expectation by sums over fine grids."""
    w, w3 = np.linspace(-9, 11, 1001), np.linspace(-7, 8, 91)
    joint_mu = math.hypot(g.mu, g.gradient_mu)
    kappa = g.curvature if remove else 0.0
    loss = psi(w, w3, joint_mu, kappa, 4 * g.hessian_mu)
    values = concentrated_delta(epsilon - loss, g.smoothing_rho)
    total = np.exp(-(w3**2) / 2) @ values @ np.exp(-(w**2) / 2)
    return total / (2 * math.pi) * (w[1] - w[0]) * (w3[1] - w3[0])


#: As calibrated for epsilon = 0.1, 1 and 8, and how far above the truth it may be.
USUAL = {
    0.1: ReportedPerturbationDP(0.0268, 0.0952, 0.0062, 0.0062, 4e-8),
    1.0: ReportedPerturbationDP(0.2246, 0.9524, 0.0529, 0.0529, 2.8e-6),
    8.0: ReportedPerturbationDP(1.45, 7.6, 0.343, 0.343, 1e-4),
}
#: With a Hessian of little noise beside the coefficients.
LOUD = [
    ReportedPerturbationDP(0.5, 1.0, 0.5, 0.5),
    ReportedPerturbationDP(0.3, 0.9, 0.6, 0.0, 1e-5),
    ReportedPerturbationDP(0.8, 3.0, 1.0, 0.3),
]


@pytest.mark.parametrize("epsilon", USUAL)
def test_calibrated_profiles_are_just_above_the_defining_expectation(epsilon):
    g = USUAL[epsilon]
    remove, add = g._delta_directed(np.array([epsilon]))
    for found, is_removal in ((remove, True), (add, False)):
        truth = brute_profile(epsilon, g, remove=is_removal)
        assert truth * (1 - 5e-4) <= found[0] <= truth * 1.01
    assert g.delta(epsilon) == remove[0] >= add[0]


@pytest.mark.parametrize("g", LOUD, ids=str)
@pytest.mark.parametrize("epsilon", [-0.5, 0.0, 0.4, 1.0])
def test_profiles_of_loud_reports_are_above_the_defining_expectation(g, epsilon):
    remove, add = g._delta_directed(np.array([epsilon]))
    for found, is_removal in ((remove, True), (add, False)):
        truth = brute_profile(epsilon, g, remove=is_removal)
        assert truth * (1 - 1e-3) <= found[0] <= truth * 1.04


@pytest.mark.parametrize("kappa", [0.0, 0.1, 1.0, 20.0])
@pytest.mark.parametrize(("joint_mu", "m3"), [(0.03, 0.02), (0.25, 3.0), (2.0, 1.0)])
def test_the_loss_bound_is_above_every_slope(joint_mu, m3, kappa):
    w, w3 = np.linspace(-12, 12, 61), np.linspace(-12, 12, 25)
    truth = psi(w, w3, joint_mu, kappa, m3)
    bound = joint_loss(w, w3, joint_mu, kappa, m3)
    assert (bound >= truth - 1e-12).all()
    # a tangent and a chord: tight at both ends of the slopes
    assert (bound >= np.maximum(0.0, joint_mu**2 / 2 + joint_mu * w)).all()
    worst = np.log1p(kappa / 4) + m3 * m3 / 32
    assert (bound <= truth + worst).all()


def exact_delta(epsilon, rows, extra, g, *, remove):
    """Exact divergence in one dimension: given theta the rest is Gaussian."""
    alpha = 1 / g.curvature

    def derivatives(theta, table):
        slope, curve = alpha * theta, np.full_like(theta, alpha)
        for x, y in table:
            p = 1 / (1 + np.exp(np.clip(y * x * theta, -500, 500)))
            slope, curve = slope - y * x * p, curve + x * x * p * (1 - p)
        return slope, curve

    coarse = np.sinh(np.linspace(-12, 12, 4001))
    noise = np.linspace(-9, 9, 4001) / g.mu
    theta = np.interp(noise, derivatives(coarse, [*rows, extra])[0], coarse)
    less, more = derivatives(theta, rows), derivatives(theta, [*rows, extra])
    p, q = (np.log(c) - (g.mu * s) ** 2 / 2 for s, c in (more, less))
    p, q = (p, q) if remove else (q, p)
    size = np.hypot(
        g.gradient_mu * (more[0] - less[0]), 4 * g.hessian_mu * (more[1] - less[1])
    )
    levels = epsilon - (p - q)
    size = np.maximum(size, 1e-12)
    top = log_ndtr(size / 2 - levels / size)
    bottom = levels + log_ndtr(-size / 2 - levels / size)
    inner = np.exp(top) * -np.expm1(np.minimum(bottom - top, 0.0))
    density = np.exp(p) * g.mu / math.sqrt(2 * math.pi)
    return float(np.sum(np.gradient(theta) * density * inner))


@pytest.mark.parametrize("g", [*USUAL.values(), *LOUD], ids=str)
def test_exact_joint_laws_of_one_dimension_never_exceed_the_profile(g):
    tables = [[], [(1.0, 1)] * 5, [(1.0, -1)] * 40, [(1.0, 1), (1.0, -1)] * 20]
    for rows, remove in itertools.product(tables, (True, False)):
        for epsilon in (g.epsilon(1e-6), g.epsilon(1e-2)):
            for extra in ((1.0, 1), (0.7, 1)):
                found = exact_delta(epsilon, rows, extra, g, remove=remove)
                assert found <= g.delta(epsilon) * (1 + 1e-6)


@pytest.mark.parametrize("epsilon", USUAL)
def test_the_bound_is_attained_to_six_per_cent_by_data_against_the_row(epsilon):
    g = USUAL[epsilon]
    ideal = ReportedPerturbationDP(g.mu, g.curvature, g.hessian_mu, g.gradient_mu)
    found = exact_delta(epsilon, [(1.0, -1)] * 40, (1.0, 1), ideal, remove=False)
    assert 0.94 * ideal.delta(epsilon) <= found <= ideal.delta(epsilon)


def test_without_a_hessian_the_gradient_is_more_noise_in_the_objective():
    g = ReportedPerturbationDP(0.3, 0.9, 0.0, 0.4, 1e-6)
    alone = ObjectivePerturbationDP(0.5, 0.9, 1e-6)
    epsilon = np.linspace(-2, 6, 33)
    np.testing.assert_allclose(g.delta(epsilon), alone.delta(epsilon), rtol=1e-14)
    for found, expected in zip(
        g._delta_directed(epsilon), alone._delta_directed(epsilon), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_a_hessian_of_next_to_no_size_costs_nothing():
    alone = ObjectivePerturbationDP(0.24, 0.95, 1e-6)
    reported = ReportedPerturbationDP(0.24, 0.95, 1e-9, 0.0, 1e-6)
    for delta in (0.1, 1e-3, 1e-6, 1e-10, 1e-14, 1e-60):
        epsilon = alone.epsilon(delta)
        assert epsilon * (1 - 1e-6) <= reported.epsilon(delta) <= 1.005 * epsilon


def test_every_number_makes_it_worse():
    base = (0.3, 0.9, 0.3, 0.2, 1e-4)
    epsilon = np.linspace(-1.0, 3.0, 21)
    worst = ReportedPerturbationDP(*base)
    for i in range(5):
        less = list(base)
        less[i] *= 0.7
        better = ReportedPerturbationDP(*less)
        assert (better.delta(epsilon) <= worst.delta(epsilon) * (1 + 1e-9)).all()
        assert better.implies(worst)
        assert not worst.implies(better)


def test_it_survives_json_and_composes():
    g = ReportedPerturbationDP(
        0.2, 0.9, 0.05, 0.1, 1e-6, assumptions=("a",), source="b"
    )
    assert Guarantee.from_json(g.to_json()) == g
    assert ReportedPerturbationDP.from_json(g.to_json()) == g
    pure = compose(g, PureDP(0.1))
    assert pure.epsilon(1e-6) <= g.epsilon(1e-6) + 0.1
    assert pure.assumptions == ("a",)
    assert Guarantee.from_json(pure.to_json()) == pure


def test_unlike_parts_are_convolved():
    g = ReportedPerturbationDP(0.2, 0.2, 0.05, 0.1, 1e-6)
    both = compose(g, GaussianDP(0.3))
    floor = GaussianDP(math.hypot(0.2, 0.1, 0.3))
    assert floor.epsilon(1e-6) <= both.epsilon(1e-6) <= 1.1 * floor.epsilon(1e-6)
    parts = g._components()
    assert ZeroConcentratedDP(1e-6) in parts
    assert len(parts) == 2


@pytest.mark.parametrize("number", [-1.0, math.nan, math.inf])
@pytest.mark.parametrize("i", range(5))
def test_numbers_out_of_range_are_refused(i, number):
    numbers = [0.2, 0.9, 0.05, 0.1, 1e-6]
    numbers[i] = number
    with pytest.raises(ValueError, match="Allowed"):
        ReportedPerturbationDP(*numbers)


def test_zero_mu_and_groups_are_refused():
    with pytest.raises(ValueError, match="mu is out of range"):
        ReportedPerturbationDP(0.0, 1.0)
    with pytest.raises(TypeError, match="no group rule"):
        ReportedPerturbationDP(0.2, 1.0, 0.1).group(2)


def test_replacing_costs_no_less_than_the_gaussian_parts_and_no_more_than_twice():
    g = USUAL[1.0]
    pair = g.to_replace_one()
    assert pair == ReportedPerturbationDP(
        *(getattr(g, name) for name in g._own_fields()), adjacency="replace-one"
    )
    joint = GaussianDP(2 * math.hypot(g.mu, g.gradient_mu))
    for delta in (1e-3, 1e-6, 1e-12):
        assert joint.epsilon(delta) <= pair.epsilon(delta) <= 2.4 * g.epsilon(delta)
    values = pair.delta(np.array([-2.0, 0.0, 5.0, 999.0, 1e4, 1e8]))
    # e^(epsilon / 2) times the least normal float is what tails may add
    assert (np.diff(values) <= 1e-80).all()
    assert values[-1] < 1e-80


def test_exact_replacements_in_one_dimension_never_exceed_the_profile():
    """Rows of opposite labels: the sums of both derivatives move by a difference."""
    g = ReportedPerturbationDP(0.4, 0.9, 0.4, 0.3, adjacency="replace-one")
    alpha, theta = 1 / g.curvature, np.linspace(-30, 30, 20_001)
    for n, x in ((0, 1.0), (6, 1.0), (6, 0.4)):
        sides = []
        for row, label in ((1.0, 1), (x, -1)):
            slope, curve = alpha * theta, np.full_like(theta, alpha)
            for times, at, sign in ((n, 1.0, -1), (1, row, label)):
                p = 1 / (1 + np.exp(sign * at * theta))
                slope = slope - times * sign * at * p
                curve = curve + times * at * at * p * (1 - p)
            sides.append((slope, curve, np.log(curve) - (g.mu * slope) ** 2 / 2))
        (s, c, p), (t, k, q) = sides
        size = np.hypot(g.gradient_mu * (s - t), 4 * g.hessian_mu * (c - k)) + 1e-9
        for mine, other in ((p, q), (q, p)):
            for epsilon in (0.0, 0.5, 2.0):
                level = epsilon - (mine - other)
                top = log_ndtr(size / 2 - level / size)
                bottom = level + log_ndtr(-size / 2 - level / size)
                inner = np.exp(top) * -np.expm1(np.minimum(bottom - top, 0.0))
                found = np.exp(mine) @ inner * g.mu / math.sqrt(2 * math.pi)
                assert found * (theta[1] - theta[0]) <= g.delta(epsilon)


@pytest.mark.parametrize("numbers", [(1e-8, 1e-8, 0.1), (60.0, 1e6, 20.0)], ids=str)
@pytest.mark.parametrize("rho", [0.0, 1e-12, 10.0])
def test_extreme_numbers_give_finite_monotone_profiles(numbers, rho):
    mu, kappa, other = numbers
    g = ReportedPerturbationDP(mu, kappa, other, other, rho)
    values = g.delta(np.concatenate([np.linspace(-5.0, 40.0, 46), [700.0, 1e4, 1e7]]))
    assert np.isfinite(values).all()
    assert (np.diff(values) <= 1e-15).all()
