"""Exact privacy of a perturbed softmax objective of one feature, on grids.

Written from the definitions, without the package: the density of the minimiser is that
of the noise at ``-grad J``, times the determinant of the Hessian. A table is a list of
(position, class, count).
"""

import math

import numpy as np
from scipy.special import softmax


def differences(n_classes):
    """Return orthonormal columns orthogonal to the vector of ones.

    Gaussian noise along the ones moves all classes alike and tells nothing.
    """
    eye = np.eye(n_classes)[:, 1:]
    return np.linalg.qr(np.column_stack([np.ones(n_classes), eye]))[0][:, 1:]


def gradient_log_det(theta, table, alpha, V):
    """Return gradient and log determinant of the Hessian, in the columns of V."""
    g = alpha * theta
    H = np.zeros((len(theta), V.shape[1], V.shape[1])) + alpha * np.eye(V.shape[1])
    for x, label, count in table:
        p = softmax(theta @ V.T * x, axis=1)
        pV = p @ V
        g = g + count * x * (pV - V[label])
        spread = np.einsum("ka,mk,kb->mab", V, p, V, optimize=True)
        H += count * x * x * (spread - pV[:, :, None] * pV[:, None, :])
    if V.shape[1] == 2:
        return g, np.log(H[:, 0, 0] * H[:, 1, 1] - H[:, 0, 1] ** 2)
    return g, np.linalg.slogdet(H)[1]


def gaussian_log_density(theta, table, alpha, sigma, V):
    """Return the log density of the minimiser under Gaussian noise."""
    g, log_det = gradient_log_det(theta, table, alpha, V)
    constant = V.shape[1] * math.log(sigma * math.sqrt(2 * math.pi))
    return log_det - constant - (g**2).sum(axis=1) / (2 * sigma**2)


def exact_deltas(n_classes, left, right, alpha, sigma, *epsilons):
    """Return delta of left against right and back, two numbers for each epsilon.

    For two or three classes; a row of the result for each direction.
    """
    V = differences(n_classes)
    rows = max(sum(c * abs(x) for x, _, c in table) for table in (left, right))
    reach = (8.0 * sigma + math.sqrt(2.0) * rows) / alpha
    axis, step = np.linspace(
        -reach, reach, 200_001 if n_classes == 2 else 401, retstep=True
    )
    theta = np.stack(np.meshgrid(*[axis] * (n_classes - 1)), -1)
    theta = theta.reshape(-1, n_classes - 1)
    cell = step ** (n_classes - 1)
    p, q = (
        gaussian_log_density(theta, table, alpha, sigma, V) for table in (left, right)
    )
    masses = np.exp(p).sum() * cell, np.exp(q).sum() * cell
    np.testing.assert_allclose(masses, 1.0, atol=1e-9)

    def delta(p, q, epsilon):
        return cell * (np.exp(p) @ -np.expm1(np.minimum(epsilon - (p - q), 0.0)))

    return np.array([[delta(*pair, e) for e in epsilons] for pair in ((p, q), (q, p))])


def pure_losses(theta, left, right, alpha, scale):
    """Return log ratios under K-norm noise, at points of shape (m, K)."""
    eye = np.eye(theta.shape[1])
    logs = []
    for table in (left, right):
        g, log_det = gradient_log_det(theta, table, alpha, eye)
        logs.append(log_det - np.linalg.norm(g, axis=1) / scale)
    return logs[0] - logs[1]
