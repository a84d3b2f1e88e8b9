"""Six binary classification tables, real or generated, as unit-norm rows.

``SKDP_DATA`` names a directory with ``schema.json`` and one ``NAME.csv.gz`` a table.
The schema declares public ranges and category lists, so no statistic of the rows
enters the preprocessing. Without the variable each table is generated: same number of
rows and columns, same share of positive labels, and about the same difficulty.

Either way a table is ``X`` of shape (n, d), rows of Euclidean norm at most one with
the constant as last column, and ``y`` in {-1, +1}.
"""

import functools
import json
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd


class Shape(NamedTuple):
    """What a generated table has in common with the real one."""

    n_rows: int
    n_columns: int  # the constant included
    positive_share: float
    signal: float  # standard deviation of the true log-odds


class Table(NamedTuple):
    X: np.ndarray
    y: np.ndarray


SHAPES = {
    "credit": Shape(30_000, 24, 0.2212, 1.0),
    "adult": Shape(48_842, 53, 0.2393, 2.5),
    "bank": Shape(45_211, 51, 0.1170, 1.2),
    "skin": Shape(245_057, 4, 0.2075, 3.0),
    "kdd99": Shape(100_000, 52, 0.8031, 12.0),
    "mushroom": Shape(8_124, 127, 0.4820, 20.0),
}


def source() -> str:
    """Say where the tables come from, for the heading of a report."""
    return "real tables" if os.environ.get("SKDP_DATA") else "generated tables"


def load_table(name: str) -> Table:
    """Return a table from ``SKDP_DATA``, or its generated stand-in."""
    directory = os.environ.get("SKDP_DATA")
    return _read(Path(directory), name) if directory else generate_table(name)


@functools.cache
def generate_table(name: str) -> Table:
    """Generate unit rows with columns of falling size and logistic labels."""
    shape = SHAPES[name]
    rng = np.random.default_rng(sorted(SHAPES).index(name))
    d = shape.n_columns - 1
    sizes = 1.0 / np.sqrt(1.0 + np.arange(d))
    features = rng.normal(size=(shape.n_rows, d)) * sizes
    constant = np.full((shape.n_rows, 1), np.linalg.norm(sizes))
    X = _unit_rows(np.hstack([features, constant]))
    score = X[:, :-1] @ rng.normal(size=d)
    log_odds = shape.signal * score / score.std() + rng.logistic(size=shape.n_rows)
    positive = log_odds > np.quantile(log_odds, 1.0 - shape.positive_share)
    return Table(X, np.where(positive, 1, -1))


@functools.cache
def _read(directory: Path, name: str) -> Table:
    schema = json.loads((directory / "schema.json").read_text())[name]
    frame = pd.read_csv(
        directory / f"{name}.csv.gz", keep_default_na=False, na_values=[""]
    )
    blocks = [
        COLUMN_KINDS[column["kind"]](frame[label], column)
        for label, column in schema["columns"].items()
        if column["kind"] != "drop"
    ]
    X = _unit_rows(np.hstack([*blocks, np.ones((len(frame), 1))]))
    positive = frame[schema["target"]].astype(str) == str(schema["positive"])
    return Table(X, np.where(positive, 1, -1))


def _unit_rows(X: np.ndarray) -> np.ndarray:
    """Shorten rows to norm one; shorter rows stay as they are."""
    return X / np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True))


def _interval(values: pd.Series, column: dict) -> np.ndarray:
    """Clip to [lo, hi] and map to [-1, 1]; a missing value is the midpoint."""
    lo, hi = column["lo"], column["hi"]
    scaled = (2.0 * _numbers(values).clip(lo, hi) - lo - hi) / (hi - lo)
    return np.nan_to_num(scaled)[:, None]


def _amount(values: pd.Series, column: dict) -> np.ndarray:
    """Map a non-negative amount to [0, 1] on a logarithmic scale."""
    amounts = np.nan_to_num(_numbers(values)).clip(0.0, column["hi"])
    return (np.log1p(amounts) / np.log1p(column["hi"]))[:, None]


def _signed_amount(values: pd.Series, column: dict) -> np.ndarray:
    """Map an amount of either sign to [-1, 1] on a logarithmic scale."""
    amounts = np.nan_to_num(_numbers(values)).clip(-column["hi"], column["hi"])
    scaled = np.sign(amounts) * np.log1p(np.abs(amounts)) / np.log1p(column["hi"])
    return scaled[:, None]


def _category(values: pd.Series, column: dict) -> np.ndarray:
    """One-hot on the public list; an unlisted level is a row of zeros."""
    levels = np.array([str(level) for level in column["cats"]])
    labels = values.astype(str).to_numpy(dtype=str)
    return (labels[:, None] == levels).astype(np.float64)


def _numbers(values: pd.Series) -> np.ndarray:
    return pd.to_numeric(values, errors="coerce").to_numpy(np.float64)


COLUMN_KINDS = {
    "num": _interval,
    "amt": _amount,
    "samt": _signed_amount,
    "cat": _category,
}
