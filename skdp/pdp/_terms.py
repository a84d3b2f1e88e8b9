"""What every formula of this floor reads off a row: derivatives, norm and products.

Notation
--------
t        margin of one row, shape (n,)
p        |f'(t; y)|, or its largest value near t, shape (n,)
h        f''(t; y), or its largest value near t, shape (n,)
q        squared L2 norm of the clipped row, intercept constant included, shape (n,)
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from skdp._typing import BoolArray, FloatArray
from skdp.losses import Tilting
from skdp.rows import PrivateRows

__all__ = ["MarginTerms", "margin_terms", "row_products"]


@dataclass(frozen=True, slots=True)
class MarginTerms:
    """Labels, derivatives and squared norms of some rows, each of shape (n,).

    ``declared`` is False for a row of an undeclared class, which has weight zero.
    ``products`` of shape (n, m) are those of the rows with the directions asked for.
    """

    labels: FloatArray
    declared: BoolArray
    slope: FloatArray
    curvature: FloatArray
    squared_norm: FloatArray
    products: FloatArray

    @classmethod
    def near(
        cls,
        loss: Tilting,
        y: FloatArray,
        margin: FloatArray,
        squared_norm: FloatArray,
        *,
        reach: float = 0.0,
        products: FloatArray | None = None,
    ) -> Self:
        """Return the terms at given margins, or the largest within reach of them."""
        if reach == 0.0:
            slope, curvature = loss.derivatives(y, margin)
        else:
            away = reach * np.sqrt(squared_norm)
            slope, curvature = _largest(loss, y, margin - away, margin + away)
        if products is None:
            products = np.empty((y.size, 0))
        declared = _has_weight(loss, y)
        return cls(y, declared, slope, curvature, squared_norm, products)


def _largest(
    loss: Tilting, y: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the largest sizes of both derivatives between two margins.

    The first one rises with the margin, the second one up to the crest.
    """
    ends = loss.gradient(y, low), loss.gradient(y, high)
    nearest = np.clip(loss.crest(y), low, high)
    return np.maximum(-ends[0], ends[1]), loss.hessian(y, nearest)


def _has_weight(loss: Tilting, y: FloatArray) -> BoolArray:
    """Tell which rows are part of the objective; any number is a target."""
    out: BoolArray = (y != 0.0) | hasattr(loss, "target_bound")
    return out


def margin_terms(
    rows: PrivateRows,
    loss: Tilting,
    theta: FloatArray,
    directions: FloatArray | None = None,
    *,
    reach: float = 0.0,
) -> Iterator[MarginTerms]:
    """Yield the terms of each block at the coefficient vector ``theta``.

    They hold for all vectors that change the margin of a row of norm one by at most
    ``reach``. ``directions`` of shape (n_coefficients, m) are what the rows are
    multiplied with as well.
    """
    # one matrix product serves all: margins come first
    targets = theta[:, None]
    if directions is not None:
        targets = np.hstack([targets, directions])
    for y, images, squared in row_products(rows, targets):
        margin, products = images[:, 0], images[:, 1:]
        yield MarginTerms.near(loss, y, margin, squared, reach=reach, products=products)


def row_products(
    rows: PrivateRows, targets: FloatArray
) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
    """Yield labels, products with ``targets`` and squared norms of each block's rows.

    Rows are clipped by their factors on the fly: no block is copied. ``targets`` are
    columns, shape (n_coefficients, m).
    """
    ball, d = rows.ball, rows.blocks.n_features
    offset = ball.intercept_scaling * targets[d:].sum(axis=0)
    for X, y in rows.blocks:
        clipping = ball.clipping(X)
        images = np.asarray(clipping.nearer(X) @ targets[:d])
        images *= clipping.factors[:, None]
        images += offset
        norm = clipping.factors * clipping.norms
        yield y, images, norm * norm + ball.intercept_scaling**2
