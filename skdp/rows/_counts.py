"""The public limit of counts, and how counts are put on a common scale."""

from skdp.rows._targets import Targets

__all__ = ["Counts"]


class Counts(Targets):
    r"""Counts up to a public limit, mapped to [0, bound].

    :math:`y \mapsto y\,\mathrm{bound}/Y` with the limit Y, after clipping to [0, Y].
    Zero stays zero, so a rate is mapped as a count is. A count that is no number is
    taken for zero: the map is total and acts on each row alone.

    Parameters
    ----------
    high : float
        The limit Y > 0; a public number in the units of y.
    bound : float, default=1.0
        Largest encoded count, > 0: the ``target_bound`` of the loss.

    Raises
    ------
    ValueError
        If the limit or the bound is not a finite number above 0.

    Examples
    --------
    >>> from skdp.rows import Counts
    >>> Counts(10.0).encode([5.0, -3.0, 1e9, float("nan")])
    array([0.5, 0. , 1. , 0. ])
    """

    __slots__ = ()

    def __init__(self, high: float, *, bound: float = 1.0) -> None:
        super().__init__(0.0, high, bound=bound)

    def __repr__(self) -> str:
        return f"Counts({self.high!r}, bound={self.bound!r})"

    @property
    def middle(self) -> float:
        """What is encoded as 0: no count."""
        return 0.0

    @property
    def unit(self) -> float:
        """What one encoded unit is worth in the units of y."""
        return self.high / self.bound
