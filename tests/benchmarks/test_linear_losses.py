"""The benchmark of losses runs, and measures what its words say."""

import linear_losses as bench
import pytest


def test_both_tables_are_printed(monkeypatch, capsys):
    monkeypatch.setattr(bench, "TABLES", [bench.Table(200, 2, outliers=0.05)])
    few = {
        name: bench.LOSSES[name] for name in ("logistic", "softmax, 3 classes", "Huber")
    }
    monkeypatch.setattr(bench, "LOSSES", few)
    monkeypatch.setattr(bench.sys, "argv", ["linear_losses.py", "--quick"])
    assert bench.main() == 0
    printed = capsys.readouterr().out
    for name in bench.LOSSES:
        assert f"| {name} | " in printed
    assert "| 2 | 200 | 5% | 1 | " in printed


def test_a_least_squares_fit_has_no_excess_and_a_constant_all_of_it():
    class Fit:
        def __init__(self, predict):
            self.predict = predict

        def fit(self, X, y):
            return self

    table = bench.Table(2000, 3)
    for value in (0.0, 0.2):
        found = bench.excess(
            lambda value=value, **kw: Fit(lambda X: value), table, 1.0, 0
        )
        assert found > 0.8
    with pytest.raises(AttributeError):
        bench.excess(lambda **kw: None, table, 1.0, 0)


def test_the_logistic_loss_costs_what_a_gaussian_release_does():
    noise, ridge = bench.price(bench.LOSSES["logistic"], 1.0)
    assert noise == pytest.approx(1.0, abs=1e-3)
    assert 1.0 < ridge < 1.1
    noise, ridge = bench.price(bench.LOSSES["smoothed hinge"], 1.0)
    assert 1.05 < noise < 1.15
    assert ridge > 5


def test_more_classes_cost_a_longer_gradient_and_a_little_noise():
    noise, ridge = bench.price(bench.LOSSES["softmax, 3 classes"], 1.0)
    more, larger = bench.price(bench.LOSSES["softmax, 10 classes"], 1.0)
    assert 1.2 < noise < more < 1.5
    assert 2.0 < ridge < larger < 4.0
