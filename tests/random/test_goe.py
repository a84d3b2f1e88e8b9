"""The Gaussian orthogonal ensemble: its draws, and its largest eigenvalue's law."""

import math
import time

import mpmath as mp
import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import chi2, kstest

from skdp.random import GOE, as_random_source
from skdp.random._goe_law import tail_quantile
from skdp.random._symmetric import isometric, lower_triangle, symmetric

#: Tail probability -> upper quantile, by order; published to six decimals.
TAILS = (5e-7, 5e-6, 5e-4, 0.025)
QUANTILES = {
    1: (4.891638, 4.417173, 3.290527, 1.959964),
    2: (5.322045, 4.870215, 3.809024, 2.585560),
    5: (6.222962, 5.805492, 4.837371, 3.748516),
    10: (7.307944, 6.919641, 6.026312, 5.035611),
    21: (9.065018, 8.709843, 7.898245, 7.008162),
    50: (12.292278, 11.976362, 11.258556, 10.478263),
    100: (16.211785, 15.926265, 15.279513, 14.579693),
}
MEDIANS = {1: 0.0, 2: 0.8711, 5: 2.2872, 10: 3.7337, 21: 5.8560, 50: 9.4793}
MEDIANS[100] = 13.6886
ORDERS = sorted(QUANTILES)


def of_two(t):
    """Return the tail at order 2, a convolution that can be written down."""
    return ndtr(-math.sqrt(2) * t) + math.exp(-t * t / 2) * ndtr(t) / math.sqrt(2)


def pfaffian_tail(n, t, digits):
    """Return the tail from monomials and incomplete gamma functions."""
    with mp.workdps(digits):
        ratio = mp.det(monomial_products(n, mp.mpf(t)))
        ratio /= mp.det(monomial_products(n, mp.inf))
        return float(1 - mp.sqrt(ratio))


def monomial_products(n, t):
    """Return the skew products of x^i exp(-x^2/2) up to t, bordered for odd n."""

    def moment(k, b):
        """Return the integral of x^k exp(-b x^2) up to t."""
        order, scale = mp.mpf(k + 1) / 2, 2 * mp.mpf(b) ** (mp.mpf(k + 1) / 2)
        left = (-1) ** k * mp.gamma(order)
        if mp.isinf(t):
            return (left + mp.gamma(order)) / scale
        part = mp.gammainc(order, 0, b * t * t)
        return (left + (part if t >= 0 else -((-1) ** k) * part)) / scale

    half = [moment(k, 0.5) for k in range(n)]
    whole = [moment(k, 1) for k in range(2 * n)]
    size = n + n % 2
    out = mp.matrix(size, size)
    for j in range(n):
        for i in range(j + 1, n):
            # by parts: x^i w = (i - 1) x^(i-2) w - (x^(i-1) w)'
            edge = 0 if mp.isinf(t) else t ** (i - 1) * mp.exp(-t * t / 2)
            before = (i - 1) * out[i - 2, j] if i >= 2 else 0
            out[i, j] = before - 2 * whole[i - 1 + j] + edge * half[j]
            out[j, i] = -out[i, j]
    if n % 2:
        for i in range(n):
            out[i, n], out[n, i] = half[i], -half[i]
    return out


@pytest.mark.parametrize("n", ORDERS)
def test_quantiles_are_the_published_ones(n):
    law = GOE(n)
    for q, expected in zip(TAILS, QUANTILES[n], strict=True):
        assert law.isf(q) == pytest.approx(expected, abs=1e-6)
        assert law.quantile(1 - q) == pytest.approx(expected, abs=1e-6)
    assert law.quantile(0.5) == pytest.approx(MEDIANS[n], abs=6e-5)


def test_order_one_is_the_normal_law():
    for t in np.linspace(-8, 37, 46):
        assert GOE(1).sf(t) == pytest.approx(ndtr(-t), rel=1e-12)
        assert GOE(1).cdf(t) == pytest.approx(ndtr(t), rel=1e-12, abs=2e-15)


def test_order_two_is_a_normal_plus_a_rayleigh_variable():
    for t in np.linspace(-4, 37, 42):
        assert GOE(2).sf(t) == pytest.approx(of_two(t), rel=1e-12)
        assert GOE(2).cdf(t) == pytest.approx(1 - of_two(t), abs=2e-15)


@pytest.mark.parametrize(
    ("n", "digits", "points"),
    [
        (3, 60, (0.0, 2.0, 6.0)),
        (4, 120, (0.0, 2.0, 6.0, 15.0)),
        (5, 120, (-1.0, 3.0, 15.0)),
        (10, 120, (2.0, 7.3, 12.0)),
        pytest.param(10, 200, (1.0, 3.7, 20.0), marks=pytest.mark.slow),
        pytest.param(21, 250, (4.0, 9.0, 12.0, 20.0), marks=pytest.mark.slow),
        pytest.param(50, 250, (12.3, 16.0), marks=pytest.mark.slow),
    ],
    ids=lambda x: str(x) if isinstance(x, int) else "",
)
def test_the_tail_has_all_digits_however_deep(n, digits, points):
    """Against Pfaffians in another basis, with many digits: down to 1e-70."""
    for t in points:
        exact = pfaffian_tail(n, t, digits)
        assert GOE(n).sf(t) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5, 31, pytest.param(120, marks=pytest.mark.slow)])
def test_the_law_is_monotone_and_adds_up_to_one(n):
    edge = math.sqrt(2 * n)
    grid = np.concatenate([np.linspace(-edge, 2 * edge + 4, 60), [36.9, 37.1, 40, 80]])
    upper = np.array([GOE(n).sf(t) for t in grid])
    lower = np.array([GOE(n).cdf(t) for t in grid])
    assert np.all(np.diff(upper) <= 2e-15)
    assert np.all(np.diff(lower) >= -2e-15)
    np.testing.assert_allclose(upper + lower, 1.0, atol=1e-14)
    inside = (upper > 0) & (upper < 0.99)
    assert np.all(np.diff(upper[inside]) < 0)
    assert GOE(n).sf(math.inf) == GOE(n).cdf(-math.inf) == 0.0
    assert GOE(n).cdf(math.inf) == GOE(n).sf(-math.inf) == 1.0


@pytest.mark.parametrize("n", [1, 4, 21, pytest.param(100, marks=pytest.mark.slow)])
def test_quantiles_invert_the_law_from_the_safe_side(n):
    law = GOE(n)
    for q in (1e-300, 1e-90, 1e-12, 1e-4, 0.3, 0.5, 0.9, 1 - 1e-6):
        t = law.isf(q)
        assert law.sf(t) <= q + 1e-15 * (q > 0.5)
        if t < 37:
            assert law.sf(t) == pytest.approx(q, rel=1e-8)
    for p in (1e-6, 1e-3, 0.5, 0.999):
        assert law.cdf(law.quantile(p)) == pytest.approx(p, rel=1e-8)


@pytest.mark.parametrize("n", [1, 7, 100, pytest.param(300, marks=pytest.mark.slow)])
def test_the_tail_beyond_floats_goes_on_as_an_upper_bound(n):
    law = GOE(n)
    at, beyond = law.sf(37.0), law.sf(37.0 + 1e-9)
    assert at == pytest.approx(beyond, rel=1e-6)
    assert law.sf(38.0) < math.exp(-20) * at
    if n == 1:
        assert law.sf(37.4) == pytest.approx(ndtr(-37.4), rel=1e-9)


def test_large_orders_have_a_bound_that_is_safe():
    """At order 300, where both exist, the bound is above the law by 10 to 30 %."""
    for q in (5e-7, 1e-3):
        bound = math.sqrt(600) + math.sqrt(-2 * math.log(q))
        assert 1.05 < bound / GOE(300).isf(q) < 1.3
        assert GOE(301).isf(q) == pytest.approx(bound, rel=1e-2)
        assert GOE(400).sf(GOE(400).isf(q)) == pytest.approx(q)
        assert GOE(400).quantile(1 - q) == pytest.approx(GOE(400).isf(q))
        assert GOE(400).cdf(30.0) == 1 - GOE(400).sf(30.0)
    assert GOE(400).sf(1.0) == 1.0


def test_a_quantile_is_fast_and_kept():
    """Measured at 0.03 s of process time; the limit is for a busy machine."""
    law = GOE(100)
    law.isf(0.1)
    tail_quantile.cache_clear()
    start = time.process_time()
    law.isf(5e-7)
    middle = time.process_time()
    for _ in range(100):
        law.isf(5e-7)
    assert middle - start < 0.3
    assert time.process_time() - middle < 0.01


# --- draws ----------------------------------------------------------------------------


@pytest.mark.statistical
@pytest.mark.parametrize("n", [1, 3])
def test_draws_are_standard_normal_in_the_isometric_coordinates(n):
    """False alarms below 1e-6: two tests a coordinate at 2e-8, two norms."""
    source = as_random_source(3)
    draws = [GOE(n).draw(source) for _ in range(700)]
    assert all(np.array_equal(G, G.T) for G in draws)
    coordinates = np.array([isometric(G) for G in draws])
    assert coordinates.shape == (700, n * (n + 1) // 2)
    for c in coordinates.T:
        assert kstest(c, "norm").pvalue > 2e-8
        assert 2e-8 < chi2.cdf(c @ c, c.size) < 1 - 2e-8
    frobenius = sum(np.sum(G**2) for G in draws)
    assert frobenius == pytest.approx(np.sum(coordinates**2))


def draw_many(n, size, source):
    return np.array([np.linalg.eigvalsh(GOE(n).draw(source))[-1] for _ in range(size)])


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("n", "size"),
    [(2, 500), (5, 500), (10, 500), (21, 500)]
    + [pytest.param(n, 10_000, marks=pytest.mark.slow) for n in (2, 3, 5, 10, 21)],
)
def test_largest_eigenvalues_of_draws_follow_the_law(n, size):
    """False alarms below 1e-6: KS at 1e-7 on a table of the law, and three counts."""
    largest = draw_many(n, size, as_random_source(n))
    grid = np.linspace(GOE(n).quantile(1e-6), GOE(n).isf(1e-8), 60)
    law = [GOE(n).cdf(t) for t in grid]
    found = np.searchsorted(np.sort(largest), grid, side="right") / size
    # the supremum over the line is above the one over a grid: the test is conservative
    assert np.max(np.abs(found - law)) < 2.9 / math.sqrt(size)
    for q in (0.5, 0.1, 0.01):
        count = np.count_nonzero(largest > GOE(n).isf(q))
        assert abs(count - q * size) < 5.4 * math.sqrt(size * q * (1 - q)) + 10


@pytest.mark.parametrize("factor", [math.sqrt(2.0), math.sqrt(0.5)])
def test_another_scaling_off_the_diagonal_does_not_follow_the_law(factor):
    """The sizes above that are part of every run see it."""
    source, law = as_random_source(8), GOE(10)
    off = np.where(np.eye(10) == 1, 1.0, factor)
    draws = [np.linalg.eigvalsh(off * law.draw(source))[-1] for _ in range(500)]
    below = np.mean(np.array(draws) <= law.quantile(0.5))
    assert abs(below - 0.5) > 2.9 / math.sqrt(500)


def test_symmetric_matrices_survive_their_triangle():
    matrix = np.array([[1.0, 2.0, 4.0], [2.0, 3.0, 5.0], [4.0, 5.0, 6.0]])
    np.testing.assert_array_equal(lower_triangle(matrix), [1, 2, 3, 4, 5, 6])
    np.testing.assert_array_equal(symmetric(lower_triangle(matrix), 3), matrix)
    norm = np.linalg.norm(matrix)
    assert np.linalg.norm(isometric(matrix)) == pytest.approx(norm)


# --- refusals -------------------------------------------------------------------------


def test_what_is_no_order_or_probability_is_refused():
    for n in (0, -1):
        with pytest.raises(ValueError, match="n is out of range"):
            GOE(n)
    for n in (1.0, True, "2"):
        with pytest.raises(TypeError, match="n must be an integer"):
            GOE(n)
    for q in (0.0, 1.0, -0.1, 2.0, math.inf):
        with pytest.raises(ValueError, match="q is out of range"):
            GOE(3).isf(q)
    for p in (0.0, 1.0, 1e-7):
        with pytest.raises(ValueError, match="p is out of range"):
            GOE(3).quantile(p)
    for call in (GOE(3).sf, GOE(3).cdf, GOE(400).sf):
        with pytest.raises(ValueError, match="t must not be nan"):
            call(math.nan)
        with pytest.raises(TypeError, match="t must be a real number"):
            call("1")
