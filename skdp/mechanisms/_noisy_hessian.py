r"""The Hessian of a penalised sum of losses at a public point, with GOE noise.

Notation (derived in docs/proofs/noisy_hessian.md)
--------------------------------------------------
J0       sum of losses of the rows plus ridge
theta    public point, shape (d,)                                    -> ``theta``
G        matrix of the Gaussian orthogonal ensemble
beta     bound on the curvature of one row's loss
S        Frobenius sensitivity, beta                       -> ``l2_sensitivity``
s3       noise scale: G is multiplied by it                          -> ``scale``
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from skdp._typing import FloatArray
from skdp.accounting import Adjacency, ApproximateDP
from skdp.losses import Loss
from skdp.mechanisms._base import require
from skdp.mechanisms._noisy_statistic import NoisyStatistic
from skdp.random import GOE, RandomSource
from skdp.random._symmetric import (
    isometric,
    lower_triangle,
    symmetric,
    triangle_size,
)
from skdp.rows import PrivateRows

__all__ = ["NoisyHessian"]

_SOURCE = "Gaussian mechanism on a sum of Hessians, docs/proofs/noisy_hessian.md"


@dataclass(frozen=True, kw_only=True, slots=True)
class NoisyHessian(NoisyStatistic):
    r"""Add a symmetric Gaussian matrix to the Hessian of J0 at a public point.

    .. math:: \nabla^2 J_0(\theta)
              = \sum_i f''(x_i\cdot\theta; y_i)\,x_i x_i^T + \alpha I

    The noise is ``scale`` times a draw of :class:`skdp.random.GOE`: variance
    ``scale^2`` on the diagonal and half of that off it, which is isotropic in the
    Frobenius norm, the norm in which a row is bounded. The output is symmetric, of
    shape (n_coefficients, n_coefficients), and need not be positive definite. Build one
    with :meth:`calibrate`.

    Parameters
    ----------
    theta : tuple of float
        Public point, chosen without the rows or released before; any sequence is
        accepted. Intercept coordinate last.
    radius : float
        Bound R > 0 on the L2 norm of a row, intercept constant included.
    alpha : float
        Ridge > 0 on the sum of the losses.
    scale : float
        Standard deviation of the noise of a diagonal entry, > 0.
    smoothing : LatticeSmoothing
        The finite-precision step at the end, for the lower triangle.
    adjacency : Adjacency
        Neighbouring relation of the guarantee.
    loss : Loss
        The loss of one row, of bounded curvature.

    Raises
    ------
    ValueError
        If the fields do not fit.

    Privacy
    -------
    The exact curve of the Gaussian mechanism in the Frobenius norm: a row adds
    ``f'' x x^T``, whose norm is at most the curvature bound of the loss (R^2 / 4 for
    the logistic loss); replacing one moves the sum by at most sqrt(2) times that. The
    smoothing step is added by an exact integral. Proof in docs/proofs/noisy_hessian.md.

    References
    ----------
    Dwork, Talwar, Thakurta and Zhang (2014), Analyze Gauss: optimal bounds for
    privacy-preserving principal component analysis.

    Examples
    --------
    >>> from skdp.accounting import ApproximateDP
    >>> from skdp.mechanisms import NoisyHessian
    >>> mechanism = NoisyHessian.calibrate(
    ...     ApproximateDP(1.0, 1e-6), theta=[0.5, -0.25], radius=1.0, alpha=1.0)
    >>> mechanism.l2_sensitivity, round(mechanism.scale, 3)
    (0.25, 1.056)
    """

    @staticmethod
    def row_bound(loss: Loss, radius: float) -> float:
        """Return the curvature bound of one row's loss.

        Parameters
        ----------
        loss : Loss
            The loss of one row.
        radius : float
            Bound on the L2 norm of a row, intercept constant included.

        Returns
        -------
        float
        """
        return loss.constants(radius).smoothness

    @staticmethod
    def n_numbers(n_coefficients: int) -> int:
        """Return how many entries are on or below the diagonal.

        Parameters
        ----------
        n_coefficients : int
            Length of theta.

        Returns
        -------
        int
        """
        return triangle_size(n_coefficients)

    @staticmethod
    def _l2_sensitivity(
        loss: Loss, radius: float, theta: tuple[float, ...], adjacency: Adjacency
    ) -> float:
        one = loss.constants(radius).smoothness
        # two positive semidefinite matrices have a nonnegative inner product, and in
        # one dimension the difference of two is at most the larger
        replaced = adjacency is Adjacency.REPLACE_ONE and len(theta) > 1
        return math.sqrt(2.0) * one if replaced else one

    def __post_init__(self) -> None:
        """Refuse a ridge whose addition would round off more than the step covers."""
        # the parent by name: slots make a new class that a bare super() cannot see
        NoisyStatistic.__post_init__(self)
        rounding = self.alpha * 2.0**-52 * math.sqrt(self.n_coefficients)
        require(
            rounding <= self.smoothing.error / 4,
            "alpha is so large that adding it rounds the sum of curvatures",
        )

    def statistic(self, data: PrivateRows) -> FloatArray:
        """Return the Hessian of J0 at theta; NOT private.

        Parameters
        ----------
        data : PrivateRows
            Rows with encoded labels.

        Returns
        -------
        ndarray of shape (n_coefficients, n_coefficients)
        """
        return self.objective(data).hessian(np.array(self.theta))

    def _coordinates(self, statistic: FloatArray) -> FloatArray:
        return isometric(statistic)

    def _noisy(self, statistic: FloatArray, source: RandomSource) -> FloatArray:
        noise = self.scale * GOE(self.n_coefficients).draw(source)
        return lower_triangle(statistic + noise)

    def _shaped(self, numbers: FloatArray) -> FloatArray:
        return symmetric(numbers, self.n_coefficients)

    def _hard_direction(self) -> FloatArray:
        """Return a direction across theta, along which the margin stays 0."""
        theta = np.array(self.theta)
        if theta.size == 1:
            return np.ones(1)
        across = np.linalg.svd(theta[None])[2][-1]
        return np.asarray(across)

    def _source(self) -> str:
        return _SOURCE

    @classmethod
    def audit_instances(cls) -> Iterator[Self]:
        """Yield points near and far over the range of epsilon, and both relations."""
        for epsilon, theta in ((0.1, (0.0,)), (1.0, (0.3,)), (8.0, (-0.1,))):
            target = ApproximateDP(epsilon, 1e-6)
            yield cls.calibrate(target, theta=theta, radius=1.5, alpha=2.0)
        for adjacency in Adjacency:
            target = ApproximateDP(1.0, 1e-6, adjacency=adjacency)
            yield cls.calibrate(target, theta=(0.5, -1.0, 3.0), radius=0.5, alpha=1.0)
