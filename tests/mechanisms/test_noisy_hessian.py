"""The noisy Hessian: numbers, sensitivity, releases, and scalings it must not have."""

from dataclasses import replace

import numpy as np
import pytest
from noisy_statistics import CLIPPED, THETA, X, Y, farthest, nobody, sigma, table
from scipy.stats import chi2

from skdp.accounting import ApproximateDP, gaussian_mu
from skdp.audit import exact_curve
from skdp.losses import HuberLoss, LogCoshLoss, SquaredLoss
from skdp.mechanisms import NoisyHessian
from skdp.random import GOE, as_random_source
from skdp.random._symmetric import isometric, lower_triangle
from skdp.rows import Targets
from skdp.solvers import Objective

RELATIONS = ("add-remove", "replace-one")


def calibrate(theta=THETA, epsilon=1.0, delta=1e-6, **options):
    relation = {"adjacency": options.pop("adjacency", "add-remove")}
    target = ApproximateDP(epsilon, delta, **relation)
    options = {"radius": 1.0, "alpha": 2.0} | options
    return NoisyHessian.calibrate(target, theta=theta, **options)


def test_the_statistic_is_the_sum_written_out_and_the_curvature_of_j0():
    m, data = calibrate(), table(X, Y)
    margins = CLIPPED @ THETA
    weights = sigma(margins) * sigma(-margins)
    expected = (CLIPPED.T * weights) @ CLIPPED + 2.0 * np.eye(2)
    np.testing.assert_allclose(m.statistic(data), expected, atol=1e-14)
    bare, step = Objective(data, m.loss, 2.0), 1e-5
    for i, e in enumerate(np.eye(2)):
        both = [bare.gradient(THETA + sign * step * e) for sign in (1, -1)]
        column = (both[0] - both[1]) / (2 * step)
        np.testing.assert_allclose(m.statistic(data)[:, i], column, atol=1e-9)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("theta", [(0.3,), (0.0, 0.0), (2.0, -1.0, 0.5)], ids=len)
def test_no_row_moves_the_statistic_by_more_than_the_sensitivity(relation, theta):
    m = calibrate(theta, radius=1.5, adjacency=relation)
    factor = np.sqrt(2) if relation == "replace-one" and len(theta) > 1 else 1.0
    assert m.l2_sensitivity == pytest.approx(factor * 1.5**2 / 4, rel=1e-15)
    largest = farthest(m, np.random.default_rng(0), n_tries=200)
    assert 0.5 * m.l2_sensitivity < largest <= m.l2_sensitivity * (1 + 1e-12)


def test_rows_across_theta_move_it_by_the_sensitivity():
    x, other = np.array([0.0, 0.0, 1.0]), np.array([0.8, 0.6, 0.0])
    theta = (3.0, -4.0, 0.0)
    m = calibrate(theta)
    move = m.statistic(table([x], [1.0])) - m.statistic(nobody(3))
    assert np.linalg.norm(move) == pytest.approx(m.l2_sensitivity, rel=1e-14)
    replaced = calibrate(theta, adjacency="replace-one")
    move = m.statistic(table([x], [1.0])) - m.statistic(table([other], [1.0]))
    assert np.linalg.norm(move) == pytest.approx(replaced.l2_sensitivity, rel=1e-14)
    line = calibrate((0.0,))
    curves = [exact_curve(line, pair) for pair in line.hard_pairs()]
    assert max(c.delta(1.0) for c in curves) == pytest.approx(1e-6, rel=5e-3)


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_noise_is_analytic_and_the_target_is_met(epsilon, relation):
    m = calibrate(epsilon=epsilon, adjacency=relation, radius=3.0)
    mu = gaussian_mu(epsilon, 1e-6)
    assert 0.999 * mu <= m.sensitivity_ratio <= mu
    assert 0.999 * epsilon <= m.guarantee.epsilon(1e-6) <= epsilon
    assert m.guarantee.smoothing_rho == m.smoothing.rho > 0
    assert m.smoothing.n_features == 3
    assert m.smoothing.scale < 1e-3 * m.scale


def test_a_release_is_the_statistic_plus_a_draw_of_the_ensemble_on_the_lattice():
    m, data = calibrate(), table(X, Y)
    release = m.release(data, as_random_source(5))
    G = GOE(2).draw(as_random_source(5))
    gap = release.output - m.statistic(data) - m.scale * G
    assert np.abs(gap).max() < 60 * m.smoothing.scale
    np.testing.assert_array_equal(release.output, release.output.T)
    steps = release.output / m.smoothing.lattice
    np.testing.assert_array_equal(steps, np.rint(steps))
    assert release.spent == m.guarantee


@pytest.mark.statistical
def test_releases_have_noise_that_is_isotropic_in_the_frobenius_norm():
    """False alarms below 1e-6: nineteen two-sided tests at 2e-8."""
    m, data = calibrate((0.5, -1.0, 3.0)), table(np.eye(3), [1.0, -1.0, 1.0])
    source, n = as_random_source(0), 300
    outputs = np.array([m.release(data, source).output for _ in range(n)])
    noise = np.array([m.noise(output, data) for output in outputs])
    for along in noise.T:
        assert 2e-8 < chi2.cdf(along @ along / m.scale**2, n) < 1 - 2e-8
        assert abs(along.sum()) < 5.7 * m.scale * np.sqrt(n)
    # along any unit matrix the noise has one scale, off the diagonal too
    for u in (np.eye(3) / np.sqrt(3), np.ones((3, 3)) / 3, np.eye(3)[[1, 0, 2]]):
        unit = u / np.linalg.norm(u)
        along = np.tensordot(outputs - m.statistic(data), unit)
        assert 2e-8 < chi2.cdf(along @ along / m.scale**2, n) < 1 - 2e-8


def test_the_density_is_that_of_the_noise_in_isometric_coordinates():
    m, data = calibrate(), table(X, Y)
    output = m.release(data, as_random_source(1)).output
    move = output - m.statistic(data)
    np.testing.assert_array_equal(m.noise(output, data), isometric(move))
    expected = -0.5 * np.sum(move**2) / m.scale**2 - 3 * np.log(
        m.scale * np.sqrt(2 * np.pi)
    )
    assert m.log_density(output, data) == pytest.approx(expected, rel=1e-14)


def test_the_smoothing_step_covers_frobenius_errors_in_the_lower_triangle():
    """The L2 norm of the triangle is at most the Frobenius norm."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        E = rng.normal(size=(4, 4)) * rng.choice([0, 1], size=(4, 4))
        E += E.T
        assert np.linalg.norm(lower_triangle(E)) <= np.linalg.norm(E) * (1 + 1e-15)
    m = calibrate()
    step = NoisyHessian.smoothing_step(m.scale, 1e-3, radius=1.0, n_coefficients=2)
    assert step.error == m.smoothing.error
    assert step.rho == pytest.approx(5e-7, rel=1e-9)
    assert replace(m, smoothing=step).guarantee.smoothing_rho == step.rho


@pytest.mark.parametrize(
    "loss", [HuberLoss(), LogCoshLoss(scale=0.5), SquaredLoss(1.0)], ids=repr
)
def test_losses_of_bounded_curvature_are_taken(loss):
    m = calibrate((0.0, 0.0, 0.1), loss=loss)
    assert m.l2_sensitivity == 1.0
    y = np.array([0.5, 0.5, -0.5])
    data = table(np.eye(3), y, labels=Targets(-1.0, 1.0))
    weights = loss.hessian(y, np.array(m.theta))
    expected = np.diag(weights) + 2.0 * np.eye(3)
    np.testing.assert_allclose(m.statistic(data), expected, atol=1e-14)


def test_unfit_fields_are_refused():
    m = calibrate()
    step = m.smoothing
    for wrong in (
        {"theta": (np.inf, 0.0)},
        {"radius": -1.0},
        {"alpha": 0.0},
        {"scale": 0.0},
        {"smoothing": replace(step, error=step.error / 2)},
        {"smoothing": replace(step, n_features=2)},
        {"adjacency": "replace-one"},
    ):
        with pytest.raises(ValueError, match="do not fit"):
            replace(m, **wrong)
    with pytest.raises(ValueError, match="calibrated for n_coefficients=2"):
        m.release(table(np.eye(3), np.ones(3)), as_random_source(0))
    with pytest.raises(ValueError, match="calibrated for radius=1"):
        m.release(table(X, Y, radius=2.0), as_random_source(0))


def test_nobody_leaves_the_ridge_and_the_noise():
    m = calibrate()
    np.testing.assert_array_equal(m.statistic(nobody(2)), 2.0 * np.eye(2))
    assert m.release(nobody(2), as_random_source(0)).output.shape == (2, 2)


@pytest.mark.parametrize("alpha", [1e8, 1e16])
def test_a_ridge_that_would_round_the_sum_is_refused(alpha):
    with pytest.raises(ValueError, match="alpha is so large"):
        NoisyHessian.calibrate(
            ApproximateDP(1.0, 1e-6), theta=(0.0, 0.0), radius=1.0, alpha=alpha
        )
