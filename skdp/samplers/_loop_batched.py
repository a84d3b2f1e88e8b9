"""Batches of public size: one of them, or as many as it takes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from skdp._constant_work import accepts, choose, first_rows
from skdp._typing import ArrayLike, FloatArray
from skdp._validation import check_count, check_delta
from skdp.accounting import (
    ApproximateDP,
    Channel,
    Guarantee,
    Public,
    RuntimeCost,
    compose,
    pool_failure,
    pool_size,
    truncation_size,
    with_runtime,
)
from skdp.accounting._public import tagged
from skdp.random import RandomSource
from skdp.samplers._loop_target import LoopTarget, acceptance_range, exponential

__all__ = ["BatchedLoop", "Fallback", "TruncatedLoop"]

#: A fixed public value, or a draw from a public law.
Fallback: TypeAlias = ArrayLike | Callable[[RandomSource], FloatArray]


@dataclass(frozen=True, eq=False)
class _Batches:
    """What truncated and batched loops share: one batch, and its size."""

    target: LoopTarget
    p_lo: Public
    delta: float
    n_samples: int = 1
    batch: int = field(init=False)

    def __post_init__(self) -> None:
        """Check the public numbers and compute the size of a batch."""
        p_lo = tagged("p_lo", self.p_lo, 0.0, 1.0, open_low=True)
        delta = check_delta(self.delta)
        if delta == 0.0:
            raise ValueError(
                "delta is 0. Allowed: above 0, below 1. A batch of public size fails "
                "with positive probability; pass what may be spent on that."
            )
        remedy = "Pass how many draws are wanted."
        n = check_count("n_samples", self.n_samples, minimum=1, remedy=remedy)
        one = n == 1
        size = truncation_size(p_lo, delta) if one else pool_size(n, p_lo, delta)
        object.__setattr__(self, "batch", size)

    def _one_batch(self, source: RandomSource) -> tuple[FloatArray, int]:
        """Return the first accepted proposals, and 1 when there were too few.

        The work is that of ``batch`` proposals, whatever happens.
        """
        x = self.target.propose(self.batch, source)
        wait = exponential(self.batch, source)
        accepted = accepts(self.target.log_acceptance(x), wait)
        failed = int(np.sum(accepted) < self.n_samples)
        return first_rows(x, accepted, self.n_samples), failed

    def _shaped(self, rows: FloatArray) -> FloatArray:
        return rows[0] if self.n_samples == 1 else rows

    def _joint(self, output: Guarantee, kind: str) -> Guarantee:
        """Join the draws with a batch count, or with a failure."""
        relation = output.adjacency
        notes = (acceptance_range(float(self.p_lo), 1.0),)
        if self.n_samples == 1:
            cost = RuntimeCost(
                kind,
                p_lo=float(self.p_lo),
                p_hi=1.0,
                batch=self.batch,
                adjacency=relation,
                assumptions=notes,
            )
            return with_runtime(output, cost)
        failure = pool_failure(self.batch, float(self.p_lo), self.n_samples)
        flag = ApproximateDP(
            0.0,
            failure,
            adjacency=relation,
            assumptions=notes,
            observes=frozenset(Channel),
        )
        return compose(output._watching(frozenset(Channel)), flag)


@dataclass(frozen=True, eq=False)
class TruncatedLoop(_Batches):
    """One batch of public size: fixed work, and a fallback when it fails.

    Parameters
    ----------
    target : LoopTarget
        Its envelope may depend on the data.
    p_lo : Public
        Lower bound on the acceptance probability that holds for every data set.
    delta : float
        Chance of failure, and what it adds to the delta of the draw. There is no factor
        exp(epsilon).
    n_samples : int, default=1
        Draws from the one batch. ``output`` of :meth:`guarantee` then speaks about all.
    fallback : array-like of shape (d,) or callable
        Value on failure: fixed, or ``fallback(source)`` from a public law. Never a
        function of the data, such as the mode or the best proposal so far. Required.

    Attributes
    ----------
    batch : int
        Proposals; a function of public numbers.

    Examples
    --------
    >>> from skdp.accounting import Public, PureDP
    >>> from skdp.random import as_random_source, uniform
    >>> from skdp.samplers import LoopTarget, TruncatedLoop
    >>> target = LoopTarget(lambda n, source: uniform(n, source)[:, None],
    ...                     lambda x: -2.0 * abs(x[:, 0] - 0.3))
    >>> loop = TruncatedLoop(target, Public(0.24), 1e-12, fallback=[0.5])
    >>> loop.batch, loop.draw(as_random_source(0)).shape
    (101, (1,))
    >>> total = loop.guarantee(PureDP(1.0))
    >>> total.delta(1.0) <= 1e-12, total.observes == {"output", "runtime"}
    (True, True)
    """

    fallback: Fallback = field(kw_only=True)

    def draw(self, source: RandomSource) -> FloatArray:
        """Return one draw, or the fallback.

        Parameters
        ----------
        source : RandomSource

        Returns
        -------
        ndarray of shape (d,) or (n_samples, d)
        """
        spare = fallback_value(self.fallback, source)
        rows, failed = self._one_batch(source)
        return self._shaped(choose(failed, spare, rows))

    def guarantee(self, output: Guarantee) -> Guarantee:
        """Return what the draw, failure included, and its fixed time tell.

        Parameters
        ----------
        output : Guarantee
            Of an exact draw.

        Returns
        -------
        Guarantee
            Covers the running time.
        """
        return self._joint(output, "truncated")


@dataclass(frozen=True, eq=False)
class BatchedLoop(_Batches):
    """Batches of public size until one holds enough accepted proposals: exact.

    Parameters
    ----------
    target : LoopTarget
        Its envelope may depend on the data.
    p_lo : Public
        Lower bound on the acceptance probability that holds for every data set.
    delta : float
        Chance that one batch is not enough, and what the number of batches adds to the
        delta of the draw.
    n_samples : int, default=1
        Draws from the one batch. ``output`` of :meth:`guarantee` then speaks about all.
    max_batches : int, optional
        Give up after as many and take the fallback; costs nothing more.
    fallback : array-like of shape (d,) or callable, optional
        As in :class:`TruncatedLoop`; goes with ``max_batches``.

    Attributes
    ----------
    batch : int
        Proposals a batch; a function of public numbers.

    Notes
    -----
    An optimistic ``p_lo`` never spoils the law of the draw, only the claimed delta.

    Examples
    --------
    >>> from skdp.accounting import Public, PureDP
    >>> from skdp.random import as_random_source, uniform
    >>> from skdp.samplers import BatchedLoop, LoopTarget
    >>> target = LoopTarget(lambda n, source: uniform(n, source)[:, None],
    ...                     lambda x: -2.0 * abs(x[:, 0] - 0.3))
    >>> loop = BatchedLoop(target, Public(0.24), 1e-12)
    >>> loop.draw(as_random_source(0)).shape
    (1,)
    >>> loop.guarantee(PureDP(1.0)).delta(1.0) <= 1e-12
    True
    """

    max_batches: int | None = field(default=None, kw_only=True)
    fallback: Fallback | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Check the public numbers and compute the size of a batch."""
        super().__post_init__()
        if (self.max_batches is None) != (self.fallback is None):
            raise ValueError(
                "max_batches and fallback go together, got only one of them. Allowed: "
                "both or none. Say what is returned when the last batch fails."
            )
        if self.max_batches is not None:
            remedy = "Pass after how many batches to give up."
            check_count("max_batches", self.max_batches, minimum=1, remedy=remedy)

    def draw(self, source: RandomSource) -> FloatArray:
        """Return exact draws; a further batch is needed with chance ``delta`` at most.

        Parameters
        ----------
        source : RandomSource

        Returns
        -------
        ndarray of shape (d,) or (n_samples, d)
        """
        rows, failed = self._one_batch(source)
        n_batches = 1
        while failed and n_batches != self.max_batches:
            rows, failed = self._one_batch(source)
            n_batches += 1
        if self.fallback is None:
            return self._shaped(rows)
        spare = fallback_value(self.fallback, source)
        return self._shaped(choose(failed, spare, rows))

    def guarantee(self, output: Guarantee) -> Guarantee:
        """Return what the draw and the number of batches tell.

        Parameters
        ----------
        output : Guarantee
            Of an exact draw.

        Returns
        -------
        Guarantee
            Covers the running time.
        """
        return self._joint(output, "batched")


def fallback_value(fallback: Fallback, source: RandomSource) -> FloatArray:
    """Return the public value that stands in for a failed draw."""
    value = fallback(source) if callable(fallback) else fallback
    out: FloatArray = np.asarray(value, dtype=np.float64)
    return out
