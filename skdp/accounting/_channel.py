"""What the attacker watches: the output alone, or the running time as well."""

from collections.abc import Iterable
from enum import StrEnum

__all__ = ["OUTPUT_ONLY", "Channel", "as_channels", "describe"]


class Channel(StrEnum):
    """What an attacker can watch, and a guarantee may cover.

    Examples
    --------
    >>> from skdp.accounting import Channel
    >>> Channel("output") is Channel.OUTPUT
    True
    >>> str(Channel.RUNTIME)
    'runtime'
    """

    #: What is released: the values handed out.
    OUTPUT = "output"
    #: How long it took to make: number of steps, and so the time of the clock.
    RUNTIME = "runtime"


#: What a guarantee covers unless it says more.
OUTPUT_ONLY: frozenset[Channel] = frozenset({Channel.OUTPUT})

_WORDS = {Channel.OUTPUT: "output", Channel.RUNTIME: "running time"}


def as_channels(value: object) -> frozenset[Channel]:
    """Return a non-empty set of channels for a collection of members or strings."""
    items = frozenset(value) if _is_collection(value) else frozenset()  # type: ignore[call-overload]
    if not items or not items <= set(Channel):
        allowed = ", ".join(repr(str(member)) for member in Channel)
        raise ValueError(
            f"observes is not a set of channels, got {value!r}. Allowed: a collection "
            f"of {allowed}. Say what the guarantee covers, for example "
            "observes={'output', 'runtime'}."
        )
    return frozenset(Channel(str(item)) for item in items)


def _is_collection(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str)


def describe(channels: frozenset[Channel]) -> str:
    """Say in words what is covered, and that nothing else is."""
    named = [_WORDS[channel] for channel in Channel if channel in channels]
    return f"{named[0]} only" if len(named) == 1 else " and ".join(named)
