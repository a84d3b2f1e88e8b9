r"""Squeezed envelopes, and a stopping time that only public coins decide.

Notation (derived in docs/proofs/runtime.md)
--------
a(x)    acceptance of a proposal, within [exp(-2 eta), 1]
eta     half width of the envelope, in logs                         -> ``Stage.eta``
V       uniform coin of a step; accepted when V <= a(x)
s       kappa exp(-2 eta); the loop ends when V <= s                 -> ``kappa``
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from skdp._constant_work import bounded, choose
from skdp._typing import FloatArray
from skdp._validation import check_real
from skdp.accounting import Guarantee, Public, RuntimeCost, with_runtime
from skdp.accounting._public import tagged
from skdp.random import RandomSource
from skdp.samplers._loop_target import LoopTarget, exponential

__all__ = ["SlackSqueeze", "Stage"]

_WITHIN = "log acceptance of a stage is within [-2 eta, 0] everywhere, for all data"
#: At kappa = 0.51 the bound already fails.
_MOST_KAPPA = 0.5


@dataclass(frozen=True, eq=False)
class Stage:
    """A target between an envelope and the same envelope lowered by ``2 eta``.

    Parameters
    ----------
    target : LoopTarget
        With log acceptance within [-2 eta, 0] at every proposal.
    eta : Public
        Half of the width, nats.

    Examples
    --------
    >>> from skdp.accounting import Public
    >>> from skdp.random import uniform
    >>> from skdp.samplers import LoopTarget, Stage
    >>> flat = LoopTarget(lambda n, source: uniform(n, source)[:, None],
    ...                   lambda x: -0.1 * x[:, 0])
    >>> Stage(flat, Public(0.05)).eta
    Public(0.05)
    """

    target: LoopTarget
    eta: Public

    def __post_init__(self) -> None:
        """Refuse a width that nobody declared public."""
        tagged("eta", self.eta, 0.0, 10.0)


@dataclass(frozen=True, eq=False)
class SlackSqueeze:
    """Keep the first accepted proposal; end by a public coin that accepts anything.

    The running time has the same law for all data sets, and so has each of its stages.
    The draw is exact. Seen together they are dependent, which costs ``4 eta`` of the
    first stage, pure.

    Parameters
    ----------
    stages : Stage or sequence of Stage
        Step i uses stage i, and all further steps the last one; widths must not grow.
        One stage makes a plain squeeze, several a deterministic adaptive sampler.
    kappa : float, default=0.5
        Slack, within (0, 0.5]. Above 0.5 the draw tells the time too well: with
        ``kappa = 1``, stopping when the lower envelope accepts, no epsilon holds.

    Examples
    --------
    >>> from skdp.accounting import Public, PureDP
    >>> from skdp.random import as_random_source, uniform
    >>> from skdp.samplers import LoopTarget, SlackSqueeze, Stage
    >>> flat = LoopTarget(lambda n, source: uniform(n, source)[:, None],
    ...                   lambda x: -0.1 * x[:, 0])
    >>> squeeze = SlackSqueeze(Stage(flat, Public(0.05)))
    >>> squeeze.draw(as_random_source(0)).shape
    (1,)
    >>> squeeze.guarantee(PureDP(1.0)).epsilon(0.0)
    1.2
    """

    stages: Stage | Sequence[Stage]
    kappa: float = 0.5

    def __post_init__(self) -> None:
        """Check the slack and the order of the stages."""
        remedy = "Leave it at 0.5; smaller values only take longer."
        allowed = "0 < kappa <= 0.5"
        kappa = check_real("kappa", self.kappa, allowed=allowed, remedy=remedy)
        if not 0.0 < kappa <= _MOST_KAPPA:
            raise ValueError(
                f"kappa is out of range, got {kappa!r}. Allowed: {allowed}. {remedy}"
            )
        stages = (self.stages,) if isinstance(self.stages, Stage) else self.stages
        object.__setattr__(self, "stages", tuple(stages))
        widths = [float(stage.eta) for stage in self._stages]
        growth = [later - one for one, later in pairwise(widths)]
        if not widths or max(growth, default=0.0) > 0.0:
            raise ValueError(
                f"stages are not of falling width, got eta {widths!r}. Allowed: at "
                "least one, none wider than the one before. Order them by eta."
            )

    @property
    def _stages(self) -> tuple[Stage, ...]:
        return tuple(self.stages)  # type: ignore[arg-type]

    def draw(self, source: RandomSource) -> FloatArray:
        """Return one exact draw after a number of steps that no data decide.

        Parameters
        ----------
        source : RandomSource

        Returns
        -------
        ndarray of shape (d,)
        """
        kept, have = np.zeros(1), 0
        step = 0
        while True:
            stage = self._stages[min(step, len(self._stages) - 1)]
            width = 2.0 * float(stage.eta)
            x = stage.target.propose(1, source)
            wait = float(exponential(1, source)[0])
            # a value outside, which only rounding can cause, is moved to the edge
            inside = bounded(stage.target.log_acceptance(x), -width, 0.0)
            taken = int(wait >= -float(inside[0])) * (1 - have)
            kept = choose(taken, x[0], kept)
            have += taken
            step += 1
            if wait >= width - math.log(self.kappa):
                return kept

    def guarantee(self, output: Guarantee) -> Guarantee:
        """Return what the draw and its running time tell, which depend on each other.

        Parameters
        ----------
        output : Guarantee
            Of an exact draw; pure.

        Returns
        -------
        Guarantee
            Covers the running time.
        """
        width = 2.0 * float(self._stages[0].eta)
        cost = RuntimeCost(
            "slack_squeeze",
            p_lo=math.exp(-width),
            p_hi=1.0,
            adjacency=output.adjacency,
            assumptions=(_WITHIN,),
        )
        return with_runtime(output, cost)
