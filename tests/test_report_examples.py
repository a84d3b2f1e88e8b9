"""The examples about published losses show what they say, on small copies."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from skdp.pdp import exact_loss
from skdp.rows import L2Ball, PrivateRows, as_row_blocks

EXAMPLES = Path(__file__).parents[1] / "examples"


def load(name):
    """Import an example, which is part of no package."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        # data classes look their module up
        patch.setitem(sys.modules, name, module)
        patch.setattr(sys, "path", list(sys.path))
        spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def rotated():
    return load("rotated_labels")


@pytest.fixture(scope="module", params=[0, 1])
def study(rotated, request):
    return rotated.study(request.param)


def test_the_two_parts_are_the_exact_loss(rotated, study):
    rows = PrivateRows(as_row_blocks(study.X, study.y), L2Ball(1.0))
    for angle in rotated.ANGLES.values():
        theta = study.turned(angle)
        expected = exact_loss(study.mechanism, theta, rows, rows)
        np.testing.assert_allclose(
            sum(study.losses(theta)), expected, rtol=1e-9, atol=1e-12
        )


def test_leverage_dominates_first_and_the_gradient_from_pi_over_4(rotated, study):
    share = {
        name: rotated.leverage_share(study.losses(study.turned(angle)))
        for name, angle in rotated.ANGLES.items()
    }
    assert share["0"] > 0.98
    assert 0.1 < share["π/12"] < 0.6
    assert all(share[name] < 0.15 for name in ("π/4", "π/2", "3π/4", "π"))


def test_the_wrongly_classified_lose_most_from_pi_over_4(rotated, study):
    for name in ("π/4", "π/2", "3π/4"):
        theta = study.turned(rotated.ANGLES[name])
        loss = np.abs(sum(study.losses(theta)))
        wrong = study.y * (study.X @ theta) < 0
        assert np.median(loss[wrong]) > 5 * np.median(loss[~wrong])


def test_without_turning_the_rows_at_the_border_lose_most(study):
    loss = np.abs(sum(study.losses(study.theta)))
    margin = study.y * (study.X @ study.theta)
    nearest = margin < np.quantile(margin, 0.25)
    assert np.median(loss[nearest]) > 2 * np.median(loss[~nearest])


def test_losses_and_noise_are_those_of_the_paper_in_size(study):
    """Median losses of 0.0025 and 6.4, at no noise and at 50 sigmas."""
    for angle, median, noise in ((0.0, 0.0025, 0.0), (np.pi, 6.2, 51.0)):
        theta = study.turned(angle)
        found = np.median(np.abs(sum(study.losses(theta))))
        assert found == pytest.approx(median, rel=0.15)
        assert study.noise(theta) == pytest.approx(noise, rel=0.1, abs=1e-6)


@pytest.fixture(scope="module")
def ridge_and_noise():
    return load("ridge_and_noise")


@pytest.fixture(scope="module")
def errors(ridge_and_noise):
    """Mean errors by method, epsilon and ridge, of two draws."""
    return ridge_and_noise.errors(2).mean(axis=-1)


def test_the_ridge_hardly_matters_where_there_is_noise(errors):
    published, joint, _ = errors
    for epsilon in (0, 1):
        for found in (published[epsilon], joint[epsilon]):
            assert np.ptp(found) < 0.05 * found.mean()


def test_less_noise_nearly_halves_the_error_at_one(errors):
    published, joint, _ = errors
    assert (joint[1] < 0.65 * published[1]).all()
    assert (joint <= published).all()


def test_nothing_private_beats_no_noise(errors):
    assert (errors[:2] >= errors[2] - 0.005).all()


def test_the_calibrations_are_the_published_ones(ridge_and_noise):
    """Standard deviations at delta 1e-6 and a ridge of 2 / epsilon."""
    example = ridge_and_noise
    for epsilon, published, joint in (
        (0.1, 107.9209, 36.3047),
        (1.0, 10.9576, 4.2247),
        (4.0, 2.8730, 1.1935),
    ):
        ridge = 2 / epsilon
        found = example.kifer_smith_thakurta(epsilon, ridge)
        assert found.sigma == pytest.approx(published, abs=5e-5)
        found = example.joint_bound(epsilon, ridge)
        assert found.sigma == pytest.approx(joint, rel=3e-4)
        assert found.ridge == ridge


@pytest.fixture(scope="module")
def credit():
    """Two draws of each setting on 3,000 rows."""
    example = load("credit_losses")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SKDP_DATA", raising=False)
        X, y = example.table(3000)
    made = {n: example.release(s, X, y) for n, s in example.SETTINGS.items()}
    return made, example.study(made, 2)


def test_every_setting_keeps_the_promise_with_all_it_releases(credit):
    for of in credit[0].values():
        epsilon = of.mechanism.guarantee.epsilon(1e-6)
        assert 0.9999 < epsilon <= 1.0
        assert of.report.epsilon <= 1.0


def test_no_bound_fails(credit):
    for draws in credit[1].values():
        for draw in draws:
            assert (draw.truth <= draw.bound).all()
            assert (draw.total_truth <= draw.total_bound).all()


def test_a_larger_ridge_tightens_the_bound(credit):
    _, draws = credit
    for least, five in zip(draws["model, least ridge"], draws["model"], strict=True):
        assert np.median(five.bound) < 0.8 * np.median(least.bound)
        assert five.accuracy > least.accuracy - 0.02


def test_budget_buys_closer_bounds_on_the_model(credit):
    _, draws = credit
    for name in ("and Hessian", "mostly gradient"):
        for free, paid in zip(draws["model"], draws[name], strict=True):
            limit = 0.4 if name == "mostly gradient" else 1.0
            assert np.median(paid.bound) < limit * np.median(free.bound)
    mean = {n: np.mean([draw.ratio for draw in made]) for n, made in draws.items()}
    assert mean["mostly gradient"] < mean["model"]


def test_and_nothing_for_what_is_lost_in_all(credit):
    _, draws = credit
    for name in ("and Hessian", "and gradient", "mostly gradient"):
        for free, paid in zip(draws["model"], draws[name], strict=True):
            assert np.median(paid.total_bound) > np.median(free.total_bound)
            assert np.median(paid.total_bound) > np.median(paid.bound)
