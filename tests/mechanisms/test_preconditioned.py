"""Objective perturbation in a private metric."""

import dataclasses
import math

import numpy as np
import pytest
import scipy.sparse as sp
from plain_preconditioned import Plain
from scipy.optimize import brentq

from skdp.accounting import (
    ApproximateDP,
    PreconditionedPerturbationDP,
    PureDP,
    gaussian_delta,
    gaussian_mu,
)
from skdp.losses import HuberLoss, LogCoshLoss, LogisticLoss
from skdp.mechanisms import (
    GaussianNoise,
    LatticeSmoothing,
    PreconditionedObjectivePerturbation,
)
from skdp.mechanisms._pco_geometry import geometry_of
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks

LOSSES = {"logistic": LogisticLoss(), "log-cosh": LogCoshLoss()}
RNG = np.random.Generator(np.random.PCG64(7))
N, D = 1500, 6
X = RNG.standard_normal((N, D)) * np.array([1.0, 0.6, 0.3, 0.2, 0.1, 0.05])
X /= np.quantile(np.linalg.norm(X, axis=1), 0.8)
SIGNS = np.where(X @ RNG.standard_normal(D) * 4 + RNG.logistic(size=N) > 0, 1.0, -1.0)
TARGETS = np.clip(X @ RNG.standard_normal(D) + 0.2 * RNG.standard_normal(N), -1, 1)


def made(task="logistic", epsilon=1.0, d=D, radius=1.0, delta=1e-6, **options):
    return PreconditionedObjectivePerturbation.calibrate(
        ApproximateDP(epsilon, delta),
        loss=LOSSES[task],
        radius=radius,
        n_coefficients=d,
        **options,
    )


def rows(task, x=X, y=None, ball=None):
    if task == "logistic":
        blocks = as_row_blocks(x, SIGNS if y is None else y)
    else:
        targets = TARGETS if y is None else y
        blocks = as_row_blocks(x, targets, labels=Targets(-1, 1))
    return PrivateRows(blocks, ball or L2Ball(1.0))


@pytest.fixture
def draws(monkeypatch):
    """All noise vectors, in the order in which they were drawn."""
    seen = []
    plain = GaussianNoise.draw

    def recorded(self, n_features, source):
        seen.append(plain(self, n_features, source))
        return seen[-1]

    monkeypatch.setattr(GaussianNoise, "draw", recorded)
    return seen


@pytest.fixture
def sharp(monkeypatch):
    """Lattice steps that change nothing: answers are the computed ones."""
    monkeypatch.setattr(LatticeSmoothing, "release_each", lambda _, points, __: points)


def plain_answer(mechanism, task, epsilon, data, draws):
    dense = [(block / mechanism.radius, y) for block, y in data.projected()]
    x, y = (np.concatenate(part) for part in zip(*dense, strict=True))
    mu = gaussian_mu(epsilon, 1e-6)
    return Plain(x, y, mu, mechanism.curvature, draws, task).coefficients()


SETTINGS = [("logistic", 0.3), ("logistic", 1.0), ("logistic", 6.0)]
SETTINGS += [("log-cosh", 0.2), ("log-cosh", 4.0)]


def largest_gap(mechanism, task, epsilon, data, draws):
    draws.clear()
    found = mechanism.release(data, as_random_source(3)).output.coefficients
    expected = plain_answer(mechanism, task, epsilon, data, draws)
    # the plain answer is of rows over their norm bound
    return np.max(np.abs(found * mechanism.radius - expected)) / np.abs(expected).max()


@pytest.mark.parametrize(("task", "epsilon"), SETTINGS)
def test_recorded_draws_give_the_coefficients_of_a_plain_implementation(
    task, epsilon, draws, sharp
):
    """Up to rows cut to 20 bits and the plain minimiser's own accuracy."""
    mechanism = made(task, epsilon)
    assert largest_gap(mechanism, task, epsilon, rows(task), draws) < 1e-4


def test_sparse_rows_intercepts_and_other_radii_give_the_same_kind_of_answer(
    draws, sharp
):
    ball = L2Ball(2.0, intercept_scaling=1.0)
    for task, y in (("logistic", SIGNS * (np.arange(N) % 5 > 0)), ("log-cosh", None)):
        for x in (X * 2, sp.csr_array(np.where(np.abs(X) > 0.1, X * 2, 0.0))):
            mechanism = made(task, 1.0, d=D + 1, radius=ball.radius)
            data = rows(task, x, y, ball)
            assert largest_gap(mechanism, task, 1.0, data, draws) < 1e-4


PLANTS = {
    "rho left out of the ridge": lambda m, geometry: 1.0 / m.curvature,
    "half the ridge": lambda m, geometry: 0.5 * geometry.curvature_ratio / m.curvature,
}


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("task", LOSSES)
def test_planted_ridges_that_no_curve_shows_are_seen(
    plant, task, draws, sharp, monkeypatch
):
    monkeypatch.setattr(PreconditionedObjectivePerturbation, "ridge", PLANTS[plant])
    assert largest_gap(made(task), task, 1.0, rows(task), draws) > 1e-3


@pytest.mark.parametrize("task", LOSSES)
@pytest.mark.parametrize("epsilon", [0.1, 8.0])
def test_every_scale_of_noise_is_its_sensitivity_over_its_share(task, epsilon):
    mechanism, mu = made(task, epsilon), gaussian_mu(epsilon, 1e-6)
    d = mechanism.n_coefficients
    center = (0.5, 0.02) if task == "logistic" else (1.0, 0.03)
    expected = {
        "second moments": 1 / (mu * math.sqrt(0.10)),
        "gradient at zero": center[0] / (mu * math.sqrt(center[1])),
        "energies": math.sqrt(2) / (mu * math.sqrt(0.01)),
        "first objective": 1 / (mu * math.sqrt(0.20)),
    }
    for part in mechanism.parts:
        if part.name in expected:
            scale = part.noise_law.scale
            assert scale == pytest.approx(expected[part.name], rel=1e-8), part.name
    # an answer is off by twice the tolerance over a ridge of at least 1 / kappa
    error = 2 * 1e-8 * mechanism.curvature
    for part in mechanism.phases:
        shift = 2 * error + part.step.grid * math.sqrt(d)
        assert part.step.scale == pytest.approx(200 * shift / mu, rel=1e-9)
    share = {"logistic": 0.6 if epsilon >= 4 else 0.9, "log-cosh": 0.4}[task]
    assert mechanism.curvature == share * epsilon
    assert len(mechanism.phases) == 1 + (task == "logistic" and epsilon >= 4)


def test_the_recovered_noise_is_the_noise_that_was_drawn(draws):
    for task, epsilon in SETTINGS:
        draws.clear()
        mechanism, data = made(task, epsilon), rows(task)
        release = mechanism.release(data, as_random_source(5)).output
        drawn = np.concatenate(draws)
        found = mechanism.noise(release.transcript, data)
        scales = [np.full(p.size, p.noise_law.scale) for p in mechanism.parts]
        gap = np.abs(found - drawn) / np.concatenate(scales)
        # the lattice noise of an answer, times the curvature of all rows
        n_statistics = sum(part.size for part in mechanism.statistics)
        assert gap[:n_statistics].max() < 1e-3
        assert gap.max() < 0.05


def independent_mu(epsilon, delta, task, kappa, gauss, first):
    """Largest size of the last objective, by quadrature over grids of its own."""
    t = np.linspace(-8.5, 9.5, 1201 if first else 4001)
    mass = np.exp(-t * t / 2) / math.sqrt(2 * math.pi) * (t[1] - t[0])
    p = np.linspace(0, 1, 401)[:, None]
    h = p * (1 - p) if task == "logistic" else 1 - p * p

    def losses(mu):
        full = np.log1p(kappa * h) + p * p * mu * mu / 2 + p * mu * t
        removal = np.maximum(full.max(axis=0), math.log1p(kappa * h.max()))
        far = np.abs(t) if task == "log-cosh" else t
        return removal, np.maximum(0, mu * mu / 2 + mu * far)

    def excess(mu):
        worst = 0.0
        for k, loss in enumerate(losses(mu)):
            total = loss if not first else np.add.outer(losses(first)[k], loss)
            curve = gaussian_delta(epsilon - total, gauss)
            worst = max(
                worst, float((curve @ mass) if not first else mass @ curve @ mass)
            )
        return worst - delta

    return brentq(excess, 0.3 * gauss, 4 * gauss, rtol=1e-6)


@pytest.mark.parametrize(
    ("task", "epsilon"),
    [
        ("logistic", 0.1),
        ("logistic", 1.0),
        pytest.param("logistic", 4.0, marks=pytest.mark.slow),
        pytest.param("logistic", 8.0, marks=pytest.mark.slow),
        ("log-cosh", 0.5),
    ],
)
def test_calibration_agrees_with_an_independent_integral(task, epsilon):
    mechanism = made(task, epsilon)
    gauss = math.hypot(*(part.mu for part in mechanism.statistics))
    *first, last = (part.mu for part in mechanism.phases)
    first = first[0] if first else None
    best = independent_mu(epsilon, 1e-6, task, mechanism.curvature, gauss, first)
    assert 0.999 < last / best <= 1.0


@pytest.mark.parametrize("task", LOSSES)
@pytest.mark.parametrize("epsilon", [1e-5, 0.01, 3.99, 4.0, 1000.0])
@pytest.mark.parametrize("delta", [1e-200, 1e-6, 0.3])
def test_every_target_is_met_and_nearly_spent(task, epsilon, delta):
    guarantee = made(task, epsilon, delta=delta).guarantee
    assert 0.999 * delta < guarantee.delta(epsilon) <= delta
    assert guarantee.epsilon(delta) <= epsilon


def test_the_guarantee_is_no_gaussian_one_and_lists_what_it_assumes():
    guarantee = made().guarantee
    assert isinstance(guarantee, PreconditionedPerturbationDP)
    assert any("clipping" in text for text in guarantee.assumptions)
    assert any("rounding" in text for text in guarantee.assumptions)


@pytest.mark.parametrize("task", LOSSES)
def test_shares_of_the_budget_add_up_and_name_every_release(task):
    budget = made(task, 8.0).budget
    assert math.fsum(part.share for part in budget) == pytest.approx(1.0)
    assert len({part.name for part in budget}) == len(budget)
    assert budget[-1].name == "lattice steps"
    assert budget[-1].share < 1e-4


@pytest.mark.parametrize("ratio", [1.0, 1.3, 2.0])
def test_weights_bound_gradient_and_curvature_of_every_row(ratio):
    geometry = dataclasses.replace(
        geometry_of(np.eye(3), 1.0, 1.0), curvature_ratio=ratio
    )
    norms = np.concatenate([[0.0, 1e-200, 1.0], np.geomspace(1e-3, 1e3, 5001)])
    if ratio < 2.0:
        norms = norms[norms <= ratio]
    w = geometry.weights(norms)
    assert ((w >= 0.0) & (w <= 1.0)).all()
    assert np.max(w * norms) <= 1.0 + 1e-9
    assert np.max(w * norms**2) <= ratio * (1.0 + 1e-9)
    assert (w[norms <= 1.0] == 1.0).all()


@pytest.mark.parametrize("phase_scale", [None, 3.0])
@pytest.mark.parametrize("size", [0.0, 3.0, 1e4])
def test_the_geometry_of_any_matrix_is_finite_and_bounds_every_row(phase_scale, size):
    for seed in range(20):
        rng = np.random.Generator(np.random.PCG64(seed))
        d = int(rng.integers(1, 8))
        noise = rng.standard_normal((d, d))
        moment = size * np.diag(rng.random(d)) + (noise + noise.T) / 2
        geometry = geometry_of(moment, 1.0, phase_scale)
        A = geometry.transform
        np.testing.assert_allclose(A, A.T, atol=1e-14)
        assert np.linalg.norm(A, 2) <= geometry.longest * (1 + 1e-12)
        assert 1.0 <= geometry.curvature_ratio <= 2.0
        assert geometry.curvature_ratio <= geometry.longest
        assert geometry.n_rows >= 1.0


@pytest.mark.parametrize("task", LOSSES)
def test_a_transcript_can_be_read_back(task):
    mechanism = made(task, 8.0)
    release = mechanism.release(rows(task), as_random_source(1)).output
    again = mechanism.read(release.transcript)
    for name in ("coefficients", "metric", "center", "gradient"):
        np.testing.assert_array_equal(getattr(again, name), getattr(release, name))
    assert again.scale == release.scale
    assert (release.energies is None) == (task == "logistic")
    with pytest.raises(ValueError, match="transcript has shape"):
        mechanism.read(release.transcript[1:])


def test_undeclared_rows_are_no_part_of_any_release(draws):
    mechanism = made()
    signs = np.where(np.arange(N) % 3 == 0, 0.0, SIGNS)
    kept = signs != 0.0
    with_them = mechanism.release(rows("logistic", y=signs), as_random_source(2)).output
    without = mechanism.release(
        rows("logistic", X[kept], SIGNS[kept]), as_random_source(2)
    ).output
    np.testing.assert_array_equal(with_them.metric, without.metric)
    np.testing.assert_allclose(
        with_them.coefficients, without.coefficients, rtol=0, atol=1e-6
    )


@pytest.mark.parametrize("task", LOSSES)
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 8.0])
def test_hard_tables_are_answered_with_finite_numbers(task, epsilon):
    mechanism = made(task, epsilon, d=3)
    far = np.array([[1e300, 0.0, -1e300], [0.0, 0.0, 0.0], [1e-300, 0.0, 1.0]])
    for x, y in (
        (np.zeros((0, 3)), np.zeros(0)),
        (np.zeros((4, 3)), np.ones(4)),
        (far, np.array([1.0, -1.0, 1.0])),
        (np.repeat([[1.0, 0.0, 0.0]], 20_000, axis=0), np.ones(20_000)),
        (np.ones((5, 3), dtype=np.float32), -np.ones(5)),
        (np.ones((5, 3), dtype=np.int8), np.ones(5)),
    ):
        release = mechanism.release(rows(task, x, y), as_random_source(0)).output
        assert np.isfinite(release.transcript).all()
        assert np.isfinite(release.coefficients).all()


def test_rows_that_are_no_numbers_are_refused():
    bad = X[:5].copy()
    bad[2, 1] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity"):
        made().release(rows("logistic", bad, SIGNS[:5]), as_random_source(0))


def test_second_moments_are_the_same_bits_in_any_order_of_rows():
    mechanism, order = made(), RNG.permutation(N)
    one = mechanism.release(rows("logistic"), as_random_source(4)).output
    other = mechanism.release(
        rows("logistic", X[order], SIGNS[order]), as_random_source(4)
    ).output
    np.testing.assert_array_equal(one.metric, other.metric)


def test_a_fixed_scale_is_used_as_it_is():
    mechanism = PreconditionedObjectivePerturbation.calibrate(
        ApproximateDP(1.0, 1e-6),
        loss=LogCoshLoss(scale=0.125),
        radius=1.0,
        n_coefficients=D,
        scale="loss",
    )
    release = mechanism.release(rows("log-cosh"), as_random_source(0)).output
    assert release.scale == 0.125
    assert mechanism.row_loss(release.scale).scale == 0.125


@pytest.mark.parametrize(
    ("target", "options", "match"),
    [
        (PureDP(1.0), {}, "needs Gaussian noise"),
        (ApproximateDP(1.0, 0.0), {}, "needs Gaussian noise"),
        (ApproximateDP(1.0, 1e-6, adjacency="replace-one"), {}, "replace-one"),
        (ApproximateDP(1.0, 1e-6), {"loss": HuberLoss()}, "no proof for this loss"),
        (ApproximateDP(1.0, 1e-6), {"loss": LogCoshLoss(2.0)}, "target_bound=1"),
        (ApproximateDP(1.0, 1e-6), {"n_coefficients": 0}, "n_coefficients"),
        (ApproximateDP(1.0, 1e-6), {"n_coefficients": 3000}, "2048"),
        (ApproximateDP(1.0, 1e-6), {"radius": -1.0}, "radius"),
        (ApproximateDP(1.0, 1e-6), {"scale": 0.3}, "scale must be"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_what_has_no_proof_is_refused(target, options, match):
    numbers = {"loss": LogisticLoss(), "radius": 1.0, "n_coefficients": 3, **options}
    with pytest.raises(ValueError, match=match):
        PreconditionedObjectivePerturbation.calibrate(target, **numbers)


def test_fields_that_do_not_fit_are_refused():
    good, other = made(), made(d=5)
    log_cosh = made("log-cosh")
    weak = dataclasses.replace(good.center, sensitivity=0.4)
    fine = dataclasses.replace(
        good.phases[0],
        step=LatticeSmoothing.concentrated(error=1e-10, n_features=D, mu=1e-3),
    )
    for change, match in (
        ({"metric": other.metric}, "as long as"),
        ({"center": weak}, "sensitivity"),
        ({"energy": log_cosh.energy}, "energy goes with"),
        ({"phases": ()}, "an objective"),
        ({"phases": (fine,)}, "cover 2 gradient_tol"),
        ({"curvature": 0.0}, "curvature"),
    ):
        with pytest.raises(ValueError, match=match):
            dataclasses.replace(good, **change)


@pytest.mark.parametrize("task", LOSSES)
def test_rows_of_another_shape_or_norm_are_refused(task):
    mechanism = made(task)
    with pytest.raises(ValueError, match="coefficients"):
        mechanism.release(rows(task, X[:, :3]), as_random_source(0))
    with pytest.raises(ValueError, match="bounded by"):
        mechanism.release(rows(task, ball=L2Ball(2.0)), as_random_source(0))
