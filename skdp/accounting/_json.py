"""Exact JSON: floats travel in hexadecimal, guarantees nest as records."""

import json
from collections.abc import Callable, Mapping
from typing import Any

__all__: list[str] = []


def encode(value: Any) -> Any:
    """Turn a number, a word, a guarantee or a tuple of them into JSON values."""
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        return {"text": value}
    if isinstance(value, tuple):
        return [encode(item) for item in value]
    return value._to_record()


def decode(value: Any, nested: Callable[[Mapping[str, object]], object]) -> Any:
    """Invert :func:`encode`; ``nested`` rebuilds a guarantee from its record."""
    if isinstance(value, str):
        return float.fromhex(value)
    if isinstance(value, int):
        return value
    if isinstance(value, list):
        return tuple(decode(item, nested) for item in value)
    if isinstance(value, dict) and value.keys() == {"text"}:
        return value["text"]
    return nested(value)


def write(record: Mapping[str, object]) -> str:
    """Write one record on one line, keys in the order given."""
    return json.dumps(record, separators=(", ", ": "))


def read(text: str) -> dict[str, Any]:
    """Read one record, refusing any other JSON value."""
    record = json.loads(text)
    if not isinstance(record, dict):
        raise ValueError(
            f"text is not a record, got a JSON {type(record).__name__}. "
            "Allowed: what to_json returned. Check where the text comes from."
        )
    return record
