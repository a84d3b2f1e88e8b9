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


@pytest.mark.parametrize(
    ("run", "told"),
    [
        (naive, "built-in mean"),
        (early_exit, "helper"),
        (compacts, "helper"),
        (warns, "warn"),
        (raises, "raises ValueError"),
        (returns_more, "(4,)"),
        (tells_in_words, "warns UserWarning: mean"),
    ],
)
def test_work_that_depends_on_the_data_is_seen(run, told):
    found = work_trace(run, [SMALL, LARGE], n_seeds=8)
    assert not found.identical
    assert told in found.difference
    assert "different work" in str(found)


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


def test_the_profiler_of_the_caller_is_kept():
    def nothing(frame, event, argument):
        pass

    before = sys.getprofile()
    sys.setprofile(nothing)
    try:
        work_trace(fixed, [SMALL, LARGE], n_seeds=1)
        assert sys.getprofile() is nothing
    finally:
        sys.setprofile(before)


def test_it_takes_two_data_sets():
    with pytest.raises(ValueError, match="datasets has 1 entries"):
        work_trace(fixed, [SMALL])
    with pytest.raises(ValueError, match="n_seeds"):
        work_trace(fixed, [SMALL, LARGE], n_seeds=0)
