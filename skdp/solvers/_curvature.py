r"""Newton directions without a Hessian: conjugate gradients on passes over the rows.

For wide tables. Memory is one number a row and a few vectors of coefficients.

Notation
--------
w    curvature of each row's loss times the square of its factor    -> ``weights``
X~   clipped rows with the intercept's constant
H    :math:`\tilde X^T W \tilde X / share + \alpha I`, only ever applied to vectors
"""

from typing import Protocol

import numpy as np

from skdp._typing import FloatArray, MatrixLike
from skdp.losses import Loss
from skdp.solvers._passes import margins, pull_back
from skdp.solvers._sums import PairwiseSum
from skdp.solvers._table import Table

__all__ = ["Curvature", "CurvatureModel", "data_gradient_curvature"]

#: A direction this exact gains two digits of the gradient; more would be wasted.
_RESIDUAL = 1e-2
#: Any number of steps gives a direction of descent, so a hard problem may be cut short.
_MAX_STEPS = 1000


class Curvature:
    """The Hessian of the sum of losses at one point, as a product with vectors."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._weights: list[FloatArray] = []
        self._diagonal = np.zeros(table.n_coefficients)

    @property
    def diagonal(self) -> FloatArray:
        """Diagonal of the Hessian."""
        return self._diagonal

    def add_block(self, x: MatrixLike, f: FloatArray, curvatures: FloatArray) -> None:
        """Keep the weights of the next block, and add to the diagonal."""
        d = self._table.n_features
        self._weights.append(curvatures)
        weights = curvatures * f * f
        if isinstance(x, np.ndarray):
            self._diagonal[:d] += np.einsum("i,ij,ij->j", weights, x, x)
        else:
            self._diagonal[:d] += weights @ x.multiply(x).tocsr()
        self._diagonal[d:] += self._table.constant**2 * curvatures.sum()

    def product(self, v: FloatArray) -> FloatArray:
        """Return the Hessian times a vector, in one pass."""
        constant = self._table.constant
        total = PairwiseSum(np.zeros_like(v))
        for (x, _, f), curvatures in zip(self._table, self._weights, strict=True):
            bent = curvatures * margins(x, f, v, constant)
            total.add(pull_back(x, f, bent, constant))
        return total.total()


class Curved(Protocol):
    """The Hessian of a sum of losses, as far as products with vectors tell."""

    @property
    def diagonal(self) -> FloatArray:
        """Diagonal of the Hessian."""
        ...

    def product(self, v: FloatArray) -> FloatArray:
        """Return the Hessian times a vector, in one pass."""
        ...


class CurvatureModel:
    """Directions by conjugate gradients, preconditioned by the diagonal.

    Parameters
    ----------
    curvature : Curved
    alpha : float
        Ridge, not part of ``curvature``.
    share : float
        Share of all rows that ``curvature`` comes from.
    """

    def __init__(self, curvature: Curved, alpha: float, share: float) -> None:
        self._curvature, self._alpha, self._share = curvature, alpha, share

    def direction(self, gradient: FloatArray) -> FloatArray:
        """Return an approximate Newton direction, one of descent."""
        diagonal = self._curvature.diagonal / self._share + self._alpha
        p = np.zeros_like(gradient)
        r = -gradient
        z = r / diagonal
        v, size = z, float(r @ z)
        target = _RESIDUAL**2 * size
        for _ in range(_MAX_STEPS):
            bent = self._curvature.product(v) / self._share + self._alpha * v
            length = size / float(v @ bent)
            p += length * v
            r -= length * bent
            z = r / diagonal
            last, size = size, float(r @ z)
            if not size > target:
                break
            v = z + (size / last) * v
        return p

    def learn(self, step: FloatArray, change: FloatArray) -> None:
        """Learn nothing: the model is renewed at every point."""


def data_gradient_curvature(
    table: Table, loss: Loss, theta: FloatArray
) -> tuple[FloatArray, Curvature]:
    """Return gradient and curvature of the sum of losses, in the table's units."""
    total = PairwiseSum(np.zeros(table.n_coefficients))
    curvature = Curvature(table)
    for x, y, f in table:
        t = margins(x, f, theta, table.constant)
        slopes, curvatures = loss.derivatives(y, t)
        total.add(pull_back(x, f, slopes, table.constant))
        curvature.add_block(x, f, curvatures)
    return total.total(), curvature
