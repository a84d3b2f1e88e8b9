"""Private quantile regression with scikit-learn's interface."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import QuantileRegressor

import skdp
from skdp.exceptions import NotForReleaseWarning
from skdp.linear_model import KNGQuantileRegressor
from skdp.rows import Targets, as_row_blocks


def problem(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, n)
    return x[:, None], 50 + 20 * x + 10 * rng.standard_normal(n)


def made(**parameters):
    return KNGQuantileRegressor(
        **{"bounds_y": (0.0, 100.0), "n_candidates": 400} | parameters
    )


def seeded(X, y=None):
    with pytest.warns(NotForReleaseWarning):
        return made(random_state=3).fit(X, y)


@pytest.mark.parametrize("quantile", [0.25, 0.9])
def test_a_generous_budget_comes_close_to_the_fit_without_privacy(quantile):
    X, y = problem()
    exact = QuantileRegressor(quantile=quantile, alpha=0.0).fit(X, y)
    found = made(quantile=quantile, epsilon=50.0, n_candidates=4096, radius=1.0)
    found.fit(X, y)
    assert abs(found.coef_[0] - exact.coef_[0]) < 3.0
    assert abs(found.intercept_ - exact.intercept_) < 3.0
    assert abs((y <= found.predict(X)).mean() - quantile) < 0.05


def test_coefficients_stay_in_the_public_box():
    X, y = problem(300)
    for norm in (0.5, 1.0, 4.0):
        model = made(epsilon=1e-6, data_norm=norm, radius=1.5).fit(X, y)
        assert np.all(np.abs(model.coef_) <= 1.5 * 50 / norm)
        assert 0.0 <= model.intercept_ <= 100.0
    flat = made(fit_intercept=False).fit(X, y)
    assert flat.intercept_ == 50.0
    assert flat.intercept_scaling_ == 0.0


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_spend_is_exactly_what_was_asked(adjacency):
    X, y = problem(100)
    for epsilon in (0.01, 1.0, 100.0):
        model = made(epsilon=epsilon, adjacency=adjacency).fit(X, y)
        assert tuple(model.privacy_spent_) == (epsilon, 0.0)
    notes = " ".join(model.privacy_spent_.assumptions)
    assert "range of targets" in notes
    assert "fewer than 2^31 rows" in notes


def test_more_columns_choose_among_points():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (200, 6))
    model = made(epsilon=1.0).fit(X, rng.uniform(0, 100, 200))
    assert model.coef_.shape == (6,)
    assert not model.mechanism_.is_grid


def test_sparse_rows_and_blocks_give_the_same_coefficients():
    X, y = problem(200)
    X = np.round(X, 1)
    blocks = as_row_blocks(X, y, labels=Targets(0.0, 100.0), block_rows=7)
    dense, sparse = seeded(X, y), seeded(sp.csr_array(X), y)
    streamed = seeded(blocks)
    for other in (sparse, streamed):
        np.testing.assert_array_equal(dense.coef_, other.coef_)
        assert dense.intercept_ == other.intercept_


def test_targets_beyond_the_range_count_as_clipped():
    X, y = problem(200)
    far, near = np.where(y > 60, 1e9, y), np.where(y > 60, 100.0, y)
    np.testing.assert_array_equal(seeded(X, far).coef_, seeded(X, near).coef_)


def test_nothing_but_released_values_is_kept():
    fitted = [made().fit(*problem(n)) for n in (50, 2000)]
    for model in fitted:
        names = set(vars(model)) - set(model.get_params())
        assert names <= KNGQuantileRegressor._released
    sizes = {len(pickle.dumps(model)) for model in fitted}
    assert max(sizes) - min(sizes) <= 4


def test_unseeded_fits_differ_and_are_releasable():
    X, y = problem(100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        models = [made().fit(X, y) for _ in range(3)]
    assert len({model.coef_.tobytes() for model in models}) == 3
    assert models[0].privacy_spent_.releasable
    with pytest.warns(NotForReleaseWarning):
        seeded = made(random_state=0).fit(X, y)
    assert not seeded.privacy_spent_.releasable


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"bounds_y": None}, ValueError, "bounds_y is missing"),
        ({"bounds_y": (1.0, 0.0)}, ValueError, "bounds_y"),
        ({"bounds_y": 3.0}, TypeError, "bounds_y"),
        ({"quantile": 0.0}, ValueError, "quantile"),
        ({"quantile": "median"}, TypeError, "quantile"),
        ({"epsilon": 1e9}, ValueError, "epsilon"),
        ({"radius": np.inf}, ValueError, "radius"),
        ({"radius": 0.0}, ValueError, "radius"),
        ({"n_candidates": 2**20}, ValueError, "n_candidates"),
        ({"n_candidates": 2.5}, TypeError, "n_candidates"),
        ({"data_norm": 0.0}, ValueError, "data_norm"),
        ({"adjacency": "swap"}, ValueError, "adjacency"),
        ({"fit_intercept": "yes"}, TypeError, "fit_intercept"),
    ],
)
def test_bad_parameters_are_refused_by_name(parameters, error, message):
    with pytest.raises(error, match=message):
        made(**parameters).fit(*problem(20))


def test_it_is_found_at_the_top():
    assert skdp.KNGQuantileRegressor is KNGQuantileRegressor
