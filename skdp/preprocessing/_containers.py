"""Estimators made of others: what they hold, and what they learn on top of it."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import FeatureUnion, Pipeline

from skdp.preprocessing._data_independent import FREE, Verdict
from skdp.preprocessing._sparse_output import may_be_sparse

__all__ = ["CONTAINERS", "judge_container", "parts_of"]


def parts_of(container: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fitted parts of a container, each with its name."""
    yield from CONTAINERS[type(container)](container)


def judge_container(container: Any) -> Verdict:
    """Tell what a fitted container learned itself, its parts aside."""
    if type(container) is ColumnTransformer:
        return _judge_columns(container)
    if type(container) is Pipeline and container.memory is not None:
        return Verdict(
            assumptions=("what memory writes to disk is as secret as the data",)
        )
    return FREE


def _judge_columns(columns: ColumnTransformer) -> Verdict:
    """Ask whether ``sparse_output_`` depends on how many entries are not zero."""
    frame = hasattr(columns, "feature_names_in_")
    parts = list(_used(columns))
    doubtful = [name for name, part in parts if may_be_sparse(part, not frame)]
    threshold = columns.sparse_threshold
    if getattr(columns, "sparse_output_", False) or (threshold != 0 and doubtful):
        names = ", ".join(map(repr, doubtful or (name for name, _ in parts)))
        return Verdict(
            "whether its output is sparse is decided by counting entries that are not "
            f"zero, with {names} among the columns; set sparse_threshold=0, or "
            "sparse_output=False in encoders"
        )
    if threshold != 0 and any(may_be_sparse(part, True) for _, part in parts):
        return Verdict(assumptions=("no column of the frame has a sparse dtype",))
    return FREE


def _columns(columns: ColumnTransformer) -> Iterator[tuple[str, Any]]:
    """Yield the fitted transformers, and any choice of columns that reads the rows."""
    for name, _, chosen in columns.transformers:
        if callable(chosen) and type(chosen) is not make_column_selector:
            yield f"{name}__columns", chosen
    yield from _used(columns)


def _used(columns: ColumnTransformer) -> Iterator[tuple[str, Any]]:
    """Yield the transformers that were fitted: those that got a column."""
    for name, inner, chosen in columns.transformers_:
        with warnings.catch_warnings():
            # scikit-learn 1.6 announces another form of the remainder's columns
            warnings.simplefilter("ignore", FutureWarning)
            values = np.asarray(chosen)
        if values.any() if values.dtype == np.bool_ else values.size:
            yield name, inner


#: How the parts of each kind of container are listed.
CONTAINERS: dict[type, Callable[[Any], Any]] = {
    ColumnTransformer: _columns,
    FeatureUnion: lambda union: union.transformer_list,
    FrozenEstimator: lambda frozen: [("", frozen.estimator)],
    Pipeline: lambda pipeline: pipeline.steps,
}
