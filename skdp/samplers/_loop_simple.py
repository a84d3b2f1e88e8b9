"""The textbook loop: exact, and its running time tells on the data."""

from dataclasses import dataclass

from skdp._constant_work import accepts
from skdp._typing import FloatArray
from skdp.accounting import (
    Channel,
    Guarantee,
    Public,
    RejectionLoopDP,
    RuntimeCost,
    Simultaneous,
    with_runtime,
)
from skdp.accounting._public import tagged
from skdp.random import RandomSource
from skdp.samplers._loop_target import LoopTarget, acceptance_range, exponential

__all__ = ["SimpleLoop"]

_ZERO = Public(0.0)
_RATIO = "the log acceptance probability changes by at most {:g} between neighbours"
_CHANGE = (
    "the log target changes by at most {:g} between neighbours, everywhere, and its "
    "envelope does not"
)


@dataclass(frozen=True, eq=False)
class SimpleLoop:
    """Propose until one proposal is accepted.

    Parameters
    ----------
    target : LoopTarget
    p_hi : Public
        Upper bound on the acceptance probability, for every data set; 1 always holds.
    Dg : Public
        Bound on the log ratio of acceptance probabilities of neighbours, for all of
        them; half of epsilon for an exponential mechanism under a public envelope.
    p_lo : Public, default=Public(0.0)
        Lower bound on the acceptance probability. Equal to ``p_hi`` when the normaliser
        does not depend on the data: then the running time says nothing.
    target_change : Public, optional
        Bound on the change of the log target between neighbours, everywhere: never less
        than the least valid ``Dg``, and half of epsilon for an exponential mechanism.
        Pass it only if the envelope and its constant are the same for all data sets.
        Then draw and time together cost less than their product.

    Examples
    --------
    >>> from skdp.accounting import Public, PureDP
    >>> from skdp.random import as_random_source, uniform
    >>> from skdp.samplers import LoopTarget, SimpleLoop
    >>> target = LoopTarget(lambda n, source: uniform(n, source)[:, None],
    ...                     lambda x: -2.0 * abs(x[:, 0] - 0.3))
    >>> loop = SimpleLoop(target, p_hi=Public(1.0), Dg=Public(0.5))
    >>> loop.draw(as_random_source(0)).shape
    (1,)
    >>> loop.guarantee(PureDP(1.0)).delta(20.0)
    0.39346...
    """

    target: LoopTarget
    p_hi: Public
    Dg: Public
    p_lo: Public = _ZERO
    target_change: Public | None = None

    def __post_init__(self) -> None:
        """Refuse bounds that nobody declared public."""
        tagged("p_hi", self.p_hi, 0.0, 1.0, open_low=True)
        tagged("Dg", self.Dg, 0.0, 100.0)
        tagged("p_lo", self.p_lo, 0.0, float(self.p_hi))
        if self.target_change is not None:
            tagged("target_change", self.target_change, 0.0, 100.0)

    def draw(self, source: RandomSource) -> FloatArray:
        """Return one exact draw; the time it takes is data-dependent.

        Parameters
        ----------
        source : RandomSource

        Returns
        -------
        ndarray of shape (d,)
        """
        while True:
            x = self.target.propose(1, source)
            wait = exponential(1, source)
            if accepts(self.target.log_acceptance(x), wait)[0]:
                out: FloatArray = x[0]
                return out

    def guarantee(self, output: Guarantee) -> Guarantee:
        """Return what the draw and the number of proposals tell together.

        Parameters
        ----------
        output : Guarantee
            Of the draw.

        Returns
        -------
        Guarantee
            Covers the running time.
        """
        p_hi, p_lo, Dg = float(self.p_hi), float(self.p_lo), float(self.Dg)
        relation = output.adjacency
        if self.target_change is not None:
            # acceptances are means of the target over one public law
            Dg = min(Dg, float(self.target_change))
        cost = RuntimeCost(
            "simple",
            p_lo=p_lo,
            p_hi=p_hi,
            Dg=Dg,
            adjacency=relation,
            assumptions=self._assumptions(),
        )
        product = with_runtime(output, cost)
        if self.target_change is None:
            return product
        joint = RejectionLoopDP(
            p_hi, float(self.target_change), p_lo, adjacency=relation
        )
        return Simultaneous(
            (joint, product),
            adjacency=relation,
            assumptions=product.assumptions,
            observes=frozenset(Channel),
        )

    def _assumptions(self) -> tuple[str, ...]:
        p_hi, p_lo, Dg = float(self.p_hi), float(self.p_lo), float(self.Dg)
        notes = [acceptance_range(p_lo, p_hi), _RATIO.format(Dg)]
        if self.target_change is not None:
            notes.append(_CHANGE.format(float(self.target_change)))
        return tuple(note for note in notes if note)
