r"""The perturbed objective: rows x loss x ridge x linear term.

.. math:: J(\theta) = \sum_i f(\tilde x_i^T \theta; y_i)
          + \frac{\alpha}{2} |\theta|^2 + b^T \theta

A sum over rows, never a mean; every coordinate is penalised, the intercept's too.

Notation
--------
x~     clipped row followed by the intercept's constant      -> ``rows.projected()``
theta  coefficients, the intercept's last                    -> ``theta``
alpha  ridge on the sum of losses                            -> ``alpha``
b      linear term, the noise of objective perturbation      -> ``linear``
"""

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from skdp._typing import FloatArray, MatrixLike
from skdp.losses import Loss
from skdp.rows import PrivateRows
from skdp.solvers._sums import PairwiseSum
from skdp.solvers._table import Table

__all__ = ["Objective"]


@dataclass(frozen=True, slots=True, eq=False)
class Objective:
    """Sum of losses with ridge and linear term, formed in passes over the rows.

    Parameters
    ----------
    rows : PrivateRows
    loss : Loss
    alpha : float
        Ridge on the sum of losses, > 0: the strong convexity of the objective.
    linear : ndarray of shape (n_coefficients,), optional
        Linear term; none means zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import LogisticLoss
    >>> from skdp.rows import L2Ball, PrivateRows, as_row_blocks
    >>> from skdp.solvers import Objective
    >>> blocks = as_row_blocks(np.array([[0.6, 0.8]]), np.array([1.0]))
    >>> objective = Objective(PrivateRows(blocks, L2Ball(1.0)), LogisticLoss(), alpha=1.0)
    >>> objective.gradient(np.zeros(2))
    array([-0.3, -0.4])
    """

    rows: PrivateRows
    loss: Loss
    alpha: float
    linear: FloatArray | None = None
    table: Table = field(init=False, repr=False)

    def __post_init__(self) -> None:
        d = self.rows.n_coefficients
        if not self.alpha > 0.0:
            raise ValueError(
                f"alpha is out of range, got {self.alpha!r}. Allowed: a number above 0. "
                "Without a ridge the objective may have no minimum."
            )
        linear = np.zeros(d) if self.linear is None else np.asarray(self.linear, float)
        if linear.shape != (d,):
            raise ValueError(
                f"linear has the wrong shape, got {linear.shape}. Allowed: ({d},), one "
                "number for each coefficient. Count the intercept as the last one."
            )
        object.__setattr__(self, "linear", linear)
        object.__setattr__(self, "table", Table(self.rows.blocks, self.rows.ball))

    def value(self, theta: FloatArray) -> float:
        """Return the objective at ``theta``, shape (n_coefficients,)."""
        scaled = theta * self.table.unit
        losses = PairwiseSum(np.float64(0.0))
        for x, y, f in self.table:
            t = margins(x, f, scaled, self.table.constant)
            losses.add(self.loss.value(y, t).sum())
        ridge = 0.5 * self.alpha * (theta @ theta)
        return float(losses.total() + ridge + self.linear @ theta)

    def gradient(self, theta: FloatArray) -> FloatArray:
        """Return the gradient at ``theta``, shape (n_coefficients,)."""
        data = data_gradient(self.table, self.loss, theta * self.table.unit)
        out: FloatArray = data * self.table.unit + self.alpha * theta + self.linear
        return out

    def value_gradient(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the objective and its gradient at ``theta``."""
        return self.value(theta), self.gradient(theta)

    def hessian(self, theta: FloatArray) -> FloatArray:
        """Return the Hessian at ``theta``, shape (n_coefficients, n_coefficients)."""
        unit = self.table.unit
        _, data = data_gradient_hessian(self.table, self.loss, theta * unit)
        data *= unit * unit
        data[np.diag_indices_from(data)] += self.alpha
        return data


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
    out[:d] = (slopes * f) @ x
    if constant:
        out[d] = constant * slopes.sum()
    return out


def data_gradient(table: Table, loss: Loss, theta: FloatArray) -> FloatArray:
    """Return the gradient of the sum of losses, in the units of the table."""
    total = PairwiseSum(np.zeros(table.n_coefficients))
    for x, y, f in table:
        slopes = loss.gradient(y, margins(x, f, theta, table.constant))
        total.add(pull_back(x, f, slopes, table.constant))
    return total.total()


def data_gradient_hessian(
    table: Table, loss: Loss, theta: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return gradient and Hessian of the sum of losses, in the units of the table."""
    d = table.n_features
    total = PairwiseSum(np.zeros(table.n_coefficients))
    hessian = np.zeros((table.n_coefficients, table.n_coefficients))
    for x, y, f in table:
        t = margins(x, f, theta, table.constant)
        total.add(pull_back(x, f, loss.gradient(y, t), table.constant))
        curvatures = loss.hessian(y, t)
        if sp.issparse(x):
            x = x.toarray()
        weighted = x * (f * np.sqrt(curvatures))[:, None]
        hessian[:d, :d] += weighted.T @ weighted
        if table.constant:
            border = pull_back(x, f, curvatures, table.constant) * table.constant
            hessian[d] += border
    hessian[:d, d:] = hessian[d:, :d].T
    return total.total(), hessian
