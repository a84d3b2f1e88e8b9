"""Row-wise clipping to a Euclidean ball of public radius.

Notation
--------
m    largest absolute entry of a row                      -> ``largest``
u    the row divided by m, so that nothing overflows      -> ``unit``
l    norm of u, between 1 and sqrt(d)                     -> ``length``

The norm of the row is m l; it is never formed, since it may exceed the largest double.
"""

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from skdp._typing import FloatArray, MatrixLike
from skdp._validation import check_positive

__all__ = ["RowClipper"]

#: A clipped row is made shorter by four units in the last place, so that rounding
#: does not put it outside the ball again; clipping twice is then clipping once.
SHRINK = 1.0 - 4.0 * np.finfo(np.float64).eps


class RowClipper(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Shorten rows that are longer than a public bound; leave the others alone.

    .. math:: x \mapsto x \min(1, B / \|x\|_2), \qquad B = \text{data\_norm}

    Dense rows and CSR rows are clipped alike, and sparse input stays sparse.

    Parameters
    ----------
    data_norm : float, default=1.0
        Bound B on the Euclidean norm of one row, in the units of the features, from
        1e-100 to 1e100. Choose it from public knowledge, never from the rows.

    Attributes
    ----------
    n_features_in_ : int
        Number of features seen in :meth:`fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X was a data frame with string names.

    Notes
    -----
    The map is fixed before any row is seen and acts on each row alone, so the
    transformer spends no privacy and :func:`skdp.privacy_spent` counts it as free.
    Norms are computed on the row divided by its largest entry: a row of 1e308 is
    clipped to its direction, and a row of zeros stays as it is.

    Examples
    --------
    >>> from skdp.preprocessing import RowClipper
    >>> RowClipper(data_norm=1.0).fit_transform([[3.0, 4.0], [0.3, 0.4]])
    array([[0.6, 0.8],
           [0.3, 0.4]])
    """

    __skdp_data_independent__: ClassVar[bool] = True

    def __init__(self, data_norm: float = 1.0) -> None:
        self.data_norm = data_norm

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Check the parameter; learn the shape and the names of X, nothing else.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Finite real rows.
        y : None
            Ignored; present by convention.

        Returns
        -------
        self : RowClipper
            The fitted transformer.

        Raises
        ------
        ValueError
            If ``data_norm`` is not positive, or X is not finite or has no row.
        """
        self._checked_norm()
        validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        return self

    def transform(self, X: MatrixLike) -> Any:
        """Return the rows, none of them longer than ``data_norm``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Finite real rows; not changed.

        Returns
        -------
        X_clipped : {ndarray, CSR matrix} of shape (n_samples, n_features)
            Same rows, the long ones scaled down; sparse when X is sparse.
        """
        data_norm = self._checked_norm()
        X_clipped: Any = validate_data(
            self, X, reset=False, accept_sparse="csr", dtype=np.float64, copy=True
        )
        if sparse.issparse(X_clipped):
            _clip_csr(X_clipped, data_norm)
        else:
            _clip_dense(X_clipped, data_norm)
        return X_clipped

    def _checked_norm(self) -> float:
        return check_positive(
            "data_norm",
            self.data_norm,
            remedy="Pass a public bound on the length of a row, e.g. data_norm=1.0.",
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.requires_fit = False
        return tags


def _clip_dense(X: FloatArray, data_norm: float) -> None:
    """Clip the rows of a dense matrix in place."""
    largest = np.abs(X).max(axis=1)
    unit = X / np.where(largest > 0.0, largest, 1.0)[:, None]
    length = np.maximum(np.sqrt(np.einsum("ij,ij->i", unit, unit)), 1.0)
    outside = largest > data_norm / length
    X[outside] = unit[outside] * (SHRINK * data_norm / length[outside])[:, None]


def _clip_csr(X: Any, data_norm: float) -> None:
    """Clip the rows of a CSR matrix in place, touching stored entries only."""
    X.sum_duplicates()
    n_rows = X.shape[0]
    row = np.repeat(np.arange(n_rows), np.diff(X.indptr))
    largest = np.zeros(n_rows)
    np.maximum.at(largest, row, np.abs(X.data))
    unit = X.data / np.where(largest > 0.0, largest, 1.0)[row]
    length = np.sqrt(np.bincount(row, weights=unit**2, minlength=n_rows))
    length = np.maximum(length, 1.0)
    outside = (largest > data_norm / length)[row]
    X.data[outside] = unit[outside] * (SHRINK * data_norm / length)[row[outside]]
