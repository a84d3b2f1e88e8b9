r"""How much the minimiser of a tilted sum of softmax losses tells about one row.

Notation (docs/proofs/softmax_perturbation.md)
----------------------------------------------
K        number of classes
mu       sqrt(2) R / sigma
kappa    R^2 / alpha
G_k      mu^2/2 + mu w_k, k = 1 .. K-1, the w_k standard normal, correlated by 1/2
c        (K-1) log(1 + kappa/K), the Jacobian at its largest
k'       max(0, kappa - mu^2/4), what the gradient leaves of it
"""

import math

from skdp.accounting._union_loss import UnionLoss

__all__: list[str] = []


def jacobian(kappa: float, n_classes: int) -> float:
    """Return c, the largest log determinant of one row over the ridge."""
    return (n_classes - 1) * math.log1p(kappa / n_classes)


def _left_over(mu: float, kappa: float) -> float:
    """Return k'; a product of large numbers may overflow, and then nothing is left."""
    return max(0.0, kappa - mu * mu / 4)


def _shift(mu: float, kappa: float, n_classes: int) -> float:
    """Return what a corner of the gradient term must be raised by, at most."""
    spread = 1.0 - 1.0 / n_classes
    return min(jacobian(kappa, n_classes), spread * _left_over(mu, kappa))


def addition_loss(mu: float, n_classes: int) -> UnionLoss:
    """Return a bound on the loss of adding a row: the largest of 0 and all G_k."""
    return UnionLoss(((n_classes - 1, 0.0, mu),), 0.0)


def removal_losses(mu: float, kappa: float, n_classes: int) -> tuple[UnionLoss, ...]:
    """Return bounds on the loss of removing a row; each of them holds.

    The addition's, raised for the Jacobian; or without it but where classes compete.
    """
    others, shift = n_classes - 1, _shift(mu, kappa, n_classes)
    raised = UnionLoss(((others, shift, mu),), shift)
    left = _left_over(mu, kappa)
    if left == 0.0:
        return (raised,)
    single = (others, 0.0, mu)
    pairs = (others * (others - 1), *_pair(mu, left, n_classes))
    parts = (single, pairs) if others > 1 else (single,)
    return raised, UnionLoss(parts, 2.0 * left)


def _pair(mu: float, left: float, n_classes: int) -> tuple[float, float]:
    r"""Return shift and size of :math:`a G_j + (1-a) G_k + k'(1-1/K)`, a = (1+1/K)/2.

    Of mean mu^2/2 and variance m^2 = mu^2 (1 - a(1-a)), it is G_m shifted.
    """
    a = (1.0 + 1.0 / n_classes) / 2.0
    saved = a * (1.0 - a)
    shift = left * (1.0 - 1.0 / n_classes) + mu * mu * saved / 2.0
    return shift, mu * math.sqrt(1.0 - saved)


def replacement_loss(mu: float, kappa: float, n_classes: int) -> UnionLoss:
    """Return a bound on the loss of replacing a row: corners of both, raised."""
    others, shift = n_classes - 1, _shift(mu, kappa, n_classes)
    corners = ((others**2, shift, 2.0 * mu), (2 * others, shift, mu))
    return UnionLoss(corners, shift)
