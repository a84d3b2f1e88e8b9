"""What an envelope is: a law that is easy to draw from, above the target everywhere."""

from dataclasses import dataclass
from typing import Protocol

from skdp._typing import BoolArray, FloatArray
from skdp.random import RandomSource

__all__ = ["Envelope", "Proposals"]


@dataclass(frozen=True, slots=True)
class Proposals:
    r"""Points drawn from an envelope.

    Attributes
    ----------
    steps : ndarray of shape (m, d)
        Points less the point of expansion.
    log_height : ndarray of shape (m,)
        A point is accepted with probability
        :math:`\exp(\mathrm{log\_height} - (J - \hat J))`, at most 1.
    log_ceiling : ndarray of shape (m,)
        Proved bound on ``log_height - (J - J^)`` that reads no data: where chance
        rejects by this already, the potential need not be formed.
    valid : ndarray of bool, shape (m,)
        False where the point is rejected without a look at the data.
    """

    steps: FloatArray
    log_height: FloatArray
    log_ceiling: FloatArray
    valid: BoolArray


class Envelope(Protocol):
    """A law proportional to an upper bound of the target.

    Properties expected of an implementation:

    - ``log_height - (J - J^) <= log_ceiling <= 0`` at every valid point of the domain,
      for every data set;
    - valid points have density proportional to ``exp(-log_height)``.
    """

    @property
    def log_mass(self) -> float:
        """Log of the integral of ``exp(-log_height)`` over the valid points, or more.

        The acceptance is the target's own integral over it, whatever the envelope: the
        smaller one is the better one.
        """
        ...

    def propose(self, size: int, source: RandomSource) -> Proposals:
        """Draw ``size`` points."""
        ...
