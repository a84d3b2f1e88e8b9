"""The method of skdp.mechanisms._preconditioned once more, plainly.

Written from the formulas alone: dense rows of norm at most one, floats, eigenvectors as
coordinates, a general minimiser, no lattice. ``Plain`` goes from noise to coefficients,
``recovered`` back from what was published to the noise on a table at hand.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

#: What scales and ridge are larger by, for the rounding of weights.
MARGIN = 1 + 1e-9


def symmetric(noise, d):
    """Turn noise of a triangle, spherical in the Frobenius norm, into a matrix."""
    out = np.zeros((d, d))
    rows, columns = np.triu_indices(d)
    out[rows, columns] = np.where(rows == columns, noise, noise / math.sqrt(2))
    return out + np.triu(out, 1).T


def spherical(matrix):
    """Turn a symmetric matrix into the noise it came from."""
    rows, columns = np.triu_indices(len(matrix))
    return matrix[rows, columns] * np.where(rows == columns, 1, math.sqrt(2))


class Metric:
    """What a released second moment decides, in the coordinates of its eigenvectors.

    Lengths are in units of c, so no row of norm one or less loses weight.
    """

    def __init__(self, S, mu, logistic):
        d, s = len(S), MARGIN / (mu * math.sqrt(0.10))
        self.logistic = logistic
        e, self.V = np.linalg.eigh(S)
        e = np.maximum(e, 0)
        self.t = 0.5 * s * math.sqrt(2 * d)
        self.n = max(np.trace(S), 1.0)
        e2 = (e + self.t) ** 0.75
        a = e2**-0.5
        c1 = np.sum(e / e2) / self.n
        if logistic:
            # the objective's noise at share .88, curvature .1 a row
            variance = s * s * 0.10 / 0.88
            risk = variance * c1 * np.sum(e2 / np.maximum(e, self.t)) / (0.2 * self.n)
            ratio = max(0.6, math.sqrt(2e-4 / risk)) if risk else 0.6
            cap = 0.7 if ratio == 0.6 else 1.0
        else:
            ratio = min(0.6 * max(1.0, math.sqrt(0.006 * self.n / self.t)), 3.0)
            cap = 0.7
        c = max(min(math.sqrt(ratio * c1), cap * a.max()), 1e-3 * a.max())
        self.rho = min(2.0, a.max() / c)
        self.A = self.V * (a / c)
        self.step = c * c * e2 / (e + self.t)

    def center(self, v, q):
        """First centre from the noisy pull and the noisy energies."""
        if self.logistic:
            return 6.0 * self.step * v
        return self.step * v * (q[1] <= q[0])

    def scale(self, q):
        """Scale of the loss from the noisy energies."""
        if self.logistic:
            return 1.0
        z = 0.006 * self.n / self.t
        spread = min(math.sqrt(max(q.min() / self.n, 1e-4)), 0.5)
        k = 1.5 * spread * z ** (0.5 if z > 1 else 0.3)
        return min(max(k, 0.05), 2.0)


class Weighted:
    """Rows in a metric, each with its weight, and a ridge."""

    def __init__(self, metric, X, y, kappa, alpha=0.0):
        self.metric, self.y = metric, y
        self.U = X @ metric.A
        self.lam = max(MARGIN * metric.rho / kappa, alpha)
        with np.errstate(divide="ignore"):
            q = 1 / np.linalg.norm(self.U, axis=1)
        self.w = np.minimum(1, np.minimum(q, metric.rho * q * q))

    def pull(self):
        return self.U.T @ (self.w * self.y) / (2 if self.metric.logistic else 1)

    def energies(self, v):
        r = self.y - np.clip(self.U @ (self.metric.step * v), -1, 1)
        return np.array([self.y @ self.y, np.minimum(r * r, 1).sum()])

    def derivatives(self, k, phi):
        """Slope and second derivative of each row's loss, before weights."""
        m = self.U @ phi
        if self.metric.logistic:
            p = expit(-self.y * m)
            return -self.y * p, self.y**2 * p * (1 - p)
        p = np.tanh((m - self.y) / k)
        return k * p, 1 - p * p

    def gradient_hessian(self, k, phi, center):
        slope, bend = self.derivatives(k, phi)
        gradient = self.U.T @ (self.w * slope) + self.lam * (phi - center)
        hessian = (self.U.T * (self.w * bend)) @ self.U
        return gradient, hessian + self.lam * np.eye(len(phi))

    def minimiser(self, k, center, b):
        def objective(phi):
            m, slope = self.U @ phi, self.derivatives(k, phi)[0]
            if self.metric.logistic:
                loss = np.where(self.y == 0, 0, np.logaddexp(0, -self.y * m))
            else:
                r = np.abs(m - self.y) / k
                loss = k * k * (r + np.log1p(np.exp(-2 * r)) - math.log(2))
            away = phi - center
            value = self.w @ loss + self.lam / 2 * away @ away + b @ phi
            return value, self.U.T @ (self.w * slope) + self.lam * away + b

        tight = {"gtol": 1e-9, "ftol": 1e-15, "maxiter": 2000}
        return minimize(objective, center, jac=True, method="L-BFGS-B", options=tight).x


class Plain:
    """From given noise to coefficients, for either loss."""

    def __init__(self, X, y, mu, kappa, noises, task):
        used = X[y != 0] if task == "logistic" else X
        S = used.T @ used + symmetric(noises[0], X.shape[1])
        self.metric = Metric(S, mu, task == "logistic")
        self.rows = Weighted(self.metric, X, y, kappa)
        self.noises = noises

    def turned(self, vector):
        """Noise of symmetric coordinates, in those of the eigenvectors."""
        return self.metric.V.T @ vector

    def coefficients(self):
        metric, (_, noise, *rest) = self.metric, self.noises
        v, q = self.rows.pull() + self.turned(noise), None
        if not metric.logistic:
            q = self.rows.energies(v) + rest.pop(0)
        phi, k = metric.center(v, q), metric.scale(q)
        for b in rest:
            phi = self.rows.minimiser(k, phi, k * self.turned(b))
        return metric.A @ phi


@dataclass
class Stage:
    """One release seen from a table: its noise, and the log Jacobian to it."""

    noise: np.ndarray
    log_det: float = 0.0


def cut(X, bits):
    """Rows cut towards zero to multiples of ``2^-bits``, a little inside their norm."""
    return np.trunc(X * (2.0**bits * (1 - 2.0**-40))) / 2.0**bits


def recovered(X, y, mu, kappa, task, release, *, bits, k=None, alpha=0.0):
    """The stages of a release, if ``X`` and ``y`` had been its table.

    Second moments are of rows cut to ``bits``; ``k`` is a scale that was fixed, and
    ``alpha`` a least ridge.
    """
    logistic = task == "logistic"
    used = cut(X[y != 0] if logistic else X, bits)
    metric = Metric(release.metric, mu, logistic)
    rows = Weighted(metric, X, y, kappa, alpha)
    V = metric.V
    v, q = V.T @ release.gradient, release.energies
    stages = [Stage(spherical(release.metric - used.T @ used))]
    stages.append(Stage(release.gradient - V @ rows.pull()))
    if q is not None:
        stages.append(Stage(q - rows.energies(v)))
    k = metric.scale(q) if k is None else k
    center = metric.center(v, q)
    for answer in release.minimisers:
        phi = k * (V.T @ answer)
        gradient, hessian = rows.gradient_hessian(k, phi, center)
        stages.append(Stage(V @ -gradient / k, float(np.linalg.slogdet(hessian)[1])))
        center = phi
    return stages
