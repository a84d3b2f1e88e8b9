r"""What a fit in a private metric cost one person: all of its releases together.

Notation (derived in docs/proofs/preconditioned.md, "Loss of one person")
-------------------------------------------------------------------------
u, w     row in the metric and its weight, functions of released numbers
m_j      the row's own mu in the j-th release, shape (n,)
K        number of releases
z, t     normal and sub-Gaussian quantiles of a share of the failure probability rho
xi       bound on the change of a margin by a lattice step, for |u| = 1
"""

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import ndtri

from skdp._typing import FloatArray
from skdp.losses import LogCoshLoss
from skdp.mechanisms import (
    NoisyPart,
    PreconditionedObjectivePerturbation,
    PreconditionedRelease,
)
from skdp.pdp._terms import MarginTerms
from skdp.rows import PrivateRows

__all__ = ["preconditioned_loss"]

#: Share of rho for the noise of the releases; the rest is for their lattice steps.
_NOISE_SHARE = 0.9


def preconditioned_loss(
    mechanism: PreconditionedObjectivePerturbation,
    release: PreconditionedRelease,
    rows: PrivateRows,
    *,
    rho: float = 1e-6,
) -> FloatArray:
    """Bound the absolute loss of each row by all releases of a fit.

    Parameters
    ----------
    mechanism : PreconditionedObjectivePerturbation
        The mechanism that made the release.
    release : PreconditionedRelease
        What it published.
    rows : PrivateRows
        The rows asked about, clipped and encoded as in the fit.
    rho : float, default=1e-6
        Probability, over the noise of the fit, that the bound fails for one fixed row.

    Returns
    -------
    loss : ndarray of shape (n,)
        Nats, >= 0: the sum over second moments, gradient, energies and objectives. It
        holds whether or not the row was in the data. 0 for a row of an undeclared
        class, which is no part of any of them.

    Notes
    -----
    Safe to publish as a function of the row: no data but the row asked about is read.
    The bound speaks about the ideal and the published releases together, which tell at
    least as much as the published ones alone.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.accounting import ApproximateDP
    >>> from skdp.losses import LogisticLoss
    >>> from skdp.mechanisms import PreconditionedObjectivePerturbation
    >>> from skdp.pdp import preconditioned_loss
    >>> from skdp.random import as_random_source
    >>> from skdp.rows import L2Ball, PrivateRows, as_row_blocks
    >>> mechanism = PreconditionedObjectivePerturbation.calibrate(
    ...     ApproximateDP(1.0, 1e-6), loss=LogisticLoss(), radius=1.0, n_coefficients=2)
    >>> X, y = np.tile(np.eye(2), (500, 1)), np.tile([1.0, -1.0], 500)
    >>> data = PrivateRows(as_row_blocks(X, y), L2Ball(1.0))
    >>> release = mechanism.release(data, as_random_source(0)).output
    >>> one = PrivateRows(as_row_blocks(X[:2] / 4, np.array([1.0, 0.0])), L2Ball(1.0))
    >>> loss = preconditioned_loss(mechanism, release, one)
    >>> bool(0.1 < loss[0] < 0.3), float(loss[1])
    (True, 0.0)
    """
    bound = _Bound(mechanism, release, rho)
    blocks = [np.zeros(0)]
    for x, y in rows.projected():
        blocks.append(bound(x / mechanism.radius, y))
    return np.concatenate(blocks)


class _Bound:
    """The public constants of a bound, formed once for all blocks."""

    def __init__(
        self,
        mechanism: PreconditionedObjectivePerturbation,
        release: PreconditionedRelease,
        rho: float,
    ) -> None:
        self._mechanism, self._release = mechanism, release
        self._geometry = release.geometry
        self._ridge = mechanism.ridge(release.geometry)
        self._loss = mechanism.row_loss(release.scale)
        n_releases, n_phases = len(mechanism.parts), len(mechanism.phases)
        self._z = -float(ndtri(_NOISE_SHARE * rho / (2 * n_releases)))
        # every step has a loss of its own, and those of objectives move margins
        events = (n_releases + n_phases) / (1.0 - _NOISE_SHARE)
        self._t = math.sqrt(2 * (math.log(2 * events) - math.log(rho)))
        self._lattice = math.fsum(
            part.step.rho + math.sqrt(2 * part.step.rho) * self._t
            for part in mechanism.parts
        )

    def __call__(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return the bounds of rows over the bound of their norm."""
        u = x @ self._geometry.transform
        norm = np.sqrt(np.einsum("ij,ij->i", u, u))
        weight = self._geometry.weights(norm)
        total = np.full(y.shape, self._lattice)
        for m in self._statistics(x, y, u, weight * norm):
            total += m * (m / 2 + self._z)
        for m, jacobian in self._objectives(y, u, norm, weight):
            total += jacobian + m * (m / 2 + self._z)
        declared = (y != 0.0) | isinstance(self._loss, LogCoshLoss)
        return np.where(declared, total, 0.0)

    def _statistics(
        self, x: FloatArray, y: FloatArray, u: FloatArray, reach: FloatArray
    ) -> Iterator[FloatArray]:
        """Yield the row's mu in each Gaussian release."""
        mechanism, release = self._mechanism, self._release
        yield np.einsum("ij,ij->i", x, x) / mechanism.metric.noise_law.scale
        center = mechanism.center
        yield center.sensitivity * np.abs(y) * reach / center.noise_law.scale
        if mechanism.energy is not None:
            step = self._geometry.newton @ release.gradient
            residuals = y - np.clip(u @ step, -1.0, 1.0)
            squares = np.minimum(residuals**2, 1.0)
            yield np.hypot(y * y, squares) / mechanism.energy.noise_law.scale

    def _objectives(
        self, y: FloatArray, u: FloatArray, norm: FloatArray, weight: FloatArray
    ) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield the row's mu and Jacobian term, at their largest, in each objective."""
        scale = self._release.scale
        answers = zip(self._mechanism.phases, self._release.minimisers, strict=True)
        for part, answer in answers:
            margin = u @ (scale * answer)
            reach = scale * self._reach(part)
            terms = MarginTerms.near(self._loss, y, margin, norm * norm, reach=reach)
            m = np.abs(terms.slope) * weight * norm / (scale * part.noise_law.scale)
            bend = terms.curvature * weight * terms.squared_norm / self._ridge
            yield m, np.log1p(bend)

    def _reach(self, part: NoisyPart) -> float:
        """Return how far a lattice step moves the margin of a row of norm one."""
        step = part.step
        rounding = step.grid * math.sqrt(step.n_features) / 2
        return step.error + rounding + self._t * step.scale
