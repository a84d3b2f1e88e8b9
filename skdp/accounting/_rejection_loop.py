r"""The draw of a rejection loop and its running time, seen together.

Notation (derived in docs/proofs/runtime.md)
--------
X, T    the accepted draw and the number of proposals
g       log of the target density under a public envelope
Dg      bound on |g_D - g_D'| everywhere                            -> ``Dg``
p, q    acceptance probabilities under D and its neighbour; t = p/q
rho     (1-p) / (1-q)
b       mass under D' of the draws with g_D - g_D' = Dg, in the hardest pair
Psi(c)  sum over k of :math:`q (1-q)^{k-1} (c \rho^{k-1} - e^\varepsilon)_+`

delta <= b Psi(e^Dg) + (1-b) Psi(e^-Dg), maximised over p and q. For given t the bound
grows with the larger acceptance, so that one is ``p_hi`` and the maximum is over t.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from skdp._typing import BoolArray, FloatArray, IntArray
from skdp.accounting._channel import Channel
from skdp.accounting._guarantee import Guarantee
from skdp.accounting._numbers import mirrored, within
from skdp.accounting._public import LARGEST_RATIO, group_ratio, log_ratio, rate

__all__ = ["RejectionLoopDP", "joint_loop_delta"]

#: Intervals of t at the start on each side of 1, and most rounds of halving.
_CELLS, _ROUNDS = 32, 60
#: Relative width of the bound at the end: where few intervals matter, and otherwise.
_FINE, _COARSE, _FEW = 1e-9, 1e-5, 64
_ROUND_UP = 1.0 + 2.0**-42


def joint_loop_delta(epsilon: float, p: float, q: float, Dg: float) -> float:
    """Return the tight delta of (draw, running time) at given acceptance rates.

    Parameters
    ----------
    epsilon : float
        Nats, >= 0.
    p, q : float
        Acceptance probabilities under D and under its neighbour, within (0, 1) and
        with a log ratio of at most ``Dg``.
    Dg : float
        Bound on the difference of the log targets, above 0, at most 100.

    Returns
    -------
    float
        Largest over all targets with these numbers.

    Raises
    ------
    ValueError
        When a number is out of range, or no target has these numbers.

    Examples
    --------
    >>> from skdp.accounting import joint_loop_delta
    >>> joint_loop_delta(1.0, 0.3, 0.4, 0.5)
    0.029687...
    """
    epsilon = within("epsilon", epsilon, 0.0, math.inf)
    p, q = (within(name, v, 0.0, 1.0, ends=False) for name, v in [("p", p), ("q", q)])
    Dg = within("Dg", Dg, 0.0, LARGEST_RATIO)
    if Dg == 0.0 or abs(math.log(p) - math.log(q)) > Dg * (1.0 + 1e-9) + 1e-12:
        raise ValueError(
            f"no target has these numbers, got p={p!r}, q={q!r}, Dg={Dg!r}. Allowed: "
            "Dg > 0 and a log ratio of p and q of at most Dg. Pass acceptance "
            "probabilities under one public envelope."
        )
    atoms = _Atoms(np.array([epsilon]), np.array([p]), np.array([q]), Dg)
    delta = float(atoms.mix(atom_weight(np.array([p / q]), Dg))[0])
    return min(max(delta, 0.0), 1.0)


def atom_weight(t: FloatArray, Dg: float) -> FloatArray:
    """Return b, the mass under D' of the draws whose log ratio is Dg."""
    low, high = math.exp(-Dg), math.exp(Dg)
    out: FloatArray = np.clip((t - low) / (high - low), 0.0, 1.0)
    return out


@dataclass(frozen=True, eq=False)
class _Atoms:
    """Psi at both ends of the range of the log ratio, for arrays of (p, q)."""

    epsilon: FloatArray
    p: FloatArray
    q: FloatArray
    Dg: float

    def mix(self, b: FloatArray) -> FloatArray:
        """Return b Psi(e^Dg) + (1-b) Psi(e^-Dg)."""
        out: FloatArray = b * self.psi(self.Dg) + (1.0 - b) * self.psi(-self.Dg)
        return out

    def psi(self, log_c: float) -> FloatArray:
        """Return the largest gain over thresholds of the draws of one log ratio."""
        with np.errstate(divide="ignore", invalid="ignore"):
            stay, leave = np.log1p(-self.p), np.log1p(-self.q)
            step = stay - leave
            k = np.floor((self.epsilon - log_c) / step)
        k = np.where(np.isfinite(k), np.clip(k, 0.0, 1e18), 0.0)
        best = self._gain(log_c, k, stay, leave)
        for shift in (-1.0, 1.0, 2.0):  # rounding may move a threshold by one
            near = np.maximum(k + shift, 0.0)
            best = np.maximum(best, self._gain(log_c, near, stay, leave))
        return np.maximum(best, 0.0)

    def _gain(
        self, log_c: float, k: FloatArray, stay: FloatArray, leave: FloatArray
    ) -> FloatArray:
        """Return c (q/p) P_p(A) - e^eps P_q(A), A = {T > k} or {T <= k}."""
        scale = np.exp(log_c) * self.q / self.p
        factor = np.exp(np.minimum(self.epsilon, 700.0))
        with np.errstate(invalid="ignore"):
            later_p, later_q = np.exp(k * stay), np.exp(k * leave)
        later_p = np.where(k == 0.0, 1.0, later_p)
        later_q = np.where(k == 0.0, 1.0, later_q)
        slower = scale * later_p - factor * later_q
        faster = scale * (1.0 - later_p) - factor * (1.0 - later_q)
        out: FloatArray = np.where(self.p <= self.q, slower, faster)
        return out


@dataclass(frozen=True, slots=True, repr=False)
class RejectionLoopDP(Guarantee):
    r"""A rejection loop under a public envelope: its draw and its running time.

    The exact joint bound, which is smaller than the product of two guarantees: from
    about ``2 Dg`` on, the draw adds nothing to what the running time tells.

    Parameters
    ----------
    p_hi : float
        Public upper bound on the acceptance probability, within (0, 1].
    Dg : float
        Public bound on the change of the log target between neighbours, everywhere;
        half of epsilon for an exponential mechanism.
    p_lo : float, default=0.0
        Public lower bound on the acceptance probability.
    adjacency : Adjacency or str, default="add-remove"
        Which data sets count as neighbours.
    assumptions : tuple of str, default=()
        What the guarantee takes as given.
    source : str, default=""
        Theorem, paper or proof note.
    observes : set of Channel or str, default={"output", "runtime"}
        What the attacker may watch.

    Notes
    -----
    The envelope and its constant must not depend on the data; otherwise
    ``with_runtime`` with a bound on the acceptance ratio. The maximum over the
    acceptance rates is bounded from above by branch and bound, within 1e-5. Proof in
    docs/proofs/runtime.md.

    Examples
    --------
    >>> from skdp.accounting import RejectionLoopDP
    >>> loop = RejectionLoopDP(0.5, 0.5)
    >>> loop.delta(1.5), loop.epsilon(1e-6)
    (0.04468..., 11.3536...)
    """

    p_hi: float
    Dg: float
    p_lo: float = 0.0
    observes: frozenset[Channel] = field(
        default=frozenset({Channel.OUTPUT, Channel.RUNTIME}), kw_only=True
    )

    def _check(self) -> None:
        self._set("p_hi", rate("p_hi", self.p_hi, zero=False))
        self._set("p_lo", rate("p_lo", self.p_lo))
        self._set("Dg", log_ratio("Dg", self.Dg))
        if self.p_lo > self.p_hi:
            raise ValueError(
                f"p_lo exceeds p_hi, got {self.p_lo!r} > {self.p_hi!r}. Allowed: "
                "p_lo <= p_hi. Pass bounds that hold for every data set."
            )

    def _pure_epsilon(self) -> float:
        # with one acceptance for all data sets the time says nothing, and the
        # normaliser cancels
        return self.Dg if self.Dg == 0.0 or self.p_lo == self.p_hi else math.inf

    def _delta(self, epsilon: FloatArray) -> FloatArray:
        return mirrored(self._nonnegative_delta, epsilon)

    def _nonnegative_delta(self, epsilon: FloatArray) -> FloatArray:
        if self.Dg == 0.0:
            return np.zeros_like(epsilon)
        values = self._worst(epsilon)
        rounded: FloatArray = np.minimum(values * _ROUND_UP, 1.0)
        return rounded

    def _worst(self, epsilon: FloatArray) -> FloatArray:
        """Bound the maximum over t = p/q of each epsilon by branch and bound."""
        edges = self._edges()
        n = edges.size - 1
        row = np.repeat(np.arange(epsilon.size), n)
        left, right = (
            np.tile(edges[:-1], epsilon.size),
            np.tile(edges[1:], epsilon.size),
        )
        # largest value met, and largest bound of an interval that was given up
        best, closed = np.zeros(epsilon.size), np.zeros(epsilon.size)
        for _ in range(_ROUNDS):
            np.maximum.at(best, row, self._value(epsilon[row], left))
            upper = self._upper(epsilon[row], left, right)
            open_ = _worth_halving(upper, best, row)
            np.maximum.at(closed, row[~open_], upper[~open_])
            row, left, right = row[open_], left[open_], right[open_]
            middle = 0.5 * (left + right)
            row = np.append(row, row)
            left, right = np.append(left, middle), np.append(middle, right)
            if row.size == 0:
                break
        np.maximum.at(closed, row, self._upper(epsilon[row], left, right))
        return np.maximum(best, closed)

    def _edges(self) -> FloatArray:
        """Return where the intervals of t start and end, 1 among them."""
        low = max(math.exp(-self.Dg), self.p_lo / self.p_hi)
        high = min(math.exp(self.Dg), self.p_hi / max(self.p_lo, 1e-300))
        above = np.linspace(1.0, high, _CELLS + 1)[1:]
        return np.append(np.linspace(low, 1.0, _CELLS + 1), above)

    def _value(self, epsilon: FloatArray, t: FloatArray) -> FloatArray:
        return self._atoms(epsilon, t).mix(self._weight(t))

    def _upper(
        self, epsilon: FloatArray, left: FloatArray, right: FloatArray
    ) -> FloatArray:
        """Bound all t of an interval by Psi at its left and b at its right end.

        Psi falls with t, b grows, and Psi(e^Dg) >= Psi(e^-Dg).
        """
        return self._atoms(epsilon, left).mix(self._weight(right))

    def _atoms(self, epsilon: FloatArray, t: FloatArray) -> "_Atoms":
        p = self.p_hi * np.minimum(t, 1.0)
        q = self.p_hi / np.maximum(t, 1.0)
        return _Atoms(epsilon, p, q, self.Dg)

    def _weight(self, t: FloatArray) -> FloatArray:
        return atom_weight(t, self.Dg)

    def _group(self, k: int) -> "RejectionLoopDP":
        return self._with(self.p_hi, group_ratio("Dg", self.Dg, k), self.p_lo)


def _worth_halving(upper: FloatArray, best: FloatArray, row: IntArray) -> BoolArray:
    """Tell which intervals still widen the bound by more than the tolerance.

    Where the maximum is flat many intervals come near it; those stop earlier.
    """
    excess = upper - best[row]
    open_: BoolArray = excess > _FINE * best[row] + 1e-300
    crowded = np.bincount(row[open_], minlength=best.size)[row] > _FEW
    return open_ & (~crowded | (excess > _COARSE * best[row]))
