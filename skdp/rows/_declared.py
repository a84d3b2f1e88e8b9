"""Categories as they were declared."""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["REMEDY", "as_values", "is_missing"]

REMEDY = "Declare every category from public knowledge, for example a codebook."


def as_values(categories: Any) -> npt.NDArray[Any]:
    """Return categories as a vector in which each keeps its own type."""
    if isinstance(categories, set | frozenset):
        raise TypeError(
            "categories must be a list, got a set, whose order differs from run to "
            f"run. Allowed: a list or an array of values. {REMEDY}"
        )
    if isinstance(categories, str | bytes) or not hasattr(categories, "__len__"):
        raise TypeError(
            f"categories must be a list, got {type(categories).__name__}. Allowed: a "
            f"list or an array of values. {REMEDY}"
        )
    if hasattr(categories, "to_numpy"):
        values = np.array(categories.to_numpy())
    elif hasattr(categories, "dtype"):
        values = np.array(categories)
    else:
        entries = list(categories)
        values = np.empty(len(entries), dtype=object)
        values[:] = entries
        kinds = {type(entry) for entry in entries}
        if len(kinds) == 1 and kinds <= {bool, int, float, str}:
            values = np.array(entries)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(
            f"categories must be a list of at least one value, got an array of shape "
            f"{values.shape}. Allowed: a vector. {REMEDY}"
        )
    return values


def is_missing(value: Any) -> bool:
    """Tell whether a value equals nothing, or does not say."""
    try:
        return bool(value != value)
    except TypeError:  # pandas' NA
        return True
