r"""The exact loss of a release for given rows: reads all the data, so it is private.

Notation (derived in docs/proofs/objective_perturbation.md, "Exact loss")
-------------------------------------------------------------------------
theta    released vector, shape (d,)
g0       gradient of J0 at theta on the training data, shape (d,); b = -g0
H        Hessian of J0 at theta on the training data, shape (d, d)
m        leverage x' H^{-1} x of the row asked about, shape (n,)
n, N     noise of a released gradient and Hessian: what was released less g0 and H
"""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from skdp._typing import BoolArray, FloatArray
from skdp.losses import Tilting
from skdp.mechanisms import GaussianNoise, KNormNoise, ObjectivePerturbation
from skdp.pdp._statistic import ReleasedStatistic
from skdp.pdp._terms import margin_terms
from skdp.rows import PrivateRows
from skdp.solvers import Objective, RowStatistics, Table, row_statistics

__all__ = ["exact_loss", "noise_term"]


def exact_loss(
    mechanism: ObjectivePerturbation,
    theta: FloatArray,
    train: PrivateRows,
    rows: PrivateRows,
    member: BoolArray | None = None,
    *,
    hessian: ReleasedStatistic | None = None,
    gradient: ReleasedStatistic | None = None,
) -> FloatArray:
    r"""Return the signed log ratio of the densities with and without each row.

    Parameters
    ----------
    mechanism : ObjectivePerturbation
        The mechanism that made the release.
    theta : ndarray of shape (n_coefficients,)
        The released vector.
    train : PrivateRows
        The training rows.
    rows : PrivateRows
        The rows asked about.
    member : ndarray of bool, shape (n,), optional
        True where the row is one of the training rows: its loss is
        ``log p(theta | D) - log p(theta | D without it)``. False where it is not:
        ``log p(theta | D) - log p(theta | D with it)``. All True by default.
    hessian, gradient : ReleasedStatistic, optional
        What was released beside ``theta``; the loss is then that of all together.

    Returns
    -------
    loss : ndarray of shape (n,)
        Signed loss in nats.

    Notes
    -----
    Cost O(n d^2). The result is a function of everybody's rows: do not release it.
    """
    objective = Objective(train, mechanism.loss, mechanism.alpha, keep_norms=True)
    g0, H = objective.gradient_hessian(theta)
    # the table of the objective has clipped its rows already
    table = objective.table if rows is train else Table(rows.blocks, rows.ball)
    of_block = _ExactLoss(mechanism, g0)
    out, start = [], 0
    for statistics in row_statistics(table, theta, H, g0):
        stop = start + statistics.labels.size
        side = 1.0 if member is None else np.where(member[start:stop], 1.0, -1.0)
        out.append(of_block(statistics, side))
        start = stop
    loss = np.concatenate(out) if out else np.zeros(0)
    if hessian is not None:
        noise = hessian.matrix(theta.size) - H
        parts = _hessian_loss(mechanism.loss, theta, rows, noise, hessian.scale)
        loss += _signed_sum(parts, member)
    if gradient is not None:
        noise = np.array(gradient.values) - g0
        parts = _gradient_loss(mechanism.loss, theta, rows, noise, gradient.scale)
        loss += _signed_sum(parts, member)
    return loss


class _ExactLoss:
    """The loss of a block, with what all blocks share."""

    def __init__(self, mechanism: ObjectivePerturbation, g0: FloatArray) -> None:
        self._loss = mechanism.loss
        self._law = mechanism.noise_law
        self._norm = float(np.linalg.norm(g0))  # |b|

    def __call__(
        self, statistics: RowStatistics, side: FloatArray | float
    ) -> FloatArray:
        """Return the losses of members (``side`` +1) and others (-1)."""
        slope, curvature = self._loss.derivatives(statistics.labels, statistics.margins)
        jacobian = -np.log1p(-side * curvature * statistics.leverages)
        # |b + side g|^2 - |b|^2 for b = -g0 and g = slope x
        inner = -side * slope * statistics.products
        change = slope**2 * statistics.squared_norms + 2 * inner
        loss: FloatArray = jacobian + noise_term(self._law, self._norm, change)
        return loss


def noise_term(
    law: GaussianNoise | KNormNoise, norm: float, change: FloatArray
) -> FloatArray:
    """Return the log ratio of the noise densities at b, |b| = ``norm``, and at b + v.

    ``change`` is :math:`|b + v|^2 - |b|^2`.
    """
    if isinstance(law, GaussianNoise):
        return change / (2 * law.scale**2)
    # the difference of the norms without cancellation; no change has no ratio
    total = norm + np.sqrt(np.maximum(norm**2 + change, 0.0))
    out: FloatArray = np.divide(
        change, law.scale * total, where=total > 0, out=0.0 * total
    )
    return out


#: The even part of a log ratio of Gaussian densities, and the part that has a sign.
_Parts: TypeAlias = Iterator[tuple[FloatArray, FloatArray]]


def _signed_sum(parts: _Parts, member: BoolArray | None) -> FloatArray:
    """Return the parts' sum, the odd one positive for members."""
    even, odd = np.concatenate([np.zeros((2, 0)), *map(np.array, parts)], axis=1)
    side = 1.0 if member is None else np.where(member, 1.0, -1.0)
    out: FloatArray = even + side * odd
    return out


def _hessian_loss(
    loss: Tilting, theta: FloatArray, rows: PrivateRows, noise: FloatArray, scale: float
) -> _Parts:
    """Yield (|f'' x x'|_F^2 / 2, f'' x' N x) over the variance, N the noise."""
    values, vectors = np.linalg.eigh(noise)
    for terms in margin_terms(rows, loss, theta, vectors):
        size = terms.curvature * terms.squared_norm
        form = np.square(terms.products) @ values
        yield size**2 / (2 * scale**2), terms.curvature * form / scale**2


def _gradient_loss(
    loss: Tilting, theta: FloatArray, rows: PrivateRows, noise: FloatArray, scale: float
) -> _Parts:
    """Yield (|f' x|^2 / 2, f' x . n) over the variance, n the noise."""
    for terms in margin_terms(rows, loss, theta, noise[:, None]):
        even = terms.slope**2 * terms.squared_norm / 2
        yield even / scale**2, terms.slope * terms.products[:, 0] / scale**2
