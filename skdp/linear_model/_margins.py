"""Margins of a linear model, a number for every finite row."""

from typing import Any

import numpy as np

from skdp._typing import FloatArray

__all__ = ["dense", "margins"]


def margins(X: Any, coef: FloatArray, intercept: float) -> FloatArray:
    """Return ``X @ coef + intercept`` in float64, infinite only where it overflows.

    Products of huge rows overflow with both signs, and infinity less infinity is no
    number; such rows are scaled before the product.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        out = np.asarray(X @ coef + intercept, dtype=np.float64)
    odd = np.flatnonzero(~np.isfinite(out))
    if odd.size:
        rows = X[odd].toarray() if hasattr(X, "toarray") else np.asarray(X)[odd]
        size = np.abs(rows).max(axis=1)
        with np.errstate(over="ignore"):
            out[odd] = (rows / size[:, None]) @ coef * size + intercept
    return out


def dense(X: Any) -> Any:
    """Return rows as something that multiplies: a frame becomes an array."""
    return X.to_numpy(dtype=np.float64) if hasattr(X, "to_numpy") else X
