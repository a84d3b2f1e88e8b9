r"""The K-norm mechanism for the Euclidean ball: pure DP for a vector.

Notation (derived in docs/proofs/k_norm.md)
-------------------------------------------
c        rate of the noise, density proportional to exp(-c |b|_2)   -> 1 / scale
eps_out  share of the smoothing step                                -> ``smoothing``
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from skdp.accounting import Guarantee, PureDP
from skdp.mechanisms._additive import RELATIVE_ERROR, AdditiveNoise
from skdp.mechanisms._base import require
from skdp.mechanisms._calibration import DOWN
from skdp.mechanisms._noise import KNormNoise
from skdp.mechanisms._smoothing import LatticeSmoothing

__all__ = ["KNormMechanism"]

_SOURCE = "K-norm mechanism (Hardt & Talwar 2010), docs/proofs/k_norm.md"
#: Share of epsilon that pays for the smoothing step.
_SMOOTHING_SHARE = 0.01


@dataclass(frozen=True, kw_only=True, slots=True)
class KNormMechanism(AdditiveNoise):
    """Add noise of density proportional to ``exp(-c |b|_2)`` to a vector.

    Build one with :meth:`calibrate`.

    Parameters
    ----------
    l2_sensitivity : float
        Bound > 0 on the L2 distance of the statistic between neighbours.
    n_features : int
        Length of the vector, >= 1.
    noise_law : KNormNoise
        The noise.
    smoothing : LatticeSmoothing
        The finite-precision step at the end.
    adjacency : Adjacency
        The relation for which ``l2_sensitivity`` holds.

    Privacy
    -------
    Pure DP: c times the L2 sensitivity by the triangle inequality, plus the share of
    the smoothing step. Proof in docs/proofs/k_norm.md.

    Examples
    --------
    >>> from skdp.accounting import PureDP
    >>> from skdp.mechanisms import KNormMechanism
    >>> mechanism = KNormMechanism.calibrate(
    ...     PureDP(1.0), l2_sensitivity=2.0, n_features=3)
    >>> mechanism.guarantee.epsilon(0.0) <= 1.0
    True
    """

    @classmethod
    def calibrate(
        cls, target: PureDP, *, l2_sensitivity: float, n_features: int
    ) -> Self:
        """Return the least noisy instance whose epsilon meets the target.

        Parameters
        ----------
        target : PureDP
            What to promise, with its adjacency.
        l2_sensitivity : float
            Bound on the L2 distance of the statistic between neighbours.
        n_features : int
            Length of the vector.

        Returns
        -------
        KNormMechanism
            Its ``guarantee`` implies ``target``.
        """
        share = _SMOOTHING_SHARE * target.epsilon_bound
        scale = l2_sensitivity / ((target.epsilon_bound - share) * DOWN)
        smoothing = LatticeSmoothing.pure(
            error=RELATIVE_ERROR * scale,
            n_features=n_features,
            epsilon=share,
            adjacency=target.adjacency,
        )
        return cls(
            l2_sensitivity=l2_sensitivity,
            n_features=n_features,
            noise_law=KNormNoise(scale),
            smoothing=smoothing,
            adjacency=target.adjacency,
        )

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold."""
        require(isinstance(self.noise_law, KNormNoise), "noise_law must be KNormNoise")
        AdditiveNoise.__post_init__(self)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one release, smoothing step included."""
        return PureDP(
            self.sensitivity_ratio + self.smoothing.epsilon,
            adjacency=self.adjacency,
            assumptions=self._assumptions(),
            source=_SOURCE,
        )

    @property
    def ideal_guarantee(self) -> Guarantee:
        """Guarantee of the real-valued release."""
        return PureDP(self.sensitivity_ratio, adjacency=self.adjacency)

    @classmethod
    def audit_instances(cls) -> Iterator[Self]:
        """Yield small, medium and large epsilon in one and two dimensions."""
        for epsilon, d in ((0.1, 1), (1.0, 1), (8.0, 1), (1.0, 2)):
            yield cls.calibrate(PureDP(epsilon), l2_sensitivity=2.0, n_features=d)
