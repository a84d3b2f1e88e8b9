from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import ndtr

from skdp.accounting import ApproximateDP, PureDP, gaussian_delta
from skdp.audit import exact_curve, simulated_delta
from skdp.audit._piecewise import resolve
from skdp.mechanisms import (
    AdjacentPair,
    GaussianMechanism,
    KNormMechanism,
    LatticeSmoothing,
)


def test_the_gaussian_curve_is_reproduced_to_eight_digits():
    for epsilon, delta in ((0.1, 1e-6), (1.0, 1e-6), (8.0, 1e-6), (1.0, 1e-3)):
        mechanism = GaussianMechanism.calibrate(
            ApproximateDP(epsilon, delta), l2_sensitivity=3.0, n_features=1
        )
        for pair in mechanism.hard_pairs():
            curve = exact_curve(mechanism, pair)
            mu = 3.0 / mechanism.noise_law.scale
            for e in (-0.5, 0.0, 0.3 * epsilon, epsilon, 1.5 * epsilon):
                expected = gaussian_delta(e, mu)
                assert curve.delta_directed(e) == pytest.approx(
                    (expected, expected), rel=1e-8, abs=1e-15
                )
            assert curve.renyi(3.0) == pytest.approx(3 * mu**2 / 2, rel=1e-6)


def test_the_laplace_curve_is_reproduced():
    mechanism = KNormMechanism.calibrate(PureDP(2.0), l2_sensitivity=1.0, n_features=1)
    curve = exact_curve(mechanism, next(mechanism.hard_pairs()))
    c = mechanism.sensitivity_ratio
    assert curve.mass == pytest.approx((1.0, 1.0), abs=1e-12)
    assert curve.max_loss == pytest.approx(c, rel=1e-9)
    for epsilon in (0.0, 0.5, 1.5):
        expected = -np.expm1((epsilon - c) / 2)
        assert curve.delta(epsilon) == pytest.approx(expected, rel=1e-8)
    assert curve.delta(c + 1e-6) < 1e-15


def test_a_lattice_law_is_summed():
    step = LatticeSmoothing.pure(error=1.0, n_features=1, epsilon=0.5)
    pair = next(step.hard_pairs())
    curve = exact_curve(step, pair)
    shift = abs(
        step.noise(np.zeros(1), pair.left) - step.noise(np.zeros(1), pair.right)
    )
    c = float(shift[0]) / step.multiple
    k = np.arange(-3000, 3000)
    p = np.exp(-np.abs(k) / step.multiple)
    q = np.exp(-np.abs(k - shift[0]) / step.multiple)
    p, q = p / p.sum(), q / q.sum()
    assert curve.max_loss == pytest.approx(c)
    for epsilon in (0.0, 0.1, 0.3):
        expected = np.maximum(p - np.exp(epsilon) * q, 0).sum()
        assert curve.delta(epsilon) == pytest.approx(expected, rel=1e-9)


def test_vectors_and_endless_lattices_are_refused():
    two = GaussianMechanism.calibrate(
        ApproximateDP(1.0, 1e-6), l2_sensitivity=1.0, n_features=2
    )
    wide = LatticeSmoothing.pure(error=1.0, n_features=1, epsilon=1e-4)
    flat = LatticeSmoothing.pure(error=1.0, n_features=2, epsilon=0.5)
    for mechanism in (two, wide, flat):
        with pytest.raises(ValueError, match="simulated_delta"):
            exact_curve(mechanism, next(mechanism.hard_pairs()))


@dataclass(frozen=True)
class Shifted:
    """A Gaussian far from the origin whose noise rises or falls with the output."""

    sign: float
    scale: float
    lattice = 0.0
    support = (-np.inf, np.inf)

    def log_density_on(self, data):
        return lambda output: self.log_density(output, data)

    def noise(self, output, data):
        return self.sign * (output - data)

    def log_density(self, output, data):
        z = (output[0] - data) / self.scale
        return -0.5 * z * z - np.log(self.scale * np.sqrt(2 * np.pi))


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 500.0])
def test_laws_of_any_scale_place_and_direction_are_followed(sign, scale):
    mechanism = Shifted(sign, scale)
    pair = AdjacentPair("far", -1234.5, -1234.5 + scale)
    curve = exact_curve(mechanism, pair)
    assert curve.mass == pytest.approx((1.0, 1.0), abs=1e-9)
    assert curve.delta(1.0) == pytest.approx(gaussian_delta(1.0, 1.0), rel=1e-7)
    at_zero = AdjacentPair("at zero", 0.0, 0.0)
    assert exact_curve(mechanism, at_zero).delta(0.0) <= 1e-15


def test_disjoint_laws_have_delta_one():
    curve = exact_curve(Shifted(1.0, 1.0), AdjacentPair("apart", 0.0, 1e3))
    assert curve.delta(5.0) == pytest.approx(1.0)


def test_pieces_resolve_kinks_and_jumps_as_far_as_they_can():
    kink = resolve(lambda x: abs(x - 0.3), [-1.0, 0.3, 2.0], 1e-12)
    assert len(kink.coefficients) == 2
    jump = resolve(lambda x: float(x > 0.123), [0.0, 1.0], 1e-6)
    x = np.array([0.05, 0.122, 0.124, 0.9, 1.0])
    np.testing.assert_allclose(jump(x), x > 0.123, atol=1e-3)
    assert jump(np.array([-0.1, 1.1])).tolist() == [-np.inf, -np.inf]


@pytest.mark.statistical
def test_simulation_agrees_with_the_exact_curve():
    """The bound is above the truth with probability 1e-6."""
    mechanism = GaussianMechanism.calibrate(
        ApproximateDP(1.0, 1e-2), l2_sensitivity=1.0, n_features=2
    )
    pair = next(mechanism.hard_pairs())
    mu = 1 / mechanism.noise_law.scale
    found = simulated_delta(
        mechanism, pair, 0.0, n_runs=1000, confidence=1 - 1e-6, random_state=0
    )
    truth = 2 * ndtr(mu / 2) - 1
    assert found.low <= truth
    assert found.estimate == pytest.approx(truth, rel=0.2)
    nothing = simulated_delta(mechanism, pair, 5.0, n_runs=100, random_state=0)
    assert nothing.low == 0.0
