"""Labels become numbers of classes, and strangers -1."""

import numpy as np
import pandas as pd
import pytest

from skdp.losses import SoftmaxLoss
from skdp.rows import Classes, L2Ball, PrivateRows, as_row_blocks


@pytest.mark.parametrize(
    "classes",
    [[0, 1, 2], [-5, 3], ["a", "b", "c", "d"], [False, True], [0.5, 2.5], [7]],
    ids=repr,
)
def test_classes_are_numbered_in_sorted_order(classes):
    for declared in (classes, classes[::-1], np.array(classes), classes + classes[:1]):
        labels = Classes(declared)
        assert labels.classes.tolist() == classes
        assert labels.encode(classes[::-1]).tolist() == list(range(len(classes)))[::-1]
        assert labels.encode(np.array(classes)).dtype == np.float64


def test_every_holder_of_labels_is_read_alike():
    names = np.array(["bird", "cat", "dog"])
    numbers = np.random.default_rng(0).integers(0, 3, 200)
    given = names[numbers]
    for held in (given, given.tolist(), given.astype(object), pd.Series(given)):
        np.testing.assert_array_equal(Classes(names).encode(held), numbers)


def test_a_stranger_is_minus_one_whatever_its_kind():
    assert Classes([0, 1, 2]).encode([0, 2, 3, -1]).tolist() == [0, 2, -1, -1]
    assert Classes(["a", "b"]).encode(["b", "c", ""]).tolist() == [1, -1, -1]
    assert Classes(["a", "b"]).encode(np.array([1, 2])).tolist() == [-1, -1]
    assert Classes([0, 1]).encode(np.array(["0", "x"])).tolist() == [-1, -1]
    assert Classes([0, 1]).encode(np.array([np.nan, np.inf, 1])).tolist() == [-1, -1, 1]
    mixed = np.array([1, "b", None, 0, np.nan, pd.NA, (0,)], dtype=object)
    assert Classes([0, 1]).encode(mixed).tolist() == [1, -1, -1, 0, -1, -1, -1]


@pytest.mark.parametrize("n", [0, 1])
def test_few_labels_are_encoded_too(n):
    assert Classes(["a", "b"]).encode(["b"] * n).tolist() == [1.0] * n
    assert Classes(["a", "b"]).encode(np.array(["b"] * n)).shape == (n,)


@pytest.mark.parametrize(
    "classes", [[], [[0, 1]], [0, "a"], [0.0, float("nan")], 3], ids=repr
)
def test_a_bad_set_of_classes_is_refused(classes):
    with pytest.raises(ValueError, match="classes"):
        Classes(classes)


def test_the_label_set_is_read_only_and_shown():
    labels = Classes([2, 1, 0])
    assert repr(labels) == "Classes([0, 1, 2])"
    with pytest.raises(ValueError, match="read-only"):
        labels.classes[0] = 5


def test_numbers_of_unknown_origin_are_made_safe():
    numbers = [0, 2, 3, -1, -0.5, 1.5, np.nan, np.inf, -np.inf]
    safe = Classes(["a", "b", "c"]).safe(numbers)
    assert safe.tolist() == [0, 2, -1, -1, -1, -1, -1, -1, -1]


class Foreign:
    """Blocks of another make, which promise nothing."""

    n_features = 1
    labels = Classes(["a", "b", "c"])

    def __iter__(self):
        yield np.ones((4, 1)), np.array([2.0, 7.0, 0.5, np.nan])

    def part(self, fraction, at_least):
        return None


def test_blocks_of_another_make_are_guarded():
    rows = PrivateRows(Foreign(), L2Ball(1.0))
    ((_, y),) = rows.blocks
    assert y.tolist() == [2.0, -1.0, -1.0, -1.0]


def test_rows_without_labels_are_of_no_class():
    labels = Classes([0, 1, 2])
    chunks = [(np.ones((2, 1)), None)]
    for X in (np.ones((2, 1)), pd.DataFrame(np.ones((2, 1))), chunks):
        blocks = as_row_blocks(X, labels=labels)
        for _, y in blocks:
            assert y.tolist() == [-1.0, -1.0]
            assert not SoftmaxLoss(3).gradient(y, np.ones((2, 3))).any()
