"""Several guarantees that hold for one and the same release."""

from dataclasses import dataclass

import numpy as np

from skdp._typing import FloatArray
from skdp.accounting._adjacency import Adjacency
from skdp.accounting._guarantee import Guarantee, require_same_adjacency

__all__ = ["Simultaneous"]


@dataclass(frozen=True, slots=True, repr=False)
class Simultaneous(Guarantee):
    """One release of which several guarantees are proved: at each point the best one.

    Not a composition: nothing is released twice. A Gibbs posterior on a ball, for
    example, is pure and Gaussian DP at once, and which says more depends on epsilon.
    :func:`compose` keeps the alternatives apart, so each adds up by its own rule.

    Parameters
    ----------
    parts : tuple of Guarantee
        What holds, at least one, all with the same adjacency.
    adjacency : Adjacency or str, default="add-remove"
        Which data sets count as neighbours.
    assumptions : tuple of str, default=()
        What the guarantee takes as given.
    source : str, default=""
        Theorem, paper or proof note.

    Examples
    --------
    >>> from skdp.accounting import GaussianDP, PureDP, Simultaneous
    >>> g = Simultaneous((PureDP(1.0), GaussianDP(0.5)))
    >>> g.epsilon(0.0), g.epsilon(1e-2) - GaussianDP(0.5).epsilon(1e-2) < 1e-12
    (1.0, True)
    """

    parts: tuple[Guarantee, ...]

    def _check(self) -> None:
        self._set("parts", tuple(self.parts))
        if not self.parts:
            raise ValueError(
                "parts is empty. Allowed: one guarantee or more. Pass what was proved."
            )
        if require_same_adjacency(self.parts) is not self.adjacency:
            raise ValueError(
                f"adjacency differs from the parts', got {str(self.adjacency)!r}. "
                f"Allowed: {str(self.parts[0].adjacency)!r}. Pass one relation."
            )

    def _delta(self, epsilon: FloatArray) -> FloatArray:
        out: FloatArray = np.min([g._bounded(epsilon) for g in self.parts], axis=0)
        return out

    def _delta_directed(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
        both = np.min([g._delta_directed(epsilon) for g in self.parts], axis=0)
        return both[0], both[1]

    def _pure_epsilon(self) -> float:
        return min(g._pure_epsilon() for g in self.parts)

    def _tradeoff(self, alpha: FloatArray) -> FloatArray:
        out: FloatArray = np.max([g._clipped_tradeoff(alpha) for g in self.parts], 0)
        return out

    def _group(self, k: int) -> "Simultaneous":
        return self._with(tuple(g.group(k) for g in self.parts))

    def _to_replace_one(self) -> "Simultaneous":
        parts = tuple(g.to_replace_one() for g in self.parts)
        return self._with(parts, adjacency=Adjacency.REPLACE_ONE)
