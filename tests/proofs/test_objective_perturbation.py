"""Numeric checks of docs/proofs/objective_perturbation.md, independent of skdp.

Everything is exact up to quadrature: in one dimension the law of the minimiser is
known in closed form, and sums over cells bound a hockey-stick divergence from below.
"""

import numpy as np
import pytest
from scipy.special import expit, log_ndtr, ndtr

RADIUS = 1.0


def gaussian_profile(epsilon, mu):
    """Hockey stick of N(mu^2/2, mu^2) losses, by log-cdf differences."""
    top = log_ndtr(mu / 2 - epsilon / mu)
    bottom = epsilon + log_ndtr(-mu / 2 - epsilon / mu)
    return np.exp(top) * -np.expm1(np.minimum(bottom - top, 0.0))


def joint_bound(w, mu, kappa, size=1001):
    """Return psi(w) as a maximum over a grid of slopes that contains 0 and 1."""
    q = (1 - np.cos(np.pi * np.linspace(0, 1, size))) / 2
    jacobian = np.log1p(kappa * q * (1 - q)) + q**2 * mu**2 / 2
    return np.max(jacobian + mu * np.multiply.outer(w, q), axis=-1)


def closed_bound(gain, kappa):
    """Return the closed form bar-psi of the proof, as a function of G."""
    inside = np.clip(gain, -kappa, kappa)
    return np.where(gain >= kappa, gain, (kappa + inside) ** 2 / (4 * kappa))


def gradient(theta, x, y, alpha):
    """One-dimensional gradient of the regularised sum of logistic losses."""
    margins = np.multiply.outer(theta, x)
    return np.sum(-y * expit(-y * margins) * x, axis=-1) + alpha * theta


def cell_masses(theta, x, y, alpha, sigma):
    """Exact probability of every cell between sorted thetas, and of both ends."""
    scores = gradient(theta, x, y, alpha) / sigma
    left, right = ndtr(scores), ndtr(-scores)
    inner = np.where(scores[1:] < 0, np.diff(left), -np.diff(right))
    return np.concatenate([[left[0]], inner, [right[-1]]])


DATA_SETS = {
    "empty": (np.empty(0), np.empty(0)),
    "agreeing": (np.full(20, 1.0), np.full(20, 1.0)),
    "opposing": (np.full(100, 1.0), np.full(100, -1.0)),
    "few opposing": (np.full(3, 1.0), np.full(3, -1.0)),
    "mixed": (np.array([1.0, -0.5, 0.7, 1.0]), np.array([1.0, 1.0, -1.0, -1.0])),
}


def both_directions(data, row, epsilons, alpha, sigma):
    """Return lower sums of the divergence, with z against without, and back."""
    (x, y), (x0, y0) = DATA_SETS[data], row
    more = (np.append(x, x0), np.append(y, y0))
    b = np.linspace(-13, 13, 15_001) * sigma
    reach = (np.sum(np.abs(more[0])) + b[-1]) / alpha
    # any partition is exact; this one is fine wherever the noise has mass
    coarse = np.linspace(-reach, reach, 30_001)
    theta = np.interp(-b[::-1], gradient(coarse, *more, alpha), coarse)
    with_z = cell_masses(theta, *more, alpha, sigma)
    without = cell_masses(theta, x, y, alpha, sigma)
    return [
        (
            np.sum(np.maximum(with_z - np.exp(e) * without, 0.0)),
            np.sum(np.maximum(without - np.exp(e) * with_z, 0.0)),
        )
        for e in epsilons
    ]


@pytest.mark.parametrize("kappa", [0.02, 0.25, 1.0, 2.0, 10.0])
@pytest.mark.parametrize("mu", [0.01, 0.2367, 1.0, 3.0, 40.0])
def test_closed_form_dominates_the_joint_bound(kappa, mu):
    """bar-psi >= psi, also with the smaller curvature kappa - mu^2/2."""
    gain = np.linspace(-3 * kappa - mu, 3 * kappa + mu + 1, 1001)
    psi = joint_bound((gain - mu**2 / 2) / mu, mu, kappa)
    sharp = max(kappa - mu**2 / 2, 1e-9)
    rounding = 1e-12 * (1 + mu**2)
    assert np.all(closed_bound(gain, kappa) >= psi - rounding)
    assert np.all(closed_bound(gain, sharp) >= psi - rounding - sharp)
    assert np.all(closed_bound(gain, sharp) <= closed_bound(gain, kappa) + rounding)


@pytest.mark.parametrize("kappa", [0.05, 0.5, 1.0, 4.0])
@pytest.mark.parametrize("mu", [0.05, 0.2367, 1.0])
def test_joint_bound_is_the_gaussian_loss_exactly_above_its_threshold(kappa, mu):
    """psi = G where G >= kappa - mu^2/2, and psi > max(0, G) right below."""
    threshold = kappa - mu**2 / 2
    above = max(threshold, 0.0) + np.linspace(0, 5, 300)
    psi = joint_bound((above - mu**2 / 2) / mu, mu, kappa)
    assert np.allclose(psi, above, rtol=1e-12, atol=1e-12)
    if threshold > 0.01:
        below = threshold - np.linspace(0.005, threshold / 2, 50)
        psi = joint_bound((below - mu**2 / 2) / mu, mu, kappa, size=4001)
        assert np.all(psi > below)


@pytest.mark.parametrize(("epsilon", "mu"), [(0.1, 0.0275), (1.0, 0.2367), (8, 1.5)])
def test_hockey_stick_of_the_joint_bound_is_gaussian_at_the_threshold(epsilon, mu):
    """E[(1 - e^(eps - psi))_+] is the Gaussian profile for kappa = eps exactly."""
    w = np.linspace(-6, 12, 9001)
    weight = np.exp(-(w**2) / 2) / np.sqrt(2 * np.pi)
    excess = -np.expm1(np.minimum(epsilon - joint_bound(w, mu, epsilon), 0.0))
    integral = np.trapezoid(weight * excess, w)
    assert integral == pytest.approx(gaussian_profile(epsilon, mu), rel=1e-4)


@pytest.mark.parametrize("sharp", [False, True])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_exact_divergence_reaches_but_never_exceeds_the_gaussian_profile(
    epsilon, sharp
):
    """So at alpha = R^2/epsilon, and at the sharp R^2/(epsilon + mu^2/2)."""
    mu = {0.1: 1 / 36.3047, 1.0: 1 / 4.2247, 4.0: 1 / 1.1935}[epsilon]
    alpha = RADIUS**2 / (epsilon + (mu**2 / 2 if sharp else 0.0))
    target = gaussian_profile(epsilon, mu)
    found = [
        both_directions(data, row, [epsilon], alpha, RADIUS / mu)[0]
        for data in DATA_SETS
        for row in [(1.0, 1.0), (0.6, 1.0), (-1.0, 1.0)]
    ]
    assert np.max(found) <= target * (1 + 1e-9)
    assert np.max(found) >= 0.99 * target


@pytest.mark.parametrize("data", DATA_SETS)
def test_exact_divergence_is_below_the_whole_curve_for_a_small_ridge(data):
    """Below the threshold, and at negative epsilon, the psi curve still dominates."""
    mu, kappa = 0.4, 3.0
    w = np.linspace(-9, 11, 8001)
    weight = np.exp(-(w**2) / 2) / np.sqrt(2 * np.pi)
    psi = joint_bound(w, mu, kappa)
    epsilons = [-1.0, -0.2, 0.0, 0.3, 1.0, 2.5]
    exact = both_directions(data, (1.0, 1.0), epsilons, 1 / kappa, 1 / mu)
    for epsilon, (remove, add) in zip(epsilons, exact, strict=True):
        excess = -np.expm1(np.minimum(epsilon - psi, 0.0))
        curve = np.trapezoid(weight * excess, w)
        assert max(remove, add) <= curve * (1 + 1e-5) + 1e-12


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0])
def test_a_tenth_of_the_ridge_breaks_the_gaussian_profile(epsilon):
    """The check above can fail: too small a ridge exceeds delta many times over."""
    mu = {0.1: 1 / 36.3047, 0.5: 1 / 8.0576, 1.0: 1 / 4.2247}[epsilon]
    alpha = 0.1 * RADIUS**2 / epsilon
    found = both_directions("empty", (1.0, 1.0), [epsilon], alpha, RADIUS / mu)
    assert found[0][0] > 100 * gaussian_profile(epsilon, mu)


def test_extra_rows_that_are_zero_or_unlabelled_change_nothing():
    """A zero row and a row of weight zero leave the law of the minimiser alone."""
    for row in [(0.0, 1.0), (1.0, 0.0)]:
        assert np.max(both_directions("mixed", row, [0.0], 1.0, 4.0)) < 1e-14


# -- several dimensions -----------------------------------------------------------


def derivatives(theta, X, y):
    """First and second derivative of each row's logistic loss in its margin."""
    margins = X @ theta
    return -y * expit(-y * margins), np.abs(y) * expit(margins) * expit(-margins)


def noise_and_hessian(theta, X, y, alpha):
    """Return the noise that makes theta the minimiser, and the Hessian there."""
    first, second = derivatives(theta, X, y)
    hessian = (X * second[:, None]).T @ X + alpha * np.eye(theta.size)
    return -(X.T @ first + alpha * theta), hessian


def log_density(theta, X, y, alpha, log_noise):
    """Log density of the minimiser, up to the constant of the noise."""
    b, hessian = noise_and_hessian(theta, X, y, alpha)
    return log_noise(b) + np.linalg.slogdet(hessian)[1]


def random_case(rng):
    """Draw rows in the unit ball (some on its border), labels, ridge and a point."""
    d, n = int(rng.integers(1, 4)), int(rng.integers(1, 7))
    X = rng.normal(size=(n, d))
    X /= np.maximum(np.linalg.norm(X, axis=1), 1.0)[:, None]
    y = rng.choice([-1.0, 1.0], size=n)
    return X, y, np.exp(rng.uniform(-3, 3)), rng.normal(size=d) * 3


def test_per_instance_losses_match_log_density_ratios():
    """Remove and add losses, Gaussian and pure, agree with the change of variables."""
    rng = np.random.default_rng(1)
    for _ in range(100):
        X, y, alpha, theta = random_case(rng)
        sigma, rate = np.exp(rng.uniform(-1, 2, size=2))
        noises = [lambda b, s=sigma: -(b @ b) / (2 * s**2)]
        noises.append(lambda b, c=rate: -c * np.linalg.norm(b))
        x, label = X[0], y[0]
        fewer = (X[1:], y[1:])
        for log_noise in noises:
            more = log_density(theta, X, y, alpha, log_noise)
            less = log_density(theta, *fewer, alpha, log_noise)
            first, second = derivatives(theta, x[None], np.array([label]))
            g = first[0] * x

            b, hessian = noise_and_hessian(theta, X, y, alpha)
            leverage = second[0] * (x @ np.linalg.solve(hessian, x))
            removed = -np.log1p(-leverage) + log_noise(b) - log_noise(b + g)
            assert removed == pytest.approx(more - less, abs=1e-10)

            b, hessian = noise_and_hessian(theta, *fewer, alpha)
            leverage = second[0] * (x @ np.linalg.solve(hessian, x))
            added = -np.log1p(leverage) + log_noise(b) - log_noise(b - g)
            assert added == pytest.approx(less - more, abs=1e-10)


def pure_epsilon(rate, kappa):
    """Return max_q log(1 + kappa q(1-q)) + rate q by the root of its derivative."""
    if kappa <= rate:
        return rate
    lead, middle = rate * kappa, 2 * kappa - rate * kappa
    q = (-middle + np.sqrt(middle**2 + 4 * lead * (kappa + rate))) / (2 * lead)
    return np.log1p(kappa * q * (1 - q)) + rate * q


@pytest.mark.parametrize("ratio", [0.1, 0.5, 1.0, 2.0])
def test_pure_loss_never_exceeds_its_bound(ratio):
    """Random density ratios stay within epsilon, at, above and below the threshold."""
    rng = np.random.default_rng(2)
    for _ in range(500):
        X, y, _, theta = random_case(rng)
        rate = np.exp(rng.uniform(-3, 2))
        alpha = ratio / rate
        bound = pure_epsilon(rate, 1 / alpha)
        q = np.linspace(0, 1, 2001)
        grid = np.log1p(q * (1 - q) / alpha) + rate * q
        assert np.max(grid) == pytest.approx(bound, rel=1e-5)

        def log_noise(b, c=rate):
            return -c * np.linalg.norm(b)

        more = log_density(theta, X, y, alpha, log_noise)
        less = log_density(theta, X[1:], y[1:], alpha, log_noise)
        assert abs(more - less) <= bound + 1e-10
        X2, y2 = np.vstack([X[1:], -X[:1]]), np.append(y[1:], rng.choice([-1.0, 1.0]))
        swapped = log_density(theta, X2, y2, alpha, log_noise)
        assert abs(more - swapped) <= bound + rate + 1e-10


# -- replace-one ------------------------------------------------------------------


def replace_one_profile(epsilon, mu, kappa):
    """Return the smaller of the generic and the logistic bound, where each holds."""
    c, k = np.log1p(kappa / 4), max(0.0, kappa - mu**2 / 2)
    bounds = [1.0]
    if epsilon >= c:
        e = epsilon - c
        bounds.append(gaussian_profile(e, 2 * mu) + 2 * gaussian_profile(e, mu))
    if epsilon >= k:
        near = gaussian_profile(epsilon, 2 * mu) + gaussian_profile(epsilon, mu)
        bounds.append(near + gaussian_profile(epsilon - k, mu))
    return min(bounds)


def grid_density(X, y, alpha, sigma, half_width, size):
    """Density of the two-dimensional minimiser on a square grid, as cell masses."""
    axis = np.linspace(-half_width, half_width, size)
    t0, t1 = np.meshgrid(axis, axis, indexing="ij")
    g0, g1 = alpha * t0, alpha * t1
    h00, h11, h01 = alpha + 0 * t0, alpha + 0 * t0, 0 * t0
    for x, label in zip(X, y, strict=True):
        margin = x[0] * t0 + x[1] * t1
        first = -label * expit(-label * margin)
        second = expit(margin) * expit(-margin)
        g0, g1 = g0 + first * x[0], g1 + first * x[1]
        h00, h11 = h00 + second * x[0] ** 2, h11 + second * x[1] ** 2
        h01 = h01 + second * x[0] * x[1]
    density = np.exp(-(g0**2 + g1**2) / (2 * sigma**2)) * (h00 * h11 - h01**2)
    return density * (axis[1] - axis[0]) ** 2 / (2 * np.pi * sigma**2)


COMMON = np.array([[0.6, 0.8], [-0.8, 0.6], [0.0, -1.0]])
COMMON_LABELS = np.array([1.0, -1.0, -1.0])


@pytest.mark.parametrize("n_common", [0, 3])
@pytest.mark.parametrize("ridge", [0.6, 1.0, 4.0])
@pytest.mark.parametrize("angle", [0.0, 0.5, 1.5707963, 3.1415927])
def test_replace_one_divergence_is_below_the_bound(n_common, ridge, angle):
    """Two-dimensional quadrature of the exact divergence, rows at several angles."""
    mu = 0.7
    X, y = COMMON[:n_common], COMMON_LABELS[:n_common]
    left = (np.vstack([X, [1.0, 0.0]]), np.append(y, 1.0))
    other = np.array([np.cos(angle), np.sin(angle)])
    half_width = (n_common + 1 + 7 / mu) / ridge
    for label in (1.0, -1.0):
        right = (np.vstack([X, other]), np.append(y, label))
        p = grid_density(*left, ridge, 1 / mu, half_width, 301)
        q = grid_density(*right, ridge, 1 / mu, half_width, 301)
        assert np.sum(p) == pytest.approx(1.0, abs=1e-6)
        for epsilon in (0.5, 1.0, 2.0, 3.0):
            bound = replace_one_profile(epsilon, mu, 1 / ridge)
            for a, b in [(p, q), (q, p)]:
                exact = np.sum(np.maximum(a - np.exp(epsilon) * b, 0.0))
                assert exact <= bound * (1 + 1e-3) + 1e-9


def test_replace_one_bound_is_nearly_attained_by_a_flipped_label():
    """Where p is near 1 for both labels' opposing data, DG(epsilon, mu) is reached."""
    mu, ridge, epsilon = 0.7, 1.0, 1.0
    x = np.array([[1.0, 0.0]])
    crowd = np.repeat(x, 40, axis=0)
    left = (np.vstack([crowd, x]), np.append(np.full(40, -1.0), 1.0))
    right = (np.vstack([crowd, x]), np.append(np.full(40, -1.0), -1.0))
    p, q = (grid_density(*side, ridge, 1 / mu, 14, 301) for side in (left, right))
    exact = np.sum(np.maximum(p - np.exp(epsilon) * q, 0.0))
    assert np.sum(p) == pytest.approx(1.0, abs=1e-4)
    assert exact <= replace_one_profile(epsilon, mu, 1 / ridge)
    assert exact >= 0.5 * gaussian_profile(epsilon, mu)
