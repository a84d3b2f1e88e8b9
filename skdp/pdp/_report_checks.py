"""What each field of a published report may hold, and how it is said in JSON.

A report comes from anywhere: every number is checked before it is computed with. No
value is quoted in an error, only its type and what is allowed.
"""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

__all__ = [
    "LARGEST",
    "LEAST",
    "bad_field",
    "check_choice_field",
    "check_keys",
    "check_labels",
    "check_names",
    "check_number",
    "check_numbers",
    "read_record",
    "write_record",
]

#: Magnitudes of numbers with which bounds are computed; fits stay far within.
LEAST, LARGEST = 1e-300, 1e220

_REMEDY = "Take the report as its maker wrote it, whole and unchanged."


def bad_field(name: str, what: str, allowed: str) -> ValueError:
    """Return the error about one field of a report."""
    return ValueError(
        f"the field {name!r} of the report {what}. Allowed: {allowed}. {_REMEDY}"
    )


def check_number(name: str, value: object, *, least: float, most: float) -> float:
    """Return a finite number within a range as a float."""
    allowed = f"a finite number from {least:g} to {most:g}"
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise bad_field(name, f"is no number, got {type(value).__name__}", allowed)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not (math.isfinite(number) and least <= number <= most):
        raise bad_field(name, "is out of range", allowed)
    return number


def check_numbers(
    name: str, values: object, size: int, *, positive: bool = False
) -> tuple[float, ...]:
    """Return finite numbers, ``size`` of them."""
    kind = "positive numbers" if positive else "numbers"
    allowed = f"a list of {size} {kind} of size at most {LARGEST:g}"
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if not isinstance(values, list | tuple):
        raise bad_field(name, f"is no list, got {type(values).__name__}", allowed)
    if len(values) != size:
        raise bad_field(name, f"has length {len(values)}", allowed)
    least = LEAST if positive else -LARGEST
    return tuple(check_number(name, v, least=least, most=LARGEST) for v in values)


def check_choice_field(name: str, value: object, choices: Iterable[str]) -> str:
    """Return one of the words."""
    words = list(choices)
    if not isinstance(value, str) or value not in words:
        got = f"is not one of the words it may be, got {type(value).__name__}"
        raise bad_field(name, got, ", ".join(map(repr, words)))
    return value


def check_names(name: str, values: object, size: int) -> tuple[str, ...]:
    """Return different names, one a column."""
    allowed = f"{size} different names"
    if not isinstance(values, list | tuple | np.ndarray):
        raise bad_field(name, f"is no list, got {type(values).__name__}", allowed)
    names = tuple(str(v) if isinstance(v, str) else v for v in values)
    if not all(isinstance(v, str) for v in names) or len(set(names)) != size:
        raise bad_field(name, "does not name each column once", allowed)
    if len(names) != size:
        raise bad_field(name, f"has length {len(names)}", allowed)
    return names


def check_labels(name: str, values: object) -> tuple[Any, ...]:
    """Return one or two different labels of one kind, in sorted order."""
    allowed = "one or two different labels of one kind, in sorted order"
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if not isinstance(values, list | tuple) or not 1 <= len(values) <= 2:
        raise bad_field(name, "is no list of one or two labels", allowed)
    if any(isinstance(v, float) and not math.isfinite(v) for v in values):
        raise bad_field(name, "holds a label that is not finite", allowed)
    if len({isinstance(v, str) for v in values}) > 1 or None in values:
        raise bad_field(name, "holds labels of different kinds", allowed)
    if len(values) == 2 and not values[0] < values[1]:
        raise bad_field(name, "does not hold its labels in order", allowed)
    return tuple(values)


def check_keys(name: str, record: object, keys: Iterable[str]) -> dict[str, Any]:
    """Return a record that has these keys and no others."""
    expected = list(keys)
    allowed = f"a record of {', '.join(expected)}"
    if not isinstance(record, Mapping):
        raise bad_field(name, f"is no record, got {type(record).__name__}", allowed)
    for key in expected:
        if key not in record:
            raise bad_field(key, "is missing", allowed)
    extra = len(record) - len(expected)
    if extra:
        what = f"holds {extra} field{'s' * (extra > 1)} that no report has"
        raise bad_field(name, what, allowed)
    return dict(record)


def write_record(record: Mapping[str, Any]) -> str:
    """Return JSON in which each float reads back as the same float."""
    for label in record["classes"]:
        if not isinstance(label, str | bool | int | float):
            raise bad_field(
                "classes",
                f"holds labels that JSON has no word for: {type(label).__name__}",
                "text, whole numbers, floats, or booleans",
            )
    return json.dumps(record, allow_nan=False, ensure_ascii=False, indent=1)


def read_record(text: str) -> dict[str, Any]:
    """Read JSON strictly: one record, each key once, no numbers that are none."""
    if not isinstance(text, str):
        raise TypeError(
            f"text must be a string, got {type(text).__name__}. Allowed: what to_json "
            "returned. Pass the contents of the file, not its name."
        )
    try:
        record = json.loads(
            text, object_pairs_hook=_each_key_once, parse_constant=_no_number
        )
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(
            "the text is not a whole JSON document. Allowed: what to_json returned. "
            f"It may have been cut off. {_REMEDY}"
        ) from error
    if not isinstance(record, dict):
        raise ValueError(
            f"the text is not a report, got a JSON {type(record).__name__}. Allowed: "
            f"what to_json returned. {_REMEDY}"
        )
    return record


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise bad_field(twice, "stands there twice", "each field once")
    return record


def _no_number(word: str) -> float:
    raise ValueError(
        f"the report holds {word}, which is no number. Allowed: finite numbers. "
        f"{_REMEDY}"
    )
