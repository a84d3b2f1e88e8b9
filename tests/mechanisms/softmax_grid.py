"""Exact privacy of a perturbed softmax objective with few coefficients, on grids.

Written from the definitions, without the package: the density of the minimiser is that
of the noise at ``-grad J``, times the determinant of the Hessian. A table is a list of
(row, class, count), a row of one feature or more.
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
    """Return gradient and log determinant of the Hessian at points of shape (m, D).

    Classes move along the columns of V, and each has D / columns coefficients.
    """
    m, D = theta.shape
    at = theta.reshape(m, V.shape[1], -1)
    g = alpha * at
    H = np.zeros((m, D, D)) + alpha * np.eye(D)
    for row, label, count in table:
        x = np.atleast_1d(row)
        p = softmax((at @ x) @ V.T, axis=1)
        pV = p @ V
        g = g + count * (pV - V[label])[:, :, None] * x
        spread = np.einsum("ka,mk,kb->mab", V, p, V, optimize=True)
        spread -= pV[:, :, None] * pV[:, None, :]
        H += count * np.einsum("mab,i,j->maibj", spread, x, x).reshape(m, D, D)
    if D == 2:
        return g.reshape(m, D), np.log(H[:, 0, 0] * H[:, 1, 1] - H[:, 0, 1] ** 2)
    return g.reshape(m, D), np.linalg.slogdet(H)[1]


def gaussian_log_density(theta, table, alpha, sigma, V):
    """Return the log density of the minimiser under Gaussian noise."""
    g, log_det = gradient_log_det(theta, table, alpha, V)
    constant = theta.shape[1] * math.log(sigma * math.sqrt(2 * math.pi))
    return log_det - constant - (g**2).sum(axis=1) / (2 * sigma**2)


def exact_deltas(n_classes, left, right, alpha, sigma, *epsilons, d=1):
    """Return delta of left against right and back, two numbers for each epsilon.

    For at most two coefficients; a row of the result for each direction.
    """
    V = differences(n_classes)
    D = V.shape[1] * d
    rows = max(
        sum(count * np.linalg.norm(row) for row, _, count in table)
        for table in (left, right)
    )
    reach = (8.0 * sigma + math.sqrt(2.0) * rows) / alpha
    axis, step = np.linspace(-reach, reach, {1: 200_001, 2: 401}[D], retstep=True)
    theta = np.stack(np.meshgrid(*[axis] * D), -1).reshape(-1, D)
    cell = step**D
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
