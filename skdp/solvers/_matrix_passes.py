"""Passes over a table with several margins a row: gradient and Hessian of the sum.

Notation
--------
K, d   number of margins of a row, number of coefficients of each
theta  coefficients, shape (K, d), the intercept's last in each row
"""

from collections.abc import Iterator
from typing import cast

import numpy as np

from skdp._typing import FloatArray, MatrixLike
from skdp.losses import MatrixLoss
from skdp.solvers._matrix_hessian import HessianSum
from skdp.solvers._sums import PairwiseSum
from skdp.solvers._table import Table

__all__ = [
    "MatrixCurvature",
    "matrix_gradient",
    "matrix_gradient_curvature",
    "matrix_gradient_hessian",
    "matrix_margins",
    "rough_gradient",
    "rough_product",
]

#: Lengths of rows within this factor of the unit are safe in single precision.
_FAR = 2.0**-50
#: Numbers of the second derivatives of rows that are held at once.
_MOST_ENTRIES = 2**21


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


def _centred(theta: FloatArray) -> FloatArray:
    """Return theta less the mean of the classes, which turns no margin's difference.

    Ridge and linear term alone decide on that mean; where it is large, margins would
    lose digits by it.
    """
    centred: FloatArray = theta - theta.mean(axis=0)
    return centred


def matrix_gradient(table: Table, loss: MatrixLoss, theta: FloatArray) -> FloatArray:
    """Return the gradient of the sum of losses, shape (K, d), in the table's units."""
    total = PairwiseSum(np.zeros(theta.shape))
    theta = _centred(theta)
    for x, y, f in table:
        slopes = loss.gradient(y, matrix_margins(x, f, theta, table.constant))
        total.add(pull_back(x, f, slopes, table.constant))
    return total.total()


def rough_gradient(table: Table, loss: MatrixLoss, theta: FloatArray) -> FloatArray:
    """Return the gradient with all but its sums over blocks in single precision."""
    total = PairwiseSum(np.zeros(theta.shape))
    single = _single(_centred(theta))
    for z, y in _singles(table):
        slopes = loss.gradient(y, matrix_margins(z, None, single, table.constant))
        total.add(pull_back(z, None, slopes, table.constant))
    return total.total()


def rough_product(
    table: Table, loss: MatrixLoss, theta: FloatArray, v: FloatArray
) -> FloatArray:
    """Return the Hessian at ``theta`` times ``v``, in single precision."""
    total = PairwiseSum(np.zeros(theta.shape))
    K = len(theta)
    both = _single(np.concatenate([_centred(theta), v]))
    for z, y in _singles(table):
        t = matrix_margins(z, None, both, table.constant)
        bent = loss.hessian_product(y, t[:, :K], t[:, K:])
        total.add(pull_back(z, None, bent, table.constant))
    return total.total()


def _singles(table: Table) -> Iterator[tuple[MatrixLike, FloatArray]]:
    """Yield clipped rows in single precision, overwritten by the next, and labels."""
    buffer = _single(np.empty(0))
    for x, y, f in table:
        if not isinstance(x, np.ndarray):
            yield x.multiply(f[:, None]).tocsr().astype(np.float32), y
            continue
        if buffer.size < x.size:
            buffer = _single(np.empty(x.size))
        z = buffer[: x.size].reshape(x.shape)
        _clip_to_single(x, f, table.unit, z)
        yield z, y


def _clip_to_single(x: FloatArray, f: FloatArray, unit: float, out: FloatArray) -> None:
    """Write ``f x``; a change of unit by a power of two changes no bit.

    Rounding first is faster, if nothing overflows.
    """
    if not _FAR < unit < 1.0 / _FAR:
        x, f, unit = x / unit, f * unit, 1.0
    if f.size and f.min() * unit < _FAR:
        np.multiply(x, f[:, None], out=out, casting="same_kind")
    else:
        out[...] = x
        out *= _single(f)[:, None]


def _single(numbers: FloatArray) -> FloatArray:
    """Return numbers in single precision, of which the type of arrays says nothing."""
    return cast(FloatArray, numbers.astype(np.float32))


def matrix_gradient_hessian(
    table: Table, loss: MatrixLoss, theta: FloatArray, precision: type = np.float64
) -> tuple[FloatArray, FloatArray]:
    """Return gradient, shape (K, d), and Hessian, shape (Kd, Kd), of the sum.

    Of the Hessian alone the products may be less precise.
    """
    total = PairwiseSum(np.zeros(theta.shape))
    hessian = HessianSum(len(theta), table.n_coefficients, precision)
    theta = _centred(theta)
    for x, y, f in table:
        t = matrix_margins(x, f, theta, table.constant)
        total.add(pull_back(x, f, loss.gradient(y, t), table.constant))
        for rows in _short_runs(len(y), len(theta)):
            bent = loss.hessian(y[rows], t[rows])
            hessian.add(x[rows], f[rows], bent, table.constant)
    return total.total(), hessian.total()


def _short_runs(n_rows: int, n_margins: int) -> Iterator[slice]:
    """Yield runs of rows whose second derivatives take some 16 MiB at most."""
    step = max(1, _MOST_ENTRIES // n_margins**2)
    for start in range(0, n_rows, step):
        yield slice(start, start + step)


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
        bent = self._loss.hessian_diagonal(y, t)
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
            total.add(pull_back(x, f, bent, constant))
        return total.total().ravel()


def matrix_gradient_curvature(
    table: Table, loss: MatrixLoss, theta: FloatArray
) -> tuple[FloatArray, MatrixCurvature]:
    """Return gradient, shape (K, d), and curvature of the sum of losses."""
    total = PairwiseSum(np.zeros(theta.shape))
    curvature = MatrixCurvature(table, loss, theta)
    theta = _centred(theta)
    for x, y, f in table:
        t = matrix_margins(x, f, theta, table.constant)
        total.add(pull_back(x, f, loss.gradient(y, t), table.constant))
        curvature.add_block(x, y, f, t)
    return total.total(), curvature
