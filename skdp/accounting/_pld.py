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
#: Finest grid, nats: the error of epsilon is then below 1e-6.
_FINEST = 1e-4
#: Grid steps within the reach of the narrowest profile, and within that of them all.
_STEPS, _MOST_STEPS = 400, 200_000
#: Mass given to an infinite loss for what a convolution truncates.
_TRUNCATION = 1e-15
#: Number of places where a composed profile is read.
_MARKS = 16_385
#: Added to every delta read off: above the rounding of the Fourier transform.
_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class DirectedProfile:
    """One direction of a composed profile, tabulated from above.

    Between marks a chord in exp(eps) lies above the convex profile; before the first it
    runs to delta = 1 at minus infinity; after the last the floor is all that remains.
    """

    marks: FloatArray
    deltas: FloatArray

    def at(self, epsilon: FloatArray) -> FloatArray:
        """Read the profile at any real epsilon, rounded up."""
        marks, deltas = self.marks, self.deltas
        e = np.minimum(epsilon, marks[-1])
        j = np.clip(np.searchsorted(marks, e, "right"), 1, marks.size - 1)
        span = np.expm1(marks[j] - marks[j - 1])
        share = np.expm1(np.maximum(e, marks[0]) - marks[j - 1]) / span
        inside = deltas[j - 1] + (deltas[j] - deltas[j - 1]) * share
        below = 1.0 - (1.0 - deltas[0]) * np.exp(np.minimum(e - marks[0], 0.0))
        out = np.where(e < marks[0], below, inside) + _ROUNDING
        return np.minimum(out, 1.0)


@lru_cache(maxsize=32)
def pair_profile(
    guarantees: tuple[Guarantee, ...],
) -> tuple[DirectedProfile, DirectedProfile]:
    """Compose guarantees of one adjacency; return (removing a row, adding one)."""
    counts = Counter(guarantees)
    reaches = {g: _reach(g) for g in counts}
    total = sum(reach * counts[g] for g, reach in reaches.items())
    # no coarser than the narrowest profile needs, unless the total forces it
    step = min(_FINEST, min(reaches.values()) / _STEPS)
    step = max(step, total / _MOST_STEPS)
    laws = [_laws(g, reaches[g], step, counts[g]) for g in counts]
    remove, add = (_convolve([pair[i] for pair in laws]) for i in (0, 1))
    return _tabulate(remove, step), _tabulate(add, step)


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
    laws = []
    for curve in g._delta_directed(marks * step):
        delta = _convex_minorant(np.clip(curve, 0.0, 1.0), step)
        law = pld_pmf.create_pmf_pessimistic_connect_dots(step, marks, delta)
        law = law.to_dense_pmf()
        _check_mass(law)
        if count > 1:
            law = law.self_compose(count, _TRUNCATION)
        laws.append(law)
    return laws[0], laws[1]


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


def _tabulate(law: Any, step: float) -> DirectedProfile:
    """Read the law once: each reading walks through the whole of it."""
    floor = float(law.get_delta_for_epsilon(math.inf))
    top = float(law.get_epsilon_for_delta(floor + _TRUNCATION)) + step
    marks = np.linspace(top - (law.size + 1) * step, top, _MARKS)
    return DirectedProfile(marks, np.asarray(law.get_delta_for_epsilon(marks)))


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
    return delta[i] + (delta[j] - delta[i]) * share

