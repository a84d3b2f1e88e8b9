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
from skdp.pdp._terms import MarginTerms
from skdp.rows import PrivateRows
from skdp.solvers import Table, row_statistics

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
    objective = mechanism.objective(train)
    g0, H = objective.gradient_hessian(theta)
    # the table of the objective has clipped its rows already
    table = objective.table if rows is train else Table(rows.blocks, rows.ball)
    statistics = row_statistics(table, theta, H, g0)
    terms = MarginTerms.at(
        mechanism.loss, statistics.labels, statistics.margins, statistics.squared_norms
    )
    side = 1.0 if member is None else np.where(member, 1.0, -1.0)
    jacobian = -np.log1p(-side * terms.curvature * statistics.leverages)
    # g . b for b = -g0, signed by the side
    inner = -side * terms.slope * statistics.products
    squared = terms.slope**2 * terms.squared_norm
    loss: FloatArray = jacobian + _noise_term(mechanism, g0, inner, squared)
    return loss


def _noise_term(
    mechanism: ObjectivePerturbation,
    g0: FloatArray,
    inner: FloatArray,
    squared: FloatArray,
) -> FloatArray:
    """Return the log ratio of the noise densities at b and at b + side g."""
    scale = mechanism.noise_law.scale
    change = squared + 2 * inner  # |b + side g|^2 - |b|^2
    if isinstance(mechanism.noise_law, GaussianNoise):
        return change / (2 * scale**2)
    norm = float(np.linalg.norm(g0))
    # the difference of the norms without cancellation; no change has no ratio
    total = norm + np.sqrt(np.maximum(norm**2 + change, 0.0))
    out: FloatArray = np.divide(change, scale * total, where=total > 0, out=0.0 * total)
    return out
