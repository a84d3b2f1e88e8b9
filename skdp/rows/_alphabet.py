"""A finite public set of symbols, and how often each occurs in a private column.

Counting is the one look at the column. It goes through blocks that stay in the cache:
integers are counted as they are, other numbers are looked up by bisection, text and
objects by hash. Objects that were seen before are known by their address.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from skdp._typing import IntArray
from skdp.rows._addresses import Addresses
from skdp.rows._declared import REMEDY, as_values, is_missing
from skdp.rows._labels import label_array

__all__ = ["Alphabet"]

Values = npt.NDArray[Any]

#: Rows counted at once.
_BLOCK = 1 << 16
#: Integer categories within a range this wide are counted without a search.
_SPAN = 1 << 16
#: Integers below this are floats, and compare with floats as they should.
_EXACT = 2.0**53
_LARGEST = np.iinfo(np.int64).max
#: More new addresses than this in a block: values do not repeat as objects.
_FEW = 256


class Alphabet:
    """Declared categories, in their declared order.

    Parameters
    ----------
    categories : array-like of shape (k,)
        Different hashable values. NaN is not one; None may be, and is what a missing
        value of a pandas column then counts as. An array keeps its dtype.

    Attributes
    ----------
    values : ndarray of shape (k,)
        The categories.

    Raises
    ------
    TypeError
        If ``categories`` is a string, or holds what cannot be hashed.
    ValueError
        If it is empty, holds NaN, or two of its entries are equal.

    Examples
    --------
    >>> from skdp.rows import Alphabet
    >>> Alphabet(["red", "green", "blue"]).count(["blue", "red", "blue"])
    array([1, 0, 2])
    """

    __slots__ = ("_places", "values")

    def __init__(self, categories: Any) -> None:
        self.values = as_values(categories)
        entries = self.values.tolist()
        try:
            self._places = {value: i for i, value in enumerate(entries)}
        except TypeError:
            raise TypeError(
                "categories must be hashable, got one that is not. Allowed: numbers, "
                f"text, or other hashable values. {REMEDY}"
            ) from None
        if any(is_missing(value) for value in (*entries, *self.values)):
            raise ValueError(
                "categories must not hold NaN, which equals nothing. Allowed: values "
                f"that equal themselves; None is one. {REMEDY}"
            )
        if len(self._places) != len(entries):
            raise ValueError(
                f"categories must differ from each other, got {len(entries)} of which "
                f"{len(self._places)} differ. Allowed: each one once. {REMEDY}"
            )
        self.values.flags.writeable = False

    def __len__(self) -> int:
        """Return the number of categories."""
        return len(self.values)

    def __repr__(self) -> str:
        return f"Alphabet({self.values.tolist()!r})"

    def count(
        self, column: Any, *, unknown: Literal["error", "other"] = "error"
    ) -> IntArray:
        """Return how often each category occurs.

        Parameters
        ----------
        column : array-like of shape (n,)
            Private values.
        unknown : {"error", "other"}, default="error"
            Whether a value that is no category raises, or counts as the last category.

        Returns
        -------
        counts : ndarray of int64 of shape (k,)

        Raises
        ------
        ValueError
            If a value is no category and ``unknown="error"``; it is not quoted.
        """
        counts = np.zeros(len(self), dtype=np.int64)
        n_rows = 0
        for known, n in self._counted(column):
            counts += known
            n_rows += n
        n_unknown = n_rows - int(counts.sum())
        if n_unknown and unknown == "error":
            raise ValueError(_unknown())
        counts[-1] += n_unknown
        return counts

    def encode(
        self, column: Any, *, unknown: Literal["error", "other"] = "error"
    ) -> IntArray:
        """Return the index of each value; see :meth:`count` for values unknown.

        Parameters
        ----------
        column : array-like of shape (n,)
            Values.
        unknown : {"error", "other"}, default="error"
            Whether a value that is no category raises, or becomes the last category.

        Returns
        -------
        codes : ndarray of int64 of shape (n,)
        """
        codes = self._codes(column)
        if unknown == "error" and np.any(codes < 0):
            raise ValueError(_unknown())
        return np.where(codes < 0, len(self) - 1, codes)

    def _codes(self, column: Any) -> IntArray:
        """Return the index of each value, -1 for what is unknown."""
        if hasattr(column, "cat"):
            places = self._places_of_levels(column)
            found: IntArray = places[column.cat.codes.to_numpy()]
            return found
        values = self._entries(column)
        kinds = {values.dtype.kind, self._kind.replace("u", "i")}
        if kinds == {"i"} and self._span() <= _SPAN:
            return self._codes_of_integers(values)
        if values.dtype.kind == self._kind and self._kind in "mM":
            # by what they are, whatever their units
            order = np.argsort(self.values, kind="stable")
            known = self.values[order]
            place = np.minimum(np.searchsorted(known, values), len(known) - 1)
            return np.where(known[place] == values, order[place], -1)
        entries, get = values.tolist(), self._places.get
        try:
            looked_up = map(get, entries, repeat(-1))
            return np.fromiter(looked_up, dtype=np.int64, count=len(entries))
        except TypeError:  # something cannot be hashed
            return np.array([self._place(value) for value in entries], dtype=np.int64)

    def _codes_of_integers(self, values: Values) -> IntArray:
        low = int(self.values.min())
        span = int(self.values.max()) - low + 1
        where = np.full(span + 1, -1, dtype=np.int64)
        where[self.values.astype(np.int64) - low] = np.arange(len(self))
        codes = _offsets(values, low)
        return where[np.where((codes >= 0) & (codes < span), codes, span)]

    def _place(self, value: Any) -> int:
        try:
            return self._places.get(value, -1)
        except TypeError:  # a list, say, is no category
            return -1

    def _counted(self, column: Any) -> Iterator[tuple[IntArray, int]]:
        """Yield counts of the categories and the number of rows, block by block."""
        if hasattr(column, "cat"):  # a pandas categorical: codes of its own levels
            return self._by_level(column)
        values = self._entries(column)
        kinds = [kind.replace("u", "i") for kind in (values.dtype.kind, self._kind)]
        if set(kinds) <= set("bi") and self._span() <= _SPAN:
            return self._by_integer(values)
        if kinds[0] == kinds[1] and kinds[0] in "fmM":
            return self._by_bisection(values)
        if set(kinds) <= set("bif") and self._span() < _EXACT:
            return self._by_bisection(values)
        if values.dtype == object:
            return self._by_address(values)
        return self._by_hash(values)

    def _entries(self, column: Any) -> Values:
        """Return a column as a vector; what pandas calls missing is a declared None."""
        if None in self._places and hasattr(column, "isna"):
            missing = np.asarray(column.isna())
            if missing.any():
                values: Values = column.astype(object).to_numpy(copy=True)
                values[missing] = None
                return values
        values = _array_of(column)
        if self._kind == "O" and values.dtype.kind in "mM":
            return _times_as_objects(values)
        return values

    @property
    def _kind(self) -> str:
        return self.values.dtype.kind

    def _span(self) -> float:
        """Return the width of a range that holds 0 and all categories."""
        ends = abs(float(self.values.max())), abs(float(self.values.min()))
        return 2.0 * max(ends) + 1.0

    def _by_level(self, column: Any) -> Iterator[tuple[IntArray, int]]:
        places = self._places_of_levels(column)
        for codes in _blocks(column.cat.codes.to_numpy()):
            yield self._tally(places[codes]), codes.size

    def _places_of_levels(self, column: Any) -> IntArray:
        index = column.cat.categories
        if getattr(index.dtype, "kind", "O") in "mM":
            levels = self._codes(index.to_numpy()).tolist()
        else:
            levels = [self._place(v) for v in index.tolist()]
        # missing values have code -1, the last entry
        return np.array([*levels, self._place(None)], dtype=np.int64)

    def _tally(self, places: IntArray) -> IntArray:
        """Count places, -1 standing for what is unknown."""
        return np.bincount(places + 1, minlength=len(self) + 1)[1:]

    def _by_integer(self, values: Values) -> Iterator[tuple[IntArray, int]]:
        low = int(self.values.min())
        span = int(self.values.max()) - low + 1
        where = self.values.astype(np.int64) - low
        for block in _blocks(values):
            codes = _offsets(block, low)
            n = codes.size
            # negative offsets are huge without their sign
            if int(codes.view(np.uint64).max()) >= span:
                codes = codes[(codes >= 0) & (codes < span)]
            yield np.bincount(codes, minlength=span)[where], n

    def _by_bisection(self, values: Values) -> Iterator[tuple[IntArray, int]]:
        order = np.argsort(self.values, kind="stable")
        known = self.values[order]
        for block in _blocks(values):
            place = np.minimum(np.searchsorted(known, block), len(known) - 1)
            yield (
                self._tally(np.where(known[place] == block, order[place], -1)),
                len(block),
            )

    def _by_address(self, values: Values) -> Iterator[tuple[IntArray, int]]:
        """Look every object up once, while there are few and they repeat."""
        seen, few = Addresses(), min(_FEW + 2 * len(self), _BLOCK // 4)
        for start in range(0, len(values), _BLOCK):
            # the column holds a reference to each object, so no address is reused
            block = np.ascontiguousarray(values[start : start + _BLOCK])
            address = np.frombuffer(block, dtype=np.uint64)
            places, missed = seen.look_up(address)
            if missed.size:
                fresh, first = np.unique(address[missed], return_index=True)
                if fresh.size > few + seen.n_crowded:
                    yield from self._by_hash(values[start:])
                    return
                found = [self._place(block[i]) for i in missed[first]]
                again = np.searchsorted(fresh, address[missed])
                places[missed] = np.array(found, dtype=np.int64)[again]
                seen.add(fresh, found)
            yield self._tally(places), block.size

    def _by_hash(self, values: Values) -> Iterator[tuple[IntArray, int]]:
        for block in _blocks(values):
            counts = np.zeros(len(self), dtype=np.int64)
            for value, n in _tallied(block.tolist()):
                place = self._place(value)
                if place >= 0:
                    counts[place] += n
            yield counts, len(block)


def _tallied(entries: list[Any]) -> Iterable[tuple[Any, int]]:
    """Return values with their numbers; what cannot be hashed stands alone."""
    try:
        return Counter(entries).items()
    except TypeError:
        return ((entry, 1) for entry in entries)


def _array_of(column: Any) -> Values:
    """Return a column as a vector, signed where it is of integers."""
    given = column.to_numpy() if hasattr(column, "to_numpy") else column
    values = label_array(given)
    if values.dtype.kind == "u":
        wide = values.size and values.dtype == np.uint64 and values.max() > _LARGEST
        return values.astype(object if wide else np.int64)
    return values


def _times_as_objects(values: Values) -> Values:
    """Return times as Python's own, if there is one; NumPy has integers for some."""
    if np.datetime_data(values.dtype)[0] not in {"ns", "ps", "fs", "as"}:
        return values.astype(object)
    coarse = values.astype(f"{values.dtype.kind}8[us]")
    out: Values = coarse.astype(object)
    out[coarse != values] = np.nan  # which equals nothing
    return out


def _blocks(values: Values) -> Iterator[Values]:
    for start in range(0, len(values), _BLOCK):
        yield values[start : start + _BLOCK]


def _offsets(block: Values, low: int) -> IntArray:
    """Return integers minus ``low`` as contiguous int64; wrapping if they must."""
    codes: IntArray = np.ascontiguousarray(block, dtype=np.int64)
    if low == 0:
        return codes
    with np.errstate(over="ignore"):
        return codes - low


def _unknown() -> str:
    return (
        "X holds a value that is not one of the declared categories; NaN, None and inf "
        "count as such unless they are declared. Allowed: declared categories. Declare "
        "more of them, or use handle_unknown='other' to count others as the last one."
    )
