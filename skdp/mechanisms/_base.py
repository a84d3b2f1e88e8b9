"""The contract of a mechanism: randomness with a guarantee attached."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Generic, Self, TypeVar

import numpy as np

from skdp._typing import FloatArray
from skdp.accounting import Guarantee
from skdp.random import RandomSource

__all__ = ["AdjacentPair", "Mechanism", "Release", "require"]

Data = TypeVar("Data")
Out = TypeVar("Out")


@dataclass(frozen=True, slots=True)
class Release(Generic[Out]):
    """What one call of a mechanism produced.

    Attributes
    ----------
    output : object
        The released value; may be published.
    spent : Guarantee
        The guarantee of the release.
    diagnostics : mapping
        Side facts such as pass counts and gradient norms. They depend on private data
        and are NOT covered by the guarantee; estimators drop them.
    """

    output: Out
    spent: Guarantee
    diagnostics: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AdjacentPair(Generic[Data]):
    """Two neighbouring data sets on which a mechanism's guarantee is nearly tight.

    Attributes
    ----------
    name : str
        What makes the pair hard.
    left, right : object
        The two data sets.
    """

    name: str
    left: Data
    right: Data


class Mechanism(ABC, Generic[Data, Out]):
    """A randomised function of private data whose guarantee is computed, not claimed.

    Concrete mechanisms are frozen dataclasses of public numbers. The abstract methods
    are the proof obligation: one that does not say on which neighbours it is hard, or
    with what density it answers, cannot be instantiated, and every one that exists is
    audited by the test suite without being named there.
    """

    #: Whether every data set makes a release ask for the same random bytes. Where not,
    #: running time tells something about the data, which no guarantee here covers.
    same_draws: ClassVar[bool] = True

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """Guarantee of one :meth:`release`, computed from the fields."""

    @property
    @abstractmethod
    def ideal_guarantee(self) -> Guarantee:
        """Guarantee of the real-valued release whose law :meth:`log_density` states.

        It leaves out the finite-precision step that ends every release, so it is what
        an exact audit of the density must not exceed.
        """

    @property
    def lattice(self) -> float:
        """Step of the lattice that carries the ideal release; 0 for a density."""
        return 0.0

    @property
    def support(self) -> tuple[float, float]:
        """Public interval that carries a one-dimensional ideal release."""
        return -math.inf, math.inf

    def outcomes(self, data: Data) -> FloatArray | None:
        """Return all outputs of an ideal release on ``data``, if they are few.

        Increasing numbers; neighbours have the same ones. None where there is a density
        or a lattice without end.
        """
        return None

    @abstractmethod
    def release(self, data: Data, source: RandomSource) -> Release[Out]:
        """Draw the noise, answer, and forget the data."""

    def vector(self, output: Out) -> FloatArray:
        """Return an output as one vector of numbers, as the densities take it."""
        return np.asarray(output, dtype=np.float64)

    @abstractmethod
    def log_density(self, output: FloatArray, data: Data) -> float:
        """Log density, at ``output``, of the ideal release on ``data``.

        A log probability where :attr:`lattice` is positive.
        """

    def log_density_on(self, data: Data) -> Callable[[FloatArray], float]:
        """Return :meth:`log_density` on one data set, for many outputs."""
        return lambda output: self.log_density(output, data)

    @abstractmethod
    def noise(self, output: FloatArray, data: Data) -> FloatArray:
        """Recover the noise vector that makes the ideal release equal ``output``.

        A law without a noise vector returns the gradient of its log density instead,
        which is zero at the peak, as noise is.
        """

    @abstractmethod
    def hard_pairs(self) -> Iterator[AdjacentPair[Data]]:
        """Yield neighbouring data sets on which the guarantee is nearly attained."""

    @classmethod
    @abstractmethod
    def audit_instances(cls) -> Iterator[Self]:
        """Yield small, medium and extreme parameters for the audits."""


def require(holds: bool, what: str) -> None:
    """Raise unless a condition between the public fields of a mechanism holds.

    Mechanisms may be built by hand; one whose parts do not fit would state a guarantee
    that its release does not keep.
    """
    if not holds:
        raise ValueError(
            f"the fields of the mechanism do not fit: {what}. Build it with calibrate."
        )
