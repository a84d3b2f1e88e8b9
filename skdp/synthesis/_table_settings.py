"""The public settings of whoever makes synthetic tables, checked before any record."""

import warnings
from dataclasses import dataclass, replace
from typing import Any, Literal

from skdp._validation import check_choice, check_count, check_delta, check_epsilon
from skdp.accounting import (
    Adjacency,
    ApproximateDP,
    Guarantee,
    PrivacyPart,
    PrivacySpent,
    PureDP,
    ZeroConcentratedDP,
)
from skdp.exceptions import NotForReleaseWarning
from skdp.mechanisms._calibration import largest_mu
from skdp.random import RandomSource, as_random_source
from skdp.synthesis._codebook import Declared, declared_codebook

__all__ = ["TableSettings", "concentrated_share", "read_table_settings", "warn_seeded"]

UNKNOWN = ("error", "other")


@dataclass(frozen=True, slots=True)
class TableSettings:
    """Checked parameters; all public."""

    target: PureDP | ApproximateDP
    delta: float
    declared: Declared
    unknown: Literal["error", "other"]
    group_size: int
    source: RandomSource

    @property
    def adjacency(self) -> Adjacency:
        """Neighbouring relation."""
        return self.target.adjacency

    def public_size(self, n_rows: int) -> int | None:
        """Return the number of records where it is public."""
        return n_rows if self.adjacency is Adjacency.REPLACE_ONE else None

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the guarantee takes as given about the table."""
        stated = ["there is at least one record"]
        if self.declared != ():
            stated.insert(0, "the categories are public")
        if self.adjacency is Adjacency.REPLACE_ONE:
            stated.append("the number of records is public")
        if self.unknown == "error" and self.declared != ():
            stated.append("every value is a declared category")
        if self.group_size > 1:
            stated.append(f"one person owns at most {self.group_size} records")
        return tuple(stated)

    def spent(
        self, guarantee: Guarantee, parts: tuple[PrivacyPart, ...] = (), name: str = ""
    ) -> PrivacySpent:
        """Return the receipt of a release."""
        stated = guarantee.assumptions + tuple(
            note for note in self.assumptions if note not in guarantee.assumptions
        )
        guarantee = replace(guarantee, assumptions=stated)
        return PrivacySpent(
            guarantee,
            self.delta,
            parts=parts or (PrivacyPart(name, guarantee),),
            releasable=not self.source.seeded,
            level="research" if self.source.seeded else "exact",
        )


def read_table_settings(
    estimator: Any, *, adjacency: str | None = None
) -> TableSettings:
    """Check the parameters that all makers of tables share; read no data."""
    epsilon, delta = check_epsilon(estimator.epsilon), check_delta(estimator.delta)
    relation = estimator.adjacency if adjacency is None else adjacency
    check_choice(
        "adjacency",
        getattr(relation, "value", relation),
        [choice.value for choice in Adjacency],
        remedy="Use 'add-remove' if the number of records is private.",
    )
    unknown: Any = getattr(estimator, "handle_unknown", "error")
    check_choice(
        "handle_unknown",
        unknown,
        UNKNOWN,
        remedy="Use 'other' to count undeclared values as the last category.",
    )
    neighbours = Adjacency(relation)
    target: PureDP | ApproximateDP = PureDP(epsilon, adjacency=neighbours)
    if delta > 0.0:
        target = ApproximateDP(epsilon, delta, adjacency=neighbours)
    return TableSettings(
        target=target,
        delta=delta,
        declared=declared_codebook(getattr(estimator, "categories", ())),
        unknown=unknown,
        group_size=check_count(
            "group_size",
            getattr(estimator, "group_size", 1),
            minimum=1,
            remedy="Pass the largest number of records one person owns.",
        ),
        source=as_random_source(estimator.random_state),
    )


def concentrated_share(target: ApproximateDP) -> float:
    """Return the largest rho of zero-concentrated DP that implies the target."""
    mu = largest_mu(
        lambda mu: ZeroConcentratedDP(mu * mu / 2),
        target.epsilon_bound,
        target.delta_bound,
    )
    return mu * mu / 2


def warn_seeded(source: RandomSource) -> None:
    """Say that a seeded release is not for others."""
    if source.seeded:
        warnings.warn(
            "the draws came from random_state, so whoever knows it can repeat them: "
            "this fit is for tests, not for release. Leave random_state=None to "
            "publish.",
            NotForReleaseWarning,
            stacklevel=3,  # whoever called fit
        )
