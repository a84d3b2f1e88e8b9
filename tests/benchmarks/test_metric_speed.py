"""The benchmark of the metric makes tables of the stated shapes and judges ratios."""

import json

import metric_speed as bench
import numpy as np
import pytest


@pytest.mark.parametrize("name", ["wine", "communities", "nursery"])
def test_tables_have_their_shapes_and_rows_within_the_ball(name):
    shape = bench.TABLES[name]
    X, y = bench.make_table(shape)
    assert X.shape == (shape.n, shape.d)
    assert np.linalg.norm(X, axis=1).max() <= 1.0 + 1e-12
    if shape.regression:
        assert -1.0 <= y.min() < y.max() <= 1.0
    else:
        assert set(np.unique(y)) == {-1, 1}
        assert 0.2 < np.mean(y == 1) < 0.8


def test_fits_alternate_and_every_time_is_kept(monkeypatch):
    monkeypatch.delenv("SKDP_DATA", raising=False)
    monkeypatch.setitem(bench.TABLES, "wine", bench.Shape(200, 4, True))
    found = bench.measure("wine", 1.0, 2)
    assert tuple(found["shape"]) == (200, 4)
    for times in (found["times"]["private"], found["times"]["identity"]):
        assert len(times) == 2
        assert min(times) > 0.0
    assert set(found["first"]) == {"identity", "private"}


@pytest.mark.parametrize(("private", "status"), [([1.9, 8.0, 1.9], 0), ([2.1] * 3, 1)])
def test_a_missed_target_is_named_and_fails_the_check(
    private, status, monkeypatch, capsys
):
    times = {"identity": [1.0] * 3, "private": private}
    found = {"shape": [10, 2], "first": {"identity": 2.0, "private": 3.0}}
    found = json.loads(json.dumps(found | {"times": times}))
    monkeypatch.setattr(bench, "in_fresh_process", lambda *_: found)
    options = ["--tables", "wine", "--eps", "1"]
    assert bench.main([*options, "--check"]) == status
    assert ("MISSED" in capsys.readouterr().out) == (status == 1)
    assert bench.main(options) == 0
