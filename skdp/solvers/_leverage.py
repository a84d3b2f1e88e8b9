r"""What the privacy loss of each person needs, for all rows in one pass.

Notation
--------
x~   clipped row with the intercept's constant
t    margin :math:`\tilde x^T\theta`                          -> ``margins``
m    leverage :math:`\tilde x^T H^{-1} \tilde x`              -> ``leverages``
q    :math:`|\tilde x|^2`                                     -> ``squared_norms``
     :math:`\tilde x^T g_0`                                   -> ``products``
L    Cholesky factor of H: m is the squared norm of :math:`\tilde x^T L^{-T}`
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from skdp._typing import FloatArray, MatrixLike
from skdp.rows import PrivateRows
from skdp.rows._l2ball import Clipping

__all__ = ["RowStatistics", "row_statistics"]


@dataclass(frozen=True, slots=True)
class RowStatistics:
    """One number for each row, in the order of the rows; functions of private data.

    Attributes
    ----------
    margins, leverages, squared_norms, products : ndarray of shape (n,)
    """

    margins: FloatArray
    leverages: FloatArray
    squared_norms: FloatArray
    products: FloatArray


def row_statistics(
    rows: PrivateRows, theta: FloatArray, hessian: FloatArray, gradient: FloatArray
) -> RowStatistics:
    """Return margins, leverages, squared norms and products with a gradient.

    Parameters
    ----------
    rows : PrivateRows
        Training rows or others; clipped by their ball.
    theta : ndarray of shape (n_coefficients,)
        Coefficients.
    hessian : ndarray of shape (n_coefficients, n_coefficients)
        Symmetric positive definite.
    gradient : ndarray of shape (n_coefficients,)
        Vector that each row is multiplied with.

    Returns
    -------
    statistics : RowStatistics
        Nothing of the size of the table is formed on the way.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.rows import L2Ball, PrivateRows, as_row_blocks
    >>> from skdp.solvers import row_statistics
    >>> rows = PrivateRows(as_row_blocks(np.array([[0.6, 0.8]])), L2Ball(1.0))
    >>> one = np.ones(2)
    >>> row_statistics(rows, one, 2.0 * np.eye(2), one).leverages
    array([0.5])
    """
    d, constant = rows.blocks.n_features, rows.ball.intercept_scaling
    factor = np.linalg.cholesky(hessian)
    whiten = solve_triangular(factor, np.eye(factor.shape[0]), lower=True).T
    # one matrix product serves all
    targets = np.column_stack([whiten, theta, gradient])
    offset = constant * targets[d:].sum(axis=0)
    parts = [
        _block_statistics(x, rows.ball.clipping(x), targets[:d], offset)
        for x, _ in rows.blocks
    ]
    columns = zip(*parts, strict=True) if parts else [[np.empty(0)]] * 4
    statistics = RowStatistics(*(np.concatenate(list(part)) for part in columns))
    statistics.squared_norms[:] += constant**2
    return statistics


def _block_statistics(
    x: MatrixLike, clipping: Clipping, targets: FloatArray, offset: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return margins, leverages, squared norms without constant, and products."""
    f = clipping.factors
    images = np.asarray(clipping.nearer(x) @ targets)
    if offset.any():
        images *= f[:, None]
        images += offset
        f = np.ones_like(f)
    white = images[:, :-2]
    leverages = np.einsum("ij,ij->i", white, white) * f * f
    squares = (clipping.norms * clipping.factors) ** 2
    return images[:, -2] * f, leverages, squares, images[:, -1] * f
