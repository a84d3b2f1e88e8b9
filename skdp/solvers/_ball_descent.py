r"""Newton steps on a ball, from any start, without values of the objective.

A step leads from u towards the minimiser of a quadratic model over the ball, so along a
chord, and is accepted by the rule of ``_newton.py``: the norm of the gradient mapping
is at most half the smallest so far, or the objective still falls at the end of the
step. Both mean progress, since the model's minimiser lies downhill.
"""

import numpy as np

from skdp._typing import FloatArray
from skdp.solvers._ball_model import Chord, Place, SpectralModel, gradient_mapping
from skdp.solvers._bracket import Bracket
from skdp.solvers._problem import Problem

__all__ = ["BallDescent"]

#: A model stays while a step with it makes the mapping this much smaller.
_GOOD_STEP = 0.125
#: Passes without progress after which a mapping within its rounding is the answer.
_PATIENCE = 100
#: Progress is a mapping smaller by this factor.
_PROGRESS = 0.9
#: Four roundings of float64.
_EPS = 4.0 * float(np.finfo(np.float64).eps)


class BallDescent:
    """The state of one constrained minimisation: a point of the ball, and a model.

    Parameters
    ----------
    problem : Problem
    center : ndarray of shape (n_coefficients,)
    radius : float
        The ball, in the units of the problem.
    smoothness : float
        Bound on the curvature of the objective.
    start : ndarray of shape (n_coefficients,)
        A point outside the ball; its projection is where to start.
    """

    def __init__(
        self,
        problem: Problem,
        center: FloatArray,
        radius: float,
        smoothness: float,
        start: FloatArray,
    ) -> None:
        self.problem, self.center, self.radius = problem, center, radius
        self.smoothness = smoothness
        away = start - center
        offset = away * (radius / np.linalg.norm(away))
        self.place = Place(offset, on_border=True)
        self.gradient, hessian = problem.gradient_hessian(center + offset)
        self.model = SpectralModel(hessian, problem.alpha)
        self.best_place, self.best_norm = (
            self.place,
            self._norm(self.place, self.gradient),
        )
        self._renew, self._idle = False, 0

    @property
    def best_theta(self) -> FloatArray:
        """The best point so far."""
        return self.center + self.best_place.offset

    def run(self, tolerance: float) -> None:
        """Step until the norm of the gradient mapping is at most ``tolerance``."""
        # not `>`: a norm that is no number is no certificate
        while not self.best_norm <= tolerance and not self._is_rounding():
            before = self.best_norm
            self._step()
            self._renew = not self.best_norm <= _GOOD_STEP * before

    def _step(self) -> None:
        """Take one accepted step; the first one of a run has a fresh model."""
        start = self.place
        goal = self.model.minimiser(start.offset, self.gradient, self.radius)
        chord = Chord(start, goal, self.radius)
        slope = chord.slope(self.gradient)
        if not slope < 0.0:
            # only rounding can spoil a convex model: its whole step is as good as any
            self._renew = True
        bracket = Bracket(slope)
        while True:
            length = bracket.length
            offset = start.offset + length * chord.direction
            place = goal if length == 1.0 else Place(offset, on_border=False)
            gradient = self._look(place)
            norm = self._norm(place, gradient)
            halved = norm <= 0.5 * self.best_norm
            self._record(place, norm)
            if halved or not slope < 0.0 or bracket.accepts(chord.slope(gradient)):
                break
        self.place, self.gradient = place, gradient

    def _look(self, place: Place) -> FloatArray:
        theta = self.center + place.offset
        if not self._renew:
            return self.problem.gradient(theta)
        gradient, hessian = self.problem.gradient_hessian(theta)
        self.model = SpectralModel(hessian, self.problem.alpha)
        return gradient

    def _norm(self, place: Place, gradient: FloatArray) -> float:
        mapping = gradient_mapping(place, gradient, self.smoothness, self.radius)
        return float(np.linalg.norm(mapping))

    def _record(self, place: Place, norm: float) -> None:
        self._idle = 0 if norm < _PROGRESS * self.best_norm else self._idle + 1
        if norm < self.best_norm:
            self.best_place, self.best_norm = place, norm

    def _is_rounding(self) -> bool:
        """Return whether the best mapping cannot be told from zero."""
        theta = self.best_theta
        if self._idle < _PATIENCE:
            return self.best_norm <= self.problem.ridge_rounding(theta)
        size = float(np.linalg.norm(self.center)) + self.radius
        placed = _EPS * self.smoothness * size
        return self.best_norm <= self.problem.rounding(theta) + placed
