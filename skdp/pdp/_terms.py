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
from typing import Self

import numpy as np

from skdp._typing import BoolArray, FloatArray
from skdp.losses import Loss
from skdp.rows import PrivateRows

__all__ = ["MarginTerms", "margin_terms"]


@dataclass(frozen=True, slots=True)
class MarginTerms:
    """Derivatives and squared norms of some rows, each of shape (n,).

    ``declared`` is False for a row of an undeclared class, which has weight zero.
    """

    declared: BoolArray
    slope: FloatArray
    curvature: FloatArray
    squared_norm: FloatArray

    @classmethod
    def at(
        cls, loss: Loss, y: FloatArray, margin: FloatArray, squared_norm: FloatArray
    ) -> Self:
        """Return the terms at given margins."""
        slope, curvature = loss.derivatives(y, margin)
        return cls(y != 0.0, slope, curvature, squared_norm)


def margin_terms(
    rows: PrivateRows, loss: Loss, theta: FloatArray
) -> Iterator[MarginTerms]:
    """Yield the terms of each block at the coefficient vector ``theta``.

    Rows are clipped by their factors on the fly: no block is copied.
    """
    ball, d = rows.ball, rows.blocks.n_features
    coef, offset = theta[:d], ball.intercept_scaling * theta[d:].sum()
    for X, y in rows.blocks:
        clipping = ball.clipping(X)
        margin = clipping.factors * np.asarray(clipping.nearer(X) @ coef) + offset
        norm = clipping.factors * clipping.norms
        squared = norm * norm + ball.intercept_scaling**2
        yield MarginTerms.at(loss, y, margin, squared)
