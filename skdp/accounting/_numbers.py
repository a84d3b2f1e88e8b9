"""Checks, safe-side searches and safe-side printing shared by all guarantees."""

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, Context
from typing import TypeVar

import numpy as np
from scipy.optimize import brentq

from skdp._typing import ArrayLike, FloatArray
from skdp._validation import check_real

__all__: list[str] = []

T = TypeVar("T")

#: Epsilons beyond this behave like infinity: exp of it overflows any float.
INFINITE_EPSILON = 1e9
#: Relative width at which a search ends: the finest its root finder takes.
_RESOLUTION = 4.0 * float(np.finfo(np.float64).eps)


def nonnegative(name: str, value: object, *, maximum: float = 1e100) -> float:
    """Return ``value`` as a finite float in [0, maximum]."""
    allowed = f"a finite number from 0 to {maximum:g}"
    remedy = f"Pass the {name} of the guarantee as one number."
    number = check_real(name, value, allowed=allowed, remedy=remedy)
    if not 0.0 <= number <= maximum:
        raise ValueError(
            f"{name} is out of range, got {value!r}. Allowed: {allowed}. {remedy}"
        )
    return number + 0.0  # turns -0.0 into 0.0, so equal guarantees hash equal


def positive(name: str, value: object, remedy: str) -> float:
    """Return ``value`` as a finite float above 0."""
    number = nonnegative(name, value)
    if number == 0.0:
        raise ValueError(
            f"{name} is out of range, got 0. Allowed: {name} > 0. {remedy}"
        )
    return number


def probability(name: str, value: object) -> float:
    """Return ``value`` as a float in [0, 1)."""
    allowed = "0 <= value < 1"
    remedy = f"Pass {name} as one number, for example {name}=1e-6."
    number = check_real(name, value, allowed=allowed, remedy=remedy)
    if not 0.0 <= number < 1.0:
        raise ValueError(
            f"{name} is out of range, got {value!r}. Allowed: {allowed}. {remedy}"
        )
    return number + 0.0


def within(
    name: str, value: object, low: float, high: float, *, ends: bool = True
) -> float:
    """Return ``value`` as a float in [low, high], or in (low, high)."""
    allowed = f"{low:g} to {high:g}" if ends else f"above {low:g}, below {high:g}"
    remedy = f"Pass {name} as one number."
    number = check_real(name, value, allowed=allowed, remedy=remedy)
    if not low <= number <= high or (not ends and number in (low, high)):
        raise ValueError(
            f"{name} is out of range, got {number!r}. Allowed: {allowed}. {remedy}"
        )
    return number + 0.0


def sequence_of(name: str, value: object, kind: type[T], what: str) -> tuple[T, ...]:
    """Return a list or tuple of ``kind`` as a tuple; a bare string is neither."""
    items = tuple(value) if isinstance(value, list | tuple) else (None,)
    if not all(isinstance(item, kind) for item in items):
        raise TypeError(
            f"{name} must be a sequence of {what}, got {value!r}. Allowed: a tuple or "
            f"a list of {kind.__name__}. Put a single one in brackets: [{name[:-1]}]."
        )
    return items


def group_size(value: object) -> int:
    """Return the size of a group: an integer of at least one."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise TypeError(
            f"k must be an integer, got {value!r}. Allowed: k >= 1. "
            "Pass the number of people in the group."
        )
    if value < 1:
        raise ValueError(
            f"k is out of range, got {value!r}. Allowed: k >= 1. "
            "Pass the number of people in the group."
        )
    return int(value)


def real_vector(name: str, value: ArrayLike) -> FloatArray:
    """Return real numbers as a float array of the same shape, refusing nan."""
    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        raise TypeError(
            f"{name} must hold real numbers, got an array of type {array.dtype}. "
            f"Allowed: numbers. Pass {name} as a float or an array of floats."
        )
    numbers: FloatArray = array.astype(np.float64)
    if np.isnan(numbers).any():
        raise ValueError(
            f"{name} must not be nan. Allowed: real numbers. Remove the nan entries."
        )
    return numbers


def like_input(values: FloatArray, array: FloatArray) -> float | FloatArray:
    """Return a float for a scalar input, an array of the input's shape otherwise."""
    shaped = values.reshape(array.shape)
    return float(shaped) if array.ndim == 0 else shaped


def mirrored(
    curve: Callable[[FloatArray], FloatArray], epsilon: FloatArray
) -> FloatArray:
    """Extend a profile from epsilon >= 0 to every real epsilon.

    For a curve that bounds both orders of the pair,
    ``delta(-e) = 1 - exp(-e) (1 - delta(e))``.
    """
    values = curve(np.abs(epsilon))
    below = np.minimum(epsilon, 0.0)
    reflected = -np.expm1(below) + np.exp(below) * values
    return np.where(epsilon < 0.0, reflected, values)


def first_at_most(
    curve: Callable[[FloatArray], FloatArray], target: float, *, limit: float = 2.0**24
) -> float:
    """Return the least x >= 0 with ``curve(x) <= target``, rounded up; inf if none.

    ``curve`` is nonincreasing. The answer itself satisfies the inequality as computed.
    """
    # one point a call: a curve then answers here exactly as it answers a caller
    search = _Search(curve, target)
    if search.excess(0.0) <= 0.0:
        return 0.0
    if search.excess(limit) > 0.0:
        return math.inf
    low, high = -41, math.ceil(math.log2(limit))
    while high - low > 1:
        middle = (low + high) // 2
        if search.excess(math.ldexp(1.0, middle)) <= 0.0:
            high = middle
        else:
            low = middle
    ends = search.bad, search.good
    brentq(search.excess, *ends, xtol=2.0**-100, rtol=_RESOLUTION, maxiter=10_000)
    return search.good


class _Search:
    """The tightest bracket seen while a nonincreasing curve is searched."""

    def __init__(self, curve: Callable[[FloatArray], FloatArray], target: float):
        self.curve, self.target = curve, target
        self.bad, self.good = 0.0, math.inf

    def excess(self, x: float) -> float:
        """Return the log ratio of the curve to the target; never 0, < 0 when met.

        A root finder stops at 0, but where the curve is flat it may be met earlier.
        """
        value = float(self.curve(np.array([x]))[0])
        ratio = math.log(value) - math.log(self.target) if value > 0.0 else -1e3
        if value <= self.target:
            self.good = min(self.good, x)
            return min(ratio, -1e-300)
        self.bad = max(self.bad, x)
        return max(ratio, 1e-300)


def round_up(value: float, digits: int = 4) -> str:
    """Print ``value`` with a few digits, never below the truth."""
    if not math.isfinite(value):
        return str(value)
    context = Context(prec=digits, rounding=ROUND_CEILING)
    return f"{float(context.create_decimal_from_float(value)):#.{digits}g}"
