r"""Newton and quasi-Newton steps that converge from any start, without values of J.

Acceptance of a step t p from theta, p a direction of descent, g+ the new gradient:

- the gradient norm is at most half the smallest one so far, or
- :math:`g_+^T p \le 0`: the step stops short of the minimum along p.

The second kind decreases J by a fixed share of what the line offers, because J is convex
along it and t shrinks only after an overshoot; the first kind can happen only as often
as the norm can be halved before it is below the tolerance. So the gradient tends to
zero. Unlike differences of J, which drown in rounding when n is large, both tests keep
their meaning down to the rounding of the gradient itself.
"""

import math

import numpy as np

from skdp._typing import FloatArray
from skdp.solvers._model import QuadraticModel
from skdp.solvers._problem import Problem

__all__ = ["Descent", "warm_start"]

#: Shares of the rows on which the start is found, each from the answer of the one before.
_PARTS = (0.02, 0.2)
#: A part smaller than this many rows a coefficient says little about the whole.
_ROWS_A_COEFFICIENT = 20
#: Steps on a part; from far away the whole may need more, and takes them itself.
_PART_STEPS = 10
#: With a fresh Hessian about this many passes remain.
_FRESH_PASSES = 3.0
#: Forming a Hessian costs this many gradients more than forming a gradient, and one
#: more for each 80 columns; measured.
_HESSIAN_COST, _COLUMNS_A_PASS = 1.2, 80.0
#: Passes without a new smallest gradient after which only rounding is left to blame.
_PATIENCE = 100


class Descent:
    """The state of one minimisation: a point, its gradient, and a model."""

    def __init__(
        self, problem: Problem, theta: FloatArray, model: QuadraticModel | None
    ) -> None:
        self.problem, self.theta, self.model = problem, theta, model
        self.gradient = self._evaluate(theta, fresh=model is None)
        self.norm = self.best_norm = float(np.linalg.norm(self.gradient))
        self.best_theta = theta
        self.fresh = False
        self._stalled = 0

    def run(self, tolerance: float) -> None:
        """Step until the gradient norm is at most ``tolerance``."""
        while self.best_norm > tolerance and self._stalled < _PATIENCE:
            before = self.norm
            self.step()
            self.fresh = self._needs_hessian(before, tolerance)

    def step(self) -> None:
        """Take one accepted step along the direction of the model."""
        direction = self.model.direction(self.gradient)
        slope = float(self.gradient @ direction)
        if not slope < 0.0:
            direction, slope = self._steepest()
        length = 1.0
        while True:
            theta = self.theta + length * direction
            gradient = self._evaluate(theta, fresh=self.fresh)
            norm = float(np.linalg.norm(gradient))
            ahead = float(gradient @ direction)
            halved = norm <= 0.5 * self.best_norm
            self._record(theta, norm)
            if halved or ahead <= 0.0 or self._stalled >= _PATIENCE:
                break
            length *= _shorten(slope, ahead)
        if not self.fresh:
            self.model.learn(theta - self.theta, gradient - self.gradient)
        self.theta, self.gradient, self.norm = theta, gradient, norm

    def _evaluate(self, theta: FloatArray, *, fresh: bool) -> FloatArray:
        """Return the gradient; rebuild the model there if asked to."""
        if not fresh:
            return self.problem.gradient(theta)
        gradient, hessian = self.problem.gradient_hessian(theta)
        self.model = QuadraticModel(hessian, self.problem.alpha)
        return gradient

    def _record(self, theta: FloatArray, norm: float) -> None:
        self._stalled += 1
        if norm < self.best_norm:
            if norm < 0.9 * self.best_norm:
                self._stalled = 0
            self.best_norm, self.best_theta = norm, theta

    def _needs_hessian(self, before: float, tolerance: float) -> bool:
        """Return whether a new Hessian pays at the present rate of convergence."""
        if not self.norm < 0.5 * before:
            return True
        if self.fresh or self.norm <= tolerance:
            # the model is new, and its rate not yet known; or all is done
            return False
        remaining = math.log(self.norm / tolerance) / math.log(before / self.norm)
        cost = _HESSIAN_COST + self.theta.size / _COLUMNS_A_PASS
        return remaining > _FRESH_PASSES + cost

    def _steepest(self) -> tuple[FloatArray, float]:
        # only rounding brings the model here
        self.fresh = True
        direction = -self.gradient / self.norm
        return direction, -self.norm


def _shorten(slope: float, ahead: float) -> float:
    """Return the factor by which a step that overshot is shortened."""
    # secant of the derivative along the line, a little short of its zero
    factor = 0.9 * slope / (slope - ahead)
    return min(0.9, max(0.1, factor)) if math.isfinite(factor) else 0.1


def warm_start(problem: Problem) -> tuple[FloatArray, QuadraticModel | None]:
    """Return a point and a model found on parts spread over the table."""
    theta = np.zeros(problem.table.n_coefficients)
    model = None
    for fraction in _PARTS:
        part = problem.part(fraction)
        if part is not None:
            theta, model = _solve_part(part, theta, model)
    return theta, model


def _solve_part(
    part: Problem, theta: FloatArray, model: QuadraticModel | None
) -> tuple[FloatArray, QuadraticModel]:
    """Return the minimiser of a part to within its own statistical error."""
    descent = Descent(part, theta, model)
    descent.fresh = True
    if model is not None:
        descent.step()
    for _ in range(_PART_STEPS):
        direction = descent.model.direction(descent.gradient)
        # at the minimiser of the whole, g' H^-1 g of a part is about d / share
        if -float(descent.gradient @ direction) <= theta.size / part.share:
            break
        descent.step()
    # one more step, not looked at: the whole will tell
    return descent.theta + direction, descent.model
