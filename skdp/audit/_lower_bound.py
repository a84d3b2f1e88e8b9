r"""A statistical lower bound on epsilon for anything that can be run.

Run the mechanism many times on two neighbouring data sets, find an event that tells
them apart, and bound its two probabilities. A bound above the claim proves a bug; a
bound below it proves nothing.

Notation
--------
P, Q     laws of the release on D and on its neighbour
E        event, a tail of a score, chosen on the first part of the runs
epsilon  at least log((P(E) - delta) / Q(E)), with the roles in both orders
mu       at least Phi^-1(P(E)) - Phi^-1(Q(E))
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from scipy.special import ndtri

from skdp._typing import FloatArray, IntArray
from skdp._validation import check_choice, check_delta, check_real
from skdp.accounting import GaussianDP
from skdp.audit._binomial import probability_above, probability_below
from skdp.audit._fits import release_maker
from skdp.audit._scores import Scores, candidate_scores, given_score, release_matrix
from skdp.random import as_random_source

__all__ = ["EpsilonLowerBound", "lower_bound"]

Data = TypeVar("Data")
Kind: TypeAlias = Literal["event", "gdp"]

#: Share of the runs that choose the event; the others bound its probability.
_TRAIN_SHARE = 0.3
#: Thresholds tried for each score; more would fit the noise of the tails.
_N_THRESHOLDS = 50


@dataclass(frozen=True, slots=True)
class EpsilonLowerBound:
    """What :func:`lower_bound` found.

    Attributes
    ----------
    epsilon : float
        The mechanism is not (epsilon', delta)-DP for any epsilon' below this number,
        with the stated confidence; 0 when nothing was found.
    delta : float
        The delta of the claim that is tested.
    confidence : float
        Probability that the bound is right, over the randomness of the runs.
    n_runs : int
        Runs on each data set.
    event : str
        The event that gave the bound, in words.
    kind : {"event", "gdp"}
        How probabilities became epsilon.
    """

    epsilon: float
    delta: float
    confidence: float
    n_runs: int
    event: str
    kind: Kind = "event"

    def __str__(self) -> str:
        return (
            f"epsilon >= {self.epsilon:.4g} at delta={self.delta:g} with confidence "
            f"{self.confidence:g} ({self.n_runs} runs on each data set, {self.event})"
        )


@dataclass(frozen=True, slots=True)
class _Bound:
    """From counts of one event to a bound on epsilon, or on mu.

    ``error`` is the failure probability allowed to each of the two probabilities.
    """

    error: float
    delta: float
    kind: Kind

    def __call__(self, likelier: IntArray, rarer: IntArray, n: int) -> FloatArray:
        p = probability_above(likelier, n, self.error)
        q = probability_below(rarer, n, self.error)
        if self.kind == "gdp":
            mu: FloatArray = ndtri(p) - ndtri(q)
            return mu
        with np.errstate(divide="ignore"):
            epsilon: FloatArray = np.log(np.maximum(p - self.delta, 0.0)) - np.log(q)
        return epsilon


@dataclass(frozen=True, slots=True)
class _Event:
    """A tail of one score, with the order of the two laws in which it is used."""

    column: int
    threshold: float
    upper: bool
    reversed_roles: bool

    def counts(self, scores: Scores, start: int) -> tuple[IntArray, IntArray]:
        """Return how often the likelier and the rarer law fell into the event."""
        sides = []
        for side in (scores.left, scores.right):
            above = side[start:, self.column] > self.threshold
            sides.append(np.array(np.count_nonzero(above == self.upper)))
        return (sides[1], sides[0]) if self.reversed_roles else (sides[0], sides[1])

    def describe(self, scores: Scores) -> str:
        relation = ">" if self.upper else "<="
        more = "the neighbour" if self.reversed_roles else "the data set"
        name = scores.names[self.column]
        return f"{name} {relation} {self.threshold:.6g}, likelier on {more}"


def lower_bound(
    make_release: Any,
    D: Data,
    D_neighbour: Data,
    *,
    n_runs: int = 10_000,
    confidence: float = 0.999,
    delta: float = 0.0,
    kind: Kind = "event",
    score: Callable[[Any], float] | None = None,
    random_state: Any = None,
) -> EpsilonLowerBound:
    """Bound epsilon from below by running a mechanism on two neighbouring data sets.

    Nothing is assumed about the mechanism. Events are tails of scores, chosen on 30 %
    of the runs; the other 70 % bound their probabilities by Clopper-Pearson, with the
    confidence shared among both orders of the two data sets.

    Parameters
    ----------
    make_release : callable or estimator
        ``make_release(data, random_state)`` returns one fresh release: a number, an
        array, a :class:`~skdp.mechanisms.Release` or a fitted linear model.
        ``random_state`` is None, or a fresh int for each run when the ``random_state``
        of the audit is set. An estimator, or a callable without parameters that makes
        one, stands for its fit on ``data = (X, y)``.
    D, D_neighbour : object
        Two neighbouring data sets, handed on as they are. Hard ones matter more than
        many runs.
    n_runs : int, default=10000
        Runs on each data set, >= 10. A bound near the claim takes 1e5 or more.
    confidence : float, default=0.999
        Probability that the bound is right, in (0, 1).
    delta : float, default=0.0
        The delta of the claim.
    kind : {"event", "gdp"}, default="event"
        ``"gdp"`` bounds mu first and converts, which is much sharper but valid only
        for mechanisms whose claim is Gaussian DP. It needs delta > 0.
    score : callable, optional
        Maps one release to a number, such as its log-likelihood ratio. By default the
        coordinates, the frequent values and a learnt score are tried.
    random_state : int, Generator, RandomState or None, default=None
        None runs the mechanism on its own entropy.

    Returns
    -------
    EpsilonLowerBound
        With ``.epsilon`` in nats. The computed bound tells about private data: use
        made-up data sets.

    Raises
    ------
    ValueError
        If a parameter is out of range, or releases differ in length.
    TypeError
        If a parameter has the wrong type, or releases are not numeric and no score is
        given.

    Notes
    -----
    Both data sets meet the same seeds, so exchanging them gives the same bound. Each
    probability bound needs independent runs of one law only, not of one another.

    References
    ----------
    Ding et al., Detecting violations of differential privacy, CCS 2018. Nasr et al.,
    Tight auditing of differentially private machine learning, USENIX Security 2023.

    Examples
    --------
    Randomised response with probability 3/4 of the truth has epsilon log 3.

    >>> import numpy as np
    >>> from skdp.audit import lower_bound
    >>> def answer(truth, random_state):
    ...     return truth ^ bool(np.random.default_rng(random_state).random() < 0.25)
    >>> bound = lower_bound(answer, True, False, n_runs=5000, random_state=0)
    >>> bool(0.8 < bound.epsilon < np.log(3))
    True
    """
    _check(n_runs, confidence, kind, check_delta(delta))
    seeds = _seeds(n_runs, random_state)
    release = release_maker(make_release)
    left = [release(D, seed) for seed in seeds]
    right = [release(D_neighbour, seed) for seed in seeds]
    n_train = math.ceil(_TRAIN_SHARE * n_runs)
    if score is not None:
        scores = given_score(score, left, right)
    else:
        scores = candidate_scores(release_matrix(left), release_matrix(right), n_train)
    # both orders of the laws, two probabilities each
    bound = _Bound((1.0 - confidence) / 4, delta, kind)
    best, description = 0.0, "no event found"
    for reversed_roles in (False, True):
        event = _choose(scores, n_train, reversed_roles, bound)
        found = float(bound(*event.counts(scores, n_train), n_runs - n_train))
        if found > best:
            best, description = found, event.describe(scores)
    if kind == "gdp" and best > 0.0:
        best = float(GaussianDP(best).epsilon(delta))
    return EpsilonLowerBound(
        max(best, 0.0), delta, confidence, n_runs, description, kind
    )


def _check(n_runs: int, confidence: float, kind: Kind, delta: float) -> None:
    remedy = "Use at least 10 runs, and 1e5 to come near a claim."
    runs = check_real("n_runs", n_runs, allowed="an int >= 10", remedy=remedy)
    if runs < 10 or runs != int(runs):
        raise ValueError(
            f"n_runs is out of range, got {n_runs!r}. Allowed: an int >= 10. {remedy}"
        )
    remedy = "Use 0.999 for a test that should never cry wolf."
    allowed = "a number between 0 and 1"
    level = check_real("confidence", confidence, allowed=allowed, remedy=remedy)
    if not 0.0 < level < 1.0:
        raise ValueError(
            f"confidence is out of range, got {confidence!r}. Allowed: {allowed}. "
            f"{remedy}"
        )
    check_choice(
        "kind", kind, ["event", "gdp"], remedy="Use 'event' for any other claim."
    )
    if kind == "gdp" and delta == 0.0:
        raise ValueError(
            "delta=0 with kind='gdp': Gaussian DP has no finite epsilon there. "
            "Allowed: 0 < delta < 1. Pass the delta of the claim."
        )


def _seeds(n_runs: int, random_state: Any) -> list[int] | list[None]:
    if random_state is None:
        return [None] * n_runs
    raw = as_random_source(random_state).bytes(4 * n_runs)
    return [int(seed) for seed in np.frombuffer(raw, dtype="<u4")]


def _choose(
    scores: Scores,
    n_train: int,
    reversed_roles: bool,
    bound: _Bound,
) -> _Event:
    """Return the tail with the largest bound on the training runs."""
    best, chosen = -math.inf, _Event(0, 0.0, True, reversed_roles)
    for column in range(len(scores.names)):
        left = np.sort(scores.left[:n_train, column])
        right = np.sort(scores.right[:n_train, column])
        if reversed_roles:
            left, right = right, left
        thresholds = _thresholds(left, right)
        # number of scores above each threshold
        likelier = n_train - np.searchsorted(left, thresholds, side="right")
        rarer = n_train - np.searchsorted(right, thresholds, side="right")
        for upper in (True, False):
            if not upper:
                likelier, rarer = n_train - likelier, n_train - rarer
            found = bound(likelier, rarer, n_train)
            k = int(np.argmax(found))
            if found[k] > best:
                best = float(found[k])
                chosen = _Event(column, float(thresholds[k]), upper, reversed_roles)
    return chosen


def _thresholds(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return midpoints between seen values, spread evenly and into both tails."""
    values: FloatArray = np.unique(np.concatenate([left, right]))
    if values.size == 1:
        return values
    gaps = values.size - 1
    even = np.linspace(0, gaps - 1, _N_THRESHOLDS // 2)
    tail = np.geomspace(1, gaps, _N_THRESHOLDS // 4) - 1
    picks = np.floor(np.concatenate([even, tail])).astype(int)
    # the mirror image too: a score and its negative must give the same events
    picks = np.unique(np.concatenate([picks, gaps - 1 - picks]))
    middles: FloatArray = values[picks] / 2 + values[picks + 1] / 2
    return middles
