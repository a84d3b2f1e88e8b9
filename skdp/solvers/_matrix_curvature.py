"""A Hessian of several margins a row that is never formed."""

import numpy as np

from skdp._typing import FloatArray, MatrixLike
from skdp.losses import MatrixLoss
from skdp.solvers._matrix_passes import centred, matrix_margins, pull_back
from skdp.solvers._matrix_rough import rough_product
from skdp.solvers._sums import PairwiseSum
from skdp.solvers._table import Table

__all__ = ["MatrixCurvature", "matrix_gradient_curvature"]


class MatrixCurvature:
    """The Hessian of the sum of losses at one point, as a product with vectors.

    Nothing is kept of a row: products form its margins anew, in single precision.
    """

    def __init__(self, table: Table, loss: MatrixLoss, theta: FloatArray) -> None:
        self._table, self._loss, self._theta = table, loss, theta
        self._diagonal = np.zeros(theta.shape)

    def add_block(self, x: MatrixLike, f: FloatArray, bent: FloatArray) -> None:
        """Add a block and its curvatures along each margin to the diagonal."""
        d, constant = self._table.n_features, self._table.constant
        squares = x * x if isinstance(x, np.ndarray) else x.multiply(x).tocsr()
        self._diagonal[:, :d] += (squares.T @ (bent * (f * f)[:, None])).T
        self._diagonal[:, d:] += constant**2 * bent.sum(axis=0)[:, None]

    @property
    def diagonal(self) -> FloatArray:
        """Diagonal of the Hessian, shape (Kd,)."""
        return self._diagonal.ravel()

    def product(self, v: FloatArray) -> FloatArray:
        """Return the Hessian times a vector of shape (Kd,), in one pass."""
        along = v.reshape(self._theta.shape)
        return rough_product(self._table, self._loss, self._theta, along).ravel()


def matrix_gradient_curvature(
    table: Table, loss: MatrixLoss, theta: FloatArray
) -> tuple[FloatArray, MatrixCurvature]:
    """Return gradient, shape (K, d), and curvature of the sum of losses."""
    total = PairwiseSum(np.zeros(theta.shape))
    curvature = MatrixCurvature(table, loss, theta)
    theta = centred(theta)
    for x, y, f in table:
        t = matrix_margins(x, f, theta, table.constant)
        curvature.add_block(x, f, loss.hessian_diagonal(y, t))
        total.add(pull_back(x, f, loss.gradient(y, t), table.constant))
    return total.total(), curvature
