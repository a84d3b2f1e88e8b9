"""Draw and running time of a rejection loop, jointly."""

import math

import numpy as np
import pytest

from skdp.accounting import (
    Channel,
    PureDP,
    RejectionLoopDP,
    RuntimeCost,
    geometric_delta,
    joint_loop_delta,
    with_runtime,
)


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ((1.0, 0.3, 0.4946163812, 0.5), 0.07845096027),
        ((1.0, 0.3, 0.4, 0.5), 0.02968799667),
        ((1.5, 0.3, 0.4, 0.5), 0.00936050983),
        ((2.0, 0.3, 0.4, 0.5), 0.002941503121),
        ((1.0, 0.4, 0.3, 0.5), 0.0),
        ((0.5, 0.5, 0.5, 0.5), 0.0),
    ],
)
def test_known_values_at_given_acceptances(arguments, value):
    assert joint_loop_delta(*arguments) == pytest.approx(value, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(
    ("p_hi", "values"),
    [(0.5, (0.0792401, 0.0446893, 0.0089746)), (0.9, (0.182294, 0.16141, 0.0735668))],
)
def test_known_worst_cases(p_hi, values):
    loop = RejectionLoopDP(p_hi, 0.5)
    assert loop.delta([1.0, 1.5, 3.0]) == pytest.approx(values, rel=4e-6)
    assert loop.observes == {Channel.OUTPUT, Channel.RUNTIME}


def enumerated(epsilon, a, a_other, proposal, last=3000):
    """Return the hockey stick of the joint law of (draw, time), term by term."""
    p, q = a @ proposal, a_other @ proposal
    k = np.arange(last)[:, None]
    P = (1.0 - p) ** k * (a * proposal)
    Q = (1.0 - q) ** k * (a_other * proposal)
    return np.maximum(P - math.exp(epsilon) * Q, 0.0).sum()


def test_random_targets_never_exceed_the_theorem():
    """Exact joint laws of finite targets whose logs differ by at most Dg."""
    rng = np.random.default_rng(11)
    for _ in range(150):
        Dg, n = rng.uniform(0.1, 1.0), rng.integers(2, 5)
        proposal = rng.dirichlet(np.ones(n))
        log_a = -rng.exponential(0.7, n) - Dg
        change = (
            rng.choice([-Dg, Dg], n) if rng.random() < 0.7 else rng.uniform(-Dg, Dg, n)
        )
        a, other = np.exp(log_a), np.exp(log_a + change)
        p, q = float(a @ proposal), float(other @ proposal)
        for epsilon in (0.3, 1.0, 2.0):
            exact = enumerated(epsilon, a, other, proposal)
            assert exact <= joint_loop_delta(epsilon, p, q, Dg) + 1e-12


def test_two_atoms_attain_the_theorem():
    Dg, p, q = 0.5, 0.3, 0.4
    low, high = math.exp(-Dg), math.exp(Dg)
    b = (p / q - low) / (high - low)
    proposal = np.array([0.5, 0.5])
    other = q * np.array([b, 1 - b]) / proposal
    a = other * np.array([high, low])
    for epsilon in (0.2, 1.0, 2.0):
        exact = enumerated(epsilon, a, other, proposal)
        assert joint_loop_delta(epsilon, p, q, Dg) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize(("p_hi", "Dg"), [(0.2, 0.5), (0.5, 1.0), (0.9, 0.25)])
def test_the_maximum_over_acceptances_is_an_upper_bound_and_tight(p_hi, Dg):
    loop = RejectionLoopDP(p_hi, Dg)
    share = np.append(np.linspace(0.3, 1.0, 25), math.exp(-Dg))
    pairs = [
        (a * p_hi, b * p_hi)
        for a in share
        for b in share[::4]
        if abs(math.log(a / b)) <= Dg * (1 + 1e-12)
    ]
    pairs += [(a * p_hi, p_hi) for a in share if a >= math.exp(-Dg) * (1 - 1e-12)]
    epsilon = [0.0, 0.5 * Dg, Dg, 1.5 * Dg, 3.0]
    for e, claim in zip(epsilon, loop.delta(epsilon), strict=True):
        best = max(joint_loop_delta(e, p, q, Dg) for p, q in pairs)
        assert best <= claim + 1e-12
        assert claim <= best * 1.03 + 1e-9


@pytest.mark.parametrize("p_hi", [0.1, 0.5, 0.9])
def test_from_twice_the_range_on_the_draw_adds_nothing(p_hi):
    loop = RejectionLoopDP(p_hi, 0.5)
    epsilon = np.linspace(1.0, 8.0, 15)
    alone = geometric_delta(epsilon, p_hi * math.exp(-0.5), p_hi)
    assert loop.delta(epsilon) == pytest.approx(alone, rel=1e-8)
    product = with_runtime(PureDP(1.0), RuntimeCost("simple", p_hi=p_hi, Dg=0.5))
    assert (loop.delta(epsilon) < product.delta(epsilon)).all()


def test_near_the_range_itself_it_does_add():
    """The shortcut by the running time alone is wrong below 1.2 Dg."""
    Dg = 1.159
    loop = RejectionLoopDP(0.001, Dg)
    short = geometric_delta(Dg, 0.001 * math.exp(-Dg), 0.001)
    assert loop.delta(Dg) - short == pytest.approx(3.0e-3, abs=5e-5)
    assert (
        loop.delta(0.4 * Dg) - geometric_delta(0.4 * Dg, 0.001 * math.exp(-Dg), 0.001)
        > 0.05
    )


def test_the_ends_of_the_range():
    assert RejectionLoopDP(1.0, 0.5).delta([1.0, 9.0]) == pytest.approx(
        1 - math.exp(-0.5)
    )
    assert RejectionLoopDP(0.5, 0.0).epsilon(0.0) == 0.0
    # one acceptance for all data: the normaliser cancels, so half of the usual epsilon
    assert RejectionLoopDP(0.5, 0.4, p_lo=0.5).epsilon(0.0) == 0.4
    assert RejectionLoopDP(0.5, 0.4, p_lo=0.5).delta(0.4) == pytest.approx(
        0.0, abs=1e-9
    )
    assert RejectionLoopDP(0.5, 0.4).group(2) == RejectionLoopDP(0.5, 0.8)


def test_wrong_settings_are_refused():
    with pytest.raises(ValueError, match="p_lo exceeds p_hi"):
        RejectionLoopDP(0.3, 0.5, p_lo=0.4)
    with pytest.raises(ValueError, match="p_hi is out of range"):
        RejectionLoopDP(0.0, 0.5)
    with pytest.raises(TypeError, match="Dg comes out of an array"):
        RejectionLoopDP(0.3, np.float64(0.5))


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.3])
def test_a_faster_loop_is_counted_where_it_is_the_worst(epsilon):
    """Bounds that leave only p >= q: the acceptance may not fall."""
    Dg, p_hi = 0.5, 0.6
    loop = RejectionLoopDP(p_hi, Dg)
    for t in np.linspace(1.0, math.exp(Dg), 60)[1:]:
        value = joint_loop_delta(epsilon, p_hi, p_hi / t, Dg)
        assert value <= loop.delta(epsilon) + 1e-12
        interval = loop._upper(np.array([epsilon]), np.array([t - 1e-3]), np.array([t]))
        assert value <= interval[0] + 1e-12
