"""The noisy gradient: numbers, sensitivity, releases, and what it must not be."""

from dataclasses import replace

import numpy as np
import pytest
from noisy_statistics import CLIPPED, THETA, X, Y, farthest, nobody, sigma, table
from scipy.stats import chi2

from skdp.accounting import ApproximateDP, gaussian_mu
from skdp.audit import exact_curve
from skdp.losses import HuberLoss, LogCoshLoss, SquaredLoss
from skdp.mechanisms import LatticeSmoothing, NoisyGradient, ObjectivePerturbation
from skdp.random import as_random_source
from skdp.rows import Targets
from skdp.solvers import Objective

RELATIONS = ("add-remove", "replace-one")


def calibrate(theta=THETA, epsilon=1.0, delta=1e-6, **options):
    relation = {"adjacency": options.pop("adjacency", "add-remove")}
    target = ApproximateDP(epsilon, delta, **relation)
    options = {"radius": 1.0, "alpha": 2.0} | options
    return NoisyGradient.calibrate(target, theta=theta, **options)


def test_the_statistic_is_the_sum_written_out_and_the_slope_of_j0():
    m = calibrate()
    data = table(X, Y)
    slopes = -Y * sigma(-Y * (CLIPPED @ THETA))
    expected = CLIPPED.T @ slopes + 2.0 * THETA
    np.testing.assert_allclose(m.statistic(data), expected, atol=1e-14)
    bare, step = Objective(data, m.loss, 2.0), 1e-6
    for e in np.eye(2):
        both = [bare.value(THETA + sign * step * e) for sign in (1, -1)]
        slope = (both[0] - both[1]) / (2 * step)
        assert m.statistic(data) @ e == pytest.approx(slope, abs=1e-8)


def test_it_is_minus_the_noise_at_the_minimiser_of_a_perturbed_objective():
    """With the noise term in the objective it would be zero, and tell nothing."""
    target = ApproximateDP(1.0, 1e-6)
    main = ObjectivePerturbation.calibrate(target, radius=1.0, n_coefficients=2)
    data, source = table(X, Y), as_random_source(4)
    theta = main.release(data, source).diagnostics["minimiser"]
    b = main.noise_law.draw(2, as_random_source(4))
    m = calibrate(theta, alpha=main.alpha)
    np.testing.assert_allclose(m.statistic(data), -b, atol=2 * main.gradient_tol)
    assert np.linalg.norm(b) > 1.0


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("theta", [(0.0, 0.0), (2.0, -1.0), (0.0, 0.0, 9.0)])
def test_no_row_moves_the_statistic_by_more_than_the_sensitivity(relation, theta):
    m = calibrate(theta, radius=1.5, adjacency=relation)
    one = 1.5 * sigma(1.5 * np.linalg.norm(theta))
    assert m.l2_sensitivity == pytest.approx(one * (1 + (relation == "replace-one")))
    assert m.l2_sensitivity <= m.row_bound(m.loss, 1.5) * 2
    largest = farthest(m, np.random.default_rng(0), n_tries=200)
    assert 0.3 * m.l2_sensitivity < largest <= m.l2_sensitivity * (1 + 1e-12)


def test_the_row_against_theta_moves_it_by_the_sensitivity():
    m = calibrate((3.0, 4.0))
    for x, y in (((-0.6, -0.8), 1.0), ((0.6, 0.8), -1.0)):
        move = m.statistic(table([x], [y])) - m.statistic(nobody(2))
        assert np.linalg.norm(move) == pytest.approx(m.l2_sensitivity, rel=1e-14)
    curves = [exact_curve(calibrate((2.0,)), p) for p in calibrate((2.0,)).hard_pairs()]
    assert max(c.delta(1.0) for c in curves) == pytest.approx(1e-6, rel=5e-3)


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_noise_is_analytic_and_the_target_is_met(epsilon, relation):
    m = calibrate(epsilon=epsilon, adjacency=relation, radius=3.0)
    mu = gaussian_mu(epsilon, 1e-6)
    assert 0.999 * mu <= m.sensitivity_ratio <= mu
    assert 0.999 * epsilon <= m.guarantee.epsilon(1e-6) <= epsilon
    assert m.guarantee.smoothing_rho == m.smoothing.rho > 0
    assert m.smoothing.scale < 1e-3 * m.scale


@pytest.mark.statistical
def test_releases_have_spherical_noise_of_the_stated_scale():
    """False alarms below 1e-6: eleven two-sided tests at 4e-8."""
    m, data = calibrate((0.5, -1.0, 3.0)), table(np.eye(3), [1.0, -1.0, 1.0])
    source, n = as_random_source(0), 400
    noise = np.array([m.noise(m.release(data, source).output, data) for _ in range(n)])
    directions = np.vstack([np.eye(3), np.ones((1, 3)) / np.sqrt(3)])
    for along in (noise @ directions.T).T:
        assert 4e-8 < chi2.cdf(along @ along / m.scale**2, n) < 1 - 4e-8
        assert abs(along.sum()) < 5.6 * m.scale * np.sqrt(n)


def test_the_density_is_that_of_the_noise():
    m, data = calibrate(), table(X, Y)
    output = m.release(data, as_random_source(1)).output
    noise = m.noise(output, data)
    np.testing.assert_array_equal(noise, output - m.statistic(data))
    expected = -0.5 * noise @ noise / m.scale**2 - 2 * np.log(
        m.scale * np.sqrt(2 * np.pi)
    )
    assert m.log_density(output, data) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("loss", [HuberLoss(), LogCoshLoss(scale=0.5)], ids=repr)
def test_losses_of_bounded_slope_are_taken(loss):
    m, y = calibrate(loss=loss), np.array([0.5, -1.0, 0.2, 1.0])
    data = table(X, y, labels=Targets(-1.0, 1.0))
    expected = CLIPPED.T @ loss.gradient(y, CLIPPED @ THETA) + 2.0 * THETA
    np.testing.assert_allclose(m.statistic(data), expected, atol=1e-14)
    assert 0 < m.l2_sensitivity <= loss.constants(1.0).lipschitz


def test_unbounded_slopes_and_unfit_fields_are_refused():
    with pytest.raises(ValueError, match="bound what one row may add"):
        calibrate(loss=SquaredLoss(1.0))
    m = calibrate()
    step = m.smoothing
    for wrong in (
        {"theta": ()},
        {"theta": (np.nan, 0.0)},
        {"theta": ((1.0, 2.0),)},
        {"radius": 0.0},
        {"alpha": -1.0},
        {"scale": 0.0},
        {"smoothing": replace(step, error=step.error / 2)},
        {"smoothing": replace(step, n_features=3)},
        {"smoothing": LatticeSmoothing.pure(error=1.0, n_features=2, epsilon=0.1)},
        {"adjacency": "replace-one"},
    ):
        with pytest.raises(ValueError, match="do not fit"):
            replace(m, **wrong)
    with pytest.raises(ValueError, match="calibrated for n_coefficients=2"):
        m.release(table(np.eye(3), np.ones(3)), as_random_source(0))
    with pytest.raises(ValueError, match="calibrated for radius=1"):
        m.release(table(X, Y, radius=2.0), as_random_source(0))


def test_an_intercept_is_the_last_coordinate():
    m = calibrate((0.5, -0.25, 1.0), radius=np.sqrt(1.25))
    data = table(X, Y, intercept_scaling=0.5)
    rows = np.column_stack([CLIPPED, np.full(4, 0.5)])
    slopes = -Y * sigma(-Y * (rows @ m.theta))
    expected = rows.T @ slopes + 2.0 * np.array(m.theta)
    np.testing.assert_allclose(m.statistic(data), expected, atol=1e-14)
