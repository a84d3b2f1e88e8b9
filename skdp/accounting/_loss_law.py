r"""Discrete laws of a sum of losses, each driven by one normal variable.

Notation (docs/proofs/preconditioned.md, "The law of a sum")
-------------------------------------------------------------
w        a standard normal variable
l(w)     a nondecreasing convex loss                              -> ``NormalLoss``
l_j      values floor + j step, at which chords of l are split
q_j      mass at l_j                                                -> ``masses``

Within a cell l is replaced by its chord, which lies above it, and the mass of the cell
by one at each end with the same mean of exp(-l): a spread that raises the mean of every
convex function of exp(-l), so every hockey stick. Both weights are integrals of
positive functions, so small masses are as accurate as large ones.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import ndtr

from skdp._typing import FloatArray
from skdp.accounting._gaussian import gaussian_curve
from skdp.accounting._smoothing import NormalLoss

__all__ = ["LossLaw", "loss_law"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
#: The normal density hardly bends between marks this far apart; it ends at 38.5.
_MARKS = np.linspace(-38.5, 38.5, 309)
#: Relative error of masses and sums (measured below 1e-12), added to the bound.
_INFLATION = 1.0 + 1e-10
#: Beyond this many points a profile is read off a grid, by chords.
_FEW = 200
#: Entries of a table of a Gaussian profile in one standard deviation: a chord costs
#: 3e-6 of the profile five deviations out.
_FINE = 1000.0
#: Sizes that differ by less, relatively, share a table, that of the largest.
_SHARED = 2.0**-36
#: Number of (epsilon, value) pairs handled at once, to bound the memory.
_CHUNK = 500_000


@dataclass(frozen=True, eq=False)
class LossLaw:
    """Masses at ``floor + j step``, and a chance ``lost`` of an infinite loss."""

    floor: float
    step: float
    masses: FloatArray
    lost: float

    def plus(self, other: "LossLaw") -> "LossLaw":
        """Return the law of the sum with an independent loss of the same step."""
        return LossLaw(
            self.floor + other.floor,
            self.step,
            np.convolve(self.masses, other.masses),
            self.lost + other.lost,
        )

    @cached_property
    def _values(self) -> FloatArray:
        return self.floor + np.arange(float(self.masses.size)) * self.step

    def profile(self, epsilon: FloatArray, mu: float) -> FloatArray:
        """Bound the profile together with a Gaussian pair of size ``mu``."""
        if epsilon.size <= _FEW:
            total = self._direct(epsilon, mu)
        else:
            total = self._by_chords(epsilon, mu)
        out: FloatArray = np.minimum(total * _INFLATION + self.lost, 1.0)
        return out

    def _direct(self, epsilon: FloatArray, mu: float) -> FloatArray:
        out = np.empty_like(epsilon)
        rows = max(1, _CHUNK // self.masses.size)
        for i in range(0, epsilon.size, rows):
            gaps = epsilon[i : i + rows, None] - self._values
            out[i : i + rows] = _gaussian(gaps, mu) @ self.masses
        return out

    def _by_chords(self, epsilon: FloatArray, mu: float) -> FloatArray:
        """Evaluate on a grid of the law's own step; profiles are convex in exp(eps).

        Before the grid every loss counts in full, after it none does.
        """
        around = int(np.ceil(_reach(mu) / self.step)) + 1
        position = (epsilon - self.floor) / self.step
        inside = np.clip(position, -around, self.masses.size + around)
        left = np.floor(inside).astype(np.int64)
        first, last = int(left.min()), int(left.max()) + 1
        # value k of the profile meets value j of the law at distance k - j
        distance = np.arange(first - self.masses.size + 1.0, last + 1.0) * self.step
        curve = _gaussian(distance, mu)
        grid = np.convolve(curve, self.masses, mode="valid")
        share = np.expm1((inside - left) * self.step) / np.expm1(self.step)
        low, high = grid[left - first], grid[left - first + 1]
        chord = low + (high - low) * share
        mean = float(self.masses @ np.exp(self.floor - self._values))
        before = 1.0 - np.exp(np.minimum(epsilon - self.floor, 0.0)) * mean
        out: FloatArray = np.where(position < -around, before, chord)
        return out


def _reach(mu: float) -> float:
    """Return from where on the profile of a Gaussian pair has reached its ends."""
    return mu * mu / 2 + 39.0 * mu


@lru_cache(maxsize=8)
def _table(mu: float) -> FloatArray:
    """Tabulate the profile of a Gaussian pair over its reach."""
    n = int(np.ceil(_reach(mu) / mu * _FINE)) + 1
    # half of it by evaluation: delta(-e) = 1 - exp(-e) (1 - delta(e))
    points = np.arange(n + 1.0) * (mu / _FINE)
    half = gaussian_curve(points, mu)
    below = np.exp(-points) * half - np.expm1(-points)
    return np.concatenate([below[:0:-1], half])


def _rounded_up(mu: float) -> float:
    """Return the next number of fewer digits, so that rounding makes no new table."""
    mantissa, exponent = math.frexp(mu)
    return math.ldexp(math.ceil(mantissa / _SHARED) * _SHARED, exponent)


def _gaussian(epsilon: FloatArray, mu: float) -> FloatArray:
    """Evaluate the profile of a Gaussian pair by chords of its table, so from above."""
    mu = _rounded_up(mu)
    out = np.maximum(-np.expm1(np.minimum(epsilon, 0.0)), 0.0)
    near = np.abs(epsilon) <= _reach(mu)
    if mu > 0.0 and near.any():
        table, step = _table(mu), mu / _FINE
        position = epsilon[near] / step
        left = np.floor(position)
        share = np.expm1((position - left) * step) / np.expm1(step)
        index = left.astype(np.int64) + table.size // 2
        out[near] = table[index] + (table[index + 1] - table[index]) * share
    return out


def loss_law(loss: NormalLoss, step: float, *, folded: bool = False) -> LossLaw:
    """Return the law of l(w), or of l(abs(w)) if ``folded``, from above."""
    start = 0.0 if folded else -np.inf
    ends = _cell_ends(loss, step, start)
    floor = float(loss.at(ends[:1])[0])
    borders = np.unique(np.concatenate([ends, np.clip(_MARKS, ends[0], ends[-1])]))
    cell = np.searchsorted(ends, borders[:-1], "right") - 1
    low, high = _split(borders, ends, cell, step)
    n = ends.size
    masses = np.zeros(n)
    masses += np.bincount(cell, low, n)
    masses += np.bincount(cell + 1, high, n)
    if not folded:
        # before the first end the loss is at its floor
        masses[0] += ndtr(ends[0])
    if folded:
        masses *= 2.0
    lost = float(ndtr(-ends[-1])) * (2.0 if folded else 1.0)
    return LossLaw(floor, step, masses, lost)


def _cell_ends(loss: NormalLoss, step: float, start: float) -> FloatArray:
    """Return where the loss takes the values floor, floor + step, ..."""
    flat = loss.values <= loss.values[0]
    first = max(float(loss.knots[flat][-1]), start, _MARKS[0])
    floor, top = loss.at(np.array([first, _MARKS[-1]]))
    levels = floor + step * np.arange(1, int(np.ceil((top - floor) / step)) + 1)
    return np.maximum.accumulate(np.append(first, loss.crossing(levels)))


def _split(
    borders: FloatArray, ends: FloatArray, cell: np.ndarray, step: float
) -> tuple[FloatArray, FloatArray]:
    """Return the mass that each piece gives to the lower and upper end of its cell."""
    half = np.diff(borders)[:, None] / 2
    w = borders[:-1, None] + half * (1.0 + _NODES)
    # the last cell may end where a square overflows
    density = np.exp(-0.5 * np.minimum(w, 50.0) ** 2) / np.sqrt(2.0 * np.pi)
    mass = half * _WEIGHTS * density
    width = np.diff(ends)[cell][:, None]
    share = np.clip((w - ends[cell][:, None]) / width, 0.0, 1.0)
    # the chord rises by step over the cell
    upper = np.expm1(-step * share) / np.expm1(-step)
    return np.sum(mass * (1.0 - upper), axis=1), np.sum(mass * upper, axis=1)
