"""The accuracy benchmark runs, repeats and judges."""

import frontier
import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="module")
def cells():
    """Scores of a small run on generated tables."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SKDP_DATA", raising=False)
        return frontier.run(["credit", "mushroom"], 2, [0.5, 4.0], cap=500)


@pytest.fixture
def _ran(monkeypatch, cells):
    """Let the command line report the small run instead of a long one."""
    monkeypatch.setattr(frontier, "run", lambda *_, **__: cells)


def cells_of(risks):
    """Frame of one split of one table from {(method, epsilon): excess risk}."""
    return pd.DataFrame(
        [
            {"table": "credit", "seed": 0, "method": m, "epsilon": e, "excess_risk": r}
            for (m, e), r in risks.items()
        ]
    )


def test_every_method_is_scored_on_every_split(cells):
    assert len(cells) == 2 * 2 * (1 + 2 * len(frontier.METHODS))
    assert not cells.duplicated(["table", "seed", "method", "epsilon"]).any()
    assert (cells["excess_risk"] > 0.0).all()
    scores = cells[["accuracy", "auc"]].to_numpy()
    assert ((scores >= 0.0) & (scores <= 1.0)).all()


def test_run_repeats(cells, monkeypatch):
    monkeypatch.delenv("SKDP_DATA", raising=False)
    again = frontier.run(["credit"], seeds=1, epsilons=[0.5], cap=500)
    expected = cells.merge(again[["table", "seed", "method", "epsilon"]])
    pd.testing.assert_frame_equal(again, expected)


@pytest.mark.usefixtures("_ran")
def test_report_names_every_peer_and_the_ceiling(capsys, tmp_path, cells):
    out = tmp_path / "cells.csv"
    assert frontier.main(["--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert all(f"| {peer} / " in printed for peer in frontier.RIVALS)
    assert "| test accuracy | eps=0.5 | eps=4 | non-private |" in printed
    assert len(pd.read_csv(out)) == len(cells)


def test_split_depends_on_the_seed_alone_and_parts_are_disjoint():
    n = 100
    table = frontier.Table(np.arange(n, dtype=float)[:, None], np.ones(n))
    train, test = frontier.split(table, 3)
    assert len(train.y) == 80
    assert sorted([*train.X[:, 0], *test.X[:, 0]]) == list(range(n))
    np.testing.assert_array_equal(train.X, frontier.split(table, 3)[0].X)
    assert not np.array_equal(train.X, frontier.split(table, 4)[0].X)
    capped = frontier.split(table, 3, cap=10)
    assert [len(part.y) for part in capped] == [10, 5]


def test_ratio_is_the_geometric_mean_over_tables_of_means_over_splits():
    cells = pd.DataFrame(
        [
            ("a", 0, "skdp", 1.0, 1.0),
            ("a", 1, "skdp", 1.0, 3.0),
            ("b", 0, "skdp", 1.0, 1.0),
            ("a", 0, "KST12", 1.0, 8.0),
            ("a", 1, "KST12", 1.0, 8.0),
            ("b", 0, "KST12", 1.0, 16.0),
        ],
        columns=["table", "seed", "method", "epsilon", "excess_risk"],
    )
    ratio = frontier.risk_ratio(cells, "KST12", "skdp")
    assert ratio.to_dict() == pytest.approx({1.0: 8.0})


def test_check_looks_at_epsilon_up_to_one():
    near = {("skdp", 1.0): 0.31, ("KST12", 1.0): 1.0}
    far = {("skdp", 0.5): 0.29, ("KST12", 0.5): 1.0}
    beyond = {("skdp", 2.0): 0.90, ("KST12", 2.0): 1.0}
    failures = frontier.check(cells_of(near | far | beyond))
    assert [text.split(":")[0] for text in failures] == ["epsilon=1"]


@pytest.mark.usefixtures("_ran")
@pytest.mark.parametrize(("largest", "status"), [(0.0, 1), (np.inf, 0)])
def test_check_sets_the_exit_status(monkeypatch, largest, status):
    monkeypatch.setattr(frontier, "LARGEST_RATIO", largest)
    assert frontier.main(["--check"]) == status


def test_check_without_a_small_epsilon_is_refused(capsys):
    with pytest.raises(SystemExit):
        frontier.main(["--eps", "2", "--check"])
    assert "--check needs" in capsys.readouterr().err
