"""The objective of several margins a row, over a table or a part, in solver units."""

import math
from dataclasses import dataclass, field

import numpy as np

from skdp._typing import FloatArray
from skdp.losses import MatrixLoss
from skdp.solvers._curvature import CurvatureModel
from skdp.solvers._matrix_curvature import matrix_gradient_curvature
from skdp.solvers._matrix_passes import matrix_gradient, matrix_gradient_hessian
from skdp.solvers._matrix_rough import rough_gradient, rough_product
from skdp.solvers._model import Model, QuadraticModel
from skdp.solvers._problem import Ridged
from skdp.solvers._table import Table

__all__ = ["MatrixProblem", "RoughProblem", "TangentProblem"]

#: Above this many coefficients a Hessian costs too much time and memory (18 MB).
_MAX_COEFFICIENTS = 1500
#: Above this many classes pairs of them cost more than all else.
_MAX_CLASSES = 128
#: Shares of the rows on which a start is found: smaller ones, as Hessians cost more.
_PARTS = (0.02, 0.1)
#: What replaces the last of them where rows are few, from the smallest that will do.
_LARGER_PARTS = (0.2, 0.4)
#: Nanoseconds a row, measured at 3 to 100 classes and 4 to 300 columns: of a gradient
#: for each class and coefficient; of a Hessian for each pair of coefficients, of
#: columns and of classes. Of factoring it for each triple of coefficients, in all.
_CLASS_NS, _COEFFICIENT_NS = 15.0, 0.8
_PAIR_NS, _COLUMNS_NS, _CLASSES_NS = 0.02, 0.7, 6.0
_TRIPLE_NS = 0.025
#: A row tells about K - 1 coefficients of a column; parts hold so many rows for each
#: coefficient.
_ROWS_A_COEFFICIENT = 2
#: Four roundings of float64.
_EPS = 4.0 * float(np.finfo(np.float64).eps)
#: About ten times what single precision loses in the slope of a row.
_ROUGH_EPS = 30.0 * 2.0**-24
#: Digits of a product with the Hessian in single precision.
_TANGENT_EPS = 1e-5


@dataclass(slots=True)
class MatrixProblem(Ridged):
    """The objective over a table or a part of it, in the units of the solver."""

    table: Table
    loss: MatrixLoss
    alpha: float
    linear: FloatArray
    share: float = 1.0
    n_passes: int = 0

    def gradient(self, theta: FloatArray) -> FloatArray:
        """Return the gradient at ``theta``."""
        self.n_passes += 1
        data = matrix_gradient(self.table, self.loss, self._matrix(theta))
        return self._regularise(data.ravel(), theta)

    def gradient_model(self, theta: FloatArray) -> tuple[FloatArray, Model]:
        """Return gradient and a fresh model at ``theta``."""
        self.n_passes += 1
        point = (self.table, self.loss, self._matrix(theta))
        model: Model
        if self.matrix_free:
            data, curvature = matrix_gradient_curvature(*point)
            model = CurvatureModel(curvature, self.alpha, self.share)
        else:
            data, hessian = matrix_gradient_hessian(*point, np.float32)
            hessian /= self.share
            hessian[np.diag_indices_from(hessian)] += self.alpha
            model = QuadraticModel(hessian, self.alpha)
        return self._regularise(data.ravel(), theta), model

    def _matrix(self, theta: FloatArray) -> FloatArray:
        return theta.reshape(self.loss.n_classes, self.table.n_coefficients)

    @property
    def matrix_free(self) -> bool:
        """Whether the Hessian is too large to be formed."""
        return (
            self.linear.size > _MAX_COEFFICIENTS or self.loss.n_classes > _MAX_CLASSES
        )

    @property
    def parts(self) -> tuple[float, ...]:
        """Shares of the rows on which a start is found, each from the answer before."""
        return _PARTS

    @property
    def hessian_cost(self) -> float:
        """What a Hessian costs more than a gradient, in gradients."""
        K, d = self.loss.n_classes, self.table.n_coefficients
        size = self.linear.size
        gradient = _CLASS_NS * K + _COEFFICIENT_NS * size
        hessian = _PAIR_NS * size**2 + _COLUMNS_NS * d**2 + _CLASSES_NS * K**2
        factor = _TRIPLE_NS * size**3 / max(1, self.table.n_rows_seen)
        return (hessian + factor) / gradient

    def part(self, fraction: float) -> "MatrixProblem | None":
        """Return the problem of about ``fraction`` of the rows, where that is cheap."""
        at_least = _ROWS_A_COEFFICIENT * self.linear.size
        larger = _LARGER_PARTS if fraction == _PARTS[-1] else ()
        for size in (fraction, *larger):
            part = self.table.part(size, at_least)
            if part is not None:
                return MatrixProblem(
                    part[0], self.loss, self.alpha, self.linear, part[1]
                )
        return None

    def rough(self) -> "RoughProblem | None":
        """Return the problem with gradients in single precision, where that pays."""
        if self.matrix_free:
            return None
        return RoughProblem(self.table, self.loss, self.alpha, self.linear)

    def tangent(self, theta: FloatArray) -> "TangentProblem":
        """Return the problem with the gradient's tangent at ``theta``."""
        return TangentProblem(
            self.table,
            self.loss,
            self.alpha,
            self.linear,
            anchor=theta,
            there=self.gradient(theta),
        )

    def rounding(self, theta: FloatArray) -> float:
        """Return a bound on the rounding of the gradient, whatever the rows."""
        constants = self.loss.constants(self.table.radius)
        bent = constants.smoothness * float(np.linalg.norm(theta)) * theta.size
        return self.ridge_rounding(theta) + _EPS * self.table.n_rows_seen * (
            constants.lipschitz + bent
        )


class RoughProblem(MatrixProblem):
    """The objective over all rows, with gradients in single precision."""

    __slots__ = ()

    def gradient(self, theta: FloatArray) -> FloatArray:
        """Return the gradient at ``theta``, to a few digits."""
        self.n_passes += 1
        data = rough_gradient(self.table, self.loss, self._matrix(theta))
        return self._regularise(data.ravel(), theta)

    def rounding(self, theta: FloatArray) -> float:
        """Return what the rounding of rows that differ adds up to."""
        lipschitz = self.loss.constants(self.table.radius).lipschitz
        return _ROUGH_EPS * lipschitz * math.sqrt(self.table.n_rows_seen)


@dataclass(slots=True)
class TangentProblem(MatrixProblem):
    """The objective with the tangent of its gradient at a point, in single precision.

    Near the point it has more digits than a rough gradient: all of the gradient there,
    and as many of the change.
    """

    anchor: FloatArray = field(kw_only=True)
    there: FloatArray = field(kw_only=True)

    def gradient(self, theta: FloatArray) -> FloatArray:
        """Return the tangent at ``theta``."""
        step = theta - self.anchor
        if not step.any():
            return self.there
        self.n_passes += 1
        bent = rough_product(
            self.table, self.loss, self._matrix(self.anchor), self._matrix(step)
        )
        return self.there + bent.ravel() + self.alpha * step

    def rounding(self, theta: FloatArray) -> float:
        """Return what a few digits of the gradient at the point amount to."""
        return _TANGENT_EPS * float(np.linalg.norm(self.there))
