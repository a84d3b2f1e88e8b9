"""Generated rows stay in their ball and carry a signal."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from skdp.datasets import make_classification_rows


@pytest.mark.parametrize("n_features", [1, 2, 30])
@pytest.mark.parametrize("data_norm", [1e-3, 1.0, 7.0])
def test_rows_stay_in_the_ball_and_fill_it(n_features, data_norm):
    X, y = make_classification_rows(
        500, n_features, data_norm=data_norm, random_state=0
    )
    norms = np.linalg.norm(X, axis=1)
    assert 0.9 * data_norm < norms.max() <= data_norm
    assert set(y) == {0, 1}


def test_a_seed_fixes_the_rows():
    first, second = (make_classification_rows(random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])
    assert not np.array_equal(first[0], make_classification_rows(random_state=4)[0])


def test_labels_follow_the_stated_direction():
    """Maximum likelihood finds w = margin (1, -1) / sqrt(2) within sampling error."""
    X, y = make_classification_rows(20_000, 2, margin=4.0, random_state=1)
    model = LogisticRegression(C=1e6).fit(X, y)
    np.testing.assert_allclose(
        model.coef_[0], np.array([1, -1]) * 4 / np.sqrt(2), atol=0.25
    )


@pytest.mark.parametrize("name", ["n_samples", "n_features"])
def test_bad_sizes_are_refused_by_name(name):
    for value in (0, -1):
        with pytest.raises(ValueError, match=name):
            make_classification_rows(**{name: value})
    for value in (1.5, "3", True, None):
        with pytest.raises(TypeError, match=name):
            make_classification_rows(**{name: value})


@pytest.mark.parametrize("name", ["data_norm", "margin"])
def test_bad_scales_are_refused_by_name(name):
    with pytest.raises(ValueError, match=name):
        make_classification_rows(**{name: 0.0})
