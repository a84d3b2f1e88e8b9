"""The protocols of a loss: elementwise in the margin, with proved constants."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from skdp._typing import FloatArray

__all__ = ["Fading", "Loss", "LossConstants", "MatrixLoss", "Oscillating", "Tilting"]


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
    - the three functions are elementwise, finite for every margin whose square is a
      float, and return new float64 arrays of the shape of ``t``;
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

    def constants(
        self, data_norm: float, *, radius: float | None = None
    ) -> LossConstants:
        """Return the Lipschitz and smoothness bounds for rows within ``data_norm``.

        They hold for all theta of norm at most ``radius``, or everywhere.
        """
        ...


@runtime_checkable
class Oscillating(Loss, Protocol):
    """A loss whose range over a ball of coefficients is known exactly.

    Properties expected of an implementation, beyond those of :class:`Loss`:

    - ``f''`` as a function of ``t`` is unimodal: it rises up to a point and falls
      beyond it, jumps allowed. The samplers build their envelopes on this;
    - ``oscillation`` is attained by some row: a smaller number would be wrong.
    """

    def oscillation(
        self, data_norm: float, *, center_norm: float, radius: float
    ) -> float:
        """Return the largest max - min of one row's loss over a ball of theta.

        The ball has its centre at distance ``center_norm`` from the origin.
        """
        ...

    def extremes(
        self, y: FloatArray, low: FloatArray, high: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return least and largest loss over margins from ``low`` to ``high``."""
        ...

    def total(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return the sum over rows for margins of shape (n, m): shape (m,).

        The margins may be overwritten.
        """
        ...

    def rise(self, y: FloatArray, t: FloatArray, step: FloatArray) -> FloatArray:
        """Return ``f(t + step) - f(t)``, its rounding relative to itself.

        The three broadcast against each other. For steps that are small beside what
        the difference of two values would round.
        """
        ...


@runtime_checkable
class Tilting(Loss, Protocol):
    """A loss of bounded slope, described as objective perturbation needs it.

    With ``L = max(-low, high)`` of ``slope_range``, the slope bound of a unit row,
    properties expected of an implementation beyond those of :class:`Loss`:

    - ``constants(R)`` is ``(L R, bend R^2)``;
    - ``curvature_at`` is attained, or approached, at every share: a smaller number
      would be wrong;
    - ``f''`` as a function of ``t`` rises up to ``crest`` and falls beyond it, jumps
      allowed;
    - the loss is hashable, and equal losses have equal laws.
    """

    @property
    def slope_range(self) -> tuple[float, float]:
        """Least and largest first derivative, over all margins and labels."""
        ...

    @property
    def one_signed(self) -> bool:
        """Whether the first derivative keeps one sign, known from the label."""
        ...

    @property
    def bend(self) -> float:
        """Largest second derivative, over all margins and labels."""
        ...

    def curvature_at(self, share: FloatArray) -> FloatArray:
        """Return the largest second derivative where ``|f'| = share * L``.

        The shares lie in [0, 1]; at a jump the larger side counts.
        """
        ...

    def crest(self, y: FloatArray) -> FloatArray:
        """Return, for each label, a margin at which the second derivative is largest.

        Shape (n,).
        """
        ...


@runtime_checkable
class Fading(Tilting, Protocol):
    """A loss whose curvature dies where its slope is largest.

    Objective perturbation then need not pay for the Jacobian of the minimiser. Property
    expected of an implementation, with ``(steepness, lag) = fading`` and p in [0, 1]:
    ``curvature_at(p) <= steepness (1 - p) (lag + (1 - lag) p)``.
    """

    @property
    def fading(self) -> tuple[float, float]:
        """Steepness > 0 of the fall at p = 1, and lag in [0, 1]: the part left at 0."""
        ...


@runtime_checkable
class MatrixLoss(Protocol):
    """One row's loss ``f(t; y)`` of several margins, one for each of K classes.

    Labels are class numbers ``0 .. K-1``; any other number marks a row of weight zero.
    Properties expected of an implementation:

    - ``f`` is convex in ``t`` with a Lipschitz gradient, and depends on differences of
      margins only: the same number added to all of them changes nothing;
    - the functions act on each row alone, are finite for all margins whose squares are
      floats, and return new arrays of the precision of the margins;
    - ``constants`` is approached, and ``trace`` attained: smaller bounds would be
      wrong.
    """

    @property
    def n_classes(self) -> int:
        """Number of margins of a row, K."""
        ...

    @property
    def rank(self) -> int:
        """Largest rank of the second derivative."""
        ...

    @property
    def trace(self) -> float:
        """Largest trace of the second derivative."""
        ...

    def value(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return ``f`` for margins of shape (n, K): shape (n,)."""
        ...

    def gradient(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return the first derivative, shape (n, K)."""
        ...

    def hessian(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return the second derivative, shape (n, K, K)."""
        ...

    def hessian_diagonal(self, y: FloatArray, t: FloatArray) -> FloatArray:
        """Return the second derivative along each margin, shape (n, K)."""
        ...

    def hessian_product(
        self, y: FloatArray, t: FloatArray, v: FloatArray
    ) -> FloatArray:
        """Return each row's second derivative times its row of ``v``, shape (n, K)."""
        ...

    def constants(self, data_norm: float) -> LossConstants:
        """Return bounds for rows within ``data_norm``, over all of theta."""
        ...
