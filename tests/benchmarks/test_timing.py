"""The timing benchmark runs, and its verdict follows the audits."""

import numpy as np
import pytest
import timing as benchmark

from skdp.audit import TimingAudit, TimingEvidence

QUIET = TimingEvidence(epsilon=0.0, t=1.0, auc=0.5, event="slower than 1")
LOUD = TimingEvidence(epsilon=2.0, t=9.0, auc=0.9, event="slower than 1")


def audit(evidence, *, sound=True):
    return TimingAudit(evidence, QUIET, LOUD if sound else QUIET, 100, 0.95)


def test_every_block_has_a_case():
    import skdp._constant_work as blocks

    assert set(blocks.__all__) == {case.name for case in benchmark.BLOCKS}


def test_every_case_runs_on_both_inputs():
    for case in benchmark.BLOCKS + benchmark.BRANCHY + benchmark.LOOPS:
        assert case.first.shape == case.second.shape
        with np.errstate(under="ignore"):
            case.call(case.first)
            case.call(case.second)


@pytest.mark.parametrize(
    ("found", "check", "status"),
    [
        (audit(QUIET), True, 0),
        (audit(LOUD), True, 1),
        (audit(LOUD), False, 0),
        (audit(LOUD, sound=False), True, 0),
    ],
)
def test_a_leaking_block_fails_the_check(found, check, status, monkeypatch, capsys):
    calls = []
    monkeypatch.setattr(benchmark, "audit", lambda *_: calls.append(1) or found)
    arguments = ["--only", "choose", *(["--check"] if check else [])]
    assert benchmark.main(arguments) == status
    assert len(calls) == (1 if not found.leaks else 3)
    printed = capsys.readouterr().out
    assert "| choose |" in printed
    assert ("leaks" in printed) == found.leaks


def test_it_measures(capsys):
    assert benchmark.main(["--runs", "40", "--only", "choose"]) == 0
    assert capsys.readouterr().out.count("|") > 20
