"""What every formula of this floor reads off a row: derivatives, norm and products.

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
    """Labels, derivatives and squared norms of some rows, each of shape (n,).

    ``products`` of shape (n, m) are those of the rows with the directions asked for.
    """

    labels: FloatArray
    slope: FloatArray
    curvature: FloatArray
    squared_norm: FloatArray
    products: FloatArray

    @classmethod
    def at(
        cls,
        loss: Loss,
        y: FloatArray,
        margin: FloatArray,
        squared_norm: FloatArray,
        products: FloatArray,
    ) -> Self:
        """Return the terms at given margins."""
        slope, curvature = loss.derivatives(y, margin)
        return cls(y, slope, curvature, squared_norm, products)

    @property
    def declared(self) -> BoolArray:
        """False for a row of an undeclared class, which has weight zero."""
        out: BoolArray = self.labels != 0.0
        return out


def margin_terms(
    rows: PrivateRows,
    loss: Loss,
    theta: FloatArray,
    directions: FloatArray | None = None,
) -> Iterator[MarginTerms]:
    """Yield the terms of each block at the coefficient vector ``theta``.

    Rows are clipped by their factors on the fly: no block is copied. ``directions`` of
    shape (n_coefficients, m) are what the rows are multiplied with as well.
    """
    ball, d = rows.ball, rows.blocks.n_features
    # one matrix product serves all: margins come first
    targets = theta[:, None]
    if directions is not None:
        targets = np.hstack([targets, directions])
    offset = ball.intercept_scaling * targets[d:].sum(axis=0)
    for X, y in rows.blocks:
        clipping = ball.clipping(X)
        images = np.asarray(clipping.nearer(X) @ targets[:d])
        images *= clipping.factors[:, None]
        images += offset
        norm = clipping.factors * clipping.norms
        squared = norm * norm + ball.intercept_scaling**2
        yield MarginTerms.at(loss, y, images[:, 0], squared, images[:, 1:])
