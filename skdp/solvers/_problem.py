"""The objective over a table or a part of it, in the units of the solver."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from skdp._typing import FloatArray
from skdp.losses import Loss
from skdp.solvers._curvature import CurvatureModel, data_gradient_curvature
from skdp.solvers._model import Model, QuadraticModel
from skdp.solvers._passes import data_gradient, data_gradient_hessian
from skdp.solvers._table import Table

__all__ = ["Problem", "Ridged"]

#: Above this many columns a Hessian costs too much time and memory (8 MB).
_MAX_COLUMNS = 1000
#: Four roundings of float64.
_EPS = 4.0 * float(np.finfo(np.float64).eps)
#: Shares of the rows on which a start is found.
_PARTS = (0.02, 0.2)
#: Forming a Hessian costs this many gradients more than forming a gradient, and one
#: more for each 80 columns; measured.
_HESSIAN_COST, _COLUMNS_A_PASS = 1.2, 80.0
#: A part with fewer rows a coefficient says little about the whole.
_ROWS_A_COEFFICIENT = 4


class Ridged:
    """What ridge and linear term add to sums over a part of the rows."""

    __slots__ = ()

    alpha: float
    linear: FloatArray
    share: float

    def rough(self) -> Self | None:
        """Return None: there are no cheaper gradients."""
        return None

    def tangent(self, theta: FloatArray) -> Self:
        """Return itself: products with a Hessian are no cheaper than gradients."""
        return self

    def ridge_rounding(self, theta: FloatArray) -> float:
        """Return the rounding of ridge and linear term, which cancel in the end."""
        size = self.alpha * np.linalg.norm(theta) + np.linalg.norm(self.linear)
        return float(_EPS * size)

    def _regularise(self, data: FloatArray, theta: FloatArray) -> FloatArray:
        return data / self.share + (self.alpha * theta + self.linear)


@dataclass(slots=True)
class Problem(Ridged):
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
    transform : ndarray of shape (n_coefficients, n_coefficients), optional
        Turns a point into coefficients; the identity without it. Ridge, linear term,
        points, gradients and models are then in the coordinates of the point.
    single : bool, default=False
        Whether models come from Hessians of single precision, which they only follow.
    """

    table: Table
    loss: Loss
    alpha: float
    linear: FloatArray
    share: float = 1.0
    n_passes: int = 0
    transform: FloatArray | None = None
    single: bool = False

    def gradient(self, theta: FloatArray) -> FloatArray:
        """Return the gradient at ``theta``."""
        self.n_passes += 1
        data = data_gradient(self.table, self.loss, self._coefficients(theta))
        return self._regularise(data, theta)

    def gradient_model(self, theta: FloatArray) -> tuple[FloatArray, Model]:
        """Return gradient and a fresh model at ``theta``."""
        if not self.matrix_free:
            gradient, hessian = self.gradient_hessian(theta, single=self.single)
            return gradient, QuadraticModel(hessian, self.alpha)
        self.n_passes += 1
        data, curvature = data_gradient_curvature(self.table, self.loss, theta)
        model = CurvatureModel(curvature, self.alpha, self.share)
        return self._regularise(data, theta), model

    def gradient_hessian(
        self, theta: FloatArray, *, single: bool = False
    ) -> tuple[FloatArray, FloatArray]:
        """Return gradient and Hessian at ``theta`` from one pass."""
        self.n_passes += 1
        coefficients = self._coefficients(theta)
        data, hessian = data_gradient_hessian(
            self.table, self.loss, coefficients, single=single
        )
        if self.transform is not None:
            hessian = self.transform.T @ hessian @ self.transform
        hessian /= self.share
        hessian[np.diag_indices_from(hessian)] += self.alpha
        return self._regularise(data, theta), hessian

    @property
    def matrix_free(self) -> bool:
        """Whether the Hessian is too large to be formed."""
        # a transform is a matrix of that size already
        return self.transform is None and self.table.n_features > _MAX_COLUMNS

    def part(self, fraction: float) -> "Problem | None":
        """Return the problem of about ``fraction`` of the rows, where that is cheap."""
        at_least = _ROWS_A_COEFFICIENT * self.table.n_coefficients
        part = self.table.part(fraction, at_least)
        if part is None:
            return None
        table, share = part
        return Problem(
            table,
            self.loss,
            self.alpha,
            self.linear,
            share,
            transform=self.transform,
            single=self.single,
        )

    @property
    def parts(self) -> tuple[float, ...]:
        """Shares of the rows on which a start is found, each from the answer before."""
        return _PARTS

    @property
    def hessian_cost(self) -> float:
        """What a Hessian costs more than a gradient, in gradients."""
        return _HESSIAN_COST + self.table.n_coefficients / _COLUMNS_A_PASS

    def rounding(self, theta: FloatArray) -> float:
        """Return a bound on the rounding of the gradient, whatever the rows."""
        longest = self.table.radius
        if self.transform is not None:
            longest *= float(np.linalg.norm(self.transform))
        constants = self.loss.constants(longest)
        # a margin of size |x||theta| is off by one rounding for each coefficient
        bent = constants.smoothness * float(np.linalg.norm(theta)) * theta.size
        return self.ridge_rounding(theta) + _EPS * self.table.n_rows_seen * (
            constants.lipschitz + bent
        )

    def _coefficients(self, theta: FloatArray) -> FloatArray:
        return theta if self.transform is None else self.transform @ theta

    def _regularise(self, data: FloatArray, theta: FloatArray) -> FloatArray:
        if self.transform is not None:
            data = self.transform.T @ data
        return Ridged._regularise(self, data, theta)
