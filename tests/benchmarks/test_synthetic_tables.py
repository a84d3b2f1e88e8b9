"""The benchmark of synthetic tables measures what it says."""

import numpy as np
import pytest
import synthetic_tables as bench

from skdp.synthesis._halfspaces import halfspaces


def test_the_error_of_a_law_is_that_of_the_worst_query():
    X = np.array([[0, 0], [0, 1], [1, 1], [1, 1]])
    law = bench.law_of_points(np.array([[0, 0], [1, 1]]))
    np.testing.assert_allclose(law, [0.5, 0, 0, 0.5])
    queries = np.eye(4)
    assert bench.largest_error(law, X, queries) == pytest.approx(0.25)
    assert bench.largest_error(law.reshape(2, 2), X, queries) == pytest.approx(0.25)


def test_a_histogram_is_more_accurate_than_a_few_points():
    """Means of 12 runs: the gap is more than ten standard errors."""
    row = bench.halfspace_row((2, 12, 200, 1.0), 12, np.random.default_rng(0))
    tuples, multisets, histogram, bound = row
    assert histogram < 0.7 * min(tuples, multisets)
    assert max(tuples, multisets) < bound


def test_queries_are_halfspaces_of_the_cube():
    queries = bench.random_halfspaces(4, np.random.default_rng(0))
    assert queries.shape == (300, 16)
    assert set(np.unique(queries)) == {0, 1}
    assert halfspaces(4).shape == (185, 16)


def test_a_short_run_prints_three_tables(monkeypatch, capsys):
    monkeypatch.setattr(bench.sys, "argv", ["bench", "--runs", "1"])
    monkeypatch.setattr(bench, "N_MWEM", 200)
    monkeypatch.setattr(bench, "N_ROUNDS", 2)
    monkeypatch.setattr(bench, "HALFSPACE_CASES", ((2, 4, 50, 1.0),))
    monkeypatch.setattr(bench, "timings", lambda large, rng: [("nothing", 0.0)])
    bench.main()
    printed = capsys.readouterr().out
    assert "| 2 | 4 | 50 | 1.0 |" in printed
    assert printed.count("| 12 | ") == 2
    assert "| nothing | 0.000 |" in printed


@pytest.mark.parametrize(
    ("row", "status"),
    [
        ((0.2, 0.2, 0.1, 0.5), 0),
        ((0.2, 0.05, 0.1, 0.5), 1),
        ((0.6, 0.2, 0.1, 0.5), 1),
    ],
)
def test_a_claim_that_does_not_hold_sets_the_exit_status(row, status, monkeypatch):
    monkeypatch.setattr(bench, "halfspace_row", lambda *args: row)
    monkeypatch.setattr(bench, "mwem_row", lambda *args: (0.1, 0.1, 0.1))
    monkeypatch.setattr(bench, "timings", lambda large, rng: [])
    for options, expected in (([], 0), (["--check"], status)):
        monkeypatch.setattr(bench.sys, "argv", ["bench", *options])
        assert bench.main() == expected
