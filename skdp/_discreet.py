"""scikit-learn's errors without the data values that some of them quote."""

import re
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

__all__ = ["discreet"]

P = ParamSpec("P")
R = TypeVar("R")

#: What quotes values or private counts, and what is said instead.
_QUOTING = {
    r"could not convert string to float: .*": (
        "could not convert string to float. Allowed: numbers. Encode text before."
    ),
    r"(Expected 2D array, got [\w ]+ instead).*?(?=Reshape|$)": r"\1. ",
    r"(y should be a 1d array, got [\w ]+).*": (
        r"\1 instead. Allowed: one label for each row."
    ),
    r"Complex data not supported.*": (
        "Complex data not supported. Allowed: real numbers."
    ),
    r"(inconsistent numbers of samples).*": (
        r"\1. Allowed: one label for each row. Check that X and y match."
    ),
    r"Unknown label type: .*": (
        "Unknown label type: y does not hold classes. Allowed: two labels. Declare "
        "them with classes=[...]."
    ),
}


def discreet(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function raise its errors again without values of X or y, or counts.

    The kind of error and its first words stay as scikit-learn has them. The new error
    is raised outside the handler, so that no traceback can show the original.
    """

    @wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            message = str(error)
        for pattern, replacement in _QUOTING.items():
            message = re.sub(pattern, replacement, message, flags=re.DOTALL)
        raise kind(message)

    return wrapped
