"""The benchmark of counting and drawing runs, and its targets can be missed."""

import pytest
import sampling_speed as bench


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr(bench, "N_ROWS", 1000)
    monkeypatch.setattr(bench, "N_DRAWS", 1000)
    monkeypatch.setattr(bench, "RUNS", 1)


def run(monkeypatch, *options):
    monkeypatch.setattr(bench.sys, "argv", ["sampling_speed.py", *options])
    return bench.main()


@pytest.mark.parametrize(("ours", "status"), [(1.0, 0), (10.0, 1)])
def test_a_slow_run_is_a_miss_if_that_is_asked(ours, status, monkeypatch, capsys):
    def clock(mine, other):
        mine()
        other()
        return ours * 1e-4, 1.3e-4

    monkeypatch.setattr(bench, "seconds", clock)
    assert run(monkeypatch) == 0
    assert run(monkeypatch, "--check") == status
    printed = capsys.readouterr().out
    assert printed.count("| 9 |") == printed.count("| 1000 |") == 2
    assert ("codes, 9 categories" in printed) == bool(status)


def test_every_target_can_be_missed():
    good = dict.fromkeys(bench.LARGEST_RATIO, 0.1)
    assert bench.missed_targets(9, good, 100.0) == []
    for what in bench.LARGEST_RATIO:
        assert len(bench.missed_targets(9, good | {what: 2.0}, 100.0)) == 1
    assert len(bench.missed_targets(1000, good, 4.9)) == 1
    assert bench.missed_targets(9, good, 7.9) == [
        "draws, 9 categories: 7.9 M/s < 8.0 M/s"
    ]


def test_it_measures(monkeypatch, capsys):
    assert run(monkeypatch) == 0
    assert "targets missed" in capsys.readouterr().out
