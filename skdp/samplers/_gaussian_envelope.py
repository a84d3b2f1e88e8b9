r"""A Gaussian envelope for strongly concave log densities, from any point.

Notation (derived in docs/proofs/runtime.md)
--------
m, M    m I <= -Hessian of g <= M I, public                           -> ``curvature``
x0, v   a point and the gradient of g there
R       distance of the public start from the maximum, at most         -> ``radius``

g lies below the quadratic of curvature m that touches it at x0, so the envelope is
N(x0 + v/m, I/m) with log height g(x0) + v'v/(2m). Acceptance is at least
(m/M)^(d/2) exp(-v'v (1/m - 1/M)/2): no exact maximum is needed, and none is assumed.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skdp._constant_work import bounded
from skdp._typing import ArrayLike, FloatArray
from skdp.accounting import Public
from skdp.accounting._public import tagged
from skdp.random import RandomSource, standard_normal
from skdp.samplers._loop_target import LoopTarget

__all__ = ["StronglyConcave", "gaussian_acceptance", "strongly_concave_target"]

#: What an inexact centre may cost of the acceptance, as a factor exp(-this).
_LOSS = 0.01
_FAR = 1e300


def gaussian_acceptance(
    least: FloatArray, most: FloatArray, gradient: FloatArray
) -> float:
    """Bound the acceptance of a Gaussian envelope of precision ``least``.

    Parameters
    ----------
    least, most : ndarray of shape (d, d)
        Bounds on minus the Hessian, in the order of positive definite matrices.
    gradient : ndarray of shape (d,)
        At the point of expansion.

    Returns
    -------
    float
        ``sqrt(det least / det most) exp(-v' (least^-1 - most^-1) v / 2)``; without the
        second factor the bound would be wrong away from the maximum.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.samplers import gaussian_acceptance
    >>> gaussian_acceptance(np.eye(1), 3.0 * np.eye(1), np.array([-1.5]))
    0.27272...
    """
    dets = np.linalg.slogdet(least)[1] - np.linalg.slogdet(most)[1]
    apart = np.linalg.solve(least, gradient) - np.linalg.solve(most, gradient)
    return math.exp(0.5 * float(dets) - 0.5 * float(gradient @ apart))


@dataclass(frozen=True, eq=False)
class StronglyConcave:
    """What :func:`strongly_concave_target` made.

    Attributes
    ----------
    target : LoopTarget
        For a :class:`BatchedLoop`.
    p_lo : Public
        Its acceptance, at least; from public numbers.
    n_steps : int
        Gradient steps that were taken; from public numbers.
    """

    target: LoopTarget
    p_lo: Public
    n_steps: int


def strongly_concave_target(
    log_density: Callable[[FloatArray], FloatArray],
    gradient: Callable[[FloatArray], FloatArray],
    *,
    start: ArrayLike,
    radius: Public,
    curvature: tuple[Public, Public],
) -> StronglyConcave:
    """Return the target of a strongly concave and smooth log density.

    Parameters
    ----------
    log_density : callable
        ``g(x)`` of rows, shape (n, d) to (n,); a function of the data.
    gradient : callable
        Gradient of g at one point, shape (d,) to (d,).
    start : array-like of shape (d,)
        Public.
    radius : Public
        The maximum is at most that far from ``start``, for every data set.
    curvature : (Public, Public)
        m and M, for every data set; not eigenvalues of the data at hand. When M depends
        on the number of rows that number has to be public, as under replace-one.

    Returns
    -------
    StronglyConcave

    Notes
    -----
    Useful in few dimensions, or when M is close to m. A Gaussian with the Hessian at
    the maximum (a Laplace approximation) has no public acceptance and is not offered.

    Examples
    --------
    >>> from skdp.accounting import Public
    >>> from skdp.samplers import strongly_concave_target
    >>> made = strongly_concave_target(
    ...     lambda x: -(x**2).sum(axis=1), lambda x: -2.0 * x, start=[0.0, 0.0],
    ...     radius=Public(1.0), curvature=(Public(1.5), Public(3.0)))
    >>> made.p_lo, made.n_steps
    (Public(0.49502...), 4)
    """
    most = tagged("curvature[1]", curvature[1], 1e-100, 1e100)
    least = tagged("curvature[0]", curvature[0], 1e-100, most)
    reach = tagged("radius", radius, 0.0, 1e100)
    x0 = np.array(start, dtype=np.float64)
    n_steps = _n_steps(least, most, reach)
    for _ in range(n_steps):
        x0 = x0 + gradient(x0) / most
    v = bounded(gradient(x0), -_FAR, _FAR)
    envelope = _Envelope(log_density, x0, v, least)
    p_lo = (least / most) ** (0.5 * x0.size) * math.exp(-_LOSS)
    target = LoopTarget(envelope.propose, envelope.log_acceptance)
    return StronglyConcave(target, Public(p_lo), n_steps)


def _n_steps(least: float, most: float, reach: float) -> int:
    """Return how many gradient steps bring the loss below its limit.

    A step of 1/M shrinks the distance to the maximum by 1 - m/M, and the gradient is at
    most M times the distance.
    """
    if least == most or reach == 0.0:
        return 1
    gap = 1.0 / least - 1.0 / most
    target = math.sqrt(2.0 * _LOSS / gap)
    ratio = math.log(most * reach / target) / -math.log1p(-least / most)
    return max(1, math.ceil(ratio))


@dataclass(frozen=True, eq=False)
class _Envelope:
    log_density: Callable[[FloatArray], FloatArray]
    x0: FloatArray
    v: FloatArray
    least: float

    def propose(self, n: int, source: RandomSource) -> FloatArray:
        d = self.x0.size
        normal = standard_normal(n * d, source).reshape(n, d)
        out: FloatArray = self._centre + normal / math.sqrt(self.least)
        return out

    @property
    def _centre(self) -> FloatArray:
        return self.x0 + self.v / self.least

    def log_acceptance(self, x: FloatArray) -> FloatArray:
        height = self.log_density(self.x0[None])[0] + self.v @ self.v / (2 * self.least)
        away = np.sum((x - self._centre) ** 2, axis=1)
        below = self.log_density(x) - height + 0.5 * self.least * away
        return bounded(below, -_FAR, 0.0)
