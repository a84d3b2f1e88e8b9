r"""Softmax loss of a class.

Notation
--------
K    number of classes                                         -> ``n_classes``
t    margins, one for each class, shape (n, K)
y    class number 0 .. K-1; any other number marks a row of weight zero, shape (n,)
p    :math:`e^{t_k} / \sum_l e^{t_l}`, the class probabilities, shape (n, K)
e_y  unit vector of the class
"""

import math
from dataclasses import dataclass

import numpy as np

from skdp._typing import BoolArray, FloatArray, IntArray
from skdp._validation import check_count
from skdp.losses._base import LossConstants

__all__ = ["SoftmaxLoss"]


@dataclass(frozen=True, slots=True)
class SoftmaxLoss:
    r"""Softmax (multinomial logistic) loss :math:`\log\sum_k e^{t_k} - t_y`.

    Each class has coefficients of its own, ``t = Theta x``, none left out: a ridge then
    makes them sum to zero. A row whose label is no class has weight zero: value and
    derivatives vanish.

    Parameters
    ----------
    n_classes : int, default=3
        Number of classes K, from 2 to 10,000. For two, the logistic loss needs less
        noise.

    Notes
    -----
    The gradient in t is :math:`p - e_y`, in Theta its outer product with x.
    :math:`|p - e_y|^2 = (1 - p_y)^2 + \sum_{k \ne y} p_k^2 \le 2(1 - p_y)^2 < 2`, as
    the other probabilities sum to 1 - p_y; approached where one of them is nearly 1.
    Hence ``lipschitz`` = sqrt(2) R.

    The second derivative is :math:`A = \mathrm{diag}(p) - pp^T`. For a unit vector v,
    :math:`v^T A v` is the variance of v_k under p, at most a quarter of the squared
    range of v, and so at most 1/2; attained at p = (1/2, 1/2, 0, ...) in the limit, and
    for K = 2 at 0. Hence ``smoothness`` = R^2/2. A maps the vector of ones to zero, so
    its rank is at most K - 1, and its trace :math:`1 - |p|^2` is at most 1 - 1/K,
    attained at t = 0. A vanishes where p is a unit vector.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import SoftmaxLoss
    >>> loss = SoftmaxLoss(n_classes=3)
    >>> t = np.array([[0.0, 0.0, 0.0], [1e6, 0.0, -1e6], [5.0, 6.0, 7.0]])
    >>> y = np.array([0.0, 1.0, -1.0])
    >>> loss.value(y, t).round(6)
    array([1.098612e+00, 1.000000e+06, 0.000000e+00])
    >>> loss.gradient(y, t)[1]
    array([ 1., -1.,  0.])
    >>> loss.rank, round(loss.trace, 6)
    (2, 0.666667)
    """

    n_classes: int = 3

    def __post_init__(self) -> None:
        remedy = "Declare the classes of the problem, two at least."
        count = check_count(
            "n_classes", self.n_classes, minimum=2, maximum=10_000, remedy=remedy
        )
        object.__setattr__(self, "n_classes", count)

    @property
    def rank(self) -> int:
        """Largest rank of the second derivative, K - 1."""
        return self.n_classes - 1

    @property
    def trace(self) -> float:
        """Largest trace of the second derivative, 1 - 1/K."""
        return self.rank / self.n_classes

    def probabilities(self, t: FloatArray) -> FloatArray:
        """Return p, shape (n, K)."""
        p = _powers(t)
        p /= p.sum(axis=0)
        return p.T

    def _weighed(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return p, each class in one piece, and 0 for rows of weight zero."""
        p = _powers(t)
        p *= self._classes(y)[1] / p.sum(axis=0)
        return p

    def _classes(self, y: FloatArray) -> tuple[IntArray, BoolArray]:
        """Return class numbers, 0 for what is none, and which rows have weight."""
        counts = (y >= 0.0) & (y < self.n_classes) & (y == np.floor(y))
        return np.where(counts, y, 0.0).astype(np.int64), counts

    def value(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return the loss, shape (n,)."""
        label, counts = self._classes(y)
        rows = np.arange(len(label))
        away = t - t[rows, label][:, None]
        best = away.argmax(axis=1)
        largest = away[rows, best]
        # the largest term is taken out, so a loss near zero keeps its digits
        terms = np.exp(away - largest[:, None])
        terms[rows, best] = 0.0
        out: FloatArray = np.where(counts, largest + np.log1p(terms.sum(axis=1)), 0.0)
        return out

    def gradient(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return ``p - e_y``, shape (n, K)."""
        label, counts = self._classes(y)
        out = _powers(t)
        flat = out.ravel()
        at = label * len(label) + np.arange(len(label))
        own = flat[at]
        # minus the sum of the others loses nothing where p_y is nearly 1
        flat[at] = 0.0
        others = out.sum(axis=0)
        flat[at] = -others
        out *= counts / (own + others)
        return out.T

    def hessian(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return ``diag(p) - pp'``, shape (n, K, K)."""
        p = self._weighed(y, t)
        out = -p * p[:, None]
        diagonal = np.arange(self.n_classes)
        # p_k (1 - p_k) as minus the sum of its row: the rows then sum to zero
        out[diagonal, diagonal] = 0.0
        out[diagonal, diagonal] = -out.sum(axis=1)
        return out.transpose(2, 0, 1)

    def hessian_diagonal(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return ``p (1 - p)``, shape (n, K)."""
        p = self._weighed(y, t)
        p *= 1.0 - p
        return p.T

    def hessian_product(
        self, y: FloatArray, t: FloatArray, v: FloatArray
    ) -> FloatArray:
        """Return ``p * v - p (p . v)`` for each row, shape (n, K)."""
        p = self._weighed(y, t)
        out: FloatArray = p * v.T
        out -= p * out.sum(axis=0)
        return out.T

    def constants(self, data_norm: float) -> LossConstants:
        """Return sqrt(2) R and R^2 / 2, in the Euclidean norm of all coefficients."""
        return LossConstants(
            lipschitz=math.sqrt(2.0) * data_norm, smoothness=data_norm**2 / 2
        )


def _powers(t: FloatArray) -> FloatArray:
    """Return exponentials of margins over the largest one's, each class in one piece.

    Classes are few and rows many: loops along the rows are the long ones.
    """
    out: FloatArray = np.subtract(t.T, t.max(axis=1), order="C")
    np.exp(out, out=out)
    return out
