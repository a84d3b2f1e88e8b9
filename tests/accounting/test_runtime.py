"""The price of a running time, by kind of loop, against enumeration."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdp.accounting import (
    ApproximateDP,
    Channel,
    GaussianDP,
    Guarantee,
    Public,
    PureDP,
    RuntimeCost,
    compose,
    geometric_delta,
    geometric_tradeoff,
    joint_loop_delta,
    pool_failure,
    pool_size,
    truncation_delta,
    truncation_size,
    with_runtime,
)
from skdp.exceptions import AdjacencyMismatchError

BOTH = {Channel.OUTPUT, Channel.RUNTIME}
OUTPUT = {"observes": {"output"}}


def simple(q, gamma=0.5, **more):
    return RuntimeCost("simple", p_hi=q, Dg=gamma, **more)


@pytest.mark.parametrize(
    ("q", "epsilon"),
    [
        (0.01, 7.899434),
        (0.1, 8.310366),
        (0.5, 11.353644),
        (0.8, 18.027209),
        (0.95, 31.623653),
    ],
)
def test_a_textbook_loop_costs_eleven_times_its_epsilon(q, epsilon):
    """A 1-DP target looped until acceptance; the cost of the clock at delta = 1e-6."""
    assert simple(q).epsilon(1e-6) == pytest.approx(epsilon, abs=6e-7)
    assert simple(q).epsilon(0.0) == math.inf


def test_the_cost_has_a_floor_as_acceptance_falls():
    """The limit q -> 0 has r = exp(-gamma)."""
    r = math.exp(-0.5)
    constant = math.log(1 - r) + r / (1 - r) * math.log(r) + math.log(1e6)
    limit = (1 - r) / r * constant
    assert limit == pytest.approx(7.857319, abs=1e-6)
    assert simple(1e-6).epsilon(1e-6) == pytest.approx(limit, abs=1e-4)


def test_high_acceptance_is_no_safer():
    costs = [simple(q).epsilon(1e-6) for q in (0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99)]
    assert (np.diff(costs) > 0.0).all()
    assert simple(1.0).delta([0.0, 5.0, 50.0]) == pytest.approx(1 - math.exp(-0.5))
    with pytest.raises(TypeError, match="p_hi is missing"):
        RuntimeCost("simple", Dg=0.5)


@pytest.mark.parametrize(
    ("p", "q", "delta", "epsilon"),
    [(0.3, 0.5, 1e-6, 11.6756973764), (0.5, 0.9, 1e-9, 45.9039500046)],
)
def test_known_values_at_two_acceptances(p, q, delta, epsilon):
    cost = RuntimeCost("simple", p_lo=p, p_hi=q)
    assert cost.epsilon(delta) == pytest.approx(epsilon, abs=1e-9)
    grid = np.linspace(0.0, 3.0, 13)
    slow, fast = geometric_delta(grid, p, q), geometric_delta(grid, q, p)
    assert cost.delta(grid) == pytest.approx(np.maximum(slow, fast), abs=1e-12)


@settings(deadline=None, max_examples=25, derandomize=True)
@given(st.floats(0.02, 1.0), st.floats(0.0, 1.0), st.floats(0.05, 2.0))
def test_no_pair_of_acceptances_within_the_bounds_costs_more(p_hi, share, gamma):
    """The maximum over all pairs is where the cost says it is."""
    p_lo = share * p_hi
    cost = RuntimeCost("simple", p_lo=p_lo, p_hi=p_hi, Dg=gamma)
    levels = np.linspace(max(p_lo, 1e-3), p_hi, 7)
    for epsilon in (0.0, 0.2, 1.0):
        claim = cost.delta(epsilon)
        for p, q in itertools.product(levels, levels):
            if abs(math.log(p / q)) <= gamma:
                assert geometric_delta(epsilon, p, q) <= claim + 1e-12


def test_the_tradeoff_curve_is_that_of_the_hardest_pair():
    """By the tangents of the profile, against the corners in closed form."""
    cost = RuntimeCost("simple", p_lo=0.3, p_hi=0.5)
    alpha = np.linspace(0.0, 1.0, 21)
    both = [geometric_tradeoff(alpha, 0.3, 0.5), geometric_tradeoff(alpha, 0.5, 0.3)]
    smaller = np.minimum(*both)
    f = cost.tradeoff(alpha)
    assert (f <= smaller + 1e-9).all()
    # the convex hull of the smaller curve, and of its mirror image
    fine = np.linspace(0.0, 1.0, 20001)
    least = np.minimum(
        geometric_tradeoff(fine, 0.3, 0.5), geometric_tradeoff(fine, 0.5, 0.3)
    )
    slopes = np.exp(np.linspace(-12, 12, 4001))
    lines = np.min(least + slopes[:, None] * fine, axis=1)
    hull = np.max(lines[:, None] - slopes[:, None] * alpha, axis=0)
    assert f == pytest.approx(np.maximum(hull, 0.0), abs=2e-3)


@pytest.mark.parametrize(
    ("n", "value"), [(1, 0.00091949084), (10, 0.032413345), (100, 0.32733526)]
)
def test_many_draws_add_their_times(n, value):
    q = 0.3 * math.exp(0.1)
    cost = RuntimeCost("simple", p_lo=0.3, p_hi=q, n_samples=n)
    assert cost.delta(0.5) == pytest.approx(value, rel=2e-8)


def test_a_hundred_draws_at_three_epsilons():
    cost = RuntimeCost("simple", p_lo=0.3, p_hi=0.3 * math.exp(0.1), n_samples=100)
    known = [0.4540361551, 0.2174651612, 0.0741853544]
    assert cost.delta([0.0, 1.0, 2.0]) == pytest.approx(known, abs=6e-11)


def negative_binomial(p, n, last):
    """Return the law of a sum of n geometric times by convolution."""
    one = np.append(0.0, (1.0 - p) ** np.arange(last - 1) * p)
    out = one
    for _ in range(n - 1):
        out = np.convolve(out, one)[:last]
    return out


@pytest.mark.parametrize(
    ("p", "q", "n"), [(0.3, 0.45, 2), (0.5, 0.9, 3), (0.7, 1.0, 4)]
)
def test_sums_agree_with_convolution(p, q, n):
    cost = RuntimeCost("simple", p_lo=p, p_hi=q, n_samples=n)
    P, Q = negative_binomial(p, n, 700), negative_binomial(q, n, 700)
    for epsilon in (0.0, 0.3, 1.0, 2.5):
        k = math.exp(epsilon)
        exact = max(np.maximum(P - k * Q, 0).sum(), np.maximum(Q - k * P, 0).sum())
        assert cost.delta(epsilon) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize(
    ("batch", "value"),
    [(1, 0.234587), (8, 0.0533923), (32, 1.10439e-5), (64, 1.21976e-10)],
)
def test_batches_hide_the_time(batch, value):
    q = 0.3 * math.exp(0.5)
    cost = RuntimeCost("batched", p_lo=0.3, p_hi=q, batch=batch)
    assert cost.delta(0.0) == pytest.approx(value, rel=5e-6)


@settings(deadline=None, max_examples=40, derandomize=True)
@given(st.floats(0.05, 0.5), st.integers(1, 20), st.floats(0.1, 1.5), st.booleans())
def test_no_pair_of_batch_counts_costs_more(p_lo, batch, gamma, truncated):
    """Exact laws of the number of batches, or of the failure, over all pairs."""
    kind = "truncated" if truncated else "batched"
    cost = RuntimeCost(kind, p_lo=p_lo, p_hi=1.0, Dg=gamma, batch=batch)
    levels = np.geomspace(p_lo, 1.0, 12)
    for epsilon in (0.0, 0.3, 1.0):
        claim = cost.delta(epsilon)
        assert claim <= (1.0 - p_lo) ** batch * (1 + 1e-9)
        for p, q in itertools.product(levels, levels):
            if abs(math.log(p / q)) > gamma + 1e-12:
                continue
            a, b = (1.0 - p) ** batch, (1.0 - q) ** batch
            if truncated:
                k = math.exp(epsilon)
                exact = max(a - k * b, 0.0) + max((1 - a) - k * (1 - b), 0.0)
            else:
                exact = geometric_delta(epsilon, 1.0 - a, 1.0 - b)
            assert exact <= claim + 1e-12


def test_many_batched_draws_cost_no_more_than_their_failures_or_the_whole_time():
    cost = RuntimeCost("batched", p_lo=0.25, p_hi=1.0, batch=40, n_samples=5)
    failures = 1.0 - (1.0 - 0.75**40) ** 5
    assert cost.delta(0.5) == pytest.approx(failures)
    few = RuntimeCost("batched", p_lo=0.25, p_hi=0.26, batch=1, n_samples=2)
    whole = RuntimeCost("simple", p_lo=0.25, p_hi=0.26, n_samples=2)
    assert few.delta(0.01) == whole.delta(0.01)
    fails = RuntimeCost("truncated", p_lo=0.25, p_hi=1.0, batch=40, n_samples=5)
    assert fails.delta(3.0) == pytest.approx(failures)


def test_pure_kinds():
    assert RuntimeCost("constant").epsilon(0.0) == 0.0
    assert RuntimeCost("constant").delta(0.0) == 0.0
    assert RuntimeCost("padded", Dg=0.1).epsilon(0.0) == pytest.approx(0.2)
    for eta, cost in [(0.01, 0.04), (0.025, 0.1), (0.05, 0.2), (0.1, 0.4)]:
        squeeze = RuntimeCost("slack_squeeze", p_lo=math.exp(-2 * eta), p_hi=1.0)
        assert squeeze.epsilon(0.0) == pytest.approx(cost)
        assert squeeze.group(3) == squeeze
    # one acceptance for all data sets: the time is noise
    assert RuntimeCost("simple", p_lo=0.3, p_hi=0.3).epsilon(0.0) == 0.0


def test_groups_widen_the_ratio():
    assert simple(0.5, 0.2).group(3).delta(1.0) == simple(
        0.5, 0.6000000000000001
    ).delta(1.0)
    replaced = simple(0.5, 0.2).to_replace_one()
    assert replaced.delta(1.0) == simple(0.5, 0.4).delta(1.0)


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({"kind": "fast"}, ValueError, "kind is not one of"),
        ({"kind": "simple", "p_hi": 0.5}, TypeError, "Dg is missing"),
        ({"kind": "padded"}, TypeError, "Dg is missing"),
        (
            {"kind": "simple", "p_hi": 0.2, "p_lo": 0.3},
            ValueError,
            "p_hi is below p_lo",
        ),
        (
            {"kind": "simple", "p_hi": 1.2, "Dg": 1.0},
            ValueError,
            "p_hi is out of range",
        ),
        (
            {"kind": "simple", "p_hi": 0.0, "Dg": 1.0},
            ValueError,
            "p_hi is out of range",
        ),
        ({"kind": "simple", "p_hi": 0.5, "Dg": -1.0}, ValueError, "Dg is out of range"),
        ({"kind": "slack_squeeze", "p_hi": 1.0}, ValueError, "p_lo is 0"),
        (
            {"kind": "batched", "p_lo": 0.1, "p_hi": 1.0, "batch": 0},
            ValueError,
            "batch",
        ),
        (
            {"kind": "batched", "p_lo": 0.1, "p_hi": 1.0, "batch": 1.5},
            TypeError,
            "batch",
        ),
        (
            {"kind": "constant", "n_samples": True},
            TypeError,
            "n_samples must be an integer",
        ),
    ],
)
def test_wrong_settings_are_refused(arguments, error, match):
    with pytest.raises(error, match=match):
        RuntimeCost(**arguments)


@pytest.mark.parametrize("estimate", [np.float64(0.5), np.array([0.4, 0.6]).mean()])
def test_numbers_out_of_arrays_are_refused(estimate):
    """An acceptance rate measured on the data is not public."""
    for arguments in ({"p_hi": estimate}, {"p_hi": 0.5, "p_lo": estimate}):
        with pytest.raises(TypeError, match="comes out of an array"):
            RuntimeCost("simple", Dg=0.5, **arguments)
    with pytest.raises(TypeError, match="comes out of an array"):
        RuntimeCost("simple", p_hi=0.5, Dg=estimate)
    with pytest.raises(TypeError, match="comes out of an array"):
        Public(estimate)
    assert RuntimeCost("simple", p_hi=Public(0.5), Dg=0.5) == simple(0.5)


def test_arithmetic_loses_the_declaration():
    assert type(Public(0.5) * 2) is float
    assert repr(Public(0.5)) == "Public(0.5)"
    assert Public(1) == 1.0


def test_text_keeps_the_kind_and_the_counts():
    cost = RuntimeCost("batched", p_lo=0.1, p_hi=0.9, batch=12, n_samples=3)
    twin = Guarantee.from_json(cost.to_json())
    assert twin == cost
    assert (twin.kind, twin.batch, twin.n_samples) == ("batched", 12, 3)


# --- joined with the draw -------------------------------------------------------------


def test_the_product_rule():
    """Randomised response beside a geometric time, exactly."""
    loop = RuntimeCost("simple", p_lo=0.3, p_hi=0.5)
    joint = with_runtime(PureDP(1.0), loop)
    known = [0.1831954058, 0.0634485257]
    assert joint.delta([1.0, 2.0]) == pytest.approx(known, abs=6e-11)
    assert joint.observes == BOTH


def test_a_loop_whose_acceptance_may_be_sure_tells_that_much_at_every_epsilon():
    loop = RuntimeCost("simple", p_hi=1.0, Dg=0.5)
    joint = with_runtime(PureDP(1.0), loop)
    assert joint.delta([5.0, 20.0]) == pytest.approx(1 - math.exp(-0.5))
    assert joint.epsilon(0.1) == math.inf


def test_a_fixed_number_of_steps_is_covered_for_nothing():
    for output in (PureDP(1.0), GaussianDP(0.3), compose(PureDP(0.1), GaussianDP(0.3))):
        joint = with_runtime(output, RuntimeCost("constant"))
        assert joint.observes == BOTH
        assert joint.delta(0.4) == output.delta(0.4)


def test_the_batched_loop_adds_a_delta():
    cost = RuntimeCost("batched", p_lo=0.3, p_hi=0.5, batch=20)
    joint = with_runtime(PureDP(1.0), cost)
    assert joint.delta(1.0) == pytest.approx(7.9533e-4, rel=1e-5)
    assert joint.delta(1.0) <= 0.7**20 == pytest.approx(7.97923e-4, rel=1e-5)
    approximate = with_runtime(ApproximateDP(1.0, 1e-6), cost)
    assert approximate.delta(1.0) <= 1e-6 + 0.7**20


def test_the_squeeze_multiplies_the_density():
    cost = RuntimeCost("slack_squeeze", p_lo=math.exp(-0.1), p_hi=1.0)
    joint = with_runtime(PureDP(1.0), cost)
    assert joint.epsilon(0.0) == pytest.approx(1.2)
    assert joint.observes == BOTH
    with pytest.raises(TypeError, match="needs a pure guarantee"):
        with_runtime(GaussianDP(1.0), cost)


def test_joining_is_about_one_release():
    loop = simple(0.5)
    with pytest.raises(AdjacencyMismatchError):
        with_runtime(PureDP(1.0, adjacency="replace-one"), loop)
    with pytest.raises(TypeError, match="cost is not the cost of a loop"):
        with_runtime(PureDP(1.0), PureDP(1.0))
    with pytest.raises(ValueError, match="does not cover the output"):
        with_runtime(loop, loop)
    with pytest.raises(ValueError, match="nothing in common"):
        compose(PureDP(1.0), loop)


# --- truncation -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ((1.0, 0.03125, 0.16807, 0.0), 0.100023434728),
        ((1.0, 0.16807, 0.03125, 0.0), 0.0831236928607),
        ((0.5, 0.0, 1e-6, 0.0), 6.22459331202e-7),
        ((0.5, 1e-6, 0.0, 0.0), 1e-6),
        ((1.0, 1e-3, 1e-4, 1e-5), 0.000738161817154),
        ((0.0, 0.01, 0.02, 0.0), 0.01),
        ((0.5, 0.01, 0.02, 0.0), 0.00622459331),
    ],
)
def test_known_values_of_the_truncated_draw(arguments, value):
    assert truncation_delta(*arguments) == pytest.approx(value, rel=1e-9)


@settings(deadline=None, max_examples=60, derandomize=True)
@given(
    st.floats(0.0, 2.0), st.floats(0.0, 0.5), st.floats(0.0, 0.5), st.floats(0.0, 0.2)
)
def test_the_truncated_draw_is_the_enumerated_one(epsilon, q, q_other, delta):
    """All 32 events of the dominating pair: four atoms and the failure."""
    k = math.exp(epsilon)
    draw = np.array([delta, (1 - delta) * k / (1 + k), (1 - delta) / (1 + k), 0.0])
    other = draw[::-1]
    P = np.append((1 - q) * draw, q)
    Q = np.append((1 - q_other) * other, q_other)
    events = np.array(list(itertools.product([0.0, 1.0], repeat=5)))
    exact = np.max(events @ (P - k * Q))
    value = truncation_delta(epsilon, q, q_other, delta)
    assert value == pytest.approx(exact, abs=1e-12)
    assert value <= delta + max(q, q_other) + 1e-12


@pytest.mark.parametrize(
    ("p_lo", "delta", "size"),
    [
        (0.05, 1e-6, 270),
        (0.1, 1e-10, 219),
        (math.tanh(0.5), 1e-12, 45),
        (0.5, 2.0**-40, 40),
        (math.exp(-1.0), 1e-9, 46),
        (0.5, 1e-9, 30),
        (0.25, 1e-9, 73),
        (0.1, 1e-9, 197),
        (0.01, 1e-9, 2062),
        (0.001, 1e-9, 20713),
        (0.462117, 1e-6, 23),
        (0.001, 1e-12, 27618),
        (1.0, 1e-9, 1),
    ],
)
def test_sizes_of_batches(p_lo, delta, size):
    assert truncation_size(p_lo, delta) == size


@settings(deadline=None, max_examples=300, derandomize=True)
@given(st.floats(1e-6, 1.0), st.floats(1e-15, 0.999))
def test_batches_fail_no_more_often_than_asked(p_lo, delta):
    size = truncation_size(p_lo, delta)
    assert type(size) is int
    assert (1.0 - p_lo) ** size <= delta * (1 + 1e-12)


@pytest.mark.parametrize("bad", [0.0, -1.0, 1.5])
def test_sizes_need_probabilities(bad):
    with pytest.raises(ValueError, match="p_lo is out of range"):
        truncation_size(bad, 1e-6)
    with pytest.raises(ValueError, match="delta is out of range"):
        truncation_size(0.5, bad)


@pytest.mark.parametrize(
    ("n", "size", "failure"), [(1000, 4828, 9.71e-13), (10_000, 42_494, 9.83e-13)]
)
def test_sizes_of_pools(n, size, failure):
    assert pool_size(n, 0.25, 1e-12) == size
    assert pool_failure(size, 0.25, n) == pytest.approx(failure, rel=1e-3)
    assert pool_failure(size - 1, 0.25, n) > 1e-12


def test_a_pool_for_one_is_a_batch():
    for p_lo in (0.05, 0.3, 0.9, 1.0):
        for delta in (1e-3, 1e-9):
            # a batch may be one larger, against rounding
            assert truncation_size(p_lo, delta) - pool_size(1, p_lo, delta) in (0, 1)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: truncation_delta(1, 2.0, -1.0, 0), "q"),
        (lambda: truncation_delta(1, 0.1, -1.0, 0), "q_other"),
        (lambda: truncation_delta(-1, 0.1, 0.1, 0), "epsilon"),
        (lambda: truncation_delta(math.nan, 0.1, 0.1, 0), "epsilon"),
        (lambda: truncation_delta(1, 0.1, 0.1, 1.0), "delta"),
        (lambda: truncation_delta(1, 0.1, 0.1, -0.1), "delta"),
        (lambda: pool_failure(5, 0.5, 6), "size"),
        (lambda: pool_failure(5, 1.5, 2), "p_lo"),
        (lambda: pool_failure(5, 0.0, 2), "p_lo"),
        (lambda: pool_failure(5, math.nan, 2), "p_lo"),
        (lambda: pool_failure(5, 0.5, 0), "n_samples"),
        (lambda: pool_size(0, 0.5, 0.1), "n_samples"),
        (lambda: pool_size(2, 0.0, 0.1), "p_lo"),
        (lambda: pool_size(2, 0.5, 0.0), "delta"),
        (lambda: joint_loop_delta(-1, 0.3, 0.3, 0.5), "epsilon"),
        (lambda: joint_loop_delta(1, 0.0, 0.3, 0.5), "p"),
        (lambda: joint_loop_delta(1, 0.3, 1.0, 0.5), "q"),
        (lambda: joint_loop_delta(1, 0.3, 0.3, 101.0), "Dg"),
    ],
)
def test_closed_forms_refuse_what_is_out_of_range(call, name):
    with pytest.raises(ValueError, match=rf"^{name} (is out of range|must)"):
        call()


@pytest.mark.parametrize("arguments", [(1, 0.3, 0.9, 0.5), (1, 0.3, 0.3, 0.0)])
def test_the_joint_form_refuses_targets_that_do_not_exist(arguments):
    with pytest.raises(ValueError, match="no target has these numbers"):
        joint_loop_delta(*arguments)


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 30.0, 800.0, 1e6])
def test_closed_forms_are_probabilities(epsilon):
    rng = np.random.default_rng(0)
    for _ in range(50):
        q, other, delta = rng.random(3)
        assert 0.0 <= truncation_delta(epsilon, q, other, delta) <= 1.0
        Dg = 10 ** rng.uniform(-3, 2)
        p = rng.uniform(0.01, 0.99)
        q = min(p * math.exp(rng.uniform(-Dg, Dg)), 0.99)
        assert 0.0 <= joint_loop_delta(epsilon, p, q, Dg) <= 1.0
