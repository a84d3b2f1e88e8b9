r"""Objective perturbation by a published bound, which charges its two terms apart.

Notation (docs/proofs/objective_perturbation.md, "Other losses")
----------------------------------------------------------------
mu     bound on a row's gradient over the noise's standard deviation    -> ``mu``
J      -log(1 - R^2 sup f'' / alpha), the Jacobian term                  -> ``jacobian``
rho    zCDP cost of the final lattice noise                     -> ``smoothing_rho``
V(w)   mu^2/2 + mu |w|, w ~ N(0, 1)
"""

from dataclasses import dataclass

import numpy as np

from skdp._typing import FloatArray
from skdp.accounting._adjacency import Adjacency
from skdp.accounting._concentrated import ZeroConcentratedDP
from skdp.accounting._guarantee import Guarantee
from skdp.accounting._numbers import nonnegative, positive
from skdp.accounting._replacement import group_of_two, shared_profile
from skdp.accounting._tilted_loss import addition_profile

__all__ = ["ConservativeObjectiveDP"]


@dataclass(frozen=True, slots=True, repr=False)
class ConservativeObjectiveDP(Guarantee):
    r"""Noisy minimiser of any smooth convex loss, by a bound in print.

    .. math:: \delta(\varepsilon)
              = E_{w \sim N(0,1)}\, D_2(\varepsilon - J - \mu^2/2 - \mu |w|)

    in both directions, whatever the sign and the curvature of the slope. Larger than
    what :class:`TiltedObjectiveDP` proves; for those who want a bound in print.

    Parameters
    ----------
    mu : float
        R L / sigma: bound on a row's gradient over the noise's standard deviation, > 0.
    jacobian : float
        -log(1 - b), b the largest curvature of one row's loss over the ridge, >= 0.
    smoothing_rho : float, default=0.0
        zCDP cost of the final lattice noise, >= 0.
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
    Redberg, Koskela and Wang (2023), Improving the privacy and practicality of
    objective perturbation for differentially private linear learners.

    Examples
    --------
    >>> import math
    >>> from skdp.accounting import ConservativeObjectiveDP, TiltedObjectiveDP
    >>> ConservativeObjectiveDP(0.25, -math.log(0.75)).delta(1.0)
    0.00045695...
    >>> TiltedObjectiveDP(0.25, 0.25, 0.25).delta(1.0)
    9.52585...e-05
    """

    mu: float
    jacobian: float
    smoothing_rho: float = 0.0

    def _check(self) -> None:
        remedy = "Pass the row gradient bound over the noise's standard deviation."
        self._set("mu", positive("mu", self.mu, remedy))
        self._set("jacobian", nonnegative("jacobian", self.jacobian))
        self._set("smoothing_rho", nonnegative("smoothing_rho", self.smoothing_rho))

    def _delta(self, epsilon: FloatArray) -> FloatArray:
        if self.adjacency is Adjacency.REPLACE_ONE:
            return shared_profile(self._replace_curve, epsilon, self.smoothing_rho)
        return self._profile(epsilon, self.smoothing_rho)

    def _profile(self, epsilon: FloatArray, rho: float) -> FloatArray:
        return addition_profile(epsilon - self.jacobian, self.mu, self.mu, rho)

    def _replace_curve(self, epsilon: FloatArray) -> FloatArray:
        """Bound a removal and an addition, epsilon >= 0."""
        bound = group_of_two(self._profile(epsilon / 2, 0.0), epsilon)
        out: FloatArray = np.minimum(bound, 1.0)
        return out

    def _components(self) -> tuple[Guarantee, ...]:
        if self.smoothing_rho == 0.0:
            return (self,)
        ideal = ConservativeObjectiveDP(
            self.mu, self.jacobian, adjacency=self.adjacency
        )
        blur = ZeroConcentratedDP(self.smoothing_rho, adjacency=self.adjacency)
        return (ideal, blur)

    def _with_smoothing(self, rho: float) -> "ConservativeObjectiveDP":
        return self._with(self.mu, self.jacobian, rho)

    def _to_replace_one(self) -> "ConservativeObjectiveDP":
        """Keep the numbers: they describe the release, whatever the neighbours are."""
        numbers = self.mu, self.jacobian, self.smoothing_rho
        return self._with(*numbers, adjacency=Adjacency.REPLACE_ONE)
