"""The public label set of a binary problem, and how labels become signs."""

from numbers import Number
from typing import Any

import numpy as np

from skdp._typing import ArrayLike, BoolArray, FloatArray

__all__ = [
    "Labels",
    "as_signs",
    "check_any_kind",
    "check_same_kind",
    "equal",
    "label_array",
    "label_set",
]

#: What numpy's kinds of dtypes hold; objects may hold anything.
_KINDS = {"U": "text", "S": "text"} | dict.fromkeys("fiub", "numbers")
_DIFFERENT = (
    "y and classes are of different kinds: one holds text, the other numbers, so no "
    "label can be one of the classes. Declare the classes as they stand in y; inside a "
    "meta-estimator that encodes labels, classes=[0, 1]."
)


class Labels:
    """Two declared labels, the second of which (in sorted order) is +1.

    A label outside the set becomes 0, the mark of a row of weight zero: one person with
    an unheard-of label changes neither shapes nor errors.

    Parameters
    ----------
    classes : array-like of one or two labels
        Numbers, strings or booleans, all of one kind. A single label stands for a
        problem in which the other one is not known; it is encoded as -1.

    Attributes
    ----------
    classes : ndarray of shape (1,) or (2,)
        The labels in sorted order.

    Raises
    ------
    ValueError
        If there are not one or two different labels that can be sorted.

    Examples
    --------
    >>> from skdp.rows import Labels
    >>> Labels(["no", "yes"]).encode(["yes", "no", "maybe"])
    array([ 1., -1.,  0.])
    """

    __slots__ = ("classes",)

    def __init__(self, classes: ArrayLike) -> None:
        remedy = "Declare the two labels of the problem, for example classes=[0, 1]."
        allowed = "one or two different labels of one kind"
        labels = label_set(classes, allowed=allowed, remedy=remedy)
        if not 1 <= labels.size <= 2:
            raise ValueError(
                f"classes must hold one or two different labels, got {labels.size}. "
                f"Allowed: {allowed}. {remedy}"
            )
        self.classes = labels

    def __repr__(self) -> str:
        return f"Labels({self.classes.tolist()!r})"

    def encode(self, y: ArrayLike) -> FloatArray:
        """Return -1 for the first label, +1 for the second, 0 for any other.

        Parameters
        ----------
        y : array-like of shape (n,)

        Returns
        -------
        signs : ndarray of shape (n,), float64
        """
        given = label_array(y)
        marks = [equal(given, label) for label in self.classes.tolist()]
        if len(marks) == 1:
            return -marks[0].astype(np.float64)
        signs: FloatArray = np.subtract(marks[1], marks[0], dtype=np.float64)
        return signs


def label_set(classes: ArrayLike, *, allowed: str, remedy: str) -> np.ndarray:
    """Return declared labels of one kind, sorted, each once, not to be written to."""
    given = np.asarray(classes)
    kinds = {isinstance(label, str) for label in given.ravel().tolist()}
    mixed = len({isinstance(c, str) for c in np.ravel(_as_objects(classes))}) > 1
    if given.ndim != 1 or mixed or len(kinds) > 1 or (given != given).any():
        raise ValueError(
            f"classes is not a list of labels, got {classes!r}. Allowed: "
            f"{allowed}. {remedy}"
        )
    labels: np.ndarray = np.unique(given)
    labels.flags.writeable = False
    return labels


def label_array(y: Any) -> np.ndarray:
    """Return labels as an array in which each keeps its own type.

    NumPy would turn the list ``[0, 1, "?"]`` into three strings, so that one person's
    label changes everybody's. What has a dtype keeps it; anything else becomes objects.
    """
    return np.asarray(y) if hasattr(y, "dtype") else _as_objects(y)


def check_same_kind(y: np.ndarray, classes: np.ndarray) -> None:
    """Refuse labels of which none can be one of the declared ones."""
    kinds = {_KINDS.get(y.dtype.kind), _KINDS.get(classes.dtype.kind)}
    if kinds == {"text", "numbers"}:
        raise ValueError(_DIFFERENT)


def check_any_kind(y: np.ndarray, classes: np.ndarray) -> None:
    """Refuse labels of people asked about of which none can be one of the classes.

    Unlike :func:`check_same_kind` it looks into arrays of objects, which is for
    questions only: a fit must not depend on what one person's label is made of. A
    strange label among others keeps its loss of 0, that of a row of weight zero.
    """
    declared = _KINDS.get(classes.dtype.kind)
    if y.size == 0 or declared is None or y.dtype.kind not in "Of":
        check_same_kind(y, classes)
        return
    kinds = {_kind(label) for label in y.tolist()}
    if kinds == {"missing"}:
        raise ValueError(
            "y is missing for everybody asked about, got None or NaN. Allowed: the "
            "label that each person had. Leave out those who had none."
        )
    if not kinds & {declared, "other"}:
        raise ValueError(_DIFFERENT)


def as_signs(y: ArrayLike) -> FloatArray:
    """Return encoded labels, with 0 for whatever is not -1, 0 or +1, NaN included."""
    signs = np.asarray(y, dtype=np.float64)
    return np.where(np.abs(signs) == 1.0, signs, 0.0)


def _kind(label: object) -> str:
    """Return what one label is."""
    if isinstance(label, str | bytes):
        return "text"
    same: Any = label == label
    if label is None or not (isinstance(same, bool | np.bool_) and bool(same)):
        return "missing"
    return "numbers" if isinstance(label, Number | np.bool_) else "other"


def equal(given: np.ndarray, label: object) -> BoolArray:
    """Return where ``given`` equals ``label``; a missing value equals nothing."""
    try:
        marks = np.asarray(given == label, dtype=bool)
    except TypeError:  # pandas' NA has no truth value
        marks = np.frompyfunc(lambda v: _same(v, label), 1, 1)(given).astype(bool)
    # kinds that cannot be compared at all give one False for everybody
    return np.broadcast_to(marks, given.shape)


def _same(value: Any, label: object) -> bool:
    result: Any = value == label
    return isinstance(result, bool | np.bool_) and bool(result)


def _as_objects(values: ArrayLike) -> np.ndarray:
    # np.asarray alone would turn [0, "yes"] into two strings
    return np.asarray(values, dtype=object)
