"""What every guarantee can say: the privacy profile and everything read off it.

Notation
--------
eps       privacy loss bound in nats, any real number        -> ``epsilon``
delta     hockey-stick divergence at eps, in [0, 1]            -> ``delta(epsilon)``
alpha     false-alarm rate of an attacker's test, in [0, 1]
f         least missed-detection rate at alpha                 -> ``tradeoff(alpha)``

The meaning of a class and of its numbers never changes; a new meaning is a new class.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import ClassVar, Self

import numpy as np

from skdp._typing import ArrayLike, FloatArray
from skdp.accounting._adjacency import Adjacency, as_adjacency
from skdp.accounting._channel import OUTPUT_ONLY, Channel, as_channels, describe
from skdp.accounting._duality import best_supporting_lines
from skdp.accounting._json import decode, encode, read, write
from skdp.accounting._numbers import (
    INFINITE_EPSILON,
    first_at_most,
    group_size,
    like_input,
    probability,
    real_vector,
    sequence_of,
)
from skdp.accounting._risk import Risk
from skdp.exceptions import AdjacencyMismatchError

__all__ = ["Guarantee"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Guarantee(ABC):
    """A proved bound on what one release tells about one person.

    Concrete classes are frozen values. Every number they return is an upper bound on
    the privacy loss. A new notion is a new class that defines ``_delta``.

    Parameters
    ----------
    adjacency : Adjacency or str, default="add-remove"
        Which data sets count as neighbours. Never changed or rescaled silently.
    assumptions : tuple of str, default=()
        What the guarantee takes as given, in words.
    source : str, default=""
        Theorem, paper or proof note.
    observes : set of Channel or str, default={"output"}
        What the attacker may watch: the output, or the running time as well.

    Examples
    --------
    >>> from skdp.accounting import GaussianDP, Guarantee
    >>> g = GaussianDP(1.0)
    >>> isinstance(g, Guarantee), g.epsilon(1e-5)
    (True, 4.37717...)
    """

    adjacency: Adjacency = Adjacency.ADD_REMOVE
    assumptions: tuple[str, ...] = ()
    source: str = ""
    observes: frozenset[Channel] = OUTPUT_ONLY

    _kinds: ClassVar[dict[str, type["Guarantee"]]] = {}

    def __init_subclass__(cls) -> None:
        """Register the notion by its class name, for :meth:`from_json`."""
        Guarantee._kinds[cls.__name__] = cls

    def __post_init__(self) -> None:
        """Check the fields and store them in one canonical form."""
        self._set("adjacency", as_adjacency(self.adjacency))
        texts = sequence_of("assumptions", self.assumptions, str, "strings")
        self._set("assumptions", texts)
        self._set("observes", as_channels(self.observes))
        self._check()

    @abstractmethod
    def _check(self) -> None:
        """Validate the notion's own numbers and store them as floats."""

    @abstractmethod
    def _delta(self, epsilon: FloatArray) -> FloatArray:
        """Bound delta in both orders of the pair, at any real epsilon."""

    def _delta_directed(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bound delta when a row is removed, and when it is added."""
        values = self._delta(epsilon)
        return values, values

    def _pure_epsilon(self) -> float:
        """Return the epsilon that holds with delta = 0; inf when there is none."""
        return math.inf

    def _components(self) -> tuple["Guarantee", ...]:
        """Split into independent releases that compose to this one."""
        return (self,)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @classmethod
    def _own_fields(cls) -> tuple[str, ...]:
        """Names of the notion's own numbers, in order."""
        shared = {"adjacency", "assumptions", "source", "observes"}
        return tuple(f.name for f in fields(cls) if f.name not in shared)

    def _with(
        self,
        *numbers: object,
        adjacency: Adjacency | None = None,
        observes: frozenset[Channel] | None = None,
    ) -> Self:
        """Return the same notion with other numbers, keeping what it assumes."""
        return type(self)(
            *numbers,
            adjacency=self.adjacency if adjacency is None else adjacency,
            assumptions=self.assumptions,
            source=self.source,
            observes=self.observes if observes is None else observes,
        )

    def __repr__(self) -> str:
        """Show the numbers, the neighbours, and what is covered beside the output."""
        items = [repr(getattr(self, name)) for name in self._own_fields()]
        items.append(f"adjacency={str(self.adjacency)!r}")
        if self.observes != OUTPUT_ONLY:
            items.append(f"observes={describe(self.observes)!r}")
        return f"{type(self).__name__}({', '.join(items)})"

    def delta(self, epsilon: ArrayLike) -> float | FloatArray:
        """Bound the hockey-stick divergence at ``epsilon``.

        Parameters
        ----------
        epsilon : float or array of any shape
            Any real numbers, in nats.

        Returns
        -------
        float or array of the same shape
            Within [0, 1]; nonincreasing in epsilon.
        """
        array = real_vector("epsilon", epsilon)
        points = np.clip(array.ravel(), -INFINITE_EPSILON, INFINITE_EPSILON)
        return like_input(np.clip(self._delta(points), 0.0, 1.0), array)

    def epsilon(self, delta: float) -> float:
        """Return the least epsilon >= 0 that holds with ``delta``, rounded up.

        Parameters
        ----------
        delta : float
            Within [0, 1).

        Returns
        -------
        float
            Satisfies ``self.delta(result) <= delta``; inf when no epsilon does.
        """
        target = probability("delta", delta)
        pure = self._pure_epsilon()
        if target == 0.0:
            return pure
        return min(pure, first_at_most(self._bounded, target))

    def _bounded(self, epsilon: FloatArray) -> FloatArray:
        """Evaluate the profile clipped to [0, 1]."""
        values: FloatArray = np.clip(self._delta(epsilon), 0.0, 1.0)
        return values

    def tradeoff(self, alpha: ArrayLike) -> float | FloatArray:
        """Return a lower bound on the missed detections of any test at level alpha.

        Parameters
        ----------
        alpha : float or array of any shape
            False-alarm rates, within [0, 1].

        Returns
        -------
        float or array of the same shape
            Within [0, 1]; the supremum of the supporting lines of the profile.
        """
        array = real_vector("alpha", alpha)
        if ((array < 0.0) | (array > 1.0)).any():
            raise ValueError(
                "alpha is out of range. Allowed: numbers from 0 to 1. "
                "Pass false-alarm rates of an attacker's test."
            )
        values = np.clip(self._tradeoff(array.ravel()), 0.0, 1.0)
        return like_input(values, array)

    def _tradeoff(self, alpha: FloatArray) -> FloatArray:
        """Bound the trade-off curve; notions with a closed form override this."""
        return best_supporting_lines(self._bounded, alpha)

    def risk(self) -> Risk:
        """Say how well an attacker can tell whether one person took part.

        Returns
        -------
        Risk
            Advantage and true-positive rates, each an upper bound.
        """
        rates = np.array([0.05, 0.01, 0.001])
        found = 1.0 - self._clipped_tradeoff(rates)
        table = {float(a): float(p) for a, p in zip(rates, found, strict=True)}
        advantage = float(self._bounded(np.zeros(1))[0])
        return Risk(advantage=advantage, tpr_at_fpr=table)

    def _clipped_tradeoff(self, alpha: FloatArray) -> FloatArray:
        values: FloatArray = np.clip(self._tradeoff(alpha), 0.0, 1.0)
        return values

    def group(self, k: int) -> "Guarantee":
        """Return the guarantee for groups of ``k`` rows under the same adjacency.

        Parameters
        ----------
        k : int
            Size of the group, at least 1.

        Returns
        -------
        Guarantee
            Of the same notion.

        Raises
        ------
        TypeError
            When the notion has no group rule.
        """
        size = group_size(k)
        return self if size == 1 else self._group(size)

    def _group(self, k: int) -> "Guarantee":
        name = type(self).__name__
        raise TypeError(
            f"{name} has no group rule, got group({k}). Allowed: PureDP, ApproximateDP,"
            " GaussianDP, ZeroConcentratedDP, TradeoffDP, SmoothedGaussianDP and "
            "compositions of these. Convert first: "
            "ApproximateDP(g.epsilon(delta), delta).group(k)."
        )

    def to_replace_one(self) -> "Guarantee":
        """Return what this guarantee says about replacing one row.

        A replacement is one removal and one addition, so a group of two bounds it. A
        replace-one guarantee is returned unchanged; there is no way back, because
        replace-one guarantees do not hide the number of rows.

        Returns
        -------
        Guarantee
            With ``adjacency="replace-one"``.
        """
        if self.adjacency is Adjacency.REPLACE_ONE:
            return self
        return self._to_replace_one()

    def _to_replace_one(self) -> "Guarantee":
        pair = self._group(2)
        numbers = (getattr(pair, name) for name in pair._own_fields())
        return pair._with(*numbers, adjacency=Adjacency.REPLACE_ONE)

    def implies(self, other: "Guarantee") -> bool:
        """Tell whether every release with this guarantee also has ``other``.

        Parameters
        ----------
        other : Guarantee
            About the same neighbours.

        Returns
        -------
        bool
            True only when it is certain, and then delta is nowhere larger and all that
            ``other`` covers is covered. Notions that compose by more than their profile
            (zCDP and what contains it) are implied by theorems about them only.

        Raises
        ------
        AdjacencyMismatchError
            When the two speak about different neighbours.
        """
        # imported here because it knows the notions, which derive from this class
        from skdp.accounting._implication import implied

        require_same_adjacency((self, other))
        if not other.observes <= self.observes:
            return False
        return implied(self._watching(other.observes), other)

    def _watching(self, channels: frozenset[Channel]) -> Self:
        """Return the same numbers about other channels; the caller knows they hold.

        The parts of a guarantee of several are about the same channels as the whole.
        """
        if channels == self.observes:
            return self
        values = (getattr(self, name) for name in self._own_fields())
        return self._with(*(_watched(v, channels) for v in values), observes=channels)

    def to_json(self) -> str:
        """Return a text from which :meth:`from_json` rebuilds the same value exactly.

        Returns
        -------
        str
            JSON; floats are written in hexadecimal, so no bit is lost.
        """
        return write(self._to_record())

    def _to_record(self) -> dict[str, object]:
        numbers = {name: encode(getattr(self, name)) for name in self._own_fields()}
        return {
            "kind": type(self).__name__,
            "numbers": numbers,
            "adjacency": str(self.adjacency),
            "assumptions": list(self.assumptions),
            "source": self.source,
            "observes": sorted(self.observes),
        }

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Rebuild a guarantee from :meth:`to_json`.

        Parameters
        ----------
        text : str
            What ``to_json`` returned.

        Returns
        -------
        Guarantee
            Equal to the original.

        Raises
        ------
        ValueError
            When the text is not a guarantee of this class.
        """
        guarantee = guarantee_from_record(read(text))
        if not isinstance(guarantee, cls):
            raise ValueError(
                f"text describes another notion, got {type(guarantee).__name__}. "
                f"Allowed: {cls.__name__}. Use Guarantee.from_json for any notion."
            )
        return guarantee


def _watched(value: object, channels: frozenset[Channel]) -> object:
    """Return a field of a guarantee, what it holds of guarantees about ``channels``."""
    if isinstance(value, Guarantee):
        return value._watching(channels)
    if isinstance(value, tuple):
        return tuple(_watched(item, channels) for item in value)
    return value


def guarantee_from_record(record: Mapping[str, object]) -> Guarantee:
    """Rebuild a guarantee from a decoded record; kinds come from the registry only."""
    try:
        kind = Guarantee._kinds[str(record["kind"])]
        numbers = {
            name: decode(value, guarantee_from_record)
            for name, value in record["numbers"].items()  # type: ignore[attr-defined]
        }
        return kind(
            **numbers,
            adjacency=as_adjacency(record["adjacency"]),
            assumptions=record["assumptions"],  # type: ignore[arg-type]
            source=str(record["source"]),
            # texts written before there were channels speak about the output
            observes=record.get("observes", OUTPUT_ONLY),  # type: ignore[arg-type]
        )
    except (KeyError, AttributeError, TypeError) as error:
        raise ValueError(
            "text is not a guarantee. Allowed: what Guarantee.to_json returned. "
            "Check where the text comes from."
        ) from error


def require_same_adjacency(guarantees: tuple[Guarantee, ...]) -> Adjacency:
    """Return the one adjacency of all guarantees, or raise naming both."""
    for g in guarantees:
        if not isinstance(g, Guarantee):
            raise TypeError(
                f"a guarantee was expected, got {g!r} of type {type(g).__name__}. "
                "Allowed: objects of skdp.accounting. Pass .guarantee of what was spent"
            )
    first = guarantees[0]
    for g in guarantees[1:]:
        if g.adjacency is not first.adjacency:
            raise AdjacencyMismatchError(
                f"the guarantees speak about different neighbours, got "
                f"{str(first.adjacency)!r} ({type(first).__name__}) and "
                f"{str(g.adjacency)!r} ({type(g).__name__}). Allowed: one adjacency. "
                "Convert the add-remove ones with .to_replace_one()."
            )
    return first.adjacency


def common_channels(guarantees: tuple[Guarantee, ...]) -> frozenset[Channel]:
    """Return what every guarantee covers, which is all their composition covers."""
    common = frozenset.intersection(*(g.observes for g in guarantees))
    if not common:
        # no two of three need be without a common channel
        found = dict.fromkeys(
            f"{describe(g.observes)} ({type(g).__name__})" for g in guarantees
        )
        raise ValueError(
            f"the guarantees cover nothing in common, got {', '.join(found)}. Allowed: "
            "at least one channel covered by all. Join the output and the running time "
            "of one release by with_runtime()."
        )
    return common
