"""The objective over a table or a part of it, in the units of the solver."""

from dataclasses import dataclass

import numpy as np

from skdp._typing import FloatArray
from skdp.losses import Loss
from skdp.solvers._passes import data_gradient, data_gradient_hessian
from skdp.solvers._table import Table

__all__ = ["Problem"]


@dataclass(slots=True)
class Problem:
    """A table with loss, ridge and linear term, that counts its passes.

    Parameters
    ----------
    table : Table
    loss : Loss
    alpha : float
    linear : ndarray
        Ridge and linear term in the units of the table.
    share : float, default=1.0
        Share of all rows that the table holds; their sums are scaled up by its inverse,
        so that points, gradients and models pass between a part and the whole.
    """

    table: Table
    loss: Loss
    alpha: float
    linear: FloatArray
    share: float = 1.0
    n_passes: int = 0

    def gradient(self, theta: FloatArray) -> FloatArray:
        """Return the gradient at ``theta``."""
        self.n_passes += 1
        return self._regularise(data_gradient(self.table, self.loss, theta), theta)

    def gradient_hessian(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return gradient and Hessian at ``theta`` from one pass."""
        self.n_passes += 1
        data, hessian = data_gradient_hessian(self.table, self.loss, theta)
        hessian /= self.share
        hessian[np.diag_indices_from(hessian)] += self.alpha
        return self._regularise(data, theta), hessian

    def part(self, fraction: float) -> "Problem | None":
        """Return the problem of about ``fraction`` of the rows, where that is cheap."""
        part = self.table.part(fraction)
        if part is None:
            return None
        table, share = part
        return Problem(table, self.loss, self.alpha, self.linear, share)

    def _regularise(self, data: FloatArray, theta: FloatArray) -> FloatArray:
        return data / self.share + (self.alpha * theta + self.linear)
