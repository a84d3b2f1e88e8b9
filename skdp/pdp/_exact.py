r"""The exact loss of a release for given rows: reads all the data, so it is private.

Notation (derived in docs/proofs/objective_perturbation.md, "Exact loss")
-------------------------------------------------------------------------
theta    released vector, shape (d,)
g0       gradient of J0 at theta on the training data, shape (d,); b = -g0
H        Hessian of J0 at theta on the training data, shape (d, d)
m        leverage x' H^{-1} x of the row asked about, shape (n,)
"""

import numpy as np

from skdp._typing import BoolArray, FloatArray
from skdp.mechanisms import GaussianNoise, ObjectivePerturbation
from skdp.rows import PrivateRows
from skdp.solvers import Objective, RowStatistics, Table, row_statistics

__all__ = ["exact_loss"]


def exact_loss(
    mechanism: ObjectivePerturbation,
    theta: FloatArray,
    train: PrivateRows,
    rows: PrivateRows,
    member: BoolArray | None = None,
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
    return np.concatenate(out) if out else np.zeros(0)


class _ExactLoss:
    """The loss of a block, with what all blocks share."""

    def __init__(self, mechanism: ObjectivePerturbation, g0: FloatArray) -> None:
        self._loss = mechanism.loss
        self._scale = mechanism.noise_law.scale
        self._is_gaussian = isinstance(mechanism.noise_law, GaussianNoise)
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
        loss: FloatArray = jacobian + self._noise_term(change)
        return loss

    def _noise_term(self, change: FloatArray) -> FloatArray:
        """Return the log ratio of the noise densities at b and at b + side g."""
        if self._is_gaussian:
            return change / (2 * self._scale**2)
        # the difference of the norms without cancellation; no change has no ratio
        total = self._norm + np.sqrt(np.maximum(self._norm**2 + change, 0.0))
        out: FloatArray = np.divide(
            change, self._scale * total, where=total > 0, out=0.0 * total
        )
        return out
