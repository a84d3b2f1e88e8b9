"""Public scaling steps of a pipeline, folded into constants of each column."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from skdp._typing import FloatArray
from skdp.preprocessing._bounded_scaler import BoundedScaler
from skdp.preprocessing._row_clipper import RowClipper

__all__ = ["Folded", "fold"]


@dataclass(frozen=True, slots=True)
class Folded:
    """What the steps do: ``(clip(raw, lower, upper) - shift) / scale``, then clip rows.

    Attributes
    ----------
    columns : dict of str to ndarray of shape (n_features,)
        Empty without a scaling step; else ``column_lower``, ``column_upper``,
        ``column_shift`` and ``column_scale``.
    data_norm : float
        Bound on the norm of a row after the steps; inf without one.
    names : ndarray of str, or None
        Names of the raw columns, where a step knows them.
    """

    columns: dict[str, FloatArray]
    data_norm: float
    names: np.ndarray | None


def fold(steps: Iterable[tuple[str, Any]]) -> Folded:
    """Return what fitted scaling steps do to a row.

    Parameters
    ----------
    steps : iterable of (str, transformer)
        The steps before the last of a pipeline.

    Raises
    ------
    TypeError
        If a step is neither a scaling nor a clipping by public constants, or the order
        leaves no such constants.
    """
    columns: dict[str, FloatArray] = {}
    data_norm, names = np.inf, None
    for name, step in _flat(steps):
        if names is None:
            names = getattr(step, "feature_names_in_", None)
        if type(step) is RowClipper:
            data_norm = min(data_norm, step.data_norm)
        elif type(step) is BoundedScaler and not columns and data_norm == np.inf:
            columns = _constants(step)
        else:
            raise TypeError(
                f"the step {name!r} cannot be told by constants of each column, got "
                f"{type(step).__name__}. Allowed: at most one BoundedScaler, followed "
                "by RowClippers. Publish pipeline[-1].report_ instead, whose features "
                "are the columns that the last step takes."
            )
    return Folded(columns, float(data_norm), names)


def _flat(steps: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield the steps that do something, those of inner pipelines as well."""
    for name, step in steps:
        if type(step) is Pipeline:
            yield from _flat(step.steps)
        elif step is not None and step != "passthrough":
            yield name, step


def _constants(scaler: BoundedScaler) -> dict[str, FloatArray]:
    """Return the constants of a fitted scaler; a constant column becomes 0."""
    lower, upper = scaler.lower_, scaler.upper_
    width = upper - lower
    shift, scale = lower, width
    if tuple(scaler.feature_range) == (-1, 1):
        shift, scale = lower + width / 2, width / 2
    return {
        "column_lower": lower,
        "column_upper": upper,
        "column_shift": np.where(width > 0.0, shift, lower),
        "column_scale": np.where(width > 0.0, scale, 1.0),
    }
