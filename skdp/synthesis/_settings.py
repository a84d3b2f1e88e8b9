"""The public settings of a sampler, checked before any record is read."""

from dataclasses import dataclass, replace
from typing import Any, Literal

from skdp._validation import check_choice, check_count, check_delta, check_epsilon
from skdp.accounting import Adjacency, ApproximateDP, PureDP
from skdp.random import RandomSource, as_random_source
from skdp.rows import Alphabet
from skdp.synthesis._column import Wrapper, levels_of
from skdp.synthesis._plan import Request, check_combination

__all__ = ["SamplerSettings", "alphabet_of", "read_settings"]

PROFILES = ("auto", "envelope", "minimax", "roo", "ds-roo")
RELEASES = ("auto", "draws", "batch", "histogram")
UNKNOWN = ("error", "other")


@dataclass(frozen=True, slots=True)
class SamplerSettings:
    """Checked parameters; ``alphabet`` is None where a dtype declares it."""

    request: Request
    alphabet: Alphabet | None
    unknown: Literal["error", "other"]
    source: RandomSource

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the guarantee takes as given about the column."""
        how = "declared" if self.alphabet is not None else "asserted of the dtype"
        stated = [f"the categories are public ({how})", "there is at least one record"]
        if self.request.adjacency is Adjacency.REPLACE_ONE:
            stated.append("the number of records is public")
        if self.unknown == "error":
            stated.append("every value is a declared category")
        return tuple(stated)


def read_settings(sampler: Any) -> SamplerSettings:
    """Check the constructor parameters of ``sampler``; read no data."""
    epsilon, delta = check_epsilon(sampler.epsilon), check_delta(sampler.delta)
    check_choice(
        "profile", sampler.profile, PROFILES, remedy="Use 'auto' for the envelope."
    )
    check_choice(
        "release",
        sampler.release,
        RELEASES,
        remedy="Use 'auto' for the most accurate one.",
    )
    check_choice(
        "adjacency",
        getattr(sampler.adjacency, "value", sampler.adjacency),
        [relation.value for relation in Adjacency],
        remedy="Use 'add-remove' if the number of records is private.",
    )
    check_choice(
        "handle_unknown",
        sampler.handle_unknown,
        UNKNOWN,
        remedy="Use 'other' to count undeclared values as the last category.",
    )
    adjacency = Adjacency(sampler.adjacency)
    target: PureDP | ApproximateDP = PureDP(epsilon, adjacency=adjacency)
    if delta > 0.0:
        target = ApproximateDP(epsilon, delta, adjacency=adjacency)
    request = Request(
        target=target,
        delta=delta,
        profile=sampler.profile,
        n_samples=check_count(
            "n_samples", sampler.n_samples, minimum=1, remedy="Pass how many draws."
        ),
        release=sampler.release,
        group_size=check_count(
            "group_size",
            sampler.group_size,
            minimum=1,
            remedy="Pass the largest number of records one person owns.",
        ),
    )
    check_combination(request)
    return SamplerSettings(
        request=request,
        alphabet=_declared(sampler.categories),
        unknown=sampler.handle_unknown,
        source=as_random_source(sampler.random_state),
    )


def _declared(categories: Any) -> Alphabet | None:
    if categories is None:
        raise ValueError(
            "categories is None: a category that is read off the data has probability "
            "0 without the person who brings it, which no epsilon covers. Allowed: a "
            "list of the public categories, or 'dtype'. Declare them, for example "
            "categories=['no', 'yes']."
        )
    if isinstance(categories, str) and categories == "dtype":
        return None
    return Alphabet(categories)


def alphabet_of(
    settings: SamplerSettings, column: Any, wrapper: Wrapper
) -> tuple[Alphabet, Wrapper]:
    """Return the declared categories, from the dtype of the column if so asked."""
    if settings.alphabet is not None:
        return settings.alphabet, wrapper
    levels = levels_of(column)
    return Alphabet(levels.categories), replace(wrapper, levels=levels)
