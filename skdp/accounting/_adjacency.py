"""The neighbouring relation: which two data sets an attacker may not tell apart."""

from enum import StrEnum

__all__ = ["Adjacency", "as_adjacency"]


class Adjacency(StrEnum):
    """Which two data sets count as neighbours.

    Examples
    --------
    >>> from skdp.accounting import Adjacency
    >>> Adjacency("add-remove") is Adjacency.ADD_REMOVE
    True
    >>> str(Adjacency.REPLACE_ONE)
    'replace-one'
    """

    #: One data set has one row more than the other; the number of rows is private.
    ADD_REMOVE = "add-remove"
    #: Both have the same number of rows and differ in one; that number is public.
    REPLACE_ONE = "replace-one"


def as_adjacency(value: object) -> Adjacency:
    """Return the enum member for a member or its string."""
    if value not in set(Adjacency):
        allowed = ", ".join(repr(str(member)) for member in Adjacency)
        raise ValueError(
            f"adjacency is not a neighbouring relation, got {value!r}. "
            f"Allowed: {allowed}. Say which data sets count as neighbours."
        )
    return Adjacency(str(value))
