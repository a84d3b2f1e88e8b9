"""A fit publishes all or nothing: interrupted, it leaves the sampler as it was."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skdp.synthesis import (
    MWEM,
    GaussianSampler,
    HalfspaceSynthesizer,
    ROOSampler,
    SyntheticHistogram,
    TableSampler,
)

BITS = np.repeat([[0, 0], [0, 1], [1, 1]], 100, axis=0)
FRAME = pd.DataFrame(BITS, columns=["a", "b"])
PAIR = {"categories": [[0, 1], [0, 1]]}

#: A sampler, what it was fitted to before, and what it fails on.
CASES = {
    "draws": (
        ROOSampler(categories=[0, 1], n_samples=2, release="draws"),
        FRAME[["a"]],
        BITS[:, 1],
    ),
    "histogram of a column": (
        ROOSampler(categories=[0, 1], release="histogram"),
        FRAME["a"],
        FRAME[["b"]],
    ),
    "records": (TableSampler(method="records", **PAIR), FRAME, BITS),
    "columns": (TableSampler(method="columns", n_samples=2, **PAIR), BITS, FRAME),
    "tree": (TableSampler(method="tree", delta=1e-6, **PAIR), FRAME, BITS),
    "histogram": (SyntheticHistogram(method="histogram", **PAIR), FRAME, BITS),
    "tree of a histogram": (
        SyntheticHistogram(method="tree", delta=1e-6, **PAIR),
        BITS,
        FRAME,
    ),
    "weights": (MWEM(n_rounds=2, **PAIR), FRAME, BITS),
    "halfspaces": (HalfspaceSynthesizer(n_points=2), FRAME, BITS[:, :1].repeat(3, 1)),
    "normal": (GaussianSampler(delta=1e-6), FRAME, BITS[:, :1].repeat(3, 1)),
}


@pytest.fixture(params=CASES)
def case(request):
    sampler, before, after = CASES[request.param]
    return clone(sampler), before, after


def test_a_fit_leaves_nothing_but_what_is_declared_as_released(case):
    """Neither the error that was achieved nor a score, which are private."""
    sampler, X, _ = case
    fitted = set(vars(sampler.fit(X))) - set(sampler.get_params())
    assert fitted <= sampler._released
    words = ("error", "score", "count", "weight")
    assert not {name for name in fitted if any(word in name for word in words)}


def interrupt(monkeypatch, sampler, at):
    """Interrupt the fit after it has published ``at`` times, or earlier if 0."""
    publish, seen = type(sampler)._publish, []

    def interrupted(self, **attributes):
        if at:
            publish(self, **attributes)
        seen.append(1)
        if len(seen) >= at:
            raise KeyboardInterrupt

    monkeypatch.setattr(type(sampler), "_publish", interrupted)


def n_publications(sampler, X, monkeypatch):
    publish, seen = type(sampler)._publish, []

    def counted(self, **attributes):
        seen.append(1)
        publish(self, **attributes)

    with monkeypatch.context() as patch:
        patch.setattr(type(sampler), "_publish", counted)
        clone(sampler).fit(X)
    return len(seen)


def test_an_interrupted_first_fit_leaves_nothing(case, monkeypatch):
    sampler, _, X = case
    for at in range(n_publications(sampler, X, monkeypatch) + 1):
        with monkeypatch.context() as patch:
            interrupt(patch, sampler, at)
            with pytest.raises(KeyboardInterrupt):
                sampler.fit(X)
        assert set(vars(sampler)) == set(sampler.get_params())
        with pytest.raises(NotFittedError):
            sampler.sample()


def test_an_interrupted_fit_leaves_the_earlier_one(case, monkeypatch):
    sampler, first, X = case
    before = dict(vars(sampler.fit(first)))
    for at in range(n_publications(sampler, X, monkeypatch) + 1):
        with monkeypatch.context() as patch:
            interrupt(patch, sampler, at)
            with pytest.raises(KeyboardInterrupt):
                sampler.fit(X)
        assert set(vars(sampler)) == set(before)
        assert all(value is before[name] for name, value in vars(sampler).items())


def test_data_that_are_refused_leave_the_earlier_fit(case):
    sampler, first, _ = case
    before = dict(vars(sampler.fit(first)))
    for wrong in (np.full((4, 7), "?"), np.empty((0, 2))):
        with pytest.raises((ValueError, TypeError)):
            sampler.fit(wrong)
        assert all(value is before[name] for name, value in vars(sampler).items())
        assert set(vars(sampler)) == set(before)
