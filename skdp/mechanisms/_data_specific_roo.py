r"""Reveal or obscure with a probability that falls as the rarest symbol gets common.

Notation (derived in docs/proofs/data_specific_roo.md)
------------------------------------------------------
m        least count over all k declared symbols, 0 to L = floor(n / k)
q_m      probability to obscure at least count m          -> ``obscured[m] / 2**bits``
P_m(i)   probability of a symbol with count i, ``q_m / k + (1 - q_m) i / n``
r_j      for k = 2: probability of the rarer symbol, with count j  -> ``obscured[j]``
E        a rational number at most exp(epsilon)
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, Self

import numpy as np

from skdp._typing import FloatArray, IntArray
from skdp.accounting import Adjacency, Guarantee, PureDP
from skdp.mechanisms._base import require
from skdp.mechanisms._count_sampler import CountSampler
from skdp.mechanisms._rational_exponential import exp_below, log_above
from skdp.mechanisms._reveal_or_obscure import share_of, total_of

__all__ = ["DataSpecificROO"]

_SOURCE = "data-specific reveal or obscure, docs/proofs/data_specific_roo.md"
#: Finest grid of the probabilities, and bits of the total of the weights.
_FINEST, _TOTAL_BITS = 40, 55
#: Longest table. Beyond (epsilon below 1e-5 or so) RevealOrObscure serves.
_LONGEST = 1 << 17


@dataclass(frozen=True, kw_only=True, slots=True)
class DataSpecificROO(CountSampler):
    r"""Obscure with probability q_m, where m is the count of the rarest symbol.

    Symbol y has probability :math:`q_m/k + (1-q_m)\,c_y/n`. The sequence q_m is public
    and the smallest possible; it reaches 0 at a finite m. For two symbols the
    probabilities themselves are tabulated. Build one with :meth:`calibrate`.

    Parameters
    ----------
    n_categories : int
        Number k of declared symbols, at least 2.
    n_rows : int
        Public number n of records.
    group_size : int
        Records one person may own.
    adjacency : Adjacency
        Replace-one; for add-remove there is no proof.
    n_draws : int
        Number of independent draws of one release.
    obscured : tuple of int
        For k >= 3 the q_m, then 0; for k = 2 the r_j, then the share j / n of the data;
        both times ``2**bits``.
    bits : int
        Binary places of these.

    Privacy
    -------
    ``n_draws * group_size`` times the logarithm of the largest ratio of probabilities
    of replace-one neighbours, computed in exact arithmetic from the integers. Proof in
    docs/proofs/data_specific_roo.md.

    References
    ----------
    Tasnim, Gilani, Sankar and Kosut, "Reveal-or-obscure: a differentially private
    sampling algorithm for discrete distributions", 2025.

    Examples
    --------
    >>> from skdp.accounting import PureDP
    >>> from skdp.mechanisms import DataSpecificROO
    >>> target = PureDP(0.7, adjacency="replace-one")
    >>> mechanism = DataSpecificROO.calibrate(target, n_categories=3, n_rows=12)
    >>> mechanism.obscure_probabilities
    array([0.19782351, 0.06321437, 0.        , 0.        ])
    """

    obscured: tuple[int, ...]
    bits: int

    @classmethod
    def calibrate(
        cls,
        target: PureDP,
        *,
        n_categories: int,
        n_rows: int,
        group_size: int = 1,
        n_draws: int = 1,
    ) -> Self:
        """Return the instance that obscures least among those that meet the target.

        Parameters
        ----------
        target : PureDP
            What all draws together may cost; replace-one.
        n_categories : int
            Number of declared symbols, at least 2.
        n_rows : int
            The public number of records.
        group_size : int, default=1
            Records one person may own; each costs its share.
        n_draws : int, default=1
            How many draws.

        Returns
        -------
        DataSpecificROO
            Its ``guarantee`` implies ``target``.

        Raises
        ------
        ValueError
            If epsilon is so small that the table would be too long. That depends on
            the arguments alone.
        """
        made = cls.smallest(
            target,
            n_categories=n_categories,
            n_rows=n_rows,
            group_size=group_size,
            n_draws=n_draws,
        )
        if made is None:
            raise ValueError(
                f"the table of q_m has more than {_LONGEST} entries: epsilon is too "
                "small for one draw. Allowed: from about 1e-5, or fewer records. Use "
                "RevealOrObscure."
            )
        return made

    @classmethod
    def smallest(
        cls,
        target: PureDP,
        *,
        n_categories: int,
        n_rows: int,
        group_size: int = 1,
        n_draws: int = 1,
    ) -> Self | None:
        """Return what :meth:`calibrate` returns, or None where that raises."""
        share = share_of(target, n_draws * group_size)
        found = _sequence(share, n_categories, n_rows)
        if found is None:
            return None
        obscured, bits = found
        made = cls(
            n_categories=n_categories,
            n_rows=n_rows,
            group_size=group_size,
            n_draws=n_draws,
            adjacency=target.adjacency,
            obscured=obscured,
            bits=bits,
        )
        require(
            made._ratio() <= exp_below(share),
            "one record would change a probability by more than epsilon",
        )
        return made

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold."""
        CountSampler.__post_init__(self)
        require(self.n_rows is not None, "there is no proof for add-remove")
        require(self.n_categories >= 2, "n_categories must be at least 2")
        require(
            all(0 <= a <= 1 << self.bits for a in self.obscured),
            "obscured must hold probabilities",
        )
        require(0 < self.bits < 63, "bits must be from 1 to 62")
        require(self._ratio() >= 1, "obscured must hold probabilities")

    def _ratio(self) -> Fraction:
        n = self.n_rows or 0
        worst = _worst_of_two if self.n_categories == 2 else _worst
        return worst(self.obscured, self.bits, self.n_categories, n)

    @property
    def epsilon_per_draw(self) -> float:
        """Pure epsilon of one draw for one record, from the integers, rounded up."""
        return log_above(self._ratio())

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of all draws together."""
        times = self.n_draws * self.group_size
        return PureDP(
            total_of(self.epsilon_per_draw, times),
            adjacency=self.adjacency,
            assumptions=self._assumptions(),
            source=_SOURCE,
        )

    def weights(self, counts: IntArray) -> np.ndarray[Any, Any]:
        """Return the integers ``n a_m + k (2**bits - a_m) c`` that q_m stands for."""
        least, one = int(counts.min()), 1 << self.bits
        if self.n_categories == 2:
            rare = self._rare(least)
            heavy = np.array([rare, one - rare], dtype=np.int64)
            return heavy if counts[0] <= counts[1] else heavy[::-1]
        a = self._at(least)
        scale = self.n_categories * (one - a)
        wide = self.n_categories * (self.n_rows or 0) << self.bits >= 1 << 62
        kind: Any = object if wide else np.int64
        line: np.ndarray[Any, Any] = a * (self.n_rows or 0) + scale * counts.astype(
            kind
        )
        return line

    def _rare(self, least: int) -> int:
        """Return the weight of the rarer of two symbols."""
        if least < len(self.obscured):
            return self.obscured[least]
        return _share(least, self.bits, self.n_rows or 0)

    def _at(self, least: int) -> int:
        return self.obscured[least] if least < len(self.obscured) else 0

    @property
    def obscure_probabilities(self) -> FloatArray:
        """The public sequence q_0, q_1, ... until it is 0, or up to floor(n / k)."""
        n, k, one = self.n_rows or 0, self.n_categories, 1 << self.bits
        m = range(min(n // k + 1, len(self.obscured) + 1))
        if k > 2:
            return np.array([self._at(j) / one for j in m])
        levels = [
            (Fraction(self._rare(j), one) - Fraction(j, n))
            / (Fraction(1, 2) - Fraction(j, n))
            if 2 * j < n
            else Fraction(0)
            for j in m
        ]
        return np.array([float(q) for q in levels])

    def accuracy_bound(self, n_rows: int) -> float:
        """Bound the distance of one draw's law from any data of ``n_rows`` records.

        Parameters
        ----------
        n_rows : int
            The number of records the mechanism was calibrated for.

        Returns
        -------
        float
            Total variation distance, attained when all records are equal.
        """
        require(n_rows == self.n_rows, f"n_rows must be {self.n_rows}")
        return float(self.obscure_probabilities[0]) * (1.0 - 1.0 / self.n_categories)

    @classmethod
    def audit_instances(cls) -> Iterator[Self]:
        """Yield few and many symbols, small and large epsilon."""
        for epsilon, k, n, m in ((1.0, 5, 40, 1), (0.1, 7, 300, 1), (1.0, 5, 60, 2)):
            target = PureDP(epsilon, adjacency=Adjacency.REPLACE_ONE)
            yield cls.calibrate(target, n_categories=k, n_rows=n, n_draws=m)


@lru_cache(maxsize=256)
def _sequence(epsilon: float, k: int, n: int) -> tuple[tuple[int, ...], int] | None:
    """Return the smallest sequence on a binary grid, rounded up term by term.

    With the bits of that grid; None if it is too long.
    """
    most = exp_below(epsilon)
    if k == 2:  # weights add up to 2**bits; a step of a share needs 2**bits >= n
        bits = max(_FINEST, n.bit_length())
    else:
        # and a coarser grid would keep q_m above 0 for very many m
        bits = _TOTAL_BITS - (k * n).bit_length()
        bits = max(8, min(_FINEST, bits), n.bit_length())
    found = _two_symbols(most, bits, n) if k == 2 else _recursion(most, bits, k, n)
    return (tuple(found), bits) if len(found) <= _LONGEST else None


def _recursion(most: Fraction, bits: int, k: int, n: int) -> list[int]:
    """Return q_m for m = 0, 1, ... until it is 0 for good, or there are too many."""
    one = 1 << bits
    out: list[int] = []
    for m in range(n // k + 1):
        bounds = [_step_bound(most, m, k, n)]
        if m > 0:
            bounds += _switch_bounds(most, out[-1], one, m, k, n)
        # a fraction of one, rounded up; integers, as there may be very many
        out.append(max(0, *(-(-one * top // bottom) for top, bottom in bounds)))
        done = out[-1] == 0 and m * (most - 1) >= 1
        if done or len(out) > _LONGEST:
            break
    return out


def _step_bound(most: Fraction, m: int, k: int, n: int) -> tuple[int, int]:
    """Family S: the rarest symbol gains a record and another one stays as rare."""
    if m == n // k and n % k == 0:
        return 0, 1
    E, F = most.numerator, most.denominator  # the E above is their quotient
    rest = k * (F - m * (E - F))
    return (rest, n * (E - F) + rest) if rest > 0 else (0, 1)


def _switch_bounds(
    most: Fraction, a: int, one: int, m: int, k: int, n: int
) -> list[tuple[int, int]]:
    """Families L and H: the least count rises from m - 1, obscured by a / one, to m."""
    E, F = most.numerator, most.denominator

    def law(i: int) -> int:
        """Return ``k n one P_{m-1}(i)``."""
        return a * n + (one - a) * k * i

    bounds = []
    if k * m < n:
        gain = F * law(m + 1) - E * one * k * m
        bounds.append((gain, E * one * (n - k * m)))
    heavy = n - (k - 1) * m
    if k * heavy > n:
        gain = F * one * k * heavy - E * law(heavy)
        bounds.append((gain, F * one * (k * heavy - n)))
    return bounds


def _two_symbols(most: Fraction, bits: int, n: int) -> list[int]:
    """Return r_j from the balanced end down, as far as it is not the data's share."""
    one, last = 1 << bits, n // 2
    # beyond, a share j / n grows by less than E, rounded up or not, as 2**bits >= n
    start = min(last, 2 * -(-1 // (most - 1)) + 2, _LONGEST)
    out = [0] * (start + 1)
    out[start] = _share(start, bits, n)
    if start == last:
        half = one >> 1 if n % 2 == 0 else -(-one // (1 + most))
        out[start] = max(out[start], half)
    for j in range(start - 1, -1, -1):
        out[j] = max(_share(j, bits, n), -(-out[j + 1] // most))
    return out


def _share(j: int, bits: int, n: int) -> int:
    """Return ``2**bits j / n``, rounded up."""
    return -(-(j << bits) // n)


@lru_cache(maxsize=256)
def _worst(obscured: tuple[int, ...], bits: int, k: int, n: int) -> Fraction:
    """Return the largest ratio of probabilities over the families S, L and H.

    The proof that there are no others needs a sequence that does not increase.
    """
    require(list(obscured) == sorted(obscured, reverse=True), "q_m must not increase")
    top = n // k
    known = min(len(obscured), top)

    def at(m: int, i: int) -> int:
        """Return ``k n 2**bits P_m(i)``."""
        a = obscured[m] if m < len(obscured) else 0
        return a * n + ((1 << bits) - a) * k * i

    worst = Fraction(1)
    for m in range(known + 1):
        pairs = []
        if m < top or n % k:
            pairs.append((at(m, m + 1), at(m, m)))
        if m > 0:
            heavy = n - (k - 1) * m
            pairs += [(at(m - 1, m + 1), at(m, m)), (at(m, heavy), at(m - 1, heavy))]
        for a, b in pairs:
            require(b > 0, "a symbol that can occur must have a positive weight")
            if a * worst.denominator > worst.numerator * b:
                worst = Fraction(a, b)
    return worst


@lru_cache(maxsize=256)
def _worst_of_two(obscured: tuple[int, ...], bits: int, k: int, n: int) -> Fraction:
    """Bound the ratio of probabilities of two symbols, over all counts.

    Up to the middle r_j does not decrease and is at most a half, so the other symbol's
    probability changes by a smaller factor. Beyond the table shares are rounded up.
    """
    one, last, length = 1 << bits, n // 2, len(obscured)
    law = [*obscured, *(_share(j, bits, n) for j in range(length, last + 1)[:1])]
    require(1 <= length <= last + 1, "obscured must hold one number for each count")
    require(law[0] > 0, "a symbol that can occur must have a positive weight")
    require(law == sorted(law) and 2 * law[-1] <= one, "r_j must rise to a half")
    ratios = [Fraction(b, a) for a, b in pairwise(law)]
    if length < last:
        ratios.append((Fraction(one * (length + 1), n) + 1) / Fraction(one * length, n))
    middle = obscured[last] if length > last else _share(last, bits, n)
    if n % 2:
        ratios.append(Fraction(one - middle, middle))
    else:
        require(2 * middle == one, "equal counts must have equal probabilities")
    return max([Fraction(1), *ratios])
