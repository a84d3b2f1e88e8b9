"""Guarantees of several parts beside every loop: what they cover is kept throughout."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

from skdp.accounting import (
    ApproximateDP,
    Channel,
    Composed,
    GaussianDP,
    Guarantee,
    PureDP,
    RejectionLoopDP,
    RuntimeCost,
    Simultaneous,
    ZeroConcentratedDP,
    compose,
    with_runtime,
)

BOTH = frozenset(Channel)
OUTPUT = frozenset({Channel.OUTPUT})
EPSILONS = np.array([0.0, 0.3, 1.0, 2.5])

PURE, BLUR = PureDP(0.4), ZeroConcentratedDP(0.02)
ALTERNATIVES = Simultaneous((PURE, BLUR), assumptions=("finite scores",))
MIXED = compose(PureDP(0.2), GaussianDP(0.3))
OUTPUTS = {
    "atomic": PURE,
    "simultaneous": ALTERNATIVES,
    "composed": MIXED,
    "composed by hand": Composed((PURE, ALTERNATIVES)),
    "simultaneous of composed": Simultaneous((PureDP(1.0), MIXED)),
    "simultaneous twice": Simultaneous((ALTERNATIVES, GaussianDP(0.4))),
    "compose of simultaneous": compose(ALTERNATIVES, GaussianDP(0.1)),
}
COSTS = {
    "constant": RuntimeCost("constant", assumptions=("fixed",)),
    "simple": RuntimeCost("simple", p_hi=0.5, Dg=0.2, assumptions=("public",)),
    "simple, several": RuntimeCost("simple", p_hi=0.5, Dg=0.2, n_samples=3),
    "batched": RuntimeCost("batched", p_lo=0.25, p_hi=1.0, batch=97),
    "truncated": RuntimeCost("truncated", p_lo=0.25, p_hi=1.0, batch=97),
    "padded": RuntimeCost("padded", Dg=0.01),
    "slack_squeeze": RuntimeCost("slack_squeeze", p_lo=0.9, p_hi=1.0),
}
PAIRS = [
    pytest.param(output, cost, id=f"{first}, {second}")
    for first, output in OUTPUTS.items()
    for second, cost in COSTS.items()
    # a squeeze needs a pure guarantee
    if second != "slack_squeeze" or output.epsilon(0.0) < math.inf
]


def about_one_thing(g, channels=BOTH):
    """Tell whether the whole and all parts are about exactly these channels."""
    parts = getattr(g, "parts", ())
    return g.observes == channels and all(about_one_thing(p, channels) for p in parts)


@pytest.mark.parametrize(("output", "cost"), PAIRS)
def test_draw_and_time_are_covered_whatever_was_proved_how(output, cost):
    total = with_runtime(output, cost)
    assert total.observes == BOTH
    assert about_one_thing(total)
    assert set(total.assumptions) >= {*output.assumptions, *cost.assumptions}
    # not less than of the draw alone, but for profiles that are not convex: numerical
    # composition mends them a little
    assert (total.delta(EPSILONS) >= 0.9 * output.delta(EPSILONS) - 1e-12).all()


@pytest.mark.parametrize(("output", "cost"), PAIRS)
def test_what_is_covered_survives_every_conversion(output, cost):
    total = with_runtime(output, cost)
    assert Guarantee.from_json(total.to_json()) == total
    assert pickle.loads(pickle.dumps(total)) == total
    assert replace(total, source="elsewhere").observes == BOTH
    for made in (total.group(2), total.to_replace_one(), compose(total, total)):
        assert about_one_thing(made)
    assert about_one_thing(compose(total, PureDP(0.1, observes=BOTH)))
    # a release about the output alone makes the sum one
    assert compose(total, PureDP(0.1)).observes == OUTPUT
    assert compose(PureDP(0.1), total, ALTERNATIVES).observes == OUTPUT
    narrow = total._watching(OUTPUT)
    assert about_one_thing(narrow, OUTPUT)
    assert (narrow.delta(EPSILONS) == total.delta(EPSILONS)).all()
    assert total.implies(narrow)
    assert not narrow.implies(total)


@pytest.mark.parametrize("output", OUTPUTS.values(), ids=OUTPUTS)
def test_fixed_work_changes_nothing_but_what_is_covered(output):
    total = with_runtime(output, RuntimeCost("constant"))
    assert type(total) is type(output)
    assert total._watching(OUTPUT) == output
    assert (total.delta(EPSILONS) == output.delta(EPSILONS)).all()
    twice, alone = compose(total, total), compose(output, output)
    assert twice.delta(EPSILONS) == pytest.approx(alone.delta(EPSILONS), abs=1e-12)


def test_every_notion_of_parts_is_among_these():
    """A guarantee that holds others is covered by the tests above."""
    notions = {
        kind
        for kind in Guarantee._kinds.values()
        if "parts" in kind._own_fields() and kind.__module__.startswith("skdp")
    }
    assert notions == {Simultaneous, Composed}


def test_alternatives_never_say_more_than_the_whole():
    """Parts may cover the time while the whole claims the output only."""
    wide = PureDP(0.4, observes=BOTH)
    whole = Simultaneous((wide, wide), observes=OUTPUT)
    assert compose(whole, whole).observes == OUTPUT
    assert compose(whole, wide).observes == OUTPUT


@pytest.mark.parametrize("n", [2, 3])
def test_nothing_in_common_is_named(n):
    parts = (
        PureDP(1.0),
        RuntimeCost("simple", p_hi=0.5, Dg=0.5),
        RejectionLoopDP(0.5, 0.5),
    )[:n]
    for order in (parts, parts[::-1]):
        with pytest.raises(ValueError, match="nothing in common") as caught:
            compose(*order)
        assert all(type(g).__name__ in str(caught.value) for g in parts)


# --- groups ---------------------------------------------------------------------------


@pytest.mark.parametrize("Dg", [0.1, 0.7, 30.0, 60.0, 100.0])
@pytest.mark.parametrize("k", [2, 3, 5, 400])
@pytest.mark.parametrize(
    "make",
    [
        lambda Dg: RejectionLoopDP(0.5, Dg, 0.5),
        lambda Dg: RejectionLoopDP(0.5, Dg),
        lambda Dg: RuntimeCost("simple", p_hi=0.5, Dg=Dg),
        lambda Dg: RuntimeCost("simple", p_hi=0.5, p_lo=1e-3, Dg=Dg),
        lambda Dg: RuntimeCost("batched", p_hi=0.5, Dg=Dg, batch=3),
        lambda Dg: RuntimeCost("truncated", p_hi=0.5, p_lo=1e-200, Dg=Dg, batch=3),
    ],
)
def test_groups_cost_what_they_cost_or_are_refused(make, Dg, k):
    single = make(Dg)
    width = math.inf
    if isinstance(single, RuntimeCost) and single.p_lo > 0.0:
        width = math.log(0.5) - math.log(single.p_lo)
    if k * Dg > 100 and width == math.inf:
        with pytest.raises(ValueError, match=f"a group of {k} has Dg"):
            single.group(k)
        return
    group = single.group(k)
    assert group.Dg == min(k * Dg, width)
    assert Guarantee.from_json(group.to_json()) == group


def test_the_draw_of_a_group_is_not_cut():
    assert RejectionLoopDP(0.5, 30.0, 0.5).group(3).epsilon(0.0) == 90.0
    with pytest.raises(ValueError, match="a group of 5"):
        RejectionLoopDP(0.5, 30.0, 0.5).group(5)
    with pytest.raises(ValueError, match="a group of 2"):
        RejectionLoopDP(0.5, 60.0, 0.5).to_replace_one()


def test_a_small_least_acceptance_survives_the_text():
    loop = RuntimeCost("simple", p_lo=1e-60, p_hi=1.0)
    assert loop.Dg > 100
    assert Guarantee.from_json(loop.to_json()) == replace(loop) == loop


def test_a_failure_flag_keeps_alternatives():
    flag = ApproximateDP(0.0, 1e-12, observes=BOTH)
    total = compose(ALTERNATIVES._watching(BOTH), flag)
    assert about_one_thing(total)
    assert total.delta(0.4) <= 1.1e-12
