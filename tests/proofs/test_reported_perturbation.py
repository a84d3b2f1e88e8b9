"""Numeric checks of docs/proofs/reported_perturbation.md, independent of skdp.

In one dimension the joint law of coefficients, Hessian and gradient is known in closed
form; given the coefficients the other losses are normal, which leaves one integral.
"""

import numpy as np
import pytest
from scipy.special import expit, log_ndtr

DATA_SETS = {
    "empty": [],
    "agreeing": [(1.0, 1.0)] * 10,
    "opposing": [(1.0, -1.0)] * 10,
    "many opposing": [(1.0, -1.0)] * 100,
    "balanced": [(1.0, 1.0), (1.0, -1.0)] * 5,
    "many balanced": [(1.0, 1.0), (1.0, -1.0)] * 100,
    "mixed": [(1.0, 1.0), (-0.5, 1.0), (0.7, -1.0)],
}
DIRECTIONS = ("remove", "add")


def gaussian_profile(epsilon, mu):
    """Hockey stick of N(mu^2/2, mu^2) losses, by log-cdf differences."""
    mu = np.maximum(mu, 1e-12)
    top = log_ndtr(mu / 2 - epsilon / mu)
    bottom = epsilon + log_ndtr(-mu / 2 - epsilon / mu)
    return np.exp(top) * -np.expm1(np.minimum(bottom - top, 0.0))


def derivatives(theta, rows, alpha):
    """Gradient and Hessian of the penalised sum in one dimension."""
    gradient, hessian = alpha * theta, np.full_like(theta, alpha)
    for x, y in rows:
        p = expit(-y * x * theta)
        gradient, hessian = gradient - y * p * x, hessian + x * x * p * (1 - p)
    return gradient, hessian


class Pair:
    """Two neighbours on a grid of coefficients: densities, and what a row adds."""

    def __init__(self, rows, extra, mu, kappa, direction, size=6001):
        alpha, sigma = 1 / kappa, 1 / mu
        # nodes that follow the noise of the larger data set
        reach = (9 * sigma + len(rows) + 2) / alpha
        coarse = reach * np.sinh(np.linspace(-9, 9, 4001)) / np.sinh(9)
        noise = np.linspace(-9 * sigma - 1, 9 * sigma + 1, size)
        at = derivatives(coarse, [*rows, extra], alpha)[0]
        self.theta = np.interp(noise, at, coarse)
        self.weights = np.gradient(self.theta)
        less = derivatives(self.theta, rows, alpha)
        more = derivatives(self.theta, [*rows, extra], alpha)
        self.slope, self.curvature = (m - n for m, n in zip(more, less, strict=True))
        p, q = (self._log_density(*side, sigma) for side in (more, less))
        self.log_p, self.log_q = (p, q) if direction == "remove" else (q, p)
        self.derivatives = (more, less) if direction == "remove" else (less, more)

    @staticmethod
    def _log_density(gradient, hessian, sigma):
        scaled = gradient / sigma
        return -(scaled**2) / 2 + np.log(hessian / sigma) - np.log(2 * np.pi) / 2

    def delta(self, epsilon, mu2, m3):
        """Return the exact divergence of coefficients, Hessian and gradient."""
        size = np.hypot(mu2 * self.slope, m3 * self.curvature)
        inner = gaussian_profile(epsilon - (self.log_p - self.log_q), size)
        return float((self.weights * np.exp(self.log_p)) @ inner)

    def delta_on_grid(self, epsilon, mu2, m3, size=81):
        """Return the same by a sum over a grid of all three numbers."""
        z, total = np.linspace(-7, 7, size), 0.0
        (g0, h0), (g1, h1) = self.derivatives
        rest = np.exp(-(z[:, None] ** 2 + z**2) / 2)
        for i in range(self.theta.size):
            # the other law of the same Hessian and gradient, in its own noise
            other = [z + m3 * (h0 - h1)[i], z + mu2 * (g0 - g1)[i]]
            there = np.exp(-(other[0][:, None] ** 2 + other[1] ** 2) / 2)
            p, q = np.exp(self.log_p[i]) * rest, np.exp(self.log_q[i]) * there
            excess = np.sum(np.maximum(p - np.exp(epsilon) * q, 0.0))
            total += self.weights[i] * excess
        return total * (z[1] - z[0]) ** 2 / (2 * np.pi)


def joint_bound(w, w3, joint_mu, kappa, m3, size=301):
    """Return psi on a grid, shape (w3, w), as a maximum over slopes."""
    p = (1 - np.cos(np.pi * np.linspace(0, 1, size))) / 2
    q = p * (1 - p)
    fixed = np.log1p(kappa * q) + (p * joint_mu) ** 2 / 2 + (q * m3) ** 2 / 2
    out = np.full((w3.size, w.size), -np.inf)
    for a, b, c in zip(fixed, p * joint_mu, q * m3, strict=True):
        np.maximum(out, a + b * w + c * w3[:, None], out=out)
    return out


def expectation(profile, joint_mu, kappa, m3, n=(1201, 161)):
    """Average ``profile(psi)`` over two independent standard normal variables."""
    w, w3 = np.linspace(-9, 11, n[0]), np.linspace(-8, 9, n[1])
    values = profile(joint_bound(w, w3, joint_mu, kappa, m3))
    density = np.exp(-(w**2) / 2), np.exp(-(w3**2) / 2)
    total = density[1] @ values @ density[0] / (2 * np.pi)
    return total * (w[1] - w[0]) * (w3[1] - w3[0])


def bound(epsilon, mu1, kappa, mu2, m3, direction, n=(1201, 161)):
    kappa = kappa if direction == "remove" else 0.0
    return expectation(
        lambda psi: -np.expm1(np.minimum(epsilon - psi, 0.0)),
        np.hypot(mu1, mu2),
        kappa,
        m3,
        n,
    )


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("rows", ["empty", "mixed"])
def test_the_line_integral_is_the_sum_over_all_three_numbers(rows, direction):
    pair = Pair(DATA_SETS[rows], (1.0, 1.0), 0.8, 0.9, direction, size=401)
    for epsilon in (-0.5, 0.3, 1.5):
        found = pair.delta_on_grid(epsilon, 0.5, 3.0)
        assert found == pytest.approx(pair.delta(epsilon, 0.5, 3.0), rel=2e-3)


#: mu1, kappa, mu2, m3: calibrated for epsilon = 1, a large share for the Hessian, a
#: gradient that tells more than the coefficients, and a ridge below its floor.
SETTINGS = [
    (0.2246, 0.95, 0.053, 0.212),
    (0.3, 0.9, 0.0, 2.4),
    (0.3, 0.3, 0.6, 0.5),
    (0.8, 3.0, 0.3, 3.0),
]


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_exact_joint_laws_are_within_the_bound(setting, epsilon):
    mu1, kappa, mu2, m3 = setting
    for direction in DIRECTIONS:
        allowed = bound(epsilon, *setting, direction)
        for rows in DATA_SETS.values():
            for extra in ((1.0, 1.0), (0.6, 1.0)):
                pair = Pair(rows, extra, mu1, kappa, direction)
                found = pair.delta(epsilon, mu2, m3)
                assert found <= allowed * (1 + 5e-4) + 1e-12


def test_the_bound_is_nearly_attained_by_data_against_the_row():
    mu1, kappa, mu2, m3 = SETTINGS[0]
    floor = gaussian_profile(1.0, np.hypot(mu1, mu2))
    for direction, count, share in (("remove", 1500, 0.6), ("add", 100, 0.99)):
        pair = Pair([(1.0, -1.0)] * count, (1.0, 1.0), mu1, kappa, direction, 20_001)
        found = pair.delta(1.0, mu2, m3)
        assert found >= share * floor
        assert bound(1.0, *SETTINGS[0], direction) <= 1.05 * floor


def test_charging_the_hessian_by_its_own_size_is_caught():
    """m3 multiplies p(1-p) <= 1/4, so it is four times the size of the release."""
    mu1, kappa, mu2, m3 = SETTINGS[1]
    worst = max(
        Pair(DATA_SETS["many balanced"], (1.0, 1.0), mu1, kappa, d).delta(1.0, mu2, m3)
        for d in DIRECTIONS
    )
    assert worst > 2 * bound(1.0, mu1, kappa, mu2, m3 / 4, "remove")


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_shorter_rows_lose_less_at_every_noise(setting):
    mu1, kappa, mu2, m3 = setting
    joint_mu = np.hypot(mu1, mu2)
    w, w3 = np.linspace(-9, 9, 61), np.linspace(-9, 9, 41)
    longest = joint_bound(w, w3, joint_mu, kappa, m3, size=4001)
    for r in (0.3, 0.7, 0.95):
        shorter = joint_bound(w, w3, r * joint_mu, r * r * kappa, r * r * m3)
        assert np.all(shorter <= longest + 1e-5)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_the_bound_grows_with_every_number(setting):
    """On average, that is: a larger size can lower the loss at one noise."""
    for epsilon in (-0.5, 0.0, 0.4, 1.2):
        whole = bound(epsilon, *setting, "remove", (301, 41))
        for i in range(4):
            less = list(setting)
            less[i] *= 0.8
            assert bound(epsilon, *less, "remove", (301, 41)) <= whole * (1 + 1e-4)


def concentrated_profile(epsilon, rho):
    """Bound the profile of rho-zCDP by the best of many orders."""
    order = 1 + np.geomspace(1e-3, 1e5, 400)[:, None]
    size = np.abs(epsilon).ravel()
    log = (order - 1) * (order * rho - size) + order * np.log1p(-1 / order)
    best = np.exp(np.minimum((log - np.log(order - 1)).min(axis=0), 0.0))
    best = best.reshape(np.shape(epsilon))
    low = np.minimum(epsilon, 0.0)
    return np.where(epsilon < 0.0, -np.expm1(low) + np.exp(low) * best, best)


@pytest.mark.parametrize("rows", ["empty", "opposing", "many balanced"])
def test_derivatives_taken_away_from_the_minimiser_are_covered(rows):
    """A coarse lattice moves the point by far more than the package ever does.

    The solver errs by its full error, up with the row and down without. Six scales of
    the lattice noise stand for 38, and their failure is added.
    """
    mu1, kappa, mu2, m3 = 0.5, 0.8, 0.4, 2.0
    error, grid, multiple, widths, share = 2e-3, 5e-4, 40.0, 6.0, 2.0**-5
    z = np.arange(-6 * multiple, 6 * multiple + 1)
    log_mass = -(z**2) / (2 * multiple**2)
    log_mass -= np.log(np.sum(np.exp(log_mass)))
    rho = ((2 * error / grid + 1) / multiple) ** 2 / 2
    reach = error + grid / 2 + widths * grid * multiple
    moved = (mu2 / 4) ** 2 + (m3 / (6 * np.sqrt(3))) ** 2
    rho += reach**2 / (2 * share) * moved
    kept = np.sqrt(1 - share)
    for direction in DIRECTIONS:
        pair = Pair(DATA_SETS[rows], (1.0, 1.0), mu1, kappa, direction, size=801)
        sign = 1.0 if direction == "remove" else -1.0
        mine = np.rint((pair.theta + sign * error) / grid)
        other = np.rint((pair.theta - sign * error) / grid)
        released = grid * (mine[:, None] + z)
        p = expit(-released)
        size = np.hypot(mu2 * p, m3 * p * (1 - p))
        shifted = z + (mine - other)[:, None]
        of_step = (shifted**2 - z**2) / (2 * multiple**2)
        loss = (pair.log_p - pair.log_q)[:, None] + of_step
        for epsilon in (0.0, 0.6, 1.5):
            inner = gaussian_profile(epsilon - loss, size) @ np.exp(log_mass)
            found = float((pair.weights * np.exp(pair.log_p)) @ inner)
            allowed = expectation(
                lambda psi, e=epsilon: concentrated_profile(e - psi, rho),
                np.hypot(mu1, mu2 / kept),
                kappa if direction == "remove" else 0.0,
                m3 / kept,
                n=(301, 41),
            )
            assert found <= allowed * (1 + 1e-3) + 2 * np.exp(-(widths**2) / 2)


@pytest.mark.parametrize("angle", [0.0, 0.7, 1.5])
@pytest.mark.parametrize("setting", SETTINGS[1:3], ids=str)
def test_two_dimensional_laws_are_within_the_bound(setting, angle):
    """Other rows at an angle; given theta the losses depend on two numbers only."""
    mu1, kappa, mu2, m3 = setting
    alpha, n = 1 / kappa, 4
    axis = np.linspace(-1, 1, 301) * (8 / mu1 + n + 1) / alpha
    theta = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1)
    rows = [(np.array([np.cos(angle), np.sin(angle)]), label) for label in (1, -1)] * 2
    gradient, hessian = alpha * theta, np.zeros((*theta.shape, 2)) + alpha * np.eye(2)
    for x, label in rows:
        p = expit(-label * theta @ x)[..., None]
        gradient = gradient - label * p * x
        hessian = hessian + (p * (1 - p))[..., None] * np.outer(x, x)

    def log_density(gradient, hessian):
        determinant = hessian[..., 0, 0] * hessian[..., 1, 1] - hessian[..., 0, 1] ** 2
        square = np.sum((mu1 * gradient) ** 2, axis=-1)
        return -square / 2 + np.log(determinant * mu1**2 / (2 * np.pi))

    x = np.array([1.0, 0.0])
    p = expit(-theta @ x)
    more = log_density(
        gradient - p[..., None] * x,
        hessian + (p * (1 - p))[..., None, None] * np.outer(x, x),
    )
    less = log_density(gradient, hessian)
    size = np.hypot(mu2 * p, m3 * p * (1 - p))
    for direction, (a, b) in zip(DIRECTIONS, [(more, less), (less, more)], strict=True):
        for epsilon in (0.3, 1.0):
            inner = gaussian_profile(epsilon - (a - b), size)
            found = np.sum(np.exp(a) * inner) * (axis[1] - axis[0]) ** 2
            assert found <= bound(epsilon, *setting, direction) * (1 + 1e-3)
