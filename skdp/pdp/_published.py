r"""The publishable bound: from one's own row and released numbers alone.

Notation (derived in docs/proofs/objective_perturbation.md, "Published bound")
------------------------------------------------------------------------------
xi       bound on the change of a margin by the smoothing step, shape (n,)
m        |f'| |x| / sigma, at its largest within xi of the margin, shape (n,)
z, t     normal and sub-Gaussian quantiles of the failure probability rho
"""

import math

import numpy as np
from scipy.special import ndtri

from skdp._typing import FloatArray
from skdp.losses import LogisticLoss
from skdp.mechanisms import GaussianNoise, ObjectivePerturbation
from skdp.pdp._terms import MarginTerms, margin_terms
from skdp.rows import PrivateRows

__all__ = ["published_loss"]

#: Shares of rho: the noise of the objective, and each of two lattice events.
_NOISE_SHARE, _LATTICE_SHARE = 0.9, 0.05
#: Laplace scales beyond which a unit combination lies with probability < 1e-12.
_LAPLACE_RADIUS = 34.0


def published_loss(
    mechanism: ObjectivePerturbation,
    theta: FloatArray,
    rows: PrivateRows,
    *,
    rho: float = 1e-6,
) -> FloatArray:
    """Bound the absolute loss of each row from public numbers and the row itself.

    Parameters
    ----------
    mechanism : ObjectivePerturbation
        The mechanism that made the release.
    theta : ndarray of shape (n_coefficients,)
        The released vector, intercept coordinate last.
    rows : PrivateRows
        The rows asked about, clipped as in the fit.
    rho : float, default=1e-6
        Probability, over the noise of the release, that the bound fails for one fixed
        row. Not used by pure mechanisms, whose bound fails with probability < 1e-12.

    Returns
    -------
    loss : ndarray of shape (n,)
        Nats, >= 0. It holds whether or not the row was in the data. 0 for a row of an
        undeclared class: its loss is 0 for the minimiser, and the lattice noise is not
        charged to a row that is no part of the objective.

    Notes
    -----
    Safe to publish as a function of the row: no data but the row asked about is read.
    The bound speaks about the pair of the ideal minimiser and the published vector,
    which tells at least as much as the vector alone.
    """
    bound = _Gaussian if isinstance(mechanism.noise_law, GaussianNoise) else _Pure
    of_block = bound(mechanism, rho)
    terms = margin_terms(rows, mechanism.loss, theta, of_block.reach)
    # e^xi overflows only when the noise dwarfs everything: then nothing is known
    with np.errstate(over="ignore", invalid="ignore"):
        # a row of weight zero is no part of the objective
        blocks = [np.where(block.declared, of_block(block), 0.0) for block in terms]
    return np.concatenate(blocks) if blocks else np.zeros(0)


class _Bound:
    """The public constants of a bound, formed once for all blocks."""

    def __init__(self, mechanism: ObjectivePerturbation, tail: float) -> None:
        step = mechanism.smoothing
        rounding = step.grid * math.sqrt(step.n_features) / 2
        xi = step.error + rounding + tail * step.scale  # of a row of norm one
        # the logistic derivatives grow by e^xi at most; others are asked near by
        is_logistic = type(mechanism.loss) is LogisticLoss
        self._growth, self.reach = (xi, 0.0) if is_logistic else (0.0, xi)
        self._scale = mechanism.noise_law.scale
        self._alpha = mechanism.alpha

    def _parts(self, terms: MarginTerms) -> tuple[FloatArray, FloatArray]:
        """Return the gradient and the Jacobian part, at their largest."""
        norm = np.sqrt(terms.squared_norm)
        grow = np.exp(self._growth * norm)
        m = np.abs(terms.slope) * grow * norm / self._scale
        jacobian = np.log1p(terms.curvature * grow * terms.squared_norm / self._alpha)
        return m, jacobian


class _Gaussian(_Bound):
    def __init__(self, mechanism: ObjectivePerturbation, rho: float) -> None:
        t = math.sqrt(2 * (math.log(2 / _LATTICE_SHARE) - math.log(rho)))
        super().__init__(mechanism, t)
        step_rho = mechanism.smoothing.rho
        self._z = -float(ndtri(_NOISE_SHARE * rho / 2))
        self._smoothing = step_rho + math.sqrt(2 * step_rho) * t

    def __call__(self, terms: MarginTerms) -> FloatArray:
        m, jacobian = self._parts(terms)
        loss = jacobian + m * (m / 2 + self._z) + self._smoothing
        return np.where(np.isnan(loss), np.inf, loss)


class _Pure(_Bound):
    def __init__(self, mechanism: ObjectivePerturbation, rho: float) -> None:
        del rho  # certain up to the tail of the smoothing noise
        super().__init__(mechanism, _LAPLACE_RADIUS)
        self._smoothing = mechanism.smoothing.epsilon
        self._worst = mechanism.guarantee.epsilon(0.0)

    def __call__(self, terms: MarginTerms) -> FloatArray:
        m, jacobian = self._parts(terms)
        loss = m + jacobian + self._smoothing
        # fmin: a bound that is no number is no bound
        return np.fmin(loss, self._worst)
