"""What holds for every guarantee, whatever its notion."""

import copy
import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdp.accounting import (
    Adjacency,
    ApproximateDP,
    Composed,
    ConservativeObjectiveDP,
    GaussianDP,
    Guarantee,
    ObjectivePerturbationDP,
    PreconditionedPerturbationDP,
    PureDP,
    RejectionLoopDP,
    ReportedPerturbationDP,
    RuntimeCost,
    Simultaneous,
    SmoothedGaussianDP,
    SoftmaxPerturbationDP,
    ThreePointDP,
    TiltedObjectiveDP,
    TradeoffDP,
    ZeroConcentratedDP,
    compose,
)
from skdp.accounting._numbers import first_at_most
from skdp.exceptions import AdjacencyMismatchError

KNOTS = [(0.0, 1.0), (0.1, 0.6), (0.5, 0.1), (1.0, 0.0)]
ALL = [
    PureDP(0.7),
    ApproximateDP(0.7, 1e-3),
    GaussianDP(0.9),
    ZeroConcentratedDP(0.05),
    ThreePointDP(0.4, 0.3, 5),
    TradeoffDP(KNOTS),
    SmoothedGaussianDP(0.9, 1e-3),
    ObjectivePerturbationDP(0.25, 0.9, 1e-6),
    ObjectivePerturbationDP(0.25, 3.0),
    ObjectivePerturbationDP(0.1, 0.25, 1e-8, adjacency="replace-one"),
    TiltedObjectiveDP(0.25, 0.1, 0.3, 0.9, 0.5, 1e-6),
    TiltedObjectiveDP(0.1, 0.1, 0.06, adjacency="replace-one"),
    SoftmaxPerturbationDP(0.25, 0.3, 4, 1e-6),
    SoftmaxPerturbationDP(0.25, 0.01, 3),
    SoftmaxPerturbationDP(0.1, 0.06, 3, adjacency="replace-one"),
    ConservativeObjectiveDP(0.2, 0.05, 1e-6),
    PreconditionedPerturbationDP(0.08, (0.22,), 0.9, smoothing_rho=1e-7),
    PreconditionedPerturbationDP(0.2, (0.2, 0.5), 0.8, "log-cosh"),
    ReportedPerturbationDP(0.25, 0.9, 0.2, 0.1, 1e-6),
    ReportedPerturbationDP(0.1, 0.25, 0.03, adjacency="replace-one"),
    RuntimeCost("simple", p_hi=0.6, Dg=0.3),
    RuntimeCost("batched", p_lo=0.1, p_hi=0.9, Dg=0.3, batch=12),
    RuntimeCost("truncated", p_lo=0.1, p_hi=0.9, Dg=0.3, batch=12),
    RuntimeCost("padded", Dg=0.2, n_samples=2),
    RejectionLoopDP(0.6, 0.3, adjacency="replace-one"),
    compose(PureDP(0.1), PureDP(0.1), GaussianDP(0.3)),
    compose(PureDP(0.1), ApproximateDP(0.2, 1e-4)),
    compose(PureDP(0.1), ZeroConcentratedDP(0.01), GaussianDP(0.1)),
    # the smaller of two profiles; convex, or not
    Simultaneous((PureDP(0.7), PureDP(0.5))),
    Simultaneous(
        (
            GaussianDP(0.4, adjacency="replace-one"),
            ZeroConcentratedDP(0.05, adjacency="replace-one"),
        ),
        adjacency="replace-one",
    ),
]
#: Profiles that are exact for some mechanism, hence convex in exp(epsilon).
CONVEX = [g for g in ALL if str(g.adjacency) == "add-remove"]
every = pytest.mark.parametrize("g", ALL, ids=lambda g: repr(g)[:60])


def test_every_notion_is_in_the_list():
    kinds = {c for c in Guarantee._kinds.values() if "skdp" in c.__module__}
    assert kinds == {type(g) for g in ALL}


@every
def test_delta_is_a_probability_that_falls(g):
    epsilon = np.linspace(-3.0, 4.0, 141)
    values = g.delta(epsilon)
    assert (values >= 0.0).all()
    assert (values <= 1.0).all()
    assert (np.diff(values) <= 1e-12).all()
    assert (values >= -np.expm1(epsilon) - 1e-12).all()


@pytest.mark.parametrize("g", CONVEX, ids=lambda g: repr(g)[:60])
def test_profile_is_convex_in_the_odds(g):
    t = np.linspace(1.0, 12.0, 111)
    values = g.delta(np.log(t))
    assert (np.diff(values, 2) >= -1e-9).all()


@every
def test_scalars_give_floats_and_arrays_keep_their_shape(g):
    assert type(g.delta(0.5)) is float
    assert type(g.tradeoff(0.5)) is float
    assert g.delta([[0.1, 0.2], [0.3, 0.4]]).shape == (2, 2)
    assert g.tradeoff(np.full((2, 1), 0.5)).shape == (2, 1)
    assert g.delta([]).shape == (0,)
    assert g.delta(1) == g.delta(np.float32(1.0)) == g.delta([1.0])[0]


@every
def test_infinite_epsilons_give_the_limits(g):
    floor, ceiling = g.delta([math.inf, -math.inf])
    assert floor <= g.delta(1e6) + 1e-15
    assert ceiling == pytest.approx(1.0)


@every
@pytest.mark.parametrize("delta", [0.3, 1e-2, 1e-5, 1e-9])
def test_epsilon_inverts_delta_to_the_safe_side(g, delta):
    epsilon = g.epsilon(delta)
    if math.isfinite(epsilon):
        assert g.delta(epsilon) <= delta
        if epsilon > 0.0 and g.epsilon(0.0) != epsilon:
            assert g.delta(epsilon * (1 - 1e-9)) > delta * (1 - 1e-6)
    else:
        assert g.delta(1e8) > delta


@every
def test_tradeoff_and_profile_say_the_same(g):
    """Each supporting line lies below the curve; each point lies on some line."""
    alpha = np.array([0.0, 1e-9, 1e-3, 0.05, 0.2, 0.4, 0.7, 0.95, 0.999, 1.0])
    f = g.tradeoff(alpha)
    assert (np.diff(f) <= 1e-12).all()
    for epsilon in (0.0, 0.3, 1.0):
        line = 1.0 - g.delta(epsilon) - math.exp(epsilon) * alpha
        assert (f >= line - 2e-6).all()
        assert (f >= math.exp(-epsilon) * (1 - g.delta(epsilon) - alpha) - 2e-6).all()
    generic = Guarantee._tradeoff(g, alpha)
    assert (generic <= f + 1e-9).all()
    assert generic == pytest.approx(f, abs=2e-3)


@every
def test_risk_reads_off_the_curve(g):
    risk = g.risk()
    assert risk.advantage == g.delta(0.0)
    assert set(risk.tpr_at_fpr) == {0.05, 0.01, 0.001}
    for alpha, found in risk.tpr_at_fpr.items():
        assert alpha <= found + 1e-9
        assert found == pytest.approx(1.0 - g.tradeoff(alpha), abs=1e-6)
    assert "1 % false alarms" in str(risk)
    assert hash(risk) == hash(g.risk())


@every
def test_text_pickle_and_copy_give_the_same_value(g):
    g = copy.copy(g)
    object.__setattr__(g, "assumptions", ("a < b", 'quote "'))
    object.__setattr__(g, "source", "théorème")
    for twin in (
        Guarantee.from_json(g.to_json()),
        type(g).from_json(g.to_json()),
        pickle.loads(pickle.dumps(g)),
        copy.deepcopy(g),
    ):
        assert twin == g
        assert hash(twin) == hash(g)
        assert twin.to_json() == g.to_json()
        assert twin.delta(0.31) == g.delta(0.31)


@every
def test_values_are_frozen_and_typos_raise(g):
    with pytest.raises((AttributeError, TypeError)):
        g.adjacency = Adjacency.REPLACE_ONE
    with pytest.raises((AttributeError, TypeError)):
        g.muu = 1.0


@every
def test_replacement_costs_at_least_as_much_and_is_one_way(g):
    pair = g.to_replace_one()
    assert pair.adjacency is Adjacency.REPLACE_ONE
    assert pair.to_replace_one() is pair
    epsilon = np.linspace(0.0, 3.0, 7)
    assert (pair.delta(epsilon) >= g.delta(epsilon) - 1e-12).all()


@every
def test_groups_never_change_the_neighbours(g):
    assert g.group(1) is g
    if isinstance(
        g,
        ObjectivePerturbationDP
        | ReportedPerturbationDP
        | TiltedObjectiveDP
        | SoftmaxPerturbationDP
        | ConservativeObjectiveDP
        | PreconditionedPerturbationDP,
    ):
        with pytest.raises(TypeError, match="no group rule"):
            g.group(2)
    else:
        assert g.group(2).adjacency is g.adjacency
        assert g.group(2).delta(0.5) >= g.delta(0.5)


@every
def test_a_guarantee_implies_itself_and_never_less_than_it_says(g):
    assert g.implies(copy.copy(g))
    delta = g.delta(0.4)
    same = {"adjacency": g.adjacency, "observes": g.observes}
    if delta < 0.999:
        assert g.implies(ApproximateDP(0.4, min(delta * 1.01, 0.999), **same))
    if delta > 0:
        assert not g.implies(ApproximateDP(0.4, delta * 0.99, **same))
    assert not g.implies(PureDP(1e-6, **same))


def test_replacement_numbers():
    assert PureDP(0.7).to_replace_one() == PureDP(1.4, adjacency="replace-one")
    assert GaussianDP(0.7).to_replace_one() == GaussianDP(1.4, adjacency="replace-one")
    z = ZeroConcentratedDP(0.7).to_replace_one()
    assert z == ZeroConcentratedDP(2.8, adjacency="replace-one")
    a = ApproximateDP(0.5, 1e-6).to_replace_one()
    assert a.delta_bound == pytest.approx(1e-6 * (1 + math.exp(0.5)))


@pytest.mark.parametrize(
    ("given", "wanted", "answer"),
    [
        (PureDP(1.0), GaussianDP(1.2339), True),
        (PureDP(1.0), GaussianDP(1.2), False),
        (PureDP(1.0), ZeroConcentratedDP(math.tanh(0.5)), True),
        (PureDP(1.0), ZeroConcentratedDP(0.46), False),
        (GaussianDP(1.0), ZeroConcentratedDP(0.5), True),
        (GaussianDP(1.0), ZeroConcentratedDP(0.49), False),
        (ZeroConcentratedDP(0.5), GaussianDP(1.0), False),
        (ZeroConcentratedDP(0.3), ZeroConcentratedDP(0.4), True),
        (GaussianDP(1.0), PureDP(100.0), False),
        (ApproximateDP(1.0, 1e-6), GaussianDP(5.0), False),
        (ApproximateDP(1.0, 1e-3), ApproximateDP(0.5, 1e-3), False),
        (GaussianDP(0.9), SmoothedGaussianDP(1.0, 1e-4), True),
        (SmoothedGaussianDP(0.9, 1e-4), GaussianDP(1.0), True),
        (SmoothedGaussianDP(1.0, 1e-4), GaussianDP(1.0), False),
        (ObjectivePerturbationDP(0.2, 0.1), ObjectivePerturbationDP(0.3, 0.2), True),
        (ObjectivePerturbationDP(0.24, 0.1), GaussianDP(0.25), True),
        (ObjectivePerturbationDP(0.24, 4.0), GaussianDP(0.25), False),
        (SmoothedGaussianDP(1.0, 1e-4), ZeroConcentratedDP(9.0), False),
        (TradeoffDP(KNOTS), PureDP(math.log(5.0)), True),
        (TradeoffDP(KNOTS), TradeoffDP([(0.0, 0.9), *KNOTS[1:]]), True),
        # profiles too close to settle: the answer errs to no
        (SmoothedGaussianDP(1.0, 0.0), GaussianDP(1.0), False),
        (ObjectivePerturbationDP(0.2, 0.1), ObjectivePerturbationDP(0.1, 0.2), False),
        (compose(PureDP(0.1), PureDP(0.2)), compose(PureDP(0.1), PureDP(0.4)), True),
        # a profile proves nothing about notions that compose by more than theirs
        (GaussianDP(0.1), ObjectivePerturbationDP(1.0, 0.1), False),
        (GaussianDP(0.1), compose(PureDP(0.1), GaussianDP(0.2)), True),
        (GaussianDP(0.3), compose(PureDP(0.1), GaussianDP(0.2)), False),
        (TradeoffDP([(0.0, 0.9), *KNOTS[1:]]), TradeoffDP(KNOTS), False),
        (Simultaneous((PureDP(0.7), GaussianDP(0.4))), PureDP(0.7), True),
        (Simultaneous((PureDP(0.7), GaussianDP(0.4))), GaussianDP(0.4), True),
        (Simultaneous((PureDP(0.7), GaussianDP(0.4))), PureDP(0.6), False),
        (Simultaneous((PureDP(0.7), GaussianDP(0.4))), GaussianDP(0.3), False),
        (PureDP(0.1), Simultaneous((PureDP(0.7), GaussianDP(0.4))), True),
        (PureDP(0.6), Simultaneous((PureDP(0.7), GaussianDP(0.4))), False),
        (GaussianDP(0.4), Simultaneous((PureDP(9.0), GaussianDP(0.4))), False),
    ],
)
def test_implication(given, wanted, answer):
    assert given.implies(wanted) is answer


def test_different_neighbours_do_not_compare():
    with pytest.raises(AdjacencyMismatchError, match=r"add-remove.*replace-one"):
        PureDP(1.0).implies(PureDP(1.0, adjacency="replace-one"))
    with pytest.raises(TypeError, match="a guarantee was expected"):
        PureDP(1.0).implies(1.0)


@pytest.mark.parametrize("bad", [math.nan, -1.0, math.inf, -math.inf])
@pytest.mark.parametrize(
    ("make", "name"),
    [
        (PureDP, "epsilon"),
        (lambda v: ApproximateDP(v, 0.1), "epsilon"),
        (lambda v: ApproximateDP(0.1, v), "delta"),
        (GaussianDP, "mu"),
        (ZeroConcentratedDP, "rho"),
        (lambda v: SmoothedGaussianDP(0.1, v), "smoothing_rho"),
        (lambda v: ObjectivePerturbationDP(0.1, v), "curvature"),
        (lambda v: PureDP(1.0).epsilon(v), "delta"),
        (lambda v: PureDP(1.0).tradeoff(v), "alpha"),
    ],
)
def test_numbers_out_of_range_are_refused_by_name(make, name, bad):
    with pytest.raises(ValueError, match=f"^{name} "):
        make(bad)


@pytest.mark.parametrize("bad", ["1", True, None, 1 + 0j, np.array([1.0])])
def test_things_that_are_not_one_number_are_refused(bad):
    for make, name in [(PureDP, "epsilon"), (GaussianDP, "mu")]:
        with pytest.raises(TypeError, match=f"^{name} must be a real number"):
            make(bad)
    with pytest.raises(TypeError, match=r"^delta must be a real number"):
        PureDP(1.0).epsilon(bad)


def test_numpy_scalars_are_numbers():
    assert PureDP(np.float32(1)) == PureDP(np.int64(1)) == PureDP(1)
    assert hash(PureDP(-0.0)) == hash(PureDP(0.0))


@pytest.mark.parametrize("k", [0, -1])
def test_groups_need_people(k):
    with pytest.raises(ValueError, match="k is out of range"):
        PureDP(1.0).group(k)


@pytest.mark.parametrize("k", [1.5, True, "2"])
def test_group_sizes_are_integers(k):
    with pytest.raises(TypeError, match="k must be an integer"):
        PureDP(1.0).group(k)


@pytest.mark.parametrize("bad", ["a", True, None, [1j]])
def test_epsilons_are_real(bad):
    with pytest.raises(TypeError, match="epsilon must hold real numbers"):
        PureDP(1.0).delta(bad)


def test_nan_epsilon_is_refused():
    with pytest.raises(ValueError, match="epsilon must not be nan"):
        PureDP(1.0).delta([0.0, math.nan])


def test_fields_beside_the_numbers_are_checked():
    with pytest.raises(ValueError, match="adjacency is not a neighbouring relation"):
        PureDP(1.0, adjacency="bounded")
    for bad in ("one string", [1], 3):
        with pytest.raises(TypeError, match="assumptions must be a sequence"):
            PureDP(1.0, assumptions=bad)
    assert PureDP(1.0, assumptions=["a"]).assumptions == ("a",)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "3",
        "{}",
        json.dumps({"kind": "os.system", "numbers": {}}),
        PureDP(1.0).to_json().replace("epsilon_bound", "typo"),
        PureDP(1.0)
        .to_json()
        .replace('"numbers": {', '"numbers": [{')
        .replace("}, ", "}], "),
    ],
)
def test_other_texts_are_refused(text):
    with pytest.raises(ValueError, match="text is not a"):
        Guarantee.from_json(text)


def test_another_notion_is_refused():
    with pytest.raises(ValueError, match="another notion"):
        GaussianDP.from_json(PureDP(1.0).to_json())


def test_composed_keeps_its_parts_through_text():
    g = compose(PureDP(0.1), GaussianDP(0.3))
    assert Composed.from_json(g.to_json()).parts == g.parts


def test_published_risks():
    """Advantage and true-positive rate of the Gaussian curve at (epsilon, 1e-6)."""
    for mu, advantage, found in [(0.2367, 0.094, 0.0183), (1.02, 0.390, 0.0958)]:
        risk = GaussianDP(mu).risk()
        assert risk.advantage == pytest.approx(advantage, abs=1e-3)
        assert risk.tpr_at_fpr[0.01] == pytest.approx(found, abs=2e-4)
    assert PureDP(1.0).risk().advantage == pytest.approx(math.tanh(0.5))
    assert PureDP(1.0).risk().tpr_at_fpr[0.01] == pytest.approx(0.0272, abs=1e-4)


def finite_pair(draw):
    p = np.array(draw, dtype=float)
    p = p / p.sum()
    return p, p[::-1]


@settings(deadline=None, max_examples=50, derandomize=True)
@given(st.lists(st.floats(0.05, 1.0), min_size=2, max_size=5))
def test_finite_mechanisms_stay_below_every_conversion(draw):
    """Enumeration of a symmetric pair against pure, zCDP, GDP and trade-off forms."""
    p, q = finite_pair(draw)
    pure = PureDP(float(np.abs(np.log(p / q)).max()))
    rho = pure.epsilon_bound * math.tanh(pure.epsilon_bound / 2)
    order = np.argsort(q / p)
    alpha = np.concatenate([[0.0], np.cumsum(q[order])])
    beta = np.concatenate([[1.0], 1.0 - np.cumsum(p[order])])
    alpha[-1], beta[-1] = 1.0, 0.0
    corners = TradeoffDP(list(zip(alpha, np.maximum(beta, 0.0), strict=True)))
    for epsilon in (0.0, 0.1, 0.5, 1.5):
        truth = np.maximum(p - math.exp(epsilon) * q, 0.0).sum()
        assert truth <= pure.delta(epsilon) + 1e-14
        assert truth <= ZeroConcentratedDP(rho).delta(epsilon) + 1e-14
        assert corners.delta(epsilon) == pytest.approx(truth, abs=1e-12)
    for a in (1.01, 2.0, 10.0):
        renyi = math.log(np.sum(p**a * q ** (1 - a))) / (a - 1)
        assert renyi <= a * rho + 1e-12


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (PureDP(1.0 + 9e-13), PureDP(1.0)),
        (GaussianDP(1.0 + 9e-13), GaussianDP(1.0)),
        (ApproximateDP(1.0, 1e-6 * (1 + 9e-13)), ApproximateDP(1.0, 1e-6)),
        (ZeroConcentratedDP(1.0 + 9e-13), ZeroConcentratedDP(1.0)),
        (PureDP(math.nextafter(1.0, 2.0)), PureDP(1.0)),
        (
            TradeoffDP([(0.0, 1.0 - 1e-15), (1.0, 0.0)]),
            TradeoffDP([(0.0, 1.0), (1.0, 0.0)]),
        ),
    ],
)
def test_a_hair_more_implies_nothing_and_a_hair_less_does(given, wanted):
    assert not given.implies(wanted)
    assert wanted.implies(given)


def test_a_bare_string_is_no_sequence():
    with pytest.raises(TypeError, match="assumptions must be a sequence of strings"):
        PureDP(1.0, assumptions="abc")
    with pytest.raises(TypeError, match="parts must be a sequence of guarantees"):
        Composed("abc")
    text = PureDP(1.0, assumptions=("abc",)).to_json().replace('["abc"]', '"abc"')
    with pytest.raises(ValueError, match="text is not a guarantee"):
        Guarantee.from_json(text)


def test_a_search_finds_the_start_of_a_plateau():
    """Every delta between two steps of the profile has the same epsilon."""

    def stairs(x):
        return np.where(x < 0.7, 1.0, np.where(x < 3.0, 0.25, 0.0))

    for target, first in ((0.25, 0.7), (0.3, 0.7), (0.1, 3.0), (0.0625, 3.0)):
        found = first_at_most(stairs, target)
        assert first <= found <= first * (1 + 1e-15)
        assert stairs(np.array([found]))[0] <= target
    assert first_at_most(stairs, 1.0) == 0.0
    assert first_at_most(np.ones_like, 0.5) == math.inf
    assert first_at_most(lambda x: 1.0 - np.sign(x), 0.5) < 1e-29
