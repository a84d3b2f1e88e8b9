"""The public label set of a problem of several classes, and its numbering."""

import numpy as np

from skdp._typing import ArrayLike, FloatArray
from skdp.rows._labels import equal, label_array, label_set

__all__ = ["Classes"]

#: Number of what is no declared label.
STRANGER = -1.0


class Classes:
    """Declared labels, numbered 0, 1, ... in sorted order.

    A label outside the set becomes -1, the mark of a row of weight zero: one person
    with an unheard-of label changes neither shapes nor errors.

    Parameters
    ----------
    classes : array-like of labels
        Numbers, strings or booleans, all of one kind; at least one.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The labels in sorted order.

    Raises
    ------
    ValueError
        If there is no label, or they cannot be sorted.

    Examples
    --------
    >>> from skdp.rows import Classes
    >>> Classes(["cat", "dog", "bird"]).encode(["dog", "cow", "bird"])
    array([ 2., -1.,  0.])
    """

    __slots__ = ("classes",)

    def __init__(self, classes: ArrayLike) -> None:
        remedy = "Declare the labels of the problem, for example classes=[0, 1, 2]."
        allowed = "different labels of one kind, at least one"
        self.classes = label_set(classes, allowed=allowed, remedy=remedy)
        if self.classes.size == 0:
            raise ValueError(f"classes is empty. Allowed: {allowed}. {remedy}")

    def __repr__(self) -> str:
        return f"Classes({self.classes.tolist()!r})"

    def encode(self, y: ArrayLike) -> FloatArray:
        """Return the number of each label, -1 for what is not declared.

        Parameters
        ----------
        y : array-like of shape (n,)

        Returns
        -------
        numbers : ndarray of shape (n,), float64
        """
        given = label_array(y)
        numbers = np.full(given.shape, STRANGER)
        for number, label in enumerate(self.classes.tolist()):
            numbers[equal(given, label)] = number
        return numbers

    def safe(self, encoded: ArrayLike) -> FloatArray:
        """Return numbers of unknown origin, -1 for what is no class."""
        numbers = np.asarray(encoded, dtype=np.float64)
        known = (numbers >= 0) & (numbers < self.classes.size)
        return np.where(known & (numbers == np.floor(numbers)), numbers, STRANGER)
