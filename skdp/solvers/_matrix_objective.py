r"""The perturbed objective of a loss of several margins a row.

.. math:: J(\Theta) = \sum_i f(\Theta \tilde x_i; y_i)
          + \frac{\alpha}{2} |\Theta|_F^2 + \langle B, \Theta \rangle

A sum over rows, never a mean; every coefficient is penalised, the intercepts' too.

Notation
--------
x~     clipped row followed by the intercept's constant
Theta  coefficients, one row for each margin, the intercept's last; flat: row by row
alpha  ridge on the sum of losses                            -> ``alpha``
B      linear term, the noise of objective perturbation      -> ``linear``
"""

import numpy as np

from skdp._typing import FloatArray
from skdp.losses import MatrixLoss
from skdp.rows import Classes, PrivateRows
from skdp.solvers._matrix_passes import (
    matrix_gradient,
    matrix_gradient_hessian,
    matrix_margins,
)
from skdp.solvers._matrix_problem import MatrixProblem
from skdp.solvers._minimise import Solution, certified_descent
from skdp.solvers._sums import PairwiseSum
from skdp.solvers._table import Table

__all__ = ["MatrixObjective"]


class MatrixObjective:
    """Sum of losses of several margins with ridge and linear term.

    Coefficients are flat vectors of length ``n_classes * n_coefficients``, class by
    class.

    Parameters
    ----------
    rows : PrivateRows
        With labels numbered by :class:`skdp.rows.Classes`.
    loss : MatrixLoss
    alpha : float
        Ridge on the sum of losses, > 0: the strong convexity of the objective.
    linear : ndarray of shape (n_classes * n_coefficients,), optional
        Linear term; none means zeros.

    Raises
    ------
    ValueError
        If ``alpha`` is not positive, ``linear`` has another shape, or the labels are
        not numbers of the loss's classes.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import SoftmaxLoss
    >>> from skdp.rows import Classes, L2Ball, PrivateRows, as_row_blocks
    >>> from skdp.solvers import MatrixObjective
    >>> labels = Classes(["a", "b"])
    >>> blocks = as_row_blocks(np.array([[0.6, 0.8]]), np.array(["a"]), labels=labels)
    >>> rows = PrivateRows(blocks, L2Ball(1.0))
    >>> objective = MatrixObjective(rows, SoftmaxLoss(2), alpha=1.0)
    >>> objective.gradient(np.zeros(4))
    array([-0.3, -0.4,  0.3,  0.4])
    >>> solution = objective.minimise(gradient_tol=1e-8)
    >>> solution.x.round(4)
    array([ 0.2024,  0.2699, -0.2024, -0.2699])
    """

    __slots__ = ("alpha", "linear", "loss", "rows", "table")

    def __init__(
        self,
        rows: PrivateRows,
        loss: MatrixLoss,
        alpha: float,
        linear: FloatArray | None = None,
    ) -> None:
        size = loss.n_classes * rows.n_coefficients
        if not alpha > 0.0:
            raise ValueError(
                f"alpha is out of range, got {alpha!r}. Allowed: a number above 0. "
                "Without a ridge the objective may have no minimum."
            )
        _check_classes(rows, loss)
        self.rows, self.loss, self.alpha = rows, loss, float(alpha)
        self.linear = np.zeros(size) if linear is None else np.asarray(linear, float)
        if self.linear.shape != (size,):
            raise ValueError(
                f"linear has the wrong shape, got {self.linear.shape}. Allowed: "
                f"({size},), one number for each class and coefficient."
            )
        self.table = Table(rows.blocks, rows.ball)

    @property
    def _shape(self) -> tuple[int, int]:
        return self.loss.n_classes, self.rows.n_coefficients

    def value(self, theta: FloatArray) -> float:
        """Return the objective at ``theta``."""
        scaled = (theta * self.table.unit).reshape(self._shape)
        losses = PairwiseSum(np.zeros(()))
        for x, y, f in self.table:
            t = matrix_margins(x, f, scaled, self.table.constant)
            losses.add(np.asarray(self.loss.value(y, t).sum()))
        ridge = 0.5 * self.alpha * (theta @ theta)
        return float(losses.total() + ridge + self.linear @ theta)

    def gradient(self, theta: FloatArray) -> FloatArray:
        """Return the gradient at ``theta``, flat."""
        unit = self.table.unit
        scaled = (theta * unit).reshape(self._shape)
        data = matrix_gradient(self.table, self.loss, scaled).ravel()
        out: FloatArray = data * unit + self.alpha * theta + self.linear
        return out

    def gradient_hessian(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return gradient and Hessian at ``theta`` from one pass over the rows."""
        unit = self.table.unit
        scaled = (theta * unit).reshape(self._shape)
        data, hessian = matrix_gradient_hessian(self.table, self.loss, scaled)
        gradient: FloatArray = data.ravel() * unit + self.alpha * theta + self.linear
        hessian *= unit**2
        hessian[np.diag_indices_from(hessian)] += self.alpha
        return gradient, hessian

    def minimise(self, *, gradient_tol: float) -> Solution:
        """Return a point where the computed gradient norm is at most the tolerance.

        Parameters
        ----------
        gradient_tol : float
            Tolerance in the units of the gradient, > 0.

        Returns
        -------
        Solution
            As of :func:`minimise`, at a distance of at most ``gradient_tol / alpha``.

        Notes
        -----
        A start and a Hessian are found on parts of the table; gradients and products
        with the Hessian in single precision lead on from there. What is certified is a
        gradient in double precision, and steps on such gradients follow where it is
        too large. Above 1500 coefficients or 128 classes no Hessian is formed.

        Ridge and linear term alone decide on the mean of the classes. Where that mean
        is larger than their differences by more than about 1e8, as for a very small
        ``alpha`` under noise, coefficients have too few digits for the tolerance and
        the steps end at their rounding.
        """
        unit = self.table.unit
        problem = MatrixProblem(
            self.table, self.loss, self.alpha / unit**2, self.linear / unit
        )
        descent = certified_descent(problem, gradient_tol / unit)
        return Solution(
            descent.best_theta / unit, descent.best_norm * unit, problem.n_passes
        )


def _check_classes(rows: PrivateRows, loss: MatrixLoss) -> None:
    """Refuse labels that are not numbers of the loss's classes."""
    labels = rows.blocks.labels
    if not isinstance(labels, Classes) or labels.classes.size > loss.n_classes:
        found = labels.classes.size if isinstance(labels, Classes) else labels
        raise ValueError(
            f"the labels are not numbers of the loss's classes, got {found!r}. "
            f"Allowed: Classes of at most {loss.n_classes} labels. Encode them with "
            "as_row_blocks(X, y, labels=Classes(labels))."
        )
