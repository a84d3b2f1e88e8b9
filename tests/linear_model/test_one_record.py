"""One person's record changes her own term of the objective, and nothing else.

Each test appends or alters one record and asserts that every other record is seen
exactly as before, or that an error says nothing about any value.
"""

import traceback

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from skdp.linear_model import ObjPertLinearSVC, ObjPertLogisticRegression
from skdp.rows import L2Ball, Labels, PrivateRows, as_row_blocks

STRANGERS = ["?", 0.5, None, b"x", (1, 2), "nan", 7, True, np.float32(0.25)]
LABELS = [
    ([0, 1], [0, 1, 1]),
    (["a", "b"], ["a", "b", "b"]),
    ([2**53, 2**53 + 1], [2**53, 2**53 + 1, 2**53 + 1]),
    ([False, True], [False, True, True]),
    ([0.0, 1.0], [0.0, 1.0, 1.0]),
]


@pytest.mark.parametrize("stranger", STRANGERS, ids=repr)
@pytest.mark.parametrize(("classes", "y"), LABELS, ids=lambda v: repr(v)[:20])
def test_a_strange_label_in_a_list_changes_nobody_elses(classes, y, stranger):
    labels = Labels(classes)
    np.testing.assert_array_equal(labels.encode([*y, stranger])[:-1], [-1, 1, 1])
    chunk = (np.ones((4, 1)), [*y, stranger])
    blocks = as_row_blocks([chunk], labels=labels)
    signs = np.concatenate([s for _, s in blocks])
    np.testing.assert_array_equal(signs[:-1], [-1, 1, 1])


@pytest.mark.filterwarnings("ignore::skdp.exceptions.NotForReleaseWarning")
@pytest.mark.parametrize("stranger", ["?", None, b"x", 7])
def test_a_strange_label_moves_the_fit_no_more_than_its_rounding(stranger):
    X, y = np.linspace(-1, 1, 41).reshape(-1, 1), [0] * 20 + [1] * 21
    model = ObjPertLogisticRegression(epsilon=100.0, classes=[0, 1], random_state=0)
    before = model.fit(X, y).coef_
    after = model.fit(np.vstack([X, [[1.0]]]), [*y, stranger]).coef_
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-6)
    bounds = model.pdp_loss(np.vstack([X, [[1.0]]]), [*y, stranger])
    assert (bounds[:-1] > 0).all()
    assert bounds[-1] == 0.0


def test_a_missing_label_counts_for_nothing():
    X = np.linspace(-1, 1, 40).reshape(-1, 1)
    y = pd.Series(["a", "b"] * 20, dtype="string")
    y.iloc[3] = pd.NA
    model = ObjPertLogisticRegression(classes=["a", "b"]).fit(X, y)
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_label_that_is_not_finite_is_refused_in_every_container(bad):
    X = np.ones((3, 1))
    for y in ([0, 1, bad], np.array([0, 1, bad]), np.array([0, 1, bad], dtype=object)):
        with pytest.raises(ValueError, match=r"y contains (NaN|infinity)"):
            ObjPertLogisticRegression(classes=[0, 1]).fit(X, y)


class Foreign:
    """Somebody else's blocks, which keep no promise about labels or entries."""

    n_features = 2

    def __init__(self, X, y, labels=None):
        self.X, self.y, self.labels = X, y, labels

    def __iter__(self):
        yield self.X, self.y

    def part(self, fraction, at_least):
        return Foreign(self.X, self.y, self.labels), 1.0


@pytest.mark.parametrize("label", [1e300, -3.0, 0.5, np.nan, np.inf])
def test_encoded_labels_are_minus_one_zero_or_one_whoever_made_them(label):
    X, y = np.ones((3, 2)), np.array([1.0, -1.0, label])
    for blocks in (as_row_blocks(X, y), Foreign(X, y)):
        rows = PrivateRows(blocks, L2Ball(1.0))
        signs = np.concatenate([s for _, s in rows.blocks])
        np.testing.assert_array_equal(signs, [1, -1, 0])
        part = rows.blocks.part(0.5, 0)
        if part is not None:
            for _, some in part[0]:
                assert set(some) <= {-1.0, 0.0, 1.0}


def test_duplicate_sparse_entries_do_not_defeat_clipping():
    parts = (np.full(4, 0.9), np.zeros(4, dtype=int), np.array([0, 4]))
    X = sp.csr_array(parts, shape=(1, 2))
    X.has_canonical_format = True
    for blocks in (as_row_blocks(X.copy()), Foreign(X, np.ones(1))):
        for projected, _ in PrivateRows(blocks, L2Ball(1.0)).projected():
            assert np.linalg.norm(projected) <= 1.0
    raw = sp.csr_array(parts, shape=(1, 2))
    with pytest.raises(ValueError, match="duplicate"):
        L2Ball(1.0).clip_factors(raw)


def test_blocks_are_refused_unless_the_estimators_classes_encoded_them():
    X, y = np.ones((4, 1)), [1, 2, 2, 1]
    model = ObjPertLogisticRegression(classes=[1, 2])
    for blocks in (
        as_row_blocks(X, np.array(y)),
        as_row_blocks(X, y, labels=Labels([0, 1])),
    ):
        with pytest.raises(ValueError, match="same classes"):
            model.fit(blocks)
    model.fit(as_row_blocks(X, y, labels=Labels([1, 2])))


SECRET = "123.456"


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.array([["123.456x", "1"]] * 4, dtype=object), [0, 1, 0, 1]),
        (np.array([123.456, 2.0]), [0, 1]),
        (123.456, [0, 1]),
        (np.array([[123.456 + 1j, 2.0]] * 4), [0, 1, 0, 1]),
        (np.full((3, 1, 1), 123.456), [0, 1, 0]),
        ([[123.456], [1.0, 2.0]], [0, 1]),
        (np.ones((4, 1)), np.full((4, 2), 123.456)),
        (np.array([[{"123.456": 1}]] * 2, dtype=object), [0, 1]),
        (pd.DataFrame({"a": ["123.456", "z"]}), [0, 1]),
    ],
    ids=lambda v: str(getattr(v, "shape", type(v).__name__)),
)
@pytest.mark.parametrize("classes", [None, [0, 1]])
@pytest.mark.filterwarnings("ignore")
def test_no_error_quotes_a_value(X, y, classes):
    model = ObjPertLogisticRegression(classes=classes)
    with pytest.raises((TypeError, ValueError)) as caught:
        model.fit(X, y)
    assert SECRET not in "".join(traceback.format_exception(caught.value, limit=0))
    assert caught.value.__context__ is None
    assert SECRET not in repr(vars(model))


@pytest.mark.parametrize(
    "y", [["123.456", "b", "c", "d"], [123.456, 0.1, 0.2, 0.3]], ids=["text", "floats"]
)
def test_labels_that_are_no_classes_are_not_quoted(y):
    with pytest.raises(ValueError, match=r"binary|label type") as caught:
        ObjPertLinearSVC().fit(np.ones((4, 1)), y)
    assert SECRET not in "".join(traceback.format_exception(caught.value, limit=0))


def test_no_error_tells_how_many_rows_there_are():
    with pytest.raises(ValueError, match="inconsistent numbers") as caught:
        ObjPertLogisticRegression(classes=[0, 1]).fit(np.ones((4321, 1)), [0, 1])
    assert "4321" not in str(caught.value)


@pytest.mark.parametrize("hold", [np.asarray, pd.DataFrame, sp.csr_array])
def test_blocks_of_tables_with_nan_are_refused(hold):
    X = np.ones((4, 2))
    X[2, 1] = np.nan
    blocks = as_row_blocks(hold(X), [0, 1, 1, 0], labels=Labels([0, 1]))
    with pytest.raises(ValueError, match="NaN or infinity"):
        ObjPertLogisticRegression(classes=[0, 1]).fit(blocks)


@pytest.mark.parametrize(
    ("classes", "y"), [(["0", "1"], np.array([0, 1])), ([0, 1], np.array(["0", "1"]))]
)
def test_text_and_numbers_are_not_confused(classes, y):
    with pytest.raises(ValueError, match="different kinds"):
        ObjPertLogisticRegression(classes=classes).fit(np.ones((2, 1)), y)


def test_blocks_after_a_frame_leave_no_feature_names_behind():
    model = ObjPertLogisticRegression(classes=[0, 1])
    model.fit(pd.DataFrame({"a": [1.0, 2.0], "b": [0.0, 1.0]}), [0, 1])
    model.fit(as_row_blocks(np.ones((2, 3)), [0, 1], labels=Labels([0, 1])))
    assert not hasattr(model, "feature_names_in_")


def test_a_series_is_not_a_frame_and_sparse_columns_are_rows():
    model = ObjPertLogisticRegression(classes=[0, 1])
    with pytest.raises(ValueError, match="Expected"):
        model.fit(pd.Series([1.0, 2.0]), [0, 1])
    table = pd.DataFrame(np.eye(4)).astype(pd.SparseDtype("float64", 0.0))
    assert model.fit(table, [0, 1, 0, 1]).coef_.shape == (1, 4)
