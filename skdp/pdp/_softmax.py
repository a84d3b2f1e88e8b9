r"""What a release of several classes cost each person: published and exact.

Notation (derived in docs/proofs/softmax_perturbation.md)
---------------------------------------------------------
p, e_y   class probabilities of the row, unit vector of its class, shape (n, K)
A        diag(p) - pp', the second derivative in the margins
g        p - e_y, the first one
q        squared L2 norm of the clipped row, intercept constant included, shape (n,)
xi       bound on the change of a margin by the smoothing step, shape (n,)
b, H     noise and Hessian of the objective, B and H of the proof note
M        :math:`M_{kl} = x^T (H^{-1})_{kl} x`, shape (n, K, K)
"""

import math

import numpy as np
from scipy.special import chdtri

from skdp._typing import BoolArray, FloatArray
from skdp.losses import SoftmaxLoss
from skdp.mechanisms import GaussianNoise, SoftmaxPerturbation
from skdp.pdp._exact import noise_term
from skdp.pdp._published import (
    LAPLACE_RADIUS,
    LATTICE_SHARE,
    LOG_NEVER,
    NOISE_SHARE,
    Kind,
    check_question,
    lattice_tail,
    step_reach,
)
from skdp.pdp._terms import row_products
from skdp.rows import PrivateRows

__all__ = ["exact_softmax_loss", "softmax_loss"]

#: Numbers held for the rows handled at once, to bound the memory.
_CHUNK = 2_000_000


def softmax_loss(
    mechanism: SoftmaxPerturbation,
    theta: FloatArray,
    rows: PrivateRows,
    *,
    kind: Kind = "either",
    rho: float = 1e-6,
    simultaneous: bool = False,
) -> FloatArray:
    """Bound the loss of each row from public numbers and the row itself.

    Parameters
    ----------
    mechanism : SoftmaxPerturbation
        The mechanism that made the release.
    theta : ndarray of shape (n_classes * n_coefficients,)
        The released vector, class by class.
    rows : PrivateRows
        The rows asked about, clipped and numbered as in the fit.
    kind : {"either", "member", "non-member"}, default="either"
        "either" bounds the absolute loss of a row, in the data or not. The others bound
        the signed loss of a row that is in the data, or is not.
    rho : float, default=1e-6
        Probability, over the noise of the release, that the bound fails for one fixed
        row. Not used by pure mechanisms, whose bound fails with probability < 1e-12.
    simultaneous : bool, default=False
        Whether all rows are meant at once, so that a row may be chosen after a look at
        ``theta``.

    Returns
    -------
    loss : ndarray of shape (n,)
        Nats, >= 0. 0 for a row of an undeclared class, which is no part of the
        objective.

    Raises
    ------
    ValueError
        If ``kind`` or ``rho`` is not allowed.

    Notes
    -----
    Safe to publish as a function of the row: no data but the row asked about is read.
    The bound speaks about the pair of the ideal minimiser and the published vector,
    which tells at least as much as the vector alone. Memory O(K) for each row of a
    block.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.accounting import PureDP
    >>> from skdp.mechanisms import SoftmaxPerturbation
    >>> from skdp.pdp import softmax_loss
    >>> from skdp.rows import Classes, L2Ball, PrivateRows, as_row_blocks
    >>> mechanism = SoftmaxPerturbation.calibrate(
    ...     PureDP(1.0), radius=1.0, n_coefficients=1, n_classes=3)
    >>> blocks = as_row_blocks(
    ...     np.array([[1.0], [1.0], [0.2]]), ["a", "c", "c"],
    ...     labels=Classes(["a", "b", "c"]))
    >>> rows = PrivateRows(blocks, L2Ball(1.0))
    >>> softmax_loss(mechanism, np.array([2.0, 0.0, -2.0]), rows).round(3)
    array([0.189, 0.986, 0.152])
    """
    rho = check_question(kind, rho, simultaneous)
    bound = _Bound(mechanism, kind, rho, simultaneous)
    targets = theta.reshape(mechanism.n_classes, mechanism.n_coefficients).T
    blocks = [bound(y, t, q) for y, t, q in row_products(rows, targets)]
    return np.concatenate(blocks) if blocks else np.zeros(0)


class _Bound:
    """The published bound on rows of a block."""

    def __init__(
        self, mechanism: SoftmaxPerturbation, kind: Kind, rho: float, simultaneous: bool
    ) -> None:
        self._mechanism, self._has_jacobian = mechanism, kind != "non-member"
        self._loss = mechanism.loss
        self._is_gaussian = isinstance(mechanism.noise_law, GaussianNoise)
        find = _gaussian_quantiles if self._is_gaussian else _pure_quantiles
        tail, self._slope, self._constant = find(mechanism, kind, rho, simultaneous)
        self._shift = step_reach(mechanism.smoothing, tail)
        ceiling = mechanism.guarantee.epsilon(0.0)
        self._ceiling = math.inf if self._is_gaussian else ceiling

    def __call__(self, y: FloatArray, t: FloatArray, q: FloatArray) -> FloatArray:
        """Return the bound at margins (n, K), 0 for rows of weight zero."""
        norm = np.sqrt(q)
        # numbers leave the range of floats only when the noise dwarfs everything: fmin
        # takes the bound that holds at any margin, and what is no number is no bound
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            # every probability changes by a factor within exp(+-2 xi)
            grow = np.exp(2.0 * self._shift * norm)
            slope = np.linalg.norm(self._loss.gradient(y, t), axis=1)
            slope = np.fmin(math.sqrt(2.0), slope * grow)
            loss = self._noise_part(slope * norm) + self._constant
            if self._has_jacobian:
                loss += self._jacobian(self._loss.probabilities(t), q, grow)
        np.fmin(loss, self._ceiling, out=loss)
        return np.where(_declared(self._loss, y), loss, 0.0)

    def _noise_part(self, push: FloatArray) -> FloatArray:
        """Return what the noise lets through of a gradient of norm ``push``."""
        size = push / self._mechanism.noise_law.scale
        bend = size / 2 if self._is_gaussian else 0.0
        out: FloatArray = size * (bend + self._slope)
        return out

    def _jacobian(self, p: FloatArray, q: FloatArray, grow: FloatArray) -> FloatArray:
        """Return the largest change of volume; A grows by no more than ``grow``."""
        K, q_over_ridge = p.shape[1], q / self._mechanism.alpha
        anywhere = (K - 1) * np.log1p(q_over_ridge / K)
        out: FloatArray = np.fmin(log_det(p, q_over_ridge * grow), anywhere)
        return out


def log_det(p: FloatArray, s: FloatArray) -> FloatArray:
    r"""Return :math:`\log\det(I + s(\mathrm{diag}(p) - pp^T))` for each row.

    By the matrix determinant lemma it is
    :math:`\sum_k\log(1 + sp_k) + \log\sum_k p_k / (1 + sp_k)`, as the p sum to one.
    """
    grown = s[:, None] * p
    spread = np.sum(p / (1.0 + grown), axis=1)
    total = np.sum(np.log1p(grown), axis=1) + np.log(spread)
    out: FloatArray = np.maximum(total, 0.0)
    return out


def _declared(loss: SoftmaxLoss, y: FloatArray) -> BoolArray:
    """Tell which rows are part of the objective."""
    known: BoolArray = (y >= 0.0) & (y < loss.n_classes) & (y == np.floor(y))
    return known


def _gaussian_quantiles(
    mechanism: SoftmaxPerturbation, kind: Kind, rho: float, simultaneous: bool
) -> tuple[float, float, float]:
    """Return lattice tail, quantile of the noise, and what the lattice step adds."""
    step, K = mechanism.smoothing, mechanism.n_classes
    # g sums to zero over the classes, so it meets K - 1 directions of the noise
    freedom = K - 1
    if simultaneous:
        freedom *= mechanism.n_coefficients
        tail = added = math.sqrt(mechanism.size) + lattice_tail(LATTICE_SHARE, rho)
    else:
        sides = 2 if kind == "either" else 1
        tail = lattice_tail(LATTICE_SHARE / (2 * K), rho)
        added = lattice_tail(LATTICE_SHARE / sides, rho)
    chi = math.sqrt(chdtri(freedom, NOISE_SHARE * rho))
    return tail, chi, step.rho + math.sqrt(2 * step.rho) * added


def _pure_quantiles(
    mechanism: SoftmaxPerturbation, kind: Kind, rho: float, simultaneous: bool
) -> tuple[float, float, float]:
    """Return the same for K-norm noise: certain, up to the lattice noise."""
    del kind, rho
    # one margin more costs less than 1.05 in the exponent of its tail
    tail = LAPLACE_RADIUS + 1.05 * math.log(mechanism.n_classes)
    if simultaneous:  # all coordinates at once
        tail = math.log(2 * mechanism.size) - LOG_NEVER
        tail *= math.sqrt(mechanism.n_coefficients)
    return tail, 1.0, mechanism.smoothing.epsilon


def exact_softmax_loss(
    mechanism: SoftmaxPerturbation,
    theta: FloatArray,
    train: PrivateRows,
    rows: PrivateRows,
    member: BoolArray | None = None,
) -> FloatArray:
    r"""Return the signed log ratio of the densities with and without each row.

    Parameters
    ----------
    mechanism : SoftmaxPerturbation
        The mechanism that made the release.
    theta : ndarray of shape (n_classes * n_coefficients,)
        The released vector, class by class.
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
        Signed loss in nats; 0 for a row of an undeclared class.

    Notes
    -----
    Cost O(n K^2 d^2). The result is a function of everybody's rows: do not release it.
    """
    shape = mechanism.n_classes, mechanism.n_coefficients
    g0, H = mechanism.objective(train).gradient_hessian(theta)
    of_rows = _ExactLoss(mechanism, theta.reshape(shape), g0.reshape(shape), H)
    out: list[FloatArray] = []
    start = 0
    many = max(1, _CHUNK // (shape[0] * max(shape)))
    for X, y in rows.projected():
        side = np.ones(y.size)
        if member is not None:
            side = np.where(member[start : start + y.size], 1.0, -1.0)
        parts = (slice(i, i + many) for i in range(0, y.size, many))
        out.extend(of_rows(X[part], y[part], side[part]) for part in parts)
        start += y.size
    return np.concatenate(out) if out else np.zeros(0)


class _ExactLoss:
    """The loss of some rows, with what all of them share."""

    def __init__(
        self,
        mechanism: SoftmaxPerturbation,
        theta: FloatArray,
        g0: FloatArray,
        H: FloatArray,
    ) -> None:
        K, d = theta.shape
        self._loss, self._law = mechanism.loss, mechanism.noise_law
        self._theta, self._g0 = theta, g0
        self._norm = float(np.linalg.norm(g0))  # |b|
        self._inverse = np.linalg.inv(H).reshape(K, d, K, d)

    def __call__(self, X: FloatArray, y: FloatArray, side: FloatArray) -> FloatArray:
        """Return the losses of members (``side`` +1) and others (-1)."""
        t = X @ self._theta.T
        g = self._loss.gradient(y, t)
        # |b + side g x'|^2 - |b|^2 for b = -g0
        inner = -side * np.einsum("ik,ik->i", g, X @ self._g0.T)
        squares = np.einsum("ik,ik->i", g, g) * np.einsum("ij,ij->i", X, X)
        change = squares + 2 * inner
        bent = self._loss.hessian(y, t) @ self._leverages(X)
        _, volume = np.linalg.slogdet(np.eye(g.shape[1]) - side[:, None, None] * bent)
        loss: FloatArray = noise_term(self._law, self._norm, change) - volume
        return loss

    def _leverages(self, X: FloatArray) -> FloatArray:
        """Return M, shape (n, K, K), a block row at a time."""
        K, d = self._theta.shape
        out = np.empty((len(X), K, K))
        for k in range(K):
            images = (X @ self._inverse[k].reshape(d, K * d)).reshape(-1, K, d)
            out[:, k] = np.einsum("ilj,ij->il", images, X)
        return out
