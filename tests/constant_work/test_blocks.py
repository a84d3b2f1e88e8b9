"""Constant-work building blocks compute what their branchy counterparts do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdp._constant_work import (
    accepts,
    bounded,
    choose,
    count_at_most,
    first_rows,
    first_true,
    largest,
    safe_exp,
    take_row,
)


@settings(deadline=None, max_examples=50, derandomize=True)
@given(st.lists(st.booleans(), max_size=9))
def test_first_true(mask):
    mask = np.array(mask, dtype=bool)
    expected = int(np.argmax(mask)) if mask.any() else mask.size
    assert first_true(mask) == expected


def test_take_row_is_exact_and_ignores_the_other_rows():
    rows = np.array([[1.0, 2.5e-3], [np.inf, np.nan], [0.1, -7.0]])
    assert take_row(rows, 0).tolist() == [1.0, 2.5e-3]
    assert take_row(rows, 2).tolist() == [0.1, -7.0]
    assert take_row(rows, 3).tolist() == [0.0, 0.0]
    assert np.isfinite(take_row(rows, 1)).all()


def test_first_rows_keep_their_order():
    rows = np.arange(12.0).reshape(6, 2)
    mask = np.array([False, True, True, False, True, True])
    assert first_rows(rows, mask, 3).tolist() == [[2, 3], [4, 5], [8, 9]]
    assert first_rows(rows, mask[::-1], 5).tolist() == [
        [0, 1],
        [2, 3],
        [6, 7],
        [8, 9],
        [0, 0],
    ]
    assert first_rows(rows, np.zeros(6, bool), 2).tolist() == [[0, 0], [0, 0]]


def test_choose_is_exact():
    a, b = np.array([0.1, -3.0]), np.array([1e200, 2.0])
    assert choose(1, a, b).tolist() == a.tolist()
    assert choose(0, a, b).tolist() == b.tolist()
    assert choose(1, a, np.array([np.nan, np.inf])).tolist() == a.tolist()


def test_largest_skips_nan_and_survives_infinities():
    assert largest(np.array([0.0, np.nan, 2.0, 1.0])) == 2
    assert largest(np.array([np.nan, np.nan])) == 0
    assert largest(np.array([-np.inf, 0.0])) == 1
    assert largest(np.array([np.inf, 0.0])) == 0


def test_counts_agree_with_searching():
    rng = np.random.default_rng(3)
    z, grid = rng.normal(size=40), np.linspace(-2, 2, 11)
    expected = np.searchsorted(np.sort(z), grid, side="right")
    assert count_at_most(z, grid).tolist() == expected.tolist()


def test_bounded_takes_nan_to_the_lower_end():
    assert bounded(np.array([np.nan, -9.0, 9.0, 0.5]), -1.0, 1.0).tolist() == [
        -1.0,
        -1.0,
        1.0,
        0.5,
    ]


def test_exponentials_stay_clear_of_special_cases():
    x = np.array([-np.inf, -1e6, -745.0, -708.5, -700.0, -1.0, 700.0, 1e6, np.nan])
    assert (safe_exp(x) >= np.exp(-500.0)).all()
    assert np.isfinite(safe_exp(x)).all()
    assert safe_exp(np.array([-1.0]))[0] == np.exp(-1.0)


@pytest.mark.statistical
def test_acceptance_has_its_probability():
    """Off by 5.5 standard deviations with probability below 1e-7; the seed is fixed."""
    wait = np.random.default_rng(0).exponential(size=100_000)
    for log_a in (-0.05, -1.0, -4.0):
        rate = accepts(np.full(wait.size, log_a), wait).mean()
        sd = np.sqrt(np.exp(log_a) * (1 - np.exp(log_a)) / wait.size)
        assert abs(rate - np.exp(log_a)) < 5.5 * sd


def test_what_only_rounding_can_cause_counts_as_sure():
    assert accepts(np.array([1e-12, 3.0, 0.0]), np.zeros(3)).all()
    assert not accepts(np.array([np.nan, -np.inf]), np.full(2, 50.0)).any()
