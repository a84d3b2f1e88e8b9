r"""The gradient of a penalised sum of losses at a public point, with Gaussian noise.

Notation (derived in docs/proofs/noisy_gradient.md)
---------------------------------------------------
J0       sum of losses of the rows plus ridge, without any noise term
theta    public point                                                -> ``theta``
L(t)     bound on the slope of one row's loss at points of norm t
S        L(\|theta\|), twice that under replace-one        -> ``l2_sensitivity``
s2       noise scale                                                 -> ``scale``
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from skdp._typing import FloatArray
from skdp.accounting import Adjacency, ApproximateDP
from skdp.losses import Loss
from skdp.mechanisms._noise import GaussianNoise
from skdp.mechanisms._noisy_statistic import NoisyStatistic
from skdp.random import RandomSource
from skdp.rows import PrivateRows

__all__ = ["NoisyGradient"]

_SOURCE = "Gaussian mechanism on a sum of gradients, docs/proofs/noisy_gradient.md"


@dataclass(frozen=True, kw_only=True, slots=True)
class NoisyGradient(NoisyStatistic):
    r"""Add spherical Gaussian noise to the gradient of J0 at a public point.

    .. math:: \nabla J_0(\theta) = \sum_i f'(x_i\cdot\theta; y_i)\,x_i + \alpha\theta

    The objective has no noise term: at the minimiser of a perturbed objective, this
    gradient is minus the noise that was in it. Build one with :meth:`calibrate`.

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
        Standard deviation of the noise of a coordinate, > 0.
    smoothing : LatticeSmoothing
        The finite-precision step at the end.
    adjacency : Adjacency
        Neighbouring relation of the guarantee.
    loss : Loss
        The loss of one row, of bounded slope.

    Raises
    ------
    ValueError
        If the fields do not fit.

    Privacy
    -------
    The exact curve of the Gaussian mechanism: a row moves the gradient at theta by at
    most the slope bound of the loss on the ball that theta lies in, under replace-one
    by twice that. The smoothing step is added by an exact integral. Proof in
    docs/proofs/noisy_gradient.md.

    Examples
    --------
    >>> from skdp.accounting import ApproximateDP
    >>> from skdp.mechanisms import NoisyGradient
    >>> mechanism = NoisyGradient.calibrate(
    ...     ApproximateDP(1.0, 1e-6), theta=[0.5, -0.25], radius=1.0, alpha=1.0)
    >>> round(mechanism.l2_sensitivity, 3), round(mechanism.scale, 3)
    (0.636, 2.688)
    """

    @staticmethod
    def row_bound(loss: Loss, radius: float) -> float:
        """Return the slope bound of one row's loss.

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
        return loss.constants(radius).lipschitz

    @staticmethod
    def n_numbers(n_coefficients: int) -> int:
        """Return the length of a gradient.

        Parameters
        ----------
        n_coefficients : int
            Length of theta.

        Returns
        -------
        int
        """
        return n_coefficients

    @staticmethod
    def _l2_sensitivity(
        loss: Loss, radius: float, theta: tuple[float, ...], adjacency: Adjacency
    ) -> float:
        norm = float(np.linalg.norm(theta))
        one = loss.constants(radius, radius=norm).lipschitz
        return 2.0 * one if adjacency is Adjacency.REPLACE_ONE else one

    def statistic(self, data: PrivateRows) -> FloatArray:
        """Return the gradient of J0 at theta; NOT private.

        Parameters
        ----------
        data : PrivateRows
            Rows with encoded labels.

        Returns
        -------
        ndarray of shape (n_coefficients,)
        """
        return self.objective(data).gradient(np.array(self.theta))

    def _coordinates(self, statistic: FloatArray) -> FloatArray:
        return statistic

    def _noisy(self, statistic: FloatArray, source: RandomSource) -> FloatArray:
        return statistic + GaussianNoise(self.scale).draw(statistic.size, source)

    def _shaped(self, numbers: FloatArray) -> FloatArray:
        return numbers

    def _hard_direction(self) -> FloatArray:
        """Return the direction of theta, along which the loss is steepest."""
        theta = np.array(self.theta)
        if not theta.any():
            theta[0] = 1.0
        direction: FloatArray = theta / np.linalg.norm(theta)
        return direction

    def _source(self) -> str:
        return _SOURCE

    @classmethod
    def audit_instances(cls) -> Iterator[Self]:
        """Yield points near and far over the range of epsilon, and both relations."""
        for epsilon, theta in ((0.1, (0.0,)), (1.0, (2.0,)), (8.0, (-0.5,))):
            target = ApproximateDP(epsilon, 1e-6)
            yield cls.calibrate(target, theta=theta, radius=1.5, alpha=2.0)
        for adjacency in Adjacency:
            target = ApproximateDP(1.0, 1e-6, adjacency=adjacency)
            yield cls.calibrate(target, theta=(0.5, -1.0, 3.0), radius=0.5, alpha=1.0)
