"""Every example runs and makes what it promises."""

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))

#: How the longer ones are made short.
SMALL = {
    "credit_losses": ["--rows", "500", "--draws", "1"],
    "ridge_and_noise": ["--repeats", "1"],
}


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(script, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(script), *SMALL.get(script.stem, [])])
    monkeypatch.setattr(sys, "path", list(sys.path))
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out


def test_the_quickstart_tells_price_and_accuracy_and_draws_one_figure(
    tmp_path, monkeypatch, capsys
):
    script = next(path for path in EXAMPLES if path.stem == "quickstart")
    figure = tmp_path / "figure.png"
    monkeypatch.setattr(sys, "argv", [str(script), "--figure", str(figure)])
    runpy.run_path(str(script), run_name="__main__")
    printed = capsys.readouterr().out
    assert printed.count("epsilon=1.000 at delta=0") == 2
    assert printed.count("AUC") == 4
    assert figure.stat().st_size > 10_000
    assert list(tmp_path.iterdir()) == [figure]
