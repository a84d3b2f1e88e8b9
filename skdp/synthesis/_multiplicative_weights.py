r"""Rounds of "find the worst query, measure it, reweight", with exact choices.

Notation (derived in docs/proofs/useful_data.md)
------------------------------------------------
A        synthetic distribution over the N cells, public               -> ``law``
c_q      number of records of which query q holds
E_q      ``n q(A)`` in units of ``1 / U``, rounded; public
T        rounds                                                  -> ``n_rounds``
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from skdp._typing import FloatArray, IntArray
from skdp._validation import MIN_EPSILON
from skdp.accounting import (
    Adjacency,
    ApproximateDP,
    Guarantee,
    PrivacyPart,
    PureDP,
    ZeroConcentratedDP,
)
from skdp.mechanisms import ExponentialMechanism
from skdp.random import RandomSource, discrete_gaussian, discrete_laplace
from skdp.synthesis._table_settings import concentrated_share

__all__ = ["MultiplicativeWeights"]

#: Units U of a score in one record: expected counts are rounded to them.
_UNITS = 1 << 20
#: Times the measurements so far are replayed in each round.
_REPLAYS = 5
_DOWN = 1.0 - 2.0**-44
_REPLACE = Adjacency.REPLACE_ONE


@dataclass(frozen=True, slots=True)
class MultiplicativeWeights:
    """The public constants of all rounds.

    Attributes
    ----------
    n_rows : int
        Public number of records.
    n_rounds : int
        Rounds, fixed beforehand.
    choice : ExponentialMechanism
        Of one query, with scores in units of one record over ``2**20``.
    scale : Fraction
        Scale of the noise of one measured count.
    gaussian : bool
        Whether that noise is discrete Gaussian, or discrete Laplace.
    """

    n_rows: int
    n_rounds: int
    choice: ExponentialMechanism
    scale: Fraction
    gaussian: bool

    @classmethod
    def calibrate(
        cls, target: PureDP | ApproximateDP, *, n_rows: int, n_rounds: int
    ) -> "MultiplicativeWeights":
        """Share the target evenly among rounds, and among choice and measurement."""
        if isinstance(target, ApproximateDP):
            rho = concentrated_share(target) * _DOWN / (2 * n_rounds)
            epsilon, law = math.sqrt(8.0 * rho) * _DOWN, "exponential"
            scale = Fraction(1.0 / (math.sqrt(2.0 * rho) * _DOWN))
        else:
            epsilon, law = target.epsilon_bound / (2 * n_rounds) * _DOWN, "auto"
            scale = 1 / Fraction(epsilon)
        if epsilon < MIN_EPSILON:
            raise ValueError(
                "epsilon is too small for so many rounds, got epsilon="
                f"{target.epsilon_bound!r} and n_rounds={n_rounds}. Allowed: a share of"
                f" at least {MIN_EPSILON} for each choice. Use fewer rounds, or a "
                "larger epsilon."
            )
        choice = ExponentialMechanism(
            epsilon, _UNITS, selection=law, adjacency=_REPLACE
        )
        return cls(n_rows, n_rounds, choice, scale, isinstance(target, ApproximateDP))

    @property
    def parts(self) -> tuple[PrivacyPart, ...]:
        """What the choices and the measurements cost."""
        if self.gaussian:
            costs = (Fraction(self.choice.epsilon) ** 2 / 8, 1 / (2 * self.scale**2))
        else:
            costs = (Fraction(self.choice.epsilon), 1 / self.scale)
        kind = ZeroConcentratedDP if self.gaussian else PureDP
        return tuple(
            PrivacyPart(
                name,
                kind(_above(cost * self.n_rounds), adjacency=_REPLACE),
                f"{self.n_rounds} rounds",
            )
            for name, cost in zip(("choices", "measurements"), costs, strict=True)
        )

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of all rounds together."""
        source = "multiplicative weights, docs/proofs/useful_data.md"
        costs = [part.guarantee for part in self.parts]
        if self.gaussian:
            rhos = [Fraction(g.rho) for g in costs if isinstance(g, ZeroConcentratedDP)]
            total = _above(sum(rhos, Fraction(0)))
            return ZeroConcentratedDP(total, adjacency=_REPLACE, source=source)
        epsilons = [Fraction(g.epsilon_bound) for g in costs if isinstance(g, PureDP)]
        total = _above(sum(epsilons, Fraction(0)))
        return PureDP(total, adjacency=_REPLACE, source=source)

    def release(
        self, counts: IntArray, queries: npt.NDArray[np.uint8], source: RandomSource
    ) -> FloatArray:
        """Return the synthetic distribution after all rounds, and forget the counts."""
        weights = queries.astype(np.float32)
        true = _answers(queries, counts)
        law = np.full(counts.size, 1.0 / counts.size)
        measured: list[tuple[int, float]] = []
        for _ in range(self.n_rounds):
            expected = self.n_rows * (weights @ law.astype(np.float32)).astype(float)
            public = np.rint(expected * _UNITS).astype(np.int64)
            scores = np.abs(true * _UNITS - public)
            worst = int(self.choice.release(scores, source).output[0])
            noisy = int(true[worst]) + int(self._noise(source))
            measured.append((worst, noisy / self.n_rows))
            law = _replayed(law, queries, measured)
        return law

    def _noise(self, source: RandomSource) -> int:
        draw = discrete_gaussian if self.gaussian else discrete_laplace
        return int(draw(1, self.scale, source)[0])


def _answers(queries: npt.NDArray[np.uint8], counts: IntArray) -> IntArray:
    """Return the number of records of which each query holds, exactly."""
    rows = max(1, (1 << 24) // queries.shape[1])
    held = counts.astype(np.float64)  # sums of counts are exact below 2**53
    parts = [queries[i : i + rows] @ held for i in range(0, len(queries), rows)]
    return np.concatenate(parts).astype(np.int64)


def _replayed(
    law: FloatArray,
    queries: npt.NDArray[np.uint8],
    measured: list[tuple[int, float]],
) -> FloatArray:
    """Reweight towards all measurements so far; post-processing."""
    cells = [np.flatnonzero(queries[q]) for q, _ in measured]
    law = law.copy()
    for _ in range(_REPLAYS):
        for held, (_, value) in zip(cells, measured, strict=True):
            share = float(law[held].sum())
            aim = min(max(value, 0.0), 1.0)  # noise may lead far outside
            law[held] *= math.exp((aim - share) / 2.0)
            law /= law.sum()
    return law


def _above(x: Fraction) -> float:
    """Return a float at least ``x``."""
    value = float(x)
    return value if Fraction(value) >= x else math.nextafter(value, math.inf)
