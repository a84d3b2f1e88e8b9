"""Public ranges of columns: read, check, and lay out one range a column."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self, TypeGuard

import numpy as np

from skdp._typing import FloatArray

__all__ = ["PublicRanges"]

#: Ends beyond this are refused, so that no width overflows.
LARGEST_END = 1e100

ALLOWED = (
    "a pair (lower, upper) of numbers or of one-dimensional arrays, or a mapping "
    "{column name: (lower, upper)}, with finite lower <= upper"
)
REMEDY = "Take the ranges from public knowledge, for example a codebook."


@dataclass(frozen=True, slots=True)
class PublicRanges:
    """Lower and upper ends, with the columns they belong to when given by name."""

    lower: FloatArray
    upper: FloatArray
    names: tuple[object, ...] | None = None

    @classmethod
    def from_parameter(cls, bounds: object) -> Self:
        """Read the parameter ``bounds``; raise, naming it, when it makes no sense."""
        names, lower, upper = _split(bounds)
        ranges = cls(_as_ends(lower), _as_ends(upper), names)
        ranges._check_shapes()
        ranges._check_values()
        return ranges

    def for_columns(
        self, n_features: int, columns: list[object] | None
    ) -> tuple[FloatArray, FloatArray]:
        """Return both ends for each column of X, in its order, shape (n_features,)."""
        lower, upper = self.lower, self.upper
        if self.names is not None:
            order = self._positions(columns)
            lower, upper = lower[order], upper[order]
        for ends in (lower, upper):
            if ends.ndim == 1 and len(ends) != n_features:
                raise ValueError(
                    f"bounds give {len(ends)} ranges, but X has {n_features} features. "
                    "Allowed: one number for all columns, or one for each column. "
                    "Give the ranges in the order of the columns, or by name."
                )
        shape = (n_features,)
        return (
            np.broadcast_to(lower, shape).copy(),
            np.broadcast_to(upper, shape).copy(),
        )

    def _positions(self, columns: list[object] | None) -> list[int]:
        if columns is None:
            raise ValueError(
                "bounds are given by column name, but X has no column names. Allowed: "
                "a data frame whose column names are all strings. Pass such a frame, "
                "or a pair (lower, upper) of arrays."
            )
        place = {name: i for i, name in enumerate(self.names or ())}
        missing = [name for name in columns if name not in place]
        if missing:
            raise ValueError(
                f"bounds have no range for the columns {missing!r}. Allowed: a mapping "
                "with a range for each column of X. Add the missing ranges."
            )
        return [place[name] for name in columns]

    def _check_shapes(self) -> None:
        sizes = {ends.size for ends in (self.lower, self.upper) if ends.ndim == 1}
        if max(self.lower.ndim, self.upper.ndim) > 1 or len(sizes) > 1:
            raise ValueError(
                "bounds have ends of unlike or too many dimensions, got shapes "
                f"{self.lower.shape} and {self.upper.shape}. Allowed: {ALLOWED}. "
                "Give both ends the same length."
            )

    def _check_values(self) -> None:
        for ends in (self.lower, self.upper):
            # nan fails the comparison, so it is refused here with inf
            if not np.all(np.abs(ends) <= LARGEST_END):
                raise ValueError(
                    "bounds must be finite and at most 1e100 in size, got "
                    f"{ends.tolist()!r}. Allowed: {ALLOWED}. {REMEDY}"
                )
        if np.any(self.lower > self.upper):
            raise ValueError(
                "bounds have a lower end above the upper end, got "
                f"{self.lower.tolist()!r} and {self.upper.tolist()!r}. "
                f"Allowed: {ALLOWED}. Swap the ends."
            )


def _split(bounds: object) -> tuple[tuple[object, ...] | None, object, object]:
    """Return names (or None), lower ends and upper ends."""
    if _is_keyed(bounds):
        names = tuple(bounds.keys())
        pairs = [_pair(bounds[name]) for name in names]
        return names, [low for low, _ in pairs], [high for _, high in pairs]
    lower, upper = _pair(bounds)
    if _is_keyed(lower) and _is_keyed(upper):
        names = tuple(lower.keys())
        return names, [lower[name] for name in names], [upper[name] for name in names]
    return None, lower, upper


def _is_keyed(value: object) -> TypeGuard[Mapping[object, object]]:
    """Tell whether values are looked up by name: a mapping, or a pandas Series."""
    return hasattr(value, "keys") and hasattr(value, "__getitem__")


def _pair(value: object) -> tuple[object, object]:
    if not isinstance(value, tuple | list | np.ndarray) or len(value) != 2:
        raise TypeError(
            f"bounds must come in pairs, got {value!r}. Allowed: {ALLOWED}. {REMEDY}"
        )
    return value[0], value[1]


def _as_ends(value: object) -> FloatArray:
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"bounds must be numbers, got {value!r}. Allowed: {ALLOWED}. {REMEDY}"
        ) from None
