"""Minimise an objective over a ball, and certify the answer."""

from dataclasses import dataclass

import numpy as np

from skdp._typing import FloatArray
from skdp.solvers._ball_descent import BallDescent
from skdp.solvers._minimise import minimise
from skdp.solvers._objective import Objective
from skdp.solvers._problem import Problem

__all__ = ["BallSolution", "minimise_on_ball"]


@dataclass(frozen=True, slots=True)
class BallSolution:
    """A certified minimiser. All but ``x`` depends on the data and is not released.

    Attributes
    ----------
    x : ndarray of shape (n_coefficients,)
    mapping_norm : float
        Norm of the computed gradient mapping at ``x``.
    n_passes : int
        Passes over all rows.
    """

    x: FloatArray
    mapping_norm: float
    n_passes: int


def minimise_on_ball(
    objective: Objective, center: FloatArray, radius: float, *, mapping_tol: float
) -> BallSolution:
    r"""Return a point of a ball where the gradient mapping is at most ``mapping_tol``.

    Parameters
    ----------
    objective : Objective
    center : ndarray of shape (n_coefficients,)
        Centre of the ball.
    radius : float
        Radius > 0 of the ball.
    mapping_tol : float
        Tolerance in the units of the gradient, > 0.

    Returns
    -------
    solution : BallSolution
        The distance to the minimiser over the ball is at most
        ``2 mapping_tol / alpha``.

    Raises
    ------
    ValueError
        If the gradient is not a number, which finite rows within a ball never cause.

    Notes
    -----
    The mapping is :math:`G = L(\theta - P(\theta - \nabla J(\theta)/L))`, P the
    projection onto the ball and :math:`L = n\kappa + \alpha` with kappa the smoothness
    constant of one row's loss: a proved bound on the curvature of J. For the minimiser
    :math:`\theta^*` (Nesterov 2004, theorem 2.2.7)

    .. math:: 0 \ge G \cdot (\theta^* - \theta) + \tfrac1{2L}|G|^2
        + \tfrac\alpha2 |\theta^* - \theta|^2 ,

    so :math:`|\theta^* - \theta| \le 2|G|/\alpha`. Inside the ball the norm of G is at
    most that of the gradient: a minimiser without the constraint that lies in the ball
    is certified by its gradient. Otherwise Newton steps on the ball follow.

    Nothing about the data is told: no warning, no error, no limit on passes. The steps
    end before the certificate only where rounding hides it, as in :func:`minimise`. A
    point of the border is computed up to one rounding of its coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import SquaredLoss
    >>> from skdp.rows import L2Ball, PrivateRows, as_row_blocks
    >>> from skdp.solvers import Objective, minimise_on_ball
    >>> blocks = as_row_blocks(np.array([[0.6, 0.8]]), np.array([1.0]))
    >>> objective = Objective(PrivateRows(blocks, L2Ball(1.0)), SquaredLoss(), 0.1)
    >>> solution = minimise_on_ball(objective, np.zeros(2), 0.5, mapping_tol=1e-9)
    >>> solution.x.round(6), solution.mapping_norm <= 1e-9
    (array([0.3, 0.4]), True)
    """
    free = minimise(objective, gradient_tol=mapping_tol)
    center = np.asarray(center, dtype=np.float64)
    if np.linalg.norm(free.x - center) <= radius:
        return BallSolution(free.x, free.gradient_norm, free.n_passes)
    table = objective.table
    unit = table.unit
    problem = Problem(
        table, objective.loss, objective.alpha / unit**2, objective.linear / unit
    )
    bend = objective.loss.constants(table.radius).smoothness
    smoothness = table.n_rows_seen * bend + problem.alpha
    with np.errstate(all="ignore"):
        descent = BallDescent(
            problem, center * unit, radius * unit, smoothness, free.x * unit
        )
        descent.run(mapping_tol / unit)
    return BallSolution(
        descent.best_theta / unit,
        descent.best_norm * unit,
        free.n_passes + problem.n_passes,
    )
