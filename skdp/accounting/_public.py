"""Numbers that are public, and the refusal of numbers that may come from data."""

import math
import numbers
from typing import SupportsFloat

import numpy as np

from skdp._validation import check_real

__all__ = ["Public", "public_number"]

#: Largest log ratio a loop is priced for.
LARGEST_RATIO = 100.0
_REMEDY = (
    "Use a number known without the data: bounds on running times are only as public "
    "as what they are computed from."
)


class Public(float):
    """A number that its author declares to be known without the data.

    Samplers take bounds on acceptance probabilities, Lipschitz constants and the like
    in this form only. NumPy scalars and arrays are refused, because that is what a
    statistic of the rows looks like; arithmetic on a ``Public`` gives a plain float.

    Parameters
    ----------
    value : int or float
        Not NaN.

    Raises
    ------
    TypeError
        When the number comes out of an array.

    Examples
    --------
    >>> import math
    >>> from skdp.accounting import Public
    >>> Public(math.exp(-1.0))
    Public(0.36787...)
    """

    __slots__ = ()

    def __new__(cls, value: SupportsFloat) -> "Public":
        """Check the number."""
        return super().__new__(cls, public_number("value", value))

    def __repr__(self) -> str:
        """Show the number."""
        return f"Public({float(self)!r})"


def public_number(name: str, value: object) -> float:
    """Return a Python number as a float; refuse what came out of an array."""
    allowed = "a Python number, or Public(number)"
    if isinstance(value, np.ndarray | np.generic):
        raise TypeError(
            f"{name} comes out of an array, got type {type(value).__name__}. "
            f"Allowed: {allowed}. {_REMEDY}"
        )
    return check_real(name, value, allowed=allowed, remedy=_REMEDY)


def tagged(
    name: str, value: object, low: float, high: float, *, open_low: bool = False
) -> float:
    """Return a :class:`Public` number within [low, high] as a float."""
    if not isinstance(value, Public):
        kind = type(value).__name__
        raise TypeError(
            f"{name} is not declared public, got an object of type {kind}. "
            f"Allowed: Public(number). {_REMEDY}"
        )
    number = float(value)
    if not low <= number <= high or (open_low and number == low):
        least = "above " if open_low else "from "
        raise ValueError(
            f"{name} is out of range, got {number!r}. Allowed: {least}{low:g} to "
            f"{high:g}. {_REMEDY}"
        )
    return number


def rate(name: str, value: object, *, zero: bool = True) -> float:
    """Return a public acceptance probability within [0, 1], or (0, 1]."""
    number = public_number(name, value)
    if not 0.0 <= number <= 1.0 or (number == 0.0 and not zero):
        allowed = "0 <= value <= 1" if zero else "0 < value <= 1"
        raise ValueError(
            f"{name} is out of range, got {number!r}. Allowed: {allowed}. {_REMEDY}"
        )
    return number + 0.0


def log_ratio(name: str, value: object, *, most: float = LARGEST_RATIO) -> float:
    """Return a public bound on a log ratio, within [0, most]."""
    number = public_number(name, value)
    if not 0.0 <= number <= most or not isinstance(value, numbers.Real):
        raise ValueError(
            f"{name} is out of range, got {number!r}. Allowed: 0 to {most:g}. {_REMEDY}"
        )
    return math.fabs(number)


def group_ratio(name: str, value: float, k: int) -> float:
    """Return the bound on a log ratio for groups of k; a cut bound would be false."""
    if k * value > LARGEST_RATIO:
        raise ValueError(
            f"a group of {k} has {name} = {k * value:g}, which is out of range. "
            f"Allowed: 0 to {LARGEST_RATIO:g}. Use a smaller group, or a loop of "
            "batches."
        )
    return k * value
