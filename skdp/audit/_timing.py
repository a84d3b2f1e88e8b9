r"""What the clock tells, measured: a lower bound on the epsilon of the running time.

Runs on D, on its neighbour and on two controls are interleaved in random order, so that
drift of the machine falls on all alike. Half of the runs choose an event "slower than"
or "faster than" a threshold, the other half bounds its probabilities.

Notation
--------
P, Q     laws of the duration on D and on its neighbour
null     a second copy of D, timed as if it were a neighbour: must show nothing
planted  D with a delay added now and then: must be found
"""

import gc
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from skdp._typing import BoolArray, FloatArray, IntArray
from skdp._validation import check_count, check_delta, check_real
from skdp.audit._binomial import probability_above, probability_below
from skdp.random import RandomSource, as_random_source, uniform

__all__ = ["TimingAudit", "TimingEvidence", "timing"]

Data = TypeVar("Data")

#: Candidate thresholds are quantiles of the durations in the choosing half.
_QUANTILES = np.concatenate(
    [np.linspace(0.05, 0.9, 18), 1.0 - np.geomspace(0.08, 0.002, 12)]
)
#: Welch's statistic is computed below these quantiles: tails are noise of the machine.
_CROPS = (0.5, 0.75, 0.9, 0.95, 1.0)
#: Label of the class that is slowed down now and then: the control to be found.
_PLANTED = 3
#: Above this size, on both halves and with one sign, the means differ.
_LARGE_T = 4.5


@dataclass(frozen=True, slots=True)
class TimingEvidence:
    """How well durations tell two classes of runs apart.

    Attributes
    ----------
    epsilon : float
        With the stated confidence the clock is not (epsilon', delta)-DP for any
        epsilon' below; 0 when nothing was found, which is no proof of safety.
    t : float
        Welch's statistic of the means: the smaller of its sizes on the two halves of
        the runs, 0 when the halves disagree in sign.
    auc : float
        Probability that the second class is slower, ties halved.
    event : str
        The event that gave epsilon, in words.
    """

    epsilon: float
    t: float
    auc: float
    event: str

    @property
    def fires(self) -> bool:
        """Whether the running time was seen to differ."""
        return self.epsilon > 0.0 or self.t > _LARGE_T


@dataclass(frozen=True, slots=True)
class TimingAudit:
    """What :func:`timing` found.

    Attributes
    ----------
    evidence : TimingEvidence
        On the two data sets.
    null, planted : TimingEvidence
        Controls: the data set against itself, and against itself with a delay.
    n_runs : int
        Runs of each of the four classes.
    confidence : float
        Probability that a bound on epsilon is right, for independent runs.
    """

    evidence: TimingEvidence
    null: TimingEvidence
    planted: TimingEvidence
    n_runs: int
    confidence: float

    @property
    def epsilon(self) -> float:
        """Lower bound on the epsilon of the clock."""
        return self.evidence.epsilon

    @property
    def leaks(self) -> bool:
        """Whether the running time was seen to tell the data sets apart."""
        return self.evidence.fires

    @property
    def trustworthy(self) -> bool:
        """Whether the controls behave: the null is quiet and the plant is found."""
        return not self.null.fires and self.planted.fires

    def __str__(self) -> str:
        verdict = "leaks" if self.leaks else "no leak seen"
        trust = "" if self.trustworthy else "; the controls failed: repeat"
        return (
            f"{verdict}: epsilon of the clock >= {self.epsilon:.3g}, "
            f"t = {self.evidence.t:.3g}, AUC = {self.evidence.auc:.3f} "
            f"({self.n_runs} runs each, confidence {self.confidence:g}{trust})"
        )


def timing(
    run: Callable[[Data], object],
    D: Data,
    D_neighbour: Data,
    *,
    n_runs: int = 4000,
    warm_up: int = 200,
    delta: float = 0.0,
    confidence: float = 0.95,
    planted_delay: float = 20e-6,
    planted_share: float = 0.05,
    clock: Callable[[], float] = time.perf_counter_ns,
    random_state: Any = None,
) -> TimingAudit:
    """Time a callable on two data sets, and bound the epsilon of the clock from below.

    Parameters
    ----------
    run : callable
        ``run(data)``; its result is dropped.
    D, D_neighbour : object
        Neighbouring data sets. Arrays of one shape, and tuples, lists and dictionaries
        of such, are copied into one and the same buffer before each run, because the
        place in memory alone changes the time; other objects are passed as they are.
    n_runs : int, default=4000
        Runs of each of four classes: D, its neighbour, and two controls. Half of them
        choose the event.
    warm_up : int, default=200
        Untimed runs at the start.
    delta : float, default=0.0
        Delta of the claim that is tested.
    confidence : float, default=0.95
        Probability that a bound is right.
    planted_delay, planted_share : float
        By how much, and with which chance, the positive control is slowed down; in
        seconds, or in the unit of another clock. Without a delay the control cannot be
        found, and the audit is not trustworthy.
    clock : callable, default=time.perf_counter_ns
        Returns the time.
    random_state : None, int, Generator or RandomState, default=None
        Decides the order of the runs, and which of the control are slowed down.

    Returns
    -------
    TimingAudit

    Notes
    -----
    The bound assumes that runs of one class are independent and alike. It is
    conservative: a small or zero epsilon is no evidence of safety. A shift of s in the
    mean against a spread of sigma needs about ``67 (sigma / s)**2`` runs. Means miss a
    rare long delay, and tails miss a small constant one, so both are looked at; a
    large t has to show on both halves of the runs.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.audit import timing
    >>> def loop(x):
    ...     for _ in range(int(x.sum())):
    ...         pass
    >>> audit = timing(loop, np.full(3, 10.0), np.full(3, 900.0), n_runs=400,
    ...                random_state=0)
    >>> audit.leaks, audit.epsilon > 1.0
    (True, True)
    """
    settings = _checked(n_runs, warm_up, delta, confidence)
    plant = _checked_plant(planted_delay, planted_share, clock)
    buffer = _Buffer(D, D_neighbour)
    classes = [D, D_neighbour, D, D]
    for k in range(settings.warm_up):
        run(buffer.load(classes[k % 4]))
    source = as_random_source(random_state)
    order = _shuffled(np.repeat(np.arange(4), settings.n_runs), source)
    waits = plant.waits(order == _PLANTED, source)
    times = _measure(run, classes, order, waits, buffer, clock)
    return TimingAudit(
        evidence=_compare(times[0], times[1], settings),
        null=_compare(times[0], times[2], settings),
        planted=_compare(times[0], times[3], settings),
        n_runs=settings.n_runs,
        confidence=settings.confidence,
    )


@dataclass(frozen=True, slots=True)
class _Settings:
    n_runs: int
    warm_up: int
    delta: float
    confidence: float


def _checked(n_runs: int, warm_up: int, delta: float, confidence: float) -> _Settings:
    remedy = "Pass how many runs to make."
    allowed = "0 < confidence < 1"
    level = check_real("confidence", confidence, allowed=allowed, remedy="Try 0.95.")
    if not 0.0 < level < 1.0:
        raise ValueError(
            f"confidence is out of range, got {confidence!r}. Allowed: {allowed}. "
            "Try 0.95."
        )
    return _Settings(
        check_count("n_runs", n_runs, minimum=40, remedy=remedy),
        check_count("warm_up", warm_up, minimum=0, remedy=remedy),
        check_delta(delta),
        level,
    )


class _Buffer:
    """One place in memory for both data sets."""

    def __init__(self, D: object, D_neighbour: object) -> None:
        self._place = _empty_like(D, D_neighbour)

    def load(self, data: Any) -> Any:
        """Copy the data to the common place, and return it."""
        return _copied(self._place, data)


def _empty_like(a: Any, b: Any) -> Any:
    """Return memory that fits both, or None where there is none to share."""
    if type(a) is not type(b):
        return None
    if isinstance(a, np.ndarray):
        alike = a.shape == b.shape and a.dtype == b.dtype and a.dtype != object
        return np.empty_like(a) if alike else None
    if isinstance(a, tuple | list) and len(a) == len(b):
        return [_empty_like(x, y) for x, y in zip(a, b, strict=True)]
    if isinstance(a, dict) and a.keys() == b.keys():
        return {key: _empty_like(a[key], b[key]) for key in a}
    return None


def _copied(place: Any, data: Any) -> Any:
    if place is None:
        return data
    if isinstance(data, dict):
        return {key: _copied(place[key], data[key]) for key in data}
    if isinstance(data, tuple | list):
        return type(data)([_copied(p, x) for p, x in zip(place, data, strict=True)])
    np.copyto(place, data)
    return place


@dataclass(frozen=True, slots=True)
class _Plant:
    """The delay of the positive control, in units of the clock."""

    delay: float
    share: float

    def waits(self, planted: BoolArray, source: RandomSource) -> FloatArray:
        """Return how long to wait after each run; the coins are tossed beforehand."""
        late = uniform(planted.size, source) < self.share
        return self.delay * (planted & late).astype(np.float64)


def _checked_plant(delay: float, share: float, clock: Callable[[], float]) -> _Plant:
    remedy = "Leave the control at its default, unless the clock has another unit."
    found = {}
    for name, value, high in (
        ("planted_delay", delay, 1e100),
        ("planted_share", share, 1.0),
    ):
        allowed = f"0 to {high:g}"
        found[name] = check_real(name, value, allowed=allowed, remedy=remedy)
        if not 0.0 <= found[name] <= high:
            raise ValueError(
                f"{name} is out of range, got {value!r}. Allowed: {allowed}. {remedy}"
            )
    # the default clock counts nanoseconds
    scale = 1e9 if clock is time.perf_counter_ns else 1.0
    return _Plant(found["planted_delay"] * scale, found["planted_share"])


def _shuffled(labels: IntArray, source: RandomSource) -> IntArray:
    """Return the labels in random order."""
    return labels[np.argsort(uniform(labels.size, source))]


def _measure(
    run: Callable[[Any], object],
    classes: list[Any],
    order: IntArray,
    waits: FloatArray,
    buffer: _Buffer,
    clock: Callable[[], float],
) -> list[FloatArray]:
    """Return the durations of each class, in the order of the runs."""
    found: list[list[float]] = [[] for _ in classes]
    collecting = gc.isenabled()
    gc.disable()
    try:
        for label, wait in zip(order.tolist(), waits.tolist(), strict=True):
            loaded = buffer.load(classes[label])
            # between the readings every class takes the same steps, but for a wait
            start = clock()
            run(loaded)
            if wait > 0.0:
                _pause(wait, clock)
            found[label].append(clock() - start)
    finally:
        if collecting:
            gc.enable()
    return [np.array(values, dtype=np.float64) for values in found]


def _pause(wait: float, clock: Callable[[], float]) -> None:
    end = clock() + wait
    while clock() < end:
        pass


def _compare(a: FloatArray, b: FloatArray, settings: _Settings) -> TimingEvidence:
    half = a.size // 2
    epsilon, event = _epsilon(a, b, half, settings)
    first, second = _welch(a[:half], b[:half]), _welch(a[half:], b[half:])
    # a leak repeats on fresh runs; a single large value does not count
    agreed = np.where(first * second > 0.0, np.minimum(abs(first), abs(second)), 0.0)
    return TimingEvidence(
        epsilon=epsilon, t=float(agreed.max()), auc=_auc(a, b), event=event
    )


def _epsilon(
    a: FloatArray, b: FloatArray, half: int, settings: _Settings
) -> tuple[float, str]:
    """Choose an event on the first halves, and bound its log odds on the others."""
    cuts = np.unique(np.quantile(np.append(a[:half], b[:half]), _QUANTILES))
    error = (1.0 - settings.confidence) / 2.0
    best, chosen = -math.inf, (0.0, True, False)
    for slower in (True, False):
        counts = [_count(x[:half], cuts, slower) for x in (a, b)]
        for swapped in (False, True):
            likely, rare = counts[::-1] if swapped else counts
            bound = _log_odds(likely, rare, half, error, settings.delta)
            k = int(np.argmax(bound))
            if bound[k] > best:
                best, chosen = float(bound[k]), (float(cuts[k]), slower, swapped)
    cut, slower, swapped = chosen
    counts = [_count(x[half:], np.array([cut]), slower) for x in (a, b)]
    likely, rare = counts[::-1] if swapped else counts
    bound = _log_odds(likely, rare, a.size - half, error, settings.delta)
    words = "slower than" if slower else "at most"
    more = "the neighbour" if swapped else "the data set"
    return max(float(bound[0]), 0.0), f"{words} {cut:.6g}, likelier on {more}"


def _count(durations: FloatArray, cuts: FloatArray, slower: bool) -> IntArray:
    above: IntArray = np.sum(durations[:, None] > cuts, axis=0, dtype=np.int64)
    return above if slower else durations.size - above


def _log_odds(
    likely: IntArray, rare: IntArray, n: int, error: float, delta: float
) -> FloatArray:
    p = probability_above(likely, n, error)
    q = probability_below(rare, n, error)
    with np.errstate(divide="ignore"):
        out: FloatArray = np.log(np.maximum(p - delta, 0.0)) - np.log(q)
    return out


def _welch(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return Welch's statistic below several quantiles of the pooled durations."""
    pooled = np.append(a, b)
    out = []
    for crop in _CROPS:
        cut = np.quantile(pooled, crop)
        x, y = a[a <= cut], b[b <= cut]
        if min(x.size, y.size) < 10:
            out.append(0.0)
            continue
        spread = x.var(ddof=1) / x.size + y.var(ddof=1) / y.size
        gap = float(y.mean() - x.mean())
        # durations without any spread differ beyond doubt, or not at all
        out.append(gap / math.sqrt(max(spread, 1e-300)))
    return np.array(out)


def _auc(a: FloatArray, b: FloatArray) -> float:
    """Return the probability that b is the larger one, by ranks."""
    ordered = np.sort(a)
    below = np.searchsorted(ordered, b, side="left")
    upto = np.searchsorted(ordered, b, side="right")
    return float((below + upto).mean() / (2.0 * a.size))
