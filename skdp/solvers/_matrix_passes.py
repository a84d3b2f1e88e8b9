"""Passes over a table with several margins a row: gradient and Hessian of the sum.

Notation
--------
K, d   number of margins of a row, number of coefficients of each
theta  coefficients, shape (K, d), the intercept's last in each row
"""

import numpy as np

from skdp._typing import FloatArray, MatrixLike
from skdp.losses import MatrixLoss
from skdp.solvers._matrix_hessian import HessianSum
from skdp.solvers._sums import PairwiseSum
from skdp.solvers._table import Table

__all__ = [
    "centred",
    "matrix_gradient",
    "matrix_gradient_hessian",
    "matrix_margins",
    "pull_back",
]


def centred(theta: FloatArray) -> FloatArray:
    """Return theta less the mean of the classes, which turns no margin's difference.

    Ridge and linear term alone decide on that mean; where it is large, margins would
    lose digits by it.
    """
    out: FloatArray = theta - theta.mean(axis=0)
    return out


def matrix_margins(
    x: MatrixLike, f: FloatArray | None, theta: FloatArray, constant: float
) -> FloatArray:
    """Return the margins of a block, shape (n, K), each margin's column contiguous.

    Without factors the rows are clipped already.
    """
    d = x.shape[1]
    coef = theta[:, :d]
    t: FloatArray
    if isinstance(x, np.ndarray):
        t = coef @ x.T
    else:
        t = np.ascontiguousarray((x @ coef.T).T)
    if f is not None:
        t *= f
    if constant:
        t += constant * theta[:, d:]
    return t.T


def pull_back(
    x: MatrixLike, f: FloatArray | None, slopes: FloatArray, constant: float
) -> FloatArray:
    """Return the sum of ``slope (f x, constant)'`` over a block, shape (K, d).

    ``slopes`` is overwritten.
    """
    d = x.shape[1]
    out = np.empty((slopes.shape[1], d + (constant > 0.0)))
    if constant:
        out[:, d] = constant * slopes.sum(axis=0)
    if f is not None:
        slopes *= f[:, None]
    out[:, :d] = slopes.T @ x if isinstance(x, np.ndarray) else (x.T @ slopes).T
    return out


def matrix_gradient(table: Table, loss: MatrixLoss, theta: FloatArray) -> FloatArray:
    """Return the gradient of the sum of losses, shape (K, d), in the table's units."""
    total = PairwiseSum(np.zeros(theta.shape))
    theta = centred(theta)
    for x, y, f in table:
        slopes = loss.gradient(y, matrix_margins(x, f, theta, table.constant))
        total.add(pull_back(x, f, slopes, table.constant))
    return total.total()


def matrix_gradient_hessian(
    table: Table, loss: MatrixLoss, theta: FloatArray, precision: type = np.float64
) -> tuple[FloatArray, FloatArray]:
    """Return gradient, shape (K, d), and Hessian, shape (Kd, Kd), of the sum.

    Of the Hessian alone the products may be less precise.
    """
    total = PairwiseSum(np.zeros(theta.shape))
    hessian = HessianSum(loss.n_classes, table.n_coefficients, precision)
    theta = centred(theta)
    for x, y, f in table:
        t = matrix_margins(x, f, theta, table.constant)
        for rows in hessian.pieces(len(y)):
            weights = loss.hessian(y[rows], t[rows])
            hessian.add(x[rows], f[rows], weights, table.constant)
        total.add(pull_back(x, f, loss.gradient(y, t), table.constant))
    return total.total(), hessian.total()
