r"""Reference implementations that the benchmark compares with.

Each is a classifier of labels in {-1, +1} for rows of Euclidean norm at most one, in
which one person is one row, and neighbours differ by adding or removing one. They are
written from the formulas of the papers, in plain floating point, for measuring
accuracy only: none is hardened for release.

Notation
--------
epsilon, delta   the guarantee
ridge            lambda, on the *sum* of the losses
beta             1/4, the largest second derivative of the logistic loss
mu               parameter of Gaussian DP (Dong, Roth & Su, 2022)
A                rows times labels, so that the loss is sum_i log(1 + exp(-A_i theta))
"""

import functools
import math
from abc import abstractmethod

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, log_ndtr, ndtr
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

BETA = 0.25


def gaussian_delta(epsilon, mu):
    """Return delta(epsilon) of the Gaussian mechanism (Balle & Wang, 2018)."""
    upper = ndtr(mu / 2 - epsilon / mu)
    return upper - math.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu))


@functools.cache
def gaussian_mu(epsilon, delta):
    """Return the mu whose Gaussian mechanism is exactly (epsilon, delta)-DP."""
    return brentq(lambda mu: gaussian_delta(epsilon, mu) - delta, 1e-6, 60, xtol=1e-12)


def minimise(A, ridge, linear=0.0):
    """Minimise the ridge logistic loss plus ``linear . theta`` by damped Newton steps.

    Stops at a gradient of 1e-9 per row, far below any noise used here.
    """
    theta = np.zeros(A.shape[1])

    def value(theta):
        penalty = ridge / 2 * theta @ theta + np.sum(linear * theta)
        return np.logaddexp(0.0, -(A @ theta)).sum() + penalty

    for _ in range(100):
        p = expit(-(A @ theta))
        gradient = ridge * theta + linear - A.T @ p
        if np.linalg.norm(gradient) <= 1e-9 * len(A):
            break
        weighted = A * np.sqrt(p * (1.0 - p))[:, None]
        hessian = weighted.T @ weighted + ridge * np.eye(A.shape[1])
        theta = _backtrack(value, theta, np.linalg.solve(hessian, gradient), gradient)
    return theta


def _backtrack(value, theta, step, gradient):
    start, slope, length = value(theta), gradient @ step, 1.0
    while value(theta - length * step) > start - 1e-4 * length * slope:
        length /= 2.0
        if length < 1e-8:  # the value no longer resolves the decrease
            return theta
    return theta - length * step


class Peer(ClassifierMixin, BaseEstimator):
    """Linear classifier without intercept; a subclass gives the coefficients."""

    def __init__(self, *, epsilon=1.0, delta=1e-6, random_state=None):
        self.epsilon = epsilon
        self.delta = delta
        self.random_state = random_state

    def fit(self, X, y):
        rng = np.random.default_rng(self.random_state)
        self.classes_ = np.array([-1, 1])
        self.coef_ = self._coefficients(X * np.asarray(y)[:, None], rng)
        return self

    def decision_function(self, X):
        return X @ self.coef_

    def predict(self, X):
        return np.where(self.decision_function(X) > 0.0, 1, -1)

    @abstractmethod
    def _coefficients(self, A, rng): ...


class KST12(Peer):
    """Gaussian objective perturbation (Kifer, Smith & Thakurta, COLT 2012)."""

    @property
    def ridge(self):
        return 2.0 * BETA / self.epsilon

    @property
    def noise_scale(self):
        variance = 8.0 * math.log(2.0 / self.delta) + 4.0 * self.epsilon
        return math.sqrt(variance) / self.epsilon

    def _coefficients(self, A, rng):
        return minimise(A, self.ridge, rng.normal(0.0, self.noise_scale, A.shape[1]))


class RKW23(KST12):
    """The same with the hockey-stick analysis of Redberg, Koskela & Wang (2023).

    Their rule for the ridge: the smallest at which the noise is no more than 1.3 times
    that of the Gaussian mechanism.
    """

    @property
    def ridge(self):
        return rkw_ridge(self.epsilon, self.delta, self.noise_scale)

    @property
    def noise_scale(self):
        return 1.3 / gaussian_mu(self.epsilon, self.delta)


def rkw_delta(epsilon, noise_scale, ridge):
    """Return delta(epsilon) of their theorem, for gradients of norm at most one."""
    rest = epsilon + math.log1p(-BETA / ridge)
    mu = 1.0 / noise_scale
    least = mu**2 / 2  # no outcome has a smaller loss, so below it delta is linear
    covered = 2.0 * gaussian_delta(max(rest, least), mu)
    return 1.0 - math.exp(min(rest - least, 0.0)) * (1.0 - covered)


@functools.cache
def rkw_ridge(epsilon, delta, noise_scale):
    """Return the smallest ridge that gives the guarantee with the given noise."""

    def excess(ridge):
        return rkw_delta(epsilon, noise_scale, ridge) - delta

    return brentq(excess, BETA * (1.0 + 1e-9), 1e6, xtol=1e-9)


class CMS11(Peer):
    """Pure objective perturbation (Chaudhuri, Monteleoni & Sarwate, JMLR 2011).

    Restated for adding or removing a row: the curvature costs log(1 + beta / ridge),
    a share of epsilon, and the noise has density proportional to exp(-rate |b|).
    """

    @property
    def ridge(self):
        share = 0.1 if self.epsilon < 1.0 else 0.2
        return BETA / math.expm1(share * self.epsilon)

    @property
    def rate(self):
        return self.epsilon - math.log1p(BETA / self.ridge)

    def _coefficients(self, A, rng):
        direction = rng.normal(size=A.shape[1])
        radius = rng.gamma(A.shape[1], 1.0 / self.rate)
        noise = radius * direction / np.linalg.norm(direction)
        return minimise(A, self.ridge, noise)


class OutputPerturbation(Peer):
    """Gaussian noise on the ridge minimiser, whose L2 sensitivity is 1 / ridge."""

    @property
    def ridge(self):
        return 16.0 * self.epsilon ** (-2.0 / 3.0)

    @property
    def noise_scale(self):
        return 1.0 / (self.ridge * gaussian_mu(self.epsilon, self.delta))

    def _coefficients(self, A, rng):
        theta = minimise(A, self.ridge)
        return theta + rng.normal(0.0, self.noise_scale, theta.size)


class NoisyGradientDescent(Peer):
    """Full-batch gradient descent with momentum; the second half is averaged.

    Every step releases a noisy gradient sum of sensitivity one, and Gaussian DP
    composes exactly: ``n_steps`` releases at mu / sqrt(n_steps) cost mu.
    """

    @property
    def schedule(self):
        """Return the number of steps, the step size and the momentum."""
        if self.epsilon < 1.0:
            return 100, 4.0, 0.9
        return (400, 4.0, 0.9) if self.epsilon < 4.0 else (400, 8.0, 0.95)

    @property
    def noise_scale(self):
        return math.sqrt(self.schedule[0]) / gaussian_mu(self.epsilon, self.delta)

    def _coefficients(self, A, rng):
        n, d = A.shape
        n_steps, step, momentum = self.schedule
        theta, velocity, total = np.zeros(d), np.zeros(d), np.zeros(d)
        for t in range(n_steps):
            noise = rng.normal(0.0, self.noise_scale, d)
            descent = A.T @ expit(-(A @ theta)) + noise
            velocity = momentum * velocity + step / n * descent
            theta = theta + velocity
            if t >= n_steps // 2:
                total += theta
        return total / (n_steps - n_steps // 2)


def ceiling():
    """Return the non-private model that no private one is expected to beat."""
    return LogisticRegression(
        C=10.0, fit_intercept=False, solver="newton-cholesky", tol=1e-6, max_iter=200
    )
