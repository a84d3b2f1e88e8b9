"""Minimise the perturbed objective, and certify the answer."""

import math
from dataclasses import dataclass

import numpy as np

from skdp._typing import FloatArray
from skdp.solvers._model import Model
from skdp.solvers._newton import Descent, Differentiable, refine, warm_start
from skdp.solvers._objective import Objective
from skdp.solvers._problem import Problem

__all__ = ["Solution", "certified_descent", "minimise"]


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
    r"""Return a point where the computed gradient norm is at most ``gradient_tol``.

    Parameters
    ----------
    objective : Objective
    gradient_tol : float
        Tolerance in the units of the gradient, > 0.

    Returns
    -------
    solution : Solution
        The distance to the minimiser is at most ``gradient_tol / alpha``.

    Raises
    ------
    ValueError
        If the gradient is not a number, which finite rows within a ball never cause.

    Notes
    -----
    The start is found on parts of the table, then quasi-Newton steps on the whole lead
    from any start to the certificate; how, has no influence on what is certified. Above
    1000 columns Newton directions come from conjugate gradients, in memory O(n + d).

    Nothing about the data is told: no warning, no error, no limit on passes. One thing
    only ends the steps without the certificate: rounding, when the gradient cannot be
    told from zero any more. The rounding of the gradient has been observed at 1e-13 to
    1e-10 times R for up to a million rows; it grows with rows and with the size of
    ``linear``, whose sum with ``alpha * theta`` rounds to one part in 1e16. That it
    stays below the tolerance is an assumption of every guarantee that rests on this.

    Scaling R and all rows by a power of two, ``alpha`` by its square and ``linear`` by
    itself scales the answer by the inverse, to the last bit.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import LogisticLoss
    >>> from skdp.rows import L2Ball, PrivateRows, as_row_blocks
    >>> from skdp.solvers import Objective, minimise
    >>> blocks = as_row_blocks(np.array([[0.6, 0.8]]), np.array([1.0]))
    >>> rows = PrivateRows(blocks, L2Ball(1.0))
    >>> objective = Objective(rows, LogisticLoss(), alpha=1.0)
    >>> solution = minimise(objective, gradient_tol=1e-8)
    >>> solution.x.round(4), solution.gradient_norm <= 1e-8
    (array([0.2406, 0.3208]), True)
    """
    table = objective.table
    unit = table.unit
    problem = Problem(
        table, objective.loss, objective.alpha / unit**2, objective.linear / unit
    )
    descent = certified_descent(problem, gradient_tol / unit)
    return Solution(
        descent.best_theta / unit, descent.best_norm * unit, problem.n_passes
    )


def certified_descent(
    problem: Differentiable,
    tolerance: float,
    start: FloatArray | None = None,
    model: Model | None = None,
) -> Descent:
    """Descend until the gradient norm is at most ``tolerance``, or is rounding.

    From ``start`` on a part of the table, or on the whole if there is a model for it.
    """
    # overflow in a trial point is answered by a shorter step, not by a warning
    with np.errstate(all="ignore"):
        if start is None or model is None:
            start, model = warm_start(problem, start)
            if model is not None:
                start = refine(problem, start, model, tolerance)
        descent = Descent(problem, start, model)
        if not math.isfinite(descent.norm):
            raise ValueError(
                "the objective is not finite. Allowed: finite rows, labels and linear "
                "term. Clean the rows before the call."
            )
        descent.run(tolerance)
    return descent
