r"""Weights exp(-x) of rational exponents x, known by proved integer bounds.

Scores q_i are exact numbers: integers, fractions, or floats, each of which is a dyadic
fraction. The exponents are ``x_i = rate (q_best - q_i)``. Nothing is ever rounded to
nearest: bounds of all weights to 31 bits come from tables, bounds to any number of bits
from exact rationals.

Proof of the quick bounds. Let y be the fixed-point exponent, ``y <= 2**32 x < y + 3``.
As exp is 1-Lipschitz on x >= 0, ``exp_lower(y) - 2 < 2**31 exp(-x)``, and
``2**31 exp(-x) < exp_lower(y) + EXCESS`` as x is at least ``y 2**-32``. In Python's
integers y is the integer part itself. In arrays, scores times ``2**k`` are cut to
integers; the power keeps ``c = rate 2**(32-k)`` in (1/8, 1/2), so that ``2**32 x`` is c
times the gap of the scaled scores. The integer gap is off by at most 1 (and next to
nothing where scaling left the range of normal floats), so the integer gap minus 2 is a
lower bound, short by less than 3.01: less than 1.51 units of y. Cutting c to 43 places
and the product of two limbs to an integer costs less than 0.1 and 1.01 more. Exponents
above 25 are taken for 25 or a little less; there ``exp_lower`` is 0 and
``2**31 exp(-x)`` below 1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from skdp._typing import FloatArray, IntArray
from skdp.random._exponential_tables import EXCESS, exp_lower, exp_lower_scalar
from skdp.random._lazy_uniform import floor_exp
from skdp.random._uniform import Words

__all__ = ["ERROR", "Exponents"]

#: Numbers of one kind: integers, floats, or Python numbers in an object array.
Scores: TypeAlias = npt.NDArray[Any]

_CUT = 2
#: Quick bounds L satisfy ``L <= 2**31 exp(-x) < L + ERROR``.
ERROR = EXCESS + _CUT
#: Exponents above this weigh less than the tables resolve.
_LARGEST = 25
#: Fewer candidates are handled faster without arrays.
_MANY = 48


@dataclass(slots=True, eq=False)
class Exponents:
    """The rational numbers ``rate * (scores[best] - scores[i])``, or 0 if negative.

    Attributes
    ----------
    scores : ndarray of shape (n,)
        Finite; objects are int, float or Fraction.
    best : int
        Index of the score that is to have exponent 0.
    rate : Fraction
        Positive.
    """

    scores: Scores
    best: int
    rate: Fraction

    def __len__(self) -> int:
        """Return how many there are."""
        return self.scores.size

    def exact(self, i: int) -> Fraction:
        """Return one exponent."""
        best, score = self.scores[[self.best, i]].tolist()
        return max(self.rate * (Fraction(best) - Fraction(score)), Fraction(0))

    def floors(self, bits: int) -> list[int]:
        """Return the integer parts of ``2**bits exp(-x)``."""
        scores = self.scores.tolist()
        best, known = Fraction(scores[self.best]), {}
        for score in set(scores):
            x = self.rate * (best - Fraction(score))
            known[score] = floor_exp(x, bits) if x > 0 else 1 << bits
        return [known[score] for score in scores]

    def quick(self) -> Sequence[int] | Words:
        """Return L with ``L <= 2**31 exp(-x) < L + ERROR``; a list if there are few."""
        if len(self) < _MANY:
            few = map(exp_lower_scalar, self._fixed_integers())
            return [max(power - _CUT, 0) for power in few]
        fixed = self._fixed_words()
        if fixed is None:
            fixed = np.array(self._fixed_integers(), dtype=np.uint64)
        lower: Words = np.maximum(exp_lower(fixed), np.uint64(_CUT)) - np.uint64(_CUT)
        return lower

    def as_floats(self) -> FloatArray:
        """Return the exponents with a relative error below 2**-51, inf if not finite.

        Not for exact choices: for races in floating point, and for laws to look at.
        """
        doubles = _as_doubles(self.scores)
        if doubles is not None:
            with np.errstate(over="ignore"):
                gaps = np.maximum(doubles[self.best] - doubles, 0.0)
                return np.asarray(gaps * float(self.rate))
        steps, denominator = self._steps()
        a, b = self.rate.numerator, self.rate.denominator * denominator
        end = (b << 1000) // a
        return np.array([n * a / b if n < end else math.inf for n in steps])

    def _steps(self) -> tuple[list[int], int]:
        """Return integer gaps between the scores, and their common denominator."""
        ratios = [score.as_integer_ratio() for score in self.scores.tolist()]
        denominator = math.lcm(*{d for _, d in ratios})
        scaled = [n * (denominator // d) for n, d in ratios]
        best = scaled[self.best]
        return [max(best - n, 0) for n in scaled], denominator

    def _fixed_integers(self) -> list[int]:
        """Return the integer parts of ``2**32 x``, cut at the largest exponent."""
        steps, denominator = self._steps()
        a, b = self.rate.numerator << 32, self.rate.denominator * denominator
        largest = _LARGEST << 32
        end = -(-largest * b // a)
        return [n * a // b if n < end else largest for n in steps]

    def _fixed_words(self) -> Words | None:
        """Return y of the module's proof, or None where 64 bits do not hold it."""
        a, b = self.rate.numerator, self.rate.denominator
        k = 34 + a.bit_length() - b.bit_length()
        c = self.rate * Fraction(2) ** (32 - k)
        scaled = _scaled(self.scores, k)
        if scaled is None:
            return None
        end = -(-(_LARGEST << 32) * c.denominator // c.numerator)
        gap = np.clip(scaled[self.best] - scaled - 2, 0, end).astype(np.uint64)
        factor = np.uint64((c.numerator << 43) // c.denominator)
        low = ((gap & np.uint64((1 << 20) - 1)) * factor) >> np.uint64(20)
        y: Words = ((gap >> np.uint64(20)) * factor + low) >> np.uint64(23)
        return y


def _as_doubles(scores: Scores) -> FloatArray | None:
    """Return the scores as floats if that is exact."""
    if scores.dtype.kind == "f":
        return scores
    if scores.dtype == object:
        return None
    doubles: FloatArray = scores.astype(np.float64)
    # 2**53 itself may be a rounded 2**53 + 1
    return doubles if np.all(np.abs(doubles) < 2.0**53) else None


def _scaled(scores: Scores, k: int) -> IntArray | None:
    """Return the integer parts of ``2**k`` times the scores, if they are not large."""
    doubles = _as_doubles(scores)
    if doubles is None:
        return None
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.ldexp(doubles, k)
    if np.any(np.abs(scaled) >= 2.0**61):
        return None
    out: IntArray = np.floor(scaled).astype(np.int64)
    return out
