"""The benchmark of several classes shares one budget among one-vs-rest fits."""

import numpy as np
import pytest
import several_classes as bench
from _peers import gaussian_mu


def test_shares_compose_to_the_whole():
    each = bench.share(1.0, 4)
    assert 0.3 < each < 0.6
    assert 2.0 * gaussian_mu(each, bench.DELTA) == pytest.approx(
        gaussian_mu(1.0, bench.DELTA)
    )


def test_probabilities_of_both_ways_add_up_to_one(monkeypatch):
    monkeypatch.setattr(bench, "N_ROWS", 300)
    X, y = bench.make_rows(3, 0)
    for logs in (
        bench.together(bench.exact(), X, y),
        bench.one_by_one([bench.exact() for _ in range(3)], X, y),
    ):
        np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1.0)


def test_a_line_for_every_number_of_classes_and_epsilon(monkeypatch, capsys):
    monkeypatch.setattr(bench, "N_ROWS", 200)
    monkeypatch.setattr(bench, "N_COLUMNS", 3)
    assert bench.main(["--seeds", "1", "--classes", "3", "4", "--eps", "1"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line[:9] for line in printed[2:]] == ["| 3 | 1 |", "| 4 | 1 |"]
