"""Labels become -1 and +1, and strangers 0."""

import numpy as np
import pytest

from skdp.rows import Labels


@pytest.mark.parametrize(
    "classes", [[0, 1], [-1, 1], ["a", "b"], [False, True], [0.5, 2.5]], ids=repr
)
def test_the_second_class_in_sorted_order_is_positive(classes):
    for declared in (classes, classes[::-1], np.array(classes)):
        labels = Labels(declared)
        assert labels.classes.tolist() == classes
        assert labels.encode(classes[::-1]).tolist() == [1.0, -1.0]
        assert labels.encode(np.array(classes)).dtype == np.float64


def test_a_stranger_gets_weight_zero_whatever_its_kind():
    assert Labels([0, 1]).encode([0, 1, 2, -1]).tolist() == [-1, 1, 0, 0]
    assert Labels(["a", "b"]).encode(["b", "c"]).tolist() == [1, 0]
    assert Labels(["a", "b"]).encode(np.array([1, 2])).tolist() == [0, 0]
    assert Labels([0, 1]).encode(np.array(["0", "x"])).tolist() == [0, 0]
    mixed = np.array([1, "b", None, 0], dtype=object)
    assert Labels([0, 1]).encode(mixed).tolist() == [1, 0, 0, -1]


def test_one_class_is_negative():
    assert Labels(["only"]).encode(["only", "other"]).tolist() == [-1, 0]


@pytest.mark.parametrize(
    "classes", [[], [0, 1, 2], [[0, 1]], [0, "a"], [0.0, float("nan")], 3], ids=repr
)
def test_a_bad_set_of_classes_is_refused(classes):
    with pytest.raises(ValueError, match="classes"):
        Labels(classes)


def test_the_label_set_is_read_only_and_shown():
    labels = Labels([1, 0])
    assert repr(labels) == "Labels([0, 1])"
    with pytest.raises(ValueError, match="read-only"):
        labels.classes[0] = 5
