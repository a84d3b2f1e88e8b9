r"""Largest privacy loss of one objective perturbation of weighted rows.

A weight bounds a row's gradient and its curvature apart, so a row may be nearly without
the one and have the other in full. Notation (docs/proofs/preconditioned.md)
-----------------------------------------------------------------------------------
mu       bound on a row's gradient over the noise's standard deviation
kappa    bound on a row's curvature over the ridge, at |f''| = 1      -> ``curvature``
p        slope of one row's loss over its bound, in [0, 1]
h(p)     curvature at the slope p: p (1 - p) logistic, 1 - p^2 log-cosh
G        mu^2/2 + mu w, the loss of the Gaussian pair, w ~ N(0, 1)
removal  sup over p of log(1 + kappa h(p)) + p^2 mu^2/2 + p mu w, at least
         log(1 + kappa sup h)
addition max(0, G); log-cosh: G with |w| in place of w
"""

import math
from functools import lru_cache

import numpy as np

from skdp._typing import FloatArray
from skdp.accounting._objective_perturbation import removal_loss
from skdp.accounting._smoothing import NormalLoss, clipped_gaussian_loss, flat_loss

__all__ = ["LOSSES", "log_cosh_bound", "phase_addition", "phase_removal"]

#: Losses with a proof.
LOSSES = ("logistic", "log-cosh")
#: Knots of the removal loss; chords of a convex function lie above it.
_KNOTS = 4097
#: Newton steps towards the best slope; wherever they stop, a tangent bounds.
_NEWTON_STEPS = 14


@lru_cache(maxsize=64)
def phase_removal(loss: str, mu: float, curvature: float) -> NormalLoss:
    """Return the loss of removing a row, tabulated from above."""
    if loss == "logistic":
        return _raised(removal_loss(mu, curvature), math.log1p(curvature / 4))
    return _log_cosh_removal(mu, curvature)


def phase_addition(mu: float) -> NormalLoss:
    """Return the loss of adding a row; for log-cosh it holds at |w|."""
    return clipped_gaussian_loss(mu)


def _raised(loss: NormalLoss, floor: float) -> NormalLoss:
    """Return the larger of a loss and a constant."""
    if floor < loss.values[-1]:
        raised = np.maximum(loss.values, floor)
        return NormalLoss(loss.knots, raised, loss.mu, gaussian=False)
    return flat_loss(loss.mu, floor)


def _log_cosh_removal(mu: float, kappa: float) -> NormalLoss:
    """Tabulate the supremum: constant up to w = -mu/2, G once p = 1 is the best.

    Below -mu/2 the linear and the square term together are negative. At p = 1 the
    derivative in p is G + mu^2/2 - 2 kappa, and the objective is concave up to there.
    """
    floor = math.log1p(kappa)
    end = max((2.0 * kappa - mu * mu) / mu, (floor - mu * mu / 2) / mu)
    start = -mu / 2
    if _concave_start(mu, kappa) >= 1.0 or not start < end:
        return flat_loss(mu, floor)
    # beyond 39 standard deviations the normal mass is zero in floats
    inner = np.linspace(max(start, -39.0), min(end, 39.0), _KNOTS)
    inside = inner[(inner > start) & (inner < end)]
    knots = np.concatenate([[start], np.unique(inside), [end]])
    values = log_cosh_bound(knots, mu, kappa)
    values[0], values[-1] = floor, mu * mu / 2 + mu * end
    return NormalLoss(knots, np.maximum.accumulate(values), mu, gaussian=False)


def _concave_start(mu: float, kappa: float) -> float:
    """Return where the objective in p turns from convex to concave; 1 if it does not.

    Its second derivative is mu^2 - (4 kappa (1 + kappa) - 2 kappa D) / D^2 with
    D = 1 + kappa (1 - p^2), and falls as p grows. Its zero solves a quadratic in D.
    """
    square = mu * mu
    if square >= 2.0 * kappa + 4.0 * kappa * kappa:
        return 1.0
    full = kappa * (1.0 + kappa)
    D = 4.0 * full / (kappa + math.sqrt(kappa * kappa + 4.0 * square * full))
    return math.sqrt(max(0.0, (1.0 + kappa - D) / kappa))


def log_cosh_bound(w: FloatArray, mu: float, kappa: float) -> FloatArray:
    """Bound the supremum over p at given w from above.

    Where the objective is convex it is largest at an end, and one of the ends is p = 0.
    Where it is concave, the tangent at any point lies above it.
    """
    a = min(_concave_start(mu, kappa), 1.0)

    def slope(p: FloatArray) -> FloatArray:
        D = 1.0 + kappa * (1.0 - p * p)
        out: FloatArray = p * (mu * mu - 2.0 * kappa / D) + mu * w
        return out

    low, high = np.full_like(w, a), np.ones_like(w)
    p = np.where(
        slope(high) >= 0.0, high, np.where(slope(low) <= 0.0, low, (1 + a) / 2)
    )
    for _ in range(_NEWTON_STEPS):
        D = 1.0 + kappa * (1.0 - p * p)
        g = slope(p)
        bend = mu * mu - (4.0 * kappa * (1.0 + kappa) - 2.0 * kappa * D) / (D * D)
        low, high = np.where(g > 0.0, p, low), np.where(g < 0.0, p, high)
        step = p - g / np.minimum(bend, -1e-300)
        inside = (step >= low) & (step <= high)
        p = np.where(inside, step, np.where(low < high, 0.5 * (low + high), p))
    value = np.log1p(kappa * (1.0 - p * p)) + p * mu * (p * mu / 2 + w)
    g = slope(p)
    tangent = value + np.maximum(g * (1.0 - p), g * (a - p))
    out: FloatArray = np.maximum(tangent, math.log1p(kappa))
    return out
