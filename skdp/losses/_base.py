"""The protocol of a loss: elementwise in the margin, with proved constants."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from skdp._typing import FloatArray

__all__ = ["Loss", "LossConstants"]


@dataclass(frozen=True, slots=True)
class LossConstants:
    """Bounds that hold for every row of L2 norm at most ``data_norm``.

    Attributes
    ----------
    lipschitz : float
        Bound on the gradient norm of one row's loss in theta.
    smoothness : float
        Bound on the spectral norm of one row's Hessian in theta.
    """

    lipschitz: float
    smoothness: float


@runtime_checkable
class Loss(Protocol):
    """One row's loss ``f(t; y)`` of its margin ``t = x @ theta``.

    Properties expected of an implementation:

    - ``f`` is convex in ``t`` with a Lipschitz derivative;
    - the three functions are elementwise, finite for every finite margin, and return
      new float64 arrays of the shape of ``t``;
    - ``constants`` is attained: a tighter bound would be wrong.
    """

    def value(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return ``f(t; y)``."""
        ...

    def gradient(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return the first derivative in ``t``."""
        ...

    def hessian(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return the second derivative in ``t``."""
        ...

    def derivatives(
        self, y: FloatArray, t: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return both derivatives at the price of one."""
        ...

    def constants(self, data_norm: float) -> LossConstants:
        """Return the Lipschitz and smoothness bounds for rows within ``data_norm``."""
        ...
