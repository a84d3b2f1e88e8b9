"""A trade-off curve given by its corners."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skdp._typing import FloatArray
from skdp.accounting._guarantee import Guarantee
from skdp.accounting._numbers import mirrored

__all__ = ["TradeoffDP"]

#: Corners may break convexity by this much: it is rounding, not meaning.
_SLACK = 1e-12


@dataclass(frozen=True, slots=True, repr=False)
class TradeoffDP(Guarantee):
    """f-DP with a convex piecewise linear f.

    The statement is about both orders of a pair, so f and its mirror image both hold,
    and the larger of the two counts.

    Parameters
    ----------
    knots : sequence of (alpha, beta)
        Corners of f from alpha = 0 to alpha = 1, alpha increasing, beta nonincreasing
        from at most 1 to 0, convex, and beta <= 1 - alpha.
    adjacency : Adjacency or str, default="add-remove"
        Which data sets count as neighbours.
    assumptions : tuple of str, default=()
        What the guarantee takes as given.
    source : str, default=""
        Theorem, paper or proof note.
    observes : set of Channel or str, default={"output"}
        What the attacker may watch.

    References
    ----------
    Dong, Roth and Su (2022), Gaussian differential privacy: a tangent of f with slope
    ``-exp(epsilon)`` has intercept ``1 - delta``; groups of k have ``1-(1-f)^{ok}``.

    Examples
    --------
    >>> from skdp.accounting import TradeoffDP
    >>> g = TradeoffDP([(0.0, 1.0), (0.25, 0.25), (1.0, 0.0)])
    >>> g.epsilon(0.0)
    1.09861...
    >>> g.delta(0.0)
    0.5
    """

    knots: tuple[tuple[float, float], ...]

    def _check(self) -> None:
        self._set("knots", _checked_knots(self.knots))

    def _corners(self) -> tuple[FloatArray, FloatArray]:
        alpha, beta = np.array(self.knots).T
        return alpha, beta

    def _delta(self, epsilon: FloatArray) -> FloatArray:
        return mirrored(self._nonnegative_delta, epsilon)

    def _nonnegative_delta(self, epsilon: FloatArray) -> FloatArray:
        alpha, beta = _symmetrised(*self._corners())
        e = np.exp(np.minimum(epsilon, 700.0))[:, None]
        # a linear function over a convex polygon is largest at a corner
        gap = np.max(1.0 - e * alpha - beta, axis=1)
        out: FloatArray = np.maximum(gap, 0.0)
        return out

    def _pure_epsilon(self) -> float:
        """Return the steepest slope's logarithm; inf when f(0) < 1."""
        alpha, beta = _symmetrised(*self._corners())
        if beta[0] < 1.0:
            return math.inf
        return max(0.0, math.log((beta[0] - beta[1]) / (alpha[1] - alpha[0])))

    def _log_slopes(self) -> FloatArray:
        """Return the epsilons >= 0 at which the profile has its own lines."""
        alpha, beta = _symmetrised(*self._corners())
        slopes = -np.diff(beta) / np.diff(alpha)
        return np.log(slopes[slopes >= 1.0])

    def _tradeoff(self, alpha: FloatArray) -> FloatArray:
        out: FloatArray = np.interp(alpha, *_symmetrised(*self._corners()))
        return out

    def _group(self, k: int) -> "TradeoffDP":
        a, b = self._corners()
        power = 1.0 - b
        corners = a
        for _ in range(k - 1):
            # corners of g(h): the corners of h, and where h meets a corner of g
            met = np.interp(a, power, corners)
            merged = np.unique(np.concatenate([corners, met]))
            power = np.interp(np.interp(merged, corners, power), a, 1.0 - b)
            corners = merged
        return self._with(tuple(zip(corners, 1.0 - power, strict=True)))


def _symmetrised(alpha: FloatArray, beta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the corners of the larger of f and its mirror image."""
    # the inverse of f, least alpha for each beta; zero from f(0) on
    levels, last = np.unique(beta[::-1], return_index=True)
    first = alpha[::-1][last + np.bincount(np.searchsorted(levels, beta)) - 1]
    levels, first = np.append(levels, 1.0), np.append(first, 0.0)
    grid = np.unique(np.concatenate([alpha, levels]))
    f, g = np.interp(grid, alpha, beta), np.interp(grid, levels, first)
    gap = f - g
    j = np.nonzero(gap[:-1] * gap[1:] < 0.0)[0]
    # both are linear between grid points, so where they cross is exact
    met = grid[j] + (grid[j + 1] - grid[j]) * gap[j] / (gap[j] - gap[j + 1])
    corners = np.unique(np.concatenate([grid, met]))
    f, g = np.interp(corners, alpha, beta), np.interp(corners, levels, first)
    return corners, np.maximum(f, g)


def _checked_knots(
    knots: Sequence[Sequence[float]],
) -> tuple[tuple[float, float], ...]:
    """Return the corners as tuples of floats, if they are a trade-off curve."""
    remedy = "Pass corners (alpha, beta) of a convex curve below 1 - alpha."
    table = np.array(knots)
    if table.dtype.kind not in "iuf" or table.ndim != 2 or table.shape[1:] != (2,):
        raise TypeError(
            f"knots must be pairs of numbers, got an array of shape {table.shape}. "
            f"Allowed: at least two pairs. {remedy}"
        )
    alpha, beta = table.astype(np.float64).T
    if not _is_tradeoff(alpha, beta):
        raise ValueError(
            f"knots are not a trade-off curve, got {len(alpha)} corners. Allowed: "
            f"alpha from 0 to 1, beta down to 0, convex, beta <= 1 - alpha. {remedy}"
        )
    return tuple((float(a), float(b)) for a, b in zip(alpha, beta, strict=True))


def _is_tradeoff(alpha: FloatArray, beta: FloatArray) -> bool:
    """Tell whether the corners describe a trade-off curve; nan says no."""
    steps, drops = np.diff(alpha), np.diff(beta)
    if alpha.size < 2 or not (steps > 0.0).all() or not (drops <= _SLACK).all():
        return False
    anchored = alpha[0] == 0.0 and alpha[-1] == 1.0 and abs(beta[-1]) <= _SLACK
    below = (beta <= 1.0 - alpha + _SLACK).all() and (beta >= -_SLACK).all()
    turns = drops[1:] * steps[:-1] - drops[:-1] * steps[1:]
    return bool(anchored and below and (turns >= -_SLACK).all())
