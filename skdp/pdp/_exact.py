r"""The exact loss of a release for given rows: reads all the data, so it is private.

Notation (derived in docs/proofs/objective_perturbation.md, "Exact loss")
-------------------------------------------------------------------------
theta    released vector, shape (d,)
g0       gradient of J0 at theta on the training data, shape (d,); b = -g0
H        Hessian of J0 at theta on the training data, shape (d, d)
m        leverage x' H^{-1} x of the row asked about, shape (n,)
"""

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from skdp._typing import BoolArray, FloatArray
from skdp.mechanisms import GaussianNoise, ObjectivePerturbation
from skdp.pdp._terms import MarginTerms, margin_terms
from skdp.rows import PrivateRows

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
    g0 = objective.gradient(theta)
    factor = cholesky(objective.hessian(theta), lower=True)
    out, start = [], 0
    for terms in margin_terms(rows, mechanism.loss, theta):
        stop = start + terms.slope.size
        inside = np.ones(stop - start, bool) if member is None else member[start:stop]
        out.append(_block(mechanism, terms, g0, factor, np.where(inside, 1.0, -1.0)))
        start = stop
    return np.concatenate(out) if out else np.zeros(0)


def _block(
    mechanism: ObjectivePerturbation,
    terms: MarginTerms,
    g0: FloatArray,
    factor: FloatArray,
    side: FloatArray,
) -> FloatArray:
    """Return the losses of one block; ``side`` is +1 for members, -1 for others."""
    V = solve_triangular(factor, terms.rows.T, lower=True, check_finite=False)
    leverage = np.einsum("ij,ij->j", V, V)
    jacobian = -np.log1p(-side * terms.curvature * leverage)
    inner = -terms.slope * (terms.rows @ g0)  # g . b
    squared = terms.slope**2 * terms.squared_norm  # |g|^2
    scale = mechanism.noise_law.scale
    if isinstance(mechanism.noise_law, GaussianNoise):
        return jacobian + (squared / 2 + side * inner) / scale**2
    norm = float(np.linalg.norm(g0))
    moved = np.sqrt(np.maximum(norm**2 + 2 * side * inner + squared, 0.0))
    # |b + side g| - |b| without cancellation
    total = moved + norm
    change = np.divide(
        squared + 2 * side * inner, total, out=np.zeros_like(total), where=total > 0
    )
    return jacobian + change / scale
