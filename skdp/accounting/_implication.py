"""When one guarantee implies another, decided to the safe side."""

import math

import numpy as np

from skdp._typing import FloatArray
from skdp.accounting._approximate import ApproximateDP
from skdp.accounting._concentrated import ZeroConcentratedDP
from skdp.accounting._gaussian import GaussianDP
from skdp.accounting._guarantee import Guarantee
from skdp.accounting._numbers import INFINITE_EPSILON
from skdp.accounting._pure import PureDP
from skdp.accounting._simultaneous import Simultaneous
from skdp.accounting._tradeoff import TradeoffDP

__all__: list[str] = []

#: A tie along a whole stretch never settles; give up and answer no.
_MOST_INTERVALS = 10_000


def implied(given: Guarantee, wanted: Guarantee) -> bool:
    """Tell whether ``given`` implies ``wanted``, True only when certain."""
    if given == wanted or _smaller_numbers(given, wanted):
        return True
    if isinstance(wanted, Simultaneous):
        return all(implied(given, part) for part in wanted.parts)
    if isinstance(given, Simultaneous):
        # one alternative may do; only curves can do together what none does alone
        if any(implied(part, wanted) for part in given.parts):
            return True
        if not isinstance(wanted, GaussianDP | TradeoffDP):
            return False
    if isinstance(wanted, PureDP):
        return given.epsilon(0.0) <= wanted.epsilon_bound
    if isinstance(wanted, ApproximateDP):
        # one point of the profile says it all
        reached = given.delta(wanted.epsilon_bound)
        return bool(reached <= wanted.delta_bound)
    if isinstance(wanted, TradeoffDP):
        # the curve is the largest of its lines, so their slopes are all that matters
        slopes = wanted._log_slopes()
        reached, allowed = given._bounded(slopes), wanted._bounded(slopes)
        return bool((reached <= allowed).all())
    if isinstance(wanted, ZeroConcentratedDP):
        return concentrated_cost(given) <= wanted.rho
    if isinstance(wanted, GaussianDP):
        return _dominated(given, wanted)
    # the others compose by more than their profile says, so a profile proves nothing;
    # but what implies one of several releases implies them all together
    parts = [part for part in wanted._components() if part != wanted]
    return any(implied(given, part) for part in parts)


def _smaller_numbers(given: Guarantee, wanted: Guarantee) -> bool:
    """Compare two of one kind: every scalar notion loses more as its numbers grow."""
    if type(given) is not type(wanted):
        return False
    pairs = [(getattr(given, n), getattr(wanted, n)) for n in given._own_fields()]
    if not all(isinstance(number, float) for number, _ in pairs):
        return False
    return all(a <= b for a, b in pairs)


def concentrated_cost(g: Guarantee) -> float:
    """Return a rho such that ``g`` is rho-zCDP; inf when none is known.

    zCDP is a statement about Rényi divergences, which no profile determines, so only
    notions with a theorem count: eps tanh(eps/2) for pure, mu^2/2 for Gaussian.
    """
    if isinstance(g, ZeroConcentratedDP):
        return g.rho
    if isinstance(g, GaussianDP):
        return g.mu * g.mu / 2.0
    pure = g.epsilon(0.0)
    if math.isfinite(pure):
        return pure * math.tanh(pure / 2.0)
    return math.inf


def _dominated(given: Guarantee, wanted: Guarantee) -> bool:
    """Prove delta_given <= delta_wanted for every epsilon >= 0, or say no.

    Both profiles fall, so an interval is settled when the larger one at its left end
    is below the other at its right end; unsettled intervals are halved.
    """
    end = _last_epsilon(given)
    beyond = np.array([end, INFINITE_EPSILON])
    tails = given._bounded(beyond)[0], wanted._bounded(beyond)[1]
    if tails[0] > tails[1]:
        return False
    left = np.linspace(0.0, end, 1025)[:-1]
    width = end / 1024
    while left.size <= _MOST_INTERVALS:
        upper = given._bounded(left)
        if (upper > wanted._bounded(left)).any():
            return False
        open_ = upper > wanted._bounded(left + width)
        if not open_.any():
            return True
        left, width = left[open_], width / 2
        left = _interleave(left, left + width)
    return False


def _last_epsilon(g: Guarantee) -> float:
    """Return where the profile of ``g`` has reached its floor."""
    powers = np.exp2(np.arange(-20.0, 24.0))
    values = g._bounded(powers)
    floor = g._bounded(np.array([INFINITE_EPSILON]))[0]
    done = values <= floor
    return float(powers[int(np.argmax(done))]) if done.any() else INFINITE_EPSILON


def _interleave(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.column_stack([a, b]).ravel()
