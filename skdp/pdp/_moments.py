r"""What a release of noisy second moments cost one person.

Notation (docs/proofs/adassp.md, "Loss of one person")
------------------------------------------------------
q        squared norm of the row as it was summed, at most 1, shape (n,)
m        :math:`\sqrt{q^2 + q y^2} / \sigma`: the row's own mu, shape (n,)
z, t     normal and sub-Gaussian quantiles of the failure probability rho
r        noise of the release on the training rows, as a matrix and a vector
"""

import math

import numpy as np
from scipy.special import ndtri

from skdp._typing import BoolArray, FloatArray
from skdp.mechanisms import AdaSSP, NoisyMoments
from skdp.mechanisms._exact_moments import fixed_point_rows
from skdp.rows import PrivateRows

__all__ = ["exact_moments_loss", "moments_loss"]

#: Share of rho for the lattice step; the rest is for the noise.
_LATTICE_SHARE = 0.05


def moments_loss(
    mechanism: AdaSSP, rows: PrivateRows, *, rho: float = 1e-6
) -> FloatArray:
    """Bound the loss of each row by released second moments.

    Parameters
    ----------
    mechanism : AdaSSP
        The mechanism that made the release.
    rows : PrivateRows
        The rows asked about, clipped as in the fit.
    rho : float, default=1e-6
        Probability, over the noise, that the bound fails for one fixed row.

    Returns
    -------
    loss : ndarray of shape (n,)
        Nats, >= 0: what the row changes in X'X and X'y, over the noise. It holds
        whether or not the row was in the data. 0 for a row of zeros.

    Notes
    -----
    Safe to publish as a function of the row: nothing else is read. The bound speaks
    about the pair of the sums with real-valued noise and the published numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.accounting import ApproximateDP
    >>> from skdp.mechanisms import AdaSSP
    >>> from skdp.pdp import moments_loss
    >>> from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks
    >>> mechanism = AdaSSP.calibrate(
    ...     ApproximateDP(1.0, 1e-6), radius=1.0, n_coefficients=1)
    >>> blocks = as_row_blocks(
    ...     np.array([[1.0], [0.5], [0.0]]), np.ones(3), labels=Targets(-1, 1))
    >>> moments_loss(mechanism, PrivateRows(blocks, L2Ball(1.0))).round(2)
    array([1.2 , 0.48, 0.  ])
    """
    scale, step_rho = mechanism.noise_law.scale, mechanism.smoothing.rho
    z = -float(ndtri((1.0 - _LATTICE_SHARE) * rho / 2))
    t = math.sqrt(2 * (math.log(2 / _LATTICE_SHARE) - math.log(rho)))
    lattice = step_rho + math.sqrt(2 * step_rho) * t
    out = [np.zeros(0)]
    for x, y in fixed_point_rows(rows, mechanism.radius, mechanism.bits):
        m = np.sqrt(_changes(x, y, mechanism.bits)) / scale
        out.append(np.where(m > 0.0, m * (m / 2 + z) + lattice, 0.0))
    return np.concatenate(out)


def exact_moments_loss(
    mechanism: AdaSSP,
    output: FloatArray,
    train: PrivateRows,
    rows: PrivateRows,
    member: BoolArray | None = None,
) -> FloatArray:
    """Return the signed log ratio of the densities with and without each row.

    Parameters
    ----------
    mechanism : AdaSSP
        The mechanism that made the release.
    output : ndarray of shape (n_numbers,)
        The released numbers.
    train : PrivateRows
        The training rows.
    rows : PrivateRows
        The rows asked about.
    member : ndarray of bool, shape (n,), optional
        True where the row is one of the training rows, False where it is not. All True
        by default.

    Returns
    -------
    loss : ndarray of shape (n,)
        Signed loss in nats, of the ideal release. A function of everybody's rows: do
        not release it.
    """
    noise = mechanism.moments(mechanism.noise(output, train) / mechanism.weights)
    unit, variance = 2.0**-mechanism.bits, mechanism.noise_law.scale**2
    out, start = [np.zeros(0)], 0
    for x, y in fixed_point_rows(rows, mechanism.radius, mechanism.bits):
        square = _changes(x, y, mechanism.bits)
        stop = start + y.size
        side = 1.0 if member is None else np.where(member[start:stop], 1.0, -1.0)
        out.append(
            (square / 2 + side * _products(x * unit, y * unit, noise)) / variance
        )
        start = stop
    return np.concatenate(out)


def _products(x: FloatArray, y: FloatArray, noise: NoisyMoments) -> FloatArray:
    """Return the inner product of the noise with the change by each row."""
    out: FloatArray = np.einsum("ij,ij->i", x @ noise.gram, x) + y * (x @ noise.moments)
    return out


def _changes(x: FloatArray, y: FloatArray, bits: int) -> FloatArray:
    """Return the squared change of (A, b) by each row: q^2 + q y^2."""
    unit = 2.0**-bits
    q = np.einsum("ij,ij->i", x, x) * unit**2
    out: FloatArray = q * (q + (y * unit) ** 2)
    return out
