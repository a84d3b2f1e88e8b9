"""Many fits at once: noise, minimisers, derivatives, and the true losses of people.

The minimisers are found by a vectorised Newton method and the true losses are written
out from their definition, so that nothing but the bounds comes from the package.
"""

import dataclasses

import numpy as np
from scipy.special import expit

from skdp.linear_model import ObjPertLogisticRegression
from skdp.random import as_random_source


def make_table(n, d, rng):
    """Return rows within the unit ball, and labels with a weak signal."""
    X = rng.standard_normal((n, d))
    X *= rng.uniform(0.5, 1.0, (n, 1)) / np.linalg.norm(X, axis=1)[:, None]
    y = np.where(rng.random(n) < expit(X @ np.ones(d)), 1, -1)
    return X, y


def template(X, y, *, epsilon=1.0, ridge=None, hessian_scale=None, gradient_scale=None):
    """Return the report of one fit with both statistics; a ridge in units of R^2/eps.

    Other noise scales of the statistics are put in where they are given.
    """
    constant = 0.5
    alpha = "auto" if ridge is None else ridge * (1 + constant**2) / epsilon
    model = ObjPertLogisticRegression(
        epsilon=epsilon,
        delta=1e-6,
        alpha=alpha,
        classes=[-1, 1],
        intercept_scaling=constant,
        pdp_report="gradient",
    )
    report = model.fit(X, y).report_
    for name, scale in (("hessian", hessian_scale), ("gradient", gradient_scale)):
        if scale is not None:
            old = getattr(report, name)
            report = dataclasses.replace(
                report, **{name: dataclasses.replace(old, scale=scale)}
            )
    return report


class SimulatedFits:
    """Fits of one table that differ in their noise alone, along the first axis."""

    def __init__(self, X, y, report, n_fits, rng):
        self.report = report
        self.X, self.y = X, y.astype(float)
        self.Z = self._with_constant(X)
        self.d = self.Z.shape[1]
        # every distinct product of two columns, so that Hessians are matrix products
        self.pairs = np.triu_indices(self.d)
        self.outer = self.Z[:, self.pairs[0]] * self.Z[:, self.pairs[1]]
        self.b = report.noise_scale * rng.standard_normal((n_fits, self.d))
        self.ideal = self._minimisers()
        source = as_random_source(int(rng.integers(2**31)))
        step = report._mechanism().smoothing
        self.theta = step.release_each(self.ideal, source)
        self._release_statistics(rng, source)

    def _with_constant(self, X):
        return np.column_stack([X, np.full(len(X), self.report.intercept_scaling)])

    def gradient_hessian(self, theta):
        """Return gradient and Hessian of J0 at a point of each fit."""
        slope, curvature = derivatives(theta, self.Z, self.y)
        gradient = slope @ self.Z + self.report.alpha * theta
        H = np.empty((len(theta), self.d, self.d))
        H[:, self.pairs[0], self.pairs[1]] = curvature @ self.outer
        H[:, self.pairs[1], self.pairs[0]] = H[:, self.pairs[0], self.pairs[1]]
        return gradient, H + self.report.alpha * np.eye(self.d)

    def _minimisers(self):
        theta = np.zeros_like(self.b)
        for _ in range(100):
            gradient, H = self.gradient_hessian(theta)
            gradient += self.b
            if np.abs(gradient).max() < 1e-9:
                return theta
            step = np.linalg.solve(H, gradient[..., None])[..., 0]
            # logistic losses: Newton's step converges once it is short in margins
            length = np.abs(step @ self.Z.T).max(axis=1)
            theta -= step / np.maximum(1.0, length)[:, None]
        raise AssertionError("the minimisers were not found")

    def _release_statistics(self, rng, source):
        report, k = self.report, len(self.b)
        gradient, H = self.gradient_hessian(self.theta)
        Z = rng.standard_normal((k, self.d, self.d))
        self.G = (Z + Z.transpose(0, 2, 1)) / 2
        self.n2 = rng.standard_normal((k, self.d)) * report.gradient.scale
        lower = np.tril_indices(self.d)
        noisy = (H + report.hessian.scale * self.G)[:, lower[0], lower[1]]
        self.hessians = report.hessian.step.release_each(noisy, source)
        noisy = gradient + self.n2
        self.gradients = report.gradient.step.release_each(noisy, source)

    def reports(self, level):
        """Yield the report of each fit at a level."""
        for theta, hessian, gradient in zip(
            self.theta, self.hessians, self.gradients, strict=True
        ):
            statistics = {"hessian": None, "gradient": None}
            if level != "data-independent":
                statistics["hessian"] = self._statistic("hessian", hessian)
            if level == "gradient":
                statistics["gradient"] = self._statistic("gradient", gradient)
            yield dataclasses.replace(
                self.report, level=level, theta=tuple(theta), **statistics
            )

    def _statistic(self, name, values):
        return dataclasses.replace(getattr(self.report, name), values=tuple(values))

    def bounds(self, level, X, y, **options):
        """Return the package's bounds, shape (fits, people)."""
        return np.array(
            [report.loss(X, y, **options) for report in self.reports(level)]
        )

    def losses(self, level, X, y, *, member=True, of="everything"):
        """Return the true signed losses of rows of the table, or of strangers."""
        Z, sigma = self._with_constant(X), self.report.noise_scale
        side, q = 1.0 if member else -1.0, np.sum(Z * Z, axis=1)
        slope, curvature = derivatives(self.ideal, Z, y)
        _, H = self.gradient_hessian(self.ideal)
        solved = np.linalg.solve(H, np.broadcast_to(Z.T, (len(H), *Z.T.shape)))
        leverage = np.einsum("ij,kji->ki", Z, solved)
        loss = -np.log1p(-side * curvature * leverage)
        loss += slope**2 * q / (2 * sigma**2)
        loss += side * slope * (self.b @ Z.T) / sigma**2
        if of == "coefficients" or level == "data-independent":
            return loss
        slope, curvature = derivatives(self.theta, Z, y)
        s3, form = self.report.hessian.scale, np.einsum("ij,kjl,il->ki", Z, self.G, Z)
        loss += (curvature * q) ** 2 / (2 * s3**2) + side * curvature * form / s3
        if level == "gradient":
            s2 = self.report.gradient.scale
            loss += slope**2 * q / (2 * s2**2)
            loss += side * slope * (self.n2 @ Z.T) / s2**2
        return loss


def derivatives(theta, Z, y):
    """Return first and second derivatives of each row's loss, shape (fits, rows)."""
    p = expit(-y * (theta @ Z.T))
    return -y * p, p * (1 - p)


def clustered(failures):
    """Return the share of failures, and its standard error clustered by fit."""
    by_fit = failures.mean(axis=1)
    return by_fit.mean(), by_fit.std(ddof=1) / np.sqrt(len(by_fit))
