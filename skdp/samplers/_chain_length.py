r"""How many steps a chain would need for a rigorous claim: a proved, explicit bound.

Random-walk Metropolis on the whole space, for a potential J that is m-strongly convex
and L-smooth, from a Gaussian start at the mode. Rates of faster chains are published
with constants left open, so they tell nothing about a given number of steps. The
numbers are meant to be looked at: they say why no guarantee of this package rests on
the length of a chain.

Notation (derived in docs/proofs/chain_length.md)
-------------------------------------------------
kappa    L / m                                              -> ``condition_number``
d        number of coordinates                                    -> ``n_features``
s        size of a proposal: normal with variance s^2 / (L d) per coordinate
alpha0   least probability of moving, from any point
t        distance at which two points still have nearby next steps, in units 1/sqrt(m)
Phi      conductance; the spectral gap is at least Phi^2 / 2
xi       TV distance to the target after K steps   -> log10: ``log10_total_variation``
"""

import math

import numpy as np
from scipy.special import ndtri

from skdp._typing import FloatArray
from skdp._validation import check_count, check_positive, check_real

__all__ = ["random_walk_gap", "random_walk_steps"]

#: Squares of the proposal sizes tried.
_SQUARED_SIZES = np.linspace(0.05, 2.0, 80)
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_QUARTER = float(ndtri(0.25))


def random_walk_gap(n_features: int, condition_number: float) -> float:
    r"""Return a proved lower bound on the spectral gap of random-walk Metropolis.

    Parameters
    ----------
    n_features : int
        d >= 1.
    condition_number : float
        kappa = L / m >= 1 of the potential, on the whole space.

    Returns
    -------
    float
        Within (0, 1), for the best of the proposal sizes tried; about
        :math:`6 \cdot 10^{-5} / (\kappa d)`.

    Raises
    ------
    ValueError
        If a number is out of range.

    References
    ----------
    C. Andrieu, A. Lee, S. Power and A. Q. Wang, "Explicit convergence bounds for
    Metropolis Markov chains: isoperimetry, spectral gaps and profiles", Annals of
    Applied Probability, 2024: the same scaling.

    Examples
    --------
    >>> from skdp.samplers import random_walk_gap
    >>> f"{random_walk_gap(21, 26.0):.4e}"
    '1.0884e-07'
    """
    d, kappa = _checked(n_features, condition_number)
    conductance = _conductance(_SQUARED_SIZES, d, kappa)
    return float(np.max(conductance) ** 2 / 2.0)


def random_walk_steps(
    n_features: int, condition_number: float, log10_total_variation: float
) -> int:
    r"""Return how many steps bring random-walk Metropolis within a TV distance.

    :math:`K = [(d/4) \log\kappa + \log(1/2\xi)] / \mathrm{gap}` steps from a normal
    start at the mode with covariance I / L.

    Parameters
    ----------
    n_features : int
        d >= 1.
    condition_number : float
        kappa >= 1.
    log10_total_variation : float
        log10 of xi, <= 0; see :func:`total_variation_needed`.

    Returns
    -------
    int
        K, each at the price of one pass over the rows.

    Raises
    ------
    ValueError
        If a number is out of range.

    Examples
    --------
    The steps for draws from a posterior of 21 coefficients with a condition number of
    26, within 1e-140 in total variation:

    >>> from skdp.samplers import random_walk_steps
    >>> f"{random_walk_steps(21, 26.0, -140.0):.1e}"
    '3.1e+09'
    """
    d, kappa = _checked(n_features, condition_number)
    allowed = "a finite number up to 0"
    remedy = "A TV distance is at most 1; use total_variation_needed."
    name = "log10_total_variation"
    log10_xi = check_real(name, log10_total_variation, allowed=allowed, remedy=remedy)
    if not -math.inf < log10_xi <= 0.0:
        raise ValueError(
            f"{name} is out of range, got {log10_total_variation!r}. Allowed: "
            f"{allowed}. {remedy}"
        )
    start = d / 4 * math.log(kappa) - math.log(2.0)
    nats = max(0.0, start - log10_xi * math.log(10.0))
    return math.ceil(nats / random_walk_gap(d, kappa))


def _conductance(squared_size: FloatArray, d: int, kappa: float) -> FloatArray:
    """Return the bound on the conductance, for each size of the proposal."""
    alpha0 = 0.5 * np.exp(-d / 2 * np.log1p(squared_size / d))
    overlap = alpha0 / 2
    t = 2.0 * np.sqrt(squared_size / (kappa * d)) * ndtri(0.5 + alpha0 / 4)
    # the two places where the concave isoperimetric profile may be least
    border = np.minimum(2.0 * _mass(_QUARTER, t), 2.0 * _mass(0.0, t))
    out: FloatArray = overlap / 4 * np.minimum(1.0, border)
    return out


def _mass(start: float, length: FloatArray) -> FloatArray:
    """Return the normal mass from ``start`` on, without a difference of two masses.

    A rule of 20 nodes is exact to rounding over the lengths at hand, which are below 2.
    """
    half = length[:, None] / 2
    x = start + half * (1.0 + _NODES)
    density = np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
    out: FloatArray = (half * density) @ _WEIGHTS
    return out


def _checked(n_features: int, condition_number: float) -> tuple[int, float]:
    remedy = "Pass smoothness over strong convexity of the potential."
    return (
        check_count("n_features", n_features, minimum=1),
        check_positive("condition_number", condition_number, remedy=remedy, minimum=1),
    )
