"""The selector keeps what it chose and nothing of what it saw."""

import pickle
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import skdp
from skdp.exceptions import NotForReleaseWarning
from skdp.model_selection import PrivateSelector

GRID = (0.25, 0.5, 0.75)


def rows_below(candidate, X, y):
    return -abs(int((X[:, 0] <= candidate).sum()) - Fraction(len(X), 2))


def agreement(candidate, X, y):
    return int(np.sum((X[:, 0] > candidate) == (y == 1)))


def made(**options):
    return PrivateSelector(
        **{"candidates": GRID, "scoring": rows_below, "sensitivity": 0.5} | options
    )


def table(n=400, seed=0):
    return np.random.default_rng(seed).random((n, 2))


def test_the_best_candidate_is_chosen_when_it_is_clear():
    X = table()
    for selection in ("auto", "exponential", "permute-and-flip"):
        for exact in (True, False):
            model = made(epsilon=3.0, selection=selection, exact=exact).fit(X)
            assert model.best_candidate_ == GRID[model.best_index_] == 0.5
            assert model.n_features_in_ == 2


def test_targets_reach_the_scoring_function():
    X = table()
    y = (X[:, 0] > 0.75).astype(int)
    model = made(scoring=agreement, sensitivity=1, monotone=True, epsilon=3.0)
    assert model.fit(X, y).best_candidate_ == 0.75


@pytest.mark.parametrize(
    ("exact", "level", "grade"),
    [(True, "exact", "proved"), (False, "default", "numerically certified")],
)
def test_what_was_spent_is_what_was_asked(exact, level, grade):
    for epsilon in (0.01, 1.0, 100.0):
        spent = made(epsilon=epsilon, exact=exact).fit(table()).privacy_spent_
        assert tuple(spent) == (epsilon, 0.0)
        assert (spent.level, spent.grade, spent.releasable) == (level, grade, True)
        assert "candidates are public" in spent.assumptions
        assert [part.name for part in spent.parts] == ["ExponentialMechanism"]
    replacing = made(adjacency="replace-one", sensitivity=1).fit(table())
    assert str(replacing.privacy_spent_.adjacency) == "replace-one"


def test_concentrated_privacy_depends_on_the_law():
    em = made(selection="exponential").fit(table()).privacy_spent_.guarantee
    pf = made().fit(table()).privacy_spent_.guarantee
    total_em, total_pf = (skdp.compose(*[g] * 20).epsilon(1e-6) for g in (em, pf))
    assert total_em < total_pf < 20


def test_the_fitted_object_holds_no_data_and_no_scores():
    X = table()
    X[17] = [0.123456789, 0.987654321]
    scores = []

    class Recorder:
        def __call__(self, candidate, X, y):
            scores.append(float(X[:, 0].sum()) + candidate)
            return scores[-1]

    fitted = made(scoring=Recorder(), score_range=(0, 300)).fit(X)
    assert set(vars(fitted)) - set(fitted.get_params()) <= fitted._released
    fitted.set_params(scoring=rows_below)
    blob = pickle.dumps(fitted)
    shown = fitted._repr_html_() + repr(fitted) + repr(fitted.privacy_spent_)
    for secret in [*X.ravel()[:90], *X[17], *scores]:
        assert np.float64(secret).tobytes() not in blob
        assert repr(float(secret)) not in shown
    sizes = {len(pickle.dumps(made().fit(table(n)))) for n in (50, 5000)}
    assert max(sizes) - min(sizes) <= 4
    for name in ("pmf_", "scores_", "score", "n_samples_seen_", "utility_bound"):
        assert not hasattr(fitted, name)
    with pytest.raises(AttributeError, match="scores_"):
        fitted._publish(scores_=scores)


def test_neighbours_look_alike_but_for_the_choice():
    faces = set()
    for n in (10, 11, 4000):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = made().fit(np.zeros((n, 1)))
        public = {k: v for k, v in vars(model).items() if not k.startswith("best_")}
        faces.add((len(caught), repr(public), repr(model)))
    assert len(faces) == 1


class Unread:
    """Data that must not be looked at."""

    def __array__(self, *args, **kwargs):
        raise AssertionError("the data was read before the parameters were checked")

    def __len__(self):
        raise AssertionError("the data was read before the parameters were checked")


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"candidates": []}, ValueError, "candidates is empty"),
        ({"candidates": None}, TypeError, "candidates"),
        ({"candidates": "abc"}, TypeError, "candidates"),
        ({"candidates": iter([1])}, TypeError, "candidates"),
        ({"scoring": None}, TypeError, "scoring"),
        ({"epsilon": 0.0}, ValueError, "epsilon"),
        ({"epsilon": "1"}, TypeError, "epsilon"),
        ({"sensitivity": -1}, ValueError, "sensitivity"),
        ({"sensitivity": None}, TypeError, "sensitivity"),
        ({"base_measure": [1, 2]}, ValueError, "differ in length"),
        ({"base_measure": [0, 0, 0]}, ValueError, "base_measure"),
        ({"monotone": True, "adjacency": "replace-one"}, ValueError, "both ways"),
        ({"adjacency": "swap"}, ValueError, "adjacency"),
        ({"random_state": -1}, ValueError, "random_state"),
        ({"random_state": "0"}, TypeError, "random_state"),
    ],
)
def test_wrong_parameters_are_refused_before_the_data_is_read(options, error, match):
    with pytest.raises(error, match=match):
        made(**options).fit(Unread())


@pytest.mark.parametrize("score", [np.nan, np.inf, "1", None, [1.0, 2.0], 1j])
def test_scores_that_are_no_finite_numbers_are_refused_unquoted(score):
    def scoring(candidate, X, y):
        return 77.125 if candidate == 0.5 else score

    with pytest.raises((TypeError, ValueError)) as caught:
        made(scoring=scoring).fit(table())
    assert "77" not in str(caught.value)
    if isinstance(score, float):
        assert made(scoring=scoring, score_range=(0, 1)).fit(table()).best_index_ in {
            0,
            1,
            2,
        }


def test_data_that_are_not_finite_are_refused_before_scoring():
    def scoring(candidate, X, y):
        raise AssertionError("scored")

    X = table()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        made(scoring=scoring).fit(X)
    with pytest.raises(ValueError, match="inconsistent"):
        made(scoring=scoring).fit(table(), [1, 2])
    with pytest.raises(ValueError, match="NaN"):
        made(scoring=scoring).fit(table(2), [1.0, np.nan])


def test_excluded_candidates_are_never_chosen():
    for _ in range(30):
        assert made(base_measure=[1, 0, 3], epsilon=5.0).fit(table()).best_index_ != 1


def test_seeded_fits_repeat_and_say_they_are_not_for_release():
    chosen = []
    for _ in range(2):
        with pytest.warns(NotForReleaseWarning):
            model = made(candidates=range(500), random_state=3).fit(table())
        chosen.append(model.best_index_)
        assert not model.privacy_spent_.releasable
        assert model.privacy_spent_.level == "research"
    assert chosen[0] == chosen[1]
    fresh = [clone(made(candidates=range(5000))).fit(table()) for _ in range(4)]
    assert len({model.best_index_ for model in fresh}) > 1


def test_frames_and_pipelines_work():
    X = pd.DataFrame(table(), columns=["age", "height"])
    pipeline = make_pipeline(skdp.BoundedScaler(bounds=(0, 1)), made(epsilon=0.7))
    epsilon, delta = skdp.privacy_spent(pipeline.fit(X))
    assert (epsilon, delta) == (0.7, 0.0)
    assert made().fit(X).feature_names_in_.tolist() == ["age", "height"]


@pytest.mark.parametrize(
    "score",
    [
        [1.0],
        [[1.0], [2.0, 3.0]],
        np.ones(2),
        np.ones((2, 1)),
        None,
        "0.5",
        1j,
        np.array("a"),
        True,
    ],
)
def test_scores_that_are_no_numbers_are_refused_in_words(score):
    """Not by an error of NumPy's, and without a word of what came."""
    for scores in ([score, score, score], [score, 1.0, 2], [2, 1.0, score]):
        found = dict(zip(GRID, scores, strict=True))
        with pytest.raises(TypeError, match="Allowed: ") as caught:
            made(scoring=lambda c, X, y, found=found: found[c]).fit(table())
        assert "0.5" not in str(caught.value)


def test_scores_of_every_kind_of_number_are_taken():
    kinds = [0, np.int32(0), np.float32(0), Fraction(0), np.array(0.0), np.array(0)]
    for zero in kinds:
        made(scoring=lambda c, X, y, zero=zero: zero).fit(table())
