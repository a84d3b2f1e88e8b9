r"""Privacy losses of few values that are worse than given ones.

Notation (derived in docs/proofs/reported_perturbation.md, "Evaluation")
------------------------------------------------------------------------
l        a privacy loss; H(e) = E[(1 - exp(e - l))_+] its profile   -> ``hockey_stick``
w        a standard normal variable
D2(e)    profile of a rho-zCDP release                         -> ``concentrated_curve``

A profile is an expectation of convex functions of exp(-l), and a chord lies above a
convex function. So mass moved from a point to two points around it, with the mean of
exp(-l) kept, can only raise a profile.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import ndtr

from skdp._typing import FloatArray
from skdp.accounting._concentrated import concentrated_curve

__all__: list[str] = []

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
#: Relative error of sums and quadrature (measured below 1e-10), added to the bound.
_INFLATION = 1.0 + 1e-9
#: Number of (epsilon, atom) pairs handled at once, to bound the memory.
_CHUNK = 400_000
#: Nodes of the profile of the smoothing, in its widths; beyond, it is below exp(-722).
_FEW_WIDTHS = np.arange(0.05, 6.0, 0.1)
_MANY_WIDTHS = np.geomspace(6.0, 38.0, 16)
_WIDTHS = np.concatenate([_FEW_WIDTHS, _MANY_WIDTHS])
_MARKS = np.concatenate([-_WIDTHS[::-1], _WIDTHS])


@dataclass(frozen=True, eq=False)
class FiniteLaw:
    """A law of finitely many losses: ``masses`` at increasing ``losses``."""

    losses: FloatArray
    masses: FloatArray

    @classmethod
    def of(cls, losses: FloatArray, masses: FloatArray) -> "FiniteLaw":
        """Sort losses of any order, and leave out those without mass."""
        some = np.flatnonzero(masses)
        order = some[np.argsort(losses[some])]
        return cls(losses[order], masses[order])

    @cached_property
    def _above(self) -> FloatArray:
        """Return the mass at each loss or above, summed from the top."""
        out: FloatArray = np.cumsum(self.masses[::-1])[::-1]
        return out

    @cached_property
    def _at_losses(self) -> FloatArray:
        """Return H at each loss: no cancellation spoils it however small they are.

        H(a) exp(-a) is the sum over the steps from b to c above a of the mass above b
        times exp(-b) - exp(-c).
        """
        rise = np.diff(self.losses)
        with np.errstate(divide="ignore"):
            step = np.log(-np.expm1(-rise)) + np.log(self._above[1:])
        logs = np.append(step - self.losses[:-1], -np.inf)
        total = np.logaddexp.accumulate(logs[::-1])[::-1]
        out: FloatArray = np.exp(self.losses + total)
        return out

    def hockey_stick(self, epsilon: FloatArray) -> FloatArray:
        """Return H(eps) for any real eps, from the next loss above."""
        j = np.searchsorted(self.losses, epsilon)
        beyond = j == self.losses.size
        j = np.where(beyond, 0, j)
        gap = np.minimum(epsilon - self.losses[j], 0.0)
        inside = np.exp(gap) * self._at_losses[j] - np.expm1(gap) * self._above[j]
        return np.where(beyond, 0.0, inside)

    def smoothed(self, epsilon: FloatArray, rho: float) -> FloatArray:
        """Bound E[D2(eps - l)] for any real eps, rounded up."""
        losses, masses, certain = concentrated_atoms(rho)
        rows = max(1, _CHUNK // losses.size)
        out = np.empty_like(epsilon)
        for i in range(0, epsilon.size, rows):
            gaps = epsilon[i : i + rows, None] - losses
            out[i : i + rows] = self.hockey_stick(gaps) @ masses
        rounded: FloatArray = np.minimum(certain + out * _INFLATION, 1.0)
        return rounded


@lru_cache(maxsize=8)
def concentrated_atoms(rho: float) -> tuple[FloatArray, FloatArray, float]:
    """Return losses, masses and the mass at infinity of a profile above rho-zCDP's.

    Between nodes the profile is a chord in exp(eps); the mass at a node is the change
    of slope there times exp(eps). A negative one, at a concave corner, is meant.
    """
    if rho == 0.0:
        return np.zeros(1), np.ones(1), 0.0
    nodes = np.sqrt(2.0 * rho) * _MARKS
    delta = concentrated_curve(nodes, rho)
    rise, fall = np.diff(nodes), -np.diff(delta)
    from_left = np.append(1.0 - delta[0], fall / -np.expm1(-rise))
    to_right = np.append(fall / np.expm1(np.minimum(rise, 700.0)), 0.0)
    return nodes, from_left - to_right, float(delta[-1])


def chord_masses(nodes: FloatArray, slope: float) -> FloatArray:
    r"""Return masses :math:`m_k` such that :math:`E f(e^{-sw}) \le \sum m_k f_k`.

    Here :math:`f_k = f(e^{-s x_k})` at the nodes x, s > 0 is the slope, and f any
    convex nonincreasing function within [0, 1]; what lies above the last node is left
    out. The share of a cell that goes to its left end is linear in exp(-s w).
    """
    width = np.diff(nodes)[:, None]
    way = 0.5 * (1.0 + _NODES)
    w = nodes[:-1, None] + width * way
    density = np.exp(-0.5 * w * w) / np.sqrt(2.0 * np.pi) * width * 0.5 * _WEIGHTS
    whole, left_over = slope * width, slope * width * (1.0 - way)
    share = np.exp(left_over - whole) * np.expm1(-left_over) / np.expm1(-whole)
    out: FloatArray = np.zeros_like(nodes)
    out[:-1] += (density * share).sum(axis=1)
    out[1:] += (density * (1.0 - share)).sum(axis=1)
    out[0] += ndtr(nodes[0])
    return out
