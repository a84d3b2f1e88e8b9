r"""The Gaussian mechanism, calibrated exactly and released on a lattice.

Notation (derived in docs/proofs/gaussian.md)
---------------------------------------------
mu       L2 sensitivity over the standard deviation          -> ``sensitivity_ratio``
mu_out   size of the smoothing step                          -> ``smoothing``
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

from skdp.accounting import (
    ApproximateDP,
    GaussianDP,
    Guarantee,
    SmoothedGaussianDP,
)
from skdp.mechanisms._additive import RELATIVE_ERROR, AdditiveNoise
from skdp.mechanisms._base import require
from skdp.mechanisms._calibration import analytic_mu, largest_mu
from skdp.mechanisms._noise import GaussianNoise
from skdp.mechanisms._smoothing import LatticeSmoothing

__all__ = ["GaussianMechanism", "calibrated_gaussian"]

_SOURCE = "analytic Gaussian mechanism (Balle & Wang 2018), docs/proofs/gaussian.md"


@dataclass(frozen=True, kw_only=True, slots=True)
class GaussianMechanism(AdditiveNoise):
    """Add spherical Gaussian noise to a vector of bounded L2 sensitivity.

    Build one with :meth:`calibrate`.

    Parameters
    ----------
    l2_sensitivity : float
        Bound > 0 on the L2 distance of the statistic between neighbours.
    n_features : int
        Length of the vector, >= 1.
    noise_law : GaussianNoise
        The noise.
    smoothing : LatticeSmoothing
        The finite-precision step at the end.
    adjacency : Adjacency
        The relation for which ``l2_sensitivity`` holds.

    Privacy
    -------
    The exact curve of the Gaussian mechanism (Balle & Wang 2018) for the given
    relation, composed with the smoothing step by an exact integral. Proof in
    docs/proofs/gaussian.md.

    Examples
    --------
    >>> from skdp.accounting import ApproximateDP
    >>> from skdp.mechanisms import GaussianMechanism
    >>> mechanism = GaussianMechanism.calibrate(
    ...     ApproximateDP(1.0, 1e-6), l2_sensitivity=1.0, n_features=3)
    >>> round(mechanism.noise_law.scale, 3)
    4.225
    """

    @classmethod
    def calibrate(
        cls, target: ApproximateDP, *, l2_sensitivity: float, n_features: int
    ) -> Self:
        """Return the least noisy instance whose computed curve meets the target.

        Parameters
        ----------
        target : ApproximateDP
            What to promise, with its adjacency; delta > 0.
        l2_sensitivity : float
            Bound on the L2 distance of the statistic between neighbours.
        n_features : int
            Length of the vector.

        Returns
        -------
        GaussianMechanism
            Its ``guarantee`` implies ``target``.
        """
        mu, smoothing_mu = calibrated_gaussian(target.epsilon_bound, target.delta_bound)
        sigma = l2_sensitivity / mu
        smoothing = LatticeSmoothing.concentrated(
            error=RELATIVE_ERROR * sigma,
            n_features=n_features,
            mu=smoothing_mu,
            adjacency=target.adjacency,
        )
        return cls(
            l2_sensitivity=l2_sensitivity,
            n_features=n_features,
            noise_law=GaussianNoise(sigma),
            smoothing=smoothing,
            adjacency=target.adjacency,
        )

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold."""
        require(
            isinstance(self.noise_law, GaussianNoise), "noise_law must be GaussianNoise"
        )
        AdditiveNoise.__post_init__(self)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one release, smoothing step included."""
        return SmoothedGaussianDP(
            self.sensitivity_ratio,
            self.smoothing.rho,
            adjacency=self.adjacency,
            assumptions=self._assumptions(),
            source=_SOURCE,
        )

    @property
    def ideal_guarantee(self) -> Guarantee:
        """Guarantee of the real-valued release."""
        return GaussianDP(self.sensitivity_ratio, adjacency=self.adjacency)

    @classmethod
    def audit_instances(cls) -> Iterator[Self]:
        """Yield small, medium and large epsilon in one and two dimensions."""
        for epsilon, d in ((0.1, 1), (1.0, 1), (8.0, 1), (1.0, 2)):
            target = ApproximateDP(epsilon, 1e-6)
            yield cls.calibrate(target, l2_sensitivity=2.0, n_features=d)


@lru_cache(maxsize=1024)
def calibrated_gaussian(epsilon: float, delta: float) -> tuple[float, float]:
    """Return (mu, mu_out) for an (epsilon, delta) target."""
    smoothing_mu = min(analytic_mu(epsilon, delta) / 100, 0.125)

    def curve(mu: float) -> SmoothedGaussianDP:
        return SmoothedGaussianDP(mu, smoothing_mu**2 / 2)

    return largest_mu(curve, epsilon, delta), smoothing_mu
