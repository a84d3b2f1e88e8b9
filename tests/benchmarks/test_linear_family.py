"""The benchmark of the linear family judges scores as it says."""

import itertools

import linear_family
import numpy as np
import pandas as pd
import pytest


def scores(risks, *, n_seeds=2):
    """Frame of scores from {(method, dataset): risk at epsilon 1}, falling in it."""
    return pd.DataFrame(
        [
            {"method": m, "dataset": d, "eps": e, "seed": s, "excess_risk": r / e}
            for (m, d), r in risks.items()
            for e, s in itertools.product((0.5, 1.0), range(n_seeds))
        ]
    )


STORED = scores(
    {
        ("att-objpert", "adult"): 2.0,
        ("att-objpert[sd.1]", "adult"): 1e-9,
        ("dpgd[100]", "adult"): 8.0,
        ("dpgd[400]", "adult"): 2.0,
        ("dpl-logreg@AR[C=1]", "adult"): 4.0,
        ("att-huber[.25]", "wine"): 4.0,
        ("att-huber[.6]", "wine"): 5.0,
    }
)


def ours(risk, pure=1.0, regression=1.0):
    return scores(
        {
            (linear_family.OURS, "adult"): risk,
            (linear_family.OURS_PURE, "adult"): pure,
            (linear_family.OURS, "wine"): regression,
        }
    )


def test_the_better_rival_counts_in_each_cell():
    lines, missed = linear_family.report(ours(1.0), STORED)
    text = "\n".join(lines)
    assert missed == []
    for line in (
        "classification / att-objpert: 0.500",
        "classification / best DP-GD: 0.500",
        "regression / best att-huber: 0.250",
        "delta=0 / dpl-logreg@AR[C=1]: 0.250",
    ):
        assert line in text


@pytest.mark.parametrize(
    ("cells", "match"),
    [
        (ours(1.28), "att-objpert: 0.640, above 0.62"),
        (ours(2.4), "att-objpert, adult: 1.200 above 1.1"),
        (ours(1.0, pure=4.0), "delta=0, adult: 1.000, not below 1"),
        (ours(1.0, regression=2.0), "att-huber: 0.500, above 0.37"),
    ],
    ids=["mean", "table", "pure", "regression"],
)
def test_a_missed_limit_is_named(cells, match):
    _, missed = linear_family.report(cells, STORED)
    assert any(match in text for text in missed)


def test_risk_that_rises_with_epsilon_is_named_where_it_is_no_noise():
    cells = ours(1.0)
    worse = (cells["eps"] == 1.0) & (cells["dataset"] == "wine")
    cells.loc[worse, "excess_risk"] = 3.0 + 0.01 * cells.loc[worse, "seed"]
    assert linear_family.rises(cells) == ["skdp, wine, epsilon=1"]
    cells.loc[worse, "excess_risk"] = np.where(cells.loc[worse, "seed"] == 0, 90.0, 0.0)
    assert linear_family.rises(cells) == []


def test_splits_are_fitted_at_every_epsilon(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.uniform(-0.25, 0.25, (60, 11))
    tables = {
        "adult": linear_family.Table(X, np.where(X[:, 0] > 0, 1, -1)),
        "wine": linear_family.Table(X, X[:, 0]),
    }
    monkeypatch.setattr(linear_family, "load", tables.__getitem__)
    monkeypatch.setattr(linear_family, "EPSILONS", (1.0, 4.0))
    cells = linear_family.run(["adult", "wine"], [3], jobs=1)
    assert len(cells) == 2 * 2 + 2
    assert (cells["excess_risk"] > 0).all()
