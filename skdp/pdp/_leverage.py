r"""Bounds on leverages from a matrix below the Hessian, which need not be definite.

Notation (derived in docs/proofs/published_report.md, "Leverage")
-----------------------------------------------------------------
H       Hessian of J0, of which only H >= alpha I and H >= Lo is known
Lo      public symmetric matrix, of any signs
V, e    its eigenvectors (columns) and eigenvalues
w       weight: H >= w Lo + (1 - w) alpha I for every w in [0, 1]
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from skdp._typing import FloatArray

__all__ = ["LeverageBound"]

#: Odds w : (w_max - w) of the weights tried; twofold steps lose about 3 %.
_ODDS = 2.0 ** np.arange(-10, 9)


@dataclass(frozen=True, slots=True, eq=False)
class LeverageBound:
    r"""An upper bound on :math:`x^T H^{-1} x` that needs no Hessian.

    For every weight w in [0, 1] that leaves the mixture positive definite,

    .. math:: x^T H^{-1} x \le x^T (w\, Lo + (1 - w)\, \alpha I)^{-1} x
        = \sum_j \frac{(v_j \cdot x)^2}{w e_j + (1 - w) \alpha} ,

    and the least over some public weights is taken. (Putting ``max(e_j, alpha)`` for
    the eigenvalues is not a bound: the largest of two matrices is no matrix.)

    Attributes
    ----------
    directions : ndarray of shape (d, d)
        The eigenvectors of Lo, a column each.
    reciprocals : ndarray of shape (d, n_weights)
        One over the eigenvalues of each mixture.
    """

    directions: FloatArray
    reciprocals: FloatArray

    @classmethod
    def of(cls, lower: FloatArray, alpha: float, *, inflation: float = 1.0) -> Self:
        """Return the bound for H >= ``lower`` and H >= ``alpha`` I.

        Parameters
        ----------
        lower : ndarray of shape (d, d)
            Symmetric.
        alpha : float
            The ridge.
        inflation : float, default=1.0
            What the bound is multiplied by.
        """
        values, vectors = np.linalg.eigh(lower)
        # the computed eigenvalues are off by rounding, in units of the largest
        values -= 4 * len(values) * np.finfo(np.float64).eps * np.abs(values).max()
        weights = _weights(float(values[0]), alpha)
        mixed = alpha + weights * (values[:, None] - alpha)
        return cls(vectors, inflation / mixed)

    def __call__(self, coordinates: FloatArray) -> FloatArray:
        """Return the bound for rows given by their products with ``directions``.

        Parameters
        ----------
        coordinates : ndarray of shape (n, d)
            Overwritten by their squares.

        Returns
        -------
        leverage : ndarray of shape (n,)
        """
        np.square(coordinates, out=coordinates)
        least: FloatArray = (coordinates @ self.reciprocals).min(axis=1)
        return least

    def numbers(self) -> dict[str, list[list[float]]]:
        """Return both matrices as lists of rows."""
        return {
            "directions": self.directions.tolist(),
            "reciprocals": self.reciprocals.tolist(),
        }


def _weights(smallest: float, alpha: float) -> FloatArray:
    """Return weights that leave every mixture positive definite."""
    if smallest >= alpha:
        return np.ones(1)  # Lo alone is best
    share = _ODDS / (1.0 + _ODDS)
    if smallest > 0.0:
        return np.append(share, 1.0)
    return share * (alpha / (alpha - smallest))
