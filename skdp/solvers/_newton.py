r"""Newton and quasi-Newton steps that converge from any start, without values of J.

A step t p from theta, p a direction of descent and g+ the new gradient, is accepted if

- the gradient norm is at most half the smallest one so far, or
- :math:`g_+^T p \le 0`: the step stops short of the minimum along p.

A step of the second kind decreases J by a fixed share of what the line offers, because
J is convex along it and t shrinks only after an overshoot; steps of the first kind are
as few as the times the norm can be halved before it is below the tolerance. So the
gradient tends to zero. Differences of J drown in rounding when there are many rows; the
two tests keep their meaning down to the rounding of the gradient itself.
"""

import math
from typing import Protocol

import numpy as np

from skdp._typing import FloatArray
from skdp.solvers._bracket import Bracket
from skdp.solvers._model import Model

__all__ = ["Descent", "Differentiable", "refine", "warm_start"]

#: Steps on a part; from far away the whole may need more, and takes them itself.
_PART_STEPS = 10
#: With a fresh model about this many passes remain.
_FRESH_PASSES = 3.0
#: A step on rough gradients that leaves more than this has met their rounding, or a
#: problem that needs care.
_ROUGH_GAIN = 0.5
#: Steps that leave less than this in all end near the minimum.
_NEAR = 1e-3
#: Share of the tolerance that tangents leave to their own errors.
_SPARE = 0.8
#: Passes without progress after which a gradient within its rounding is the answer.
_PATIENCE = 100
#: Progress is a gradient smaller by this factor.
_PROGRESS = 0.9


class Differentiable(Protocol):
    """A strongly convex objective whose sums may run over a part of the rows."""

    linear: FloatArray
    share: float
    n_passes: int

    @property
    def parts(self) -> tuple[float, ...]:
        """Shares of the rows on which a start is found, each from the answer before."""
        ...

    @property
    def matrix_free(self) -> bool:
        """Whether the Hessian is too large to be formed."""
        ...

    @property
    def hessian_cost(self) -> float:
        """What a Hessian costs more than a gradient, in gradients."""
        ...

    def gradient(self, theta: FloatArray) -> FloatArray:
        """Return the gradient at ``theta``."""
        ...

    def gradient_model(self, theta: FloatArray) -> tuple[FloatArray, Model]:
        """Return gradient and a fresh model at ``theta``."""
        ...

    def part(self, fraction: float) -> "Differentiable | None":
        """Return the objective on about ``fraction`` of the rows, if that is cheap."""
        ...

    def rough(self) -> "Differentiable | None":
        """Return the objective with cheap gradients of a few digits, if there are."""
        ...

    def tangent(self, theta: FloatArray) -> "Differentiable":
        """Return the objective with a cheap tangent of its gradient."""
        ...

    def ridge_rounding(self, theta: FloatArray) -> float:
        """Return the rounding of ridge and linear term, which cancel in the end."""
        ...

    def rounding(self, theta: FloatArray) -> float:
        """Return a bound on the rounding of the gradient, whatever the rows."""
        ...


class Descent:
    """The state of one minimisation: a point, its gradient, and a model there.

    Parameters
    ----------
    problem : Differentiable
    theta : ndarray
        Where to start.
    model : Model, optional
        A model from elsewhere; without one it is formed at the start.
    """

    def __init__(
        self, problem: Differentiable, theta: FloatArray, model: Model | None = None
    ) -> None:
        self.problem, self.theta = problem, theta
        if model is None:
            self.gradient, self.model = problem.gradient_model(theta)
        else:
            self.gradient, self.model = problem.gradient(theta), model
        self.norm = float(np.linalg.norm(self.gradient))
        self.best_theta, self.best_norm = theta, self.norm
        #: whether the next step ends with a new model
        self.renew = problem.matrix_free
        self._idle = 0

    def run(self, tolerance: float) -> None:
        """Step until the gradient norm is at most ``tolerance``, or is rounding."""
        # not `>`: a norm that is no number is no certificate
        while not self.best_norm <= tolerance and not self._is_rounding():
            before = self.norm
            self.step()
            self.renew = self._model_pays(before, tolerance)

    def step(self) -> None:
        """Take one accepted step along the direction of the model."""
        direction = self.model.direction(self.gradient)
        slope = float(self.gradient @ direction)
        if not slope < 0.0:
            # only rounding can spoil a positive definite model
            direction, slope, self.renew = -self.gradient, -(self.norm**2), True
        bracket = Bracket(slope)
        while True:
            theta = self.theta + bracket.length * direction
            gradient, model = self._look(theta)
            norm = float(np.linalg.norm(gradient))
            halved = norm <= 0.5 * self.best_norm
            self._record(theta, norm)
            if halved or bracket.accepts(float(gradient @ direction)):
                break
        model.learn(theta - self.theta, gradient - self.gradient)
        self.theta, self.gradient, self.model = theta, gradient, model
        self.norm = norm

    def _look(self, theta: FloatArray) -> tuple[FloatArray, Model]:
        if self.renew:
            return self.problem.gradient_model(theta)
        return self.problem.gradient(theta), self.model

    def _record(self, theta: FloatArray, norm: float) -> None:
        self._idle += 1
        if norm < _PROGRESS * self.best_norm:
            self._idle = 0
        if norm < self.best_norm:
            self.best_theta, self.best_norm = theta, norm

    def _is_rounding(self) -> bool:
        """Return whether the best gradient cannot be told from zero."""
        if self._idle < _PATIENCE:
            return self.best_norm <= self.problem.ridge_rounding(self.best_theta)
        return self.best_norm <= self.problem.rounding(self.best_theta)

    def _model_pays(self, before: float, tolerance: float) -> bool:
        """Return whether a new model pays at the present rate of convergence."""
        if self.problem.matrix_free or not self.norm < 0.5 * before:
            return True
        if self.renew or self.norm <= tolerance:
            # the model is new, and its rate not known yet; or all is done
            return False
        remaining = math.log(self.norm / tolerance) / math.log(before / self.norm)
        return remaining > _FRESH_PASSES + self.problem.hessian_cost


def warm_start(
    problem: Differentiable,
    theta: FloatArray | None = None,
    model: Model | None = None,
    parts: tuple[float, ...] | None = None,
) -> tuple[FloatArray, Model | None]:
    """Return a point and a model found on parts spread over the table.

    The first part starts at ``theta``, by default at zero, and with ``model``; the
    parts are those of the problem unless others are given.
    """
    if theta is None:
        theta = np.zeros(problem.linear.size)
    for fraction in problem.parts if parts is None else parts:
        part = problem.part(fraction)
        if part is not None:
            theta, model = _solve_part(part, theta, model)
    return theta, model


def refine(
    problem: Differentiable, theta: FloatArray, model: Model, tolerance: float
) -> FloatArray:
    """Return a point to which cheap gradients lead, where there are any.

    The model learns on the way. The tangent of the gradient leads further than rough
    gradients do, and is of use near the minimum only.
    """
    rough = problem.rough()
    if rough is None:
        return theta
    theta, is_near = _descend(rough, theta, model, tolerance)
    problem.n_passes += rough.n_passes
    if not is_near:
        return theta
    tangent = problem.tangent(theta)
    theta, _ = _descend(tangent, theta, model, _SPARE * tolerance)
    problem.n_passes += tangent.n_passes
    return theta


def _descend(
    rough: Differentiable, theta: FloatArray, model: Model, tolerance: float
) -> tuple[FloatArray, bool]:
    """Return where whole steps lead while each gains, and whether they gained much."""
    gradient = rough.gradient(theta)
    start = norm = float(np.linalg.norm(gradient))
    while norm > max(tolerance, rough.rounding(theta)):
        step = model.direction(gradient)
        after = rough.gradient(theta + step)
        before, norm = norm, float(np.linalg.norm(after))
        if not norm < before:
            return theta, before <= _NEAR * start
        theta = theta + step
        if norm > _ROUGH_GAIN * before:
            break
        model.learn(step, after - gradient)
        gradient = after
    return theta, norm <= _NEAR * start


def _solve_part(
    part: Differentiable, theta: FloatArray, model: Model | None
) -> tuple[FloatArray, Model]:
    """Return the minimiser of a part, to within its own statistical error."""
    descent = Descent(part, theta, model)
    descent.renew = True
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
