"""Public ranges go to [-1, 1] or [0, 1]; nothing is learned from the rows."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from skdp.preprocessing import BoundedScaler

FRAME = pd.DataFrame({"age": [20.0, 70.0, 130.0], "height": [1.0, 2.0, 1.5]})
BY_NAME = {"height": (1.0, 2.0), "age": (0, 100), "not in the frame": (0, 1)}
SCALED = np.array([[-0.6, -1.0], [0.4, 1.0], [1.0, 0.0]])


@parametrize_with_checks(
    [BoundedScaler(), BoundedScaler(bounds=(0, 10), feature_range=(0, 1))]
)
def test_scikit_learn_accepts_the_scaler(estimator, check):
    check(estimator)


ends = st.floats(-1e100, 1e100)


@given(ends, ends, st.floats(allow_nan=False, allow_infinity=False))
def test_every_value_lands_in_the_range_and_the_ends_land_on_its_ends(a, b, x):
    low, high = sorted((a, b))
    X = np.array([[low], [high], [x]])
    for target in ((-1, 1), (0, 1)):
        scaler = BoundedScaler(bounds=(low, high), feature_range=target)
        out = scaler.fit_transform(X)[:, 0]
        if low == high:
            assert set(out) == {0.0}
        else:
            assert (out[0], out[1]) == target
            assert target[0] <= out[2] <= target[1]


@pytest.mark.parametrize(
    "bounds",
    [
        BY_NAME,
        pd.Series(BY_NAME),
        ([0, 1], [100, 2]),
        (np.array([0, 1]), np.array([100, 2])),
        np.array([[0, 1], [100, 2]]),
        (pd.Series({"height": 1, "age": 0}), pd.Series({"age": 100, "height": 2})),
    ],
    ids=["mapping", "series of pairs", "lists", "arrays", "matrix", "two series"],
)
def test_ranges_may_come_by_position_or_by_name(bounds):
    np.testing.assert_allclose(
        BoundedScaler(bounds).fit_transform(FRAME), SCALED, atol=1e-15
    )


def test_one_end_may_be_a_number_and_the_other_an_array():
    out = BoundedScaler(bounds=(0, [100, 2])).fit_transform(FRAME)
    np.testing.assert_allclose(out, [[-0.6, 0.0], [0.4, 1.0], [1.0, 0.5]], atol=1e-15)


@pytest.mark.parametrize(
    "bounds",
    [
        (1, 0),
        (np.nan, 1),
        (0, np.nan),
        (-np.inf, 0),
        (0, np.inf),
        (0, 1e308),
        ([0, 5], [1, 4]),
        ([0, 0], [1, 1, 1]),
        ([[0]], [[1]]),
        {"age": (100, 0)},
        {"age": (0, np.nan)},
    ],
    ids=str,
)
def test_bad_ranges_are_refused_by_name_before_the_data_are_read(bounds):
    with pytest.raises(ValueError, match="bounds"):
        BoundedScaler(bounds=bounds).fit("not even a table")


@pytest.mark.parametrize(
    "bounds", [None, 1.0, "01", (0, 1, 2), ("a", "b"), {"age": 3}, {"age": (0,)}]
)
def test_ranges_of_the_wrong_kind_are_refused_by_name(bounds):
    with pytest.raises(TypeError, match="bounds"):
        BoundedScaler(bounds=bounds).fit("not even a table")


def test_ranges_must_fit_the_columns():
    with pytest.raises(ValueError, match="bounds give 3 ranges"):
        BoundedScaler(bounds=([0, 0, 0], 1)).fit(FRAME)
    with pytest.raises(ValueError, match=r"bounds have no range .*'height'"):
        BoundedScaler(bounds={"age": (0, 100)}).fit(FRAME)
    with pytest.raises(ValueError, match="bounds are given by column name"):
        BoundedScaler(bounds=BY_NAME).fit(FRAME.to_numpy())


@pytest.mark.parametrize("value", [(0, 2), (1, -1), "01", None, 1])
def test_only_the_two_target_ranges_exist(value):
    with pytest.raises(ValueError, match="feature_range"):
        BoundedScaler(feature_range=value).fit("not even a table")


@pytest.mark.parametrize("value", [[0, 1], np.array([0, 1]), (0.0, 1.0)])
def test_the_target_range_may_be_any_pair(value):
    scaler = BoundedScaler(bounds=(0, 2), feature_range=value)
    np.testing.assert_array_equal(scaler.fit_transform([[1.0], [2.0]]), [[0.5], [1.0]])


def test_fit_learns_nothing_but_shape_and_names():
    """Two frames with unlike values leave byte-identical fitted scalers."""
    other = FRAME * 1e6 - 7.0
    fitted = [BoundedScaler(BY_NAME).fit(frame) for frame in (FRAME, other)]
    assert pickle.dumps(fitted[0]) == pickle.dumps(fitted[1])


def test_frames_keep_their_names():
    scaler = BoundedScaler(BY_NAME).set_output(transform="pandas").fit(FRAME)
    out = scaler.transform(FRAME)
    assert list(out.columns) == list(scaler.get_feature_names_out())
    assert list(out.columns) == ["age", "height"]
    with pytest.raises(ValueError, match="feature names"):
        scaler.transform(FRAME[["height", "age"]])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_non_finite_rows_raise_without_quoting_the_row(value):
    with pytest.raises(ValueError, match=r"NaN|infinity") as caught:
        BoundedScaler().fit([[value, 12345.678]])
    assert "12345" not in str(caught.value)
