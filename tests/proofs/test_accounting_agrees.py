"""The accounting floor computes the curves that docs/proofs states.

The reference is a brute-force integral of the statement itself.
"""

import numpy as np
import pytest

from skdp.accounting import ObjectivePerturbationDP, SmoothedGaussianDP


def concentrated_profile(gap, rho):
    """Return D2 for an array of gaps, by a minimum over a grid of orders."""
    u = np.exp(np.linspace(-14, 16, 1201))[:, None]
    size = np.abs(gap)
    fixed = u * (1 + u) * rho - (1 + u) * np.log1p(1 / u) - np.log(u)
    tail = np.exp(np.min(fixed - u * size, axis=0))
    return np.where(gap >= 0, tail, -np.expm1(-size) + np.exp(-size) * tail)


def integral(epsilon, loss_of_w, rho, mu):
    """Integrate D2(epsilon - loss(w)) against the normal density."""
    # nodes crowd where the loss crosses epsilon, which is where D2 bends
    crossing = (epsilon - mu**2 / 2) / mu
    near = crossing + np.linspace(-1, 1, 8001) * 12 * np.sqrt(2 * rho) / mu
    w = np.unique(np.concatenate([np.linspace(-10, 12, 4001), near]))
    density = np.exp(-(w**2) / 2) / np.sqrt(2 * np.pi)
    values = [
        concentrated_profile(epsilon - part, rho) for part in _split(loss_of_w(w))
    ]
    return np.trapezoid(density * np.concatenate(values), w)


def _split(values):
    return np.array_split(values, 24)


def joint_bound(w, mu, kappa):
    """Return psi(w) on a grid of slopes."""
    q = (1 - np.cos(np.pi * np.linspace(0, 1, 201))) / 2
    fixed = np.log1p(kappa * q * (1 - q)) + q**2 * mu**2 / 2
    return np.max(fixed + mu * np.multiply.outer(w, q), axis=-1)


@pytest.mark.parametrize("kappa", [0.3, 0.9, 2.0])
@pytest.mark.parametrize("mu_out", [0.002, 0.1])
def test_objective_perturbation_curve_is_the_smoothed_joint_bound(kappa, mu_out):
    """Never below the integral of the statement, and within 0.1 % of it."""
    mu, rho = 0.25, mu_out**2 / 2
    guarantee = ObjectivePerturbationDP(mu, kappa, rho)
    for epsilon in (0.2, 1.0):
        exact = integral(epsilon, lambda w: joint_bound(w, mu, kappa), rho, mu)
        computed = float(guarantee.delta(epsilon))
        assert computed >= exact * (1 - 1e-4)
        assert computed == pytest.approx(exact, rel=1e-3)


@pytest.mark.parametrize("mu_out", [0.002, 0.1])
def test_smoothed_gaussian_curve_is_the_integral(mu_out):
    """The Gaussian mechanism on a lattice, at several epsilons."""
    mu, rho = 0.25, mu_out**2 / 2
    guarantee = SmoothedGaussianDP(mu, rho)
    for epsilon in (0.0, 0.5, 1.0):
        exact = integral(epsilon, lambda w: mu**2 / 2 + mu * w, rho, mu)
        assert float(guarantee.delta(epsilon)) == pytest.approx(exact, rel=1e-3)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_ridge_rule_makes_the_jacobian_free(epsilon):
    """With kappa <= epsilon - eta both mechanisms have one profile, up to 2e-18."""
    mu = 0.25 * epsilon
    mu_out = min(mu / 100, epsilon / 200, 1 / 8)
    rho = mu_out**2 / 2
    kappa = epsilon - rho - 8.5 * mu_out
    with_ridge = float(ObjectivePerturbationDP(mu, kappa, rho).delta(epsilon))
    gaussian = float(SmoothedGaussianDP(mu, rho).delta(epsilon))
    assert with_ridge == pytest.approx(gaussian, rel=1e-8, abs=2e-18)


@pytest.mark.parametrize("kappa", [0.0, 0.1, 0.5, 1.0, 2.0, 30.0])
def test_computed_loss_lies_between_the_joint_bound_and_its_closed_form(kappa):
    """The hockey stick without smoothing, against brute force from below."""
    mu = 0.4
    w = np.linspace(-9, 12, 6001)
    density = np.exp(-(w**2) / 2) / np.sqrt(2 * np.pi)
    psi = joint_bound(w, mu, kappa)
    guarantee = ObjectivePerturbationDP(mu, kappa)
    for epsilon in (-1.0, 0.0, 0.2, 0.9, 3.0):
        stick = -np.expm1(np.minimum(epsilon - psi, 0.0))
        exact = np.trapezoid(density * stick, w)
        computed = float(guarantee.delta(epsilon))
        assert computed >= exact * (1 - 2e-5) - 1e-12
        assert computed <= exact * (1 + 2e-3) + 1e-9
