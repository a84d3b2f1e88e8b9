"""Passes over a table: margins, gradient and Hessian of the sum of losses."""

from typing import Literal

import numpy as np

from skdp._typing import FloatArray, MatrixLike
from skdp.losses import Loss
from skdp.solvers._sums import PairwiseSum, product_in_runs
from skdp.solvers._table import Table

__all__ = ["data_gradient", "data_gradient_hessian", "margins", "pull_back"]


def margins(
    x: MatrixLike, f: FloatArray, theta: FloatArray, constant: float
) -> FloatArray:
    """Return the margins of a block."""
    d = x.shape[1]
    t: FloatArray = x @ theta[:d]
    t *= f
    if constant:
        t += constant * theta[d]
    return t


def pull_back(
    x: MatrixLike, f: FloatArray, slopes: FloatArray, constant: float
) -> FloatArray:
    """Return the sum of ``slope * (f x, constant)`` over a block."""
    d = x.shape[1]
    out = np.empty(d + (constant > 0.0))
    out[:d] = product_in_runs(slopes * f, x)
    if constant:
        out[d] = constant * slopes.sum()
    return out


def data_gradient(table: Table, loss: Loss, theta: FloatArray) -> FloatArray:
    """Return the gradient of the sum of losses, in the units of the table."""
    total = PairwiseSum(np.zeros(table.n_coefficients))
    for index, (x, y, f) in enumerate(table):
        slopes = loss.gradient(y, margins(x, f, theta, table.constant))
        table.apply_weights(index, slopes)
        total.add(pull_back(x, f, slopes, table.constant))
    return total.total()


def data_gradient_hessian(
    table: Table, loss: Loss, theta: FloatArray, *, single: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Return gradient and Hessian of the sum of losses, in the units of the table.

    With ``single`` the products of the Hessian are of single precision, dense rows'.
    """
    d = table.n_features
    total = PairwiseSum(np.zeros(table.n_coefficients))
    hessian = np.zeros((table.n_coefficients, table.n_coefficients))
    buffer = np.empty(0, dtype=np.float32 if single else np.float64)
    for index, (x, y, f) in enumerate(table):
        t = margins(x, f, theta, table.constant)
        slopes, curvatures = loss.derivatives(y, t)
        table.apply_weights(index, slopes, curvatures)
        total.add(pull_back(x, f, slopes, table.constant))
        weights = (f * np.sqrt(curvatures))[:, None]
        if not isinstance(x, np.ndarray):
            weighted = x.multiply(weights)
            hessian[:d, :d] += (weighted.T @ weighted).toarray()
        else:
            if buffer.size < x.size:
                buffer = np.empty(x.size, dtype=buffer.dtype)
            weighted = _like(buffer, x)
            # a row may be far outside the ball: its product is rounded, not itself
            np.multiply(x, weights, out=weighted, casting="same_kind")
            # A' A of one array is a symmetric rank-k update: half the work
            hessian[:d, :d] += weighted.T @ weighted
        if table.constant:
            border = pull_back(x, f, curvatures, table.constant)
            hessian[d] += table.constant * border
    hessian[:d, d:] = hessian[d:, :d].T
    return total.total(), hessian


def _like(buffer: np.ndarray, x: FloatArray) -> np.ndarray:
    """Return the start of a buffer in the shape and memory order of ``x``."""
    order: Literal["C", "F"] = "F" if x.strides[0] < x.strides[1] else "C"
    return buffer[: x.size].reshape(x.shape, order=order)
