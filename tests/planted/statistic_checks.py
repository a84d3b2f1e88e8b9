"""Checks of noisy derivatives at a public point, and of symmetric Gaussian noise.

Sensitivities by search over rows written out by hand, noise recovered from releases,
the law of the largest eigenvalue against draws and against a closed form.
"""

import numpy as np
from scipy.special import expit, ndtr
from scipy.stats import chi2

from skdp.accounting import ApproximateDP, gaussian_mu
from skdp.mechanisms import NoisyGradient, NoisyHessian, ObjectivePerturbation
from skdp.random import GOE, as_random_source
from skdp.rows import L2Ball, PrivateRows, as_row_blocks

__all__ = ["CHECKS"]

ALARM = 1e-8
DELTA = 1e-6
R = 1.5
RELATIONS = ("add-remove", "replace-one")


def rows(X, y):
    return PrivateRows(as_row_blocks(X, y), L2Ball(R))


def derivatives(theta, X, y):
    """Return gradients and Hessians of the logistic losses, one a row."""
    margins = X @ theta
    slopes = (-y * expit(-y * margins))[:, None] * X
    weights = (expit(margins) * expit(-margins))[:, None, None]
    return slopes, weights * X[:, :, None] * X[:, None, :]


def directions(d):
    """Return unit vectors: all the axes and what lies between two of them."""
    angle = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    out = [np.eye(d)[:1], -np.eye(d)[:1]]
    for j in range(1, d):
        plane = (
            np.cos(angle)[:, None] * np.eye(d)[0]
            + np.sin(angle)[:, None] * np.eye(d)[j]
        )
        out.append(plane)
    return np.concatenate(out)


def farthest(kind, theta, relation):
    """Return how far a row can move the sum of a derivative, by search."""
    u = np.concatenate([R * share * directions(theta.size) for share in (0.5, 1.0)])
    X, y = np.concatenate([u, u]), np.repeat([1.0, -1.0], len(u))
    values = derivatives(theta, X, y)[kind].reshape(len(X), -1)
    if relation == "add-remove":
        return np.linalg.norm(values, axis=1).max()
    return max(np.linalg.norm(values - v, axis=1).max() for v in values)


def statistic_certificate():
    """The noise covers what a search finds, and where it must be no more."""
    for kind, mechanism in enumerate((NoisyGradient, NoisyHessian)):
        for theta in (np.zeros(3), np.array([3.0, 0.0, 0.0])):
            for relation in RELATIONS:
                m = mechanism.calibrate(
                    ApproximateDP(1.0, DELTA, adjacency=relation),
                    theta=theta,
                    radius=R,
                    alpha=1.0,
                )
                needed = farthest(kind, theta, relation) / gaussian_mu(1.0, DELTA)
                assert m.scale >= needed * (1 - 1e-9)
                assert m.guarantee.epsilon(DELTA) <= 1.0
                if relation == "add-remove":
                    assert m.scale <= 1.001 * needed
                    assert m.guarantee.delta(1.0) > 0.99 * DELTA


def statistic_release():
    """Chi-square tests at 1e-8 on what releases add to sums written out by hand."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)) / 4, rng.choice([-1.0, 1.0], size=40)
    data, theta, n = rows(X, y), np.array([0.5, -1.0, 0.25]), 80
    sums = [d.sum(axis=0) for d in derivatives(theta, X, y)]
    sums = [sums[0] + 2.0 * theta, sums[1] + 2.0 * np.eye(3)]
    for truth, mechanism in zip(sums, (NoisyGradient, NoisyHessian), strict=True):
        m = mechanism.calibrate(
            ApproximateDP(1.0, DELTA), theta=theta, radius=R, alpha=2.0
        )
        source = as_random_source(1)
        noise = np.array([m.release(data, source).output - truth for _ in range(n)])
        noise /= m.scale
        axes = [noise[:, i] for i in range(3)]
        if truth.ndim == 2:
            np.testing.assert_allclose(noise, noise.transpose(0, 2, 1), atol=1e-12)
            axes = [noise[:, i, i] for i in range(3)]
            axes += [np.sqrt(2) * noise[:, i, j] for i in range(3) for j in range(i)]
        # the last three together see what one alone does not
        for axis in (*axes, np.concatenate(axes[-3:])):
            assert ALARM < chi2.cdf(axis @ axis, axis.size) < 1 - ALARM
        for axis in axes:
            assert abs(axis.sum()) < 5.8 * np.sqrt(n)
    _gradient_at_a_minimiser_is_the_noise_that_was_in_it(data)


def _gradient_at_a_minimiser_is_the_noise_that_was_in_it(data):
    target = ApproximateDP(1.0, DELTA)
    main = ObjectivePerturbation.calibrate(target, radius=R, n_coefficients=3)
    b = main.noise_law.draw(3, as_random_source(5))
    theta = main.release(data, as_random_source(5)).diagnostics["minimiser"]
    m = NoisyGradient.calibrate(target, theta=theta, radius=R, alpha=main.alpha)
    np.testing.assert_allclose(m.statistic(data), -b, atol=3 * main.gradient_tol)


def goe_law():
    """Counts at 1e-8 of draws beyond quantiles; the closed form at order two."""
    for t in (-1.0, 1.0, 3.0, 6.0):
        exact = ndtr(-np.sqrt(2) * t) + np.exp(-t * t / 2) * ndtr(t) / np.sqrt(2)
        np.testing.assert_allclose(GOE(2).sf(t), exact, rtol=1e-10)
        np.testing.assert_allclose(GOE(2).isf(exact), t, atol=1e-9)
    source, n = as_random_source(2), 200
    for d in (2, 12):
        largest = np.array(
            [np.linalg.eigvalsh(GOE(d).draw(source))[-1] for _ in range(n)]
        )
        for q in (0.2, 0.5, 0.8):
            count = np.count_nonzero(largest > GOE(d).isf(q))
            assert abs(count - q * n) < 5.8 * np.sqrt(n * q * (1 - q)) + 3


CHECKS = {
    check.__name__: check
    for check in (statistic_certificate, statistic_release, goe_law)
}
