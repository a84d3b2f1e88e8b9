import math

import mpmath
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import chi2, gamma, kstest

from skdp.accounting import Adjacency, ApproximateDP, PureDP
from skdp.losses import LogisticLoss
from skdp.mechanisms import GaussianNoise, KNormNoise, ObjectivePerturbation
from skdp.mechanisms._tilt import Tilt
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, as_row_blocks

DELTA = 1e-6
#: Least sigma of the Gaussian mechanism of sensitivity 1 at delta = 1e-6.
SIGMAS = {0.1: 36.305, 0.5: 8.058, 1.0: 4.225, 2.0: 2.231, 4.0: 1.194, 8.0: 0.653}


def calibrate(epsilon=1.0, delta=DELTA, radius=1.0, d=2, alpha="auto", **options):
    target = (
        ApproximateDP(epsilon, delta, **options)
        if delta
        else PureDP(epsilon, **options)
    )
    return ObjectivePerturbation.calibrate(
        target, radius=radius, n_coefficients=d, alpha=alpha
    )


def rows(X, y, radius=1.0):
    X, y = np.asarray(X, float), np.asarray(y, float)
    return PrivateRows(as_row_blocks(X, y), L2Ball(radius))


def table(n=50, d=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X *= 0.9 / np.linalg.norm(X, axis=1, keepdims=True)
    return X, np.where(rng.random(n) < expit(3 * X[:, 0]), 1.0, -1.0)


def analytic_sigma(epsilon, delta):
    """Bisection on the exact Gaussian curve at 30 digits."""
    with mpmath.workdps(30):
        low, high = mpmath.mpf("1e-3"), mpmath.mpf(10**4)
        for _ in range(90):
            sigma = mpmath.sqrt(low * high)
            mu = 1 / sigma
            excess = mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(
                epsilon
            ) * mpmath.ncdf(-mu / 2 - epsilon / mu)
            low, high = (sigma, high) if excess > delta else (low, sigma)
        return float(high)


@pytest.mark.parametrize("epsilon", SIGMAS)
@pytest.mark.parametrize("radius", [1.0, 0.3])
def test_sigma_is_the_analytic_gaussian_one_plus_at_most_a_thousandth(epsilon, radius):
    sigma = calibrate(epsilon, radius=radius).noise_law.scale / radius
    least = analytic_sigma(epsilon, DELTA)
    assert sigma == pytest.approx(SIGMAS[epsilon], abs=1e-3 * SIGMAS[epsilon])
    assert least <= sigma <= 1.001 * least


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 8.0, 500.0])
@pytest.mark.parametrize("radius", [1.0, 0.25])
def test_the_pure_rate_is_99_percent_of_epsilon_over_the_radius(epsilon, radius):
    m = calibrate(epsilon, 0.0, radius)
    assert isinstance(m.noise_law, KNormNoise)
    rate = 1 / m.noise_law.scale
    assert rate == pytest.approx(0.99 * epsilon / radius, rel=1e-11)
    assert rate <= 0.99 * epsilon / radius
    half = calibrate(epsilon, 0.0, radius, adjacency="replace-one")
    assert 1 / half.noise_law.scale == pytest.approx(rate / 2, rel=1e-11)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 8.0])
@pytest.mark.parametrize("delta", [1e-8, 1e-6, 1e-4])
@pytest.mark.parametrize("radius", [1.0, 2.0])
def test_the_gaussian_ridge_follows_its_rule(epsilon, delta, radius):
    mu = 1 / analytic_sigma(epsilon, delta)
    mu_out = min(mu / 100, epsilon / 200)
    eta = mu_out**2 / 2 + 8.5 * mu_out
    assert eta < epsilon / 20
    floor = radius**2 / (epsilon - eta)
    assert calibrate(epsilon, delta, radius).alpha == pytest.approx(1.05 * floor)
    at_floor = calibrate(epsilon, delta, radius, alpha=0.0)
    assert at_floor.alpha == pytest.approx(floor, rel=1e-9)
    assert calibrate(epsilon, delta, radius, alpha=7 * floor).alpha == 7 * floor


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0])
@pytest.mark.parametrize("radius", [1.0, 2.0])
def test_the_pure_ridge_follows_its_rule(epsilon, radius):
    floor = radius**2 / (0.99 * epsilon)
    assert calibrate(epsilon, 0.0, radius).alpha == pytest.approx(1.05 * floor)
    assert calibrate(epsilon, 0.0, radius, alpha=0.0).alpha == pytest.approx(floor)
    double = calibrate(epsilon, 0.0, radius, adjacency="replace-one")
    assert double.alpha == pytest.approx(2 * 1.05 * floor)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_replace_one_has_four_times_the_ridge_and_twice_the_noise(epsilon):
    m = calibrate(epsilon, adjacency="replace-one")
    add_remove = calibrate(epsilon)
    ratio = m.noise_law.scale / add_remove.noise_law.scale
    assert 2 * 0.9999 <= ratio <= 2.02
    assert 4 / epsilon <= m.alpha <= 4.04 / epsilon
    assert m.guarantee.delta(epsilon) <= DELTA


@pytest.mark.parametrize("delta", [0.0, DELTA])
@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 8.0, 100.0])
def test_the_guarantee_spends_what_was_allowed_and_no_more(epsilon, delta):
    m = calibrate(epsilon, delta)
    spent = m.guarantee.epsilon(delta)
    assert 0.999 * epsilon <= spent <= epsilon
    assert m.ideal_guarantee.epsilon(delta) <= spent


@pytest.mark.parametrize("alpha", ["auto", 0.0, 5.0, 1e4])
def test_any_ridge_keeps_the_target(alpha):
    for delta in (0.0, DELTA):
        for relation in ("add-remove", "replace-one"):
            m = calibrate(1.0, delta, alpha=alpha, adjacency=relation)
            assert m.guarantee.delta(1.0) <= delta + 1e-30
            assert m.guarantee.adjacency == relation


def test_noise_falls_as_epsilon_and_delta_grow():
    by_epsilon = [calibrate(e).noise_law.scale for e in np.geomspace(0.01, 50, 10)]
    by_delta = [calibrate(1.0, d).noise_law.scale for d in np.geomspace(1e-12, 0.1, 10)]
    pure = [calibrate(e, 0.0).noise_law.scale for e in np.geomspace(0.01, 50, 10)]
    for sigmas in (by_epsilon, by_delta, pure):
        assert np.all(np.diff(sigmas) < 0)


@pytest.mark.parametrize("delta", [0.0, DELTA])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0])
@pytest.mark.parametrize("d", [1, 7, 1000])
def test_the_lattice_is_at_least_128_times_finer_than_its_noise(epsilon, delta, d):
    for relation in ("add-remove", "replace-one"):
        m = calibrate(epsilon, delta, d=d, adjacency=relation)
        assert m.smoothing.scale >= 128 * m.smoothing.grid
        assert m.smoothing.error >= 2 * m.gradient_tol / m.alpha
        assert math.log2(m.smoothing.grid).is_integer()


@pytest.mark.parametrize("delta", [0.0, DELTA])
@pytest.mark.parametrize("radius", [0.25, 2.0, 1024.0])
def test_scaling_rows_and_radius_by_a_power_of_two_scales_the_release(radius, delta):
    X, y = table()
    base, m = calibrate(delta=delta), calibrate(delta=delta, radius=radius)
    out = base.release(rows(X, y), as_random_source(3)).output
    scaled = m.release(rows(radius * X, y, radius), as_random_source(3)).output
    np.testing.assert_allclose(scaled * radius, out, rtol=1e-9, atol=1e-12)
    assert m.alpha == pytest.approx(base.alpha * radius**2, rel=1e-12)


@pytest.mark.parametrize("delta", [0.0, DELTA])
@pytest.mark.parametrize("radius", [0.3, 7.0])
def test_scaling_by_any_number_moves_the_minimiser_within_the_tolerance(radius, delta):
    X, y = table()
    base, m = calibrate(delta=delta), calibrate(delta=delta, radius=radius)
    one = base.release(rows(X, y), as_random_source(3)).diagnostics["minimiser"]
    release = m.release(rows(radius * X, y, radius), as_random_source(3))
    other = release.diagnostics["minimiser"]
    gap = np.linalg.norm(radius * other - one)
    assert gap <= 2 * base.gradient_tol / base.alpha


@pytest.mark.parametrize("delta", [0.0, DELTA])
def test_the_released_point_solves_the_tilted_problem(delta):
    X, y = table()
    m = calibrate(delta=delta)
    b = m.noise_law.draw(2, as_random_source(9))
    release = m.release(rows(X, y), as_random_source(9))

    def objective(theta):
        loss = np.logaddexp(0, -y * (X @ theta)).sum()
        return loss + m.alpha / 2 * theta @ theta + b @ theta

    expected = minimize(objective, np.zeros(2), tol=1e-12).x
    np.testing.assert_allclose(release.output, expected, atol=2e-4)
    assert release.diagnostics["gradient_norm"] <= m.gradient_tol
    assert np.abs(m.noise(release.output, rows(X, y)) - b).max() < 1e-2


@pytest.mark.parametrize("delta", [0.0, DELTA])
def test_an_empty_table_gives_the_noise_over_the_ridge(delta):
    m = calibrate(delta=delta)
    empty = rows(np.zeros((0, 2)), np.zeros(0))
    b = m.noise_law.draw(2, as_random_source(4))
    found = m.release(empty, as_random_source(4))
    np.testing.assert_allclose(
        found.diagnostics["minimiser"], -b / m.alpha, atol=2 * m.gradient_tol / m.alpha
    )
    assert np.abs(found.output + b / m.alpha).max() <= 60 * m.smoothing.scale


def test_writing_every_row_twice_doubles_the_data_term_and_no_constant():
    X, y = table()
    m = calibrate()
    theta = np.array([0.4, -1.2])
    once = m.objective(rows(X, y))
    twice = m.objective(rows(np.vstack([X, X]), np.tile(y, 2)))
    ridge = m.alpha * theta
    np.testing.assert_allclose(
        twice.gradient(theta) - ridge, 2 * (once.gradient(theta) - ridge), rtol=1e-12
    )


def test_a_row_of_an_undeclared_class_counts_for_nothing():
    X, y = table()
    m = calibrate()
    more = rows(np.vstack([X, [[0.5, 0.5]]]), np.append(y, 0.0))
    outs = [m.release(r, as_random_source(5)).output for r in (rows(X, y), more)]
    np.testing.assert_array_equal(*outs)


def test_the_density_is_the_noise_density_times_the_jacobian():
    X, y = table(12)
    for delta in (0.0, DELTA):
        m = calibrate(delta=delta)
        for theta in (np.zeros(2), np.array([3.0, -0.7])):
            p = expit(X @ theta)
            b = -(X.T @ (-y * expit(-y * (X @ theta))) + m.alpha * theta)
            H = (X * (p * (1 - p))[:, None]).T @ X + m.alpha * np.eye(2)
            expected = m.noise_law.log_density(b) + np.linalg.slogdet(H)[1]
            assert m.log_density(theta, rows(X, y)) == pytest.approx(expected)


@pytest.mark.statistical
@pytest.mark.parametrize("delta", [0.0, DELTA])
def test_the_noise_recovered_from_releases_follows_its_law(delta):
    """Two tests at 2e-7 each."""
    X, y = table(20, 3)
    m, data = calibrate(delta=delta, d=3), rows(X, y)
    source, n = as_random_source(6), 200
    b = np.stack([m.noise(m.release(data, source).output, data) for _ in range(n)])
    z = b / m.noise_law.scale
    if isinstance(m.noise_law, GaussianNoise):
        assert kstest(z.ravel(), "norm").pvalue > 2e-7
        total, law = np.sum(z**2), chi2(3 * n)
    else:
        norms = np.linalg.norm(z, axis=1)
        assert kstest(norms, gamma(3).cdf).pvalue > 2e-7
        total, law = norms.sum(), gamma(3 * n)
    assert 2 * min(law.cdf(total), law.sf(total)) > 2e-7


def test_the_shape_and_the_norm_bound_of_the_data_must_be_the_mechanisms():
    m = calibrate()
    with pytest.raises(ValueError, match="n_coefficients=2"):
        m.release(rows(np.zeros((1, 3)), [1.0]), as_random_source(0))
    with pytest.raises(ValueError, match="radius=1"):
        m.release(rows(np.zeros((1, 2)), [1.0], 2.0), as_random_source(0))
    smaller = rows(np.zeros((1, 2)), [1.0], 0.5)
    assert m.release(smaller, as_random_source(0)).output.shape == (2,)


def test_the_intercept_is_a_coordinate_like_any_other():
    ball = L2Ball(1.0, intercept_scaling=0.5)
    data = PrivateRows(as_row_blocks(np.zeros((20, 1)), np.ones(20)), ball)
    m = calibrate(0.1, radius=ball.radius, d=2)
    b = m.noise_law.draw(2, as_random_source(1))
    theta = m.release(data, as_random_source(1)).output
    # nothing but the ridge holds the intercept back, and it does
    assert abs(theta[1]) <= (np.linalg.norm(b) + 20 * 0.5) / m.alpha
    assert np.linalg.eigvalsh(m.objective(data).hessian(theta))[0] >= m.alpha


@pytest.mark.parametrize("c", [0.01, 0.5, 2.0, 20.0])
def test_the_pure_loss_bound_is_above_the_supremum_and_attained_up_to_the_floor(c):
    p = np.linspace(0, 1, 100_001)
    for kappa in c * np.array([1e-3, 0.5, 1.0, 1.01, 2.0, 10.0, 1e4]):
        truth = np.max(np.log1p(kappa * p * (1 - p)) + c * p)
        bound = Tilt(LogisticLoss(), kappa).pure_loss(c, Adjacency.ADD_REMOVE)
        assert truth <= bound * (1 + 1e-12)
        if kappa <= c:
            assert bound == c


def test_the_logistic_loss_has_the_two_facts_the_theorem_rests_on():
    """Its curvature dies with its slope, and the slope keeps its sign."""
    t = np.linspace(-700, 700, 4001)
    for label in (-1.0, 1.0):
        y = np.full(t.shape, label)
        slope = LogisticLoss().gradient(y, t)
        p = np.abs(slope)
        assert np.all(LogisticLoss().hessian(y, t) <= p * (1 - p) * (1 + 1e-9) + 1e-15)
        assert np.all(np.sign(slope) == -label)
