r"""Exact rejection sampling of symmetric log-concave laws on the integers.

The laws are ``P(z)`` proportional to ``exp(-(q z**2 + l |z|))`` with rational q and l:
the discrete Gaussian (l = 0) and the discrete Laplace (q = 0). The construction is that
of Canonne, Kamath and Steinke (2020) with a finer proposal, arranged for vectors.

One candidate, with t a power of two and h = 1/4:

1. block v >= 0 with ``P(v >= k) = exp(-h k)``: the number of k >= 1 for which one
   uniform real is below ``exp(-h k)``;
2. offset j uniform on {0, ..., t - 1}: fair bits; the magnitude is ``m = j + t v``;
3. a fair sign; minus zero is refused, so that zero is not counted twice;
4. acceptance with probability ``exp(-x)``, ``x = q m**2 + l m - h v + c >= 0``: whether
   another uniform real is below ``exp(-x)``.

Proof. Step 1 gives v with probability ``exp(-h v) (1 - exp(-h))``. So a candidate is z
and accepted with probability ``exp(-h v) exp(-x)`` times a constant, that is
``exp(-(q z**2 + l |z|))`` times a constant. Candidates are independent, and the first
``size`` accepted ones are kept, whatever they are: they are independent with the stated
law. Step 4 needs x >= 0. As v <= m / t, for the Gaussian
``x >= q m**2 - (h / t) m + c``, a quadratic whose minimum over real m is
``c - h**2 / (4 q t**2) = 0`` by the choice of c. For the Laplace, ``c = 0`` and
``t l >= h`` make ``x >= (l - h / t) m >= 0``.

Arithmetic. Both comparisons are with real uniforms, of which the first 32 or 31 bits
are drawn for all candidates at once. Integer bounds decide nearly all of them (the
proof is in :meth:`LatticeLaw._quick`); each comparison left open, about one in ten
million, goes on with exact rationals and further bits. No floating-point number occurs.
The number of bytes drawn and the work done do not depend on the values, but for the
comparisons left open.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from skdp._typing import BoolArray, IntArray
from skdp.random._exponential_tables import (
    EXCESS,
    Words32,
    exp_lower,
    geometric_thresholds,
)
from skdp.random._lazy_uniform import LazyUniform
from skdp.random._source import RandomSource
from skdp.random._uniform import Words

__all__ = ["STEP", "LatticeLaw"]

#: h of the module's notation: the decay of the proposal from one block to the next.
STEP = Fraction(1, 4)
#: Candidates handled at once; bounds the memory.
_BATCH = 1 << 15

Integers: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class _Tables:
    """Fixed-point coefficients of the exponent x by block, see ``_quick``."""

    constant: Words
    linear: Words
    quadratic: np.uint64


class LatticeLaw:
    """The law ``P(z)`` proportional to ``exp(-(quadratic z**2 + linear |z|))``.

    Parameters
    ----------
    quadratic, linear : Fraction
        Coefficients q and l, >= 0, one of them positive.
    constant : Fraction
        c of the module's notation.
    width : int
        The block length is ``t = 2**width``. The caller guarantees x >= 0, and for
        width >= 1 also ``q t**2 <= 1/16`` and ``l t <= 1/2``.
    wide : bool
        Whether draws are Python integers in an object array instead of int64.
    """

    def __init__(
        self,
        quadratic: Fraction,
        linear: Fraction,
        constant: Fraction,
        *,
        width: int,
        wide: bool,
    ) -> None:
        self._quadratic, self._linear, self._constant = quadratic, linear, constant
        self._width, self._wide = width, wide
        self._thresholds = geometric_thresholds(STEP)
        self._tables = self._tabulate()
        # Words of a candidate: block, first of the offset, acceptance, rest of offset.
        self._n_words = 3 + max(0, -(-(width - 32) // 32))

    def sample(self, size: int, source: RandomSource) -> IntArray:
        """Return ``size`` independent draws."""
        kept: list[Integers] = []
        missing = size
        while missing > 0:
            # About six candidates in ten are accepted; a second round is rare.
            n_candidates = min(2 * missing + 8, _BATCH)
            accepted = self._round(n_candidates, source)[:missing]
            kept.append(accepted)
            missing -= len(accepted)
        dtype = object if self._wide else np.int64
        draws: IntArray = np.concatenate([np.empty(0, dtype), *kept])
        return draws

    def _round(self, n_candidates: int, source: RandomSource) -> Integers:
        """Draw candidates and return, in order, those accepted."""
        n_bytes = 4 * self._n_words * n_candidates
        words = np.frombuffer(source.bytes(n_bytes), dtype="<u4")
        words = words.reshape(self._n_words, n_candidates)
        block, accepted, undecided = self._quick(words)
        draws = self._signed(words, block)
        if undecided.any():
            for i in np.flatnonzero(undecided):
                draws[i], accepted[i] = self._exact(words[:, i], source)
        negative = (words[2] & 1).astype(bool)
        accepted &= ~(negative & (draws == 0))
        return draws[accepted]

    def _quick(self, words: Words32) -> tuple[Words, BoolArray, BoolArray]:
        """Return blocks, acceptances, and which candidates these are not proved for.

        Block. With the known word w of U and ``F_k = floor(2**32 exp(-h k))``: w < F_k
        proves ``U < exp(-h k)`` and w > F_k the contrary. So only w = F_k is open.

        Acceptance. In units of ``2**-32``, with ``u = j / t`` cut to 32 places,
        ``x = constant[v] + linear[v] u + quadratic u**2``, where constant is the
        exponent at the block's start, ``linear = 2 q t**2 v + l t < 16`` and
        ``quadratic = q t**2 <= 1/16`` (u = 0 if t = 1, whatever they are). Rounding
        down everywhere gives a lower bound, short of x by less than 64 units: 4 for the
        constant, 16 for u and 33 for the linear table (kept at 27 places so that
        products stay below ``2**63``), 4 for the rest. As exp is 1-Lipschitz on x >= 0,
        the bounds P and P + EXCESS of exp at the lower bound make
        ``P - 32 <= 2**31 exp(-x) < P + EXCESS``, and U lies in ``[w, w + 1) 2**-31``.
        """
        place = np.searchsorted(self._thresholds, words[0], side="right")
        block = (len(self._thresholds) - place).astype(np.uint64)
        tables = self._tables
        u = (words[1] & self._offset_mask).astype(np.uint64)
        x = tables.constant[block] + ((tables.linear[block] * u) >> 27)
        x += (((u * u) >> 32) * tables.quadratic) >> 32
        p = exp_lower(x)
        w = (words[2] >> 1).astype(np.uint64)
        accepted = w + 33 <= p
        undecided = ~accepted & (w < p + EXCESS)
        undecided |= self._thresholds[place - 1] == words[0]
        return block, accepted, undecided

    @property
    def _offset_mask(self) -> np.uint32:
        unused = max(0, 32 - self._width)
        return np.uint32((1 << 32) - (1 << unused))

    def _tabulate(self) -> _Tables:
        """Round the coefficients of x down to fixed point, block by block.

        Coefficients enter with 44 places, so that the constant of the last block, 88,
        is short by less than 4 units of ``2**-32``, and are cut at 32, so that products
        stay below ``2**63``. Only t = 1 leads to larger ones. Then u = 0, and blocks
        from 1 on have x > 24 with and without the cut: no bound changes.
        """
        t = 1 << self._width
        a, b = _fixed(self._quadratic * t * t), _fixed(self._linear * t)
        v = np.arange(len(self._thresholds), dtype=np.int64)
        constant = ((a * v + b) * v + _fixed(self._constant)) >> 12
        constant -= int(STEP * 2**32) * v  # exact, as STEP is dyadic
        return _Tables(
            np.maximum(constant, 0).astype(np.uint64),
            np.minimum((2 * a * v + b) >> 17, 1 << 31).astype(np.uint64),
            np.uint64(min(a >> 12, 1 << 31)),
        )

    def _signed(self, words: Words32, block: Words) -> Integers:
        """Return ``+-(j + t v)``; wide laws compute in Python integers."""
        kind = object if self._wide else np.uint64
        offset = words[1].astype(kind)
        for word in words[3:]:
            offset = (offset << 32) | word.astype(kind)
        offset = offset >> (32 * (self._n_words - 2) - self._width)
        magnitude = (block.astype(kind) << self._width) | offset
        if not self._wide:
            magnitude = magnitude.astype(np.int64)
        draws: Integers = np.where(words[2] & 1, -magnitude, magnitude)
        return draws

    def _exact(self, words: Words32, source: RandomSource) -> tuple[int, bool]:
        """Redo one candidate from its words in exact arithmetic, with more bits."""
        first, top, last, *rest = (int(word) for word in words)
        block, uniform = 0, LazyUniform(first, 32, source)
        while uniform.below_exp((block + 1) * STEP):
            block += 1
        for word in rest:
            top = (top << 32) | word
        offset = top >> (32 * (self._n_words - 2) - self._width)
        magnitude = (block << self._width) | offset
        accepted = LazyUniform(last >> 1, 31, source).below_exp(
            self._exponent(magnitude, block)
        )
        return (-magnitude if last & 1 else magnitude), accepted

    def _exponent(self, magnitude: int, block: int) -> Fraction:
        polynomial = (self._quadratic * magnitude + self._linear) * magnitude
        return polynomial - STEP * block + self._constant


def _fixed(coefficient: Fraction) -> int:
    """Return ``floor(2**44 * min(coefficient, 32))``."""
    cut = min(coefficient, Fraction(32))
    return (cut.numerator << 44) // cut.denominator
