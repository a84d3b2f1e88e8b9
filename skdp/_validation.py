"""Checks of public parameters: one wording for every error.

A message has four beats: what is wrong, what came, what is allowed, what to do. Only
parameters are checked here, never data, so a message may quote the value it refuses.
"""

import math
import numbers
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

import numpy as np

from skdp.exceptions import WeakGuaranteeWarning

__all__ = [
    "MAX_EPSILON",
    "MIN_EPSILON",
    "check_choice",
    "check_count",
    "check_delta",
    "check_epsilon",
    "check_flag",
    "check_positive",
    "check_real",
    "check_rho",
    "is_auto",
    "warn",
]

#: Smallest and largest epsilon (nats) an estimator accepts for one release.
MIN_EPSILON, MAX_EPSILON = 1e-9, 1e3
#: Smallest positive delta: less cannot be computed with.
MIN_DELTA = 1e-300
#: Above this delta the fixed-text :class:`WeakGuaranteeWarning` is issued.
LARGE_DELTA = 1e-3
#: Where this package lives: its frames are nobody's line to change.
_PACKAGE = str(Path(__file__).parent)
#: Packages that call a fit on behalf of somebody else.
_GO_BETWEENS = ("sklearn.", "joblib.")


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line of whoever called in, through scikit-learn or not.

    A filter by module then sees the user's module, however deep the reason was found.
    """
    warnings.warn(message, category, stacklevel=_frames_to_the_user())


def _frames_to_the_user() -> int:
    """Return the ``stacklevel`` that points out of the package, seen from `warn`."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _is_inside(frame.f_code.co_filename, frame):
        frame, level = frame.f_back, level + 1
    return level


def _is_inside(filename: str, frame: FrameType) -> bool:
    name = str(frame.f_globals.get("__name__", ""))
    return filename.startswith(_PACKAGE) or name.startswith(_GO_BETWEENS)


def check_real(name: str, value: object, *, allowed: str, remedy: str) -> float:
    """Return ``value`` as a float, refusing what is not one real number.

    NumPy scalars and zero-dimensional arrays are numbers; booleans, strings, None and
    arrays of one element are not.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise TypeError(
            f"{name} must be a real number, got {value!r} of type "
            f"{type(value).__name__}. Allowed: {allowed}. {remedy}"
        )
    try:
        number = float(value)
    except OverflowError:  # an int beyond all floats is out of any range
        number = -math.inf if value < 0 else math.inf
    if math.isnan(number):
        raise ValueError(
            f"{name} must not be nan, got {value!r}. Allowed: {allowed}. {remedy}"
        )
    return number


def check_count(
    name: str,
    value: object,
    *,
    minimum: int,
    maximum: int | None = None,
    remedy: str = "Pass how many numbers the vector holds.",
) -> int:
    """Return ``value`` as an int that is at least ``minimum``, and not too large."""
    allowed = f"an integer of at least {minimum}"
    if maximum is not None:
        allowed = f"an integer from {minimum} to {maximum}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise TypeError(
            f"{name} must be an integer, got {value!r} of type "
            f"{type(value).__name__}. Allowed: {allowed}. {remedy}"
        )
    number = int(value)
    if number < minimum or (maximum is not None and number > maximum):
        raise ValueError(
            f"{name} is out of range, got {value!r}. Allowed: {allowed}. {remedy}"
        )
    return number


def check_epsilon(value: object, *, name: str = "epsilon") -> float:
    """Return the privacy loss bound in nats, within [1e-9, 1e3]."""
    allowed = f"a number from {MIN_EPSILON:g} to {MAX_EPSILON:g}"
    remedy = "Choose how much privacy loss to allow, for example epsilon=1.0."
    number = check_real(name, value, allowed=allowed, remedy=remedy)
    if not MIN_EPSILON <= number <= MAX_EPSILON:
        raise ValueError(
            f"{name} is out of range, got {value!r}. Allowed: {allowed}. {remedy}"
        )
    return number


def check_delta(value: object, *, name: str = "delta") -> float:
    """Return 0 or delta from 1e-300 to 1; warn, in a fixed text, above 1e-3."""
    allowed = f"0, or from {MIN_DELTA:g} to below 1"
    remedy = (
        "Use delta=0 for pure differential privacy, or a delta well below one over "
        "the number of people, for example delta=1e-6."
    )
    number = check_real(name, value, allowed=allowed, remedy=remedy)
    if number != 0.0 and not MIN_DELTA <= number < 1.0:
        raise ValueError(
            f"{name} is out of range, got {value!r}. Allowed: {allowed}. {remedy}"
        )
    if number > LARGE_DELTA:
        warn(
            f"{name} > {LARGE_DELTA:g}: a mechanism with this delta may publish the "
            "whole record of one person in a thousand. Choose a delta well below one "
            "over the number of people.",
            WeakGuaranteeWarning,
        )
    return number


def check_rho(value: object, *, least: float = 1e-300) -> float:
    """Return the failure probability of a published bound, refusing what is none."""
    allowed, remedy = f"{least:g} <= rho < 1", "Use the default 1e-6."
    number = check_real("rho", value, allowed=allowed, remedy=remedy)
    if not least <= number < 1.0:
        raise ValueError(
            f"rho is out of range, got {value!r}. Allowed: {allowed}. {remedy}"
        )
    return number


def check_positive(
    name: str,
    value: object,
    *,
    remedy: str,
    minimum: float = 1e-100,
    maximum: float = 1e100,
    or_auto: bool = False,
) -> float:
    """Return a positive finite number within a range in which nothing overflows.

    ``or_auto`` says that the parameter takes ``"auto"`` as well, in the message alone.
    """
    allowed = f"a number from {minimum:g} to {maximum:g}"
    if or_auto:
        allowed = f"'auto' or {allowed}"
    number = check_real(name, value, allowed=allowed, remedy=remedy)
    if not minimum <= number <= maximum:
        raise ValueError(
            f"{name} is out of range, got {value!r}. Allowed: {allowed}. {remedy}"
        )
    return number


def check_choice(
    name: str, value: object, choices: Sequence[object], *, remedy: str
) -> None:
    """Raise unless ``value`` is one of ``choices``, and of its type."""
    # the type first: 1 == True, and arrays compare to arrays
    if not any(isinstance(value, type(c)) and value == c for c in choices):
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(
            f"{name} is not one of the choices, got {value!r}. Allowed: {listed}. "
            f"{remedy}"
        )


def check_flag(name: str, value: object, *, remedy: str, or_auto: bool = False) -> bool:
    """Return ``value`` as a bool, refusing what is only taken for one, such as 1.

    ``or_auto`` says that the parameter takes ``"auto"`` as well, in the message alone.
    """
    if isinstance(value, bool | np.bool_):
        return bool(value)
    allowed = "'auto', True or False" if or_auto else "True or False"
    kind = ValueError if or_auto and isinstance(value, str) else TypeError
    raise kind(
        f"{name} must be {allowed}, got {value!r} of type {type(value).__name__}. "
        f"Allowed: {allowed}. {remedy}"
    )


def is_auto(value: object) -> bool:
    """Tell whether a parameter is left to the estimator; arrays are not ``"auto"``."""
    return isinstance(value, str) and value == "auto"
