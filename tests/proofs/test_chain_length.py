"""Numeric checks of docs/proofs/chain_length.md, independent of skdp.

One dimension: the chain on a fine grid, its spectrum and its laws by linear algebra.
"""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

S2 = 0.52
N = 801


def potential(kind, kappa):
    """J on a grid of the line with 1 <= J'' <= kappa; the mode at 0."""
    x = np.linspace(-7, 7, N)
    if kind == "quadratic":
        return x, kappa * x**2 / 2
    if kind == "soft":
        # curvature kappa within 1 / sqrt(kappa), 1 beyond
        a, r = kappa**-0.5, np.abs(x)
        inner, outer = np.minimum(r, a), np.maximum(r - a, 0)
        return x, kappa * inner**2 / 2 + kappa * a * outer + outer**2 / 2
    # flat near the mode, steep outside on one side
    outer = np.maximum(x - 0.5, 0)
    return x, x**2 / 2 + (kappa - 1) * outer**2 / 2


def chain(x, J, L):
    """Metropolis with normal proposals of variance s^2 / L, on the grid."""
    h = x[1] - x[0]
    s = np.sqrt(S2 / L)
    z = (x[:, None] - x[None, :]) / s
    q = np.exp(-(z**2) / 2) * h / s / np.sqrt(2 * np.pi)
    P = q * np.exp(np.minimum(0, J[:, None] - J[None, :]))
    accepted = P.sum(axis=1)
    # the diagonal of P is a move to where one is
    P[np.diag_indices(N)] += 1 - accepted
    return P, accepted


def bounds(kappa):
    """alpha0 and the gap of the theorem at d = 1."""
    alpha0 = 0.5 / np.sqrt(1 + S2)
    t = 2 * np.sqrt(S2 / kappa) * ndtri(0.5 + alpha0 / 4)
    border = min(1, 2 * (ndtr(ndtri(0.25) + t) - 0.25), 2 * (ndtr(t) - 0.5))
    return alpha0, t, (alpha0 / 8 * border) ** 2 / 2


CASES = [
    (kind, kappa)
    for kind in ("quadratic", "soft", "lopsided")
    for kappa in (1.0, 5.0, 30.0)
]


@pytest.mark.parametrize(("kind", "kappa"), CASES)
def test_acceptance_is_at_least_alpha0_everywhere(kind, kappa):
    x, J = potential(kind, kappa)
    _, accepted = chain(x, J, kappa)
    # far from the ends of the grid, whose proposals are lost
    inner = np.abs(x) < 7 - 6 * np.sqrt(S2 / kappa)
    assert accepted[inner].min() >= bounds(kappa)[0] - 1e-9


@pytest.mark.parametrize(("kind", "kappa"), CASES)
def test_next_steps_of_near_points_overlap(kind, kappa):
    x, J = potential(kind, kappa)
    P, _ = chain(x, J, kappa)
    alpha0, t, _ = bounds(kappa)
    # m = 1 for all but the pure quadratic, where L bounds the distance alike
    reach = int(t / (x[1] - x[0]))
    inner = np.flatnonzero(np.abs(x) < 5 - 3 / np.sqrt(kappa))
    for k in inner[:: max(1, len(inner) // 40)]:
        overlap = np.minimum(P[k], P[k + reach]).sum()
        assert overlap >= alpha0 / 2 - 1e-9


@pytest.mark.parametrize(("kind", "kappa"), CASES)
def test_the_spectrum_is_positive_and_its_gap_above_the_bound(kind, kappa):
    x, J = potential(kind, kappa)
    P, _ = chain(x, J, kappa)
    root = np.exp(-(J - J.min()) / 2)
    values = np.linalg.eigvalsh(P * root[:, None] / root[None, :])
    assert values[-1] == pytest.approx(1.0, abs=1e-9)
    assert values[0] > -1e-9
    assert 1 - values[-2] >= bounds(kappa)[2]


@pytest.mark.parametrize(("kind", "kappa"), CASES)
def test_the_distance_decays_as_the_gap_of_the_chain_says(kind, kappa):
    """The start N(0, 1 / L): ratio below kappa^(1/2), and TV below the bound."""
    x, J = potential(kind, kappa)
    P, _ = chain(x, J, kappa)
    pi = np.exp(-(J - J.min()))
    pi /= pi.sum()
    mu = np.exp(-kappa * x**2 / 2)
    mu /= mu.sum()
    assert np.max(mu / pi) <= np.sqrt(kappa) * (1 + 1e-6)
    root = np.sqrt(pi)
    gap = 1 - np.linalg.eigvalsh(P * root[:, None] / root[None, :])[-2]
    for k in range(1, 60):
        mu = mu @ P
        distance = np.abs(mu - pi).sum() / 2
        assert distance <= 0.5 * kappa**0.25 * (1 - gap) ** k + 1e-12
