"""The method of skdp.mechanisms._preconditioned once more, plainly, from given noise.

Written from the formulas alone: dense rows, floats, eigenvectors as coordinates, a
general minimiser. No lattice, so answers agree up to the lattice noise.
"""

import math

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit


def symmetric(noise, d):
    """Turn noise of a triangle, spherical in the Frobenius norm, into a matrix."""
    out = np.zeros((d, d))
    rows, columns = np.triu_indices(d)
    out[rows, columns] = np.where(rows == columns, noise, noise / math.sqrt(2))
    return np.maximum(np.triu(out), 0) + np.minimum(np.triu(out), 0) + np.triu(out, 1).T


class Plain:
    """Both tasks share metric, weights and pull."""

    def __init__(self, X, y, mu, kappa, noises, task):
        self.X, self.y, self.mu, self.kappa, self.noises = X, y, mu, kappa, noises
        self.logistic = task == "logistic"
        d = X.shape[1]
        s = 1 / (mu * math.sqrt(0.10))
        used = X[y != 0] if self.logistic else X
        self.S = used.T @ used + symmetric(noises[0], d)
        e, self.V = np.linalg.eigh(self.S)
        e = np.maximum(e, 0)
        self.t = 0.5 * s * math.sqrt(2 * d)
        self.n = max(np.trace(self.S), 1.0)
        e2 = (e + self.t) ** 0.75
        a = e2**-0.5
        c1 = np.sum(e / e2) / self.n
        if self.logistic:
            # the objective's noise at share .88, curvature .1 a row
            variance = 1 / (0.88 * mu**2)
            risk = variance * c1 * np.sum(e2 / np.maximum(e, self.t)) / (0.2 * self.n)
            ratio = max(0.6, math.sqrt(2e-4 / risk))
            cap = 0.7 if ratio == 0.6 else 1.0
        else:
            ratio = min(0.6 * max(1.0, math.sqrt(0.006 * self.n / self.t)), 3.0)
            cap = 0.7
        c = max(min(math.sqrt(ratio * c1), cap * a.max()), 1e-3 * a.max())
        self.c, self.rho = c, min(2.0, a.max() / c)
        # in units of c: every row of norm one loses no weight
        self.A = self.V * (a / c)
        self.U = X @ self.A
        q = 1 / np.linalg.norm(self.U, axis=1)
        self.w = np.minimum(1, np.minimum(q, self.rho * q * q))
        self.step = c * c * e2 / (e + self.t)

    def turned(self, vector):
        """Noise of symmetric coordinates, in those of the eigenvectors."""
        return self.V.T @ vector

    def minimiser(self, k, center, b):
        lam = self.rho / self.kappa

        def objective(phi):
            m = self.U @ phi
            if self.logistic:
                loss = np.where(self.y == 0, 0, np.logaddexp(0, -self.y * m))
                slope = -self.y * expit(-self.y * m)
            else:
                r = np.abs(m - self.y) / k
                loss = k * k * (r + np.log1p(np.exp(-2 * r)) - math.log(2))
                slope = k * np.tanh((m - self.y) / k)
            away = phi - center
            value = self.w @ loss + lam / 2 * away @ away + b @ phi
            return value, self.U.T @ (self.w * slope) + lam * away + b

        tight = {"gtol": 1e-9, "ftol": 1e-15, "maxiter": 2000}
        return minimize(objective, center, jac=True, method="L-BFGS-B", options=tight).x

    def coefficients(self):
        sums = self.U.T @ (self.w * self.y)
        if self.logistic:
            phi = 6.0 * self.step * (sums / 2 + self.turned(self.noises[1]))
            rest, k = self.noises[2:], 1.0
        else:
            phi = self.step * (sums + self.turned(self.noises[1]))
            r = self.y - np.clip(self.U @ phi, -1, 1)
            q = np.array([self.y @ self.y, np.minimum(r * r, 1).sum()]) + self.noises[2]
            phi = phi * (q[1] <= q[0])
            z = 0.006 * self.n / self.t
            spread = min(math.sqrt(max(q.min() / self.n, 1e-4)), 0.5)
            k = np.clip(1.5 * spread * z ** (0.5 if z > 1 else 0.3), 0.05, 2.0)
            rest = self.noises[3:]
        for b in rest:
            phi = self.minimiser(k, phi, k * self.turned(b))
        return self.A @ phi
