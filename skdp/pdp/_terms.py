"""The two derivatives of a person's loss that every formula of this floor reads.

Notation
--------
t        margin of one row, shape (n,)
p        |f'(t; y)|, shape (n,)
h        f''(t; y), shape (n,)
q        squared L2 norm of the clipped row, intercept constant included, shape (n,)
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from skdp._typing import BoolArray, FloatArray
from skdp.losses import Loss
from skdp.rows import PrivateRows

__all__ = ["MarginTerms", "margin_terms"]


@dataclass(frozen=True, slots=True)
class MarginTerms:
    """Derivatives and squared norms of one block of rows.

    ``rows`` are the clipped rows, shape (n, d); ``declared`` is False for a row of an
    undeclared class, which has weight zero.
    """

    rows: FloatArray
    declared: BoolArray
    slope: FloatArray
    curvature: FloatArray
    squared_norm: FloatArray


def margin_terms(
    rows: PrivateRows, loss: Loss, theta: FloatArray
) -> Iterator[MarginTerms]:
    """Yield the terms of each block at the coefficient vector ``theta``."""
    for X, y in rows.projected():
        t = X @ theta
        yield MarginTerms(
            rows=X,
            declared=y != 0.0,
            slope=loss.gradient(y, t),
            curvature=loss.hessian(y, t),
            squared_norm=np.einsum("ij,ij->i", X, X),
        )
