"""Geometric running time with a public rate: thin the acceptance, or pad the time."""

import math
from dataclasses import dataclass

import numpy as np

from skdp._constant_work import accepts, choose
from skdp._typing import FloatArray
from skdp._validation import check_real
from skdp.accounting import Guarantee, Public, RuntimeCost, with_runtime
from skdp.accounting._public import tagged
from skdp.random import RandomSource, uniform
from skdp.samplers._loop_target import LoopTarget, exponential

__all__ = ["PaddedLoop", "ThinnedLoop"]

_ZERO = Public(0.0)


def _probability(name: str, value: object) -> float:
    """Return an acceptance probability of the data; the message never shows it."""
    number = check_real(name, value, allowed="a number", remedy=f"Pass {name}.")
    return min(max(number, 1e-300), 1.0)


@dataclass(frozen=True, eq=False)
class ThinnedLoop:
    """Accept less often, so that the acceptance probability is the same for all data.

    Parameters
    ----------
    target : LoopTarget
    p0 : Public
        Acceptance after thinning; at most that of every data set.
    acceptance : float
        Exact acceptance probability of the target, a function of the data.

    Notes
    -----
    The running time is Geom(p0), independent of the draw, and costs nothing. An
    acceptance that is only estimated would leave a ratio to be told: pad instead.

    Examples
    --------
    >>> import math
    >>> from skdp.accounting import Public, PureDP
    >>> from skdp.random import as_random_source, uniform
    >>> from skdp.samplers import LoopTarget, ThinnedLoop
    >>> target = LoopTarget(lambda n, source: uniform(n, source)[:, None],
    ...                     lambda x: -2.0 * x[:, 0])
    >>> loop = ThinnedLoop(target, Public(0.2), -math.expm1(-2.0) / 2)
    >>> loop.draw(as_random_source(0)).shape, loop.guarantee(PureDP(1.0)).epsilon(0.0)
    ((1,), 1.0)
    """

    target: LoopTarget
    p0: Public
    acceptance: float

    def __post_init__(self) -> None:
        """Refuse a rate that nobody declared public."""
        tagged("p0", self.p0, 0.0, 1.0, open_low=True)
        _probability("acceptance", self.acceptance)

    def draw(self, source: RandomSource) -> FloatArray:
        """Return one exact draw after Geom(p0) proposals.

        Parameters
        ----------
        source : RandomSource

        Returns
        -------
        ndarray of shape (d,)
        """
        rate = _probability("acceptance", self.acceptance)
        thinning = math.log(float(self.p0)) - math.log(rate)
        while True:
            x = self.target.propose(1, source)
            wait = exponential(1, source)
            if accepts(self.target.log_acceptance(x) + thinning, wait)[0]:
                out: FloatArray = x[0]
                return out

    def guarantee(self, output: Guarantee) -> Guarantee:
        """Return that of the draw, with the running time covered.

        Parameters
        ----------
        output : Guarantee
            Of an exact draw.

        Returns
        -------
        Guarantee
            Covers the running time.
        """
        return with_runtime(output, RuntimeCost("constant", adjacency=output.adjacency))


@dataclass(frozen=True, eq=False)
class PaddedLoop:
    """Go on after the acceptance, idly, until the time is Geom(p0).

    Parameters
    ----------
    target : LoopTarget
    p0 : Public
        Rate of the padded time: at most the acceptance of every data set, and at most
        half of it and of its estimate when ``tau`` is positive.
    acceptance : float
        Acceptance probability of the target or an estimate of it, a function of the
        data.
    tau : Public, default=Public(0.0)
        Certified bound on the log error of ``acceptance``.

    Notes
    -----
    The coin that decides whether to pad is independent of the draw, and an idle step
    draws, evaluates and compares what a real one does. Exact for any ``tau``; the time
    costs ``2 tau``, pure.

    Examples
    --------
    >>> from skdp.accounting import Public, PureDP
    >>> from skdp.random import as_random_source, uniform
    >>> from skdp.samplers import LoopTarget, PaddedLoop
    >>> target = LoopTarget(lambda n, source: uniform(n, source)[:, None],
    ...                     lambda x: -2.0 * x[:, 0])
    >>> loop = PaddedLoop(target, Public(0.2), 0.43, Public(0.01))
    >>> loop.draw(as_random_source(0)).shape
    (1,)
    >>> loop.guarantee(PureDP(1.0)).epsilon(0.0)
    1.02
    """

    target: LoopTarget
    p0: Public
    acceptance: float
    tau: Public = _ZERO

    def __post_init__(self) -> None:
        """Refuse numbers that nobody declared public."""
        tagged("p0", self.p0, 0.0, 1.0, open_low=True)
        tagged("tau", self.tau, 0.0, 10.0)
        _probability("acceptance", self.acceptance)

    def draw(self, source: RandomSource) -> FloatArray:
        """Return one exact draw after a padded number of steps.

        Parameters
        ----------
        source : RandomSource

        Returns
        -------
        ndarray of shape (d,)
        """
        p0 = float(self.p0)
        stop_now = min(1.0, p0 / _probability("acceptance", self.acceptance))
        kept, have = np.zeros(1), 0
        while True:
            x = self.target.propose(1, source)
            wait = exponential(1, source)
            coin = float(uniform(1, source)[0])
            taken = int(accepts(self.target.log_acceptance(x), wait)[0]) * (1 - have)
            # on acceptance the coin decides whether to idle; when idle, when to end
            chance = taken * stop_now + have * p0
            kept = choose(taken, x[0], kept)
            have += taken
            if coin < chance:
                return kept

    def guarantee(self, output: Guarantee) -> Guarantee:
        """Return what the draw and the padded time tell.

        Parameters
        ----------
        output : Guarantee
            Of an exact draw.

        Returns
        -------
        Guarantee
            Covers the running time.
        """
        cost = RuntimeCost("padded", Dg=float(self.tau), adjacency=output.adjacency)
        return with_runtime(output, cost)
