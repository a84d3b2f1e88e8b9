"""Symmetric matrices and the vectors of their lower triangles, row by row."""

import numpy as np

from skdp._typing import FloatArray

__all__ = ["isometric", "lower_triangle", "symmetric", "triangle_size"]


def triangle_size(n: int) -> int:
    """Return how many numbers a symmetric matrix of order ``n`` holds."""
    return n * (n + 1) // 2


def lower_triangle(matrix: FloatArray) -> FloatArray:
    """Return the entries on and below the diagonal, shape (n (n + 1) / 2,)."""
    return matrix[np.tril_indices(len(matrix))]


def symmetric(values: FloatArray, n: int) -> FloatArray:
    """Return the symmetric matrix of order ``n`` with that lower triangle."""
    out = np.empty((n, n))
    rows, columns = np.tril_indices(n)
    out[rows, columns] = values
    out[columns, rows] = values
    return out


def isometric(matrix: FloatArray) -> FloatArray:
    """Return the lower triangle with sqrt(2) off the diagonal.

    Its L2 norm is the Frobenius norm of the matrix.
    """
    rows, columns = np.tril_indices(len(matrix))
    weights = np.where(rows == columns, 1.0, np.sqrt(2.0))
    out: FloatArray = weights * matrix[rows, columns]
    return out
