r"""How often the single-Gaussian envelope accepts, at least: public numbers alone.

Notation (derived in docs/proofs/bounded_posterior.md)
------------------------------------------------------
R        bound on the norm of a row                                  -> ``data_norm``
c, B     centre and radius of the ball
N        bound on the number of rows                                 -> ``n_rows``
L, m     smoothness and convexity of J               -> ``smoothness``, ``convexity``
D(z)     chord curvature of a loss seen from z0: an average of f'' between z0 and z
r        least ratio of smallest to largest D, over all rows and all z0 of the ball
eta      largest g'(theta^ - theta) over the ball                            -> ``gap``
nu       tilt of the envelope; x = nu B^2                          -> ``tilt_product``
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import expit

from skdp._typing import FloatArray
from skdp.losses import HuberLoss, LogCoshLoss, LogisticLoss, Oscillating, SquaredLoss
from skdp.samplers._ball import Ball
from skdp.samplers._minorant import _NEAR

__all__ = ["EnvelopeBounds", "curvature_ratio"]

#: Below the least density, at a distance of at most one standard deviation from the
#: mean, of a log-concave law of variance one: e^-2, found numerically.
DENSITY = 0.135
#: What rounding may take from an acceptance.
_ROUNDING = 1.0 - 1e-3
#: Largest product of least tilt and B^2: the rounding of a mean squared distance then
#: stays below the room that the tilt leaves.
_MOST_ROUNDED = 5e-3
#: An acceptance of less than e to minus this is none.
_HOPELESS = 500.0
_EPS = float(np.finfo(np.float64).eps)

#: Accuracy of the logarithm of a curvature ratio, and what is left for rounding.
_TOLERANCE, _ROUND_OFF = 1e-6, 1e-8
_MOST_CELLS, _FIRST_CELLS = 2048, 8
#: Thirds that are cut off a bracket: the error of a maximum is the square of the width.
_THIRDS = 26
#: From here on the ratio is below e^-40: of no use.
_TOO_FAR = 50.0
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
_SHARES = (_NODES + 1.0) / 2.0
_WEIGHTS = _WEIGHTS * (1.0 - _SHARES)


def curvature_ratio(
    loss: Oscillating, data_norm: float, *, center_norm: float, radius: float
) -> float:
    """Return the least ratio of smallest to largest chord curvature, rounded down.

    Over all rows of norm at most ``data_norm``, all labels and all points of expansion
    of a ball. 1 for a quadratic loss, 0 where a loss may be straight.

    Parameters
    ----------
    loss : Oscillating
        Logistic, squared, Huber or log-cosh.
    data_norm : float
        Bound R > 0 on the norm of a row.
    center_norm : float
        Distance of the ball's centre from the origin.
    radius : float
        Radius of the ball, > 0.

    Returns
    -------
    float
        Within [0, 1]; at most 3e-6 below the least ratio, relatively, in balls that are
        not too far from the origin.

    Raises
    ------
    ValueError
        If the loss is of another kind.

    Examples
    --------
    >>> from skdp.losses import LogisticLoss
    >>> from skdp.samplers import curvature_ratio
    >>> round(curvature_ratio(LogisticLoss(), 1.0, center_norm=0.0, radius=0.5), 5)
    0.95952
    """
    if isinstance(loss, SquaredLoss):
        return 1.0
    start, reach = data_norm * center_norm, data_norm * radius
    if isinstance(loss, LogisticLoss):
        return _logistic_ratio(start, reach)
    if isinstance(loss, LogCoshLoss):
        # sech^2(r/s) is four times the logistic curvature at 2r/s
        unit = 2.0 / loss.scale
        return _logistic_ratio(unit * (loss.target_bound + start), unit * reach)
    if isinstance(loss, HuberLoss):
        return float(loss.target_bound + start + reach <= loss.scale)
    raise ValueError(
        f"the curvature of {type(loss).__name__} has no bound here. Allowed: logistic, "
        "squared, Huber and log-cosh losses. Use the sampler of unbounded time."
    )


def _steepness(loss: Oscillating) -> float:
    """Return the largest change of log f'' per unit of the margin."""
    if isinstance(loss, LogCoshLoss):
        return 2.0 / loss.scale
    return 1.0 if isinstance(loss, LogisticLoss) else 0.0


def _logistic_curvature(u: FloatArray) -> FloatArray:
    out: FloatArray = expit(u) * expit(-u)
    return out


def _chord(z0: FloatArray, z: FloatArray) -> FloatArray:
    """Return D for the logistic loss."""
    step = z - z0
    near = np.abs(step) < 2.0
    inside = z0[:, None] + np.where(near, step, 0.0)[:, None] * _SHARES
    average = _logistic_curvature(inside) @ _WEIGHTS
    # of the two labels the one whose loss is small at z0 rounds less
    sign = np.where(z0 >= 0.0, -1.0, 1.0)
    far = np.where(near, 2.0, step)
    rise = np.logaddexp(0.0, sign * (z0 + far)) - np.logaddexp(0.0, sign * z0)
    rise -= sign * expit(sign * z0) * far
    out: FloatArray = np.where(near, average, 2.0 * rise / (far * far))
    return out


def _largest_chord(z0: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the largest D on an interval; it is unimodal on each side of z0."""
    here = np.concatenate([z0, z0])
    span = np.concatenate([low, high]) - here
    first, last = np.zeros_like(here), np.ones_like(here)
    for _ in range(_THIRDS):
        near, far = (2 * first + last) / 3, (first + 2 * last) / 3
        both = np.concatenate([here + near * span, here + far * span])
        at_near, at_far = np.split(_chord(np.concatenate([here, here]), both), 2)
        rises = at_near < at_far
        first, last = np.where(rises, near, first), np.where(rises, last, far)
    # inside an interval the slope vanishes at the largest, at an end it may not
    ends = np.concatenate([here + (first + last) / 2 * span, here + span, here])
    found = _chord(np.concatenate([here] * 3), ends).reshape(6, -1)
    out: FloatArray = found.max(axis=0)
    return out


def _log_ratio(middle: FloatArray, place: FloatArray, reach: float) -> FloatArray:
    """Return log(min D / max D) seen from ``middle + place * reach``."""
    z0, low, high = middle + place * reach, middle - reach, middle + reach
    least = np.minimum(_chord(z0, low), _chord(z0, high))
    out: FloatArray = np.log(least) - np.log(_largest_chord(z0, low, high))
    return out


@lru_cache(maxsize=256)
def _logistic_ratio(start: float, reach: float) -> float:
    """Return a lower bound for margins within ``reach`` of a middle <= ``start``.

    By branch and bound. Shorter rows see smaller intervals, and the sign of the margin
    does not matter, so two numbers are left: the middle, in [0, start], and where z0
    is. Slopes of log D are averages of those of log f'', -tanh(u/2): if all moves, the
    two of the ratio differ by no more than these do over the interval.
    """
    if start + reach > _TOO_FAR:
        return 0.0
    half_m = start / (2 * _FIRST_CELLS)
    half_p = 1.0 / _FIRST_CELLS
    steps = np.arange(_FIRST_CELLS) + 0.5
    middles = 2 * half_m * steps if start > 0.0 else np.zeros(1)
    middle, place = map(np.ravel, np.meshgrid(middles, 2 * half_p * steps - 1.0))
    # the corner is where the least value is found, in practice
    best = float(_log_ratio(np.array([start]), np.ones(1), reach)[0])
    while True:
        value = _log_ratio(middle, place, reach)
        best = min(best, float(value.min()))
        most = np.tanh((middle + half_m + reach) / 2)
        least = np.tanh((middle - half_m - reach) / 2)
        bound = value - half_m * (most - least) - 2.0 * half_p * reach * most
        kept = bound < best - _TOLERANCE
        if 4 * np.count_nonzero(kept) > _MOST_CELLS:
            best = min(best, float(bound.min()))
            break
        if not kept.any():
            break
        half_m, half_p = half_m / 2, half_p / 2
        across = np.array([-half_m, half_m]) if start > 0.0 else np.zeros(1)
        along = np.array([-half_p, half_p])
        shift_m, shift_p = map(np.ravel, np.meshgrid(across, along))
        middle = (middle[kept][:, None] + shift_m).ravel()
        place = (place[kept][:, None] + shift_p).ravel()
    return math.exp(best - _TOLERANCE - _ROUND_OFF)


@dataclass(frozen=True, kw_only=True, slots=True)
class EnvelopeBounds:
    """What is known of a posterior on a ball, and of its envelope, without the rows.

    Every number holds for all tables of at most ``n_rows`` rows of norm at most
    ``data_norm``.

    Parameters
    ----------
    loss : Oscillating
        The loss of one row: logistic, squared, Huber or log-cosh.
    data_norm : float
        Bound R > 0 on the norm of a row, intercept constant included.
    ball : Ball
        Domain.
    n_rows : int
        Bound on the number of rows, >= 1.
    inverse_temperature : float
        gamma > 0.
    alpha : float
        Ridge > 0 on the sum of the losses.

    Examples
    --------
    >>> from skdp.losses import SquaredLoss
    >>> from skdp.samplers import Ball, EnvelopeBounds
    >>> bounds = EnvelopeBounds(
    ...     loss=SquaredLoss(), data_norm=1.0, ball=Ball.around_zero(2, 1.0),
    ...     n_rows=100, inverse_temperature=0.5, alpha=2.0)
    >>> bounds.smoothness, bounds.convexity, bounds.steepness
    (51.0, 1.0, 50.0)
    >>> round(bounds.acceptance(0.01), 4)
    0.0185
    """

    loss: Oscillating
    data_norm: float
    ball: Ball
    n_rows: int
    inverse_temperature: float
    alpha: float

    @property
    def convexity(self) -> float:
        """Strong convexity of J: that of the ridge."""
        return self.inverse_temperature * self.alpha

    @property
    def smoothness(self) -> float:
        """Bound on the largest eigenvalue of the Hessian of J, anywhere."""
        bend = self.n_rows * self.loss.constants(self.data_norm).smoothness
        return self.inverse_temperature * (bend + self.alpha)

    @property
    def steepness(self) -> float:
        """Bound on the gradient of J at the centre of the ball."""
        return self._gradient_bound(self.ball.center_norm)

    @property
    def tilt_product(self) -> float:
        """Bound on nu B^2 for the tilt that is taken."""
        reach = self.ball.reach
        if isinstance(self.loss, SquaredLoss):
            reach = self.ball.center_norm  # the parabola is the loss
        pull = self.ball.radius * self._gradient_bound(reach)
        half = 0.5 * (len(self.ball.center) + 2)
        return half + math.hypot(half, pull)

    @property
    def least_tilt(self) -> float:
        """Tilt that keeps a computed precision definite, whatever it is."""
        d = len(self.ball.center)
        return 4.0 * (self.n_rows + 16 * d * d) * _EPS * self.smoothness

    def acceptance(self, gap: float) -> float:
        """Return a lower bound on the probability that a proposal is accepted.

        0 where there is none.

        Parameters
        ----------
        gap : float
            Bound eta >= 0 on g'(theta^ - theta) over the ball, theta^ the point of
            expansion.
        """
        if self.least_tilt * self.ball.radius**2 > _MOST_ROUNDED:
            return 0.0  # sums of so many rows lose the digits that count
        r = curvature_ratio(
            self.loss,
            self.data_norm,
            center_norm=self.ball.center_norm,
            radius=self.ball.radius,
        )
        if r == 0.0:
            return 0.0
        # a chord shorter than this is replaced by curvatures at its ends
        log_r = math.log(r) - _NEAR * _steepness(self.loss)
        log_p1 = 0.5 * len(self.ball.center) * log_r
        log_p1 -= -math.expm1(0.5 * log_r) * gap
        if log_p1 < -_HOPELESS:
            return 0.0
        return _ROUNDING * math.exp(log_p1) * DENSITY / math.sqrt(1 + self.tilt_product)

    def _gradient_bound(self, reach: float) -> float:
        slope = self.loss.constants(self.data_norm, radius=reach).lipschitz
        ridge = self.alpha * self.ball.center_norm
        return self.inverse_temperature * (self.n_rows * slope + ridge)
