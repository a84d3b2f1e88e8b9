"""Generated rows for tests and first steps."""

import numbers

import numpy as np
from scipy.special import expit
from sklearn.utils import check_random_state

from skdp._typing import FloatArray, IntArray
from skdp._validation import check_positive

__all__ = ["make_classification_rows"]


def make_classification_rows(
    n_samples: int = 1000,
    n_features: int = 5,
    *,
    data_norm: float = 1.0,
    margin: float = 4.0,
    random_state: object = None,
) -> tuple[FloatArray, IntArray]:
    r"""Draw rows in a ball, labelled by a logistic model with a known direction.

    Rows are uniform in the ball of radius ``data_norm``; the label of row x is 1 with
    probability :math:`\sigma(m\, w^\top x / \text{data\_norm})`, where w is the unit
    vector :math:`(1, -1, 1, \ldots) / \sqrt d` and m is ``margin``.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows, at least 1.
    n_features : int, default=5
        Number of features d, at least 1.
    data_norm : float, default=1.0
        Largest Euclidean norm of a row.
    margin : float, default=4.0
        Largest absolute log-odds of a label, > 0.
    random_state : int, RandomState instance or None, default=None
        Seed of the rows; they are not private, so a seed is no secret.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Rows of norm at most ``data_norm``.
    y : ndarray of shape (n_samples,)
        Labels, 0 or 1.

    Raises
    ------
    TypeError
        If a size is not an integer.
    ValueError
        If a size is below 1, or ``data_norm`` or ``margin`` is not positive.

    Examples
    --------
    >>> from skdp.datasets import make_classification_rows
    >>> X, y = make_classification_rows(4, 2, random_state=0)
    >>> X.shape, y.shape
    ((4, 2), (4,))
    """
    n, d = _check_size("n_samples", n_samples), _check_size("n_features", n_features)
    remedy = "Use the default to begin with."
    data_norm = check_positive("data_norm", data_norm, remedy=remedy)
    margin = check_positive("margin", margin, remedy=remedy, maximum=1e6)
    rng = check_random_state(random_state)
    direction = rng.normal(size=(n, d))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    # the d-th root of a uniform number is the radius of a uniform point of the ball
    unit = direction * rng.uniform(size=(n, 1)) ** (1.0 / d)
    weights = np.where(np.arange(d) % 2 == 0, 1.0, -1.0) / np.sqrt(d)
    y = (rng.uniform(size=n) < expit(margin * (unit @ weights))).astype(np.int64)
    X: FloatArray = unit * (data_norm * (1.0 - 1e-12))
    return X, y


def _check_size(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(
            f"{name} must be an integer, got {value!r} of type "
            f"{type(value).__name__}. Allowed: 1, 2, 3, ... Pass a whole number."
        )
    if value < 1:
        raise ValueError(
            f"{name} is out of range, got {value!r}. Allowed: 1, 2, 3, ... Pass a "
            "positive number."
        )
    return int(value)
