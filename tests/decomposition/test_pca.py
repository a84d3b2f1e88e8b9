"""Private principal components with scikit-learn's interface."""

import math
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

import skdp
from skdp.decomposition import PrivatePCA
from skdp.exceptions import NotForReleaseWarning


def table(n=6000, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 4)) * [0.4, 0.25, 0.1, 0.1]


def seeded(n, *, state, X):
    with pytest.warns(NotForReleaseWarning):
        return PrivatePCA(n, random_state=state).fit(X).components_


def test_components_are_close_to_those_without_privacy():
    X = table()
    exact = PCA(2).fit(X).components_
    found = PrivatePCA(2, epsilon=20.0, data_norm=1.5).fit(X).components_
    assert np.all(np.abs(np.sum(exact * found, axis=1)) > 0.99)


def test_components_are_orthonormal_whatever_epsilon():
    for epsilon in (1e-6, 1.0, 100.0):
        components = PrivatePCA(4, epsilon=epsilon).fit(table(50)).components_
        np.testing.assert_allclose(components @ components.T, np.eye(4), atol=1e-12)


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_spend_is_at_most_what_was_asked_and_nearly_all_of_it(n, adjacency):
    for epsilon in (0.01, 1.0, 100.0):
        pca = PrivatePCA(n, epsilon=epsilon, adjacency=adjacency).fit(table(60))
        spent, delta = pca.privacy_spent_
        assert 0.999 * epsilon <= spent <= epsilon
        assert delta == 0.0
        assert len(pca.privacy_spent_.parts) == 2 * n
        assert str(pca.privacy_spent_.adjacency) == adjacency


def test_the_loops_are_parts_apart_from_the_total():
    """Each component has two parts: its draw, and what the loop tells a clock."""
    pca = PrivatePCA(2).fit(table(60))
    spent = pca.privacy_spent_
    draws, loops = spent.parts[::2], spent.parts[1::2]
    assert all(part.guarantee.observes == {"output"} for part in draws)
    for part, mechanism in zip(loops, pca.mechanism_, strict=True):
        assert part.guarantee == mechanism.loop_cost
        assert part.guarantee.observes == {"runtime"}
        assert "not in the total" in part.note
    assert spent.observes == {"output"}
    assert not [text for text in spent.assumptions if "output alone" in text]
    assert type(spent).from_json(spent.to_json()) == spent


def test_transform_and_its_inverse_use_origin_and_components():
    X = table(200)
    pca = PrivatePCA(4, origin=[0.1, 0.2, 0.3, 0.4]).fit(X)
    np.testing.assert_allclose(pca.inverse_transform(pca.transform(X)), X, atol=1e-12)
    np.testing.assert_array_equal(pca.mean_, [0.1, 0.2, 0.3, 0.4])
    one = PrivatePCA().fit(X)
    np.testing.assert_allclose(one.transform(X), X @ one.components_.T)


def test_sparse_tables_and_frames_give_the_same_components():
    X = np.round(table(300), 1)
    frame = pd.DataFrame(X, columns=list("abcd"))
    found = [seeded(2, state=3, X=rows) for rows in (X, sp.csr_array(X), frame)]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_long_rows_count_as_clipped():
    X = np.vstack([np.tile([[1.0, 0.0]], (500, 1)), [[0.0, 1e12]]])
    pca = PrivatePCA(epsilon=5.0).fit(X)
    assert abs(pca.components_[0, 0]) > 0.9


def test_nothing_but_released_values_is_kept():
    pca = PrivatePCA(2).fit(table(500))
    fitted = set(vars(pca)) - set(pca.get_params())
    assert fitted <= PrivatePCA._released
    assert not [name for name in fitted if "variance" in name or "singular" in name]
    sizes = {len(pickle.dumps(PrivatePCA().fit(table(n)))) for n in (50, 5000)}
    assert max(sizes) - min(sizes) <= 4


def test_seeded_fits_repeat_and_others_differ():
    X = table(100)
    np.testing.assert_array_equal(seeded(1, state=1, X=X), seeded(1, state=1, X=X))
    with pytest.warns(NotForReleaseWarning):
        pca = PrivatePCA(random_state=1).fit(X)
    assert not pca.privacy_spent_.releasable
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        free = [PrivatePCA().fit(X) for _ in range(2)]
    assert free[0].privacy_spent_.releasable
    assert np.all(free[0].components_ != free[1].components_)


def test_one_column_one_row_and_rows_of_zeros_work():
    assert abs(PrivatePCA().fit(np.ones((3, 1))).components_[0, 0]) == 1.0
    assert PrivatePCA().fit(np.ones((1, 3))).components_.shape == (1, 3)
    PrivatePCA().fit(np.zeros((5, 2)))


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_components": 0}, ValueError, "n_components"),
        ({"n_components": 5}, ValueError, "n_components"),
        ({"n_components": 1.5}, TypeError, "n_components"),
        ({"epsilon": 0.0}, ValueError, "epsilon"),
        ({"data_norm": -1.0}, ValueError, "data_norm"),
        ({"origin": [1.0]}, ValueError, "origin"),
        ({"origin": np.inf}, ValueError, "origin"),
        ({"origin": "mean"}, TypeError, "origin"),
        ({"origin": ["a", "b", "c", "d"]}, TypeError, "origin must be"),
        ({"origin": [None] * 4}, TypeError, "origin must be"),
        ({"origin": [1j] * 4}, TypeError, "origin must be"),
        ({"origin": [[1.0], [2.0, 3.0]]}, TypeError, "origin must be"),
        ({"origin": np.ones((1, 4))}, TypeError, "origin must be"),
        ({"origin": {1.0, 2.0}}, TypeError, "origin"),
        ({"origin": np.array(["a"] * 4)}, TypeError, "origin must be"),
        ({"origin": [math.nan] * 4}, ValueError, "origin"),
        ({"adjacency": "swap"}, ValueError, "adjacency"),
    ],
)
def test_bad_parameters_are_refused_by_name(parameters, error, message):
    with pytest.raises(error, match=message):
        PrivatePCA(**parameters).fit(table(20))


def test_it_is_found_at_the_top_and_counts_in_a_pipeline():
    assert skdp.PrivatePCA is PrivatePCA
    X = table(400)
    y = (X[:, 0] > 0).astype(int)
    model = make_pipeline(
        PrivatePCA(epsilon=0.5), skdp.ObjPertLogisticRegression(classes=[0, 1])
    ).fit(X, y)
    spent = skdp.privacy_spent(model)
    assert spent.epsilon == pytest.approx(1.5, rel=1e-3)


def test_names_of_columns_are_kept_and_given():
    frame = pd.DataFrame(table(30), columns=list("abcd"))
    pca = PrivatePCA(2).fit(frame)
    assert list(pca.feature_names_in_) == list("abcd")
    assert list(pca.get_feature_names_out()) == ["privatepca0", "privatepca1"]
