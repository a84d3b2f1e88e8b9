"""Real tables come with public facts that were written down, not measured."""

import dataclasses
import importlib

import numpy as np
import pytest

from skdp.datasets import load_fair, load_randhie
from skdp.preprocessing import BoundedScaler

LOADERS = [load_fair, load_randhie]


@pytest.mark.parametrize("load", LOADERS)
def test_a_table_is_complete_finite_and_labelled(load):
    table = load()
    assert list(table.X.columns) == list(table.bounds)
    assert np.isfinite(table.X.to_numpy()).all()
    assert set(table.y) == set(table.classes) == {0, 1}
    assert table.frame.shape == (len(table.y), table.X.shape[1] + 1)
    assert "one row is one" in table.description.lower()


@pytest.mark.parametrize("load", LOADERS)
def test_declared_ranges_hold_nearly_all_rows(load):
    """A declared cap may cut a few rows, but a misread codebook would cut many."""
    table = load()
    lower, upper = np.array(list(table.bounds.values())).T
    X = table.X.to_numpy()
    cut = np.abs(X - np.clip(X, lower, upper)) > 1e-5
    assert cut.mean() < 0.001


@pytest.mark.parametrize("load", LOADERS)
def test_a_table_is_ready_for_the_scaler(load):
    table = load()
    scaled = BoundedScaler(bounds=table.bounds).fit_transform(table.X)
    assert np.abs(scaled).max() <= 1.0


def test_a_table_cannot_be_changed():
    table = load_fair()
    with pytest.raises(dataclasses.FrozenInstanceError):
        table.y = None
    with pytest.raises(TypeError):
        table.bounds["age"] = (0, 1)


def test_without_statsmodels_the_error_tells_the_command(monkeypatch):
    real = importlib.import_module

    def without_statsmodels(name, package=None):
        if name.startswith("statsmodels"):
            raise ImportError(name)
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", without_statsmodels)
    with pytest.raises(ImportError, match=r"pip install 'skdp\[examples\]'"):
        load_fair()


def test_rows_per_person_are_stated():
    assert load_fair().rows_per_person == 1
    assert load_randhie().rows_per_person == 5
