r"""What the running time of a rejection loop costs, by kind of loop.

Notation (derived in docs/proofs/runtime.md)
--------
p      acceptance probability of a proposal; a function of the data
Dg     bound on the log ratio of p between neighbours                -> ``Dg``
B      proposals a batch                                             -> ``batch``
N      independent draws                                             -> ``n_samples``
q      largest acceptance, against which p = q exp(-Dg) is the hardest
"""

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.special import betainc, betaincc

from skdp._typing import FloatArray
from skdp._validation import check_choice, check_count
from skdp.accounting._channel import Channel
from skdp.accounting._geometric import hockey_stick, log_survival
from skdp.accounting._guarantee import Guarantee
from skdp.accounting._numbers import mirrored
from skdp.accounting._public import LARGEST_RATIO, group_ratio, log_ratio, rate
from skdp.accounting._pure import pure_curve

__all__ = ["KINDS", "RuntimeCost"]

#: Kinds of loop, and what an attacker with a clock sees of each.
KINDS = ("constant", "simple", "batched", "truncated", "slack_squeeze", "padded")
#: Batches enumerated one by one; later ones are bounded together.
_MOST_BATCHES = 512
#: Covers the rounding of closed forms (measured below 1e-14, relative).
_ROUND_UP = 1.0 + 2.0**-42


@dataclass(frozen=True, slots=True, repr=False)
class RuntimeCost(Guarantee):
    r"""What the running time of a sampler tells, apart from what it draws.

    ``with_runtime(guarantee, cost)`` joins it with the guarantee of the draw.

    Parameters
    ----------
    kind : str
        - ``"constant"``: the number of steps is public; costs nothing.
        - ``"simple"``: one proposal at a time until one is accepted.
        - ``"batched"``: batches of ``batch`` proposals until one holds an accepted one.
        - ``"truncated"``: one batch; what shows is whether it failed.
        - ``"slack_squeeze"``: acceptance within ``[p_lo, p_hi]`` at every proposal,
          stopped by a public coin of chance at most ``p_lo / 2``. The time alone has a
          public law; the cost is that of seeing it beside the draw.
        - ``"padded"``: idle steps make the time geometric up to the error of the
          acceptance used; ``Dg`` is the bound on that log error.
    p_lo : float, default=0.0
        Public lower bound on the acceptance probability, for every data set.
    p_hi : float, optional
        Public upper bound; required unless the kind is constant or padded. High
        acceptance is no safer: the cost grows with ``p_hi``.
    Dg : float, optional
        Public bound on the log ratio of acceptance probabilities of neighbours, which
        is half of epsilon for an exponential mechanism under a fixed envelope;
        ``log(p_hi / p_lo)`` by default.
    batch : int, default=1
        Proposals a batch, for the kinds ``"batched"`` and ``"truncated"``.
    n_samples : int, default=1
        Independent draws, each with a loop of its own.
    adjacency : Adjacency or str, default="add-remove"
        Which data sets count as neighbours.
    assumptions : tuple of str, default=()
        What the guarantee takes as given.
    source : str, default=""
        Theorem, paper or proof note.
    observes : set of Channel or str, default={"runtime"}
        What the attacker may watch.

    Notes
    -----
    Closed forms for geometric times and sums of them, proved in docs/proofs/runtime.md;
    rounded up. The tangent rule of Dong, Roth and Su (2022) turns the profile into the
    trade-off curve.

    Examples
    --------
    >>> from skdp.accounting import RuntimeCost
    >>> loop = RuntimeCost("simple", p_hi=0.5, Dg=0.5)
    >>> loop.epsilon(1e-6), loop.epsilon(0.0)
    (11.3536..., inf)
    >>> RuntimeCost("batched", p_lo=0.25, p_hi=1.0, batch=97).delta(0.0)
    7.6...e-13
    """

    kind: str
    p_lo: float = 0.0
    p_hi: float | None = None
    Dg: float | None = None
    batch: int = 1
    n_samples: int = 1
    observes: frozenset[Channel] = field(
        default=frozenset({Channel.RUNTIME}), kw_only=True
    )

    def _check(self) -> None:
        check_choice("kind", self.kind, KINDS, remedy="Pick the kind of loop.")
        self._set("p_lo", rate("p_lo", self.p_lo))
        self._set("p_hi", self._checked_p_hi())
        self._set("Dg", self._checked_ratio())
        for name in ("batch", "n_samples"):
            remedy = f"Pass {name} as a public number."
            value = check_count(name, getattr(self, name), minimum=1, remedy=remedy)
            self._set(name, value)

    def _checked_p_hi(self) -> float:
        if self.p_hi is None and self.kind in ("constant", "padded"):
            return 1.0
        if self.p_hi is None:
            raise TypeError(
                f"p_hi is missing for kind {self.kind!r}. Allowed: 0 < p_hi <= 1. Pass "
                "a public upper bound on the acceptance probability; 1.0 always holds."
            )
        p_hi = rate("p_hi", self.p_hi, zero=False)
        if p_hi < self.p_lo:
            raise ValueError(
                f"p_hi is below p_lo, got {p_hi!r} < {self.p_lo!r}. Allowed: "
                "p_lo <= p_hi. Pass bounds that hold for every data set."
            )
        return p_hi

    def _checked_ratio(self) -> float:
        """Return Dg, which never needs to exceed log(p_hi / p_lo)."""
        if self.kind == "constant":
            return 0.0
        if self.kind == "slack_squeeze":
            self._require_p_lo()
        width = math.inf
        if self.kind != "padded" and self.p_lo > 0.0:
            width = math.log(self._high) - math.log(self.p_lo)
        if self.Dg is None and (width == math.inf or self.kind == "padded"):
            raise TypeError(
                f"Dg is missing for kind {self.kind!r}. Allowed: a number from 0 to "
                "100. Pass a public bound on the log ratio of acceptance "
                "probabilities, or p_lo > 0."
            )
        if self.Dg is None:
            return width
        # what was stored for a small p_lo is taken again
        most = LARGEST_RATIO if width == math.inf else max(width, LARGEST_RATIO)
        return min(log_ratio("Dg", self.Dg, most=most), width)

    def _require_p_lo(self) -> None:
        if self.p_lo == 0.0:
            raise ValueError(
                "p_lo is 0 for kind 'slack_squeeze'. Allowed: 0 < p_lo <= p_hi. Pass "
                "the least acceptance of any proposal, exp(-2 eta) of the envelope."
            )

    @property
    def _high(self) -> float:
        return 1.0 if self.p_hi is None else self.p_hi

    @property
    def _ratio(self) -> float:
        return 0.0 if self.Dg is None else self.Dg

    @property
    def _low(self) -> float:
        """Smallest acceptance that a neighbour of the largest one can have."""
        return max(self.p_lo, self._high * math.exp(-self._ratio))

    def _delta(self, epsilon: FloatArray) -> FloatArray:
        pure = self._pure_epsilon()
        if pure < math.inf:
            return mirrored(lambda e: pure_curve(e, pure), epsilon)
        return mirrored(self._nonnegative_delta, epsilon)

    def _pure_epsilon(self) -> float:
        if self.kind == "slack_squeeze":
            # twice the width on each side of the ideal law
            return 2.0 * self.n_samples * self._width()
        if self.kind == "padded":
            return 2.0 * self.n_samples * self._ratio
        return 0.0 if self._ratio == 0.0 else math.inf

    def _width(self) -> float:
        if self.p_lo == 0.0:
            return math.inf
        return math.log(self._high) - math.log(self.p_lo)

    def _nonnegative_delta(self, epsilon: FloatArray) -> FloatArray:
        out = self._single_run(epsilon) if self.n_samples == 1 else self._many(epsilon)
        rounded: FloatArray = np.minimum(out * _ROUND_UP, 1.0)
        return rounded

    def _single_run(self, epsilon: FloatArray) -> FloatArray:
        if self.kind == "truncated":
            return _first_batches(epsilon, self, 1)
        whole = self._simple(epsilon)
        if self.kind == "simple" or self.batch == 1:
            return whole
        n = self._n_enumerated()
        # later batches: their events are events of the whole, and all of them together
        # need that many failures
        rest = math.exp(float(log_survival((n + 1.0) * self.batch, self.p_lo)))
        later = np.minimum(whole, rest)
        return np.maximum(_first_batches(epsilon, self, n), later)

    def _n_enumerated(self) -> int:
        if self.p_lo == 0.0:
            return 1
        needed = math.log(1e-30) / (self.batch * math.log1p(-self.p_lo))
        return min(_MOST_BATCHES, math.ceil(needed))

    def _simple(self, epsilon: FloatArray) -> FloatArray:
        """Return both orders of the hardest pair of one loop."""
        low, high = self._low, self._high
        slow = hockey_stick(epsilon, low, high)
        return np.maximum(slow, hockey_stick(epsilon, high, low))

    def _many(self, epsilon: FloatArray) -> FloatArray:
        whole = _sums(epsilon, self._low, self._high, self.n_samples)
        if self.kind == "simple":
            return whole
        # one batch that fails tells everything at worst
        failure = math.exp(float(log_survival(float(self.batch), self.p_lo)))
        every = -math.expm1(self.n_samples * math.log1p(-min(failure, 1 - 2.0**-53)))
        bound = np.full_like(epsilon, every)
        return np.minimum(whole, bound) if self.kind == "batched" else bound

    def _group(self, k: int) -> "RuntimeCost":
        # what the last two kinds compare with is one public law for every data set
        fixed = self.kind in ("constant", "slack_squeeze", "padded")
        ratio = self._ratio
        if not fixed:
            # no pair of data sets is further apart than the public bounds
            width = self._width()
            open_ = width == math.inf
            ratio = group_ratio("Dg", ratio, k) if open_ else min(k * ratio, width)
        return self._with(
            self.kind, self.p_lo, self.p_hi, ratio, self.batch, self.n_samples
        )


def _first_batches(
    epsilon: FloatArray, cost: RuntimeCost, n_batches: int
) -> FloatArray:
    """Return both orders, maximised over the acceptance, for the first batches.

    The gain of "more than m proposals" grows with q up to one point and falls beyond,
    so its maximum over q is where that point is clipped to the allowed range.
    """
    m = cost.batch * np.arange(1.0, n_batches + 1.0)[:, None]
    slow = np.max(_worst_gain(epsilon, m, cost), axis=0)
    # the other order is the mirror image, at minus epsilon and with the sure event
    mirror = np.max(_worst_gain(-epsilon, m, cost), axis=0)
    factor = np.exp(np.minimum(epsilon, 700.0))
    fast = 1.0 - factor + factor * mirror
    out: FloatArray = np.maximum(np.maximum(slow, fast), 0.0)
    return out


def _worst_gain(epsilon: FloatArray, m: FloatArray, cost: RuntimeCost) -> FloatArray:
    """Return max over q of (1-p)^m - e^eps (1-q)^m, p the least allowed beside q."""
    c, high = math.exp(cost._ratio), cost._high
    low = min(high, cost.p_lo * c)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        s = np.exp(-(epsilon + cost._ratio) / np.maximum(m - 1.0, 1e-300))
        best = (1.0 - s) / (1.0 - s / c)
    # without a turning point inside the gain falls
    best = np.where(s >= 1.0, low, best)
    q = np.clip(np.nan_to_num(best, nan=high), low, high)
    p = np.maximum(cost.p_lo, q / c)
    with np.errstate(divide="ignore"):
        stay, leave = m * np.log1p(-p), m * np.log1p(-q)
    out: FloatArray = np.exp(stay) - np.exp(np.minimum(epsilon, 700.0) + leave)
    return out


def _sums(epsilon: FloatArray, low: float, high: float, n: int) -> FloatArray:
    """Return both orders for the sum of n geometric times, which is sufficient.

    The likelihood ratio of two sums is monotone, so the best events are thresholds, and
    where they lie is known in closed form.
    """
    slow = np.zeros_like(epsilon)
    fast = np.zeros_like(epsilon)
    factor = np.exp(np.minimum(epsilon, 700.0))
    for shift in (-1.0, 0.0, 1.0):  # rounding may move a threshold by one
        k = np.maximum(_last_sum(epsilon, low, high, n) + shift, n)
        after = _longer(k, low, n) - factor * _longer(k, high, n)
        slow = np.maximum(slow, after)
        k = np.maximum(_last_sum(epsilon, high, low, n) + shift, n)
        until = _shorter(k, high, n) - factor * _shorter(k, low, n)
        fast = np.maximum(fast, until)
    return np.maximum(slow, fast)


def _last_sum(epsilon: FloatArray, p: float, q: float, n: int) -> FloatArray:
    """Return the last sum k at which (p/q)^n ((1-p)/(1-q))^(k-n) is on one side."""
    if 1.0 in (p, q):
        return np.full_like(epsilon, float(n))
    step = math.log1p(-p) - math.log1p(-q)
    start = n * (math.log(p) - math.log(q))
    out: FloatArray = n + np.floor((epsilon - start) / step)
    return out


def _longer(k: FloatArray, p: float, n: int) -> FloatArray:
    """Return the chance that n geometric times add up to more than k >= n."""
    out: FloatArray = betaincc(n, k - n + 1.0, p)
    return out


def _shorter(k: FloatArray, p: float, n: int) -> FloatArray:
    """Return the chance that n geometric times add up to k >= n or less."""
    out: FloatArray = betainc(n, k - n + 1.0, p)
    return out
