"""Exact privacy of weighted, centred objective perturbation in one dimension.

Lengths are in units of the norm at which weights begin. The law of a minimiser is known
in closed form, so one objective with the worst Gaussian releases before and after is
one integral, and two objectives are a double one.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.special import expit

from skdp.accounting import ApproximateDP, gaussian_delta
from skdp.losses import LogCoshLoss, LogisticLoss
from skdp.mechanisms import PreconditionedObjectivePerturbation

NODES, WEIGHTS = np.polynomial.legendre.leggauss(4)
DELTA = 1e-6
#: Margins between which the derivatives of a row change.
BENDS = np.sinh(np.linspace(-4.5, 4.5, 31))


@lru_cache
def calibrated(task, epsilon):
    loss = LogisticLoss() if task == "logistic" else LogCoshLoss()
    return PreconditionedObjectivePerturbation.calibrate(
        ApproximateDP(epsilon, DELTA), loss=loss, radius=1.0, n_coefficients=1
    )


class Problem:
    """Objectives in one dimension, each centred at the answer of the one before.

    ``base`` holds rows (u, y, multiplicity), ``row`` the (u, y) that comes or goes,
    ``mus`` the bound on a row's gradient over the noise of each objective.
    """

    def __init__(self, base, row, center, lam, mus, longest, task, third=True):
        self.rho, self.lam, self.center = min(2.0, longest), lam, center
        self.mus, self.task, self.third = mus, task, third
        self.base = [(u, y, n * self.weight(u)) for u, y, n in base if n]
        self.row = (*row, self.weight(row[0]))

    def weight(self, u):
        q = 1.0 / abs(u) if u else math.inf
        return min(1.0, q, self.rho * q * q if self.third else q)

    def derivatives(self, u, y, phi):
        m = u * phi
        if self.task == "logistic":
            p = expit(-y * m)
            return -y * p, p * expit(y * m)
        return np.tanh(m - y), 1.0 / np.cosh(np.clip(m - y, -300, 300)) ** 2

    def gradient(self, phi, with_row):
        """Gradient without noise for a centre at zero, and Hessian."""
        g, h = self.lam * phi, np.full_like(phi, self.lam)
        for u, y, w in self.base + [self.row] * with_row:
            slope, bend = self.derivatives(u, y, phi)
            g, h = g + w * slope * u, h + w * bend * u * u
        return g, h

    def at_noise(self, pull, with_row):
        """Points whose gradient is ``pull``, by Newton steps kept in a bracket."""
        reach = sum(w * abs(u) for u, _, w in [*self.base, self.row])
        low, high = (pull - reach) / self.lam, (pull + reach) / self.lam
        phi = np.clip(0.0, low, high)
        for _ in range(200):
            g, h = self.gradient(phi, with_row)
            low, high = np.where(g < pull, phi, low), np.where(g > pull, phi, high)
            new = phi - (g - pull) / h
            new = np.where((new <= low) | (new >= high), (low + high) / 2, new)
            moved, phi = np.abs(new - phi), new
            if (moved <= 1e-12 * (np.abs(phi) + 1e-3)).all():
                break
        return phi

    def loss(self, phi, h, noise, mu, remove):
        """Log ratio at answers whose Hessian and noise are those that drew them."""
        u, y, w = self.row
        slope, bend = self.derivatives(u, y, phi)
        v, side = w * slope * u, 1.0 if remove else -1.0
        ratio = -np.log1p(-side * w * bend * u * u / h)
        return ratio + mu**2 * (v * v / 2 + side * v * noise)

    def delta(self, epsilon, gauss, remove):
        """Exact delta of one objective and Gaussian releases of size ``gauss``."""
        (mu,) = self.mus
        t = np.linspace(9.0, -9.0, 61)
        ends = self.at_noise(self.lam * self.center - t / mu, remove)
        bends = [
            (BENDS + y * (self.task != "logistic")) / u
            for u, y, _ in [*self.base, self.row]
            if u
        ]
        inner = np.concatenate([ends, *bends])
        borders = np.unique(inner[(inner >= ends[0]) & (inner <= ends[-1])])
        half = np.diff(borders)[:, None] / 2
        phi = (borders[:-1, None] + half * (1 + NODES)).ravel()
        g, h = self.gradient(phi, remove)
        noise = self.lam * self.center - g
        mass = (half * WEIGHTS).ravel() * mu * h
        mass *= np.exp(-((noise * mu) ** 2) / 2) / math.sqrt(2 * math.pi)
        assert abs(mass.sum() - 1.0) < 1e-4
        loss = self.loss(phi, h, noise, mu, remove)
        return float(mass @ gaussian_delta(epsilon - loss, gauss))

    def joint_delta(self, epsilon, gauss, remove, n=81):
        """The same for any number of objectives, by sums over n noises of each."""
        t = np.linspace(-8.5, 8.5, n)
        each = np.exp(-t * t / 2) / math.sqrt(2 * math.pi) * (t[1] - t[0])
        center, total, mass = np.array([self.center]), np.zeros(1), np.ones(1)
        for mu in self.mus:
            noise = np.tile(t / mu, center.size)
            pull = np.repeat(self.lam * center, n) - noise
            center = self.at_noise(pull, remove)
            _, h = self.gradient(center, remove)
            loss = self.loss(center, h, noise, mu, remove)
            total, mass = np.repeat(total, n) + loss, np.outer(mass, each).ravel()
        return float(mass @ gaussian_delta(epsilon - total, gauss))
