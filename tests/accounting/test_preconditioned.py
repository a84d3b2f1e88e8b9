"""Gaussian releases and objective perturbations accounted in one composition."""

import math

import numpy as np
import pytest

from skdp.accounting import (
    ApproximateDP,
    GaussianDP,
    Guarantee,
    PreconditionedPerturbationDP,
    PureDP,
    ZeroConcentratedDP,
    compose,
    concentrated_delta,
    gaussian_delta,
    gaussian_mu,
)
from skdp.accounting._loss_law import loss_law
from skdp.accounting._phase_loss import phase_addition, phase_removal
from skdp.accounting._preconditioned import smoothing_mu
from skdp.accounting._smoothing import NormalLoss, gaussian_loss

CURVATURE = {"logistic": lambda p: p * (1 - p), "log-cosh": lambda p: 1 - p * p}
#: A discrete law costs up to this much of delta.
DISCRETE = 5e-4


def brute_losses(loss, mu, kappa, w):
    """Largest losses of removing and of adding a row, over grids of both shares."""
    h = CURVATURE[loss]
    removal = np.full(w.shape, -np.inf)
    for p in np.linspace(0.0, 1.0, 1001):
        jacobian = math.log1p(kappa * h(p))
        for share in (0.0, 1.0):
            s = p * share
            np.maximum(removal, jacobian + s * mu * (s * mu / 2 + w), out=removal)
    reach = np.abs(w) if loss == "log-cosh" else w
    return removal, np.maximum(0.0, mu * mu / 2 + mu * reach)


def grid(n):
    w = np.linspace(-9.0, 11.0, n)
    return w, np.exp(-w * w / 2) / math.sqrt(2 * math.pi) * (w[1] - w[0])


CASES = [
    ("logistic", 1.0, 0.08, 0.22, 0.9),
    ("logistic", 0.1, 0.01, 0.028, 0.3),
    ("logistic", -0.3, 0.1, 0.4, 2.0),
    ("logistic", 3.0, 0.2, 0.6, 8.0),
    ("log-cosh", 1.0, 0.08, 0.22, 0.4),
    ("log-cosh", 0.5, 0.3, 0.5, 1.5),
    ("log-cosh", 0.0, 0.2, 0.3, 0.2),
]


@pytest.mark.parametrize(("loss", "epsilon", "gauss", "mu", "kappa"), CASES)
def test_one_phase_is_the_defining_expectation(loss, epsilon, gauss, mu, kappa):
    g = PreconditionedPerturbationDP(gauss, (mu,), kappa, loss)
    w, mass = grid(10_001)
    found = g._delta_directed(np.array([epsilon]))
    for value, losses in zip(found, brute_losses(loss, mu, kappa, w), strict=True):
        truth = float(mass @ gaussian_delta(epsilon - losses, gauss))
        assert truth * (1 - 1e-5) <= value[0] <= truth * (1 + DISCRETE)
    assert g.delta(epsilon) == max(found)[0]


@pytest.mark.parametrize("loss", CURVATURE)
def test_two_phases_are_the_defining_double_expectation(loss):
    epsilon, gauss, mus, kappa = 2.0, 0.2, (0.3, 0.45), 1.1
    g = PreconditionedPerturbationDP(gauss, mus, kappa, loss)
    found = g._delta_directed(np.array([epsilon]))
    w, mass = grid(401)
    first, second = (brute_losses(loss, mu, kappa, w) for mu in mus)
    for value, one, two in zip(found, first, second, strict=True):
        total = np.add.outer(one, two)
        truth = float(mass @ gaussian_delta(epsilon - total, gauss) @ mass)
        assert truth * (1 - 1e-3) <= value[0] <= truth * (1 + 2e-3)


@pytest.mark.parametrize("loss", CURVATURE)
@pytest.mark.parametrize("mu", [0.01, 0.24, 1.0, 5.0])
@pytest.mark.parametrize("kappa", [0.0, 0.03, 0.9, 3.0, 50.0])
def test_the_removal_loss_is_above_every_slope_and_close(loss, mu, kappa):
    w = np.linspace(-12.0, 25.0, 700)
    truth, _ = brute_losses(loss, mu, kappa, w)
    found = phase_removal(loss, mu, kappa).at(w)
    assert (found >= truth - 1e-12).all()
    spacing = (2 * kappa + 4 * kappa**2 + mu**2) / 1000**2 / 8
    # tangents 1/2048 apart, and a chord where the floor is left
    assert (found <= truth + spacing + 1e-3 * kappa + 1e-9).all()


def test_the_removal_loss_is_gaussian_where_the_largest_slope_is_worst():
    mu, kappa = 0.5, 0.7
    loss = phase_removal("log-cosh", mu, kappa)
    w = np.linspace((2 * kappa - mu**2) / mu + 1e-3, 9.0, 50)
    np.testing.assert_allclose(loss.at(w), mu**2 / 2 + mu * w, rtol=1e-12)
    below = np.array([w[0] - 0.1])
    assert loss.at(below)[0] > mu**2 / 2 + mu * below[0] + 1e-4


@pytest.mark.parametrize("loss", ["logistic", "log-cosh"])
def test_without_curvature_only_the_folded_tail_is_paid(loss):
    """Add direction: the Gaussian profile, twice for a slope of two signs."""
    gauss, mu, epsilon = 0.15, 0.2, 1.0
    g = PreconditionedPerturbationDP(gauss, (mu,), 0.0, loss)
    remove, add = (v[0] for v in g._delta_directed(np.array([epsilon])))
    one = gaussian_delta(epsilon, math.hypot(gauss, mu))
    sides = 2 if loss == "log-cosh" else 1
    # the clipped half of the loss carries a little of the total at this epsilon
    assert remove == pytest.approx(one, rel=5e-3)
    assert add == pytest.approx(sides * one, rel=5e-3)
    assert remove >= one
    assert add >= sides * one * (1 - 1e-3)


def test_reference_cost_of_the_composition():
    """Against an ideal Gaussian split: .998 of mu in one logistic phase, or better."""
    for epsilon in (0.1, 1.0):
        mu = gaussian_mu(epsilon, 1e-6)
        gauss, phase = mu * math.sqrt(0.1201), mu * math.sqrt(1 - 0.1201)
        exact = PreconditionedPerturbationDP(gauss, (phase,), 0.9 * epsilon)
        assert exact.delta(epsilon) > 1e-6
        less = PreconditionedPerturbationDP(gauss, (0.998 * phase,), 0.9 * epsilon)
        assert less.delta(epsilon) < 1e-6


@pytest.mark.parametrize("rho", [1e-12, 1e-8, 1e-5, 1e-3, 1 / 128])
def test_a_small_concentrated_step_is_dominated_by_a_gaussian_pair(rho):
    s = math.sqrt(2 * rho)
    epsilon = s * np.concatenate([np.linspace(-30.0, 30.0, 6001), [0.999, 1.0, 1.25]])
    assert (
        concentrated_delta(epsilon, rho) <= gaussian_delta(epsilon, smoothing_mu(rho))
    ).all()


def test_smoothing_costs_what_four_gaussian_steps_of_its_size_do():
    rho = 0.001**2 / 2
    g = PreconditionedPerturbationDP(0.08, (0.22,), 0.9, smoothing_rho=rho)
    same = PreconditionedPerturbationDP(math.hypot(0.08, 0.002), (0.22,), 0.9)
    assert g.delta(1.0) == same.delta(1.0)


@pytest.mark.parametrize("folded", [False, True])
def test_a_law_keeps_the_mass_and_the_mean_of_the_chords(folded):
    knots, values = np.array([-1.0, 0.0, 1.0]), np.array([0.3, 0.4, 1.0])
    loss = NormalLoss(knots, values, 0.8, gaussian=False)
    law = loss_law(loss, 0.01, folded=folded)
    w, mass = grid(200_001)
    x = loss.at(np.abs(w) if folded else w)
    assert law.masses.min() >= 0.0
    assert law.masses.sum() == pytest.approx(1.0, abs=1e-12)
    l = law.floor + law.step * np.arange(law.masses.size)
    # chords and the spread to cell ends cost little, on the dear side
    mean = float(mass @ np.exp(-x))
    assert mean - 1e-5 <= law.masses @ np.exp(-l) <= mean + 1e-9
    for e in (-1.0, 0.35, 0.9, 2.5):
        truth = float(mass @ np.maximum(-np.expm1(e - x), 0.0))
        found = float(law.masses @ np.maximum(-np.expm1(e - l), 0.0))
        assert truth - 1e-9 <= found <= truth + 3e-5


def test_profiles_read_off_a_grid_are_above_those_read_one_by_one():
    g = PreconditionedPerturbationDP(0.1, (0.3,), 1.0)
    epsilon = np.linspace(-2.0, 4.0, 1000)
    many = g.delta(epsilon)
    single = g.delta(epsilon[::60])
    ratio = many[::60] / single
    assert (ratio >= 1 - 1e-9).all()
    assert (ratio <= 1.003).all()
    assert (np.diff(many) <= 0.0).all()
    # a range too wide for a grid
    wide = g.delta(np.linspace(-1e9, 1e9, 1000))
    assert wide[0] == 1.0
    assert wide[-1] == 0.0


def test_tails_are_exact_far_below_double_rounding():
    law = loss_law(gaussian_loss(0.2), 0.2 / 200)
    epsilon = 0.2 * 0.1 + 0.2 * np.array([5.0, 15.0, 30.0])
    found = law.profile(epsilon, 0.1)
    truth = gaussian_delta(epsilon, math.hypot(0.2, 0.1))
    assert (found >= truth).all()
    np.testing.assert_allclose(found, truth, rtol=5e-3)
    assert 0.0 < truth[-1] < 1e-140


def test_gaussian_and_lattice_steps_are_absorbed_and_fits_convolve():
    g = PreconditionedPerturbationDP(0.1, (0.3,), 0.8, "log-cosh", 1e-9)
    more = compose(g, GaussianDP(0.2), ZeroConcentratedDP(1e-8))
    merged = PreconditionedPerturbationDP(
        math.hypot(0.1, 0.2), (0.3,), 0.8, "log-cosh", 1.1e-8
    )
    epsilon = np.array([0.5, 1.0, 2.0])
    np.testing.assert_allclose(more.delta(epsilon), merged.delta(epsilon), rtol=1e-9)
    twice = compose(g, g)
    two_phases = PreconditionedPerturbationDP(
        0.1 * math.sqrt(2), (0.3, 0.3), 0.8, "log-cosh", 2e-9
    )
    for mine, exact in zip(
        twice._delta_directed(epsilon), two_phases._delta_directed(epsilon), strict=True
    ):
        np.testing.assert_allclose(mine, exact, rtol=5e-3)
    mixed = compose(g, PureDP(0.1), ApproximateDP(0.1, 1e-9))
    assert g.delta(1.0) < mixed.delta(1.0) < g.delta(0.8) + 1e-9


def test_it_survives_json_and_is_never_called_gaussian():
    g = PreconditionedPerturbationDP(0.1, (0.3, 0.4), 0.8, "log-cosh", 1e-9)
    assert Guarantee.from_json(g.to_json()) == g
    assert not g.implies(GaussianDP(math.hypot(0.1, 0.3, 0.4)))
    assert g.implies(ApproximateDP(3.0, g.delta(3.0)))
    with pytest.raises(TypeError, match="no group rule"):
        g.group(2)


def test_a_replacement_is_one_row_less_and_one_more():
    g = PreconditionedPerturbationDP(0.1, (0.3,), 0.8, "log-cosh", 1e-9)
    pair = g.to_replace_one()
    for epsilon in (0.0, 1.0, 3.0):
        two = g.delta(epsilon / 2) * (1 + math.exp(epsilon / 2))
        assert pair.delta(epsilon) == pytest.approx(min(1.0, two), rel=1e-12)
    # what replacing a row costs elsewhere says nothing about one row more
    total = compose(pair, GaussianDP(0.2, adjacency="replace-one"))
    assert total.delta(3.0) > pair.delta(3.0)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ((-0.1, (0.3,), 0.8), "gaussian_mu"),
        ((0.1, (), 0.8), "phases is empty"),
        ((0.1, (0.0,), 0.8), "phases is out of range"),
        ((0.1, (0.3,), -1.0), "curvature"),
        ((0.1, (0.3,), 0.8, "huber"), "loss has no proof"),
        ((0.1, (0.3,), 0.8, "logistic", 0.01), "smoothing_rho"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_numbers_out_of_range_are_refused(arguments, match):
    with pytest.raises(ValueError, match=match):
        PreconditionedPerturbationDP(*arguments)
    with pytest.raises(TypeError, match="phases"):
        PreconditionedPerturbationDP(0.1, 0.3, 0.8)


def test_the_add_loss_is_the_clipped_gaussian_one():
    w = np.array([-3.0, -0.1, 0.0, 2.0])
    expected = np.maximum(0.0, 0.02 + 0.2 * w)
    np.testing.assert_allclose(phase_addition(0.2).at(w), expected, atol=1e-16)
