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

from skdp.accounting._smoothing import NormalLoss, clipped_gaussian_loss, flat_loss
from skdp.accounting._tilted_loss import fading_loss

__all__ = ["LOSSES", "phase_addition", "phase_removal"]

#: Losses with a proof: sup h, and F and a with h(p) = F (1 - p) (a + (1 - a) p).
LOSSES = {"logistic": (0.25, 1.0, 0.0), "log-cosh": (1.0, 2.0, 0.5)}


@lru_cache(maxsize=64)
def phase_removal(loss: str, mu: float, curvature: float) -> NormalLoss:
    """Return the loss of removing a row, from above."""
    bend, steepness, lag = LOSSES[loss]
    most, floor = bend * curvature, math.log1p(bend * curvature)
    full = fading_loss(mu, most, steepness * curvature, lag)
    if floor >= full.values[-1]:
        return flat_loss(mu, floor)
    raised = np.maximum(full.values, floor)
    return NormalLoss(full.knots, raised, mu, gaussian=False)


def phase_addition(mu: float) -> NormalLoss:
    """Return the loss of adding a row; for log-cosh it holds at |w|."""
    return clipped_gaussian_loss(mu)
