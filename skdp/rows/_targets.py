"""The public range of numeric targets, and how targets are put on a common scale."""

import math
from typing import Any

import numpy as np

from skdp._typing import ArrayLike, FloatArray
from skdp._validation import check_positive

__all__ = ["Targets"]

_REMEDY = "Choose the range from public knowledge of the targets, not by looking."


class Targets:
    r"""Numeric targets of a public range, mapped to [-bound, bound].

    :math:`y \mapsto (y - m)\,\mathrm{bound}/h` with the middle m and half the width h
    of the range, after clipping to it. A target that is no number counts as the middle:
    the map is total and acts on each row alone.

    Parameters
    ----------
    low, high : float
        The range, ``low < high``; public numbers in the units of y.
    bound : float, default=1.0
        Largest encoded target, > 0: the ``target_bound`` of the loss.

    Raises
    ------
    ValueError
        If the range is empty or not finite, or the bound is not positive.

    Examples
    --------
    >>> from skdp.rows import Targets
    >>> Targets(0.0, 10.0).encode([5.0, 10.0, 1e9, float("nan")])
    array([0., 1., 1., 0.])
    """

    __slots__ = ("bound", "high", "low")

    def __init__(self, low: float, high: float, *, bound: float = 1.0) -> None:
        self.low, self.high = float(low), float(high)
        width = self.high - self.low
        if not (0.0 < width < math.inf):
            raise ValueError(
                f"the range of the targets is not an interval, got ({low!r}, {high!r})."
                f" Allowed: two finite numbers, the smaller one first. {_REMEDY}"
            )
        self.bound = check_positive("bound", bound, remedy="Use 1.")

    def __repr__(self) -> str:
        return f"Targets({self.low!r}, {self.high!r}, bound={self.bound!r})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Targets)
            and type(self) is type(other)
            and self._key == other._key
        )

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[float, float, float]:
        return self.low, self.high, self.bound

    @property
    def middle(self) -> float:
        """Middle of the range: what is encoded as 0."""
        return self.low + 0.5 * (self.high - self.low)

    @property
    def unit(self) -> float:
        """What one encoded unit is worth in the units of y."""
        return 0.5 * (self.high - self.low) / self.bound

    def encode(self, y: ArrayLike) -> FloatArray:
        """Return targets on the scale of the loss.

        Parameters
        ----------
        y : array-like of shape (n,)

        Returns
        -------
        targets : ndarray of shape (n,), float64
        """
        given: Any = np.asarray(y, dtype=np.float64)
        away = np.clip(given, self.low, self.high) - self.middle
        return self.safe(away / self.unit)

    def safe(self, encoded: ArrayLike) -> FloatArray:
        """Return encoded targets of unknown origin, kept within the bound."""
        within = np.clip(np.asarray(encoded, np.float64), -self.bound, self.bound)
        out: FloatArray = np.where(np.isnan(within), 0.0, within)
        return out
