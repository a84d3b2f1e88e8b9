"""Synthetic records whose columns are drawn independently of each other."""

from dataclasses import dataclass

import numpy as np

from skdp._typing import IntArray
from skdp.accounting import ApproximateDP, Guarantee, PureDP, compose
from skdp.mechanisms import CountWeights, RevealOrObscure
from skdp.random import RandomSource

__all__ = ["IndependentColumns"]

#: Relative slack for the rounding of shares that are added up.
_DOWN = 1.0 - 2.0**-44


@dataclass(frozen=True, slots=True)
class IndependentColumns:
    """One sampler a column; a record of n draws is one draw of each.

    A replaced record changes every column, so the losses of all draws add up.

    Attributes
    ----------
    samplers : tuple of mechanism
        One a column.
    guarantee : Guarantee
        Of all draws of all columns.
    """

    samplers: tuple[RevealOrObscure | CountWeights, ...]
    guarantee: Guarantee

    @classmethod
    def calibrate(
        cls,
        target: PureDP | ApproximateDP,
        *,
        sizes: tuple[int, ...],
        n_rows: int | None,
        group_size: int,
        n_draws: int,
    ) -> "IndependentColumns":
        """Return the most accurate samplers that meet the target together."""
        told = [k for k in sizes if k > 1]
        if isinstance(target, ApproximateDP) and told:
            return cls._trinomial(target, sizes, n_rows, group_size, n_draws)
        share = target.epsilon_bound / max(1, len(told)) * _DOWN
        each = PureDP(share, adjacency=target.adjacency)
        samplers = tuple(_pure(each, k, n_rows, group_size, n_draws) for k in sizes)
        return cls(samplers, compose(*(s.guarantee for s in samplers)))

    @classmethod
    def _trinomial(
        cls,
        target: ApproximateDP,
        sizes: tuple[int, ...],
        n_rows: int | None,
        group_size: int,
        n_draws: int,
    ) -> "IndependentColumns":
        """Give every column the pseudo-records that the smallest one needs.

        The losses of a larger alphabet are those of the smallest with a part of the
        draws hidden, so as many draws from the smallest bound them.
        """
        told = [k for k in sizes if k > 1]
        whole = RevealOrObscure.calibrate(
            target,
            n_categories=min(told),
            n_rows=n_rows,
            group_size=group_size,
            n_draws=n_draws * len(told),
        )
        samplers = tuple(
            RevealOrObscure(
                n_categories=k,
                n_rows=n_rows,
                group_size=group_size,
                adjacency=target.adjacency,
                n_draws=n_draws,
                table=whole.table,
            )
            for k in sizes
        )
        return cls(samplers, whole.guarantee)

    def accuracy_bounds(self, n_rows: int) -> list[float]:
        """Bound the distance of one draw's law from each column of any data."""
        return [sampler.accuracy_bound(n_rows) for sampler in self.samplers]

    def release(self, codes: IntArray, source: RandomSource) -> IntArray:
        """Draw the records and forget the counts, shape (n_draws, d)."""
        drawn = [
            sampler.release(
                np.bincount(codes[:, j], minlength=sampler.n_categories), source
            ).output
            for j, sampler in enumerate(self.samplers)
        ]
        return np.stack(drawn, axis=1).astype(np.int64)


def _pure(
    target: PureDP, k: int, n_rows: int | None, group_size: int, n_draws: int
) -> RevealOrObscure | CountWeights:
    """Return the envelope, or the line where that is as good."""
    steep = CountWeights.steepest(
        target,
        profile="envelope",
        n_categories=k,
        n_rows=n_rows,
        group_size=group_size,
        n_draws=n_draws,
    )
    if steep is not None:
        return steep
    return RevealOrObscure.calibrate(
        target, n_categories=k, n_rows=n_rows, group_size=group_size, n_draws=n_draws
    )
