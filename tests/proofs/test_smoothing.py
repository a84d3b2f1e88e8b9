"""Numeric checks of docs/proofs/smoothing.md, independent of skdp.

In one dimension the law of the published lattice point is a finite sum, so the theorem
is checked by enumeration, against solvers that err as harmfully as they may.
"""

import mpmath
import numpy as np
import pytest
from scipy.signal import fftconvolve
from scipy.special import expit, ndtr


def concentrated_profile(epsilon, rho):
    """Return D2: the tightest delta of rho-zCDP by the Renyi bound, at any epsilon.

    The optimal order solves (2a - 1) rho + log(1 - 1/a) = epsilon, and there the bound
    equals exp(-(a - 1)^2 rho) / a.
    """
    size = np.abs(np.asarray(epsilon, dtype=float))
    low, high = np.full(size.shape, -60.0), np.full(size.shape, 60.0)
    for _ in range(100):
        middle = (low + high) / 2
        u = np.exp(middle)
        left = (2 * u + 1) * rho - np.log1p(1 / u) > size
        low, high = np.where(left, low, middle), np.where(left, middle, high)
    u = np.exp(low)
    tail = np.exp(-(u**2) * rho) / (1 + u)
    return np.where(
        np.asarray(epsilon) >= 0, tail, -np.expm1(-size) + np.exp(-size) * tail
    )


def lattice_gaussian(scale):
    """Return the integers within 12 scales and their probabilities."""
    z = np.arange(-int(12 * scale) - 2, int(12 * scale) + 3)
    mass = np.exp(-(z**2) / (2 * scale**2))
    return z, mass / mass.sum()


def lattice_laplace(scale):
    """Return the integers within 45 scales and their probabilities."""
    z = np.arange(-int(45 * scale) - 2, int(45 * scale) + 3)
    return z, np.tanh(0.5 / scale) * np.exp(-np.abs(z) / scale)


def hockey_stick(p, q, epsilon):
    """Return the divergence of two mass functions on one support."""
    return np.sum(np.maximum(p - np.exp(epsilon) * q, 0.0))


@pytest.mark.parametrize("rho", [1e-6, 1e-3, 0.1, 2.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.3, 2.0])
def test_closed_form_of_the_renyi_bound_is_the_minimum_over_orders(rho, epsilon):
    """exp(-(a-1)^2 rho)/a at the stationary order is the smallest bound."""
    u = np.exp(np.linspace(-12, 18, 200_001))
    exponent = u * ((1 + u) * rho - epsilon)
    log_bound = exponent + (1 + u) * -np.log1p(1 / u) - np.log(u)
    value = concentrated_profile(epsilon, rho)
    assert value == pytest.approx(np.exp(np.min(log_bound)), rel=1e-7, abs=1e-300)


@pytest.mark.parametrize("rho", [1e-5, 0.01, 1.0])
def test_profile_falls_in_epsilon_and_stays_a_probability(rho):
    """D2 is nonincreasing over all reals and lies in [(1 - e^eps)_+, 1]."""
    epsilon = np.linspace(-5, 5, 4001)
    values = concentrated_profile(epsilon, rho)
    assert np.all(np.diff(values) <= 1e-15)
    assert np.all(values <= 1)
    assert np.all(values >= np.maximum(-np.expm1(epsilon), 0))


@pytest.mark.parametrize("scale", [0.3, 0.5, 1.0, 4.0, 32.0])
@pytest.mark.parametrize("shift", [1, 2, 5])
def test_discrete_gaussian_shifts_are_concentrated(scale, shift):
    """Renyi divergence <= a v^2/(2 S^2), and the profile stays below D2."""
    z, p = lattice_gaussian(scale)
    rho = shift**2 / (2 * scale**2)
    normaliser = np.log(np.sum(np.exp(-(z**2) / (2 * scale**2))))
    for order in (1.01, 1.5, 2.0, 3.7, 20.0):
        # log sum over a window that follows the tilted centre
        centre = round((1 - order) * shift)
        grid = z + centre
        terms = order * grid**2 + (1 - order) * (grid - shift) ** 2
        total = mpmath.log(
            mpmath.fsum(mpmath.exp(-float(v) / (2 * scale**2)) for v in terms)
        )
        renyi = float(total - normaliser) / (order - 1)
        assert renyi <= order * rho * (1 + 1e-9)
    wide = np.concatenate([p, np.zeros(shift)])
    moved = np.concatenate([np.zeros(shift), p])
    for epsilon in np.linspace(-3, 6, 40):
        exact = hockey_stick(wide, moved, epsilon)
        assert exact <= concentrated_profile(epsilon, rho) + 1e-15


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0, 8.0, 64.0, 500.0])
def test_lattice_noise_is_not_gaussian_dp(scale):
    """The total variation of a unit shift exceeds that of the Gaussian pair."""
    _, p = lattice_gaussian(scale)
    gaussian = 2 * ndtr(0.5 / scale) - 1
    relative = np.max(p) / gaussian - 1
    assert relative > 0
    if scale >= 1:
        assert relative == pytest.approx(1 / (24 * scale**2), rel=0.03)


# -- the theorem on an exact one-dimensional release --------------------------------

SIGMA, ALPHA = 3.0, 0.5
KAPPA, MU = 1 / ALPHA, 1 / SIGMA
BASES = {
    "empty": np.empty((0, 2)),
    "crowd": np.array([[1.0, -1.0]] * 8),
    "mixed": np.array([[1.0, 1.0], [0.5, -1.0], [-1.0, 1.0]]),
}


def gradient(theta, rows):
    """Gradient of the regularised logistic sum; rows are (x, y)."""
    x, y = rows[:, 0], rows[:, 1]
    slopes = -y * expit(-y * np.multiply.outer(theta, x)) * x
    return slopes.sum(axis=-1) + ALPHA * theta


def gaussian_law(theta, rows):
    """Return P(minimiser <= theta) and P(minimiser > theta), Gaussian noise."""
    score = gradient(theta, rows) / SIGMA
    return ndtr(score), ndtr(-score)


def laplace_law(theta, rows):
    """Return the same for noise of density (c/2) exp(-c|b|), c = 1/SIGMA."""
    score = gradient(theta, rows) / SIGMA
    small = np.exp(-np.abs(score)) / 2
    return (
        np.where(score > 0, 1 - small, small),
        np.where(score > 0, small, 1 - small),
    )


def published(law, rows, grid, noise, bias, reach):
    """Law of the rounded and of the published point of a solver off by ``bias``."""
    edges = (np.arange(-reach, reach + 1) + 0.5) * grid
    lower, upper = law(edges - bias, rows)
    cells = np.where(lower[1:] < 0.5, np.diff(lower), -np.diff(upper))
    return cells, fftconvolve(cells, noise) if noise.size > 64 else np.convolve(
        cells, noise
    )


def joint_bound(w):
    """Return psi on a grid of slopes."""
    q = np.linspace(0, 1, 1001)
    fixed = np.log1p(KAPPA * q * (1 - q)) + q**2 * MU**2 / 2
    return np.max(fixed + MU * np.multiply.outer(w, q), axis=-1)


@pytest.fixture(scope="module")
def loss_law():
    """Quadrature nodes of psi(w) with their weights."""
    w = np.linspace(-9, 10, 4001)
    weight = np.exp(-(w**2) / 2) / np.sqrt(2 * np.pi) * (w[1] - w[0])
    return joint_bound(w), weight


# error, noise scale, grid: fine grids as in the rule, and coarse ones
STEPS = [
    (0.05, 0.5, 2.0**-8),
    (0.2, 1.0, 2.0**-6),
    (0.5, 1.0, 2.0**-4),
    (0.5, 1.0, 1.0),
    (0.05, 0.5, 1.0),
]


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize(("error", "scale", "grid"), STEPS)
def test_published_point_is_below_the_composed_bound(
    base, error, scale, grid, loss_law
):
    """Exact divergence, both directions, biases pulling the two centres apart."""
    psi, weight = loss_law
    rho = (2 * error + grid) ** 2 / (2 * scale**2)
    _, noise = lattice_gaussian(scale / grid)
    more, less = np.vstack([BASES[base], [1.0, 1.0]]), BASES[base]
    reach = int(70 / grid)
    for sign in (1, -1):
        _, p = published(gaussian_law, more, grid, noise, sign * error, reach)
        _, q = published(gaussian_law, less, grid, noise, -sign * error, reach)
        assert np.sum(p) == pytest.approx(1, abs=1e-9)
        for epsilon in (-0.5, 0.0, 0.3, 0.6, 1.0, 2.0):
            bound = np.sum(weight * concentrated_profile(epsilon - psi, rho))
            exact = max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon))
            assert exact <= bound + 1e-9


def test_a_dishonest_error_bound_would_be_noticed(loss_law):
    """Biases far beyond the declared error break the bound: the check can fail."""
    psi, weight = loss_law
    error, scale, grid = 0.05, 0.1, 2.0**-8
    rho = (2 * error + grid) ** 2 / (2 * scale**2)
    _, noise = lattice_gaussian(scale / grid)
    more = np.vstack([BASES["crowd"], [1.0, 1.0]])
    far, reach = 200 * error, int(120 / grid)
    _, p = published(gaussian_law, more, grid, noise, far, reach)
    _, q = published(gaussian_law, BASES["crowd"], grid, noise, -far, reach)
    bound = np.sum(weight * concentrated_profile(1.0 - psi, rho))
    assert max(hockey_stick(p, q, 1.0), hockey_stick(q, p, 1.0)) > bound


def comb(rows, spacing, offset, stride, reach):
    """Law of a solver whose answers are odd or even multiples of ``spacing``."""
    edges = (np.arange(-reach, reach + 1) - 0.5 + offset) * spacing
    lower, upper = gaussian_law(edges, rows)
    masses = np.where(lower[1:] < 0.5, np.diff(lower), -np.diff(upper))
    out = np.zeros((2 * reach + 1) * stride)
    out[round(offset * stride) :: stride][: masses.size] = masses
    return out


@pytest.mark.parametrize("mu_out", [0.3, 1.0])
def test_answers_that_never_coincide_are_hidden(mu_out, loss_law):
    """A solver that lands on even multiples with z, on odd ones without, is covered.

    Without the lattice noise one look at the answer tells the data sets apart.
    """
    psi, weight = loss_law
    error, grid = 2.0**-3, 2.0**-7
    scale = (2 * error + grid) / mu_out
    stride, reach = round(2 * error / grid), int(70 / (2 * error))
    _, noise = lattice_gaussian(scale / grid)
    more = np.vstack([BASES["mixed"], [1.0, 1.0]])
    p = comb(more, 2 * error, 0.0, stride, reach)
    q = comb(BASES["mixed"], 2 * error, 0.5, stride, reach)
    assert hockey_stick(p, q, 5.0) == pytest.approx(1, abs=1e-9)
    p, q = fftconvolve(p, noise), fftconvolve(q, noise)
    for epsilon in (0.0, 0.3, 1.0, 2.0):
        bound = np.sum(weight * concentrated_profile(epsilon - psi, mu_out**2 / 2))
        exact = max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon))
        assert exact <= bound + 1e-9


def test_a_randomised_solver_is_covered(loss_law):
    """Mixtures of biases drawn by the solver obey the same bound."""
    psi, weight = loss_law
    error, scale, grid = 0.5, 1.0, 2.0**-4
    rho = (2 * error + grid) ** 2 / (2 * scale**2)
    _, noise = lattice_gaussian(scale / grid)
    more, reach = np.vstack([BASES["crowd"], [1.0, 1.0]]), int(70 / grid)

    def mixture(rows, weights):
        parts = [
            published(gaussian_law, rows, grid, noise, u * error, reach)
            for u in (1.0, 0.2, -1.0)
        ]
        return sum(a * part[1] for a, part in zip(weights, parts, strict=True))

    p, q = mixture(more, (0.8, 0.1, 0.1)), mixture(BASES["crowd"], (0.0, 0.3, 0.7))
    for epsilon in (0.0, 0.5, 1.0):
        bound = np.sum(weight * concentrated_profile(epsilon - psi, rho))
        assert hockey_stick(p, q, epsilon) <= bound + 1e-9
        assert hockey_stick(q, p, epsilon) <= bound + 1e-9


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize(
    ("error", "scale", "grid"), [(0.1, 1.0, 2.0**-4), (0.3, 0.9, 0.5), (0.5, 4.0, 1.0)]
)
def test_published_point_of_the_pure_version_keeps_pure_dp(base, error, scale, grid):
    """The largest log ratio is at most epsilon of the release plus the lattice's."""
    multiple = max(1, round(scale / grid))
    budget = (2 * error + grid) / (multiple * grid)
    rate = 1 / SIGMA
    curve = np.log1p(KAPPA * (q := np.linspace(0, 1, 4001)) * (1 - q)) + rate * q
    _, noise = lattice_laplace(multiple)
    more, less, reach = (
        np.vstack([BASES[base], [1.0, 1.0]]),
        BASES[base],
        int(60 / grid),
    )
    largest = 0.0
    for sign in (1, -1):
        p_cells, _ = published(laplace_law, more, grid, noise, sign * error, reach)
        q_cells, _ = published(laplace_law, less, grid, noise, -sign * error, reach)
        p, q = np.convolve(p_cells, noise), np.convolve(q_cells, noise)
        middle = (p > 1e-9) & (q > 1e-9)
        largest = max(largest, np.max(np.abs(np.log(p[middle] / q[middle]))))
    assert largest <= np.max(curve) + budget + 1e-6
    assert largest >= 0.3 * budget


@pytest.mark.parametrize("d", [1, 2, 5, 40])
def test_centres_are_as_close_as_claimed(d):
    """L2 shift <= 2 Delta + g sqrt(d), L1 shift <= 2 sqrt(d) Delta + d g."""
    rng = np.random.default_rng(d)
    grid, error = 0.25, 0.7
    for _ in range(200):
        ideal = rng.normal(size=d)
        u = (
            rng.choice([-1.0, 1.0], size=d)
            if rng.random() < 0.5
            else rng.normal(size=d)
        )
        u *= error / np.linalg.norm(u)
        shift = (np.rint((ideal + u) / grid) - np.rint((ideal - u) / grid)) * grid
        assert np.linalg.norm(shift) <= 2 * error + grid * np.sqrt(d) + 1e-12
        assert np.abs(shift).sum() <= 2 * np.sqrt(d) * error + d * grid + 1e-12


@pytest.mark.parametrize("mu_out", [1e-8, 1e-4, 2.4e-3, 0.02, 0.125])
def test_loss_beyond_the_reserve_has_probability_below_1e_17(mu_out):
    """D2(mu^2/2 + 8.5 mu) <= 9e-18 mu, the price of the ridge rule."""
    reserve = mu_out**2 / 2 + 8.5 * mu_out
    assert concentrated_profile(reserve, mu_out**2 / 2) <= 9e-18 * mu_out


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 24.9, 25.1, 1000.0])
def test_reserve_is_below_a_twentieth_of_epsilon(epsilon):
    """The largest smoothing share leaves alpha within 5 % of R^2/epsilon."""
    mu_out = min(epsilon / 200, 1 / 8)
    assert mu_out**2 / 2 + 8.5 * mu_out < epsilon / 20


@pytest.mark.parametrize("d", [1, 3, 50])
def test_lattice_is_128_times_finer_than_its_noise(d):
    """g <= Delta/(8 sqrt d) and mu_out <= 1/8 give s/g >= 136 sqrt(d)."""
    error = 1.0
    grid = 2.0 ** np.floor(np.log2(error / (8 * np.sqrt(d))))
    scale = (2 * error + grid * np.sqrt(d)) / 0.125
    assert scale / grid >= 136 * np.sqrt(d) * (1 - 1e-12)


def test_total_variation_slack_covers_a_truncated_sampler():
    """Cutting a fraction tau off both laws moves delta by at most (1 + e^eps) tau."""
    x = np.linspace(-12, 13, 200_001)
    p = np.exp(-(x**2) / 2)
    q = np.exp(-((x - 1) ** 2) / 2)
    p, q = p / p.sum(), q / q.sum()
    p_cut, q_cut = np.where(np.abs(x) < 3, p, 0), np.where(np.abs(x - 1) < 3, q, 0)
    tau = max(1 - p_cut.sum(), 1 - q_cut.sum())
    p_cut, q_cut = p_cut / p_cut.sum(), q_cut / q_cut.sum()
    for epsilon in (0.0, 1.0, 3.0, 5.0):
        slack = (1 + np.exp(epsilon)) * tau
        gap = hockey_stick(p_cut, q_cut, epsilon) - hockey_stick(p, q, epsilon)
        assert gap <= slack + 1e-12
