"""Numerical composition of unlike guarantees: the one door to dp-accounting.

Each profile is discretised from above (connect-the-dots, Doroshenko, Ghazi, Kamath,
Kumar and Manurangsi 2022), once for removing a row and once for adding one; equal ones
are convolved with themselves, then all together, and each direction is read apart.
Only the discrete law and its convolution are taken from dp-accounting. Its accountants
and ready-made laws are not used: they miscount some events and round small epsilons.
"""

import math
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from skdp._typing import FloatArray
from skdp.accounting._guarantee import Guarantee
from skdp.accounting._numbers import INFINITE_EPSILON, first_at_most

__all__: list[str] = []

#: Where a profile is cut: what is left goes to an infinite loss, so it is paid for.
_CUT = 1e-16
#: Grid steps within the reach of the widest profile (about eight of its standard
#: deviations; the relative error of epsilon is then below 1e-6), and of them all.
_STEPS, _MOST_STEPS = 8_000, 200_000
#: Mass given to an infinite loss for what a convolution truncates.
_TRUNCATION = 1e-15
#: Up to this many points are read one by one, and epsilons that exp cannot take.
_FEW, _EXP_LIMIT = 400, 600.0
#: Added to every delta read off: above the rounding of the Fourier transform.
_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class PairProfile:
    """Discrete laws of a composition, for removing a row and for adding one."""

    remove: Any
    add: Any

    def directed(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Read both directions at any real epsilon, rounded up."""
        removed = _read(self.remove, epsilon)
        same = self.add is self.remove
        return removed, removed if same else _read(self.add, epsilon)


@lru_cache(maxsize=8)
def pair_profile(guarantees: tuple[Guarantee, ...]) -> PairProfile:
    """Compose guarantees of one adjacency through their discretised profiles."""
    counts = Counter(guarantees)
    reaches = {g: _reach(g) for g in counts}
    total = sum(reach * counts[g] for g, reach in reaches.items())
    # the widest profile decides; a long list must still fit in memory
    step = max(max(reaches.values()) / _STEPS, total / _MOST_STEPS)
    laws = [_laws(g, reaches[g], step, counts[g]) for g in counts]
    remove = _convolve([pair[0] for pair in laws])
    alike = all(pair[0] is pair[1] for pair in laws)
    add = remove if alike else _convolve([pair[1] for pair in laws])
    return PairProfile(remove, add)


def _import_pmf() -> Any:
    try:
        from dp_accounting.pld import pld_pmf
    except ImportError as error:
        raise ImportError(
            "composing unlike guarantees needs dp-accounting, which is not installed. "
            "Allowed without it: pure and approximate guarantees with at most one of "
            "another notion. Run: pip install 'skdp[accounting]'"
        ) from error
    return pld_pmf


def _reach(g: Guarantee) -> float:
    """Return the epsilon beyond which both directions have reached their floor."""
    ends = []
    for i in (0, 1):

        def curve(e: FloatArray, i: int = i) -> FloatArray:
            return g._delta_directed(e)[i]

        floor = float(curve(np.array([INFINITE_EPSILON]))[0])
        ends.append(first_at_most(curve, floor + _CUT))
    return max(*ends, 1e-12)


def _laws(g: Guarantee, reach: float, step: float, count: int) -> tuple[Any, Any]:
    """Discretise both directions from above and compose each ``count`` times."""
    pld_pmf = _import_pmf()
    last = math.ceil(reach / step) + 1
    marks = np.arange(-last, last + 1)
    points: FloatArray = marks * np.float64(step)

    def law_of(curve: FloatArray) -> Any:
        delta = _convex_minorant(np.clip(curve, 0.0, 1.0), step)
        law = pld_pmf.create_pmf_pessimistic_connect_dots(step, marks, delta)
        law = law.to_dense_pmf()
        _check_mass(law)
        return law.self_compose(count, _TRUNCATION) if count > 1 else law

    removed, added = g._delta_directed(points)
    remove = law_of(removed)
    return remove, remove if np.array_equal(removed, added) else law_of(added)


def _check_mass(law: Any) -> None:
    """Refuse a law that is not one: the symptom of a curve no mechanism can have."""
    mass = 1.0 - float(law.get_delta_for_epsilon(-math.inf))
    if abs(mass) > 1e-6:
        raise RuntimeError(
            f"a discretised profile has total mass {1.0 - mass!r} instead of 1. "
            "This is an error in a _delta_directed method; please report it."
        )


def _convolve(laws: list[Any]) -> Any:
    total = laws[0]
    for law in laws[1:]:
        total = total.compose(law, _TRUNCATION)
    return total


def _read(law: Any, epsilon: FloatArray) -> FloatArray:
    """Read one law.

    Many points are read in one walk through the law, in Python. That walk multiplies by
    exp(eps), so large epsilons are always read one by one.
    """
    out = np.empty_like(epsilon)
    many = epsilon < (_EXP_LIMIT if epsilon.size > _FEW else -math.inf)
    ordered = np.sort(epsilon[many])
    if ordered.size:
        read = law.get_delta_for_epsilon(ordered)
        out[many] = read[np.searchsorted(ordered, epsilon[many])]
    out[~many] = [law.get_delta_for_epsilon(float(e)) for e in epsilon[~many]]
    rounded: FloatArray = np.minimum(out + _ROUNDING, 1.0)
    return rounded


def _convex_minorant(delta: FloatArray, step: float) -> FloatArray:
    """Return the largest curve below ``delta`` that is convex in exp(eps).

    A true profile is convex, so one that lies below the given bound also lies below
    this. Bounds glued from two formulas (zCDP at 0) need it; most pass unchanged.
    """
    delta = np.minimum.accumulate(delta)
    drops = -np.diff(delta)
    # masses of the discrete law, up to a positive factor
    mass = drops[:-1] - drops[1:] * math.exp(-step)
    if (mass >= -1e-14).all():
        return delta
    corners = _lower_hull(delta, step)
    return _chords(delta, corners, step)


def _lower_hull(delta: FloatArray, step: float) -> list[int]:
    """Return the corners of the convex minorant, by the monotone chain."""
    value = delta.tolist()
    hull: list[int] = []
    for k in range(len(value)):
        while len(hull) > 1:
            i, j = hull[-2], hull[-1]
            # slopes of (i, j) and (j, k) against exp(eps), both times exp(eps_j)
            first = (value[j] - value[i]) / -math.expm1((i - j) * step)
            second = (value[k] - value[j]) / math.expm1(min((k - j) * step, 700.0))
            if first < second:
                break
            hull.pop()
        hull.append(k)
    return hull


def _chords(delta: FloatArray, corners: list[int], step: float) -> FloatArray:
    """Evaluate the chords between corners on the whole grid."""
    index = np.arange(delta.size)
    right = np.clip(np.searchsorted(corners, index, "right"), 1, len(corners) - 1)
    j, i = np.array(corners)[right], np.array(corners)[right - 1]
    span = np.expm1(np.minimum((j - i) * step, 700.0))
    share = np.expm1(np.minimum((index - i) * step, 700.0)) / span
    out: FloatArray = delta[i] + (delta[j] - delta[i]) * share
    return out
