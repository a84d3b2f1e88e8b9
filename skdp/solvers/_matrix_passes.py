"""Passes over a table with several margins a row: gradient and Hessian of the sum.

Notation
--------
K, d   number of margins of a row, number of coefficients of each
theta  coefficients, shape (K, d), the intercept's last in each row
W      second derivative of one row's loss in its margins, shape (K, K)
"""

import numpy as np

from skdp._typing import FloatArray, MatrixLike
from skdp.losses import MatrixLoss
from skdp.solvers._sums import PairwiseSum
from skdp.solvers._table import Table

__all__ = [
    "MatrixCurvature",
    "matrix_gradient",
    "matrix_gradient_curvature",
    "matrix_gradient_hessian",
    "matrix_margins",
]


def matrix_margins(
    x: MatrixLike, f: FloatArray, theta: FloatArray, constant: float
) -> FloatArray:
    """Return the margins of a block, shape (n, K), each margin's column contiguous."""
    d = x.shape[1]
    coef = theta[:, :d]
    t: FloatArray
    if isinstance(x, np.ndarray):
        t = coef @ x.T
    else:
        t = np.ascontiguousarray((x @ coef.T).T)
    t *= f
    if constant:
        t += constant * theta[:, d:]
    return t.T


def _pull_back(
    x: MatrixLike, f: FloatArray, slopes: FloatArray, constant: float
) -> FloatArray:
    """Return the sum of ``slope (f x, constant)'`` over a block, shape (K, d)."""
    d = x.shape[1]
    out = np.empty((slopes.shape[1], d + (constant > 0.0)))
    scaled = slopes * f[:, None]
    if isinstance(x, np.ndarray):
        np.matmul(scaled.T, x, out=out[:, :d])
    else:
        out[:, :d] = (x.T @ scaled).T
    if constant:
        out[:, d] = constant * slopes.sum(axis=0)
    return out


def matrix_gradient(table: Table, loss: MatrixLoss, theta: FloatArray) -> FloatArray:
    """Return the gradient of the sum of losses, shape (K, d), in the table's units."""
    total = PairwiseSum(np.zeros(theta.shape))
    for x, y, f in table:
        slopes = loss.gradient(y, matrix_margins(x, f, theta, table.constant))
        total.add(_pull_back(x, f, slopes, table.constant))
    return total.total()


def matrix_gradient_hessian(
    table: Table, loss: MatrixLoss, theta: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return gradient, shape (K, d), and Hessian, shape (Kd, Kd), of the sum."""
    K, d = theta.shape
    total = PairwiseSum(np.zeros(theta.shape))
    hessian = np.zeros((K, d, K, d))
    for x, y, f in table:
        t = matrix_margins(x, f, theta, table.constant)
        total.add(_pull_back(x, f, loss.gradient(y, t), table.constant))
        _add_hessian(hessian, _fitted(x, f, table.constant), loss.hessian(y, t))
    for k in range(K):
        for m in range(k):
            hessian[k, :, m] = hessian[m, :, k].T
    return total.total(), hessian.reshape(K * d, K * d)


def _fitted(x: MatrixLike, f: FloatArray, constant: float) -> FloatArray:
    """Return the clipped rows of one block, with their constant."""
    dense = x if isinstance(x, np.ndarray) else x.toarray()
    out = np.empty((dense.shape[0], dense.shape[1] + (constant > 0.0)))
    np.multiply(dense, f[:, None], out=out[:, : dense.shape[1]])
    out[:, dense.shape[1] :] = constant
    return out


def _add_hessian(hessian: FloatArray, rows: FloatArray, weights: FloatArray) -> None:
    """Add the sum of ``W x x x'`` over a block to the blocks on and above the diagonal.

    One product of matrices a block row: the rows times all their weights from k on.
    """
    n, d = rows.shape
    K = weights.shape[1]
    buffer = np.empty(n * K * d)
    for k in range(K):
        wide = buffer[: n * (K - k) * d].reshape(n, K - k, d)
        np.multiply(weights[:, k, k:, None], rows[:, None, :], out=wide)
        product = rows.T @ wide.reshape(n, (K - k) * d)
        hessian[k, :, k:] += product.reshape(d, K - k, d)


class MatrixCurvature:
    """The Hessian of the sum of losses at one point, as a product with vectors."""

    def __init__(self, table: Table, loss: MatrixLoss, theta: FloatArray) -> None:
        self._table, self._loss, self._shape = table, loss, theta.shape
        self._margins: list[FloatArray] = []
        self._diagonal = np.zeros(theta.shape)

    def add_block(
        self, x: MatrixLike, y: FloatArray, f: FloatArray, t: FloatArray
    ) -> None:
        """Keep the margins of the next block, and add to the diagonal."""
        d, constant = self._table.n_features, self._table.constant
        self._margins.append(t)
        bent = np.diagonal(self._loss.hessian(y, t), axis1=1, axis2=2)
        weights = bent * (f * f)[:, None]
        squares = x * x if isinstance(x, np.ndarray) else x.multiply(x).tocsr()
        self._diagonal[:, :d] += (squares.T @ weights).T
        self._diagonal[:, d:] += constant**2 * bent.sum(axis=0)[:, None]

    @property
    def diagonal(self) -> FloatArray:
        """Diagonal of the Hessian, shape (Kd,)."""
        return self._diagonal.ravel()

    def product(self, v: FloatArray) -> FloatArray:
        """Return the Hessian times a vector of shape (Kd,), in one pass."""
        constant, V = self._table.constant, v.reshape(self._shape)
        total = PairwiseSum(np.zeros(self._shape))
        for (x, y, f), t in zip(self._table, self._margins, strict=True):
            along = matrix_margins(x, f, V, constant)
            bent = self._loss.hessian_product(y, t, along)
            total.add(_pull_back(x, f, bent, constant))
        return total.total().ravel()


def matrix_gradient_curvature(
    table: Table, loss: MatrixLoss, theta: FloatArray
) -> tuple[FloatArray, MatrixCurvature]:
    """Return gradient, shape (K, d), and curvature of the sum of losses."""
    total = PairwiseSum(np.zeros(theta.shape))
    curvature = MatrixCurvature(table, loss, theta)
    for x, y, f in table:
        t = matrix_margins(x, f, theta, table.constant)
        total.add(_pull_back(x, f, loss.gradient(y, t), table.constant))
        curvature.add_block(x, y, f, t)
    return total.total(), curvature
