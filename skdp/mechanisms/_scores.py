"""Scores as exact numbers: what a selection is given, checked without being quoted."""

import math
import numbers
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Scores", "as_scores"]

#: Integers, floats of 64 bits, or an object array of int, float and Fraction.
Scores: TypeAlias = npt.NDArray[Any]
_INT64 = 2**63


def as_scores(scores: object, score_range: tuple[float, float] | None) -> Scores:
    """Return a vector of finite exact numbers.

    With a range, nan becomes its lower end and everything is clamped to it. Without
    one, what is not finite is refused. No error quotes a score.
    """
    # NumPy would round the integers of a list that holds a float, or large and negative
    # ones, before anybody sees them
    bare = hasattr(scores, "__array__") or not isinstance(scores, Iterable)
    table = np.asarray(scores) if bare else np.asarray(scores, dtype=object)
    if table.ndim != 1 or table.size == 0:
        raise ValueError(
            "scores must be a vector, got something else. Allowed: one score for each "
            "candidate, at least one. Pass a one-dimensional array."
        )
    table = _numbers(table)
    if score_range is not None:
        return _clamped(table, *score_range)
    if not _all_finite(table):
        raise ValueError(
            "scores must be finite, got nan or infinity. Allowed: finite numbers. Give "
            "score_range=(low, high) to clamp them, or exclude a candidate by a base "
            "measure of 0."
        )
    return table


def _numbers(table: Scores) -> Scores:
    """Return the same numbers in one of the kinds that are exact."""
    if table.dtype.kind in "iu":
        return table
    if table.dtype.kind == "f" and table.dtype.itemsize <= 8:
        return table.astype(np.float64, copy=False)
    if table.dtype == object:
        out = np.empty(table.size, dtype=object)
        out[:] = [_number(score) for score in table]
        return _of_one_kind(out)
    raise _not_numbers()


def _of_one_kind(table: Scores) -> Scores:
    """Return floats, or integers of 64 bits, as such: the same numbers, faster."""
    kinds = set(map(type, table))
    if kinds == {float}:
        return table.astype(np.float64)
    if kinds == {int} and min(table) >= -_INT64 and max(table) < _INT64:
        return table.astype(np.int64)
    return table


def _number(score: object) -> int | float | Fraction:
    if isinstance(score, bool | np.bool_) or not isinstance(score, numbers.Real):
        raise _not_numbers()
    if isinstance(score, numbers.Rational):
        exact = Fraction(int(score.numerator), int(score.denominator))
        return exact.numerator if exact.denominator == 1 else exact
    if isinstance(score, float | np.float32 | np.float16):
        return float(score)
    raise _not_numbers()


def _not_numbers() -> TypeError:
    return TypeError(
        "scores must be exact real numbers, got something else. Allowed: int, float of "
        "at most 64 bits, Fraction. Convert the scores before."
    )


def _all_finite(table: Scores) -> bool:
    if table.dtype == object:
        return all(not isinstance(q, float) or math.isfinite(q) for q in table)
    return table.dtype.kind != "f" or bool(np.isfinite(table).all())


def _clamped(table: Scores, low: float, high: float) -> Scores:
    if table.dtype.kind == "f":
        out: Scores = np.clip(np.where(np.isnan(table), low, table), low, high)
        return out
    # Python compares integers, fractions and floats exactly
    clamped = np.empty(table.size, dtype=object)
    clamped[:] = [min(max(q, low), high) if q == q else low for q in table.tolist()]
    return clamped
