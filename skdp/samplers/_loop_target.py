"""What a rejection loop needs to know of its target: proposals and their acceptance."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from skdp._typing import FloatArray
from skdp.accounting import Guarantee
from skdp.random import RandomSource, uniform

__all__ = ["LoopSampler", "LoopTarget", "acceptance_range", "exponential"]


@dataclass(frozen=True, eq=False)
class LoopTarget:
    r"""A target density below an envelope: :math:`\tilde\pi(x) \le c\,U(x)`.

    Attributes
    ----------
    propose : callable
        ``propose(n, source)`` returns n independent draws from U, shape (n, d). How
        much it computes may depend on n and public numbers only.
    log_acceptance : callable
        ``log_acceptance(x)`` returns :math:`\log\tilde\pi - \log c - \log U` of rows x,
        shape (n,), at most 0. It is evaluated at every proposal, also at those nobody
        needs, and must take the same steps for all.

    Examples
    --------
    >>> from skdp.random import uniform
    >>> from skdp.samplers import LoopTarget
    >>> target = LoopTarget(
    ...     propose=lambda n, source: uniform(n, source)[:, None],
    ...     log_acceptance=lambda x: -2.0 * abs(x[:, 0] - 0.3))
    """

    propose: Callable[[int, RandomSource], FloatArray]
    log_acceptance: Callable[[FloatArray], FloatArray]


class LoopSampler(Protocol):
    """Draws from a target, and says what draw and running time together tell.

    Properties expected of an implementation:

    - the number of steps of ``draw`` is covered by ``guarantee``;
    - that number is not kept, printed or returned.
    """

    def draw(self, source: RandomSource) -> FloatArray:
        """Return one draw, shape (d,), or (n_samples, d) of those that make many."""
        ...

    def guarantee(self, output: Guarantee) -> Guarantee:
        """Return the guarantee of draw and running time, given that of a draw."""
        ...


def exponential(size: int, source: RandomSource) -> FloatArray:
    """Draw standard exponential numbers, from a fixed number of bytes each."""
    out: FloatArray = -np.log(uniform(size, source))
    return out


def acceptance_range(low: float, high: float) -> str:
    """Say what a guarantee takes as given about acceptance; "" if it is nothing."""
    if low == 0.0 and high == 1.0:
        return ""
    if high == 1.0:
        return f"the acceptance probability is at least {low:g} for every data set"
    if low == 0.0:
        return f"the acceptance probability is at most {high:g} for every data set"
    return f"the acceptance probability is from {low:g} to {high:g} for every data set"
