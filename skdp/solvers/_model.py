r"""Quadratic model of the objective: a Cholesky factor and quasi-Newton corrections.

Notation
--------
H    Hessian of the whole or of a part, scaled up; factored once     -> ``hessian``
s    step between two points                                         -> ``step``
q    difference of their gradients                                   -> ``change``

The two-loop recursion applies the BFGS inverse built from H and the pairs (s, q).
"""

from typing import Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from skdp._typing import FloatArray

__all__ = ["Model", "QuadraticModel"]

#: Pairs kept; a model that needs more of them is replaced by a fresh Hessian.
_MAX_PAIRS = 20


class Model(Protocol):
    """Something positive definite that approximates the Hessian of the whole."""

    def direction(self, gradient: FloatArray) -> FloatArray:
        """Return minus the inverse model applied to the gradient, at least roughly."""
        ...

    def learn(self, step: FloatArray, change: FloatArray) -> None:
        """Correct the model by what the gradient did over one step."""
        ...


class QuadraticModel:
    """A positive definite model that gives directions and learns from steps.

    Parameters
    ----------
    hessian : ndarray of shape (d, d)
        Positive semidefinite up to rounding.
    alpha : float
        Ridge, already part of ``hessian``; a lower bound on its eigenvalues.
    """

    def __init__(self, hessian: FloatArray, alpha: float) -> None:
        self._factor = _robust_factor(hessian, alpha)
        self._pairs: list[tuple[FloatArray, FloatArray, float]] = []

    def direction(self, gradient: FloatArray) -> FloatArray:
        """Return minus the inverse model applied to the gradient."""
        q = gradient.copy()
        weights = []
        for s, y, rho in reversed(self._pairs):
            weights.append(rho * (s @ q))
            q -= weights[-1] * y
        r: FloatArray = cho_solve(self._factor, q, check_finite=False)
        for (s, y, rho), weight in zip(self._pairs, reversed(weights), strict=True):
            r += (weight - rho * (y @ r)) * s
        return -r

    def learn(self, step: FloatArray, change: FloatArray) -> None:
        """Correct the model by what the gradient did over one step."""
        product = float(step @ change)
        # strong convexity makes it positive; rounding may not
        if product > 0.0:
            self._pairs = self._pairs[1 - _MAX_PAIRS :]
            self._pairs.append((step, change, 1.0 / product))


def _robust_factor(hessian: FloatArray, alpha: float) -> tuple[FloatArray, bool]:
    """Return a Cholesky factor; add to the diagonal what rounding took away."""
    shift = 0.0
    diagonal = np.diag_indices_from(hessian)
    while True:
        try:
            factor: tuple[FloatArray, bool] = cho_factor(
                hessian, lower=True, check_finite=False
            )
            return factor
        except np.linalg.LinAlgError:
            # the factor only steers: any positive definite matrix converges
            increase = max(alpha, 1e-15 * float(np.trace(hessian)), 9.0 * shift)
            hessian[diagonal] += increase
            shift += increase
