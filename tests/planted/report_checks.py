"""Checks of coefficients released with derivatives of their objective.

The joint law in one dimension is written out here, as are the noise that releases must
have added and the number that the joint bound must not be below.
"""

import dataclasses
import math
from unittest import mock

import numpy as np
from scipy.special import expit, log_ndtr
from scipy.stats import chi2

from skdp.accounting import ApproximateDP, concentrated_delta
from skdp.mechanisms import NoisyHessian, ReportedObjectivePerturbation
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, as_row_blocks

__all__ = ["CHECKS"]

ALARM = 1e-8
DELTA = 1e-6
R = 2.0
#: Groups of (number of rows, position, label).
TABLES = (
    [],
    [(30, R, -1.0)],
    [(1, R, 1.0), (1, R, -1.0)],
    [(100, R, 1.0), (100, R, -1.0)],
)


def calibrated(d=1, level="gradient"):
    return ReportedObjectivePerturbation.calibrate(
        ApproximateDP(1.0, DELTA), radius=R, n_coefficients=d, level=level
    )


def _quiet(m, times):
    """The same mechanism with less noise in what it reports."""
    return dataclasses.replace(
        m,
        hessian_scale=m.hessian_scale / times,
        gradient_scale=m.gradient_scale / times,
    )


def derivatives(theta, table, alpha):
    """Gradient and Hessian of the penalised sum in one dimension."""
    gradient, hessian = alpha * theta, np.full_like(theta, alpha)
    for n, x, y in table:
        p = expit(-y * x * theta)
        gradient = gradient - n * y * x * p
        hessian = hessian + n * x * x * p * (1 - p)
    return gradient, hessian


def exact_delta(m, epsilon, table, extra):
    """Exact divergence of all that is released: given theta the rest is normal."""
    alpha, sigma = m.main.alpha, m.main.noise_law.scale
    coarse, noise = np.sinh(np.linspace(-13, 13, 6001)), np.linspace(-9, 9, 4001)
    at = derivatives(coarse, [*table, extra], alpha)[0]
    theta = np.interp(noise * sigma, at, coarse)
    less = derivatives(theta, table, alpha)
    more = derivatives(theta, [*table, extra], alpha)
    moved = [a - b for a, b in zip(more, less, strict=True)]
    size = (moved[1] / m.hessian_scale) ** 2 + 1e-20
    if m.gradient_scale is not None:
        size += (moved[0] / m.gradient_scale) ** 2
    size = np.sqrt(size)
    p, q = (np.log(h / sigma) - (g / sigma) ** 2 / 2 for g, h in (more, less))
    worst = 0.0
    for mine, other in ((p, q), (q, p)):
        level = epsilon - (mine - other)
        top = log_ndtr(size / 2 - level / size)
        bottom = level + log_ndtr(-size / 2 - level / size)
        inner = np.exp(top) * -np.expm1(np.minimum(bottom - top, 0.0))
        total = np.gradient(theta) @ (np.exp(mine) * inner) / math.sqrt(2 * math.pi)
        worst = max(worst, float(total))
    return worst


def report_audit():
    """Exact laws are within the guarantee, and use it where it should be tight."""
    usual = calibrated()
    loud = dataclasses.replace(_quiet(usual, 10), gradient_scale=usual.gradient_scale)
    reached = []
    for m in (usual, loud):
        for delta in (1e-2, DELTA):
            epsilon = m.ideal_guarantee.epsilon(delta)
            claim = m.ideal_guarantee.delta(epsilon)
            found = [exact_delta(m, epsilon, t, (1, R, 1.0)) for t in TABLES]
            assert max(found) <= claim * (1 + 1e-5)
            reached.append(max(found) / claim)
    assert reached[1] > 0.95
    assert max(reached[2:]) > 0.3


def report_certificate():
    """The target is met, by numbers that contain every cost of what is published."""
    for level in ("hessian", "gradient"):
        m = calibrated(3, level)
        g = m.guarantee
        assert 0.999 < g.epsilon(DELTA) <= 1.0
        steps = [m.main.smoothing, m.hessian_smoothing, m.gradient_smoothing]
        steps = [step for step in steps if step is not None]
        rho = sum(
            (2 * s.error / s.grid + s.n_features**0.5) ** 2 / 2 / s.multiple**2
            for s in steps
        )
        step, share = m.main.smoothing, 2.0**-10
        reach = R * (step.error + step.grid * 3**0.5 / 2 + 38 * step.scale)
        curvature = R * R / m.hessian_scale
        moved = [curvature * reach / (6 * 3**0.5)]
        assert g.hessian_mu >= curvature / 4 / math.sqrt(1 - share) * (1 - 1e-12)
        if level == "gradient":
            slope = R / m.gradient_scale
            moved.append(slope * reach / 4)
            assert g.gradient_mu >= slope / math.sqrt(1 - share) * (1 - 1e-12)
        rho += sum(size**2 for size in moved) / (2 * share)
        assert g.smoothing_rho >= rho * (1 - 1e-9)
        assert g.delta(1.0) >= _expectation(g, 1.0) * (1 - 1e-3)


def _expectation(g, epsilon):
    """The joint bound by sums over grids of both noises and of the slope."""
    w, w3 = np.linspace(-9, 11, 801), np.linspace(-7, 8, 61)
    p = (1 - np.cos(np.pi * np.linspace(0, 1, 201))) / 2
    q, joint_mu, m3 = p * (1 - p), math.hypot(g.mu, g.gradient_mu), 4 * g.hessian_mu
    loss = np.zeros((w3.size, w.size))
    for a, b in zip(p, q, strict=True):
        fixed = math.log1p(g.curvature * b) + ((a * joint_mu) ** 2 + (b * m3) ** 2) / 2
        np.maximum(loss, fixed + a * joint_mu * w + b * m3 * w3[:, None], out=loss)
    values = concentrated_delta(epsilon - loss, g.smoothing_rho)
    total = np.exp(-(w3**2) / 2) @ values @ np.exp(-(w**2) / 2) / (2 * math.pi)
    return total * (w[1] - w[0]) * (w3[1] - w3[0])


def report_release():
    """Derivatives of J0 at the released point, with the stated noise: chi-square."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)) / 4, rng.choice([-1.0, 1.0], size=40)
    data = PrivateRows(as_row_blocks(X, y), L2Ball(R))
    # little noise of their own, so that nothing hides in it
    m = _quiet(calibrated(3), 100)
    n, source = 60, as_random_source(3)
    noises, points, original = [], [], NoisyHessian.statistic

    def watched(self, data):
        points.append(self.theta)
        return original(self, data)

    with mock.patch.object(NoisyHessian, "statistic", watched):
        for _ in range(n):
            theta, hessian, gradient = m.split(m.release(data, source).output)
            assert points[-1] == tuple(theta)
            p = expit(-y * (X @ theta))
            b = m.main.alpha * theta - (y * p) @ X
            curvature = (X * (p * (1 - p))[:, None]).T @ X + m.main.alpha * np.eye(3)
            H = (hessian - curvature) / m.hessian_scale
            np.testing.assert_allclose(H, H.T, atol=1e-12)
            below = math.sqrt(2) * H[np.tril_indices(3, -1)]
            parts = [b / m.main.noise_law.scale, np.diag(H), below]
            noises.append([*parts, (gradient - b) / m.gradient_scale])
    for part in np.array(noises).transpose(1, 0, 2):
        assert ALARM < chi2.cdf(np.sum(part**2), part.size) < 1 - ALARM
        assert abs(part.sum()) < 5.8 * math.sqrt(part.size)


CHECKS = {
    check.__name__: check
    for check in (report_audit, report_certificate, report_release)
}
