"""The one door through which randomness enters the package.

Every draw is a function of bytes, and the bytes come from a :class:`RandomSource`:
the operating system unless the caller asked for reproducibility.
"""

import builtins
import numbers
import os
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

__all__ = ["RandomSource", "SeededSource", "SystemSource", "as_random_source"]

Generator: TypeAlias = np.random.Generator | np.random.RandomState


class RandomSource(Protocol):
    """Hands out random bytes.

    Properties expected of an implementation:

    - each byte is uniform, independent of the others, and handed out once;
    - when ``seeded`` is False nobody can predict or repeat the bytes, not even from a
      copy of the source made by pickling or forking.
    """

    @property
    def seeded(self) -> bool:
        """Whether the bytes can be reproduced, so that no release may use them."""
        ...

    def bytes(self, n: int) -> builtins.bytes:
        """Return ``n`` fresh random bytes."""
        ...


@dataclass(frozen=True, slots=True)
class SystemSource:
    """Bytes of the operating system's secure generator.

    Each call asks the operating system. Nothing is buffered and nothing is kept, so
    forked processes and unpickled copies never repeat each other's bytes.

    Examples
    --------
    >>> from skdp.random import SystemSource
    >>> source = SystemSource()
    >>> source.seeded, len(source.bytes(16))
    (False, 16)
    """

    @property
    def seeded(self) -> bool:
        """False: the bytes cannot be reproduced."""
        return False

    def bytes(self, n: int) -> builtins.bytes:
        """Return ``n`` bytes of :func:`os.urandom`."""
        return os.urandom(n)


@dataclass(frozen=True, slots=True)
class SeededSource:
    """Bytes of a NumPy generator: reproducible, so for tests and never for release.

    Parameters
    ----------
    generator : numpy.random.Generator or numpy.random.RandomState
        The caller's generator; its state advances as bytes are drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.random import SeededSource
    >>> SeededSource(np.random.default_rng(0)).seeded
    True
    """

    generator: Generator

    @property
    def seeded(self) -> bool:
        """True: whoever knows the seed knows the bytes."""
        return True

    def bytes(self, n: int) -> builtins.bytes:
        """Return the generator's next ``n`` bytes."""
        return self.generator.bytes(n)


def as_random_source(random_state: object) -> RandomSource:
    """Turn a ``random_state`` parameter into a source of bytes.

    Parameters
    ----------
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        None takes entropy from the operating system and is the only choice fit for a
        release. A non-negative int or a NumPy generator makes the noise reproducible.

    Returns
    -------
    RandomSource
        :class:`SystemSource` for None, :class:`SeededSource` otherwise.

    Raises
    ------
    TypeError
        If ``random_state`` is none of the above.
    ValueError
        If it is a negative int.

    Examples
    --------
    >>> from skdp.random import as_random_source
    >>> as_random_source(None)
    SystemSource()
    >>> as_random_source(0).bytes(4) == as_random_source(0).bytes(4)
    True
    """
    # None goes first: the secure path must not depend on numpy.random in any way.
    if random_state is None:
        return SystemSource()
    if isinstance(random_state, np.random.Generator | np.random.RandomState):
        return SeededSource(random_state)
    return SeededSource(np.random.Generator(np.random.PCG64(_check_seed(random_state))))


def _check_seed(random_state: object) -> int:
    allowed = "None, a non-negative int, or a numpy Generator or RandomState"
    remedy = "Use None for a release, an int such as 0 in a test."
    boolean = isinstance(random_state, bool | np.bool_)
    if boolean or not isinstance(random_state, numbers.Integral):
        raise TypeError(
            f"random_state is not a source of randomness, got {random_state!r} of type "
            f"{type(random_state).__name__}. Allowed: {allowed}. {remedy}"
        )
    if random_state < 0:
        raise ValueError(
            f"random_state must not be negative, got {random_state!r}. "
            f"Allowed: {allowed}. {remedy}"
        )
    return int(random_state)
