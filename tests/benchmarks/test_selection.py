"""The selection benchmark runs, and its targets are the ones that can be missed."""

import numpy as np
import selection


def test_a_short_run_prints_a_table(monkeypatch, capsys):
    monkeypatch.setattr(selection, "clock", lambda call, n_calls: call() or 1e-5)
    monkeypatch.setattr(selection.sys, "argv", ["selection.py", "--sizes", "3"])
    assert selection.main() == 0
    printed = capsys.readouterr().out
    assert printed.count("| 3 |") == 4
    assert "0 targets missed" in printed


def test_a_slow_choice_is_a_miss():
    assert selection.is_missed(4, True, 1e-3, np.nan)
    assert not selection.is_missed(4, True, 1e-6, np.nan)
    assert selection.is_missed(10_000, False, 1e-3, 5.0)
    assert not selection.is_missed(10_000, False, 1e-3, np.nan)
