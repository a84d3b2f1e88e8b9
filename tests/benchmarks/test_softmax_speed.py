"""The benchmark of several classes runs, and compares like with like."""

import numpy as np
import pytest
import softmax_speed as bench


@pytest.mark.parametrize("kind", bench.KINDS)
def test_both_sides_find_the_same_model(kind):
    problem = bench.Problem(kind, 400)
    theta = problem.objective().minimise(gradient_tol=1e-8).x
    np.testing.assert_allclose(problem.peer().ravel(), theta, atol=1e-3)
    assert problem.solve() <= 1e-8 * np.sqrt(2.0) * problem.ball.radius
    assert problem.release() <= problem.calibrate().gradient_tol


def test_every_class_is_met_and_rows_are_clipped():
    X, y = bench.make_rows("strings", 2_000)
    assert len(np.unique(y)) == bench.K
    assert np.linalg.norm(X, axis=1).max() > 1.0


def test_a_line_is_marked_where_a_ratio_misses_its_target(capsys):
    found = {"release": 2.0, "solve": 1.0, "peer": 1.0}
    found |= {"ours_norm": 1e-9, "peer_norm": 1e-3}
    assert bench.print_line("plain", found) == 1
    assert "| 2.00 | 1.00 | 1e-09 | 1e-03 | MISSED |" in capsys.readouterr().out
    assert bench.print_line("plain", found | {"release": 0.5}) == 0
    assert "MISSED" not in capsys.readouterr().out


def test_the_exit_status_follows_the_targets_only_with_check(monkeypatch, capsys):
    found = {"release": 2.0, "solve": 2.0, "peer": 1.0}
    found |= {"ours_norm": 1e-9, "peer_norm": 1e-3}
    monkeypatch.setattr(bench, "fresh", lambda kind, n, runs: found)
    assert bench.main(["--kinds", "plain"]) == 0
    assert bench.main(["--kinds", "plain", "strong", "--check"]) == 1
    assert "4 targets missed" in capsys.readouterr().out


def test_one_measurement_has_every_figure():
    found = bench.measure("plain", 400, 1)
    assert set(found) == {"release", "solve", "peer", "ours_norm", "peer_norm"}
    assert found["ours_norm"] < found["peer_norm"]
