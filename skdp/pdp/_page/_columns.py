"""What the curator says in public about a column, checked."""

import math
from collections.abc import Hashable, Mapping
from typing import Any, TypeAlias, TypedDict, cast

from skdp._validation import check_real

__all__ = [
    "ColumnDescription",
    "Schema",
    "check_description",
    "check_finite",
    "unknown_name",
]


class ColumnDescription(TypedDict, total=False):
    """Public words about one column, or about one question that fills several.

    Every key may be left out. Texts are shown as they are: markup in them has no
    effect.

    Attributes
    ----------
    label : str
        The question, for example ``"Age"``; the name of the column by default.
    unit : str
        Unit of the number asked for, for example ``"years"``.
    help : str
        One more sentence for the person who answers.
    min, max : float
        Range of the number asked for, in its unit, ends included.
    categories : mapping from str to str, float or None
        The answers to choose from. To numbers: the value each stands for in the column
        that is described. To names: the one-hot column each stands for, which gets 1
        while the others of the question get 0; None is an answer without a column.
        For the label, under ``"y"``, to the declared labels.

    Examples
    --------
    >>> from skdp.pdp import ColumnDescription
    >>> schema = {
    ...     "age": ColumnDescription(label="Age", unit="years", min=18, max=100),
    ...     "home": {"label": "Home", "categories": {"rented": "rent", "owned": "own"}},
    ...     "smoker": {"label": "Do you smoke?", "categories": {"no": 0, "yes": 1}},
    ...     "y": {"label": "Are you ill?", "categories": {"no": "well", "yes": "ill"}},
    ... }
    >>> schema["age"]["unit"]
    'years'
    """

    label: str
    unit: str
    help: str
    min: float
    max: float
    categories: Mapping[str, str | float | None]


Schema: TypeAlias = Mapping[Any, ColumnDescription]

_TEXTS, _ENDS = ("label", "unit", "help"), ("min", "max")
_KEYS = (*_TEXTS, *_ENDS, "categories")


def check_description(key: Hashable, value: object) -> ColumnDescription:
    """Return a description whose every entry is of its kind.

    Parameters
    ----------
    key : hashable
        What the description stands under in the schema.
    value : object
        The description.

    Raises
    ------
    TypeError
        If the description is no mapping, or an entry is of the wrong type.
    ValueError
        If a key is unknown, a number is not finite, or ends are in the wrong order.
    """
    name = f"schema[{key!r}]"
    if not isinstance(value, Mapping):
        raise TypeError(
            f"{name} is not a description, got {type(value).__name__}. Allowed: a "
            f"mapping with some of the keys {', '.join(_KEYS)}. Write for example "
            "{'label': 'Age', 'unit': 'years', 'min': 18, 'max': 100}."
        )
    for entry in value:
        if entry not in _KEYS:
            raise unknown_name(f"{name} has an unknown key", entry, _KEYS)
    out: dict[str, Any] = {}
    for entry, given in value.items():
        if entry in _TEXTS:
            out[entry] = _text(f"{name}[{entry!r}]", given)
        elif entry in _ENDS:
            out[entry] = check_finite(f"{name}[{entry!r}]", given)
        else:
            out[entry] = _categories(f"{name}[{entry!r}]", given)
    _check_together(name, out)
    return cast("ColumnDescription", out)


def unknown_name(problem: str, name: object, allowed: Any) -> ValueError:
    """Return the error for a name that is none of those allowed."""
    listed = ", ".join(repr(one) for one in allowed)
    return ValueError(
        f"{problem}, got {name!r}. Allowed: {listed}. Correct it, or leave it out."
    )


def _check_together(name: str, entries: Mapping[str, Any]) -> None:
    if "categories" in entries and not entries.keys().isdisjoint({*_ENDS, "unit"}):
        raise ValueError(
            f"{name} has categories and a range or unit, got both. Allowed: one of the "
            "two. Keep 'categories' for answers to choose from, 'min', 'max' and "
            "'unit' for a number."
        )
    low, high = entries.get("min", -math.inf), entries.get("max", math.inf)
    if low > high:
        raise ValueError(
            f"{name} has an empty range, got min {low!r} and max {high!r}. Allowed: "
            "min at most max. Exchange the two."
        )


def _text(name: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise TypeError(
            f"{name} is not a text, got {value!r}. Allowed: a str that is not blank. "
            "Write what the person should read, or leave the key out."
        )
    return value.strip()


def check_finite(name: str, value: object) -> float:
    """Return ``value`` as a float, refusing what is not one finite number."""
    remedy = "Write a number, or leave the key out."
    number = check_real(name, value, allowed="a finite number", remedy=remedy)
    if math.isinf(number):
        raise ValueError(
            f"{name} is not finite, got {value!r}. Allowed: a finite number. {remedy}"
        )
    return number


def _categories(name: str, value: object) -> dict[str, Any]:
    """Return the answers; what each stands for is checked where it is known."""
    if not isinstance(value, Mapping) or len(value) < 2:
        raise ValueError(
            f"{name} offers no choice, got {value!r}. Allowed: a mapping of at least "
            "two answers. Write for example {'no': 0, 'yes': 1}."
        )
    return {_text(f"an answer of {name}", a): target for a, target in value.items()}
