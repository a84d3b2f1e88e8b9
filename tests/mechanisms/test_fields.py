"""Mechanisms built by hand are refused when their parts do not fit."""

from dataclasses import replace

import pytest

from skdp.accounting import Adjacency, ApproximateDP, PureDP
from skdp.mechanisms import (
    GaussianMechanism,
    GaussianNoise,
    KNormMechanism,
    KNormNoise,
    LatticeSmoothing,
    ObjectivePerturbation,
)

APPROXIMATE, PURE = ApproximateDP(1.0, 1e-6), PureDP(1.0)
SHAPE = {"radius": 1.0, "n_coefficients": 3}
GAUSSIAN_OBJPERT = ObjectivePerturbation.calibrate(APPROXIMATE, **SHAPE)
PURE_OBJPERT = ObjectivePerturbation.calibrate(PURE, **SHAPE)
VECTOR = {"l2_sensitivity": 1.0, "n_features": 3}
GAUSSIAN = GaussianMechanism.calibrate(APPROXIMATE, **VECTOR)
K_NORM = KNormMechanism.calibrate(PURE, **VECTOR)
LAPLACE_STEP = LatticeSmoothing.pure(error=1.0, n_features=3, epsilon=0.1)
GAUSSIAN_STEP = LatticeSmoothing.concentrated(error=1.0, n_features=3, mu=0.1)
ALL = [GAUSSIAN_OBJPERT, PURE_OBJPERT, GAUSSIAN, K_NORM]


@pytest.mark.parametrize("mechanism", [GAUSSIAN_OBJPERT, GAUSSIAN])
def test_gaussian_noise_needs_the_discrete_gaussian(mechanism):
    with pytest.raises(ValueError, match="do not fit"):
        replace(mechanism, smoothing=LAPLACE_STEP)


@pytest.mark.parametrize("mechanism", [PURE_OBJPERT, K_NORM])
def test_k_norm_noise_needs_the_discrete_laplace(mechanism):
    with pytest.raises(ValueError, match="do not fit"):
        replace(mechanism, smoothing=GAUSSIAN_STEP)


def test_each_additive_mechanism_has_one_noise_law():
    with pytest.raises(ValueError, match="KNormNoise"):
        replace(K_NORM, noise_law=GaussianNoise(1.0), smoothing=GAUSSIAN_STEP)
    with pytest.raises(ValueError, match="GaussianNoise"):
        replace(GAUSSIAN, noise_law=KNormNoise(1.0), smoothing=LAPLACE_STEP)


@pytest.mark.parametrize("mechanism", ALL)
def test_the_smoothing_step_must_cover_error_and_shape(mechanism):
    step = mechanism.smoothing
    for wrong in (
        replace(step, error=step.error / 2),
        replace(step, n_features=1),
        replace(step, adjacency=Adjacency.REPLACE_ONE),
    ):
        with pytest.raises(ValueError, match="smoothing"):
            replace(mechanism, smoothing=wrong)


@pytest.mark.parametrize(
    "wrong", [{"alpha": 1e-3}, {"radius": -1.0}, {"alpha": 0.0}, {"loss": None}]
)
@pytest.mark.parametrize("mechanism", [GAUSSIAN_OBJPERT, PURE_OBJPERT])
def test_objective_perturbation_checks_its_numbers(mechanism, wrong):
    with pytest.raises(ValueError, match="do not fit"):
        replace(mechanism, **wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"grid": 0.3},
        {"grid": 0.0},
        {"multiple": 0.5},
        {"error": 0.0},
        {"error": 1e-300},
        {"n_features": 0},
    ],
)
def test_the_lattice_checks_its_numbers(wrong):
    with pytest.raises(ValueError, match="do not fit"):
        replace(GAUSSIAN_STEP, **wrong)


def test_a_relation_given_by_name_counts_like_the_enum():
    step = replace(PURE_OBJPERT.smoothing, adjacency="replace-one")
    named = replace(PURE_OBJPERT, adjacency="replace-one", smoothing=step)
    assert named.adjacency is Adjacency.REPLACE_ONE
    assert named.guarantee.epsilon(0.0) > 1.9


@pytest.mark.parametrize("radius", [-1.0, 0.0, float("inf"), float("nan")])
def test_calibration_refuses_a_radius_that_is_none(radius):
    with pytest.raises(ValueError, match="radius"):
        ObjectivePerturbation.calibrate(PURE, radius=radius, n_coefficients=1)
