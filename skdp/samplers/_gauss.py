r"""A Gaussian below which a target stays, tilted towards the centre of a ball.

Notation (derived in docs/proofs/posterior_sampling.md)
-------------------------------------------------------
theta^   point of expansion, delta = theta - theta^, g = grad J(theta^)
A        gamma (X' W X + alpha I), W valid where it is used     -> ``precision``
c, B     centre and radius of the ball
u        theta^ - c                                               -> ``offset``
nu       tilt >= 0: inside the ball nu (|theta - c|^2 - B^2)/2 <= 0

Where W is valid, J - J^ >= g'delta + delta'A delta/2 + nu (|theta - c|^2 - B^2)/2.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, solve_triangular

from skdp._typing import FloatArray
from skdp.random import RandomSource, standard_normal
from skdp.samplers._ball import Ball
from skdp.samplers._envelope import Proposals
from skdp.samplers._factor import factored
from skdp.samplers._minorant import minorant_curvature
from skdp.samplers._mode import shift_for_radius
from skdp.samplers._target import GibbsTarget

__all__ = ["Gauss", "TiltedGaussian"]


@dataclass(frozen=True, slots=True)
class TiltedGaussian:
    """Density proportional to ``exp(-height)``, and the log of its mass."""

    gradient: FloatArray
    precision: FloatArray
    offset: FloatArray
    tilt: float
    radius: float
    factor: FloatArray
    mean: FloatArray
    log_mass: float

    @classmethod
    def fit(
        cls, g: FloatArray, A: FloatArray, theta: FloatArray, ball: Ball | None
    ) -> "TiltedGaussian":
        """Return the one of least mass: its mean squared distance from c is B^2."""
        if ball is None:
            offset, tilt, radius, room = np.zeros_like(g), 0.0, math.inf, 0.0
        else:
            offset, radius = theta - ball.midpoint, ball.radius
            tilt = _tilt(A, g, offset, radius)
            room = 0.5 * tilt * float(radius**2 - offset @ offset)
        tilted, factor = factored(A + tilt * np.eye(len(g)))
        b = g + tilt * offset
        mean = -cho_solve((factor, True), b)
        log_mass = (
            0.5 * len(g) * math.log(2 * math.pi)
            - float(np.sum(np.log(np.diag(factor))))
            - 0.5 * float(b @ mean)
            + room
        )
        precision = tilted - tilt * np.eye(len(g))
        return cls(g, precision, offset, tilt, radius, factor, mean, log_mass)

    def steps(self, z: FloatArray) -> FloatArray:
        """Turn standard normal rows into draws of delta."""
        away = solve_triangular(self.factor, z.T, lower=True, trans="T")
        out: FloatArray = self.mean + away.T
        return out

    def heights(self, steps: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return minus the log of the unnormalised density, and the tilt's share."""
        quadratic = np.einsum("ij,ij->i", steps @ self.precision, steps)
        height = steps @ self.gradient + 0.5 * quadratic
        tilt = np.zeros(len(steps))
        if self.tilt > 0.0:
            away = np.einsum("ij,ij->i", steps + self.offset, steps + self.offset)
            tilt = 0.5 * self.tilt * (away - self.radius**2)
        return height + tilt, tilt


def _tilt(A: FloatArray, g: FloatArray, offset: FloatArray, radius: float) -> float:
    values, vectors = np.linalg.eigh(A)
    # rounding may leave an eigenvalue of a huge matrix below the ridge it contains
    values = np.maximum(values, 1e-14 * values[-1])
    b = vectors.T @ (A @ offset - g)
    return shift_for_radius(values, b, np.ones_like(b), radius)


@dataclass(frozen=True, slots=True)
class Gauss:
    """Envelope of one Gaussian, whose weights hold on the whole domain."""

    core: TiltedGaussian

    @classmethod
    def fit(
        cls, target: GibbsTarget, theta: FloatArray, g: FloatArray, H: FloatArray
    ) -> "Gauss":
        """Return the envelope; without a ball the potential has to be quadratic."""
        A = H if target.is_gaussian else _ball_precision(target, theta)
        return cls(TiltedGaussian.fit(g, A, theta, target.ball))

    @property
    def log_mass(self) -> float:
        """Log of the integral of the bound; acceptance is the target's over it."""
        return self.core.log_mass

    def propose(self, size: int, source: RandomSource) -> Proposals:
        """Draw ``size`` points."""
        d = self.core.mean.size
        steps = self.core.steps(standard_normal(size * d, source).reshape(size, d))
        height, ceiling = self.core.heights(steps)
        # whether a point lies in the ball is for the domain to say
        return Proposals(steps, height, ceiling, np.ones(size, dtype=bool))


def _ball_precision(target: GibbsTarget, theta: FloatArray) -> FloatArray:
    """Return A with weights that hold on the whole ball."""
    ball = target.ball
    if ball is None:
        raise ValueError(
            "a single Gaussian has no ball to cover. Allowed: a ball, or the squared "
            "loss. Use the envelope 'core-tail'."
        )

    def weights(x: FloatArray, y: FloatArray) -> list[FloatArray]:
        z0, middle = x @ theta, x @ ball.midpoint
        width = ball.radius * np.linalg.norm(x, axis=1)
        low, high = np.minimum(z0, middle - width), np.maximum(z0, middle + width)
        return [minorant_curvature(target.loss, y, z0, low, high)]

    return target.grams(weights, 1)[0]
