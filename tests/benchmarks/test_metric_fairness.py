"""The benchmark of groups weighs rows as the mechanism does, and says what it found."""

import metric_fairness as bench
import numpy as np
import pandas as pd
import pytest


def test_weights_are_those_of_the_fit():
    train, minority = bench.generated_rows(np.random.default_rng(0), 2000, 1)
    models, found = bench.fitted(train, 0, 1.0)
    geometry = models["private"].release_.geometry
    norms = np.linalg.norm(train.X @ geometry.transform, axis=1)
    assert (found <= 1.0).all()
    assert (found * norms <= 1.0 + 1e-9).all()
    assert (found * norms**2 <= geometry.curvature_ratio + 1e-9).all()
    assert found[minority].mean() < found[~minority].mean()


def test_the_minority_is_alone_in_its_column():
    table, minority = bench.generated_rows(np.random.default_rng(1), 20_000, -1)
    assert minority.mean() == pytest.approx(bench.MINORITY, abs=0.01)
    column = np.abs(table.X[:, bench.N_COLUMNS])
    assert column[minority].min() > 10 * column[~minority].max()
    np.testing.assert_allclose(np.linalg.norm(table.X, axis=1), 1.0)
    # the first column speaks for a label among all others, against it in the minority
    for group, sign in ((minority, -1), (~minority, 1)):
        assert sign * (table.X[group, 0] @ table.y[group]) > 0


def test_groups_are_compared_on_every_split(monkeypatch, capsys):
    monkeypatch.delenv("SKDP_DATA", raising=False)
    monkeypatch.setattr(bench, "N_GENERATED", 1000)
    assert bench.main(["--seeds", "2"]) == 0
    printed = capsys.readouterr().out
    assert "| adult |" not in printed
    for line in ("| same line | minority |", "| opposite line | all others |"):
        assert line in printed


def test_what_is_added_is_paired_by_split():
    rows = [(0, 0.5, 0.501), (1, 0.9, 0.903)]
    cells = pd.DataFrame(
        [
            {"table": "t", "group": "g", "rows": 0.5, "weight over rows": 0.8}
            | {"loss, none": none}
            | {f"loss, {name}": loss for name in bench.MODELS}
            | {f"error, {name}": 0.25 for name in bench.SHOWN}
            for _, none, loss in rows
        ]
    )
    assert bench.report(cells)[-1].startswith("| t | g | 50.0% | 0.80 | 0.700 | 2.0 ± ")
