"""Declared categories, and how often each occurs in columns of any kind."""

import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdp.rows import Alphabet, _addresses
from skdp.rows import _alphabet as module


def by_hand(categories, column, *, other=False):
    column = list(column)
    counts = [sum(1 for v in column if v == c) for c in categories]
    if other:
        counts[-1] += len(column) - sum(counts)
    return counts


TEXT = ["b", "a", "", "ü"]
COLUMNS = [
    (TEXT, ["a", "b", "a", "ü"]),
    (TEXT, np.array(["a", "b", "a"])),
    (TEXT, np.array(["a", "b", "a"], dtype=object)),
    (TEXT, pd.Series(["a", "b", "a"])),
    (TEXT, pd.Series(["a", "b", "a"], dtype=object)),
    (TEXT, pd.Series(["a", "b", "a"], dtype="category")),
    ([3, 1, 7], [1, 1, 3]),
    ([3, 1, 7], np.array([1, 1, 3], dtype=np.int8)),
    ([3, 1, 7], np.array([1, 1, 3], dtype=np.uint64)),
    (np.array([3, 1, 7], dtype=np.uint8), np.array([1, 1, 3])),
    ([3, 1, 7], np.array([1.0, 1.0, 3.0])),
    ([3, 1, 7], pd.Series([1, 1, 3], dtype="Int64")),
    ([10**9, -(10**9)], np.array([10**9, 10**9])),
    ([2**60, 1], np.array([2**60, 1, 1])),
    ([0.5, 2.5], np.array([0.5, 0.5, 2.5], dtype=np.float32)),
    ([True, False], np.array([True, True, False])),
    ([None, "x"], ["x", None, None]),
    ([None, "x"], np.array(["x", None], dtype=object)),
    ([(1, 2), "x"], ["x", (1, 2)]),
    ([1, "1"], [1, "1", 1]),
    (
        np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]"),
        np.array(["2021-01-01", "2021-01-01"], dtype="M8[D]"),
    ),
    ([datetime.date(2020, 1, 1)], [datetime.date(2020, 1, 1)]),
]


@pytest.mark.parametrize(("categories", "column"), COLUMNS, ids=lambda c: repr(c)[:40])
def test_counts_are_those_made_by_hand_in_the_declared_order(categories, column):
    alphabet = Alphabet(categories)
    if isinstance(column, list) and any(isinstance(v, tuple) for v in column):
        values = np.empty(len(column), dtype=object)
        values[:] = column
        column = values
    expected = by_hand(categories, column)
    assert alphabet.count(column).tolist() == expected
    codes = alphabet.encode(column)
    assert np.bincount(codes, minlength=len(alphabet)).tolist() == expected


@pytest.mark.parametrize(
    "column",
    [
        ["a", "secret", "b"],
        np.array(["a", "secret"]),
        np.array(["a", None], dtype=object),
        np.array([1, 2]),
        np.array([np.nan, 1.0]),
        pd.Series(["a", None]),
        pd.Series(["a", "secret"], dtype="category"),
        pd.Series(["a", None], dtype="category"),
        np.array(["a", []], dtype=object),
        np.array([{}, []], dtype=object),
    ],
    ids=lambda c: repr(c)[:40],
)
def test_undeclared_values_raise_unquoted_or_count_as_the_last(column):
    alphabet = Alphabet(["a", "b"])
    for method in (alphabet.count, alphabet.encode):
        with pytest.raises(ValueError, match="NaN") as caught:
            method(column)
        assert "secret" not in str(caught.value)
        assert caught.value.__context__ is None
    counts = alphabet.count(column, unknown="other")
    expected = sum(1 for v in column if isinstance(v, str) and v == "a")
    assert counts.tolist() == [expected, len(column) - expected]
    assert alphabet.encode(column, unknown="other").tolist() == [
        0 if isinstance(v, str) and v == "a" else 1 for v in column
    ]


@pytest.mark.parametrize("kind", [np.int64, np.float64, np.uint64])
def test_extreme_numbers_are_unknown_not_wrapped(kind):
    info = np.iinfo(kind) if np.issubdtype(kind, np.integer) else np.finfo(kind)
    column = np.array([info.min, info.max, 5], dtype=kind)
    assert Alphabet([5, 6]).count(column, unknown="other").tolist() == [1, 2]
    assert Alphabet([-7, 5]).count(column, unknown="other").tolist() == [0, 3]


def test_many_blocks_many_addresses_and_fresh_objects(monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 64)
    rng = np.random.default_rng(0)
    names = [f"name {i}" for i in range(40)]
    codes = rng.integers(0, 40, 1000)
    alphabet = Alphabet(names)
    expected = np.bincount(codes, minlength=40).tolist()
    shared = np.array(names, dtype=object)[codes]
    fresh = np.array([name[:1] + name[1:] for name in shared], dtype=object)
    assert alphabet.count(shared).tolist() == expected
    assert alphabet.count(fresh).tolist() == expected
    assert alphabet.count(np.repeat(shared, 2)[::2]).tolist() == expected
    monkeypatch.setattr(_addresses, "_SLOT_BITS", 3)  # hardly any slot is free
    assert alphabet.count(shared).tolist() == expected
    shared[500] = "stranger"
    assert alphabet.count(shared, unknown="other").sum() == 1000


@given(st.lists(st.sampled_from(["a", "b", 1, 2.5, None, True, "zz"]), max_size=30))
def test_mixed_objects_count_as_they_compare(column):
    categories = ["a", 1, 2.5, "b"]
    values = np.empty(len(column), dtype=object)
    values[:] = column
    found = Alphabet(categories).count(values, unknown="other")
    assert found.tolist() == by_hand(categories, column, other=True)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ([], ValueError),
        (["a", "a"], ValueError),
        ([1, True], ValueError),
        ([1.0, float("nan")], ValueError),
        (np.zeros((2, 2)), ValueError),
        ("ab", TypeError),
        (3, TypeError),
        ([[1], [2]], TypeError),
        ([{}, "a"], TypeError),
    ],
)
def test_what_is_no_alphabet_is_refused(wrong, error):
    with pytest.raises(error, match="Allowed"):
        Alphabet(wrong)


def test_values_keep_dtype_and_order():
    assert Alphabet(["b", "a"]).values.tolist() == ["b", "a"]
    assert Alphabet(np.array([3, 1], dtype=np.int16)).values.dtype == np.int16
    assert Alphabet(["x", None]).values.dtype == object
    assert Alphabet(pd.Index(["b", "a"])).values.tolist() == ["b", "a"]
    assert repr(Alphabet([2, 1])) == "Alphabet([2, 1])"
    with pytest.raises(ValueError, match="read-only"):
        Alphabet([2, 1]).values[0] = 3


def test_what_equals_nothing_is_no_category():
    import pandas as pd

    for entries in (
        ["a", pd.NA],
        ["a", pd.NaT],
        np.array(["2020-01-01", "NaT"], dtype="M8[D]"),
        np.array(["2020-01-01", "NaT"], dtype="M8[ns]"),
    ):
        with pytest.raises(ValueError, match="NaN"):
            Alphabet(entries)


@pytest.mark.parametrize("unit", ["D", "s", "ns"])
@pytest.mark.parametrize("other", ["D", "s", "ns"])
@pytest.mark.parametrize("kind", ["M8", "m8"])
def test_counting_and_encoding_agree_on_times(unit, other, kind):
    declared = np.array([5, 3, 4]).astype(f"{kind}[D]").astype(f"{kind}[{unit}]")
    column = np.array([3, 3, 5, 4]).astype(f"{kind}[D]").astype(f"{kind}[{other}]")
    alphabet = Alphabet(declared)
    codes = alphabet.encode(column)
    np.testing.assert_array_equal(codes, [1, 1, 0, 2])
    np.testing.assert_array_equal(alphabet.count(column), np.bincount(codes))


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["x", None]),
        pd.Series(["x", None], dtype=object),
        pd.Series(["x", float("nan")], dtype=object),
        pd.Series(["x", pd.NA], dtype="string"),
        pd.Series(["x", None], dtype="category"),
    ],
    ids=lambda c: str(c.dtype),
)
def test_missing_values_of_pandas_are_none_where_it_is_declared(column):
    before = column.copy()
    alphabet = Alphabet([None, "y", "x"])
    assert alphabet.count(column).tolist() == [1, 0, 1]
    assert alphabet.encode(column).tolist() == [2, 0]
    pd.testing.assert_series_equal(column, before)
    undeclared = Alphabet(["y", "x"])
    with pytest.raises(ValueError, match="NaN"):
        undeclared.count(column)
    assert undeclared.encode(column, unknown="other").tolist() == [1, 1]


@pytest.mark.parametrize(
    ("value", "column"),
    [
        (1, pd.Series([1, pd.NA], dtype="Int64")),
        (1, pd.Series([1.0, float("nan")])),
        (True, pd.Series([True, pd.NA], dtype="boolean")),
        (pd.Timestamp("2020-01-01"), pd.Series(pd.to_datetime(["2020-01-01", None]))),
    ],
    ids=["integer", "float", "boolean", "time"],
)
def test_missing_numbers_and_times_are_none_too(value, column):
    assert Alphabet([None, value]).count(column).tolist() == [1, 1]
    assert Alphabet([None, value]).encode(column).tolist() == [1, 0]
    counts = Alphabet([value, "other"]).count(column, unknown="other")
    assert counts.tolist() == [1, 1]


def test_nan_of_an_array_is_not_none():
    column = np.array([1.0, float("nan")])
    with pytest.raises(ValueError, match="NaN"):
        Alphabet([None, 1.0]).count(column)


@pytest.mark.parametrize("unit", ["D", "s", "us", "ns"])
@pytest.mark.parametrize("kind", [np.asarray, pd.Series], ids=["array", "series"])
def test_times_of_any_unit_are_those_of_python(unit, kind):
    """A list of several types keeps them, and is compared with what a column holds."""
    column = kind(np.array(["2020-01-01", "2020-01-02"], dtype=f"M8[{unit}]"))
    day = datetime.date if unit == "D" and kind is np.asarray else datetime.datetime
    alphabet = Alphabet(["unknown", day(2020, 1, 2), day(2020, 1, 1)])
    assert alphabet.count(column).tolist() == [0, 1, 1]
    assert alphabet.encode(column).tolist() == [2, 1]
    spans = kind(np.array([86400, 1], dtype="m8[s]").astype(f"m8[{unit}]"))
    days = Alphabet([datetime.timedelta(days=1), None])
    assert days.count(spans, unknown="other").tolist() == [1, 1]


def test_a_time_between_microseconds_is_none_of_pythons():
    column = np.array(["2020-01-01T00:00:00.000000001"], dtype="M8[ns]")
    alphabet = Alphabet([datetime.datetime(2020, 1, 1), "other"])
    assert alphabet.count(column, unknown="other").tolist() == [0, 1]
