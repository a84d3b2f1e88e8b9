r"""Several draws without replacement, each through randomised response.

Notation (derived in docs/proofs/subsampled_response.md)
--------------------------------------------------------
m        number of records drawn, without replacement                -> ``n_draws``
r        odds of the true symbol against any other, ``odds / 2**26``    -> ``odds``
G        records one person may own                               -> ``group_size``
h_v      how often symbol v was released
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Self

import numpy as np

from skdp._typing import FloatArray, IntArray
from skdp.accounting import Adjacency, Guarantee, PureDP
from skdp.mechanisms._base import AdjacentPair, Release, require
from skdp.mechanisms._count_sampler import CountMechanism
from skdp.mechanisms._rational_exponential import exp_below, log_above
from skdp.random import RandomSource
from skdp.random._integer_weights import integers_below

__all__ = ["SubsampledResponse"]

_SOURCE = "subsampled randomised response, docs/proofs/subsampled_response.md"
#: Unit of the odds, and the largest odds: beyond, randomness is never used.
_UNIT, _MOST = 1 << 26, 1 << 60


@dataclass(frozen=True, kw_only=True, slots=True)
class SubsampledResponse(CountMechanism):
    r"""Draw m records without replacement and answer for each by randomised response.

    A record's symbol is kept with probability :math:`r/(r+k-1)` and otherwise replaced
    by one of the others. Records that are independent give outputs that are
    independent. Build one with :meth:`calibrate`.

    Parameters
    ----------
    n_categories : int
        Number k of declared symbols, at least 2.
    n_rows : int
        Public number n of records.
    group_size : int
        Records one person may own.
    adjacency : Adjacency
        Replace-one: the share m / n enters the odds.
    n_draws : int
        Number m of outputs, at most ``n_rows``.
    odds : int
        The odds r, times ``2**26``.

    Privacy
    -------
    ``log(1 + (m / n) (r - 1))``, attained; for groups the logarithm of the mean of r to
    the number of their records drawn. Proof in docs/proofs/subsampled_response.md.

    References
    ----------
    Cheu and Nayak, "Differentially private multi-sampling from distributions", 2024.

    Examples
    --------
    >>> from skdp.accounting import PureDP
    >>> from skdp.mechanisms import SubsampledResponse
    >>> target = PureDP(1.0, adjacency="replace-one")
    >>> mechanism = SubsampledResponse.calibrate(
    ...     target, n_categories=9, n_rows=1000, n_draws=10)
    >>> round(mechanism.accuracy_bound(1000), 6)
    0.044241
    """

    n_draws: int
    odds: int

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
        """Return the instance with the largest odds that meets the target.

        Parameters
        ----------
        target : PureDP
            What all draws together may cost; replace-one.
        n_categories : int
            Number of declared symbols, at least 2.
        n_rows : int
            The public number of records.
        group_size : int, default=1
            Records one person may own.
        n_draws : int, default=1
            How many outputs, at most ``n_rows``.

        Returns
        -------
        SubsampledResponse
            Its ``guarantee`` implies ``target``.
        """
        require(n_draws <= n_rows, "n_draws must be at most n_rows")
        most = exp_below(target.epsilon_bound)
        low, high = _UNIT, _MOST
        if _moment(high, n_rows, group_size, n_draws) > most:
            while high - low > 1:
                middle = (low + high) // 2
                if _moment(middle, n_rows, group_size, n_draws) <= most:
                    low = middle
                else:
                    high = middle
        else:
            low = high
        return cls(
            n_categories=n_categories,
            n_rows=n_rows,
            group_size=group_size,
            adjacency=target.adjacency,
            n_draws=n_draws,
            odds=low,
        )

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold."""
        CountMechanism.__post_init__(self)
        require(self.n_rows is not None, "the share of records drawn must be public")
        require(self.n_categories >= 2, "n_categories must be at least 2")
        require(
            1 <= self.n_draws <= (self.n_rows or 0), "n_draws must be at most n_rows"
        )
        require(_UNIT <= self.odds <= _MOST, "odds must be at least 1")

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of all outputs together."""
        ratio = _moment(self.odds, self.n_rows or 0, self.group_size, self.n_draws)
        return PureDP(
            log_above(ratio),
            adjacency=self.adjacency,
            assumptions=self._assumptions(),
            source=_SOURCE,
        )

    @property
    def ideal_guarantee(self) -> Guarantee:
        """The guarantee itself: the draws are exact."""
        return self.guarantee

    @property
    def lattice(self) -> float:
        """Outputs are indices of symbols."""
        return 1.0

    def outcomes(self, data: IntArray) -> FloatArray | None:
        """Return the index of every symbol, if one is drawn."""
        symbols = np.arange(float(self.n_categories))
        return symbols if self.n_draws == 1 else None

    def accuracy_bound(self, n_rows: int) -> float:
        """Bound the distance of the law of one output from any data.

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
        k = self.n_categories
        return float(Fraction((k - 1) * _UNIT, self.odds + (k - 1) * _UNIT))

    def release(self, data: IntArray, source: RandomSource) -> Release[FloatArray]:
        """Draw records, answer for each, and forget the counts.

        Parameters
        ----------
        data : ndarray of int of shape (n_categories,)
            The histogram of the private data.
        source : RandomSource
            Where the randomness comes from.

        Returns
        -------
        Release
            ``output`` holds the indices of the symbols, shape (n_draws,).
        """
        counts = self.counts(data)
        records = distinct_integers(self.n_rows or 0, self.n_draws, source)
        symbols = np.searchsorted(np.cumsum(counts), records, side="right")
        answers = self._respond(symbols, source)
        return Release(output=answers.astype(np.float64), spent=self.guarantee)

    def _respond(self, symbols: IntArray, source: RandomSource) -> IntArray:
        """Keep each symbol with probability r / (r + k - 1), else draw another one."""
        k = self.n_categories
        total = self.odds + (k - 1) * _UNIT
        u = integers_below(total, self.n_draws, source)
        # the first odds integers keep it; each other symbol has _UNIT of the rest
        shift = np.where(u < self.odds, 0, 1 + (u - self.odds) // _UNIT)
        answers: IntArray = (symbols + shift) % k
        return answers

    def log_density(self, output: FloatArray, data: IntArray) -> float:
        """Log probability of the outputs, in order."""
        return self.log_density_on(data)(output)

    def log_density_on(self, data: IntArray) -> Callable[[FloatArray], float]:
        """Return :meth:`log_density` on one histogram.

        A response is ``(1 + (r - 1) [y = x]) / (r + k - 1)``. Multiplied out, records
        that agree are drawn without replacement, so only the numbers of agreeing
        outputs of each symbol matter.
        """
        counts = self.counts(data).tolist()
        n, k, m = self.n_rows or 0, self.n_categories, self.n_draws
        gain = Fraction(self.odds - _UNIT, _UNIT)
        scale = math.log(float(gain + k)) * m

        def law(output: FloatArray) -> float:
            drawn = [int(y) for y in output]
            if not all(0 <= y < k for y in drawn):
                return -math.inf
            agreeing = [Fraction(1)]
            for v, c in enumerate(counts):
                agreeing = _times(agreeing, _placements(drawn.count(v), c))
            terms = (a * gain**s / math.perm(n, s) for s, a in enumerate(agreeing))
            total = sum(terms, Fraction(0))
            return math.log(total.numerator) - math.log(total.denominator) - scale

        return law

    def noise(self, output: FloatArray, data: IntArray) -> FloatArray:
        """Distance from the middle symbol: a finite law has no noise vector."""
        return np.zeros(self.n_draws) + output - (self.n_categories - 1) // 2

    def hard_pairs(self) -> Iterator[AdjacentPair[IntArray]]:
        """Yield an unseen symbol that one person, or her group, makes seen."""
        n, k = self.n_rows or 0, self.n_categories
        left = np.full(k, n // (k - 1), dtype=np.int64)
        left[0] = 0
        left[-1] += n - int(left.sum())
        moved = min(self.group_size, int(left[-1]))
        right = left.copy()
        right[0] += moved
        right[-1] -= moved
        yield AdjacentPair("an unseen symbol is seen", left, right)

    @classmethod
    def audit_instances(cls) -> Iterator[Self]:
        """Yield one and several outputs, and a group."""
        replace = Adjacency.REPLACE_ONE
        for epsilon, k, n, m, g in (
            (1.0, 5, 40, 1, 1),
            (0.5, 6, 30, 1, 2),
            (1.0, 5, 12, 3, 1),
        ):
            yield cls.calibrate(
                PureDP(epsilon, adjacency=replace),
                n_categories=k,
                n_rows=n,
                n_draws=m,
                group_size=g,
            )


@lru_cache(maxsize=4096)
def _moment(odds: int, n: int, group_size: int, m: int) -> Fraction:
    """Return E r^J, J the number of a group's records among m of n without replacement.

    For one record it is ``1 + (m / n) (r - 1)``.
    """
    g, excess = min(group_size, n), odds - _UNIT
    # E (1 + x)^J = sum_s C(g, s) (m)_s / (n)_s x^s
    total = Fraction(0)
    for s in range(min(g, m) + 1):
        share = Fraction(math.comb(g, s) * math.perm(m, s), math.perm(n, s))
        total += share * Fraction(excess**s, _UNIT**s)
    return total


def _placements(h: int, c: int) -> list[Fraction]:
    """Return the numbers of ways in which s of h outputs agree with s of c records."""
    return [Fraction(math.comb(h, s) * math.perm(c, s)) for s in range(h + 1)]


def _times(a: list[Fraction], b: list[Fraction]) -> list[Fraction]:
    out: list[Any] = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            out[i + j] += x * y
    return out


def distinct_integers(bound: int, size: int, source: RandomSource) -> IntArray:
    """Draw ``size`` different integers below ``bound``, uniform over ordered choices.

    Repeated draws keep the first occurrences of uniform integers, which are a uniform
    ordered choice. Where these would be many, the integers are sorted by random keys
    instead, drawn again as a whole in the rare case that two keys are equal.
    """
    if 4 * size > bound:
        while True:
            keys = np.frombuffer(source.bytes(8 * bound), dtype="<u8")
            order = np.argsort(keys, kind="stable")
            if np.all(np.diff(keys[order].astype(np.uint64)) != 0):
                return order[:size].astype(np.int64)
    kept = np.empty(0, dtype=np.int64)
    while kept.size < size:
        drawn = np.concatenate([kept, integers_below(bound, size, source)])
        first = np.sort(np.unique(drawn, return_index=True)[1])
        kept = drawn[first]
    return kept[:size]
