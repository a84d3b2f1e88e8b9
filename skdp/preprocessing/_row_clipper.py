"""Row-wise clipping to a Euclidean ball of public radius, as a transformer."""

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from skdp._typing import MatrixLike
from skdp.rows import L2Ball

__all__ = ["RowClipper"]

#: Halfway house for rows so long that the factor to the ball itself would underflow.
LARGE_BALL = L2Ball(data_norm=1e100)


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
    Private estimators clip rows in ``fit`` but not in ``predict``. A clipper with the
    same bound in front of them lets both see the same rows, which matters when many
    rows are longer than the bound.

    A row of 1e308 is clipped to its direction, and a row of zeros stays as it is.

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
        L2Ball(self.data_norm)
        validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        return self

    def transform(self, X: Any) -> Any:
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
        ball = L2Ball(self.data_norm)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        if sparse.issparse(X):
            return _project_csr(ball, X)
        return ball.project(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.requires_fit = False
        return tags


def _project_csr(ball: L2Ball, X: Any) -> Any:
    """Return a clipped copy of a CSR matrix, touching stored entries only."""
    X = X.copy()
    X.sum_duplicates()
    for target in (LARGE_BALL, ball):
        X.data *= np.repeat(target.clip_factors(X), np.diff(X.indptr))
    return X
