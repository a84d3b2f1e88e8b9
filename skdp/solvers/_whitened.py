r"""The perturbed objective of weighted rows in the coordinates of a public metric.

.. math:: J(\varphi) = \sum_i w_i f(\tilde x_i^T A \varphi; y_i)
          + \frac{\lambda}{2} |\varphi|^2 + b^T \varphi

Notation
--------
A       public matrix, theta = A phi                             -> ``transform``
w       weight of each row, a public function of the row     -> ``table``, weighted
lambda  ridge in the coordinates of phi                              -> ``alpha``
b       linear term: noise, and the pull of a centre                -> ``linear``
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from skdp._typing import FloatArray
from skdp.losses import Loss
from skdp.solvers._minimise import Solution, certified_descent
from skdp.solvers._model import Model, QuadraticModel
from skdp.solvers._newton import warm_start
from skdp.solvers._passes import margins, pull_back
from skdp.solvers._problem import Problem
from skdp.solvers._sums import PairwiseSum
from skdp.solvers._table import Table

__all__ = ["Guess", "WhitenedObjective"]

#: Shares of the rows on which a start is found where a guess leads the way.
_PARTS = (0.05, 0.2)


class Guess(NamedTuple):
    """What the Hessian of the sum of losses is like, known without a pass.

    Parameters
    ----------
    hessian : ndarray of shape (n_coefficients, n_coefficients)
        Positive semidefinite, in the coordinates of phi, without the ridge. It steers
        the first steps and has no influence on what is certified.
    beats_parts : bool
        Whether a solve starts with it even where it could start on parts of the table.
    """

    hessian: FloatArray
    beats_parts: bool


class WhitenedObjective:
    """Sum of weighted losses with a ridge, as a function of phi.

    Rows are read as they are: margins are those of ``A phi``, and gradients are turned
    afterwards, so nothing of the size of the table is formed.

    Parameters
    ----------
    table : Table
        The rows, weighted or not.
    loss : Loss
    alpha : float
        Ridge, > 0: the strong convexity in phi.
    transform : ndarray of shape (n_coefficients, n_coefficients)
        The matrix A.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import LogisticLoss
    >>> from skdp.rows import L2Ball, as_row_blocks
    >>> from skdp.solvers import Table, WhitenedObjective
    >>> blocks = as_row_blocks(np.array([[0.6, 0.8]]), np.array([1.0]))
    >>> table = Table(blocks, L2Ball(1.0))
    >>> objective = WhitenedObjective(table, LogisticLoss(), 1.0, 2.0 * np.eye(2))
    >>> objective.gradient(np.zeros(2))
    array([-0.6, -0.8])
    """

    __slots__ = ("_last", "_model", "_problem", "alpha", "table", "transform")

    def __init__(
        self, table: Table, loss: Loss, alpha: float, transform: FloatArray
    ) -> None:
        self.table, self.alpha, self.transform = table, alpha, transform
        zero = np.zeros(table.n_coefficients)
        scaled = transform * table.unit
        # a metric never stretches what noise would hide, so single precision will do
        self._problem = Problem(table, loss, alpha, zero, transform=scaled, single=True)
        self._model: Model | None = None
        self._last = zero

    def gradient(self, phi: FloatArray) -> FloatArray:
        """Return the gradient at ``phi``, without a linear term."""
        return self._problem.gradient(phi) - self._problem.linear

    def gradient_hessian(self, phi: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return gradient and Hessian at ``phi``, without a linear term."""
        gradient, hessian = self._problem.gradient_hessian(phi)
        return gradient - self._problem.linear, hessian

    def gradient_at_zero(self) -> FloatArray:
        """Return the gradient at ``phi = 0`` from half a pass: margins are zero."""
        total = PairwiseSum(np.zeros(self.table.n_coefficients))
        for index, (x, y, f) in enumerate(self.table):
            slopes = self._problem.loss.gradient(y, np.zeros_like(y))
            self.table.apply_weights(index, slopes)
            total.add(pull_back(x, f, slopes, self.table.constant))
        out: FloatArray = self.transform.T @ total.total() * self.table.unit
        return out

    def margins(self, phi: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield labels and margins of each block at ``phi``."""
        theta = self.transform @ phi * self.table.unit
        for x, y, f in self.table:
            yield y, margins(x, f, theta, self.table.constant)

    def minimise(
        self,
        linear: FloatArray,
        *,
        start: FloatArray,
        gradient_tol: float,
        guess: Guess | None = None,
    ) -> Solution:
        r"""Return a point where the computed gradient norm is at most the tolerance.

        Parameters
        ----------
        linear : ndarray of shape (n_coefficients,)
            The linear term.
        start : ndarray of shape (n_coefficients,)
            Where to begin the first solve; it has no influence on what is certified.
        gradient_tol : float
            Tolerance, > 0.
        guess : Guess, optional
            What the Hessian is like, for the first solve.

        Returns
        -------
        Solution
            As of :func:`minimise`, at a distance of at most ``gradient_tol / alpha``.
            A second solve begins where the model of the first has its minimum.
        """
        linear = np.asarray(linear, dtype=np.float64)
        model = self._model
        if model is not None:
            # where the model of the last solve has the new minimum
            start = self._last + model.direction(linear - self._problem.linear)
        self._problem.linear = linear
        if model is None and guess is not None:
            start, model = self._guessed(start, guess)
        before = self._problem.n_passes
        descent = certified_descent(self._problem, gradient_tol, start, model)
        self._model, self._last = descent.model, descent.best_theta
        passes = self._problem.n_passes - before
        return Solution(descent.best_theta, descent.best_norm, passes)

    def _guessed(
        self, start: FloatArray, guess: Guess
    ) -> tuple[FloatArray, Model | None]:
        """Return a point and a model to start with: those of parts, or the guess."""
        hessian = guess.hessian.copy()
        hessian[np.diag_indices_from(hessian)] += self.alpha
        model: Model | None = QuadraticModel(hessian, self.alpha)
        if not guess.beats_parts:
            with np.errstate(all="ignore"):
                start, model = warm_start(self._problem, start, model, _PARTS)
        return start, model
