"""Margins of a linear model, a number for every finite row."""

from typing import Any

import numpy as np

from skdp._typing import FloatArray

__all__ = ["dense", "margins"]


def margins(X: Any, coef: FloatArray, intercept: FloatArray | float) -> FloatArray:
    """Return ``X @ coef.T + intercept`` in float64, infinite only where it overflows.

    ``coef`` has shape (d,), or (K, d) for several margins a row. Products of huge rows
    overflow with both signs, and infinity less infinity is no number; such rows are
    scaled before the product.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        out = np.asarray(X @ coef.T + intercept, dtype=np.float64)
    odd = np.unique(np.nonzero(~np.isfinite(out))[0])
    if odd.size:
        rows = X[odd].toarray() if hasattr(X, "toarray") else np.asarray(X)[odd]
        size = np.abs(rows).max(axis=1)
        with np.errstate(over="ignore"):
            scaled = ((rows / size[:, None]) @ coef.T).T * size
            out[odd] = scaled.T + intercept
    return out


def dense(X: Any) -> Any:
    """Return rows as something that multiplies: a frame becomes an array."""
    return X.to_numpy(dtype=np.float64) if hasattr(X, "to_numpy") else X
