"""The benchmark of noisy gradient descent compares with the best setting of a cell."""

import linear_family
import noisy_descent as bench
import numpy as np
import pandas as pd
import pytest


def test_descent_takes_the_steps_it_is_given():
    model = bench.descent((7, 2.0, 0.5))(epsilon=8.0)
    assert model.schedule == (7, 2.0, 0.5)
    assert model.noise_scale == pytest.approx(
        np.sqrt(7) * bench.descent((1, 2.0, 0.5))(epsilon=8.0).noise_scale
    )


def test_ratio_is_of_means_with_a_paired_error():
    ours, theirs = pd.Series([2.0, 4.0]), pd.Series([1.0, 2.0])
    value, spread = bench.ratio(ours, theirs)
    assert value == pytest.approx(2.0)
    assert spread == pytest.approx(0.0, abs=1e-12)


def test_every_method_is_scored_and_the_best_descent_counts(monkeypatch, capsys):
    rng = np.random.default_rng(0)
    X = rng.uniform(-0.25, 0.25, (80, 11))
    table = linear_family.Table(X, np.where(X[:, 0] > 0, 1, -1))
    monkeypatch.setattr(linear_family, "load", lambda name: table)
    arguments = ["--tables", "mushroom", "--eps", "1", "8", "--seeds", "2"]
    assert bench.main(arguments) == 0
    printed = capsys.readouterr().out
    assert "| private metric / best descent | " in printed
    assert "without privacy | eps=1 | eps=8 |" in printed
    cells = pd.DataFrame(
        [
            ("t", 0, name, epsilon, risk, 0.1)
            for name, epsilon, risk in [
                (bench.CEILING, np.inf, 0.0),
                (bench.OURS, 1.0, 3.0),
                (bench.IDENTITY, 1.0, 6.0),
                *((name, 1.0, 2.0 + i) for i, name in enumerate(bench.DESCENTS)),
            ]
        ],
        columns=["table", "seed", "method", "epsilon", "excess_risk", "error"],
    )
    lines = bench.report(cells)
    assert any(
        f"| steps of the best | {next(iter(bench.DESCENTS))} |" in x for x in lines
    )
    assert any("| private metric / best descent | 1.50" in line for line in lines)
