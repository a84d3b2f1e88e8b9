r"""The exponential mechanism on an interval, for scores interpolated between knots.

Notation (derived in docs/proofs/interval_exponential.md)
---------------------------------------------------------
x_j      public knots, increasing                                 -> ``knots``
q_j      score at knot j; h the piecewise linear interpolation
Delta    bound on the change of every score between neighbours    -> ``sensitivity``
c        nats of log density per unit of score                    -> ``coefficient``
k        1 for monotone scores, else 2
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from skdp._typing import ArrayLike, FloatArray
from skdp.accounting import Adjacency, Guarantee, PureDP
from skdp.mechanisms._base import AdjacentPair, Mechanism, Release, require
from skdp.mechanisms._bounded_range import (
    SMOOTHING_SHARE,
    bounded_range,
    check_pure_step,
    multiplicity,
)
from skdp.mechanisms._scores import as_scores
from skdp.mechanisms._smoothing import LatticeSmoothing
from skdp.random import RandomSource
from skdp.samplers import LogLinear

__all__ = ["IntervalExponential"]

#: What the rounding of a computed draw may add to epsilon; it is taken off first.
ROUNDING = 2.0**-34
#: No log density is below the top by more, as if the scores were raised to match.
DEPTH = 300.0
#: Most knots for which ROUNDING is proved.
MAX_KNOTS = 4097
#: Bound on the rounding of a draw, in units of the interval and of its largest end.
_ERROR, _ERROR_OF_END = 2.0**-30, 2.0**-46
_SOURCE = "exponential mechanism on an interval, docs/proofs/interval_exponential.md"


@dataclass(frozen=True, kw_only=True, slots=True)
class IntervalExponential(Mechanism[ArrayLike, FloatArray]):
    r"""Draw a point of an interval, with higher density where scores are better.

    The data are the scores at public knots. The ideal release has a density
    proportional to :math:`e^{c\,h(x)}`, h the scores with straight lines between the
    knots. It is drawn by inverting the distribution function: nothing is rejected, and
    the amount of work is public. Build one with :meth:`calibrate`.

    Parameters
    ----------
    knots : tuple of float
        Two to 4097 increasing numbers, public and fixed without a look at the data. At
        private points straight lines could move by any multiple of the sensitivity.
    sensitivity : float
        Bound > 0 on the change of the score at every knot, rounding included.
    coefficient : float
        c > 0: nats of log density per unit of score.
    smoothing : LatticeSmoothing
        The finite-precision step at the end.
    monotone : bool, default=False
        Whether all scores move the same way between neighbours.
    adjacency : Adjacency
        The relation for which ``sensitivity`` holds.

    Raises
    ------
    ValueError
        If the fields do not fit.

    Privacy
    -------
    The ideal draw has pure epsilon = 2 c Delta (c Delta for monotone scores), and
    rho-zCDP with rho = epsilon^2 / 8, since its log ratio lies in an interval of length
    epsilon. Rounding adds 2^-34, and the smoothing step what it says. Proof in
    docs/proofs/interval_exponential.md.

    Examples
    --------
    >>> from skdp.accounting import PureDP
    >>> from skdp.mechanisms import IntervalExponential
    >>> from skdp.random import as_random_source
    >>> mechanism = IntervalExponential.calibrate(
    ...     PureDP(1.0), knots=(0, 10, 20, 30), sensitivity=1.0)
    >>> mechanism.guarantee.epsilon(0.0) <= 1.0
    True
    >>> scores = [-80.0, -10.0, -70.0, -90.0]
    >>> output = mechanism.release(scores, as_random_source(0)).output
    >>> bool(5 < output[0] < 15)
    True
    """

    knots: tuple[float, ...]
    sensitivity: float
    coefficient: float
    smoothing: LatticeSmoothing
    monotone: bool = False
    adjacency: Adjacency = Adjacency.ADD_REMOVE

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold."""
        object.__setattr__(self, "knots", tuple(float(x) for x in self.knots))
        object.__setattr__(self, "adjacency", Adjacency(self.adjacency))
        ends = self.knots[0], self.knots[-1]
        require(2 <= len(self.knots) <= MAX_KNOTS, f"knots must be 2 to {MAX_KNOTS}")
        require(
            all(x < y for x, y in pairwise(self.knots))
            and math.isfinite(ends[1] - ends[0]),
            "knots must be finite and increasing",
        )
        require(0 < self.sensitivity < math.inf, "sensitivity must be above 0")
        require(0 < self.coefficient < math.inf, "coefficient must be above 0")
        require(
            not (self.monotone and self.adjacency is Adjacency.REPLACE_ONE),
            "under replace-one no scores are monotone",
        )
        require(
            self.smoothing.error >= _error(ends),
            "smoothing.error must be a bound on the rounding of a draw",
        )
        check_pure_step(self.smoothing, 1, self.adjacency)

    @classmethod
    def calibrate(
        cls,
        target: PureDP,
        *,
        knots: ArrayLike,
        sensitivity: float,
        monotone: bool = False,
    ) -> Self:
        """Return the sharpest instance whose computed guarantee meets the target.

        Parameters
        ----------
        target : PureDP
            What to promise, with its adjacency.
        knots : array-like of shape (m + 1,)
            Public knots, increasing.
        sensitivity : float
            Bound on the change of the score at every knot.
        monotone : bool, default=False
            Whether all scores move the same way between neighbours.

        Returns
        -------
        IntervalExponential
            Its ``guarantee`` implies ``target``.
        """
        places = tuple(float(x) for x in np.asarray(knots, dtype=np.float64))
        share = SMOOTHING_SHARE * target.epsilon_bound
        # a little less than what is left, for the rounding of these few operations
        rest = (target.epsilon_bound - share - ROUNDING) * (1.0 - 2.0**-38)
        return cls(
            knots=places,
            sensitivity=sensitivity,
            coefficient=rest / (multiplicity(monotone=monotone) * sensitivity),
            smoothing=LatticeSmoothing.pure(
                error=_error((places[0], places[-1])),
                n_features=1,
                epsilon=share,
                adjacency=target.adjacency,
            ),
            monotone=monotone,
            adjacency=target.adjacency,
        )

    @property
    def pure_epsilon(self) -> float:
        """Pure epsilon of the ideal draw."""
        sides = multiplicity(monotone=self.monotone)
        return sides * self.coefficient * self.sensitivity

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one release, rounding and smoothing step included."""
        return self._guarantee(ROUNDING, self.smoothing)

    @property
    def ideal_guarantee(self) -> Guarantee:
        """Guarantee of the real-valued draw."""
        return self._guarantee(0.0, None)

    def _guarantee(self, rounding: float, step: LatticeSmoothing | None) -> Guarantee:
        notes = [
            f"no score changes by more than {self.sensitivity:.6g} between neighbours",
            "scores are finite",
            "log, log1p and exp are accurate to 4 units in the last place",
        ]
        if self.monotone:
            notes.insert(1, "between neighbours all scores move the same way, or stay")
        return bounded_range(
            self.pure_epsilon,
            rounding=rounding,
            step=step,
            adjacency=self.adjacency,
            assumptions=tuple(notes),
            source=_SOURCE,
        )

    def law(self, scores: ArrayLike) -> LogLinear:
        """Return the law of the ideal draw; as private as the scores.

        Parameters
        ----------
        scores : array-like of shape (m + 1,)
            Scores at the knots.

        Returns
        -------
        LogLinear

        Raises
        ------
        ValueError
            Before any draw, if the lengths do not fit or a score is not finite.
        """
        table = as_scores(np.asarray(scores, dtype=np.float64), None)
        require(table.size == len(self.knots), "there must be one score for every knot")
        falls = np.minimum(self.coefficient * (np.max(table) - table), DEPTH)
        return LogLinear(np.array(self.knots), -falls)

    def release(self, data: ArrayLike, source: RandomSource) -> Release[FloatArray]:
        """Draw once, smooth, and publish a vector of one number.

        Smoothing may carry it out of the interval by a few of its scales.
        """
        draw = self.law(data).draw(1, source)
        output = self.smoothing.release(draw, source).output
        return Release(output=output, spent=self.guarantee)

    @property
    def support(self) -> tuple[float, float]:
        """The interval."""
        return self.knots[0], self.knots[-1]

    def log_density_on(self, data: ArrayLike) -> Callable[[FloatArray], float]:
        """Return the log density on one data set, for many outputs."""
        law = self.law(data)
        return lambda output: law.log_density(float(np.asarray(output).ravel()[0]))

    def log_density(self, output: FloatArray, data: ArrayLike) -> float:
        """Log density of the ideal draw."""
        return self.log_density_on(data)(output)

    def noise(self, output: FloatArray, data: ArrayLike) -> FloatArray:
        """Return how far the output is from the knot of the best score."""
        scores = np.asarray(data, dtype=np.float64)
        away: FloatArray = output - self.knots[int(np.argmax(scores))]
        return away

    def hard_pairs(self) -> Iterator[AdjacentPair[ArrayLike]]:
        """Yield scores of which those next to one end gain what the others lose."""
        n = len(self.knots)
        gain = np.full(n, 0.0 if self.monotone else -self.sensitivity)
        gain[0] = self.sensitivity
        # at the end, next to nothing of the mass
        poor = np.zeros(n)
        poor[0] = -12.0 / self.coefficient
        for name, left in (
            ("equal scores, one end gains", np.zeros(n)),
            ("a poor end gains", poor),
            ("a good end gains", -poor),
        ):
            yield AdjacentPair(name, left, left + gain)
            yield AdjacentPair(f"{name}, reversed", left + gain, left)

    @classmethod
    def audit_instances(cls) -> Iterator[Self]:
        """Yield small and large epsilon, both kinds of scores, both relations."""
        even, uneven = np.linspace(0.0, 1.0, 17), (-3.0, -2.0, 0.0, 0.5, 4.0)
        yield cls.calibrate(PureDP(1.0), knots=even, sensitivity=1.0)
        yield cls.calibrate(PureDP(0.1), knots=even, sensitivity=0.5, monotone=True)
        yield cls.calibrate(PureDP(6.0), knots=uneven, sensitivity=2.5)
        target = PureDP(1.0, adjacency=Adjacency.REPLACE_ONE)
        yield cls.calibrate(target, knots=even, sensitivity=1.0)


def _error(ends: tuple[float, float]) -> float:
    """Return a bound on the rounding of a draw between two ends."""
    low, high = ends
    return max(_ERROR * (high - low), _ERROR_OF_END * max(abs(low), abs(high)))
