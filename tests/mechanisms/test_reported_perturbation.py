import dataclasses
import math

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import chi2

from skdp.accounting import ApproximateDP, PureDP, ReportedPerturbationDP, gaussian_mu
from skdp.mechanisms import (
    GaussianNoise,
    KNormNoise,
    NoisyGradient,
    NoisyHessian,
    ObjectivePerturbation,
    ReportedObjectivePerturbation,
    ReportedRelease,
)
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, as_row_blocks

DELTA = 1e-6
LEVELS = ("hessian", "gradient")


def calibrate(epsilon=1.0, level="hessian", radius=1.0, d=2, delta=DELTA, **options):
    return ReportedObjectivePerturbation.calibrate(
        ApproximateDP(epsilon, delta),
        radius=radius,
        n_coefficients=d,
        level=level,
        **options,
    )


def table(n=60, d=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X *= 0.9 / np.linalg.norm(X, axis=1, keepdims=True)
    return X, np.where(rng.random(n) < expit(3 * X[:, 0]), 1.0, -1.0)


def rows(X, y, radius=1.0):
    return PrivateRows(as_row_blocks(X, y), L2Ball(radius))


def by_hand(theta, X, y, alpha):
    """Gradient and Hessian of the penalised sum of logistic losses."""
    p = expit(-y * (X @ theta))
    gradient = alpha * theta - (y * p) @ X
    hessian = (X * (p * (1 - p))[:, None]).T @ X + alpha * np.eye(theta.size)
    return gradient, hessian


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 8.0, 100.0])
def test_the_target_is_met_and_spent(epsilon, level):
    m = calibrate(epsilon, level)
    assert m.guarantee.delta(epsilon) <= DELTA
    assert 0.9999 * epsilon <= m.guarantee.epsilon(DELTA) <= epsilon


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("epsilon", "reached"), [(0.1, 0.997), (1.0, 0.9985), (4.0, 0.9993), (8.0, 0.9996)]
)
def test_the_noise_is_close_to_the_least_that_any_accounting_allows(
    epsilon, reached, level
):
    """Data against a row make coefficients and gradient one Gaussian release."""
    m = calibrate(epsilon, level)
    joint = math.hypot(m.main.sensitivity_ratio, m.gradient_mu)
    assert reached * gaussian_mu(epsilon, DELTA) <= joint <= gaussian_mu(epsilon, DELTA)


@pytest.mark.parametrize("delta", [1e-12, 1e-9, 1e-4])
def test_it_is_close_at_other_deltas(delta):
    m = calibrate(1.0, "gradient", delta=delta)
    joint = math.hypot(m.main.sensitivity_ratio, m.gradient_mu)
    assert 0.997 * gaussian_mu(1.0, delta) <= joint <= gaussian_mu(1.0, delta)


@pytest.mark.parametrize("radius", [1.0, 0.3, 8.0])
def test_the_statistics_get_their_share_of_the_target(radius):
    mu = gaussian_mu(1.0, DELTA)
    for level in LEVELS:
        m = calibrate(level=level, radius=radius)
        share = math.sqrt(0.05) * mu
        assert m.hessian_scale == pytest.approx(radius**2 / 4 / share, rel=1e-12)
        assert m.hessian_mu == pytest.approx(share, rel=1e-12)
        assert m.hessian_smoothing.n_features == 3
    assert m.gradient_scale == pytest.approx(radius / share, rel=1e-12)
    assert m.gradient_mu == pytest.approx(share, rel=1e-12)
    hessian_only = calibrate(radius=radius)
    assert hessian_only.gradient_scale is hessian_only.gradient_smoothing is None
    assert hessian_only.gradient_mu == 0.0


def test_the_ridge_is_that_of_the_coefficients_alone():
    for alpha in ("auto", 0.0, 3.0):
        alone = ObjectivePerturbation.calibrate(
            ApproximateDP(1.0, DELTA), radius=1.0, n_coefficients=2, alpha=alpha
        )
        m = calibrate(alpha=alpha)
        assert m.main.alpha == alone.alpha
        assert alone.noise_law.scale < m.main.noise_law.scale
        assert m.main.noise_law.scale < 1.06 * alone.noise_law.scale


def test_a_large_ridge_makes_the_hessian_cheaper():
    usual, large = calibrate(), calibrate(alpha=40.0)
    assert large.main.noise_law.scale < usual.main.noise_law.scale


def test_a_second_call_searches_no_more():
    m, again = calibrate(1.25), calibrate(1.25)
    assert m == again
    assert hash(m) == hash(again)


def test_the_guarantee_charges_every_step_and_the_move_to_the_released_point():
    m = calibrate(level="gradient")
    g, ideal = m.guarantee, m.ideal_guarantee
    assert isinstance(g, ReportedPerturbationDP)
    assert (g.mu, g.curvature) == (ideal.mu, ideal.curvature)
    assert ideal.smoothing_rho == 0.0
    assert ideal.hessian_mu == m.hessian_mu
    assert ideal.gradient_mu == m.gradient_mu
    kept = math.sqrt(1 - 2.0**-10)
    assert g.hessian_mu == pytest.approx(m.hessian_mu / kept, rel=1e-14)
    assert g.gradient_mu == pytest.approx(m.gradient_mu / kept, rel=1e-14)
    steps = m.main.smoothing, m.hessian_smoothing, m.gradient_smoothing
    step = steps[0]
    reach = step.error + step.grid * math.sqrt(2) / 2 + 38 * step.scale
    assert m.margin_reach == pytest.approx(reach, rel=1e-14)
    slope, curvature = m.gradient_mu / 4, 4 * m.hessian_mu / (6 * math.sqrt(3))
    moved = (slope**2 + curvature**2) * reach**2 / 2 * 2.0**10
    total = sum(s.rho for s in steps) + moved
    assert g.smoothing_rho == pytest.approx(total, rel=1e-12)
    assert total < 1.25 * step.rho


def test_what_is_assumed_names_the_rounding_of_every_part():
    texts = " ".join(calibrate(level="gradient").guarantee.assumptions)
    assert "row L2 norm <= 1" in texts
    assert texts.count("rounding of the computed sum, noise added") == 2
    assert texts.count("rounding of the computed gradient and of the noise") == 1


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("d", [1, 3])
def test_a_release_is_taken_apart_into_what_it_consists_of(level, d):
    X, y = table(d=d)
    m = calibrate(level=level, d=d)
    output = m.release(rows(X, y), as_random_source(0)).output
    parts = m.split(output)
    assert isinstance(parts, ReportedRelease)
    theta, hessian, gradient = parts
    assert theta.shape == (d,)
    assert hessian.shape == (d, d)
    np.testing.assert_array_equal(hessian, hessian.T)
    assert output.size == d + d * (d + 1) // 2 + (d if level == "gradient" else 0)
    assert (gradient is None) is (level == "hessian")
    np.testing.assert_array_equal(output[:d], theta)
    with pytest.raises(ValueError, match="not a vector of this mechanism"):
        m.split(output[:-1])


def quiet():
    """Noise in the derivatives far below their size."""
    m = calibrate(level="gradient", d=2)
    return dataclasses.replace(m, hessian_scale=1e-3, gradient_scale=1e-3)


def test_both_derivatives_are_those_of_the_sum_and_ridge_at_the_released_point():
    X, y = table()
    m = quiet()
    theta, hessian, gradient = m.split(
        m.release(rows(X, y), as_random_source(2)).output
    )
    truth = by_hand(theta, X, y, m.main.alpha)
    np.testing.assert_allclose(gradient, truth[0], atol=6e-3)
    np.testing.assert_allclose(hessian, truth[1], atol=6e-3)
    # the noise of the objective is far from hidden by that of the gradient
    assert np.linalg.norm(gradient) > 0.1


def test_derivatives_are_taken_at_exactly_what_is_released(monkeypatch):
    seen = []
    for kind in (NoisyHessian, NoisyGradient):

        def watched(self, data, original=kind.statistic):
            seen.append(self.theta)
            return original(self, data)

        monkeypatch.setattr(kind, "statistic", watched)
    X, y = table()
    m = calibrate(level="gradient")
    release = m.release(rows(X, y), as_random_source(2))
    theta = m.split(release.output).theta
    assert seen == [tuple(theta)] * 2
    assert not np.array_equal(theta, release.diagnostics["minimiser"])


def test_the_density_is_that_of_three_releases():
    X, y = table(12)
    m = calibrate(level="gradient")
    data = rows(X, y)
    output = m.release(data, as_random_source(1)).output
    theta, hessian, gradient = m.split(output)
    truth = by_hand(theta, X, y, m.main.alpha)
    off = hessian - truth[1]
    isometric = np.array([off[0, 0], math.sqrt(2) * off[1, 0], off[1, 1]])
    expected = m.main.log_density(theta, data)
    expected += GaussianNoise(m.hessian_scale).log_density(isometric)
    expected += GaussianNoise(m.gradient_scale).log_density(gradient - truth[0])
    assert m.log_density(output, data) == pytest.approx(expected, rel=1e-12)
    noise = m.noise(output, data)
    pieces = [-truth[0], isometric, gradient - truth[0]]
    np.testing.assert_allclose(noise, np.concatenate(pieces), atol=1e-9)


@pytest.mark.statistical
def test_the_noise_recovered_from_releases_follows_its_law():
    """Three two-sided tests at 2e-7, and three of the mean at 5.2 deviations."""
    X, y = table(20, 3)
    m, data = calibrate(level="gradient", d=3), rows(X, y)
    source, n = as_random_source(6), 60
    noise = np.stack([m.noise(m.release(data, source).output, data) for _ in range(n)])
    scales = (m.main.noise_law.scale, m.hessian_scale, m.gradient_scale)
    for part, scale in zip(np.split(noise, [3, 9], axis=1), scales, strict=True):
        z = (part / scale).ravel()
        law = chi2(z.size)
        assert 2 * min(law.cdf(z @ z), law.sf(z @ z)) > 2e-7
        assert abs(z.sum()) < 5.2 * math.sqrt(z.size)


@pytest.mark.parametrize("radius", [0.25, 1024.0])
def test_scaling_rows_and_radius_by_a_power_of_two_scales_the_release(radius):
    X, y = table()
    base, m = calibrate(level="gradient"), calibrate(level="gradient", radius=radius)
    one = base.split(base.release(rows(X, y), as_random_source(3)).output)
    data = rows(radius * X, y, radius)
    other = m.split(m.release(data, as_random_source(3)).output)
    np.testing.assert_allclose(other.theta * radius, one.theta, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(other.hessian, one.hessian * radius**2, rtol=1e-6)
    np.testing.assert_allclose(other.gradient, one.gradient * radius, rtol=1e-6)


@pytest.mark.parametrize("n", [0, 1])
def test_nobody_and_one_person_are_released_like_any_table(n):
    m = calibrate(level="gradient")
    X, y = table(max(n, 1))
    output = m.release(rows(X[:n], y[:n]), as_random_source(0)).output
    assert np.isfinite(output).all()


def test_targets_without_a_proof_are_refused():
    for target in (PureDP(1.0), ApproximateDP(1.0, 0.0)):
        with pytest.raises(ValueError, match="delta is out of range, got 0"):
            ReportedObjectivePerturbation.calibrate(
                target, radius=1.0, n_coefficients=2
            )
    for kind, numbers in ((ApproximateDP, (1.0, DELTA)), (PureDP, (1.0,))):
        with pytest.raises(ValueError, match="adjacency is not covered"):
            ReportedObjectivePerturbation.calibrate(
                kind(*numbers, adjacency="replace-one"), radius=1.0, n_coefficients=2
            )
    with pytest.raises(ValueError, match="level is not one of the choices"):
        calibrate(level="data-independent")


def test_fields_that_do_not_fit_are_refused():
    m = calibrate(level="gradient")
    pure = ObjectivePerturbation.calibrate(PureDP(1.0), radius=1.0, n_coefficients=2)
    assert isinstance(pure.noise_law, KNormNoise)
    replaced = ObjectivePerturbation.calibrate(
        ApproximateDP(1.0, DELTA, adjacency="replace-one"), radius=1.0, n_coefficients=2
    )
    wrong = [
        {"main": pure},
        {"main": replaced},
        {"main": calibrate(d=3).main},
        {"hessian_scale": 0.0},
        {"gradient_scale": None},
        {"gradient_smoothing": None},
        {"gradient_scale": math.inf},
        {"hessian_smoothing": m.gradient_smoothing},
        {"hessian_scale": 1e9},
    ]
    for fields in wrong:
        with pytest.raises(ValueError, match="fields of the mechanism do not fit"):
            dataclasses.replace(m, **fields)


def test_the_shape_and_the_norm_bound_of_the_data_must_be_the_mechanisms():
    m = calibrate()
    with pytest.raises(ValueError, match="n_coefficients=2"):
        m.release(rows(np.zeros((1, 3)), np.ones(1)), as_random_source(0))
    with pytest.raises(ValueError, match="radius=1"):
        m.release(rows(np.zeros((1, 2)), np.ones(1), 2.0), as_random_source(0))


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1e-6, 1e-4, 0.01, 30.0, 300.0, 1000.0])
@pytest.mark.parametrize("delta", [1e-200, 1e-20, 1e-9, 1e-3, 0.1])
@pytest.mark.parametrize("level", LEVELS)
def test_any_target_is_met(epsilon, delta, level):
    if (epsilon, delta) == (1e-6, 1e-200):
        with pytest.raises(ValueError, match="leave nothing for the coefficients"):
            calibrate(epsilon, level, d=20, delta=delta)
        return
    m = calibrate(epsilon, level, d=20, delta=delta)
    assert m.guarantee.delta(epsilon) <= delta
    assert m.guarantee.epsilon(delta) <= epsilon
