r"""A privacy loss whose tail is at most a sum of Gaussian tails.

Notation (docs/proofs/softmax_perturbation.md, "The law of a union")
--------------------------------------------------------------------
G_m      m^2/2 + m w, the loss of the Gaussian pair of size m, w ~ N(0, 1)
n, s, m  count, shift and size of one part: n losses s + G_m          -> ``parts``
S(t)     sum over the parts of n P(s + G_m > t), the union bound
t0       the loss is taken to be t0 where it is smaller                 -> ``floor``

Whatever the losses of a union have to do with each other, the largest of them is above
t with chance at most S(t). The law with P(loss > t) = S(t) for t >= t0, and otherwise
t0, is that of a pair of distributions: it dominates in compositions as well.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from skdp._typing import FloatArray
from skdp.accounting._gaussian import gaussian_curve
from skdp.accounting._smoothing import INFLATION, excess, flat_loss

__all__ = ["UnionLoss"]

#: Count, shift and size of losses that are shifted Gaussian ones.
Part: TypeAlias = tuple[float, float, float]

#: Below the rounding of the blurs whose common part is taken off.
_DOWN = 1.0 - 1e-9
#: Standard deviations beyond which no count of normal variables is likely.
_FAR = 39.0


@dataclass(frozen=True, eq=False)
class UnionLoss:
    """The largest of several shifted Gaussian losses, and of ``level``.

    Nothing is known about how the Gaussian losses depend on each other.
    """

    parts: tuple[Part, ...]
    level: float

    @cached_property
    def floor(self) -> float:
        """The least loss: the level, or where the union bound falls below one."""
        if self._chance(self.level) <= 1.0:
            return self.level
        end = max(shift + m * (m / 2 + _FAR) for _, shift, m in self.parts)
        if self._chance(end) > 1.0:
            # sizes so large that the sum above is rounded, and nothing is hidden
            return end
        # any point near the crossing gives a valid law
        return float(brentq(lambda t: math.log(self._chance(t)), self.level, end))

    def _chance(self, t: float) -> float:
        """Return the union bound S(t); never 0, so that it has a logarithm."""
        tails = (n * ndtr(m / 2 - (t - shift) / m) for n, shift, m in self.parts)
        return max(float(sum(tails)), 1e-300)

    def profile(self, epsilon: FloatArray, rho: float) -> FloatArray:
        """Bound E[D2(eps - loss)], D2 the profile of a rho-zCDP release."""
        total = self._hockey_stick(epsilon)
        if rho > 0.0:
            total = (total + self._blur(epsilon, rho)) * INFLATION
        out: FloatArray = np.clip(total, 0.0, 1.0)
        return out

    def _hockey_stick(self, epsilon: FloatArray) -> FloatArray:
        """Return E[(1 - exp(eps - loss))_+]; below the floor the loss always counts."""
        beyond = np.maximum(epsilon, self.floor)
        tails = [n * gaussian_curve(beyond - s, m) for n, s, m in self.parts]
        above = np.minimum(np.sum(tails, axis=0), 1.0)
        missing = np.minimum(epsilon - self.floor, 0.0)
        out: FloatArray = above * np.exp(missing) - np.expm1(missing)
        return out

    def _blur(self, epsilon: FloatArray, rho: float) -> FloatArray:
        """Return what the release adds: that of each loss, cut off at the floor.

        All of them have the floor in common, which counts once.
        """
        blurs = [
            n * flat_loss(m, self.floor - s).blur(epsilon - s, rho)
            for n, s, m in self.parts
        ]
        spare = sum(n for n, _, _ in self.parts) - 1.0
        common = spare * excess(epsilon - self.floor, rho) * _DOWN
        out: FloatArray = np.maximum(np.sum(blurs, axis=0) - common, 0.0)
        return out
