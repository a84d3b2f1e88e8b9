r"""Reveal or obscure: show a random record, or else a uniformly random symbol.

Notation (derived in docs/proofs/reveal_or_obscure.md)
------------------------------------------------------
lambda   pseudo-records of each symbol, ``A / B``      -> ``table.intercept / .slope``
q        probability to obscure, ``k lambda / (n + k lambda)``
m        number of draws                                             -> ``n_draws``
G        records one person may own                               -> ``group_size``
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np

from skdp._typing import IntArray
from skdp.accounting import (
    Adjacency,
    ApproximateDP,
    Guarantee,
    PureDP,
    Simultaneous,
    ThreePointDP,
)
from skdp.mechanisms._base import require
from skdp.mechanisms._count_sampler import CountSampler
from skdp.mechanisms._profiles import accuracy, reveal_or_obscure
from skdp.mechanisms._rational_exponential import log_above
from skdp.mechanisms._weight_table import WeightTable, worst_ratio

__all__ = ["RevealOrObscure"]

_SOURCE = "reveal or obscure, docs/proofs/reveal_or_obscure.md"
#: Relative slack that covers the rounding of a product of two floats.
UP = 1.0 + 2.0**-50


@dataclass(frozen=True, kw_only=True, slots=True)
class RevealOrObscure(CountSampler):
    r"""Draw symbol y with probability :math:`(c_y + \lambda)/(n + k\lambda)`.

    That is a uniformly random symbol with probability :math:`q = k\lambda/(n+k\lambda)`
    and a uniformly random record otherwise. Build one with :meth:`calibrate`.

    Parameters
    ----------
    n_categories : int
        Number k of declared symbols.
    n_rows : int or None
        Number of records, public under replace-one; None under add-remove.
    group_size : int
        Records one person may own.
    adjacency : Adjacency
        Neighbouring relation of the guarantee.
    n_draws : int
        Number of independent draws of one release.
    table : WeightTable
        The straight line of weights.

    Privacy
    -------
    Pure: ``n_draws * log(1 + group_size / lambda)``, attained for one draw. Under
    replace-one also the exact curve of ``n_draws`` trinomial losses. Integer
    arithmetic; proof in docs/proofs/reveal_or_obscure.md.

    References
    ----------
    Tasnim, Gilani, Sankar and Kosut, "Reveal-or-obscure: a differentially private
    sampling algorithm for discrete distributions", 2025.

    Examples
    --------
    >>> from skdp.accounting import PureDP
    >>> from skdp.mechanisms import RevealOrObscure
    >>> target = PureDP(1.0, adjacency="replace-one")
    >>> mechanism = RevealOrObscure.calibrate(target, n_categories=9, n_rows=1000)
    >>> round(mechanism.obscure_probability, 6)
    0.00521
    """

    table: WeightTable

    @classmethod
    def calibrate(
        cls,
        target: PureDP | ApproximateDP,
        *,
        n_categories: int,
        n_rows: int | None = None,
        group_size: int = 1,
        n_draws: int = 1,
    ) -> Self:
        """Return the instance that obscures least among those that meet the target.

        Parameters
        ----------
        target : PureDP or ApproximateDP
            What all draws together may cost. A delta above 0 needs replace-one.
        n_categories : int
            Number of declared symbols.
        n_rows : int, optional
            The public number of records; only under replace-one.
        group_size : int, default=1
            Records one person may own.
        n_draws : int, default=1
            How many draws.

        Returns
        -------
        RevealOrObscure
            Its ``guarantee`` implies ``target``.
        """
        per_draw = share_of(target, n_draws)
        table = reveal_or_obscure(per_draw, n_categories, n_rows, group_size)
        shape: dict[str, Any] = {
            "n_categories": n_categories,
            "n_rows": n_rows,
            "group_size": group_size,
            "n_draws": n_draws,
            "adjacency": target.adjacency,
        }
        if isinstance(target, ApproximateDP) and n_categories > 1:
            table = _least_line(cls, table, target, shape)
        return cls(table=table, **shape)

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold."""
        CountSampler.__post_init__(self)
        require(not self.table.head, "the weights of reveal-or-obscure are a line")
        require(self.table.intercept >= 1, "every weight must be positive")

    def weights(self, counts: IntArray) -> np.ndarray[Any, Any]:
        """Return ``A + B c`` for each symbol."""
        return self.table(counts)

    @property
    def epsilon_per_draw(self) -> float:
        """Pure epsilon of one draw, from the integers used, rounded up."""
        ratio = worst_ratio(self.table, self.n_categories, self.n_rows, self.group_size)
        return log_above(ratio)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of all draws together."""
        pure = PureDP(
            total_of(self.epsilon_per_draw, self.n_draws),
            adjacency=self.adjacency,
            assumptions=self._assumptions(),
            source=_SOURCE,
        )
        if self.n_rows is None or self.n_categories == 1:
            return pure
        return Simultaneous(
            (pure, self._trinomial(self.n_rows)),
            adjacency=self.adjacency,
            assumptions=self._assumptions(),
            source=_SOURCE,
        )

    def _trinomial(self, n_rows: int) -> ThreePointDP:
        """Return the exact curve of the worst pair of replace-one neighbours."""
        moved = min(self.group_size, n_rows) * self.table.slope
        least = self.table.intercept
        total = n_rows * self.table.slope + self.n_categories * least
        return ThreePointDP(
            math.log1p(moved / least),
            float(Fraction(moved + least, total)),
            self.n_draws,
            adjacency=self.adjacency,
        )

    @property
    def obscure_probability(self) -> float:
        """Probability q of a uniform symbol; known where ``n_rows`` is public."""
        if self.n_rows is None:
            raise ValueError(
                "the probability to obscure depends on the number of records, which is "
                "private under add-remove. Allowed: replace-one. Use accuracy_bound(n) "
                "for a number n of your choice."
            )
        obscured = self.n_categories * self.table.intercept
        return float(Fraction(obscured, self.n_rows * self.table.slope + obscured))

    def accuracy_bound(self, n_rows: int) -> float:
        """Bound the distance of one draw's law from any data of ``n_rows`` records.

        Parameters
        ----------
        n_rows : int
            A number of records, public or hypothetical.

        Returns
        -------
        float
            Total variation distance, attained when all records are equal.
        """
        return accuracy(self.table, self.n_categories, n_rows)

    @classmethod
    def audit_instances(cls) -> Iterator[Self]:
        """Yield both relations, several draws, and groups."""
        replace, add = Adjacency.REPLACE_ONE, Adjacency.ADD_REMOVE
        for target, shape in (
            (PureDP(1.0, adjacency=add), {"n_categories": 5}),
            (PureDP(0.1, adjacency=add), {"n_categories": 7}),
            (PureDP(8.0, adjacency=add), {"n_categories": 4, "group_size": 3}),
            (PureDP(1.0, adjacency=replace), {"n_categories": 5, "n_rows": 40}),
            (
                ApproximateDP(1.0, 1e-6, adjacency=replace),
                {"n_categories": 5, "n_rows": 400, "n_draws": 4},
            ),
            (PureDP(1.0, adjacency=add), {"n_categories": 5, "n_draws": 3}),
        ):
            yield cls.calibrate(target, **shape)


def share_of(target: PureDP | ApproximateDP, n_draws: int) -> float:
    """Return an epsilon of one draw such that all together stay within the target."""
    return target.epsilon_bound / n_draws / UP if n_draws > 1 else target.epsilon_bound


def total_of(epsilon: float, n_draws: int) -> float:
    """Return what independent draws cost together, rounded up."""
    return epsilon * n_draws * (UP if n_draws > 1 else 1.0)


def _least_line(
    cls: type[RevealOrObscure],
    pure: WeightTable,
    target: ApproximateDP,
    shape: dict[str, Any],
) -> WeightTable:
    """Return the lowest line whose curve of all draws together meets the target.

    A higher line mixes with the uniform law, which is post-processing, so the curve
    falls with the intercept; the pure line is high enough.
    """
    require(shape["n_rows"] is not None, "delta above 0 needs replace-one")

    def is_safe(intercept: int) -> bool:
        mechanism = cls(table=WeightTable((), pure.slope, intercept), **shape)
        return bool(
            mechanism.guarantee.delta(target.epsilon_bound) <= target.delta_bound
        )

    low, high = 0, pure.intercept
    while high - low > 1:
        middle = (low + high) // 2
        if is_safe(middle):
            high = middle
        else:
            low = middle
    return WeightTable((), pure.slope, high)
