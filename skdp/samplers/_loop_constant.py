"""Geometric running time with a public rate: thin the acceptance, or pad the time."""

import math
from dataclasses import dataclass, field

import numpy as np

from skdp._constant_work import accepts, choose
from skdp._typing import FloatArray
from skdp._validation import check_real
from skdp.accounting import Guarantee, Public, RuntimeCost, with_runtime
from skdp.accounting._public import tagged
from skdp.random import RandomSource, uniform
from skdp.samplers._loop_target import LoopTarget, acceptance_range, exponential

__all__ = ["PaddedLoop", "ThinnedLoop"]

_ZERO = Public(0.0)
_EXACT = "the acceptance probability handed to the loop is exact"
_NEAR = "the log error of the acceptance probability handed to the loop is at most {:g}"


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
        # above 0 the promise about p0 is broken; the draw stays exact all the same
        thinning = min(math.log(float(self.p0)) - math.log(rate), 0.0)
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
        cost = RuntimeCost(
            "constant",
            adjacency=output.adjacency,
            assumptions=(acceptance_range(float(self.p0), 1.0), _EXACT),
        )
        return with_runtime(output, cost)


@dataclass(frozen=True, eq=False)
class PaddedLoop:
    """Go on after the acceptance, idly, until the time is Geom(p0).

    Parameters
    ----------
    target : LoopTarget
    p0 : Public
        Rate of the padded time: at most ``p_lo``, and at most half of it when ``tau``
        is positive.
    acceptance : float
        Acceptance probability of the target or an estimate of it, a function of the
        data.
    tau : Public, default=Public(0.0)
        Certified bound on the log error of ``acceptance``.
    p_lo : Public
        Lower bound on the acceptance probability that holds for every data set.

    Raises
    ------
    ValueError
        When ``p0`` is too large for ``p_lo``: then the time would tell without bound.

    Notes
    -----
    An estimate below ``p_lo`` counts as ``p_lo``. The coin that decides whether to pad
    is independent of the draw, and an idle step draws, evaluates and compares what a
    real one does. Exact for any ``tau``; the time costs ``2 tau``, pure.

    Examples
    --------
    >>> from skdp.accounting import Public, PureDP
    >>> from skdp.random import as_random_source, uniform
    >>> from skdp.samplers import LoopTarget, PaddedLoop
    >>> target = LoopTarget(lambda n, source: uniform(n, source)[:, None],
    ...                     lambda x: -2.0 * x[:, 0])
    >>> loop = PaddedLoop(target, Public(0.2), 0.43, Public(0.01), p_lo=Public(0.4))
    >>> loop.draw(as_random_source(0)).shape
    (1,)
    >>> loop.guarantee(PureDP(1.0)).epsilon(0.0)
    1.02
    """

    target: LoopTarget
    p0: Public
    acceptance: float
    tau: Public = _ZERO
    p_lo: Public = field(kw_only=True)

    def __post_init__(self) -> None:
        """Refuse numbers that nobody declared public, and times that tell too much."""
        p0 = tagged("p0", self.p0, 0.0, 1.0, open_low=True)
        tau = tagged("tau", self.tau, 0.0, 10.0)
        p_lo = tagged("p_lo", self.p_lo, 0.0, 1.0, open_low=True)
        most = p_lo / 2.0 if tau > 0.0 else p_lo
        if p0 > most:
            raise ValueError(
                f"p0 is too large for p_lo, got {p0!r} and {p_lo!r}. Allowed: at most "
                f"{most!r}, half of p_lo with an estimated acceptance. Lower p0: the "
                "loop takes 1 / p0 steps on average."
            )
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
        # nearer to the true acceptance, of which p_lo is a lower bound
        rate = max(_probability("acceptance", self.acceptance), float(self.p_lo))
        stop_now = p0 / rate
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
        tau = float(self.tau)
        cost = RuntimeCost(
            "padded",
            Dg=tau,
            adjacency=output.adjacency,
            assumptions=(
                acceptance_range(float(self.p_lo), 1.0),
                _NEAR.format(tau) if tau > 0.0 else _EXACT,
            ),
        )
        return with_runtime(output, cost)
