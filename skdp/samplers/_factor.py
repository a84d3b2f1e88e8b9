"""A Cholesky factor that always exists."""

import numpy as np
from scipy.linalg import cho_solve

from skdp._typing import FloatArray

__all__ = ["factored", "solved"]

#: First addition to the diagonal, relative to its mean: a few roundings.
_FIRST = 4.0 * float(np.finfo(np.float64).eps)


def factored(A: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return A, made definite within its rounding where need be, and its factor.

    A sum of outer products and a ridge is positive definite, but where the ridge is
    below the rounding of the sum the computed matrix need not be. An error would tell
    something about the rows, so the diagonal is raised instead, by as little as serves.
    """
    size = max(float(np.mean(np.diag(A))), np.finfo(np.float64).tiny)
    raised, addition = A, _FIRST * size
    while True:
        try:
            return raised, np.asarray(np.linalg.cholesky(raised), dtype=np.float64)
        except np.linalg.LinAlgError:
            raised = A + addition * np.eye(len(A))
            addition *= 4.0


def solved(A: FloatArray, b: FloatArray) -> FloatArray:
    """Return the solution of A x = b for such a matrix."""
    out: FloatArray = cho_solve((factored(A)[1], True), b)
    return out
