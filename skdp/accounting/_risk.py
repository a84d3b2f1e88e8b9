"""A guarantee in terms of what a membership attack can reach."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from skdp.accounting._numbers import round_up

__all__ = ["Risk"]


@dataclass(frozen=True)
class Risk:
    """How well an attacker can tell whether one person took part.

    Attributes
    ----------
    advantage : float
        Largest true-positive rate minus false-positive rate of any membership test.
    tpr_at_fpr : mapping of float to float
        Largest true-positive rate at the false-positive rates 5 %, 1 % and 0.1 %.

    Examples
    --------
    >>> from skdp.accounting import GaussianDP
    >>> print(GaussianDP(0.23670).risk())
    An attacker allowed 1 % false alarms finds at most 1.833 % of members (1 % would
    be guessing); the best test beats guessing by at most 0.09421.
    """

    advantage: float
    tpr_at_fpr: Mapping[float, float] = field(hash=False)

    def __str__(self) -> str:
        """Say the risk in plain words, rounded up."""
        found = round_up(100.0 * self.tpr_at_fpr[0.01])
        return (
            f"An attacker allowed 1 % false alarms finds at most {found} % of members "
            "(1 % would be guessing); the best test beats guessing by at most "
            f"{round_up(self.advantage)}."
        )
