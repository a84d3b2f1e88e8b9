"""The work trace sees every way in which work can depend on the data."""

import sys
import warnings

import numpy as np
import pytest

from skdp.audit import work_trace

SMALL, LARGE = np.full(6, 0.2), np.full(6, 0.9)


def fixed(data, generator):
    wait = generator.exponential(size=64)
    accepted = wait >= 1.0 - data.mean()
    return (np.arange(64) + 64 * (1 - accepted)).min()


def test_fixed_work_is_identical():
    found = work_trace(fixed, [SMALL, LARGE, np.zeros(6)])
    assert found.identical
    assert found.same_generator
    assert len(set(found.n_calls)) == 1
    assert found.difference == ""
    assert "the same work" in str(found)


def naive(data, generator):
    while generator.random() > data.mean():
        pass


def helper(x):
    return x


def early_exit(data, generator):
    for x in data:
        helper(x)
        if x > 0.5:
            break


def compacts(data, generator):
    return helper(data[data > generator.random(6)])


def warns(data, generator):
    if data[0] > 0.5:
        warnings.warn("converged", UserWarning, stacklevel=1)


def raises(data, generator):
    if data[0] > 0.5:
        raise ValueError("rejected")


def draws_more(data, generator):
    return generator.random(3 + int(data[0] > 0.5)).sum()


def returns_more(data, generator):
    return np.ones(3 + int(data[0] > 0.5))


def tells_in_words(data, generator):
    warnings.warn(f"mean {data[0]}", UserWarning, stacklevel=1)


def chooses_a_line(data, generator):
    x = 2
    if data[0] > 0.5:
        x = 1
    return x


@pytest.mark.parametrize(
    ("run", "told"),
    [
        (naive, "of naive"),
        (early_exit, "of early_exit"),
        (compacts, "makes an array of shape"),
        (chooses_a_line, "of chooses_a_line"),
        (warns, "warn"),
        (raises, "of raises"),
        (returns_more, "(4,)"),
        (tells_in_words, "warns UserWarning: mean"),
    ],
)
def test_work_that_depends_on_the_data_is_seen(run, told):
    found = work_trace(run, [SMALL, LARGE], n_seeds=8)
    assert not found.identical
    assert told in found.difference
    assert "different work" in str(found)


MANY, ONE = np.linspace(0.1, 0.9, 100), np.append(np.full(99, -1.0), 0.5)


def ufunc_of_a_part(d, generator):
    return np.exp(d[d > 0])[0]


def sorts_a_part(d, generator):
    d[d > 0].sort()


def counts_up(d, generator):
    n, i = (d > 0).sum(), 0
    while i < n * 10: i += 1  # noqa: E701 # fmt: skip


def builds_a_list(d, generator):
    n = (d > 0).sum()
    return [0 for _ in range(n)]


def adds_up(d, generator):
    return sum(0 for _ in range((d > 0).sum()))


def takes_where(d, generator):
    return float(np.take(d, np.flatnonzero(d > 0)).max())


def multiplies_a_part(d, generator):
    return float((d[: int((d > 0).sum())] * 2.0).max())


def holds_a_plain_part(d, generator):
    part = np.asarray(d)[np.asarray(d) > 0]
    return float(part[0])


def sorts_a_plain_part(d, generator):
    np.asarray(d)[np.asarray(d) > 0].sort()


LEAKS = [
    ufunc_of_a_part, sorts_a_part, counts_up, builds_a_list, adds_up, takes_where,
    multiplies_a_part, holds_a_plain_part, sorts_a_plain_part,
]  # fmt: skip


@pytest.mark.parametrize("leak", LEAKS, ids=lambda leak: leak.__name__)
@pytest.mark.parametrize("held", [lambda d: d, lambda d: {"x": (d, [d])}])
def test_work_that_no_python_call_shows_is_seen(leak, held):
    """Parts of arrays, loops on one line, comprehensions; none calls a function."""

    def run(data, generator):
        d = data["x"][1][0] if isinstance(data, dict) else data
        return leak(d, generator)

    found = work_trace(run, [held(MANY), held(ONE)], n_seeds=1)
    assert not found.identical
    assert work_trace(run, [held(MANY), held(MANY[::-1].copy())], n_seeds=1).identical


def test_data_behave_like_plain_arrays_while_watched():
    """Numbers stay numbers, and the data of the caller stay what they are."""
    seen = []

    def run(data, generator):
        seen.append((type(data.sum()), type(data[0]), hash(data.mean())))
        np.add(data, 0.0, out=data)
        assert type(np.asarray(data)) is np.ndarray
        return np.sqrt(data) @ data

    data = [SMALL.copy(), LARGE.copy()]
    assert work_trace(run, data, n_seeds=1).identical
    assert {kinds[:2] for kinds in seen} == {(np.float64, np.float64)}
    assert all(type(d) is np.ndarray for d in data)


def test_a_draw_of_another_size_shows_in_the_generator():
    found = work_trace(draws_more, [SMALL, LARGE])
    assert not found.identical
    assert not found.same_generator


def test_a_number_of_rows_shows_where_arrays_are_handled():
    """Under add-remove the number of rows is private."""

    def run(data, generator):
        return helper(data).sum()

    assert not work_trace(run, [np.ones(5), np.ones(6)]).identical


def test_a_memory_of_earlier_runs_shows_without_warm_up():
    seen = set()

    def remembers(data, generator):
        key = float(data[0])
        if key not in seen:
            helper(data)
            seen.add(key)

    remembers(SMALL, None)
    assert not work_trace(remembers, [SMALL, LARGE], warm_up=0).identical


def test_profiler_and_tracer_of_the_caller_are_kept():
    def nothing(frame, event, argument):
        pass

    before = sys.getprofile(), sys.gettrace()
    sys.setprofile(nothing)
    sys.settrace(nothing)
    try:
        work_trace(fixed, [SMALL, LARGE], n_seeds=1)
        assert sys.getprofile() is nothing
        assert sys.gettrace() is nothing
    finally:
        sys.setprofile(before[0])
        sys.settrace(before[1])


def test_it_takes_two_data_sets():
    with pytest.raises(ValueError, match="datasets has 1 entries"):
        work_trace(fixed, [SMALL])
    with pytest.raises(ValueError, match="n_seeds"):
        work_trace(fixed, [SMALL, LARGE], n_seeds=0)
