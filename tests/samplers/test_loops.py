"""Rejection loops: exact draws, running times of the stated law, stated guarantees."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from finite_targets import REFERENCE, Finite
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, chi2_contingency

from skdp.accounting import (
    Channel,
    GaussianDP,
    Guarantee,
    Public,
    PureDP,
    RejectionLoopDP,
    RuntimeCost,
    compose,
    geometric_delta,
    truncation_size,
    with_runtime,
)
from skdp.mechanisms import ExponentialMechanism
from skdp.random import as_random_source, uniform
from skdp.samplers import (
    BatchedLoop,
    LoopTarget,
    PaddedLoop,
    SimpleLoop,
    SlackSqueeze,
    Stage,
    ThinnedLoop,
    TruncatedLoop,
)

BOTH = {Channel.OUTPUT, Channel.RUNTIME}
N = 4000
#: 4 standard errors would be exceeded once in 16,000; tests below use 5.6, once in 5e7.
SE = 5.6


@pytest.fixture
def quick(monkeypatch):
    """Draw by NumPy, which takes a tenth of the time."""
    for module in ("simple", "batched", "constant"):
        home = f"skdp.samplers._loop_{module}"
        monkeypatch.setattr(
            f"{home}.exponential",
            lambda n, source: source.generator.exponential(size=n),
        )
    monkeypatch.setattr(
        "skdp.samplers._loop_constant.uniform",
        lambda n, source: source.generator.random(n),
    )


def simulate(finite, loop, n=N, seed=0):
    source = as_random_source(seed)
    pairs = [finite.run(loop, source) for _ in range(n)]
    return np.array(pairs).T


def shares(values, k):
    return np.bincount(values, minlength=k)[:k] / values.size


def assert_shares(values, law):
    law = np.asarray(law)
    error = np.sqrt(law * (1 - law) / values.size)
    assert (abs(shares(values, law.size) - law) < SE * error + 1e-12).all()


def assert_independent(x, t):
    """Chi-square of draws against times capped at 8, level 1e-7."""
    table = np.zeros((int(x.max()) + 1, 8))
    np.add.at(table, (x, np.minimum(t, 8) - 1), 1)
    table = table[:, table.sum(axis=0) > 0]
    assert chi2_contingency(table).pvalue > 1e-7


def geometric_law(p, last):
    return (1 - p) ** np.arange(last) * p


def simple(finite, **more):
    return SimpleLoop(finite.target, p_hi=Public(0.8), Dg=Public(0.5), **more)


def test_the_reference_target():
    finite = Finite(*REFERENCE)
    assert finite.p == pytest.approx(0.42194908, abs=5e-9)
    assert finite.law == pytest.approx(
        [0.4739908, 0.28749, 0.1743715, 0.0641477], abs=6e-8
    )
    assert 1 / finite.p == pytest.approx(2.36995, abs=5e-6)


@pytest.mark.statistical
def test_the_simple_loop(quick):
    """Law, geometric time and independence; false alarm below 1e-6."""
    finite = Finite(*REFERENCE)
    x, t = simulate(finite, simple(finite))
    assert_shares(x, finite.law)
    assert_shares(t - 1, geometric_law(finite.p, 12))
    assert (
        abs(t.mean() - 1 / finite.p) < SE * math.sqrt(1 - finite.p) / finite.p / N**0.5
    )
    assert_independent(x, t)


def test_the_simple_loop_says_what_it_costs():
    finite = Finite(*REFERENCE)
    product = simple(finite).guarantee(PureDP(1.0))
    assert product.observes == BOTH
    assert product.epsilon(0.0) == math.inf
    cost = RuntimeCost("simple", p_hi=0.8, Dg=0.5)
    assert product.delta(3.0) == with_runtime(PureDP(1.0), cost).delta(3.0)
    joint = simple(finite, target_change=Public(0.5)).guarantee(PureDP(1.0))
    assert joint.observes == BOTH
    assert joint.delta(3.0) == RejectionLoopDP(0.8, 0.5).delta(3.0) < product.delta(3.0)


def test_one_acceptance_for_all_data_costs_nothing():
    """Location families: the normaliser is public, and half of epsilon suffices."""
    finite = Finite(*REFERENCE)
    loop = SimpleLoop(finite.target, p_hi=Public(0.4), Dg=Public(0.5), p_lo=Public(0.4))
    assert loop.guarantee(PureDP(1.0)).epsilon(0.0) == 1.0
    shared = SimpleLoop(
        finite.target,
        p_hi=Public(0.4),
        Dg=Public(0.5),
        p_lo=Public(0.4),
        target_change=Public(0.5),
    )
    assert shared.guarantee(PureDP(1.0)).epsilon(0.0) == 0.5


# --- batches --------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:delta > 0.001")
@pytest.mark.statistical
def test_the_truncated_loop_is_exact_given_success(quick):
    """Failure chance 0.58**3 at a batch of three; false alarm below 1e-6."""
    finite = Finite(*REFERENCE)
    loop = TruncatedLoop(finite.target, Public(0.5), 0.13, fallback=[4.0])
    assert loop.batch == 3
    x, t = simulate(finite, loop)
    assert set(t) == {3}
    failure = (1 - finite.p) ** 3
    assert_shares(x, np.append((1 - failure) * finite.law, failure))


@pytest.mark.filterwarnings("ignore:delta > 0.001")
@pytest.mark.statistical
def test_the_batched_loop_is_exact_and_its_count_independent(quick):
    """Geometric number of batches, chance 1 - 0.58**2; false alarm below 1e-6."""
    finite = Finite(*REFERENCE)
    loop = BatchedLoop(finite.target, Public(0.5), 0.25)
    assert loop.batch == 2
    x, t = simulate(finite, loop)
    assert_shares(x, finite.law)
    assert_shares(t // 2 - 1, geometric_law(1 - (1 - finite.p) ** 2, 6))
    assert_independent(x, t // 2)


@pytest.mark.filterwarnings("ignore:delta > 0.001")
@pytest.mark.statistical
def test_a_cap_on_batches_ends_in_the_fallback(quick):
    """Two batches of one proposal; false alarm below 1e-6."""
    finite = Finite(*REFERENCE)
    loop = BatchedLoop(finite.target, Public(0.9), 0.12, max_batches=2, fallback=[4.0])
    assert loop.batch == 1
    x, t = simulate(finite, loop, n=5000)
    assert set(t) <= {1, 2}
    failure = (1 - finite.p) ** 2
    assert_shares(x, np.append((1 - failure) * finite.law, failure))


@pytest.mark.statistical
def test_many_draws_from_one_pool_are_independent(quick):
    """Pairs of draws against the product law, chi-square at level 1e-7."""
    finite = Finite(*REFERENCE)
    loop = BatchedLoop(finite.target, Public(0.35), 1e-6, n_samples=3)
    source = as_random_source(3)
    draws = np.array([loop.draw(source)[:, 0] for _ in range(4000)]).astype(int)
    assert draws.shape == (4000, 3)
    for column in draws.T:
        assert_shares(column, finite.law)
    table = np.zeros((4, 4))
    np.add.at(table, (draws[:, 0], draws[:, 2]), 1)
    expected = 4000 * np.outer(finite.law, finite.law)
    assert np.sum((table - expected) ** 2 / expected) < chi2.isf(1e-7, 15)


def test_batches_say_what_they_cost():
    finite = Finite(*REFERENCE)
    one = BatchedLoop(finite.target, Public(0.25), 1e-9)
    assert one.batch == truncation_size(0.25, 1e-9) == 73
    for loop in (one, TruncatedLoop(finite.target, Public(0.25), 1e-9, fallback=[0.0])):
        total = loop.guarantee(PureDP(1.0))
        assert total.observes == BOTH
        assert total.delta(1.0) <= 1e-9
        wide = loop.guarantee(GaussianDP(0.5))
        assert wide.delta(1.0) <= GaussianDP(0.5).delta(1.0) + 1e-9
    many = BatchedLoop(finite.target, Public(0.25), 1e-12, n_samples=1000)
    assert many.batch == 4828
    assert many.guarantee(PureDP(1.0)).delta(1.0) <= 1e-12
    assert many.guarantee(PureDP(1.0)).observes == BOTH


def always_reject(n_columns=1):
    """Return a target that (almost) never accepts, and proposes what it is told."""

    def propose(n, source):
        return uniform(n * n_columns, source).reshape(n, n_columns)

    return LoopTarget(propose, lambda x: np.full(x.shape[0], -600.0))


def test_the_fallback_is_the_same_for_all_data_and_quiet():
    """All proposals rejected: no warning, no exception, and no trace of the data."""
    other = LoopTarget(
        lambda n, source: 100 + uniform(n, source)[:, None],
        lambda x: np.full(x.shape[0], np.nan),
    )
    for make in (
        lambda target, value: TruncatedLoop(target, Public(0.5), 0.001, fallback=value),
        lambda target, value: BatchedLoop(
            target, Public(0.5), 0.001, max_batches=2, fallback=value
        ),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            first = make(always_reject(), [7.0]).draw(as_random_source(0))
            second = make(other, [7.0]).draw(as_random_source(0))
        assert first.tolist() == second.tolist() == [7.0]

    def from_public_law(source):
        return uniform(1, source)

    first = TruncatedLoop(
        always_reject(), Public(0.5), 0.001, fallback=from_public_law
    ).draw(as_random_source(1))
    second = TruncatedLoop(other, Public(0.5), 0.001, fallback=from_public_law).draw(
        as_random_source(1)
    )
    assert first == second


def test_a_failed_batch_is_followed_by_fresh_randomness():
    seen = []

    def propose(n, source):
        x = uniform(n, source)[:, None]
        seen.append(x.copy())
        return x

    def log_acceptance(x):
        return np.full(x.shape[0], -600.0 if len(seen) == 1 else 0.0)

    loop = BatchedLoop(LoopTarget(propose, log_acceptance), Public(0.5), 0.001)
    x = loop.draw(as_random_source(0))
    assert len(seen) == 2
    assert not np.intersect1d(*seen).size
    assert x == seen[1][0]


def test_a_wrong_envelope_is_clipped_and_never_raises():
    target = LoopTarget(
        lambda n, source: uniform(n, source)[:, None],
        lambda x: np.where(x[:, 0] < 0.5, 2.0, np.nan),
    )
    loop = TruncatedLoop(target, Public(0.5), 1e-6, fallback=[9.0])
    draws = [loop.draw(as_random_source(s))[0] for s in range(50)]
    assert max(draws) < 0.5


def test_counts_are_not_kept():
    """No attribute of a loop changes by drawing, and none tells how long it took."""
    finite = Finite(*REFERENCE)
    loops = [
        simple(finite),
        BatchedLoop(finite.target, Public(0.3), 1e-6),
        PaddedLoop(finite.target, Public(0.2), finite.p, p_lo=Public(0.4)),
        ThinnedLoop(finite.target, Public(0.2), finite.p),
    ]
    for loop in loops:
        before = dict(vars(loop))
        loop.draw(as_random_source(0))
        assert vars(loop) == before
        assert not [
            n for n in dir(loop) if n.startswith(("n_iter", "accept_", "n_prop"))
        ]


@settings(deadline=None, max_examples=40, derandomize=True)
@given(st.floats(0.01, 1.0), st.floats(1e-12, 0.001))
def test_batches_are_whole_and_large_enough(p_lo, delta):
    loop = BatchedLoop(always_reject(), Public(p_lo), delta)
    assert type(loop.batch) is int
    assert (1 - p_lo) ** loop.batch <= delta * (1 + 1e-12)


# --- constant acceptance --------------------------------------------------------------


@pytest.mark.statistical
def test_the_thinned_loop(quick):
    """Time Geom(0.2) whatever the acceptance, exact draw; false alarm below 1e-6."""
    finite = Finite(*REFERENCE)
    loop = ThinnedLoop(finite.target, Public(0.2), finite.p)
    x, t = simulate(finite, loop)
    assert_shares(x, finite.law)
    assert_shares(t - 1, geometric_law(0.2, 20))
    assert abs(t.mean() - 5.0) < SE * math.sqrt(20 / N)
    assert_independent(x, t)
    total = loop.guarantee(PureDP(1.0))
    assert replace(total, assumptions=()) == PureDP(1.0, observes=BOTH)


@pytest.mark.statistical
def test_the_padded_loop(quick):
    """Time Geom(0.2), independent of the draw; false alarm below 1e-6."""
    finite = Finite(*REFERENCE)
    loop = PaddedLoop(finite.target, Public(0.2), finite.p, p_lo=Public(0.4))
    x, t = simulate(finite, loop)
    assert_shares(x, finite.law)
    assert_shares(t - 1, geometric_law(0.2, 20))
    assert_independent(x, t)
    assert loop.guarantee(PureDP(1.0)).epsilon(0.0) == 1.0


def padded_law(p, estimate, p0, last=400):
    """Return the law of T + W by convolution."""
    t, idle = geometric_law(p, last), geometric_law(p0, last)
    coin = p0 / estimate
    both = np.append(0.0, np.convolve(t, idle))[:last]
    return coin * t + (1 - coin) * both


def test_padding_makes_the_time_geometric_exactly():
    for p in (0.3, 0.5, 0.9):
        assert padded_law(p, p, 0.2) == pytest.approx(
            geometric_law(0.2, 400), abs=1e-15
        )


def test_other_ways_to_wait_depend_on_the_data():
    """max(T, Geom) and T + Geom have laws that differ between p = 0.3 and 0.5."""

    def longest(p):
        cdf = (1 - (1 - p) ** np.arange(401)) * (1 - 0.8 ** np.arange(401))
        return np.diff(cdf)

    def total(p):
        return np.convolve(geometric_law(p, 400), geometric_law(0.2, 400))[:400]

    for law in (longest, total):
        assert 0.5 * abs(law(0.3) - law(0.5)).sum() > 0.05
    same = 0.5 * abs(padded_law(0.3, 0.3, 0.2) - padded_law(0.5, 0.5, 0.2)).sum()
    assert same < 1e-12


@pytest.mark.parametrize(
    ("ratio", "distance", "loss"),
    [(1.01, 0.0029306931, 0.0099503309), (1.05, 0.0140952381, 0.0487901642)],
)
def test_padding_with_an_estimate(ratio, distance, loss):
    law = padded_law(0.4, 0.4 * ratio, 0.2)
    exact = geometric_law(0.2, 400)
    assert 0.5 * abs(law - exact).sum() == pytest.approx(distance, abs=5e-11)
    worst = np.max(abs(np.log(law[:200] / exact[:200])))
    assert worst == pytest.approx(loss, abs=5e-11)
    assert worst <= math.log(ratio) + 1e-12


def test_known_values_of_the_padded_time():
    law = padded_law(0.4, 0.42, 0.2)[:5]
    known = [0.19047619, 0.15619048, 0.1272381, 0.1031619, 0.08335238]
    assert law == pytest.approx(known, abs=5e-9)


def test_any_estimate_within_its_bound_costs_twice_the_bound():
    rng = np.random.default_rng(2)
    for _ in range(100):
        tau = rng.uniform(0.01, 0.3)
        p = rng.uniform(0.1, 0.9)
        estimate = min(p * math.exp(rng.uniform(-tau, tau)), 1.0)
        p0 = rng.uniform(0.1, 1.0) * min(p, estimate) / 2
        law, exact = padded_law(p, estimate, p0, 200), geometric_law(p0, 200)
        assert np.max(abs(np.log(law / exact))) <= tau + 1e-9


def test_idle_steps_do_the_work_of_real_ones():
    """Every step, real or idle, proposes and evaluates once."""
    finite = Finite(*REFERENCE)
    evaluated = []

    def log_acceptance(x):
        evaluated.append(x.shape[0])
        return finite.log_acceptance(x)

    target = LoopTarget(finite.propose, log_acceptance)
    loop = PaddedLoop(target, Public(0.05), finite.p, p_lo=Public(0.4))
    source = as_random_source(0)
    for _ in range(20):
        finite.proposals, evaluated[:] = 0, []
        loop.draw(source)
        assert finite.proposals == sum(evaluated) == len(evaluated)


# --- what is refused ------------------------------------------------------------------


def test_bounds_must_be_declared_public():
    target = always_reject()
    estimate = np.mean([0.4, 0.6])
    for bad in (0.5, estimate, "0.5"):
        for make in (
            lambda v: BatchedLoop(target, v, 1e-6),
            lambda v: TruncatedLoop(target, v, 1e-6, fallback=[0.0]),
            lambda v: SimpleLoop(target, p_hi=v, Dg=Public(0.5)),
            lambda v: SimpleLoop(target, p_hi=Public(0.5), Dg=v),
            lambda v: PaddedLoop(target, v, 0.4, p_lo=Public(0.4)),
            lambda v: PaddedLoop(target, Public(0.2), 0.4, v, p_lo=Public(0.4)),
            lambda v: PaddedLoop(target, Public(0.2), 0.4, p_lo=v),
            lambda v: ThinnedLoop(target, v, 0.4),
        ):
            with pytest.raises(TypeError, match="is not declared public"):
                make(bad)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda t: BatchedLoop(t, Public(0.0), 1e-6), "p_lo is out of range"),
        (lambda t: BatchedLoop(t, Public(0.5), 0.0), "delta is 0"),
        (lambda t: BatchedLoop(t, Public(0.5), 1e-6, n_samples=0), "n_samples"),
        (lambda t: BatchedLoop(t, Public(0.5), 1e-6, max_batches=2), "go together"),
        (lambda t: BatchedLoop(t, Public(0.5), 1e-6, fallback=[0.0]), "go together"),
        (
            lambda t: BatchedLoop(t, Public(0.5), 1e-6, max_batches=0, fallback=[0.0]),
            "max_batches",
        ),
        (lambda t: SimpleLoop(t, p_hi=Public(1.5), Dg=Public(1.0)), "p_hi is out"),
        (
            lambda t: SimpleLoop(t, p_hi=Public(0.5), Dg=Public(1.0), p_lo=Public(0.6)),
            "p_lo is out",
        ),
    ],
)
def test_wrong_settings_are_refused(make, match):
    with pytest.raises(ValueError, match=match):
        make(always_reject())


def test_a_truncated_loop_needs_a_fallback():
    with pytest.raises(TypeError, match="fallback"):
        TruncatedLoop(always_reject(), Public(0.5), 1e-6)


# --- adaptive schedules ---------------------------------------------------------------


def largest_loss(p, other):
    """Return sup over k of the log ratio of P(T = k) under two schedules."""
    stay = np.append(0.0, np.cumsum(np.log1p(-p) - np.log1p(-other))[:-1])
    return np.max(abs(np.log(p) - np.log(other) + stay))


@pytest.mark.parametrize(
    ("first", "second", "short", "long"),
    [
        (lambda n: 1 - 0.5 / n, lambda n: 1 - 0.55 / n, 9.4352, 1906.1),
        (lambda n: 1 - 0.5 / n**2, lambda n: 1 - 0.55 / n**2, 9.4357, 1906.1),
        (
            lambda n: 1 - 0.5 / n,
            lambda n: 1 - 0.5 / n * (1 + 0.1 / n**2),
            0.1584,
            0.1594,
        ),
        (lambda n: 0.3 + 0 * n, lambda n: 0.31 + 0 * n, 1.3917, 287.7),
        (lambda n: 0.3 + 0 * n, lambda n: 0.3 + 0.1 / n**2, 0.2877, 0.2877),
        (lambda n: 0.3 + 0 * n, lambda n: 0.3 + 0.1 / n, 0.7543, 1.5153),
    ],
)
def test_adaptive_schedules_leak_unless_their_acceptances_agree_fast(
    first, second, short, long
):
    """Acceptance tending to 1 makes it harder, not easier."""
    for n, value in ((100, short), (20_000, long)):
        k = np.arange(1.0, n + 1)
        assert largest_loss(first(k), second(k)) == pytest.approx(value, rel=1e-3)


def test_several_draws_from_one_adaptive_run_depend_on_their_times():
    """Refining where a proposal was rejected ties later times to earlier draws.

    Four symbols; a rejected or accepted proposal reveals a(x), after which x is
    accepted always. Exact joint law of (X_1, T_2) by enumeration.
    """
    proposal = np.full(4, 0.25)
    a = np.array([1.0, 0.6, 0.3, 0.1])

    def first_accept(weights, acceptance):
        return weights * acceptance

    def envelope(known):
        top = np.where(known, a, 1.0)
        return proposal * top / (proposal @ top), np.where(known, 1.0, a)

    joint = np.zeros((4, 2))
    states = {frozenset(): 1.0}
    for _ in range(60):
        following = {}
        for seen, mass in states.items():
            known = np.isin(np.arange(4), list(seen))
            weights, acceptance = envelope(known)
            for x in range(4):
                hit = mass * first_accept(weights, acceptance)[x]
                after = np.isin(np.arange(4), [*seen, x])
                again, accept = envelope(after)
                now = again @ accept
                joint[x] += hit * np.array([now, 1 - now])
                miss = mass * weights[x] * (1 - acceptance[x])
                key = seen | {x}
                following[key] = following.get(key, 0.0) + miss
        states = following
    assert joint.sum() == pytest.approx(1.0, abs=1e-6)
    rate = joint[:, 0] / joint.sum(axis=1)
    assert np.ptp(rate) > 0.05  # time and earlier draw are dependent
    # while the first draw has the target's law
    assert joint.sum(axis=1) == pytest.approx(a / a.sum(), abs=1e-6)


def test_time_alone_is_what_the_accountant_says():
    """Exact hockey stick of the enumerated times of two neighbouring targets."""
    here, there = Finite(*REFERENCE), Finite(REFERENCE[0], REFERENCE[1] * np.exp(-0.3))
    P, Q = geometric_law(here.p, 3000), geometric_law(there.p, 3000)
    for epsilon in (0.0, 0.2, 1.0):
        k = math.exp(epsilon)
        exact = max(np.maximum(P - k * Q, 0).sum(), np.maximum(Q - k * P, 0).sum())
        claim = RuntimeCost("simple", p_hi=0.5, Dg=0.3).delta(epsilon)
        assert exact <= claim + 1e-12
        assert exact == pytest.approx(
            max(
                geometric_delta(epsilon, here.p, there.p),
                geometric_delta(epsilon, there.p, here.p),
            ),
            abs=1e-12,
        )


def test_draws_are_doubles():
    """Single precision would lose the tails of an acceptance."""
    finite = Finite(*REFERENCE)
    narrow = LoopTarget(
        lambda n, source: finite.propose(n, source).astype(np.float32),
        lambda x: finite.log_acceptance(x).astype(np.float32),
    )
    loop = BatchedLoop(narrow, Public(0.3), 1e-6, n_samples=2)
    assert loop.draw(as_random_source(0)).dtype == np.float64


# --- what loops take as given ---------------------------------------------------------


def everywhere(output):
    """Return the guarantee of every loop, and words its assumptions must hold."""
    finite = Finite(*REFERENCE)
    t, p = finite.target, finite.p
    flat = Stage(t, Public(0.05))
    change = {"p_hi": Public(0.8), "Dg": Public(0.3), "target_change": Public(0.5)}
    return [
        (SimpleLoop(t, p_hi=Public(1.0), Dg=Public(0.3)), ["changes by at most 0.3"]),
        (simple(finite), ["at most 0.8", "changes by at most 0.5"]),
        (SimpleLoop(t, **change), ["everywhere, and its envelope"]),
        (TruncatedLoop(t, Public(0.4), 1e-9, fallback=[0.0]), ["at least 0.4"]),
        (
            TruncatedLoop(t, Public(0.4), 1e-9, n_samples=3, fallback=[0.0]),
            ["at least 0.4"],
        ),
        (BatchedLoop(t, Public(0.4), 1e-9), ["at least 0.4"]),
        (BatchedLoop(t, Public(0.4), 1e-9, n_samples=3), ["at least 0.4"]),
        (ThinnedLoop(t, Public(0.2), p), ["at least 0.2", "is exact"]),
        (PaddedLoop(t, Public(0.2), p, p_lo=Public(0.4)), ["at least 0.4", "is exact"]),
        (
            PaddedLoop(t, Public(0.2), p, Public(0.01), p_lo=Public(0.4)),
            ["at least 0.4", "log error", "at most 0.01"],
        ),
        (SlackSqueeze(flat), ["within [-2 eta, 0]"]),
    ]


@pytest.mark.parametrize(
    "output",
    [
        PureDP(1.0, assumptions=("public candidates",)),
        ExponentialMechanism(1.0, 1, selection="exponential").guarantee,
        compose(PureDP(0.4, assumptions=("public candidates",)), PureDP(0.1)),
    ],
    ids=["atomic", "simultaneous", "composed"],
)
def test_loops_record_what_they_take_as_given(output):
    for loop, words in everywhere(output):
        total = loop.guarantee(output)
        assert total.observes == BOTH
        assert set(output.assumptions) < set(total.assumptions)
        assert "" not in total.assumptions
        text = "; ".join(total.assumptions)
        assert all(word in text for word in words), (loop, text)
        # also in what is composed of it
        assert set(compose(total, total).assumptions) == set(total.assumptions)
        assert compose(total, total).observes == BOTH
        assert Guarantee.from_json(total.to_json()) == total


@pytest.mark.parametrize(("Dg", "change"), [(0.0, 0.5), (0.5, 0.5), (0.9, 0.5)])
def test_the_change_of_the_target_is_no_change_of_acceptances(Dg, change):
    """A public normaliser has Dg = 0, whatever the draw tells."""
    target = always_reject()
    both = {"p_hi": Public(0.5), "Dg": Public(Dg)}
    total = SimpleLoop(target, **both, p_lo=Public(0.5)).guarantee(PureDP(1.0))
    assert total.epsilon(0.0) == 1.0
    joint = SimpleLoop(
        target, **both, p_lo=Public(0.5), target_change=Public(change)
    ).guarantee(PureDP(1.0))
    assert joint.epsilon(0.0) == change
    with pytest.raises(TypeError, match="target_change is not declared public"):
        SimpleLoop(target, **both, target_change=change)
    with pytest.raises(TypeError, match="public_envelope"):
        SimpleLoop(target, **both, public_envelope=True)


@pytest.mark.parametrize("tau", [0.0, 0.1, 0.3])
def test_padding_needs_room_below_every_acceptance(tau):
    """The largest p0 allowed keeps its promise for all acceptances and estimates."""
    target, p_lo = always_reject(), 0.26
    allowed = p_lo if tau == 0.0 else p_lo / 2
    PaddedLoop(target, Public(allowed), 0.4, Public(tau), p_lo=Public(p_lo))
    with pytest.raises(ValueError, match="p0 is too large for p_lo"):
        PaddedLoop(target, Public(allowed * 1.01), 0.4, Public(tau), p_lo=Public(p_lo))
    for p in np.linspace(p_lo, 0.95, 12):
        for error in (-tau, tau / 2, tau):
            # as the loop takes it
            estimate = max(min(p * math.exp(error), 1.0), p_lo)
            law = padded_law(p, estimate, allowed, 60)
            loss = np.log(law / geometric_law(allowed, 60))
            assert np.max(abs(loss)) <= tau + 1e-9
    # without that room the loss grows with the time, far beyond tau
    law = padded_law(0.2, 0.2 * math.exp(0.3), 0.2, 60)
    assert np.max(abs(np.log(law / geometric_law(0.2, 60)))) > 1.0


def test_no_acceptance_makes_a_loop_raise():
    """A refusal would be a function of the data."""
    finite = Finite(*REFERENCE)
    for acceptance in (0.0, 1e-9, 0.05, 1.0, 7.0):
        for loop in (
            ThinnedLoop(finite.target, Public(0.2), acceptance),
            PaddedLoop(finite.target, Public(0.2), acceptance, p_lo=Public(0.4)),
        ):
            loop.draw(as_random_source(0))


@pytest.mark.statistical
def test_a_wrong_rate_of_thinning_leaves_the_draw_exact(quick):
    """False alarm below 1e-6."""
    finite = Finite(*REFERENCE)
    x, _ = simulate(finite, ThinnedLoop(finite.target, Public(0.9), finite.p))
    assert_shares(x, finite.law)
