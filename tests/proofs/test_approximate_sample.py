"""Numeric checks of docs/proofs/approximate_sample.md, independent of skdp."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import betainc, betaln, log_ndtr, ndtr

GRID = np.linspace(-30, 30, 24_001)
STEP = GRID[1] - GRID[0]


def hockey_stick(p, q, epsilon):
    return max(
        np.maximum(a - np.exp(epsilon) * b, 0).sum() * STEP for a, b in ((p, q), (q, p))
    )


def published(t, shares, ends, noise):
    """Density of ideal atoms ``t`` pushed by laws on the error ball, then blurred."""
    return sum(
        w * v * noise(GRID - x - e)
        for x, (w, law) in zip(t, shares, strict=True)
        for v, e in zip(law, ends, strict=True)
    )


def worlds(generator, delta, epsilon):
    """Two ideal laws on atoms within epsilon, and laws of the error on each atom."""
    t = np.sort(generator.uniform(-2, 2, size=3))
    w = generator.dirichlet(np.ones(3))
    v = w * np.exp(epsilon * generator.choice([-0.5, 0.5], size=3))
    v /= v.sum()
    ends = np.array([-delta, 0.3 * delta, delta])
    errors = [np.eye(3)[generator.integers(0, 3, size=3)] for _ in range(2)]
    ideal = np.max(np.abs(np.log(v / w)))
    laws = [
        (t, list(zip(shares, error, strict=True)), ends)
        for shares, error in zip((w, v), errors, strict=True)
    ]
    return ideal, laws


def test_pure_perturbation_adds_its_price_whatever_the_error_does():
    """Laplace noise of scale 2 Delta / epsilon', atoms and adversarial errors."""
    generator = np.random.default_rng(0)
    used = []
    for _ in range(100):
        delta, price = 0.4, generator.uniform(0.1, 2)
        ideal, laws = worlds(generator, delta, generator.uniform(0, 1))
        s = 2 * delta / price
        p, q = (
            published(*law, lambda z, s=s: np.exp(-np.abs(z) / s) / (2 * s))
            for law in laws
        )
        used.append(np.max(np.abs(np.log(p / q))) - ideal - price)
    assert max(used) <= 1e-9


def test_gaussian_perturbation_adds_in_squares():
    """Gaussian ideal laws mu apart, errors that depend on the draw and the data set."""
    generator = np.random.default_rng(1)
    for _ in range(15):
        mu, price, delta = *generator.uniform(0.1, 2, size=2), 0.5
        sigma = 2 * delta / price
        x = np.linspace(-8, 8, 401)
        laws = []
        for shift in (0.0, mu):
            w = np.exp(-((x - shift) ** 2) / 2)
            # errors of both signs, chosen by the draw
            sign = np.where(x > generator.normal() + shift, 1, -1)
            sign = sign * generator.choice([-1, 1])
            at = x + delta * sign
            z = (GRID[::8, None] - at) / sigma
            laws.append(
                np.exp(-(z**2) / 2) @ (w / w.sum()) / sigma / np.sqrt(2 * np.pi)
            )
        total = np.hypot(mu, price)
        for epsilon in (0.0, 0.5, 1.5, 3.0):
            found = 8 * hockey_stick(*laws, epsilon)
            a, b = -epsilon / total + total / 2, -epsilon / total - total / 2
            claimed = ndtr(a) - np.exp(epsilon + log_ndtr(b))
            # the ideal law is a sum over 401 points
            assert found <= claimed + 1e-6


@pytest.mark.parametrize("d", [1, 2, 5])
def test_both_factors_are_attained(d):
    """The point mass at 0, and errors at opposite ends along the diagonal."""
    delta, price = 0.3, 0.7
    u = np.full(d, delta / np.sqrt(d))
    far = 40 * u

    def k_norm(b):
        return -np.linalg.norm(b) * price / (2 * delta)

    def laplace(b):
        return -np.abs(b).sum() * price / (2 * np.sqrt(d) * delta)

    for log_density in (k_norm, laplace):
        loss = log_density(far - u) - log_density(far + u)
        assert loss == pytest.approx(price)


@pytest.mark.parametrize("d", [2, 3, 6])
@pytest.mark.parametrize("r", [0.05, 0.3, 0.9])
def test_the_cap_is_below_the_intersection_and_shrinks_no_faster(d, r):
    """Volume of a ball of radius r around a point of the unit ball, by slices."""

    def lens(rho):
        # slices at height h across the line of centres, unit ball around 0
        def area(h):
            return max(0.0, min(r**2 - (h - rho) ** 2, 1 - h**2)) ** ((d - 1) / 2)

        cut = (1 - r**2 + rho**2) / (2 * rho) if rho > 0 else 1.0
        points = [cut] if rho - r < cut < min(1, rho + r) else None
        return quad(area, rho - r, min(1, rho + r), points=points, limit=200)[0]

    whole = 2 * quad(lambda h: (r**2 - h**2) ** ((d - 1) / 2), 0, r)[0]
    shares = [lens(rho) / whole for rho in (0.0, 0.5, 0.8, 0.95, 1.0)]
    assert np.all(np.diff(shares) <= 1e-9)
    cap = 0.5 * betainc((d + 1) / 2, 0.5, 1 - (r / 2) ** 2)
    assert cap <= shares[-1] <= 2.0 * cap
    # the cap formula itself, by slices
    slices, _ = quad(lambda h: (r**2 - h**2) ** ((d - 1) / 2), r**2 / 2, r)
    assert cap == pytest.approx(slices / whole, rel=1e-7)


@pytest.mark.parametrize(
    ("d", "share", "cap"),
    [
        (2, 0.4894, 0.4682),
        (5, 0.4688, 0.4532),
        (20, 0.4188, 0.4104),
        (50, 0.3663, 0.3611),
    ],
)
def test_published_shares_of_a_small_ball_around_a_point_of_the_border(d, share, cap):
    """Radius a tenth of the large ball's: exact intersection, and the cap."""
    r, half = 0.1, (d - 1) / 2
    cut = 1 - r**2 / 2
    inner = quad(lambda h: (r**2 - (h - 1) ** 2) ** half, 1 - r, cut, epsabs=0)[0]
    outer = quad(lambda h: (1 - h**2) ** half, cut, 1, epsabs=0)[0]
    whole = r**d * np.exp(betaln(0.5, (d + 1) / 2))
    assert (inner + outer) / whole == pytest.approx(share, abs=5e-5)
    found = 0.5 * betainc((d + 1) / 2, 0.5, 1 - (r / 2) ** 2)
    assert found == pytest.approx(cap, abs=5e-5)


def test_the_share_of_the_small_ball_grows_with_its_radius():
    """Lemma 1, in many dimensions."""
    a = np.linspace(1e-3, 0.5, 400)
    for d in (1, 2, 3, 10, 100, 1000):
        log_share = d * np.log(a) + np.log(betainc((d + 1) / 2, 0.5, 1 - a**2))
        assert np.all(np.diff(log_share) > 0)


def test_total_variation_bounds_w_infinity_on_the_line():
    """Exact distances of quantile couplings; mass goes as far as it can."""
    generator = np.random.default_rng(2)
    n = 200
    x = (np.arange(n) + 0.5) / n * 2 - 1
    for _ in range(200):
        q = generator.exponential(size=n) ** generator.choice([1, 3]) + 0.05
        q /= q.sum()
        p_min = q.min() * n / 2
        delta = generator.uniform(0.05, 1.5)
        xi = p_min * 2 * (delta / 2) * 0.5 * (1 - delta / 4)
        p = q.copy()
        # take mass from one side, as much as the theorem allows, give it to a far point
        order = generator.permutation(n)
        left = xi
        for k in order:
            step = min(left, p[k])
            p[k] -= step
            left -= step
        p[generator.integers(0, n)] += xi - left
        levels = np.unique(np.concatenate([np.cumsum(p), np.cumsum(q)]))
        middles = (levels[1:] + levels[:-1])[np.diff(levels) > 1e-14] / 2
        at = [
            x[np.minimum(np.searchsorted(np.cumsum(m), middles), n - 1)] for m in (p, q)
        ]
        # cells stand for their middles
        assert np.max(np.abs(at[0] - at[1])) <= delta + 2 / n


@pytest.mark.parametrize("omega", [1e-3, 0.2])
def test_mixing_scales_the_distance_and_lifts_the_floor(omega):
    generator = np.random.default_rng(3)
    p, q = generator.dirichlet(np.full(50, 0.1), size=2)
    u = np.full(50, 1 / 50)
    mixed = [(1 - omega) * law + omega * u for law in (p, q)]
    before, after = (np.abs(a - b).sum() / 2 for a, b in ((p, q), mixed))
    assert after == pytest.approx((1 - omega) * before)
    assert min(m.min() for m in mixed) * 50 >= omega * (1 - 1e-12)


def test_restarts_cost_the_distance_over_the_mass_and_the_chance_to_fail():
    generator = np.random.default_rng(4)
    used = []
    for _ in range(2000):
        pi, other, u = generator.dirichlet(np.full(8, 0.6), size=3)
        p = pi + generator.uniform(0, 0.3) * (other - pi)
        inside = np.arange(8) < generator.integers(2, 8)
        a, b, T = pi[inside].sum(), p[inside].sum(), int(generator.integers(1, 6))
        u = u[inside] / u[inside].sum()
        failed = (1 - b) ** T
        law = (1 - failed) * p[inside] / b + failed * u
        found = np.abs(law - pi[inside] / a).sum() / 2
        used.append(found / (np.abs(p - pi).sum() / 2 / a + failed))
    assert 0.9 < max(used) <= 1.0
