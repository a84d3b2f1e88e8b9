"""Approximate sample perturbation: prices, shifts, and what a missing factor does."""

import dataclasses
import math

import numpy as np
import pytest

from skdp.accounting import (
    GaussianDP,
    PureDP,
    Simultaneous,
    SmoothedGaussianDP,
    ZeroConcentratedDP,
)
from skdp.audit import exact_curve
from skdp.mechanisms import (
    ApproximateSample,
    KNormMechanism,
    LatticeSmoothing,
)
from skdp.random import as_random_source

PRICES = {
    "k-norm": PureDP(0.5),
    "laplace": PureDP(0.5),
    "gaussian": ZeroConcentratedDP(0.02),
}
each_noise = pytest.mark.parametrize("noise", PRICES)


def mechanism(noise, *, d=1, distance=0.25, ideal=None):
    return ApproximateSample.calibrate(
        PRICES[noise], distance=distance, n_features=d, noise=noise, ideal=ideal
    )


def worst_loss(mechanism):
    """Largest log ratio over the hard pairs, at outputs far along their shifts."""
    losses = []
    for pair in mechanism.hard_pairs():
        shift = pair.left - pair.right
        for factor in (50.0, -50.0):
            far = pair.left + factor * shift
            if mechanism.lattice:
                far = np.rint(far / mechanism.lattice) * mechanism.lattice
            left, right = (
                mechanism.log_density(far, data) for data in (pair.left, pair.right)
            )
            losses.append(abs(left - right))
    return max(losses)


@pytest.mark.parametrize("d", [1, 2, 4, 9])
@pytest.mark.parametrize("noise", ["k-norm", "laplace"])
def test_pure_noise_covers_samples_at_opposite_ends_and_no_more(noise, d):
    """Log ratios far out, where both laws attain the norm of the shift."""
    instance = mechanism(noise, d=d)
    claimed = instance.ideal_guarantee.epsilon(0.0)
    assert 0.92 * claimed < worst_loss(instance) <= claimed * (1 + 1e-9)
    assert instance.guarantee.epsilon(0.0) <= 0.5


@each_noise
@pytest.mark.parametrize("d", [1, 3])
def test_noise_has_twice_the_distance_over_the_price(noise, d):
    """The lattice adds a sixteenth at most; sqrt(d) for Laplace coordinates only."""
    instance = mechanism(noise, d=d)
    size = {
        "k-norm": 2 * 0.25 / 0.5,
        "laplace": 2 * math.sqrt(d) * 0.25 / 0.5,
        "gaussian": 2 * 0.25 / math.sqrt(2 * 0.02),
    }[noise]
    step = instance.perturbation
    scale = step.noise_law.scale if noise == "k-norm" else step.scale
    assert size < scale < 1.07 * size


def broken(instance, perturbation):
    """Put another perturbation in place of the checked one."""
    copy = dataclasses.replace(instance)
    object.__setattr__(copy, "perturbation", perturbation)
    return copy


def halved(instance):
    """The perturbation for a shift of the distance instead of twice the distance."""
    step = instance.perturbation
    if isinstance(step, KNormMechanism):
        return KNormMechanism.calibrate(
            PRICES["k-norm"],
            l2_sensitivity=instance.distance,
            n_features=instance.n_features,
        )
    price = instance.guarantee
    known = {"error": instance.distance / 2, "n_features": instance.n_features}
    if isinstance(price, ZeroConcentratedDP):
        return LatticeSmoothing.concentrated(mu=math.sqrt(2 * 0.02), **known)
    return LatticeSmoothing.pure(epsilon=0.5, **known)


@each_noise
def test_the_exact_audit_catches_a_dropped_factor_of_two(noise):
    """Noise for Delta in the place of 2 Delta shows on samples at opposite ends."""
    for plant in (False, True):
        instance = mechanism(noise)
        if plant:
            instance = broken(instance, halved(instance))
        curve = exact_curve(instance, next(instance.hard_pairs()))
        guarantee = instance.ideal_guarantee
        if isinstance(guarantee, ZeroConcentratedDP):
            found, claimed = curve.renyi(8.0), 8.0 * guarantee.rho
        else:
            found, claimed = curve.max_loss, guarantee.epsilon(0.0)
        assert (found > 1.5 * claimed) is plant
        assert (found <= claimed * (1 + 1e-9)) is not plant


@pytest.mark.parametrize("d", [2, 4, 9])
def test_the_exact_audit_catches_laplace_noise_without_the_root_of_d(d):
    """The L2 distance given to independent Laplace coordinates as if it were L1."""
    instance = mechanism("laplace", d=d)
    step = instance.perturbation
    planted = broken(
        instance,
        dataclasses.replace(step, multiple=step.multiple / math.sqrt(d)),
    )
    # the guarantee is still claimed as calibrated
    claimed = instance.ideal_guarantee.epsilon(0.0)
    assert worst_loss(instance) <= claimed * (1 + 1e-9)
    assert worst_loss(planted) > 1.25 * claimed


@each_noise
def test_a_perturbation_that_does_not_cover_the_shift_is_refused(noise):
    instance = mechanism(noise)
    with pytest.raises(ValueError, match="twice the distance"):
        dataclasses.replace(instance, perturbation=halved(instance))
    with pytest.raises(ValueError, match="twice the distance"):
        dataclasses.replace(instance, distance=0.26)


def test_the_ideal_law_and_the_perturbation_add_up():
    pure = mechanism("k-norm", ideal=PureDP(1.0))
    assert 1.49 < pure.guarantee.epsilon(0.0) <= 1.5
    gaussian = mechanism("gaussian", ideal=GaussianDP(0.7))
    assert isinstance(gaussian.guarantee, SmoothedGaussianDP)
    assert gaussian.guarantee.mu == 0.7
    assert 0.0199 < gaussian.guarantee.smoothing_rho <= 0.02
    # the Gaussian formula sqrt(mu^2 + mu'^2), met but for the price of zCDP
    exact = GaussianDP(math.hypot(0.7, math.sqrt(0.04)))
    found = gaussian.guarantee.epsilon(1e-6)
    assert exact.epsilon(1e-6) <= found < 1.05 * exact.epsilon(1e-6)


def test_alternatives_of_the_ideal_law_are_kept_side_by_side():
    ideal = Simultaneous((PureDP(1.0), GaussianDP(0.2)), assumptions=("rows clipped",))
    total = mechanism("gaussian", ideal=ideal).guarantee
    assert isinstance(total, Simultaneous)
    assert len(total.parts) == 2
    assert "rows clipped" in total.assumptions
    total = mechanism("laplace", ideal=ideal).guarantee
    assert total.epsilon(0.0) == pytest.approx(1.5, abs=0.01)
    assert total.epsilon(1e-3) < 1.3


@each_noise
def test_what_the_caller_asserts_stands_in_the_guarantee(noise):
    text = (
        "law of the sampler within W-infinity distance 0.25 of the ideal one for every "
        "data set (asserted)"
    )
    assert text in mechanism(noise).guarantee.assumptions
    assert text in mechanism(noise, ideal=PureDP(1.0)).guarantee.assumptions


@each_noise
def test_a_sampler_may_be_passed_as_a_function(noise):
    instance = mechanism(noise, d=2)
    seen = []

    def sampler(data, source):
        seen.append((data, source))
        return np.array([1.0, -1.0])

    source = as_random_source(4)
    release = instance.release_from(sampler, "rows", source)
    assert seen == [("rows", source)]
    assert release.output.shape == (2,)
    assert release.spent == instance.guarantee
    again = instance.release(np.array([1.0, -1.0]), as_random_source(4)).output
    np.testing.assert_array_equal(release.output, again)


def test_what_does_not_fit_is_refused_by_name():
    with pytest.raises(ValueError, match="noise"):
        ApproximateSample.calibrate(
            PureDP(1.0), distance=1.0, n_features=1, noise="gaussian"
        )
    with pytest.raises(ValueError, match="noise"):
        ApproximateSample.calibrate(
            ZeroConcentratedDP(1.0), distance=1.0, n_features=1, noise="laplace"
        )
    with pytest.raises(ValueError, match="distance"):
        mechanism("k-norm", distance=0.0)
    with pytest.raises(ValueError, match="neighbours"):
        mechanism("k-norm", ideal=PureDP(1.0, adjacency="replace-one"))
    with pytest.raises(ValueError, match="shape"):
        mechanism("laplace").release(np.zeros(2), as_random_source(0))


def test_the_adjacency_is_that_of_the_price():
    instance = ApproximateSample.calibrate(
        PureDP(0.1, adjacency="replace-one"),
        distance=1.0,
        n_features=2,
        ideal=PureDP(1.0, adjacency="replace-one"),
    )
    assert str(instance.guarantee.adjacency) == "replace-one"
