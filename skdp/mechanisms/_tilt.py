r"""What is public about rows, loss and ridge of a tilted objective, and what it proves.

Notation (derived in docs/proofs/objective_perturbation.md)
-----------------------------------------------------------
L, L'    bound on the slope of the loss, on that of its other sign (0: has one sign)
kappa    R^2 / alpha                                            -> ``curvature``
h(p)     kappa f'' where |f'| = p L, at most F (1-p) (a + (1-a) p)   -> ``fading``
"""

import math
from dataclasses import dataclass
from typing import Any

from skdp.accounting import (
    Adjacency,
    ConservativeObjectiveDP,
    Guarantee,
    ObjectivePerturbationDP,
    TiltedObjectiveDP,
)
from skdp.losses import Fading, LogisticLoss, Tilting

__all__ = ["Tilt"]


@dataclass(frozen=True, slots=True)
class Tilt:
    """Loss and ridge, in units of the row norm.

    ``conservative`` selects the published bound, for any loss.
    """

    loss: Tilting
    curvature: float
    conservative: bool = False

    @property
    def fading(self) -> tuple[float, float]:
        """F and a of the row over the ridge; F is inf where the curvature stays."""
        if not isinstance(self.loss, Fading):
            return math.inf, 1.0
        steepness, lag = self.loss.fading
        return self.curvature * steepness, lag

    def guarantee(self, mu: float, rho: float, **words: Any) -> Guarantee:
        """Return what Gaussian noise of size ``mu`` and a smoothing step give."""
        bend = self.curvature * self.loss.bend
        if self.conservative:
            return ConservativeObjectiveDP(mu, -math.log1p(-bend), rho, **words)
        if type(self.loss) is LogisticLoss:
            return ObjectivePerturbationDP(mu, self.curvature, rho, **words)
        low, high = self.loss.slope_range
        other = 0.0 if self.loss.one_signed else min(-low, high) / max(-low, high)
        return TiltedObjectiveDP(mu, other * mu, bend, *self.fading, rho, **words)

    def pure_loss(self, c: float, adjacency: Adjacency) -> float:
        """Bound the loss under K-norm noise whose rate times R L is ``c``."""
        main = self._removal_loss(c)
        if adjacency is Adjacency.ADD_REMOVE:
            return main
        # the Jacobians of two rows have opposite signs: one is paid, at most
        return main + c

    def _removal_loss(self, c: float) -> float:
        r"""Bound the supremum of :math:`\log(1 + h(p)) + c p` over p in [0, 1].

        Equals ``c`` for F <= c. Beyond, the smaller of two bounds: log(1 + u) <= u
        turns the sum into a parabola, and h is bounded.
        """
        F, lag = self.fading
        if c >= F:
            return c
        flat = c + math.log1p(self.curvature * self.loss.bend)
        if math.isinf(F):
            return flat
        # F (1-p) (a + (1-a) p) + c p, at its vertex or at p = 0
        square, middle = 1.0 - lag, (1.0 - 2.0 * lag) * F + c
        rise = middle**2 / (4 * square * F) if square > 0.0 < middle else 0.0
        return min(F * lag + rise, flat)
