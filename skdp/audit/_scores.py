"""Real-valued scores of releases whose tails are the events of a black-box audit.

Notation
--------
left, right    releases on D and on its neighbour, shape (n, k)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from skdp._typing import FloatArray
from skdp.mechanisms import Release

__all__ = ["Scores", "candidate_scores", "given_score", "release_matrix"]

#: More coordinates than this would dilute nothing but cost time.
_MAX_COORDINATES = 50
#: A coordinate with at most this many values is a category: each value is an event.
_MAX_VALUES = 20
#: Stands for nan, which no threshold separates.
_NAN = -1.7e308


@dataclass(frozen=True, slots=True)
class Scores:
    """One column a score, one row a release; ``names`` say what the columns are."""

    names: tuple[str, ...]
    left: FloatArray
    right: FloatArray


def release_matrix(outputs: Sequence[object]) -> FloatArray:
    """Return the releases as rows of numbers."""
    rows = [_as_vector(output) for output in outputs]
    if len({row.size for row in rows}) > 1:
        raise ValueError(
            "the releases have different lengths. Allowed: one length for all runs. "
            "Pass score=..., a function that maps one release to a number."
        )
    table = np.concatenate(rows).reshape(len(rows), -1)
    return np.nan_to_num(table, nan=_NAN, posinf=1.7e308, neginf=-1.6e308)


def _as_vector(output: Any) -> FloatArray:
    if isinstance(output, Release):
        output = output.output
    if hasattr(output, "coef_"):
        parts = (output.coef_, getattr(output, "intercept_", ()))
        output = np.concatenate([np.ravel(part) for part in parts])
    try:
        vector: FloatArray = np.asarray(output, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise TypeError(
            f"a release must be numeric, got {type(output).__name__}. Allowed: a "
            "number, an array, a Release, or a fitted linear model. Pass score=..., a "
            "function that maps one release to a number."
        ) from None
    return vector


def given_score(score: Any, left: Sequence[object], right: Sequence[object]) -> Scores:
    """Apply the caller's score to every release."""
    columns = [
        np.array([[float(score(output))] for output in side]) for side in (left, right)
    ]
    return Scores(("score",), *(np.nan_to_num(c, nan=_NAN) for c in columns))


def candidate_scores(left: FloatArray, right: FloatArray, n_train: int) -> Scores:
    """Return coordinates, indicators of frequent values, and a learnt score.

    Only the first ``n_train`` rows of each side are looked at to choose them.
    """
    names, lefts, rights = [], [], []
    for j in range(min(left.shape[1], _MAX_COORDINATES)):
        names.append(f"output[{j}]")
        lefts.append(left[:, j])
        rights.append(right[:, j])
        seen = np.unique(np.concatenate([left[:n_train, j], right[:n_train, j]]))
        if 2 < seen.size <= _MAX_VALUES:
            for value in seen:
                names.append(f"[output[{j}] == {value:g}]")
                lefts.append((left[:, j] == value).astype(float))
                rights.append((right[:, j] == value).astype(float))
    if left.shape[1] > 1:
        learnt = _learnt_score(left, right, n_train)
        names.append("learnt score")
        lefts.append(learnt[0])
        rights.append(learnt[1])
    return Scores(tuple(names), np.column_stack(lefts), np.column_stack(rights))


def _learnt_score(
    left: FloatArray, right: FloatArray, n_train: int
) -> tuple[FloatArray, FloatArray]:
    """Fit a logistic regression on outputs and squares to tell the sides apart."""
    train = np.concatenate([_tame(left[:n_train]), _tame(right[:n_train])])
    scaler = StandardScaler().fit(train)
    side = np.repeat([1, 0], n_train)
    model = LogisticRegression(max_iter=1000)
    model.fit(_with_squares(scaler.transform(train)), side)

    def score(outputs: FloatArray) -> FloatArray:
        features = _with_squares(scaler.transform(_tame(outputs)))
        out: FloatArray = model.decision_function(features)
        return out

    return score(left), score(right)


def _tame(outputs: FloatArray) -> FloatArray:
    # squares of outputs near the largest float would overflow
    return np.clip(outputs, -1e100, 1e100)


def _with_squares(Z: FloatArray) -> FloatArray:
    Z = np.clip(Z, -100.0, 100.0)
    return np.hstack([Z, Z**2])
