r"""Which of many candidates wins a race of noise, in floating point and fast.

Two races: the least ``log(E_i) + x_i`` wins (``-log(E)`` is a Gumbel variable, so this
is choosing with probability proportional to ``exp(-x_i)``), or the largest
``E_i - x_i`` wins (exponential noise), with independent standard exponential E_i.

E is made of a fair coin and a uniform V in (0, 1): ``-log(V/2)``, at least log 2, or
``-log1p(-V/2)``, at most log 2. So both tails are accurate to a few units in the last
place, and none is cut. Only 31 places of V are drawn for all candidates. They bound
every E from one side, and a candidate whose bound already loses to the other bound of
the leader has lost: the few contenders left get all places. What is returned is the
winner of the full race, whose rounding is bounded in docs/proofs/exponential.md.
"""

import math

import numpy as np

from skdp._typing import BoolArray, FloatArray
from skdp.random._exponential_tables import Words32
from skdp.random._source import RandomSource
from skdp.random._uniform import uniform

__all__ = ["exponential_race", "gumbel_race"]

#: Slack of the comparisons that put candidates out; rounding is below 1e-11.
_MARGIN = 1e-9
#: Contenders for whom places are drawn in any case: nearly never are there more.
_CONTENDERS = 16


def gumbel_race(x: FloatArray, source: RandomSource) -> int:
    """Return an index with probability proportional to ``exp(-x)``, x in [0, 300]."""
    words, large = _first_places(x.size, source)
    with np.errstate(divide="ignore"):
        least = np.log(np.where(large, math.log(2), words * 2.0**-32)) + x
    leader = int(np.argmin(least))
    w = int(words[leader])
    if large[leader]:
        most = math.inf if w == 0 else -math.log(w * 2.0**-32)
    else:
        most = -math.log1p(-(w + 1) * 2.0**-32)
    bound = math.log(most) + x[leader] + _MARGIN if most < math.inf else math.inf
    left = np.flatnonzero(least <= bound)
    noise = np.log(_exponentials(words[left], large[left], source))
    return int(left[np.argmin(noise + x[left])])


def exponential_race(x: FloatArray, source: RandomSource) -> int:
    """Return the index of the largest ``E - x``, x in [0, 300]."""
    words, large = _first_places(x.size, source)
    with np.errstate(divide="ignore"):
        most = -np.log(np.where(large, words * 2.0**-32, 0.5)) - x
    leader = int(np.argmax(most))
    w = int(words[leader])
    share = (w + 1) * 2.0**-32
    least = -math.log(share) if large[leader] else -math.log1p(-w * 2.0**-32)
    left = np.flatnonzero(most >= least - x[leader] - _MARGIN)
    noise = _exponentials(words[left], large[left], source)
    return int(left[np.argmax(noise - x[left])])


def _first_places(size: int, source: RandomSource) -> tuple[Words32, BoolArray]:
    """Return 31 places of each V, and each coin."""
    words = np.frombuffer(source.bytes(4 * size), dtype="<u4")
    return words >> np.uint32(1), (words & np.uint32(1)).astype(bool)


def _exponentials(words: Words32, large: BoolArray, source: RandomSource) -> FloatArray:
    """Draw the further places of V and return E."""
    further = uniform(max(words.size, _CONTENDERS), source)[: words.size]
    half = (words + further) * 2.0**-32
    return -np.where(large, np.log(half), np.log1p(-half))
