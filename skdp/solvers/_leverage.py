r"""What the privacy loss of each person needs, block by block in one pass.

Notation
--------
x~   clipped row with the intercept's constant
y    label                                                 -> ``labels``
t    margin :math:`\tilde x^T\theta`                          -> ``margins``
m    leverage :math:`\tilde x^T H^{-1} \tilde x`              -> ``leverages``
q    :math:`|\tilde x|^2`                                     -> ``squared_norms``
     :math:`\tilde x^T g_0`                                   -> ``products``
L    Cholesky factor of H: m is the squared norm of :math:`\tilde x^T L^{-T}`
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from skdp._typing import FloatArray, MatrixLike
from skdp.solvers._table import Table

__all__ = ["RowStatistics", "row_statistics"]


@dataclass(frozen=True, slots=True)
class RowStatistics:
    """One number for each row of a block; functions of private data.

    Attributes
    ----------
    labels, margins, leverages, squared_norms, products : ndarray of shape (n,)
    """

    labels: FloatArray
    margins: FloatArray
    leverages: FloatArray
    squared_norms: FloatArray
    products: FloatArray


def row_statistics(
    table: Table, theta: FloatArray, hessian: FloatArray, gradient: FloatArray
) -> Iterator[RowStatistics]:
    """Yield margins, leverages, squared norms and products with a gradient.

    Parameters
    ----------
    table : Table
        Training rows or others; that of an objective has its clip factors already.
    theta : ndarray of shape (n_coefficients,)
        Coefficients.
    hessian : ndarray of shape (n_coefficients, n_coefficients)
        Symmetric positive definite.
    gradient : ndarray of shape (n_coefficients,)
        Vector that each row is multiplied with.

    Yields
    ------
    statistics : RowStatistics
        Of each block in turn: nothing of the length of the table is formed.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.rows import L2Ball, as_row_blocks
    >>> from skdp.solvers import Table, row_statistics
    >>> table = Table(as_row_blocks(np.array([[0.6, 0.8]])), L2Ball(1.0))
    >>> one = np.ones(2)
    >>> [s.leverages for s in row_statistics(table, one, 2.0 * np.eye(2), one)]
    [array([0.5])]
    """
    d, unit = table.n_features, table.unit
    factor = np.linalg.cholesky(hessian)
    whiten = solve_triangular(factor, np.eye(factor.shape[0]), lower=True).T
    # one matrix product serves all; the table's rows are in units of 1 / s
    targets = np.column_stack([whiten, theta, gradient]) * unit
    offset = table.constant * targets[d:].sum(axis=0)
    for index, (x, y, f) in enumerate(table):
        squares = table.squared_norms(index, x) + table.constant**2
        yield _block_statistics(x, y, f, squares * unit**2, targets[:d], offset)


def _block_statistics(
    x: MatrixLike,
    y: FloatArray,
    f: FloatArray,
    squares: FloatArray,
    targets: FloatArray,
    offset: FloatArray,
) -> RowStatistics:
    images = np.asarray(x @ targets)
    if offset.any():
        images *= f[:, None]
        images += offset
        f = np.ones_like(f)
    white = images[:, :-2]
    leverages = np.einsum("ij,ij->i", white, white) * f * f
    return RowStatistics(y, images[:, -2] * f, leverages, squares, images[:, -1] * f)
