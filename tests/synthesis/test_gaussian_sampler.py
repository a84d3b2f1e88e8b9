"""Draws from a normal law: the right law, the right price, one person's share."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, kstest, multivariate_normal, norm

from skdp.accounting import gaussian_delta
from skdp.exceptions import (
    BudgetExceededError,
    LowAccuracyWarning,
    NotForReleaseWarning,
)
from skdp.synthesis import GaussianSampler
from skdp.synthesis._gaussian_sampler import _widening_distance


def made(**kwargs):
    return GaussianSampler(**{"delta": 1e-6, **kwargs})


def data(n, d=1, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


quiet = pytest.mark.filterwarnings("ignore::skdp.exceptions.LowAccuracyWarning")


@quiet
@pytest.mark.parametrize(
    ("n", "m", "mu", "epsilon"),
    [(1000, 1, 0.010005, 0.03369), (1000, 100, None, 0.39707), (100, 1, None, 0.39900)],
)
def test_published_prices(n, m, mu, epsilon):
    sampler = made(radius=5.0, n_samples=m).fit(data(n))
    if mu is not None:
        assert sampler.mechanism_.sensitivity_ratio == pytest.approx(mu, abs=1e-6)
    assert sampler.privacy_spent_.epsilon == pytest.approx(epsilon, rel=1e-3)
    assert sampler.widening_ == 1.0


def test_the_price_of_ten_thousand_rows_and_a_thousand_draws():
    sampler = made(radius=5.0, n_samples=1000).fit(data(10_000))
    assert sampler.privacy_spent_.epsilon == pytest.approx(0.11593, rel=1e-3)


@quiet
def test_too_few_rows_widen_the_draws_and_never_overspend():
    for n in (1, 2, 5, 20):
        sampler = made(epsilon=0.5).fit(data(n))
        assert sampler.privacy_spent_.epsilon <= 0.5
        assert sampler.privacy_spent_.epsilon >= 0.999 * 0.5
        assert sampler.widening_ > 1.0
        scale = sampler.mechanism_.noise_law.scale
        assert sampler.widening_ == pytest.approx(scale**2 + 1 / n)


def test_the_ideal_price_is_that_of_the_mean_of_clipped_rows():
    n, radius = 4000, 6.0
    sampler = made(radius=radius, n_samples=4).fit(data(n, 2))
    ratio = 2.0 * (2 * radius / n) / math.sqrt(1 - 1 / n)
    assert sampler.mechanism_.sensitivity_ratio == pytest.approx(ratio, rel=1e-12)
    spent = sampler.privacy_spent_.epsilon
    assert gaussian_delta(spent, ratio) <= 1e-6 * (1 + 1e-9)
    assert gaussian_delta(0.99 * spent, ratio) > 1e-6


@pytest.mark.statistical
@pytest.mark.filterwarnings("ignore::skdp.exceptions.NotForReleaseWarning")
def test_a_draw_has_the_law_of_a_fresh_row():
    """600 fits of fresh data; KS and chi-square, a false alarm is below 2e-6."""
    rng = np.random.default_rng(0)
    draws = [
        made(epsilon=10.0, random_state=i, center=1.0, covariance=4.0)
        .fit(rng.normal(1.5, 2.0, (50, 1)))
        .samples_[0, 0]
        for i in range(600)
    ]
    z = (np.array(draws) - 1.5) / 2.0
    assert kstest(z, norm.cdf).pvalue > 1e-6
    total = float(np.sum(z**2))
    assert 2 * min(chi2.cdf(total, 600), chi2.sf(total, 600)) > 1e-6


@pytest.mark.statistical
def test_draws_have_the_covariance_given():
    """20,000 draws, 6 standard errors."""
    covariance = np.array([[4.0, 1.5], [1.5, 1.0]])
    X = np.random.default_rng(1).multivariate_normal([1.0, -1.0], covariance, 90_000)
    with pytest.warns(NotForReleaseWarning):
        sampler = made(
            epsilon=50.0, covariance=covariance, n_samples=20_000, random_state=0
        ).fit(X)
    found = np.cov(sampler.samples_.T)
    np.testing.assert_allclose(found, covariance, atol=6 * 4 * math.sqrt(2 / 20_000))
    np.testing.assert_allclose(sampler.samples_.mean(axis=0), [1, -1], atol=0.1)


def test_the_bound_on_the_distance():
    n, d = 1000, 2
    sampler = made(radius=5.0).fit(data(n, d))
    clipped = n * chi2.sf(25.0, d)
    assert sampler.accuracy_bound_ == pytest.approx(clipped, rel=1e-9)
    assert sampler.accuracy_bound(1.0) == pytest.approx(n * chi2.sf(16.0, d))
    assert sampler.accuracy_bound(9.0) == 1.0


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("v", [1.0, 1.01, 2.0, 30.0])
def test_the_distance_of_a_widened_law(d, v):
    """Quadrature in one and two dimensions."""
    step = 0.02 if d == 1 else 0.1
    grid = np.arange(-40, 40, step)
    points = np.stack(np.meshgrid(*[grid] * d), axis=-1).reshape(-1, d)
    p = multivariate_normal.pdf(points, np.zeros(d), np.eye(d))
    q = multivariate_normal.pdf(points, np.zeros(d), v * np.eye(d))
    exact = 0.5 * np.abs(p - q).sum() * step**d
    assert _widening_distance(v, d) == pytest.approx(exact, abs=2e-4)


def test_far_rows_are_clipped_whatever_they_are():
    X = data(500)
    X[0] = 1e308
    covariance = np.array([[1.0, 0.9], [0.9, 1.0]])
    wide = np.column_stack([X, -X])
    sampler = made(covariance=covariance).fit(wide)
    assert np.all(np.isfinite(sampler.samples_))
    assert np.all(np.isfinite(sampler.pdp_loss(wide)))


def test_rows_near_the_centre_lose_less():
    sampler = made(radius=4.0).fit(data(300))
    near, far, clipped = sampler.pdp_loss([[0.0], [4.0], [1e9]])
    assert near < far == clipped
    assert near > 0.4 * far
    fixed = [sampler.pdp_loss([[0.0]], rho=rho)[0] for rho in (1e-9, 1e-3)]
    assert fixed[0] > fixed[1]


@pytest.mark.statistical
@pytest.mark.filterwarnings("ignore::skdp.exceptions.NotForReleaseWarning")
def test_the_published_loss_bounds_the_exact_one_of_most_draws():
    """rho = 0.05, 400 fits: more than 45 failures happen less than once in 1e6."""
    n = 40
    X = data(n)
    other = X.copy()
    other[0] = -4.0
    failures, bound = 0, made(epsilon=5.0, radius=4.0).fit(X).pdp_loss(X[:1], rho=0.05)
    for seed in range(400):
        sampler = made(epsilon=5.0, radius=4.0, random_state=seed).fit(X)
        scale = sampler.mechanism_.noise_law.scale
        means = [np.clip(table, -4, 4).mean() for table in (X, other)]
        y = sampler.samples_[0, 0]
        loss = norm.logpdf(y, means[0], scale) - norm.logpdf(y, means[1], scale)
        failures += abs(loss) > bound[0]
    assert failures <= 45


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame], ids=["array", "frame"])
def test_writing_into_draws_does_not_change_the_released_ones(kind):
    X = kind(np.random.default_rng(0).normal(size=(1000, 2)))
    sampler = GaussianSampler(delta=1e-6, n_samples=2).fit(X)
    before = sampler.samples_.copy()
    out = sampler.sample(2)
    out[:] = 7.0
    np.testing.assert_array_equal(sampler.samples_, before)


def test_draws_are_handed_out_once_and_keep_the_kind():
    frame = pd.DataFrame(data(900, 2), columns=["u", "v"])
    sampler = made(n_samples=3).fit(frame)
    out = sampler.sample(2)
    assert out.columns.tolist() == ["u", "v"]
    with pytest.raises(BudgetExceededError, match="2 draws were asked for, got 1"):
        sampler.sample(2)
    assert len(sampler.sample()) == 1
    assert isinstance(sampler.fit(data(900, 2)).sample(1), np.ndarray)
    assert set(vars(sampler)) - set(sampler.get_params()) <= sampler._released
    sizes = {len(pickle.dumps(made().fit(data(n)))) for n in (500, 5000)}
    assert max(sizes) - min(sizes) <= 4


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"delta": 0.0}, "delta is 0"),
        ({"delta": 0.01}, "raw record"),
        ({"covariance": -1.0}, "positive definite"),
        ({"covariance": np.ones((2, 2))}, "positive definite"),
        ({"covariance": np.eye(3)}, "shape"),
        ({"covariance": [[1.0, 0.5], [0.2, 1.0]]}, "symmetric"),
        ({"center": [0.0, 0.0, 0.0]}, "center"),
        ({"center": math.inf}, "center"),
        ({"radius": 0.0}, "radius"),
        ({"n_samples": 0}, "n_samples"),
    ],
)
@pytest.mark.filterwarnings("ignore::skdp.exceptions.WeakGuaranteeWarning")
def test_parameters_that_make_no_sense_are_refused(wrong, words):
    with pytest.raises(ValueError, match=words) as caught:
        made(**wrong).fit(data(200, 2))
    assert "Allowed" in str(caught.value)


def test_low_accuracy_warns():
    with pytest.warns(LowAccuracyWarning, match="accuracy_bound_"):
        made(radius=1.0).fit(data(1000))


def steep(d, factor):
    """Return a root whose inverse grows like a power of ``factor``."""
    return np.eye(d) + factor * np.eye(d, k=-1)


@pytest.mark.parametrize(("d", "factor"), [(3, 0.5), (200, 10.0), (700, 3.0)])
@pytest.mark.parametrize("size", [1.0, 1e3, 1e150, 1e300, -1e308])
def test_no_row_makes_another_or_the_fit_fail(d, factor, size):
    from skdp.rows import L2Ball
    from skdp.synthesis._gaussian_sampler import _whitened

    rows, root = np.zeros((5, d)), steep(d, factor)
    rows[1, 0] = rows[2, -1] = 1.0
    before = _whitened(rows, root, np.zeros(d))
    rows[0, 0] = size
    after = _whitened(rows, root, np.zeros(d))
    assert np.all(np.isfinite(after))
    np.testing.assert_array_equal(after[1:], before[1:])
    norms = np.linalg.norm(L2Ball(5.0).project(after), axis=1)
    assert np.all(norms <= 5.0)


@quiet
def test_a_covariance_whose_whitening_overflows_is_fitted_with_any_row():
    root, rows = steep(200, 10.0), np.zeros((50, 200))
    for size in (1.0, 1e300):
        rows[0, 0] = size
        sampler = made(covariance=root @ root.T).fit(rows)
        assert np.all(np.isfinite(sampler.samples_))
        assert np.all(np.isfinite(sampler.pdp_loss(rows)))


def test_rows_of_moderate_size_are_whitened_as_ever():
    from scipy.linalg import solve_triangular

    from skdp.synthesis._gaussian_sampler import _whitened

    rows, root = 1e3 * data(20, 3), steep(3, 0.5)
    want = solve_triangular(root, rows.T, lower=True).T
    np.testing.assert_allclose(_whitened(rows, root, np.zeros(3)), want, rtol=1e-13)
