r"""Draws from nearly a Gibbs posterior by an amount of work that is known beforehand.

Notation (derived in docs/proofs/bounded_posterior.md)
------------------------------------------------------
p        the Gibbs posterior on the ball
u        the uniform law on the ball
N        proposals of one draw, all of them evaluated               -> ``n_proposals``
q        probability that none is accepted, (1 - acceptance)^N
omega    probability of a uniform point in the end                       -> ``mixing``

The law of a draw is (1 - omega) ((1 - q) p + q u) + omega u.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve

from skdp._typing import BoolArray, FloatArray
from skdp.random import RandomSource, standard_normal, uniform
from skdp.samplers._acceptance import EnvelopeBounds
from skdp.samplers._fixed_descent import descend
from skdp.samplers._gauss import TiltedGaussian, _ball_precision
from skdp.samplers._target import GibbsTarget
from skdp.samplers._uniform_ball import mix_with_uniform, uniform_points

__all__ = ["BoundedSampler", "FixedEnvelope"]

#: Halvings of the bracket of log nu, which spans less than e^70: to 1e-12.
_BISECTIONS = 48
#: Room that is left below B^2, relative to it, where the tilt is small.
_ROOM = 1e-4
#: Proposals held at once.
_BLOCK = 2**12


@dataclass(frozen=True, slots=True)
class FixedEnvelope:
    """Point of expansion and single Gaussian above the target, by fixed work.

    Attributes
    ----------
    point : ndarray of shape (n_coefficients,)
        Point of expansion. A function of private data, as all of this.
    height : float
        Potential there.
    gaussian : TiltedGaussian
        The law of the proposals, before the border of the ball.
    """

    point: FloatArray
    height: float
    gaussian: TiltedGaussian

    @classmethod
    def fit(
        cls, target: GibbsTarget, bounds: EnvelopeBounds, n_steps: int
    ) -> "FixedEnvelope":
        """Descend ``n_steps`` steps, expand there, and tilt.

        Parameters
        ----------
        target : GibbsTarget
            On the ball of ``bounds``.
        bounds : EnvelopeBounds
            Public numbers that hold for the target.
        n_steps : int
            Steps of the descent.
        """
        ball = bounds.ball
        gradient = target.gradient
        if target.is_gaussian:
            at_center, H = target.gradient_hessian(ball.midpoint)

            def gradient(theta: FloatArray) -> FloatArray:
                """Return the gradient of a parabola, without a look at the rows."""
                out: FloatArray = at_center + H @ (theta - ball.midpoint)
                return out

        point = descend(
            gradient,
            ball,
            smoothness=bounds.smoothness,
            convexity=bounds.convexity,
            n_steps=n_steps,
        )
        A = H if target.is_gaussian else _ball_precision(target, point)
        height = float(target.potential(point[None])[0])
        return cls(point, height, _tilted(gradient(point), A, point, bounds))


def _tilted(
    g: FloatArray, A: FloatArray, point: FloatArray, bounds: EnvelopeBounds
) -> TiltedGaussian:
    """Return the Gaussian whose mean squared distance from c is B^2, or a bit less.

    A bit, so that rounding cannot carry it beyond.
    """
    ball = bounds.ball
    offset, B = point - ball.midpoint, ball.radius
    low, high = bounds.least_tilt, bounds.tilt_product / B**2
    for _ in range(_BISECTIONS):
        middle = math.sqrt(low * high)
        room = min(_ROOM * B**2, 2.0 / middle)
        too_far = _spread(_factor(A, middle), g, offset, middle) + room > B**2
        low, high = (middle, high) if too_far else (low, middle)
    factor = _factor(A, high)
    mean: FloatArray = -cho_solve((factor, True), g + high * offset)
    log_mass = (
        0.5 * len(g) * math.log(2 * math.pi)
        - float(np.sum(np.log(np.diag(factor))))
        - 0.5 * float((g + high * offset) @ mean)
        + 0.5 * high * float(B**2 - offset @ offset)
    )
    return TiltedGaussian(g, A, offset, high, B, factor, mean, log_mass)


def _factor(A: FloatArray, tilt: float) -> FloatArray:
    """Return the Cholesky factor; the least tilt keeps the matrix definite."""
    return np.asarray(np.linalg.cholesky(A + tilt * np.eye(len(A))))


def _spread(
    factor: FloatArray, g: FloatArray, offset: FloatArray, tilt: float
) -> float:
    """Return the mean squared distance of the tilted Gaussian from the centre."""
    whiten = np.linalg.inv(factor)
    mean = offset - whiten.T @ (whiten @ (g + tilt * offset))
    return float(mean @ mean + np.sum(whiten * whiten))


class BoundedSampler:
    """Draws of constant work from a mixture of a posterior and the uniform law.

    Exactly ``n_proposals`` are drawn and evaluated for each draw. The first that is
    accepted is taken, a uniform point of the ball if none is; with probability
    ``mixing`` a fresh uniform point takes its place. The number of arithmetic
    operations, of passes over the rows and of random bytes depends on the arguments
    and on the shape of the target's table alone.

    Parameters
    ----------
    target : GibbsTarget
        On a ball. A table padded to a public number of rows makes the work public.
    bounds : EnvelopeBounds
        Public numbers that hold for the target.
    source : RandomSource
        Where the randomness comes from.
    n_proposals : int
        Proposals of one draw, >= 1.
    n_steps : int
        Steps of the descent to the point of expansion, >= 1.
    mixing : float
        Probability of a uniform point, within [0, 1].

    Attributes
    ----------
    envelope : FixedEnvelope
        A function of private data.
    max_log_acceptance : float
        Largest log acceptance before it is cut at 0. A function of private data.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import LogisticLoss
    >>> from skdp.random import as_random_source
    >>> from skdp.rows import L2Ball, PrivateRows, as_row_blocks
    >>> from skdp.samplers import Ball, BoundedSampler, EnvelopeBounds, GibbsTarget
    >>> blocks = as_row_blocks(np.array([[0.6, 0.8]]), np.array([1.0]))
    >>> ball, rows = Ball.around_zero(2, 1.0), PrivateRows(blocks, L2Ball(1.0))
    >>> numbers = dict(inverse_temperature=1.0, alpha=1.0, ball=ball)
    >>> target = GibbsTarget(rows, LogisticLoss(), **numbers)
    >>> bounds = EnvelopeBounds(
    ...     loss=LogisticLoss(), data_norm=1.0, n_rows=1, **numbers)
    >>> sampler = BoundedSampler(
    ...     target, bounds, as_random_source(0), n_proposals=100, n_steps=50,
    ...     mixing=1e-6)
    >>> sampler.draw(3).shape
    (3, 2)
    """

    def __init__(
        self,
        target: GibbsTarget,
        bounds: EnvelopeBounds,
        source: RandomSource,
        *,
        n_proposals: int,
        n_steps: int,
        mixing: float,
    ) -> None:
        self._target, self._ball, self._source = target, bounds.ball, source
        self._n_proposals, self._mixing = n_proposals, mixing
        self.envelope = FixedEnvelope.fit(target, bounds, n_steps)
        self._rise = target.rise_from(self.envelope.point)
        self.max_log_acceptance = -np.inf

    def draw(self, size: int) -> FloatArray:
        """Return independent draws, shape (size, n_coefficients).

        Parameters
        ----------
        size : int
            How many, >= 0.
        """
        # short draws are made together, long ones in blocks
        together = max(1, _BLOCK // self._n_proposals)
        kept = [np.empty((0, len(self._ball.center)))]
        for start in range(0, size, together):
            first = self._first_accepted(min(together, size - start))
            kept.append(
                mix_with_uniform(
                    first, self._ball, probability=self._mixing, source=self._source
                )
            )
        return np.concatenate(kept)

    def _first_accepted(self, size: int) -> FloatArray:
        """Return the first accepted proposals, uniform points where there is none."""
        chosen = uniform_points(self._ball, size, self._source)
        found = np.zeros(size, dtype=bool)
        width = max(1, _BLOCK // size)
        for start in range(0, self._n_proposals, width):
            m = min(width, self._n_proposals - start)
            points, accepted = self._proposals(size * m)
            accepted = accepted.reshape(size, m)
            first = points.reshape(size, m, -1)[
                np.arange(size), np.argmax(accepted, axis=1)
            ]
            new = accepted.any(axis=1) & ~found
            chosen = np.where(new[:, None], first, chosen)
            found |= new
        return chosen

    def _proposals(self, size: int) -> tuple[FloatArray, BoolArray]:
        """Draw proposals, and decide on every one of them."""
        gaussian, d = self.envelope.gaussian, len(self._ball.center)
        steps = gaussian.steps(standard_normal(size * d, self._source).reshape(size, d))
        points = self.envelope.point + steps
        height, tilt = gaussian.heights(steps)
        if self._target.is_gaussian:
            # the quadratic model is the potential: what is left is the tilt
            log_acceptance = tilt
        else:
            log_acceptance = height - self._rise(steps)
        inside = self._target.inside(points)
        log_acceptance = np.where(inside, log_acceptance, -np.inf)
        self.max_log_acceptance = max(
            self.max_log_acceptance, float(np.max(log_acceptance))
        )
        # a value above 0 counts as 0
        wait = -np.log(uniform(size, self._source))
        accepted: BoolArray = inside & (wait >= -np.minimum(log_acceptance, 0.0))
        return points, accepted
