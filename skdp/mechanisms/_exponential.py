r"""Choosing one of finitely many public candidates by private scores.

Notation (derived in docs/proofs/exponential.md)
------------------------------------------------
q_r      score of candidate r; q* the largest of positive measure
Delta    bound on the change of every score between neighbours    -> ``sensitivity``
c        nats of log probability per unit of score                -> ``coefficient``
x_r      ``c (q* - q_r)``
m_r      base measure                                            -> ``base_measure``
"""

import math
import numbers
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Self

import numpy as np

from skdp._typing import ArrayLike, FloatArray
from skdp._validation import (
    check_choice,
    check_count,
    check_epsilon,
    check_positive,
    check_real,
)
from skdp.accounting import (
    Adjacency,
    Guarantee,
    PureDP,
    Simultaneous,
    ZeroConcentratedDP,
)
from skdp.exceptions import NotForReleaseWarning
from skdp.mechanisms._base import AdjacentPair, Mechanism, Release
from skdp.mechanisms._scores import Scores, as_scores
from skdp.mechanisms._selection_laws import log_exponential, log_permute_and_flip
from skdp.mechanisms._selection_measure import integer_measure
from skdp.random import RandomSource, as_random_source
from skdp.random._exponential_weights import draw_flagged, draw_weighted
from skdp.random._exponents import Exponents
from skdp.random._race import exponential_race, gumbel_race

__all__ = ["ExponentialMechanism", "cached_coefficient"]

EXPONENTIAL, PERMUTE_AND_FLIP = "exponential", "permute-and-flip"
_SELECTIONS = ("auto", EXPONENTIAL, PERMUTE_AND_FLIP)
#: What the rounding of a floating-point race may add to epsilon; it is taken off first.
RACE_COST = 2.0**-35
#: The race sees no exponent above this, as if the scores were raised to match.
RACE_DEPTH = 300.0
_SOURCE = "exact selection, docs/proofs/exponential.md"
_CHANGE = "no score changes by more than sensitivity between neighbours"
_ONE_WAY = "between neighbours all scores move the same way, or stay"
_FINITE = "scores are finite"
_ROUNDING = "log and log1p are accurate to 4 units in the last place"


@dataclass(frozen=True, slots=True)
class ExponentialMechanism(Mechanism[ArrayLike, FloatArray]):
    r"""Choose one of finitely many candidates, better scores with higher probability.

    Parameters
    ----------
    epsilon : float
        Privacy loss bound of one choice, in nats, from 1e-9 to 1e3.
    sensitivity : float, int or Fraction
        Bound > 0 on the change of every candidate's score between neighbours, of the
        scores *as computed*: for sums of floats, add their rounding error.
    monotone : bool, default=False
        Whether all scores move the same way between neighbours, as counts do when a
        row is added. Halves the noise; refused under replace-one.
    base_measure : sequence of int, Fraction or float, default=None
        Public measures >= 0 of the candidates, used exactly; None for equal ones. A
        measure of 0 is the only way to exclude a candidate.
    selection : {"auto", "exponential", "permute-and-flip"}, default="auto"
        The law. ``"auto"`` is permute-and-flip, whose expected score is never worse at
        the same epsilon, or exponential where a base measure is given. Choose
        ``"exponential"`` for totals in zero-concentrated DP, where it costs less.
    exact : bool, default=True
        Integer arithmetic throughout. False runs a floating-point race of Gumbel or
        exponential noise instead, which is up to twice as fast from some ten thousand
        candidates on, and slower below.
    score_range : tuple of two floats, default=None
        Public bounds of the scores. Given, scores are clamped to it and nan counts as
        its lower end. None refuses scores that are not finite.
    adjacency : Adjacency or str, default="add-remove"
        The relation for which ``sensitivity`` holds.

    Raises
    ------
    TypeError
        If a parameter is of the wrong type.
    ValueError
        If a parameter is out of range, ``monotone`` meets replace-one, or
        permute-and-flip a base measure.

    Notes
    -----
    Exponential: candidate r has probability proportional to
    :math:`m_r e^{c q_r}` with :math:`c = \epsilon / (2 \Delta)`, or
    :math:`\epsilon / \Delta` if monotone. Permute-and-flip: candidates are visited in
    random order, and r is taken with probability :math:`e^{c (q_r - q^*)}`.

    .. rubric:: Privacy

    Pure epsilon. At the same time rho-zCDP, with rho = epsilon^2 / 8 for the
    exponential law, whose log ratio stays in an interval of length epsilon, and
    rho = epsilon tanh(epsilon / 2) for permute-and-flip, whose does not. Candidates,
    their number and the measure are public. The guarantee is about the output alone:
    running time depends on the scores. Proof in docs/proofs/exponential.md.

    References
    ----------
    F. McSherry and K. Talwar, "Mechanism design via differential privacy", FOCS 2007.
    R. McKenna and D. Sheldon, "Permute-and-flip: a new mechanism for differentially
    private selection", NeurIPS 2020.

    Examples
    --------
    >>> from skdp.mechanisms import ExponentialMechanism
    >>> mechanism = ExponentialMechanism(1.0, 1, monotone=True)
    >>> mechanism.select([120, 95, 240], candidates=["red", "green", "blue"])
    'blue'
    >>> mechanism.pmf([3, 2.5, 0]).round(4)
    array([0.6819, 0.2982, 0.0199])
    >>> ExponentialMechanism(1.0, 1, selection="exponential").guarantee.parts[1]
    ZeroConcentratedDP(0.125, adjacency='add-remove')
    """

    epsilon: float
    sensitivity: float | Fraction
    _: KW_ONLY
    monotone: bool = False
    base_measure: Sequence[Any] | None = None
    selection: str = "auto"
    exact: bool = True
    score_range: tuple[float, float] | None = None
    adjacency: Adjacency = Adjacency.ADD_REMOVE

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold."""
        self._set("epsilon", check_epsilon(self.epsilon))
        self._set("sensitivity", _exact_sensitivity(self.sensitivity))
        for name in ("monotone", "exact"):
            check_choice(name, getattr(self, name), [True, False], remedy=_YES_NO)
        check_choice(
            "adjacency",
            getattr(self.adjacency, "value", self.adjacency),
            [relation.value for relation in Adjacency],
            remedy="Say which data sets count as neighbours.",
        )
        self._set("adjacency", Adjacency(self.adjacency))
        if self.monotone and self.adjacency is Adjacency.REPLACE_ONE:
            raise ValueError(
                "monotone=True does not go with adjacency='replace-one': the row that "
                "leaves and the row that comes move scores both ways. Allowed: "
                "add-remove, or monotone=False. Drop one of the two."
            )
        if self.base_measure is not None:
            self._set("base_measure", integer_measure(self.base_measure))
        if self.score_range is not None:
            self._set("score_range", _checked_range(self.score_range))
        self._check_selection()

    def _check_selection(self) -> None:
        check_choice(
            "selection", self.selection, _SELECTIONS, remedy="Use 'auto' if in doubt."
        )
        if self.selection == PERMUTE_AND_FLIP and self.base_measure is not None:
            raise ValueError(
                "selection='permute-and-flip' has no base measure. Allowed: "
                "base_measure=None, or selection='exponential'. Drop one of the two."
            )

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @property
    def law(self) -> str:
        """The law in use: "exponential" or "permute-and-flip"."""
        if self.selection != "auto":
            return self.selection
        return PERMUTE_AND_FLIP if self.base_measure is None else EXPONENTIAL

    @property
    def coefficient(self) -> Fraction:
        """Nats of log probability per unit of score, an exact fraction."""
        cost = 0.0 if self.exact else RACE_COST
        return cached_coefficient(self.epsilon, cost, self.sensitivity, self.monotone)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one choice: pure and concentrated at once."""
        return self._guarantee(self.epsilon)

    @property
    def ideal_guarantee(self) -> Guarantee:
        """The guarantee without the rounding of a floating-point race."""
        return self._guarantee(self.epsilon - (0.0 if self.exact else RACE_COST))

    def _guarantee(self, epsilon: float) -> Simultaneous:
        if self.law == EXPONENTIAL:
            rho = epsilon**2 / 8
        else:
            rho = epsilon * math.tanh(epsilon / 2)
        return Simultaneous(
            (
                PureDP(epsilon, adjacency=self.adjacency),
                ZeroConcentratedDP(rho, adjacency=self.adjacency),
            ),
            adjacency=self.adjacency,
            assumptions=self._assumptions(),
            source=_SOURCE,
        )

    def _assumptions(self) -> tuple[str, ...]:
        notes = {
            _CHANGE: True,
            _ONE_WAY: self.monotone,
            _FINITE: self.score_range is None,
            _ROUNDING: not self.exact,
        }
        return tuple(note for note, applies in notes.items() if applies)

    def select(
        self,
        scores: ArrayLike,
        candidates: Sequence[Any] | None = None,
        random_state: object = None,
    ) -> Any:
        """Choose a candidate; every call costs the guarantee once more.

        Parameters
        ----------
        scores : array-like of shape (n,)
            Private scores: int, float or Fraction, each used as the exact number it is.
        candidates : sequence of length n, default=None
            What is chosen from, public and fixed without a look at the data.
        random_state : int, Generator, RandomState or None, default=None
            None draws from the operating system; anything else is for tests.

        Returns
        -------
        object
            The candidate, or its index without ``candidates``.

        Raises
        ------
        TypeError
            If a score is not a number.
        ValueError
            Before any draw, if the lengths do not fit or a score is not finite.
        """
        table = self._table(scores)
        names = None if candidates is None else list(candidates)
        if names is not None and len(names) != table.size:
            raise ValueError(
                f"candidates and scores differ in length, got {len(names)} and "
                f"{table.size}. Allowed: one score a candidate. Score every candidate."
            )
        source = as_random_source(random_state)
        if source.seeded:
            warnings.warn(
                "the choice was made with random_state, so whoever knows it can repeat "
                "the choice: it is for tests, not for release. Leave random_state=None "
                "to publish.",
                NotForReleaseWarning,
                stacklevel=2,
            )
        index = self._draw(table, source)
        return index if names is None else names[index]

    def pmf(self, scores: ArrayLike) -> FloatArray:
        """Return the probability of each candidate: as private as the scores.

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores.

        Returns
        -------
        ndarray of shape (n,)
            Probabilities, correct to rounding.
        """
        return np.exp(self._log_pmf(scores))

    def utility_bound(
        self, n_candidates: int, *, failure: float | None = None, n_best: int = 1
    ) -> float:
        """Bound how far below the best score the chosen one falls, on any data.

        Parameters
        ----------
        n_candidates : int
            Number of candidates, all of the same measure.
        failure : float, default=None
            Probability within (0, 1) that the bound may fail. None bounds the expected
            shortfall instead.
        n_best : int, default=1
            How many candidates share the best score.

        Returns
        -------
        float
            In units of the scores; a public number. inf where a floating-point race
            allows no bound: it chooses even the worst with a chance of e^-300, so for
            the expected shortfall it needs a ``score_range``.
        """
        remedy = "Pass how many candidates there are, and how many are best."
        n = check_count("n_candidates", n_candidates, minimum=1, remedy=remedy)
        ties = check_count("n_best", n_best, minimum=1, remedy=remedy)
        if ties > n or self.base_measure is not None:
            raise ValueError(
                "the bound is for equal measures and at most n_candidates best ones. "
                "Allowed: base_measure=None and n_best <= n_candidates. Use em_tail "
                "for other measures."
            )
        spread = math.log(n / ties) + (0.0 if self.exact else RACE_COST)
        if failure is None:
            return (1 + spread) / float(self.coefficient) + self._cut_shortfall(spread)
        failure = check_positive(
            "failure",
            failure,
            remedy="Pass how often the bound may fail, for example 0.05.",
            minimum=1e-300,
            maximum=1.0,
        )
        depth = spread - math.log(failure)
        if depth > RACE_DEPTH and not self.exact:
            return self._width()
        return depth / float(self.coefficient)

    def _cut_shortfall(self, spread: float) -> float:
        """Bound what the cut of exponents in a race adds to the expected shortfall."""
        if self.exact:
            return 0.0
        return math.exp(spread - RACE_DEPTH) * self._width()

    def _width(self) -> float:
        """Return the largest difference of scores, inf if nothing is known."""
        low, high = self.score_range or (-math.inf, math.inf)
        return high - low

    def release(self, data: ArrayLike, source: RandomSource) -> Release[FloatArray]:
        """Return the index of one chosen candidate as a vector of one number."""
        index = self._draw(self._table(data), source)
        return Release(output=np.array([float(index)]), spent=self.guarantee)

    @property
    def lattice(self) -> float:
        """Indices are integers."""
        return 1.0

    def outcomes(self, data: ArrayLike) -> FloatArray:
        """Return every index there is."""
        return np.arange(float(np.size(np.asarray(data))))

    def log_density(self, output: FloatArray, data: ArrayLike) -> float:
        """Log probability of an index."""
        return float(self._log_pmf(data)[int(output[0])])

    def noise(self, output: FloatArray, data: ArrayLike) -> FloatArray:
        """Return how many places after the likeliest candidate the index stands."""
        return output - float(np.argmax(self._log_pmf(data)))

    def _table(self, scores: ArrayLike) -> Scores:
        table = as_scores(scores, self.score_range)
        measure = self.base_measure
        if measure is not None and len(measure) != table.size:
            raise ValueError(
                f"base_measure and scores differ in length, got {len(measure)} and "
                f"{table.size}. Allowed: one measure a candidate. Score all candidates."
            )
        return table

    def _exponents(self, table: Scores) -> Exponents:
        """Return the exponents below the best score of positive measure."""
        if self.base_measure is None:
            best = int(table.argmax())
        else:
            included = np.flatnonzero(self.base_measure)
            best = int(included[table[included].argmax()])
        return Exponents(table, best, self.coefficient)

    def _draw(self, table: Scores, source: RandomSource) -> int:
        exponents = self._exponents(table)
        if self.law == PERMUTE_AND_FLIP:
            if self.exact:
                return draw_flagged(exponents, source)
            return exponential_race(self._race_exponents(exponents), source)
        if self.exact:
            return draw_weighted(exponents, self.base_measure, source)
        x = self._race_exponents(exponents)
        if self.base_measure is None:
            return gumbel_race(x, source)
        measure = np.array(self.base_measure, dtype=np.float64)
        included = np.flatnonzero(measure)
        x = x[included] - np.log(measure[included])
        return int(included[gumbel_race(x - x.min(), source)])

    def _race_exponents(self, exponents: Exponents) -> FloatArray:
        return np.minimum(exponents.as_floats(), RACE_DEPTH)

    def _log_pmf(self, scores: ArrayLike) -> FloatArray:
        exponents = self._exponents(self._table(scores))
        x = exponents.as_floats() if self.exact else self._race_exponents(exponents)
        if self.law == PERMUTE_AND_FLIP:
            return log_permute_and_flip(x)
        return log_exponential(x, self.base_measure)

    def hard_pairs(self) -> Iterator[AdjacentPair[ArrayLike]]:
        """Yield scores of which one candidate gains what the others lose, or not."""
        n = 4 if self.base_measure is None else len(self.base_measure)
        one = np.zeros(n)
        one[
            0 if self.base_measure is None else np.flatnonzero(self.base_measure)[0]
        ] = 1
        step = float(self.sensitivity)
        others = 0.0 if self.monotone else -step
        gain = np.where(one == 1, step, others)
        low, high = self.score_range or (-math.inf, math.inf)
        top = min(high - step, max(low + step, 0.0))
        poor = max(low + step, top - 12 / float(self.coefficient))
        for name, left in (
            ("equal scores, one gains", np.full(n, top)),
            ("a poor candidate gains", np.where(one == 1, poor, top)),
            ("the best candidate gains", np.where(one == 1, top, poor)),
        ):
            yield AdjacentPair(name, left, left + gain)
            yield AdjacentPair(f"{name}, reversed", left + gain, left)

    @classmethod
    def audit_instances(cls) -> Iterator[Self]:
        """Yield both laws, exact and not, on every relation."""
        yield cls(1.0, 1)
        yield cls(0.1, 2.5, monotone=True)
        yield cls(6.0, Fraction(1, 3), selection=EXPONENTIAL)
        yield cls(1.0, 1, selection=EXPONENTIAL, monotone=True)
        yield cls(1.0, 1, base_measure=(3, 0, 1, 2, 2))
        yield cls(0.5, 2, score_range=(-100.0, 100.0), adjacency=Adjacency.REPLACE_ONE)
        yield cls(1.0, 1, exact=False)
        yield cls(1.0, 0.1, exact=False, selection=EXPONENTIAL)


_YES_NO = "Pass True or False."


@lru_cache(maxsize=256)
def cached_coefficient(
    epsilon: float, cost: float, sensitivity: float | Fraction, monotone: bool
) -> Fraction:
    """Divide exactly: a rounded quotient could be too large."""
    sides = 1 if monotone else 2
    return (Fraction(epsilon) - Fraction(cost)) / (sides * Fraction(sensitivity))


def _exact_sensitivity(value: object) -> float | Fraction:
    """Return the sensitivity as the exact number it is."""
    remedy = "Pass how much one person can change the score of one candidate."
    number = check_positive("sensitivity", value, remedy=remedy)
    if isinstance(value, numbers.Rational):
        exact = Fraction(int(value.numerator), int(value.denominator))
        return exact.numerator if exact.denominator == 1 else exact
    return number


def _checked_range(value: Any) -> tuple[float, float]:
    allowed = "two finite numbers, the lower one first"
    remedy = "Pass public bounds of the scores, for example (0, 1)."
    if np.ndim(value) != 1 or len(value) != 2:
        raise ValueError(
            f"score_range must be a pair, got {value!r}. Allowed: {allowed}. {remedy}"
        )
    low, high = (
        check_real("score_range", end, allowed=allowed, remedy=remedy) for end in value
    )
    if not -math.inf < low < high < math.inf:
        raise ValueError(
            f"score_range is not a range, got {value!r}. Allowed: {allowed}. {remedy}"
        )
    return low, high
