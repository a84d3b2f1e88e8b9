"""The guarantee of objective perturbation of several classes."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from skdp.accounting import (
    GaussianDP,
    Guarantee,
    PureDP,
    SoftmaxPerturbationDP,
    TiltedObjectiveDP,
    ZeroConcentratedDP,
    compose,
    concentrated_delta,
    gaussian_delta,
)
from skdp.accounting._softmax_loss import (
    addition_loss,
    jacobian,
    removal_losses,
    replacement_loss,
)
from skdp.accounting._union_loss import UnionLoss

DELTA = 1e-6
EPSILONS = np.array([-0.7, 0.0, 0.05, 0.3, 1.0, 2.5])
UNIONS = {
    "one loss": UnionLoss(((1, 0.0, 0.4),), 0.0),
    "many losses": UnionLoss(((9, 0.0, 0.4),), 0.0),
    "shifted, of two sizes": UnionLoss(((4, 0.1, 0.6), (4, 0.1, 0.3)), 0.1),
    "a high level": UnionLoss(((3, 0.0, 0.3), (6, 0.05, 0.26)), 0.6),
}


def brute_profile(union, epsilon, rho):
    """The defining expectation, by a sum over steps of the tail from the floor on."""
    t = np.linspace(union.floor, union.floor + 8.0, 40_001)
    tails = (n * norm.sf((t - s) / m - m / 2) for n, s, m in union.parts)
    chance = np.sum(list(tails), axis=0)
    assert chance[0] <= 1.0 + 1e-9
    middles = (t[1:] + t[:-1]) / 2
    above = -np.diff(chance) @ concentrated_delta(epsilon - middles, rho)
    return above + (1.0 - chance[0]) * concentrated_delta(epsilon - t[0], rho)


@pytest.mark.parametrize("rho", [0.0, 1e-4])
@pytest.mark.parametrize("name", UNIONS)
def test_a_union_has_the_profile_of_its_law(name, rho):
    union = UNIONS[name]
    expected = [brute_profile(union, e, rho) for e in EPSILONS]
    np.testing.assert_allclose(
        union.profile(EPSILONS, rho), expected, rtol=1e-5, atol=1e-8
    )


def test_the_floor_is_the_level_or_where_the_union_is_certain():
    assert UNIONS["a high level"].floor == 0.6
    union = UNIONS["many losses"]
    assert 9 * norm.sf(union.floor / 0.4 - 0.2) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_a_large_ridge_leaves_the_number_of_wrong_classes(n_classes):
    """From where the union bound is below one, it is what is said."""
    mu, others = 0.3, n_classes - 1
    g = SoftmaxPerturbationDP(mu, mu**2 / 4, n_classes)
    epsilons = addition_loss(mu, n_classes).floor + np.array([0.0, 0.4, 2.0])
    least = others * gaussian_delta(epsilons, mu)
    np.testing.assert_allclose(g.delta(epsilons), least, rtol=1e-12)
    start = replacement_loss(mu, mu**2 / 4, n_classes).floor
    epsilons = start + np.array([0.0, 0.4, 2.0])
    corners = others**2 * gaussian_delta(epsilons, 2 * mu)
    corners += 2 * others * gaussian_delta(epsilons, mu)
    np.testing.assert_allclose(g.to_replace_one().delta(epsilons), corners, rtol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_the_jacobian_costs_no_more_than_in_full(n_classes):
    mu, kappa, others = 0.25, 0.3, n_classes - 1
    c = jacobian(kappa, n_classes)
    assert c == pytest.approx(others * math.log(1 + kappa / n_classes))
    epsilons = np.linspace(c, 4.0, 23)
    g = SoftmaxPerturbationDP(mu, kappa, n_classes)
    in_full = others * gaussian_delta(epsilons - c, mu)
    assert (g.delta(epsilons) <= in_full * (1 + 1e-12)).all()
    pair = others**2 * gaussian_delta(epsilons - c, 2 * mu) + 2 * in_full
    assert (g.to_replace_one().delta(epsilons) <= pair * (1 + 1e-12)).all()


def test_two_classes_are_the_logistic_loss_of_a_longer_row():
    """Above 2 kappa - mu^2/2 nothing is charged but the Gaussian release."""
    mu, kappa = 0.25, 0.4
    g = SoftmaxPerturbationDP(mu, kappa, 2)
    start = 2 * kappa - mu**2 / 2
    for epsilon in (start, 1.0, 3.0):
        assert g.delta(epsilon) == pytest.approx(gaussian_delta(epsilon, mu), rel=1e-9)
    assert g.delta(0.8 * start) > 1.5 * gaussian_delta(0.8 * start, mu)


def test_three_classes_pay_little_where_few_compete():
    mu, kappa = 0.2, 0.12
    raised, joint = removal_losses(mu, kappa, 3)
    epsilon = np.ones(1)
    least = 2 * gaussian_delta(1.0, mu)
    assert joint.profile(epsilon, 0.0)[0] < 1.3 * least
    assert raised.profile(epsilon, 0.0)[0] > 2 * least
    both = SoftmaxPerturbationDP(mu, kappa, 3).delta(1.0)
    assert both == joint.profile(epsilon, 0.0)[0]


def test_curves_fall_with_epsilon_and_grow_with_every_number():
    epsilons = np.linspace(-1.0, 4.0, 41)
    row = {"mu": 0.3, "curvature": 0.2, "n_classes": 4, "smoothing_rho": 1e-5}
    larger = {"mu": 0.33, "curvature": 0.25, "n_classes": 5, "smoothing_rho": 2e-5}
    for adjacency in ("add-remove", "replace-one"):
        low = SoftmaxPerturbationDP(**row, adjacency=adjacency).delta(epsilons)
        assert (np.diff(low) <= 1e-9).all()
        for name, value in larger.items():
            g = SoftmaxPerturbationDP(**(row | {name: value}), adjacency=adjacency)
            assert (g.delta(epsilons) >= low * (1 - 1e-6) - 1e-9).all(), name


def test_directions_are_those_of_their_losses_and_of_each_other():
    g = SoftmaxPerturbationDP(0.3, 0.5, 4)
    remove, add = g._delta_directed(EPSILONS)
    assert (remove <= g.delta(EPSILONS)).all()
    assert (add <= remove + 1e-12)[EPSILONS >= 0].all()
    np.testing.assert_allclose(
        add[-2:], addition_loss(0.3, 4).profile(EPSILONS, 0)[-2:]
    )
    back = -np.expm1(-0.7) + math.exp(-0.7) * g._delta_directed(np.array([0.7]))[1]
    assert remove[0] <= back[0] + 1e-12


def test_a_replacement_reads_the_same_both_ways():
    g = SoftmaxPerturbationDP(0.3, 0.1, 3, adjacency="replace-one")
    e = np.array([0.2, 1.0])
    np.testing.assert_allclose(
        g.delta(-e), -np.expm1(-e) + np.exp(-e) * g.delta(e), rtol=1e-12
    )
    assert g.delta(0.0) == replacement_loss(0.3, 0.1, 3).profile(np.zeros(1), 0.0)[0]


def test_a_composition_of_large_ridges_is_hardly_more_than_its_gaussian_parts():
    """Twice two wrong classes: between the Gaussian and four times its delta."""
    one = SoftmaxPerturbationDP(0.2, 0.01, 3, 1e-8)
    total = compose(one, one)
    mu = 0.2 * math.sqrt(2)
    low, high = (GaussianDP(mu).epsilon(d) for d in (DELTA, DELTA / 4))
    assert low < total.epsilon(DELTA) < 1.001 * high
    assert total.epsilon(DELTA) < 0.8 * 2 * one.epsilon(DELTA / 2)


def test_two_classes_compose_as_the_loss_of_one_margin_does():
    """With the Jacobian free both are one Gaussian release in either direction."""
    softmax = SoftmaxPerturbationDP(0.2, 0.005, 2, 1e-8)
    tilted = TiltedObjectiveDP(0.2, 0.0, 0.005, 0.0, 0.0, 1e-8)
    ours, theirs = (
        compose(g, GaussianDP(0.3), PureDP(0.1)).epsilon(DELTA)
        for g in (softmax, tilted)
    )
    assert ours == pytest.approx(theirs, rel=1e-4)


def test_lattice_steps_join_the_one_release_they_follow():
    g = SoftmaxPerturbationDP(0.3, 0.1, 3, 1e-5)
    total = compose(g, ZeroConcentratedDP(2e-5))
    expected = SoftmaxPerturbationDP(0.3, 0.1, 3, 3e-5)
    assert total.delta(1.0) == pytest.approx(expected.delta(1.0), rel=1e-9)


def test_every_number_survives_json():
    g = SoftmaxPerturbationDP(
        0.1 + 0.2, 1 / 3, 7, 1e-7, assumptions=("rows are short",), source="a note"
    )
    found = Guarantee.from_json(g.to_json())
    assert found == g
    assert type(found.n_classes) is int


@pytest.mark.parametrize(
    ("numbers", "error", "what"),
    [
        ((0.0, 0.1, 3), ValueError, "mu"),
        ((0.1, -1.0, 3), ValueError, "curvature"),
        ((0.1, 0.1, 1), ValueError, "n_classes"),
        ((0.1, 0.1, 10_001), ValueError, "n_classes"),
        ((0.1, 0.1, 3.0), TypeError, "n_classes"),
        ((0.1, 0.1, 3, -1.0), ValueError, "smoothing_rho"),
    ],
)
def test_numbers_out_of_range_are_refused(numbers, error, what):
    with pytest.raises(error, match=what):
        SoftmaxPerturbationDP(*numbers)


@pytest.mark.parametrize("mu", [1e-9, 1e-3, 30.0, 1e60])
@pytest.mark.parametrize("n_classes", [2, 10_000])
def test_extreme_numbers_give_probabilities(mu, n_classes):
    for adjacency in ("add-remove", "replace-one"):
        for rho in (0.0, 1e-6):
            g = SoftmaxPerturbationDP(mu, 0.3, n_classes, rho, adjacency=adjacency)
            found = g.delta([-1e9, -1.0, 0.0, 1e-3, 1.0, 1e9])
            assert ((found >= 0.0) & (found <= 1.0)).all()
            assert (np.diff(found) <= 1e-9).all()
