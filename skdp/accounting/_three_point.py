r"""Several draws of which each has three possible losses: +a, -a and 0.

Notation (derived in docs/proofs/reveal_or_obscure.md)
------------------------------------------------------
a        loss of a telling draw                                           -> ``loss``
p        probability of +a; that of -a is :math:`p e^{-a}`                 -> ``gain``
m        number of draws                                               -> ``n_draws``
h, A     numbers of telling draws, and of those with loss +a
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtrc, gammaln

from skdp._typing import FloatArray
from skdp._validation import check_count
from skdp.accounting._guarantee import Guarantee
from skdp.accounting._numbers import mirrored, nonnegative, probability
from skdp.accounting._pure import PureDP

__all__ = ["ThreePointDP"]

#: Relative slack that covers the rounding of the probabilities and of their sum.
_UP = 1.0 + 1e-9
#: Relative error of a binomial tail, at most.
_TAIL_ERROR = 1e-12
#: Numbers of telling draws less likely than exp of this add up to next to nothing,
#: which is added.
_TAIL = -800.0
#: Number of (epsilon, h) pairs handled at once, to bound the memory.
_CHUNK = 1_000_000


@dataclass(frozen=True, slots=True, repr=False)
class ThreePointDP(Guarantee):
    r"""Independent draws with loss +a, -a or 0, accounted exactly.

    The law of one draw on one data set is (p, p e^-a, rest) and on the other one
    (p e^-a, p, rest): the worst pair of a reveal-or-obscure sampler.

    Parameters
    ----------
    loss : float
        The loss a of a telling draw in nats, >= 0.
    gain : float
        Probability p of a telling draw in favour of one data set, within [0, 1).
    n_draws : int
        Number of draws, at least 1.
    adjacency : Adjacency or str, default="add-remove"
        Which data sets count as neighbours.
    assumptions : tuple of str, default=()
        What the guarantee takes as given.
    source : str, default=""
        Theorem, paper or proof note.
    observes : set of Channel or str, default={"output"}
        What the attacker may watch.

    Examples
    --------
    >>> import math
    >>> from skdp.accounting import ThreePointDP
    >>> g = ThreePointDP(math.log(2), 2 / 1009, 10, adjacency="replace-one")
    >>> g.delta(1.5)
    4.048293e-07
    """

    loss: float
    gain: float
    n_draws: int

    def _check(self) -> None:
        self._set("loss", nonnegative("loss", self.loss))
        self._set("gain", probability("gain", self.gain))
        remedy = "Pass the number of draws."
        n_draws = check_count("n_draws", self.n_draws, minimum=1, remedy=remedy)
        self._set("n_draws", n_draws)
        if self._telling > 1.0 + 1e-9:
            raise ValueError(
                f"gain is out of range, got {self.gain!r}. Allowed: gain (1 + "
                "exp(-loss)) <= 1. Pass the probability of a telling draw."
            )

    @property
    def _telling(self) -> float:
        return self.gain * (1.0 + math.exp(-self.loss))

    def _delta(self, epsilon: FloatArray) -> FloatArray:
        return mirrored(self._nonnegative_delta, epsilon)

    def _nonnegative_delta(self, epsilon: FloatArray) -> FloatArray:
        if self.loss == 0.0 or self.gain == 0.0:
            return np.zeros_like(epsilon)
        h, weight, lost = self._telling_law()
        out = np.empty_like(epsilon)
        rows = max(1, _CHUNK // h.size)
        for i in range(0, epsilon.size, rows):
            excess = self._excess(epsilon[i : i + rows, None], h)
            out[i : i + rows] = excess @ weight
        # a loss is at most m a, so nothing is left from there on
        below = epsilon < self.n_draws * self.loss
        return np.where(below, np.minimum((out + lost) * _UP, 1.0), 0.0)

    def _telling_law(self) -> tuple[FloatArray, FloatArray, float]:
        """Return the law of h without its far tails, and a bound on these."""
        m, p = self.n_draws, min(self._telling, 1.0)
        h = np.arange(m + 1.0)
        log_choose = gammaln(m + 1.0) - gammaln(h + 1.0) - gammaln(m - h + 1.0)
        rest = np.log1p(-p) if p < 1.0 else -np.inf
        with np.errstate(invalid="ignore"):
            log_rest = np.where(h < m, (m - h) * rest, 0.0)
        log_law = log_choose + h * math.log(p) + log_rest
        kept = (log_law > _TAIL) & (h > 0)
        lost = m * math.exp(_TAIL)
        return h[kept], np.exp(log_law[kept]), lost

    def _excess(self, epsilon: FloatArray, h: FloatArray) -> FloatArray:
        """Return E max(0, 1 - exp(epsilon - a (2A - h))), A ~ Binomial(h, r).

        With r = e^a / (1 + e^a) the weights ``e^(-a (2A - h))`` turn Binomial(h, r)
        into Binomial(h, 1 - r), so both terms are upper tails from the first A on at
        which the loss exceeds epsilon.
        """
        first = np.floor((h + epsilon / self.loss) / 2.0) + 1.0
        reached = first <= h
        start = np.where(reached, first, h) - 1.0
        r = 1.0 / (1.0 + math.exp(-self.loss))
        n = np.broadcast_to(h, start.shape).astype(np.int64)
        above = bdtrc(start, n, r)
        with np.errstate(over="ignore", invalid="ignore"):
            other = np.exp(np.minimum(epsilon, 700.0)) * bdtrc(start, n, 1.0 - r)
        # the difference of two tails has their errors, not its own
        excess = np.maximum(above - other, 0.0) + _TAIL_ERROR * above
        return np.where(reached, np.minimum(excess, above), 0.0)

    def _pure_epsilon(self) -> float:
        if self.gain == 0.0:
            return 0.0
        return self.n_draws * self.loss * (1.0 + 2.0**-50)

    def _group(self, k: int) -> PureDP:
        """Return what holds whatever the mechanism: losses of a chain add up."""
        return PureDP(
            k * self._pure_epsilon(),
            adjacency=self.adjacency,
            assumptions=self.assumptions,
            source=self.source,
        )
