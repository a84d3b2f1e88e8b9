"""One release of a whole table, by the method its public numbers call for."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import check_estimator

from skdp.exceptions import NotForReleaseWarning
from skdp.synthesis import MWEM, HalfspaceSynthesizer, SyntheticHistogram

CATEGORIES = [[0, 1], [0, 1, 2]]


def rows(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.integers(0, 2, n), rng.integers(0, 3, n)])


X = rows()


def bits(k, **kwargs):
    return SyntheticHistogram(categories=[[0, 1]] * k, **kwargs)


def test_auto_decides_by_public_numbers_alone():
    wide = np.zeros((2000, 18), dtype=int)
    assert bits(4).fit(wide[:, :4]).method_ == "histogram"
    assert bits(14, epsilon=0.5, n_rounds=1).fit(wide[:, :14]).method_ == "mwem"
    few = bits(14, epsilon=0.5, target_error=0.9, n_rounds=1)
    assert few.fit(wide[:, :14]).method_ == "histogram"
    assert bits(18, delta=1e-6).fit(wide).method_ == "tree"
    private = {"adjacency": "add-remove"}
    assert bits(14, epsilon=0.5, **private).fit(wide[:, :14]).method_ == "histogram"
    assert bits(18, delta=1e-6, **private).fit(wide).method_ == "tree"
    with pytest.raises(ValueError, match="different records"):
        bits(40).fit(np.zeros((5, 40), dtype=int))
    for other in (X, np.zeros_like(X)):
        assert SyntheticHistogram(categories=CATEGORIES).fit(other).method_ == (
            "histogram"
        )


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"delta": 1e-6},
        {"adjacency": "add-remove"},
        {"adjacency": "add-remove", "delta": 1e-6},
        {"method": "mwem"},
        {"method": "mwem", "delta": 1e-6},
        {"method": "tree", "delta": 1e-6},
        {"method": "tree", "delta": 1e-6, "adjacency": "add-remove"},
    ],
    ids=str,
)
def test_spend_is_at_most_what_was_asked_and_nearly_all_of_it(settings):
    for epsilon in (0.1, 3.0):
        model = SyntheticHistogram(
            categories=CATEGORIES, epsilon=epsilon, **settings
        ).fit(X)
        spent, delta = model.privacy_spent_
        assert 0.999 * epsilon <= spent <= epsilon
        assert delta == settings.get("delta", 0.0)
        assert set(vars(model)) - set(model.get_params()) <= model._released
        assert model.sample(7).shape == (7, 2)
        assert np.all(np.isfinite(model.pdp_loss(X[:2])))
        assert hasattr(model, "tree_") == (model.method_ == "tree")
        assert hasattr(model, "probabilities_") != hasattr(model, "tree_")


def test_nothing_but_the_release_depends_on_a_private_number_of_records():
    seen = []
    for n in (10, 11):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = SyntheticHistogram(
                categories=CATEGORIES, adjacency="add-remove"
            ).fit(X[:n])
        public = {k: repr(v) for k, v in vars(model).items() if k != "probabilities_"}
        seen.append((public, str(caught)))
    assert seen[0] == seen[1]


def test_a_histogram_is_close_with_many_records():
    with pytest.warns(NotForReleaseWarning):
        model = SyntheticHistogram(categories=CATEGORIES, random_state=0).fit(X)
    real = np.array([[np.mean(([a, b] == X).all(1)) for b in range(3)] for a in (0, 1)])
    assert np.abs(model.probabilities_ - real).max() < 0.02
    out = model.sample(1000)
    assert out.dtype == np.int64


def test_the_predicted_error_is_that_of_half_the_cells():
    """Standard deviation of the sum of N / 2 geometric noises, doubled."""
    model = SyntheticHistogram(epsilon=0.5)
    predicted = model.histogram_error(n_records=1000, n_rows=100)
    scale = 2 / 0.5
    deviation = math.sqrt(500 * 2 * scale**2) / 100
    assert predicted == pytest.approx(deviation * math.sqrt(8000) / 50 / deviation)
    assert deviation == pytest.approx(predicted / math.sqrt(8000) * 50 * deviation)
    assert predicted == pytest.approx(math.sqrt(8 * 1000) / (100 * 0.5))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"method": "mwem", "adjacency": "add-remove"}, "number of rows"),
        ({"method": "tree"}, "delta > 0"),
        ({"method": "best"}, "method"),
        ({"target_error": 0.0}, "target_error"),
        ({"n_rounds": 0}, "n_rounds"),
        ({"categories": None}, "categories is None"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(wrong, words):
    with pytest.raises(ValueError, match=words) as caught:
        SyntheticHistogram(**{"categories": CATEGORIES, **wrong}).fit(X)
    assert "Allowed" in str(caught.value)


def test_frames_come_out_as_frames():
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = SyntheticHistogram(categories={"b": [0, 1, 2], "a": [0, 1]}).fit(frame)
    assert model.sample(3).columns.tolist() == ["a", "b"]
    assert model.feature_names_in_.tolist() == ["a", "b"]


def test_check_estimator_passes():
    for model in (SyntheticHistogram(), MWEM(), HalfspaceSynthesizer()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # without categories no table is read
            for result in check_estimator(model) or []:
                assert result["status"] == "passed"


@pytest.mark.parametrize("levels", [256, 1024])
def test_auto_never_builds_a_table_of_queries_that_does_not_fit(levels, monkeypatch):
    from skdp.synthesis import _synthetic_histogram as module

    def refuse(sizes):
        raise AssertionError("built")

    monkeypatch.setattr(module, "pair_queries", refuse)
    few = np.zeros((100, 2), dtype=int)
    wide = {"categories": [range(levels)] * 2}
    assert SyntheticHistogram(**wide).fit(few).method_ == "histogram"
    assert SyntheticHistogram(delta=1e-6, **wide).fit(few).method_ == "tree"
    with pytest.raises(ValueError, match="Allowed: 268435456 entries"):
        SyntheticHistogram(method="mwem", **wide).fit(few)


def test_the_smallest_epsilon_is_served():
    model = SyntheticHistogram(epsilon=1e-9, categories=CATEGORIES).fit(X)
    assert model.method_ == "histogram"


def test_the_error_of_no_rows_is_refused():
    with pytest.raises(ValueError, match="n_rows"):
        SyntheticHistogram().histogram_error(n_records=4, n_rows=0)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, 2000.0])
def test_the_error_needs_an_epsilon_that_can_be_spent(epsilon):
    with pytest.raises(ValueError, match="epsilon"):
        SyntheticHistogram(epsilon=epsilon).histogram_error(n_records=4, n_rows=10)


def test_losses_are_not_told_of_records_that_are_not_declared():
    model = SyntheticHistogram(categories=CATEGORIES).fit(X)
    with pytest.raises(ValueError, match="declared"):
        model.pdp_loss([[9, 9]])
