"""What an estimator spent, as a value that can be read, printed and stored."""

import html
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from skdp._validation import check_choice
from skdp.accounting._adjacency import Adjacency
from skdp.accounting._channel import Channel, describe
from skdp.accounting._guarantee import Guarantee, guarantee_from_record
from skdp.accounting._json import read, write
from skdp.accounting._numbers import probability, round_up, sequence_of

__all__ = ["LEVELS", "PrivacyPart", "PrivacySpent"]

#: What each level of a release claims, in the words that are printed.
LEVELS = MappingProxyType(
    {
        "research": "Simulation only; not for release.",
        "default": (
            "The guarantee includes finite-precision arithmetic under these "
            "assumptions: IEEE 754 double arithmetic, certificates of solvers, where "
            "one is used, checked at run time, sampler error at most 1e-14 standard "
            "deviations. Timing is not covered."
        ),
        "exact": "The sampler is exact (integer arithmetic); timing is not covered.",
    }
)
#: What replaces the words on timing when the guarantee covers the running time.
_STEPS_COVERED = "the number of steps is covered, memory and power are not"
GRADES = ("proved", "numerically certified", "heuristic")


@dataclass(frozen=True, slots=True)
class PrivacyPart:
    """One mechanism's share of what was spent.

    Parameters
    ----------
    name : str
        What the mechanism did.
    guarantee : Guarantee or None
        Its guarantee; None for a step that has none.
    note : str, default=""
        Anything a reader of the total should know.

    Examples
    --------
    >>> from skdp.accounting import GaussianDP, PrivacyPart
    >>> PrivacyPart("objective perturbation", GaussianDP(0.2367)).name
    'objective perturbation'
    """

    name: str
    guarantee: Guarantee | None
    note: str = ""

    def _to_record(self) -> dict[str, Any]:
        g = self.guarantee
        record = None if g is None else g._to_record()
        return {"name": self.name, "guarantee": record, "note": self.note}

    @classmethod
    def _from_record(cls, record: Any) -> "PrivacyPart":
        return cls(
            record["name"], _guarantee_or_none(record["guarantee"]), record["note"]
        )


@lru_cache(maxsize=256)
def _epsilon_at(guarantee: Guarantee, delta: float) -> float:
    # repeated fits of one setting have equal guarantees; inverting a curve takes 50 ms
    return guarantee.epsilon(delta)


@dataclass(frozen=True, slots=True, repr=False)
class PrivacySpent:
    """What a fit cost, computed from the noise actually used.

    Unpacks to ``epsilon, delta``.

    Parameters
    ----------
    guarantee : Guarantee or None
        The whole curve; None only when ``leaks`` says why there is none.
    delta : float
        The delta at which ``epsilon`` is stated, within [0, 1).
    parts : sequence of PrivacyPart, default=()
        One entry a mechanism.
    releasable : bool, default=True
        False when the noise came from a seed.
    level : {"research", "default", "exact"}, default="default"
        What the release claims about its arithmetic; see ``claim``.
    grade : {"proved", "numerically certified", "heuristic"}, default="proved"
        How the guarantee is known. A heuristic is none: ``epsilon`` is nan, what was
        given as ``guarantee`` becomes ``nominal``, also of the parts, and
        ``releasable`` is False.
    leaks : sequence of str, default=()
        Steps that read private data unpaid; with any, ``epsilon`` is inf.
    nominal : Guarantee, optional
        What would hold if a heuristic were exact; no claim.

    Attributes
    ----------
    epsilon : float
        At ``delta``, rounded up; inf with leaks, nan when heuristic.
    adjacency : Adjacency or None
        Which data sets count as neighbours.
    assumptions : tuple of str
        What the guarantee takes as given.
    observes : frozenset of Channel
        What the guarantee covers: the output only, or the running time as well.

    Examples
    --------
    >>> from skdp.accounting import ApproximateDP, PrivacySpent
    >>> spent = PrivacySpent(ApproximateDP(1.0, 1e-6), 1e-6)
    >>> spent
    PrivacySpent(epsilon=1.000 at delta=1e-06, add-remove, output only, proved;
        assumes: nothing)
    >>> epsilon, delta = spent
    >>> epsilon, delta
    (1.0, 1e-06)
    """

    guarantee: Guarantee | None
    delta: float
    parts: tuple[PrivacyPart, ...] = ()
    releasable: bool = True
    level: str = "default"
    grade: str = "proved"
    leaks: tuple[str, ...] = ()
    nominal: Guarantee | None = None
    epsilon: float = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Check the fields and compute epsilon once."""
        check_choice("level", self.level, tuple(LEVELS), remedy="Pick one of these.")
        check_choice("grade", self.grade, GRADES, remedy="Pick one of these.")
        if self.grade == "heuristic":
            self._claim_nothing()
        elif self.guarantee is None and not self.leaks:
            raise ValueError(
                "guarantee is None although nothing leaks. Allowed: a guarantee, or "
                "None with leaks named. Pass the guarantee of the release."
            )
        self._set("delta", probability("delta", self.delta))
        if not isinstance(self.releasable, bool):
            raise TypeError(
                f"releasable must be True or False, got {self.releasable!r}. Allowed: "
                "a bool. Say whether the noise came from an unpredictable source."
            )
        self._set("parts", sequence_of("parts", self.parts, PrivacyPart, "parts"))
        self._set("leaks", sequence_of("leaks", self.leaks, str, "strings"))
        self._set("epsilon", self._stated_epsilon())

    def _claim_nothing(self) -> None:
        """Keep a hope apart from guarantees, so that nobody composes it with them."""
        self._set("nominal", self.guarantee or self.nominal)
        self._set("guarantee", None)
        self._set("releasable", False)
        parts = sequence_of("parts", self.parts, PrivacyPart, "parts")
        self._set("parts", tuple(PrivacyPart(p.name, None, p.note) for p in parts))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _stated_epsilon(self) -> float:
        if self.leaks:
            return math.inf
        return math.nan if self.grade == "heuristic" else self.nominal_epsilon

    @property
    def nominal_epsilon(self) -> float:
        """Epsilon at ``delta`` if a heuristic were exact and no step leaked."""
        g = self.guarantee or self.nominal
        return math.inf if g is None else _epsilon_at(g, self.delta)

    @property
    def adjacency(self) -> Adjacency | None:
        """Which data sets count as neighbours; None when no part says so."""
        known = [p.guarantee for p in self.parts]
        for g in (self.guarantee, self.nominal, *known):
            if g is not None:
                return g.adjacency
        return None

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the guarantee takes as given."""
        known = self.guarantee or self.nominal
        return () if known is None else known.assumptions

    @property
    def observes(self) -> frozenset[Channel]:
        """What the attacker may watch; empty when there is no guarantee."""
        return frozenset() if self.guarantee is None else self.guarantee.observes

    @property
    def claim(self) -> str:
        """What the release claims about its arithmetic and its time, in words."""
        text = LEVELS[self.level]
        if Channel.RUNTIME not in self.observes:
            return text
        text = text.replace("timing is not covered", _STEPS_COVERED)
        return text.replace("Timing is not covered", _STEPS_COVERED.capitalize())

    def __iter__(self) -> Iterator[float]:
        """Unpack to ``epsilon, delta``."""
        return iter((self.epsilon, self.delta))

    def _headline(self) -> str:
        return f"epsilon={round_up(self.epsilon)} at delta={self.delta:g}"

    def _remarks(self) -> list[str]:
        remarks = [] if self.adjacency is None else [str(self.adjacency)]
        if self.observes:
            remarks.append(describe(self.observes))
        if self.leaks:
            remarks.append("no guarantee")
        elif self.grade != "heuristic":  # the caveat says it
            remarks.append(self.grade)
        if self._caveat:
            remarks.append(self._caveat)
        return remarks

    @property
    def _caveat(self) -> str:
        """Why the result must not be released as private, empty when it may."""
        reasons = []
        if not self.releasable and self.grade != "heuristic":
            reasons.append("seeded: not for release")
        if self.grade == "heuristic":
            reasons.append("heuristic: no claim")
        if self.leaks:
            reasons.append("leaks: " + ", ".join(self.leaks))
        return ", ".join(reasons)

    def __repr__(self) -> str:
        """Say everything a reader must not miss, in one line."""
        assumed = "; ".join(self.assumptions) or "nothing"
        remarks = ", ".join(self._remarks())
        return f"PrivacySpent({self._headline()}, {remarks}; assumes: {assumed})"

    def _repr_html_(self) -> str:
        """Show the same facts as a table with row headers, for notebooks."""
        rows = [
            ("epsilon", round_up(self.epsilon)),
            ("delta", f"{self.delta:g}"),
            ("adjacency", "none" if self.adjacency is None else str(self.adjacency)),
            ("covers", describe(self.observes) if self.observes else "nothing"),
            ("grade", "no guarantee" if self.leaks else self.grade),
            ("release", f"no ({self._caveat})" if self._caveat else "yes"),
            ("arithmetic", self.claim),
            ("assumes", "; ".join(self.assumptions) or "nothing"),
        ]
        rows += [(part.name, self._describe(part)) for part in self.parts]
        body = "".join(
            f'<tr><th scope="row">{html.escape(name)}</th>'
            f"<td>{html.escape(text)}</td></tr>"
            for name, text in rows
        )
        return f"<table><caption>Privacy spent</caption><tbody>{body}</tbody></table>"

    def _describe(self, part: PrivacyPart) -> str:
        """Say what a part cost at the delta asked; its curve fills a page."""
        if part.guarantee is None:
            text = "no guarantee"
        else:
            epsilon = round_up(_epsilon_at(part.guarantee, self.delta))
            text = f"epsilon={epsilon} at delta={self.delta:g}"
        return f"{text} ({part.note})" if part.note else text

    def to_json(self) -> str:
        """Return a text from which :meth:`from_json` rebuilds the same value exactly.

        Returns
        -------
        str
            JSON; floats are written in hexadecimal.
        """
        curve = self.guarantee or self.nominal
        guarantee = None if curve is None else curve._to_record()
        return write(
            {
                "kind": "PrivacySpent",
                "guarantee": guarantee,
                "delta": self.delta.hex(),
                "parts": [part._to_record() for part in self.parts],
                "releasable": self.releasable,
                "level": self.level,
                "grade": self.grade,
                "leaks": list(self.leaks),
            }
        )

    @classmethod
    def from_json(cls, text: str) -> "PrivacySpent":
        """Rebuild what :meth:`to_json` wrote.

        Parameters
        ----------
        text : str
            What ``to_json`` returned.

        Returns
        -------
        PrivacySpent
            Equal to the original.

        Raises
        ------
        ValueError
            When the text is something else.
        """
        record = read(text)
        try:
            return cls(
                _guarantee_or_none(record["guarantee"]),
                float.fromhex(record["delta"]),
                parts=tuple(PrivacyPart._from_record(p) for p in record["parts"]),
                releasable=record["releasable"],
                level=record["level"],
                grade=record["grade"],
                leaks=record["leaks"],
            )
        except (KeyError, TypeError) as error:
            raise ValueError(
                "text does not say what was spent. Allowed: what "
                "PrivacySpent.to_json returned. Check where the text comes from."
            ) from error


def _guarantee_or_none(record: Any) -> Guarantee | None:
    return None if record is None else guarantee_from_record(record)
