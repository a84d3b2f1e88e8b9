r"""Clipping of rows to an L2 ball, with the constant column of the intercept.

Notation
--------
x    one row as the user gave it                         -> row of ``X``
R    bound on its norm, a public number                  -> ``data_norm``
B0   constant of the intercept, 0 without one            -> ``intercept_scaling``
R_t  :math:`\sqrt{R^2 + B_0^2}`, bound on what is fitted  -> ``radius``
"""

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from skdp._typing import FloatArray, IntArray, MatrixLike
from skdp._validation import check_positive

__all__ = ["Clipping", "L2Ball"]

#: 4 units in the last place cover the rounding of norm, quotient and product, so a
#: clipped row never exceeds R; a norm summed over many columns needs a little more.
_SLACK_ULPS, _COLUMNS_PER_ULP = 4, 32
#: Squares from here on, or overflowing ones, are formed anew from scaled rows.
_LARGEST_SQUARE = 1e300


@dataclass(frozen=True, slots=True)
class L2Ball:
    r"""Public bound on the L2 norm of a row, enforced by clipping.

    A row longer than ``data_norm`` is scaled back to it, whatever its size: the map is
    total, acts on each row alone and never inspects other rows. Rows inside the ball,
    rows of zeros included, are left as they are.

    Parameters
    ----------
    data_norm : float
        Bound R on the L2 norm of the user's row, from 1e-100 to 1e100.
    intercept_scaling : float, default=0.0
        Constant B0 appended to every clipped row as a last coordinate; 0 appends
        nothing.

    Raises
    ------
    ValueError
        If a number is out of its range.

    Notes
    -----
    ``x * min(1, R / |x|)``, times ``1 - 4 ulp`` for rows that are clipped. Without that
    factor about one clipped row in fifty ends one unit in the last place outside the
    ball. Powers of two that scale R and every row scale the result without rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.rows import L2Ball
    >>> ball = L2Ball(data_norm=1.0, intercept_scaling=0.5)
    >>> ball.project(np.array([[0.6, 0.8], [3e200, 4e200], [0.0, 0.0]]))
    array([[0.6, 0.8, 0.5],
           [0.6, 0.8, 0.5],
           [0. , 0. , 0.5]])
    >>> ball.radius
    1.1180339887498949
    """

    data_norm: float
    intercept_scaling: float = 0.0

    def __post_init__(self) -> None:
        remedy = "Choose a bound on the norm of one row that needs no look at the data."
        norm = check_positive("data_norm", self.data_norm, remedy=remedy)
        object.__setattr__(self, "data_norm", norm)
        if self.intercept_scaling != 0.0:
            scaling = check_positive(
                "intercept_scaling",
                self.intercept_scaling,
                remedy="Use 0 for rows without a constant column.",
            )
            object.__setattr__(self, "intercept_scaling", scaling)

    @property
    def radius(self) -> float:
        """Bound on the norm of a row with its constant, ``sqrt(R^2 + B0^2)``."""
        # squares of numbers within 1e-100 .. 1e100 neither overflow nor vanish
        return math.sqrt(self.data_norm**2 + self.intercept_scaling**2)

    def n_coefficients(self, n_features: int) -> int:
        """Return the number of columns of a projected row."""
        return n_features + (self.intercept_scaling > 0.0)

    def clip_factors(self, X: MatrixLike) -> FloatArray:
        """Return the factor that clips each row, shape (n,), in [0, 1].

        Parameters
        ----------
        X : array or CSR array of shape (n, d)
            Finite rows of any real dtype.
        """
        clipping = self.clipping(X)
        if clipping.exponents is None:
            return clipping.factors
        out: FloatArray = np.ldexp(clipping.factors, -clipping.exponents)
        return out

    def project(self, X: MatrixLike) -> FloatArray:
        """Return the clipped rows followed by the constant, dense, shape (n, d [+ 1]).

        Parameters
        ----------
        X : array or CSR array of shape (n, d)
            Finite rows of any real dtype.
        """
        dense = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
        clipping = self.clipping(dense)
        n, d = dense.shape
        out = np.empty((n, self.n_coefficients(d)))
        out[:, d:] = self.intercept_scaling
        near = clipping.nearer(dense)
        np.multiply(near, clipping.factors[:, None], out=out[:, :d])
        return out

    def clipping(self, X: MatrixLike) -> "Clipping":
        """Return what clips each row without a copy of the rows.

        Parameters
        ----------
        X : array or CSR array of shape (n, d)
            Finite rows of any real dtype.

        Raises
        ------
        ValueError
            If an entry is not finite.
        """
        sparse = bool(sp.issparse(X))
        X = X if sparse else np.asarray(X)
        if sparse and not X.has_canonical_format:
            raise ValueError(
                "X holds duplicate or unsorted sparse entries, whose norm cannot be "
                "read off. Allowed: canonical CSR. Call X.sum_duplicates() before."
            )
        ulps = max(_SLACK_ULPS, X.shape[1] // _COLUMNS_PER_ULP)
        bound = self.data_norm * (1.0 - ulps * float(np.finfo(np.float64).eps))
        squares = squared_norms(X)
        if not np.max(squares, initial=0.0) < _LARGEST_SQUARE:
            return self._far_clipping(X, squares, bound)
        norms = np.sqrt(squares, out=squares)
        with np.errstate(divide="ignore"):
            factors = bound / norms
        np.copyto(factors, 1.0, where=norms <= self.data_norm)
        return Clipping(norms, factors)

    def _far_clipping(
        self, X: MatrixLike, squares: FloatArray, bound: float
    ) -> "Clipping":
        """Return the clipping of a block with rows beyond the range of squares."""
        far = np.flatnonzero(~(squares < _LARGEST_SQUARE))
        largest = _largest(X[far])
        if not np.isfinite(largest).all():
            raise ValueError(
                "Input X contains NaN or infinity. Allowed: finite numbers. Clean the "
                "rows before the call."
            )
        exponents = np.zeros(squares.shape, dtype=np.int64)
        exponents[far] = np.frexp(largest)[1]
        squares[far] = squared_norms(_shrink(X[far], exponents[far]))
        norms = np.sqrt(squares)
        # such a row is outside: its norm exceeds 1e149, and R is at most 1e100
        outside = (norms > self.data_norm) | (exponents != 0)
        factors = np.ones_like(norms)
        factors[outside] = bound / norms[outside]
        return Clipping(norms, factors, exponents)


@dataclass(frozen=True, slots=True)
class Clipping:
    """How each row of a block is clipped: the clipped row is ``(x 2^-e) f``.

    Attributes
    ----------
    norms : ndarray of shape (n,)
        Norms of ``x 2^-e``.
    factors : ndarray of shape (n,)
        f, 1 for rows inside the ball.
    exponents : ndarray of shape (n,), optional
        e, 0 but for rows whose sum of squares leaves the range of float64, where one
        factor alone could underflow. None for zeros.
    """

    norms: FloatArray
    factors: FloatArray
    exponents: IntArray | None = None

    def nearer(self, X: MatrixLike) -> MatrixLike:
        """Return ``X 2^-e`` in float64, or X itself when every e is 0."""
        return X if self.exponents is None else _shrink(X, self.exponents)


def _shrink(X: MatrixLike, exponents: IntArray) -> MatrixLike:
    """Return the rows times ``2^-e`` in float64."""
    if isinstance(X, np.ndarray):
        return np.ldexp(X.astype(np.float64), -exponents[:, None])
    out = X.astype(np.float64)
    out.data = np.ldexp(out.data, -np.repeat(exponents, np.diff(X.indptr)))
    return out


def squared_norms(X: MatrixLike) -> FloatArray:
    """Return the sum of squares of each row, infinite where it overflows."""
    with np.errstate(over="ignore"):
        if isinstance(X, np.ndarray):
            values = X.astype(np.float64, copy=False)
            dense: FloatArray = np.einsum("ij,ij->i", values, values)
            return dense
        data = np.asarray(X.data, dtype=np.float64)
        sums = np.zeros(X.shape[0])
        filled = np.flatnonzero(np.diff(X.indptr))
        if filled.size:
            sums[filled] = np.add.reduceat(data * data, X.indptr[:-1][filled])
        return sums


def _largest(X: MatrixLike) -> FloatArray:
    """Return the largest absolute entry of each row."""
    if isinstance(X, np.ndarray):
        out: FloatArray = np.abs(X.astype(np.float64)).max(axis=1)
        return out
    return np.asarray(abs(X.astype(np.float64)).max(axis=1).toarray()).ravel()
