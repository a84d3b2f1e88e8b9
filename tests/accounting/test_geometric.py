"""Two geometric running times: closed forms against enumeration and known numbers."""

import math

import numpy as np
import pytest

from skdp.accounting import geometric_delta, geometric_renyi, geometric_tradeoff

LAST = 6000


def law(p, last=LAST):
    k = np.arange(last)
    return (1.0 - p) ** k * p


def enumerated_delta(epsilon, p, q):
    return np.maximum(law(p) - math.exp(epsilon) * law(q), 0.0).sum()


def enumerated_tradeoff(alpha, p, q):
    """Return the Neyman-Pearson curve of two enumerated laws."""
    P, Q = law(p), law(q)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(P > 0.0, Q / P, np.inf)
    order = np.argsort(-ratio, kind="stable")
    a = np.append(0.0, np.cumsum(P[order]))
    b = np.append(1.0, 1.0 - np.cumsum(Q[order]))
    return np.interp(alpha, a, b)


@pytest.mark.parametrize(
    ("alpha", "p", "q", "value"),
    [
        (0.1, 0.5, 0.3, 0.69816),
        (0.25, 0.5, 0.3, 0.51),
        (0.3, 0.5, 0.3, 0.468),
        (0.1, 0.3, 0.5, 0.8333333333),
        (0.3, 0.3, 0.5, 0.5),
        (0.05, 0.2, 0.19, 0.940944421469),
        (0.2, 1.0, 0.7, 0.56),
        (0.2, 0.7, 1.0, 0.7142857143),
    ],
)
def test_known_values_of_the_tradeoff(alpha, p, q, value):
    assert geometric_tradeoff(alpha, p, q) == pytest.approx(value, abs=5e-11)


@pytest.mark.parametrize(
    ("epsilon", "p", "q", "value"),
    [
        (0.0, 0.3, 0.5, 0.24),
        (0.5, 0.3, 0.5, 0.137054920581),
        (1.0, 0.3, 0.5, 0.0831236928607),
        (2.0, 0.3, 0.5, 0.0287845096136),
        (0.0, 0.5, 0.3, 0.24),
        (0.5, 0.5, 0.3, 0.00538361878996),
        (0.6, 0.5, 0.3, 0.0),
        (1.0, 0.05, 0.05 * math.exp(0.5), 0.0429728042672),
        (1.0, 0.5, 0.9, 0.228171817154),
        (3.0, 0.5, 0.9, 0.104914463077),
        (0.0, 0.7, 1.0, 0.3),
        (5.0, 0.7, 1.0, 0.3),
    ],
)
def test_known_values_of_the_hockey_stick(epsilon, p, q, value):
    assert geometric_delta(epsilon, p, q) == pytest.approx(value, rel=1e-11, abs=1e-13)


@pytest.mark.parametrize(
    ("order", "p", "q", "value"),
    [
        (2.0, 0.3, 0.5, 2.1972245773),
        (1.5, 0.3, 0.5, 0.6046730836),
        (2.0, 0.5, 0.3, 0.2595111955),
        (10.0, 0.5, 0.3, 0.4365312441),
        (2.1, 0.3, 0.5, math.inf),
        (2.0, 0.3, 1.0, math.inf),
        (2.0, 1.0, 0.5, math.log(2.0)),
    ],
)
def test_known_values_of_the_renyi_divergence(order, p, q, value):
    """Infinite beyond 1/(1-r) = 2.0600: there is no zCDP or Gaussian curve."""
    assert geometric_renyi(order, p, q) == pytest.approx(value, abs=5e-11)
    with pytest.raises(ValueError, match="order is out of range"):
        geometric_renyi(1.0, p, q)


def random_pairs(n):
    rng = np.random.default_rng(5)
    for _ in range(n):
        p, q = rng.uniform(0.02, 1.0, 2)
        yield (
            rng,
            (1.0 if rng.random() < 0.1 else p),
            (1.0 if rng.random() < 0.1 else q),
        )


def test_the_hockey_stick_is_the_enumerated_one():
    for rng, p, q in random_pairs(300):
        epsilon = rng.uniform(-3.0, 5.0)
        exact = enumerated_delta(epsilon, p, q)
        assert geometric_delta(epsilon, p, q) == pytest.approx(exact, abs=1e-12)


def test_the_tradeoff_is_the_enumerated_one():
    for rng, p, q in random_pairs(60):
        alpha = np.append(rng.uniform(0.0, 1.0, 20), [0.0, 1.0])
        exact = enumerated_tradeoff(alpha, p, q)
        assert geometric_tradeoff(alpha, p, q) == pytest.approx(exact, abs=1e-9)


def test_one_order_is_the_inverse_of_the_other():
    """T(Q, P) is the inverse function of T(P, Q)."""
    alpha = np.linspace(0.01, 0.99, 37)
    for p, q in [(0.5, 0.3), (0.2, 0.19), (0.9, 0.1)]:
        back = geometric_tradeoff(geometric_tradeoff(alpha, p, q), q, p)
        assert back == pytest.approx(alpha, abs=1e-9)


@pytest.mark.parametrize("epsilon", [0.2, 0.5, 1.0, 2.0])
def test_tangents_of_the_tradeoff_are_the_hockey_stick(epsilon):
    """delta = max over alpha of 1 - f(alpha) - e^eps alpha; attained at a corner."""
    k = np.arange(400)
    corners = (1.0 - 0.5) ** k
    f = geometric_tradeoff(corners, 0.5, 0.3)
    tangent = np.max(1.0 - f - math.exp(epsilon) * corners)
    # alpha is the level under Geom(0.5), which plays Q in the hockey stick
    assert tangent == pytest.approx(geometric_delta(epsilon, 0.3, 0.5), abs=1e-12)


def test_only_one_order_is_pure():
    """Looking at the fast order alone would miss everything."""
    assert geometric_delta(1.0, 0.5, 0.3) == 0.0
    assert geometric_delta(1.0, 0.3, 0.5) > 0.08
    far = geometric_delta([10.0, 20.0], 0.3, 0.5)
    assert (far > 0.0).all()


def test_the_smooth_bound_is_never_below():
    for p, q in [(0.3, 0.5), (0.05, 0.08), (0.5, 0.9)]:
        r = math.log1p(-p) / math.log1p(-q)
        for epsilon in np.linspace(0.0, 12.0, 25):
            power = math.exp(-epsilon * r / (1 - r))
            smooth = (1 - r) * r ** (r / (1 - r)) * power
            assert geometric_delta(epsilon, p, q) <= smooth * (1 + 1e-12)


@pytest.mark.parametrize("bad", [0.0, -0.1, 1.1, math.nan])
def test_probabilities_are_checked(bad):
    for call in (geometric_delta, geometric_tradeoff):
        with pytest.raises(ValueError, match=r"^p "):
            call(0.5, bad, 0.5)
        with pytest.raises(ValueError, match=r"^q "):
            call(0.5, 0.5, bad)
