"""The public categories of every column of a table, and the way in and out."""

import math
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from skdp._typing import IntArray
from skdp.rows import Alphabet
from skdp.synthesis._column import levels_of

__all__ = ["Codebook", "declared_codebook", "encode_asked", "enter_table"]

_REMEDY = "Declare the public categories of every column, for example from a codebook."


@dataclass(frozen=True, slots=True)
class Codebook:
    """Declared categories of the columns of a table, in its order.

    Attributes
    ----------
    alphabets : tuple of Alphabet
        One a column.
    names : tuple or None
        Names of the columns; None for an array.
    levels : tuple
        For each column, the pandas dtype that declared it, or None.
    columns : Index or None
        The columns of a frame as they were, of several levels if so.
    """

    alphabets: tuple[Alphabet, ...]
    names: tuple[Any, ...] | None
    levels: tuple[Any, ...]
    columns: Any = field(default=None, compare=False)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of categories of each column."""
        return tuple(len(alphabet) for alphabet in self.alphabets)

    @property
    def n_records(self) -> int:
        """Number of different records there may be, however large."""
        return math.prod(self.sizes)

    def encode(self, X: Any, *, unknown: Literal["error", "other"]) -> IntArray:
        """Return the index of every entry, shape (n, d), column by column."""
        n = X.shape[0]
        codes = np.empty((n, len(self.alphabets)), dtype=np.int32, order="F")
        for j, alphabet in enumerate(self.alphabets):
            column = X.iloc[:, j] if self.names is not None else X[:, j]
            codes[:, j] = alphabet.encode(column, unknown=unknown)
        return codes

    def decode(self, codes: IntArray) -> Any:
        """Return records as a frame of the declared dtypes, or as an array."""
        columns = [a.values[codes[:, j]] for j, a in enumerate(self.alphabets)]
        if self.names is None:
            dtypes = {a.values.dtype for a in self.alphabets}
            dtype = np.result_type(*dtypes) if _alike(dtypes) else np.dtype(object)
            out = np.empty((len(codes), len(columns)), dtype=dtype)
            for j, column in enumerate(columns):
                out[:, j] = column
            return out
        from pandas import DataFrame, Series

        series = {
            j: Series(column, dtype=levels)
            for j, (column, levels) in enumerate(zip(columns, self.levels, strict=True))
        }
        return DataFrame(series).set_axis(self.columns, axis=1)


def _alike(dtypes: set[Any]) -> bool:
    """Tell whether one dtype holds all the values as what they are."""
    return len({dtype.kind for dtype in dtypes}) == 1


Declared = Mapping[Any, Alphabet | None] | tuple[Alphabet | None, ...] | None


def declared_codebook(categories: Any) -> Declared:
    """Check declared categories; None where dtypes declare them all."""
    if categories is None:
        raise ValueError(
            "categories is None: categories that are read off the data have "
            "probability 0 without the person who brings them, which no epsilon "
            "covers. Allowed: a mapping from column to public categories, or a list "
            f"of such lists. {_REMEDY}"
        )
    if isinstance(categories, str):
        if categories == "dtype":
            return None
        raise TypeError(
            f"categories must be a mapping or a list, got {categories!r}. Allowed: one "
            f"list of categories a column, or 'dtype'. {_REMEDY}"
        )
    if isinstance(categories, Mapping):
        return {name: _alphabet(entry) for name, entry in categories.items()}
    if isinstance(categories, set | frozenset) or not hasattr(categories, "__len__"):
        raise TypeError(
            f"categories must be a mapping or a list, got {type(categories).__name__}. "
            f"Allowed: one list of categories a column, or 'dtype'. {_REMEDY}"
        )
    return tuple(_alphabet(entry) for entry in categories)


def _alphabet(entry: Any) -> Alphabet | None:
    if isinstance(entry, str) and entry == "dtype":
        return None
    return Alphabet(entry)


def enter_table(estimator: Any, X: Any, declared: Declared) -> tuple[Any, Codebook]:
    """Return the table, unread, with its codebook; set the feature attributes."""
    X = _table(X)
    if hasattr(X, "iloc"):
        names = tuple(X.columns)
        if len(set(names)) != len(names):
            raise ValueError(
                "X has columns of equal names. Allowed: different names. Rename them."
            )
    else:
        names = None
    alphabets = _alphabets_of(declared, names, X.shape[1])
    levels: list[Any] = [None] * len(alphabets)
    for j, alphabet in enumerate(alphabets):
        if alphabet is None:
            levels[j] = levels_of(X.iloc[:, j] if names is not None else X)
            alphabets[j] = Alphabet(levels[j].categories)
    validate_data(estimator, X, skip_check_array=True)
    found = tuple(a for a in alphabets if a is not None)
    _check_text(X, found)
    return X, Codebook(found, names, tuple(levels), getattr(X, "columns", None))


def _check_text(X: Any, alphabets: tuple[Alphabet, ...]) -> None:
    """Refuse an array of text for a column in which no text is declared."""
    if getattr(getattr(X, "dtype", None), "kind", "") != "U":
        return
    for j, alphabet in enumerate(alphabets):
        if not any(isinstance(value, str) for value in alphabet.values.tolist()):
            raise TypeError(
                f"X is an array of text, but no category of column {j} is text: NumPy "
                "turns numbers into text where an array mixes both. Allowed: a frame, "
                "an array of dtype=object, or a list of records. Pass one of them, or "
                "declare text."
            )


def encode_asked(
    estimator: Any, X: Any, book: Codebook, unknown: Literal["error", "other"]
) -> IntArray:
    """Return the indices of records asked about; the estimator stays as it is."""
    declared: Declared = (
        book.alphabets
        if book.names is None
        else dict(zip(book.names, book.alphabets, strict=True))
    )
    X, asked = enter_table(copy(estimator), X, declared)
    return asked.encode(X, unknown=unknown)


def _table(X: Any) -> Any:
    """Check the shape of a table; a number of rows is quoted only if it is 0."""
    if sparse.issparse(X):
        raise TypeError(
            "Sparse data was passed, but dense data is required: X is a table of "
            "categories. Allowed: a frame or an array. Pass X.toarray()."
        )
    if not hasattr(X, "iloc"):
        X = np.asarray(X) if hasattr(X, "dtype") else np.array(X, dtype=object)
        if X.dtype.kind == "c":
            raise ValueError(
                "Complex data not supported. Allowed: numbers, text or other hashable "
                "values. Pass a table of categories."
            )
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead: X is a table. Allowed: "
            "shape (n, d). Reshape your data to one column, X.reshape(-1, 1), or to "
            "one record, X.reshape(1, -1)."
        )
    if X.shape[1] == 0:
        raise ValueError(
            f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is "
            "required. Allowed: one column or more. Pass the columns."
        )
    if X.shape[0] == 0:
        raise ValueError(
            f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is "
            "required. Allowed: one record or more. Pass the records."
        )
    return X


def _alphabets_of(
    declared: Declared, names: tuple[Any, ...] | None, n_columns: int
) -> list[Alphabet | None]:
    """Return the declared alphabets in the order of the columns of X."""
    if declared is None:
        return [None] * n_columns
    if isinstance(declared, Mapping):
        if names is None or set(names) != set(declared):
            missing = [name for name in declared if names is None or name not in names]
            raise ValueError(
                "categories names other columns than X has, got "
                f"{len(declared)} declared ones, of which X lacks {missing!r}, and "
                f"{n_columns} in X. Allowed: a frame with exactly the declared "
                f"columns. {_REMEDY}"
            )
        return [declared[name] for name in names]
    if len(declared) != n_columns:
        raise ValueError(
            f"categories has {len(declared)} entries, got X with {n_columns} columns. "
            f"Allowed: one list of categories a column. {_REMEDY}"
        )
    return list(declared)
