r"""The point of the domain where the potential is smallest, nearly.

Any point of the domain gives the exact law; one near the mode gives a fast sampler. So
a few digits are enough, and nothing here is certified.

Notation
--------
g, H     gradient and Hessian of J at theta
u        theta minus the centre of the ball
s        step: minimises :math:`g^T s + s^T H s / 2` over :math:`|u + s| \le B`
"""

import numpy as np
from scipy.optimize import brentq

from skdp._typing import FloatArray
from skdp.samplers._ball import Ball
from skdp.samplers._factor import solved
from skdp.samplers._target import GibbsTarget
from skdp.solvers._bracket import Bracket

__all__ = ["near_mode"]

#: Steps end when the model promises less than this in J, whose scale is 1 ...
_PROMISE = 1e-6
#: ... or after this many: from far away a damped step gains at least a constant.
_MAX_STEPS = 200
#: A point on the border is kept this much inside, relative to the radius.
_INSIDE = 1.0 - 1e-12


def near_mode(target: GibbsTarget) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a point near the mode with gradient and Hessian of J there."""
    ball = target.ball
    theta = np.zeros(target.n_coefficients) if ball is None else ball.midpoint
    g, H = target.gradient_hessian(theta)
    for _ in range(_MAX_STEPS):
        step = _model_step(g, H, theta, ball)
        slope = float(g @ step)
        if not slope < -_PROMISE:
            break
        bracket = Bracket(slope)
        while True:
            here = theta + bracket.length * step
            g, H = target.gradient_hessian(here)
            if bracket.accepts(float(g @ step)):
                break
        theta = here
    return theta, g, H


def _model_step(
    g: FloatArray, H: FloatArray, theta: FloatArray, ball: Ball | None
) -> FloatArray:
    """Return the minimiser of the quadratic model over the domain, as a step."""
    if ball is None:
        return solved(H, -g)
    u = theta - ball.midpoint
    values, vectors = np.linalg.eigh(H)
    # rounding may leave an eigenvalue of a huge matrix below the ridge it contains
    values = np.maximum(values, 1e-14 * values[-1])
    b = vectors.T @ (H @ u - g)
    shift = shift_for_radius(values, b, np.zeros_like(b), ball.radius)
    away: FloatArray = vectors @ (b / (values + shift))
    length = float(np.linalg.norm(away))
    limit = ball.radius * _INSIDE
    return away * min(1.0, limit / length if length > 0.0 else 1.0) - u


def shift_for_radius(
    values: FloatArray, b: FloatArray, spread: FloatArray, radius: float
) -> float:
    r"""Return the least tilt nu >= 0 that keeps a squared distance within B^2.

    The distance is :math:`\sum_i (b_i/(v_i+\nu))^2 + s_i/(v_i+\nu)`, s the ``spread``.
    """

    def excess(nu: float) -> float:
        """Return the sum over its bound, less one."""
        inverse = 1.0 / (values + nu)
        size = np.sum((b * inverse) ** 2) + np.sum(spread * inverse)
        return float(size / radius**2 - 1.0)

    if excess(0.0) <= 0.0:
        return 0.0
    high = float(values[-1])
    while excess(high) > 0.0:
        high *= 4.0
    return float(brentq(excess, 0.0, high, xtol=1e-12 * high, rtol=1e-12))
