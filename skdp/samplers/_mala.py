r"""The Metropolis-adjusted Langevin algorithm on a domain, by restarts. A heuristic.

The chain runs on the whole space, where the potential of a linear model is defined.
Where its last point lies outside the domain, the whole run is void and another one
starts afresh: the law of a converged chain, given that it ends in the domain, is the
restricted one. To refuse single proposals outside, or to pull them in, would be another
chain.

Notation
--------
J        potential, defined everywhere
M        Hessian of J at its mode on the whole space, M = L L'
z        whitened position, theta = mode + L'^-1 z; the chain moves in z
g        gradient in z: L^-1 grad J
h        step size in z                                             -> ``step``
K, T     steps of a run, and runs at most            -> ``n_steps``, ``n_restarts``
"""

import copy
import math
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from scipy.linalg import solve_triangular

from skdp._typing import FloatArray
from skdp._validation import check_count, check_positive
from skdp.random import RandomSource, standard_normal, uniform
from skdp.samplers._factor import factored
from skdp.samplers._mode import near_mode
from skdp.samplers._target import GibbsTarget
from skdp.samplers._uniform_ball import uniform_points

__all__ = ["mala", "mala_steps"]

#: Public step size times sqrt(d): in z the curvature at the mode is 1.
_STEP = 0.5
#: Public number of steps over sqrt(d), rounded up.
_STEPS = 200
#: If a run ends in the domain with probability 1 - 1/e, all fail with e^-32.
_RESTARTS = 32
#: Margins formed at once: a block of rows times this many columns stays in cache.
_MARGINS = 2**16


def mala(
    target: GibbsTarget,
    n_draws: int,
    source: RandomSource,
    *,
    step: float | Literal["auto"] = "auto",
    n_steps: int | Literal["auto"] = "auto",
    n_restarts: int = _RESTARTS,
) -> FloatArray:
    r"""Return draws that are near the law of a target after enough steps. No claim.

    One chain for each draw, side by side, with the curvature at the mode as metric:

    .. math:: z' = z - h g(z) + \sqrt{2h}\, \xi,

    accepted by the Metropolis rule. A run that ends outside the ball is thrown away and
    begun again. After ``n_restarts`` runs the answer is a fresh uniform point of the
    ball, never a state of the chain. On the whole space no run ends outside.

    Parameters
    ----------
    target : GibbsTarget
        What to sample.
    n_draws : int
        How many draws, >= 0.
    source : RandomSource
        Where the randomness comes from.
    step : float or "auto", default="auto"
        h > 0. ``"auto"`` is :math:`1 / (2 \sqrt d)`, a public number.
    n_steps : int or "auto", default="auto"
        K >= 1. ``"auto"`` is :func:`mala_steps`, a public number.
    n_restarts : int, default=32
        T >= 1. At most ``n_restarts * n_steps`` steps are made, each of one pass over
        the rows, whatever the target and the step size.

    Returns
    -------
    ndarray of shape (n_draws, n_coefficients)
        The same for the same source.

    Raises
    ------
    ValueError
        If a number is out of range. Nothing else raises, warns or prints.

    Notes
    -----
    How far the law is from the target after a given number of steps is not known; what
    is proved asks for millions of times more (:func:`random_walk_steps`). So no
    guarantee follows from that of the target. :class:`GibbsSampler` draws exactly.

    References
    ----------
    G. O. Roberts and R. L. Tweedie, "Exponential convergence of Langevin distributions
    and their discrete approximations", Bernoulli, 1996. Y. Lin and others, "Tractable
    MCMC for private learning with pure and Gaussian differential privacy", 2023, for
    the restarts.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import LogisticLoss
    >>> from skdp.random import as_random_source
    >>> from skdp.rows import L2Ball, PrivateRows, as_row_blocks
    >>> from skdp.samplers import Ball, GibbsTarget, mala
    >>> blocks = as_row_blocks(np.array([[0.6, 0.8]]), np.array([1.0]))
    >>> target = GibbsTarget(
    ...     PrivateRows(blocks, L2Ball(1.0)), LogisticLoss(),
    ...     inverse_temperature=1.0, alpha=1.0, ball=Ball.around_zero(2, 1.0))
    >>> draws = mala(target, 100, as_random_source(0), n_steps=50)
    >>> draws.shape, bool((np.linalg.norm(draws, axis=1) <= 1).all())
    ((100, 2), True)
    """
    n_draws = check_count("n_draws", n_draws, minimum=0)
    d = target.n_coefficients
    remedy = "Leave it at 'auto', or pass a public number."
    h = _STEP / math.sqrt(d)
    if step != "auto":
        h = check_positive("step", step, remedy=remedy)
    steps = mala_steps(d)
    if n_steps != "auto":
        steps = check_count("n_steps", n_steps, minimum=1, remedy=remedy)
    runs = check_count("n_restarts", n_restarts, minimum=1, remedy=remedy)
    # a step far too large overflows, and is refused by the acceptance rule
    with np.errstate(all="ignore"):
        return _restarted(target, n_draws, source, h, steps, runs)


def mala_steps(n_coefficients: int) -> int:
    r"""Return the public number of steps of a run, :math:`200 \lceil\sqrt d\rceil`.

    Parameters
    ----------
    n_coefficients : int
        d >= 1.

    Returns
    -------
    int
        A rule of thumb, not a bound.

    Examples
    --------
    >>> from skdp.samplers import mala_steps
    >>> mala_steps(21)
    1000
    """
    d = check_count("n_coefficients", n_coefficients, minimum=1)
    return _STEPS * (math.isqrt(d - 1) + 1)


def _restarted(
    target: GibbsTarget,
    n_draws: int,
    source: RandomSource,
    h: float,
    n_steps: int,
    n_restarts: int,
) -> FloatArray:
    """Return the ends of runs that ended in the domain, else uniform points."""
    frame = Frame.at_mode(target)
    out = np.empty((n_draws, target.n_coefficients))
    open_ = np.arange(n_draws)
    for _ in range(n_restarts):
        if open_.size == 0:
            break
        ends = frame.theta(_run(frame, open_.size, source, h, n_steps))
        inside = target.inside(ends)
        out[open_[inside]] = ends[inside]
        open_ = open_[~inside]
    if target.ball is not None:
        out[open_] = uniform_points(target.ball, open_.size, source)
    return out


@dataclass(frozen=True, slots=True)
class Frame:
    """Coordinates in which the curvature at the mode is the identity.

    Attributes
    ----------
    target : GibbsTarget
        On the whole space.
    mode : ndarray of shape (d,)
        Point of zero gradient, nearly.
    whiten : ndarray of shape (d, d)
        L^-1; a row of positions is ``mode + z @ whiten``.
    """

    target: GibbsTarget
    mode: FloatArray
    whiten: FloatArray

    @classmethod
    def at_mode(cls, target: GibbsTarget) -> Self:
        """Return the coordinates of a target, its domain left aside."""
        free = copy.copy(target)
        free.ball = None
        mode, _, H = near_mode(free)
        factor = factored(H)[1]
        whiten: FloatArray = solve_triangular(factor, np.eye(len(mode)), lower=True)
        return cls(free, mode, whiten)

    def theta(self, z: FloatArray) -> FloatArray:
        """Return the coefficients of some positions, shape (m, d)."""
        out: FloatArray = self.mode + z @ self.whiten
        return out

    def potential_gradient(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return J, shape (m,), and its gradient in z, shape (m, d), in one pass."""
        thetas = self.theta(z)
        potential, gradient = _potential_gradient(self.target, thetas)
        return potential, gradient @ self.whiten.T


def _run(
    frame: Frame, size: int, source: RandomSource, h: float, n_steps: int
) -> FloatArray:
    """Return the last positions of ``size`` chains from normal starts at the mode."""
    d = frame.mode.size
    z = standard_normal(size * d, source).reshape(size, d)
    J, g = frame.potential_gradient(z)
    for _ in range(n_steps):
        noise = standard_normal(size * d, source).reshape(size, d)
        proposed = z - h * g + math.sqrt(2.0 * h) * noise
        J_new, g_new = frame.potential_gradient(proposed)
        log_ratio = J - J_new
        log_ratio += _log_proposal(z, proposed, g_new, h)
        log_ratio -= _log_proposal(proposed, z, g, h)
        # what is not a number is refused
        taken = np.log(uniform(size, source)) < log_ratio
        z = np.where(taken[:, None], proposed, z)
        g = np.where(taken[:, None], g_new, g)
        J = np.where(taken, J_new, J)
    return z


def _log_proposal(
    to: FloatArray, start: FloatArray, gradient: FloatArray, h: float
) -> FloatArray:
    """Return the log density of moving ``to`` from ``start``, up to a constant."""
    miss = to - start + h * gradient
    out: FloatArray = -np.einsum("ij,ij->i", miss, miss) / (4.0 * h)
    return out


def _potential_gradient(
    target: GibbsTarget, thetas: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return J and its gradient at each row of ``thetas``, in one pass."""
    columns = np.ascontiguousarray(thetas.T)
    total = 0.5 * target.alpha * np.einsum("ij,ij->j", columns, columns)
    slope = target.alpha * columns
    for x, y in target.blocks():
        width = max(1, _MARGINS // max(1, x.shape[0]))
        for start in range(0, total.size, width):
            part = slice(start, start + width)
            margins = x @ columns[:, part]
            slope[:, part] += x.T @ target.loss.gradient(y[:, None], margins)
            # overwrites the margins
            total[part] += target.loss.total(y, margins)
    return target.gamma * total, target.gamma * slope.T
