"""A Gaussian release drawn on a lattice."""

import math
from dataclasses import dataclass

from skdp._typing import FloatArray
from skdp.accounting._concentrated import ZeroConcentratedDP, concentrated_curve
from skdp.accounting._gaussian import GaussianDP
from skdp.accounting._guarantee import Guarantee
from skdp.accounting._numbers import nonnegative
from skdp.accounting._smoothing import gaussian_loss

__all__ = ["SmoothedGaussianDP"]


@dataclass(frozen=True, slots=True, repr=False)
class SmoothedGaussianDP(Guarantee):
    r"""A mu-GDP release followed by a rho-zCDP release.

    .. math:: \delta(\varepsilon) = E_{w \sim N(0,1)}\,
              D_2(\varepsilon - \mu^2/2 - \mu w)

    with D2 the profile of rho-zCDP. This is what a Gaussian mechanism costs when its
    answer is rounded to a lattice and blurred by discrete Gaussian noise.

    Parameters
    ----------
    mu : float
        Of the ideal Gaussian release, >= 0.
    smoothing_rho : float
        zCDP cost of the lattice noise, >= 0; with 0 the Gaussian closed form is exact.
    adjacency : Adjacency or str, default="add-remove"
        Which data sets count as neighbours.
    assumptions : tuple of str, default=()
        What the guarantee takes as given.
    source : str, default=""
        Theorem, paper or proof note.
    observes : set of Channel or str, default={"output"}
        What the attacker may watch.

    References
    ----------
    Balle and Wang (2018); Canonne, Kamath and Steinke (2020).

    Examples
    --------
    >>> from skdp.accounting import SmoothedGaussianDP
    >>> g = SmoothedGaussianDP(0.2367, 0.2367**2 / 2 / 100**2)
    >>> g.epsilon(1e-6)
    1.0000...
    """

    mu: float
    smoothing_rho: float

    def _check(self) -> None:
        self._set("mu", nonnegative("mu", self.mu))
        self._set("smoothing_rho", nonnegative("smoothing_rho", self.smoothing_rho))

    def _delta(self, epsilon: FloatArray) -> FloatArray:
        if self.mu == 0.0:
            return concentrated_curve(epsilon, self.smoothing_rho)
        return gaussian_loss(self.mu).smoothed(epsilon, self.smoothing_rho)

    def _pure_epsilon(self) -> float:
        return 0.0 if self.mu == self.smoothing_rho == 0.0 else math.inf

    def _components(self) -> tuple[Guarantee, ...]:
        return (
            GaussianDP(self.mu, adjacency=self.adjacency),
            ZeroConcentratedDP(self.smoothing_rho, adjacency=self.adjacency),
        )

    def _group(self, k: int) -> "SmoothedGaussianDP":
        return self._with(k * self.mu, k * k * self.smoothing_rho)
