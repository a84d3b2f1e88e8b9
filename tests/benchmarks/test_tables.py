"""Tables are unit-norm rows, real or generated."""

import json

import numpy as np
import pandas as pd
import pytest
from _tables import SHAPES, generate_table, load_table

NORM = 1.0 + 1e-12


@pytest.fixture
def directory(tmp_path, monkeypatch):
    """A data directory with one table that has a column of every kind."""
    schema = {
        "credit": {
            "target": "default",
            "positive": 1,
            "columns": {
                "age": {"kind": "num", "lo": 20, "hi": 100},
                "pay": {"kind": "amt", "lo": 0, "hi": 99},
                "bill": {"kind": "samt", "lo": -99, "hi": 99},
                "job": {"kind": "cat", "cats": ["None", "nurse"]},
                "id": {"kind": "drop", "why": "a name"},
            },
        }
    }
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    frame = pd.DataFrame(
        [
            ["60", "9", "-9", "nurse", "1", "1"],
            ["", "-5", "1e6", "None", "2", "0"],
            ["200", "", "", "?", "3", "1"],
        ],
        columns=["age", "pay", "bill", "job", "id", "default"],
    )
    frame.to_csv(tmp_path / "credit.csv.gz", index=False)
    monkeypatch.setenv("SKDP_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("directory")
def test_real_table_is_scaled_by_its_schema_alone():
    X, y = load_table("credit")
    rows = np.array(
        [
            [0.0, 0.5, -0.5, 0.0, 1.0, 1.0],
            [0.0, 0.0, 1.0, 1.0, 0.0, 1.0],
            [1.0, 0.0, 0.0, 0.0, 0.0, 1.0],
        ]
    )
    np.testing.assert_allclose(X, rows / np.linalg.norm(rows, axis=1, keepdims=True))
    np.testing.assert_array_equal(y, [1, -1, 1])


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_generated_table_has_the_declared_shape(name):
    X, y = generate_table(name)
    shape = SHAPES[name]
    assert X.shape == (shape.n_rows, shape.n_columns)
    assert np.linalg.norm(X, axis=1).max() <= NORM
    assert (X[:, -1] > 0.0).all()
    assert set(np.unique(y)) == {-1, 1}
    assert np.mean(y == 1) == pytest.approx(shape.positive_share, abs=1e-3)


def test_tables_are_generated_without_a_data_directory(monkeypatch):
    monkeypatch.delenv("SKDP_DATA", raising=False)
    assert load_table("mushroom") is generate_table("mushroom")
