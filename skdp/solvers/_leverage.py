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

from skdp._typing import FloatArray
from skdp.rows import PrivateRows
from skdp.solvers._passes import margins
from skdp.solvers._table import Table

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
    table = Table(rows.blocks, rows.ball)
    unit, d = table.unit, table.n_features
    theta, gradient = theta * unit, gradient * unit
    # everything is symmetric under x -> x / unit, H -> H / unit^2
    factor = np.linalg.cholesky(hessian / unit**2)
    whiten = solve_triangular(factor, np.eye(factor.shape[0]), lower=True).T
    parts: list[tuple[FloatArray, ...]] = []
    for x, _, f in table:
        dense = x if isinstance(x, np.ndarray) else x.toarray()
        white = dense @ whiten[:d]
        white *= f[:, None]
        white += table.constant * whiten[d:].sum(axis=0)
        squares = np.einsum("ij,ij->i", dense, dense) * f * f + table.constant**2
        parts.append(
            (
                margins(x, f, theta, table.constant),
                np.einsum("ij,ij->i", white, white),
                squares * unit**2,
                margins(x, f, gradient, table.constant),
            )
        )
    columns = zip(*parts, strict=True) if parts else [[np.empty(0)]] * 4
    return RowStatistics(*(np.concatenate(list(column)) for column in columns))
