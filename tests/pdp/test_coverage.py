"""How often published bounds fail, over fits that differ in their noise alone."""

import math

import numpy as np
import pytest
from simulated_fits import SimulatedFits, clustered, make_table, template

import skdp.pdp._levels as levels
import skdp.pdp._published as published
from skdp.pdp._leverage import LeverageBound
from skdp.random import GOE

LEVELS = ["data-independent", "hessian", "gradient"]
CASES = [(level, of) for level in LEVELS for of in ("everything", "coefficients")][1:]
RHO = 0.05


def fits(n=200, n_fits=200, seed=0, **options):
    rng = np.random.default_rng(seed)
    X, y = make_table(n, 2, rng)
    return SimulatedFits(X, y, template(X, y, **options), n_fits, rng)


@pytest.fixture(scope="module")
def wide_ridge():
    """Fits in which the bound has little slack beside its quantile."""
    return fits(ridge=40.0)


@pytest.fixture(scope="module")
def much_noise_shared():
    """Fits whose Hessian and gradient cost about as much as the coefficients."""
    return fits(ridge=40.0, hessian_scale=1.2, gradient_scale=4.8)


def check_members(fits, level, of="everything", *, n=40, rho=RHO, charged_as=None):
    """The signed loss of members exceeds its bound in at most rho of the fits."""
    X, y = fits.X[:n], fits.y[:n]
    bounds = fits.bounds(level, X, y, kind="member", rho=rho, of=charged_as or of)
    share, error = clustered(fits.losses(level, X, y, of=of) > bounds)
    assert share <= rho + 4 * error
    return share


def check_either(fits, level, *, n=40, rho=RHO):
    """The size of the loss of members exceeds its bound in at most rho of the fits."""
    X, y = fits.X[:n], fits.y[:n]
    losses = np.abs(fits.losses(level, X, y))
    share, error = clustered(losses > fits.bounds(level, X, y, rho=rho))
    assert share <= rho + 4 * error


def check_spectrum(fits, rho=0.5):
    """Released Hessian less its spread is below the Hessian but for a share of rho."""
    mechanism = fits.report._mechanism()
    _, H = fits.gradient_hessian(fits.theta)
    below = []
    for report, true in zip(fits.reports("hessian"), H, strict=True):
        release = levels._Release(mechanism, report.hessian, rho=rho, two_sided=False)
        gap = true - report.hessian.matrix(fits.d) + release.spread * np.eye(fits.d)
        below.append(np.linalg.eigvalsh(gap)[0] < 0.0)
    allowed = levels._MATRIX * rho
    assert np.mean(below) <= allowed + 5 * math.sqrt(allowed / len(below))


@pytest.mark.statistical
@pytest.mark.parametrize(("level", "of"), CASES)
def test_members_lose_more_than_the_bound_in_at_most_rho_of_the_fits(
    wide_ridge, level, of
):
    """The expected share is below 0.7 rho: false alarm below 1e-6."""
    assert check_members(wide_ridge, level, of) >= RHO / 5


@pytest.mark.statistical
@pytest.mark.parametrize("level", LEVELS)
def test_statistics_of_little_noise_are_charged(much_noise_shared, level):
    """As above."""
    check_members(much_noise_shared, level)


@pytest.mark.statistical
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("member", [True, False])
def test_nobody_loses_more_than_a_bound_of_small_rho(level, member):
    """4,000 losses at rho = 2e-10 and the default ridge: false alarm below 1e-6."""
    few = fits(n=2, n_fits=100, seed=1)
    rng = np.random.default_rng(2)
    X, y = (few.X, few.y) if member else make_table(40, 2, rng)
    losses = np.abs(few.losses(level, X, y, member=member))
    bounds = few.bounds(level, X, y, rho=2e-10)
    assert (losses <= bounds).all()
    assert (losses / bounds).max() > 0.3


@pytest.mark.statistical
@pytest.mark.parametrize("level", ["data-independent", "gradient"])
def test_the_simultaneous_bound_holds_for_the_person_hit_hardest(wide_ridge, level):
    """The row along the noise is chosen after the fit; expected share below 0.6 rho."""
    rho, failed = 0.2, {True: [], False: []}
    along = wide_ridge.b[:, :2] / np.linalg.norm(wide_ridge.b, axis=1)[:, None]
    for k, report in enumerate(wide_ridge.reports(level)):
        x, y = along[k : k + 1], np.array([1.0])
        loss = wide_ridge.losses(level, x, y, member=False)[k, 0]
        for simultaneous, seen in failed.items():
            options = {"rho": rho, "simultaneous": simultaneous}
            seen.append(loss > report.loss(x, y, kind="non-member", **options)[0])
    allowed = rho + 5 * math.sqrt(rho / len(along))
    assert np.mean(failed[True]) <= allowed < np.mean(failed[False])


@pytest.mark.statistical
def test_the_hessian_lies_above_what_is_known_of_it(wide_ridge):
    """False alarm below 1e-6."""
    check_spectrum(wide_ridge)


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("level", LEVELS)
def test_coverage_of_three_hundred_members_over_four_thousand_fits(level):
    """Share of failures at rho = 0.01; the person of median margin is not forgotten.

    The expected share is below 0.7 rho, four standard errors are about 0.2 rho.
    """
    many, rho = fits(n=2000, n_fits=4000, seed=5, ridge=40.0), 0.01
    X, y = many.X[:300], many.y[:300]
    failed = many.losses(level, X, y) > many.bounds(level, X, y, kind="member", rho=rho)
    share, error = clustered(failed)
    assert share <= rho + 4 * error
    Z = many._with_constant(X)
    margins = np.median(y * (many.theta @ Z.T), axis=0)
    median = np.argsort(margins)[150]
    assert failed[:, median].mean() >= rho / 5


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("level", LEVELS)
def test_no_failure_in_over_a_million_losses_with_the_default_settings(level):
    """At rho = 1e-6 and the default ridge; failures of one fit come together."""
    many = fits(n=2000, n_fits=4000, seed=6)
    X, y = many.X[:300], many.y[:300]
    assert (np.abs(many.losses(level, X, y)) <= many.bounds(level, X, y)).all()


# --- bugs on purpose, which the checks above must catch -------------------------------


def test_a_one_sided_quantile_for_a_two_sided_bound_is_caught(wide_ridge, monkeypatch):
    check_either(wide_ridge, "data-independent", rho=0.3)
    quantiles = published._gaussian_quantiles
    monkeypatch.setattr(
        published,
        "_gaussian_quantiles",
        lambda m, kind, *rest: quantiles(m, "member", *rest),
    )
    with pytest.raises(AssertionError):
        check_either(wide_ridge, "data-independent", rho=0.3)


@pytest.mark.parametrize("level", ["data-independent", "gradient"])
def test_a_signed_bound_of_strangers_for_their_absolute_loss_is_caught(level):
    """The Jacobian term is negative for strangers, and large beside few rows."""
    few = fits(n=2, n_fits=100, seed=1)
    X, y = make_table(40, 2, np.random.default_rng(2))
    losses = few.losses(level, X, y, member=False)
    signed = few.bounds(level, X, y, kind="non-member", rho=RHO)
    either = few.bounds(level, X, y, rho=RHO)
    for size, bound in ((losses, signed), (np.abs(losses), either)):
        share, error = clustered(size > bound)
        assert share <= RHO + 4 * error
    share, error = clustered(np.abs(losses) > signed)
    assert share > RHO + 4 * error


def test_a_gradient_with_the_noise_term_is_caught(monkeypatch):
    """Of the perturbed objective it is zero, and tells nothing about the noise."""
    equal = fits(ridge=40.0, gradient_scale=4.8)
    check_members(equal, "gradient", "coefficients")
    monkeypatch.setattr(equal, "gradients", equal.gradients + equal.b)
    with pytest.raises(AssertionError):
        check_members(equal, "gradient", "coefficients")


def test_an_uncharged_report_is_caught(much_noise_shared):
    for level in ("hessian", "gradient"):
        with pytest.raises(AssertionError):
            check_members(much_noise_shared, level, charged_as="coefficients")


def test_a_factor_of_root_two_in_the_scale_of_the_ensemble_is_caught(monkeypatch):
    other = fits(ridge=40.0, n_fits=300)
    check_spectrum(other)
    rows, columns = np.tril_indices(other.d)
    off = np.where(
        rows == columns, 0.0, (math.sqrt(2) - 1) * other.report.hessian.scale
    )
    wider = other.hessians + off * other.G[:, rows, columns]
    monkeypatch.setattr(other, "hessians", wider)
    with pytest.raises(AssertionError):
        check_spectrum(other)


def check_leverages(bound_of):
    """No claimed bound is below the true leverage where both matrices are below H."""
    rng = np.random.default_rng(0)
    for d in (2, 3, 5, 10):
        for scale in (0.5, 3.0, 30.0):
            for _ in range(40):
                A = rng.standard_normal((d, d))
                H = A @ A.T * rng.uniform(0, 5) + np.eye(d)
                G = rng.standard_normal((d, d))
                G = (G + G.T) / 2
                t = np.abs(np.linalg.eigvalsh(G)).max()
                lower = H + scale * G - scale * t * np.eye(d)
                X = rng.standard_normal((20, d))
                true = np.einsum("ij,ji->i", X, np.linalg.solve(H, X.T))
                bound = bound_of(lower, 1.0)
                claimed = bound(X @ bound.directions)
                assert (true <= claimed * (1 + 1e-12)).all()


def spectral_maximum(lower, alpha):
    values, vectors = np.linalg.eigh(lower)
    return LeverageBound(vectors, 1 / np.maximum(values, alpha)[:, None])


def test_the_mixture_bounds_leverages_and_the_spectral_maximum_does_not():
    check_leverages(LeverageBound.of)
    with pytest.raises(AssertionError):
        check_leverages(spectral_maximum)


def test_twofold_steps_of_the_odds_lose_about_three_per_cent():
    rng = np.random.default_rng(1)
    shares = 1 / (1 + np.exp(-np.linspace(-7, 6, 500)))
    for d in (2, 6, 20):
        values = np.sort(rng.normal(size=d) * 10 ** rng.uniform(0, 3))
        bound = LeverageBound.of(np.diag(values), 1.0)
        X = rng.standard_normal((50, d)) * 10 ** rng.uniform(-2, 0, d)
        top = 1.0 if values[0] > 0 else 1 / (1 - values[0])
        mixed = 1 + top * shares[:, None] * (values - 1)
        best = (X**2 @ (1 / mixed).T).min(axis=1)
        assert (bound(X @ bound.directions) <= 1.035 * best).all()


def test_the_radius_of_a_quarter_circle_and_of_points():
    """e^(-r^2/2)/4 + Phi(-r) = rho for the quarter; the normal quantile for one."""
    assert levels.joint_radius(1e-6) == pytest.approx(5.0390, abs=1e-4)
    assert levels.joint_radius(1e-6, 0.0) == pytest.approx(4.753424, abs=1e-6)


@pytest.mark.statistical
@pytest.mark.parametrize("angle", [0.3, 0.74, math.pi / 2])
def test_the_radius_of_an_arc_by_simulation(angle):
    """5 standard errors at q = 0.02: false alarm below 1e-6."""
    rng, q, n = np.random.default_rng(3), 0.02, 400_000
    r = levels.joint_radius(q, angle)
    w = rng.standard_normal((2, n))
    turn = np.clip(np.arctan2(w[1], w[0]), 0, angle)
    wrapped = np.maximum(w[0], w[0] * math.cos(angle) + w[1] * math.sin(angle))
    reach = np.maximum(wrapped, w[0] * np.cos(turn) + w[1] * np.sin(turn))
    assert np.mean(reach > r) == pytest.approx(q, abs=5 * math.sqrt(q / n))


def test_the_quantile_is_that_of_matrices_of_the_order_of_the_coefficients():
    report = template(*make_table(50, 4, np.random.default_rng(0)))
    for two_sided, sides in ((False, 1), (True, 2)):
        release = levels._Release(
            report._mechanism(), report.hessian, rho=1e-6, two_sided=two_sided
        )
        share = levels._MATRIX * 1e-6 / sides
        assert release.t == pytest.approx(GOE(5).isf(share), rel=1e-12)


def test_the_shares_of_rho_add_up_to_at_most_one():
    shares = ["_NOISE", "_MATRIX", "_MARGIN", "_LATTICE", "_ENTRIES", "_SMALL"]
    assert sum(getattr(levels, name) for name in shares) <= 1 + 1e-12
    assert published.NOISE_SHARE + 2 * published.LATTICE_SHARE <= 1 + 1e-12
