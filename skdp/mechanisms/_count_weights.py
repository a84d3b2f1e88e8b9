r"""Draws with weights g(c_y) that are flatter than the counts where it matters.

Notation (derived in docs/proofs/count_weights.md)
--------------------------------------------------
g        weight of a symbol by its count                               -> ``table``
m        number of draws                                             -> ``n_draws``
G        records one person may own                               -> ``group_size``
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from skdp._typing import IntArray
from skdp.accounting import Adjacency, Guarantee, PureDP
from skdp.mechanisms._base import require
from skdp.mechanisms._count_sampler import CountSampler
from skdp.mechanisms._profiles import accuracy, envelope, minimax
from skdp.mechanisms._rational_exponential import exp_below, log_above
from skdp.mechanisms._reveal_or_obscure import share_of, total_of
from skdp.mechanisms._weight_table import WeightTable, worst_ratio

__all__ = ["CountWeights"]

_SOURCE = "weights by count, docs/proofs/count_weights.md"
_BUILDERS = {"envelope": envelope, "minimax": minimax}


@dataclass(frozen=True, kw_only=True, slots=True)
class CountWeights(CountSampler):
    r"""Draw symbol y with probability :math:`g(c_y)/\sum_z g(c_z)`.

    The profile g is a public table of integers. The ``"envelope"`` is the least one
    above the counts that one record cannot steepen; dense data come out exactly. The
    ``"minimax"`` profile misses counts by the same amount above and below, and is best
    on the worst data. Build one with :meth:`calibrate`.

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
        The profile.
    epsilon : float
        Bound in nats on the loss of one draw; fields that break it are refused.

    Privacy
    -------
    ``n_draws`` times the logarithm of the largest ratio of probabilities, computed in
    exact arithmetic from the table. Proof in docs/proofs/count_weights.md.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.accounting import PureDP
    >>> from skdp.mechanisms import CountWeights
    >>> target = PureDP(1.0, adjacency="replace-one")
    >>> mechanism = CountWeights.calibrate(
    ...     target, profile="envelope", n_categories=3, n_rows=100)
    >>> weights = mechanism.weights(np.array([60, 39, 1]))
    >>> weights / weights.sum()
    array([0.6 , 0.39, 0.01])
    """

    table: WeightTable
    epsilon: float

    @classmethod
    def calibrate(
        cls,
        target: PureDP,
        *,
        profile: Literal["envelope", "minimax"],
        n_categories: int,
        n_rows: int | None = None,
        group_size: int = 1,
        n_draws: int = 1,
    ) -> Self:
        """Return the instance with the steepest profile that meets the target.

        Parameters
        ----------
        target : PureDP
            What all draws together may cost.
        profile : {"envelope", "minimax"}
            Shape of the weights.
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
        CountWeights
            Its ``guarantee`` implies ``target``.

        Raises
        ------
        ValueError
            If reveal-or-obscure is at least as accurate on the worst data, as it is
            for few records or a tiny epsilon. That depends on the arguments alone.
        """
        found = cls.steepest(
            target,
            profile=profile,
            n_categories=n_categories,
            n_rows=n_rows,
            group_size=group_size,
            n_draws=n_draws,
        )
        if found is None:
            raise ValueError(
                f"profile={profile!r} has no table for these parameters: there are too "
                "few records, or epsilon is too small for one draw. Allowed: settings "
                "in which it is more accurate than RevealOrObscure. Use that."
            )
        return found

    @classmethod
    def steepest(
        cls,
        target: PureDP,
        *,
        profile: Literal["envelope", "minimax"],
        n_categories: int,
        n_rows: int | None = None,
        group_size: int = 1,
        n_draws: int = 1,
    ) -> Self | None:
        """Return what :meth:`calibrate` returns, or None where that raises."""
        share = share_of(target, n_draws)
        table = _BUILDERS[profile](share, n_categories, n_rows, group_size)
        if table is None:
            return None
        return cls(
            n_categories=n_categories,
            n_rows=n_rows,
            group_size=group_size,
            n_draws=n_draws,
            adjacency=target.adjacency,
            table=table,
            epsilon=share,
        )

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold: the proof obligation.

        In exact arithmetic, whatever made the table.
        """
        CountSampler.__post_init__(self)
        require(self.epsilon > 0.0, "epsilon must be above 0")
        ratio = worst_ratio(self.table, self.n_categories, self.n_rows, self.group_size)
        require(
            ratio <= exp_below(self.epsilon),
            "the table lets one record change a probability by more than epsilon",
        )

    def weights(self, counts: IntArray) -> np.ndarray[Any, Any]:
        """Return ``g(c)`` for each symbol."""
        return self.table(counts)

    @property
    def epsilon_per_draw(self) -> float:
        """Pure epsilon of one draw, from the integers used, rounded up."""
        ratio = worst_ratio(self.table, self.n_categories, self.n_rows, self.group_size)
        return min(self.epsilon, log_above(ratio))

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of all draws together."""
        return PureDP(
            total_of(self.epsilon_per_draw, self.n_draws),
            adjacency=self.adjacency,
            assumptions=self._assumptions(),
            source=_SOURCE,
        )

    def accuracy_bound(self, n_rows: int) -> float:
        """Bound the distance of one draw's law from any data of ``n_rows`` records.

        Parameters
        ----------
        n_rows : int
            A number of records, public or hypothetical.

        Returns
        -------
        float
            Total variation distance; attained by equal records if there are enough.
        """
        return accuracy(self.table, self.n_categories, n_rows)

    @classmethod
    def audit_instances(cls) -> Iterator[Self]:
        """Yield both profiles under both relations, several draws, and groups."""
        add, replace = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE
        for profile in ("envelope", "minimax"):
            for target, shape in (
                (PureDP(1.0, adjacency=add), {"n_categories": 5}),
                (PureDP(0.1, adjacency=add), {"n_categories": 7}),
                (PureDP(2.0, adjacency=add), {"n_categories": 5, "group_size": 2}),
                (PureDP(1.0, adjacency=replace), {"n_categories": 5, "n_rows": 40}),
                (PureDP(1.0, adjacency=add), {"n_categories": 5, "n_draws": 2}),
            ):
                yield cls.calibrate(target, profile=profile, **shape)
