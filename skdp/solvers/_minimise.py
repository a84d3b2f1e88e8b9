"""Minimise the perturbed objective, and certify the answer."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from skdp._typing import FloatArray
from skdp.solvers._objective import Objective, data_gradient_hessian

__all__ = ["Solution", "minimise"]


@dataclass(frozen=True, slots=True)
class Solution:
    """A certified minimiser. All but ``x`` depends on the data and is not released.

    Attributes
    ----------
    x : ndarray of shape (n_coefficients,)
    gradient_norm : float
        Norm of the computed gradient at ``x``.
    n_passes : int
        Passes over all rows.
    """

    x: FloatArray
    gradient_norm: float
    n_passes: int


def minimise(objective: Objective, *, gradient_tol: float) -> Solution:
    """Return a point at which the computed gradient norm is at most ``gradient_tol``."""
    table = objective.table
    unit = table.unit
    alpha, linear = objective.alpha / unit**2, objective.linear / unit
    theta = np.zeros(table.n_coefficients)
    passes, previous, step = 0, np.inf, 1.0
    direction = np.zeros_like(theta)
    best = np.inf
    while True:
        g, H = data_gradient_hessian(table, objective.loss, theta)
        passes += 1
        g = g + alpha * theta + linear
        norm = float(np.linalg.norm(g)) * unit
        if norm <= gradient_tol or passes > 500:
            return Solution(theta / unit, norm, passes)
        slope = float(g @ direction)
        if slope > 0.0 and norm > 0.5 * best:
            theta = theta - 0.5 * step * direction
            step *= 0.5
            continue
        best = min(best, norm)
        H[np.diag_indices_from(H)] += alpha
        direction, step = -cho_solve(cho_factor(H), g), 1.0
        theta = theta + direction
