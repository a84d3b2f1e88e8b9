"""Minimise the perturbed objective, and certify the answer."""

from dataclasses import dataclass

import numpy as np

from skdp._typing import FloatArray
from skdp.solvers._newton import Descent, warm_start
from skdp.solvers._objective import Objective
from skdp.solvers._problem import Problem

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
    problem = Problem(
        table, objective.loss, objective.alpha / unit**2, objective.linear / unit
    )
    # overflow in a trial point is answered by a shorter step, not by a warning
    with np.errstate(all="ignore"):
        theta, model = warm_start(problem)
        descent = Descent(problem, theta, model)
        descent.run(gradient_tol / unit)
    return Solution(
        descent.best_theta / unit, descent.best_norm * unit, problem.n_passes
    )
