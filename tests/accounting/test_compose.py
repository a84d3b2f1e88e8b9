"""Composition against closed forms, published values and enumeration."""

import itertools
import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import binom

from skdp.accounting import (
    ApproximateDP,
    Composed,
    GaussianDP,
    ObjectivePerturbationDP,
    PureDP,
    Simultaneous,
    SmoothedGaussianDP,
    TradeoffDP,
    ZeroConcentratedDP,
    compose,
    gaussian_delta,
)
from skdp.accounting import _pld as pld
from skdp.accounting._compose import _plan
from skdp.exceptions import AdjacencyMismatchError

SIGMA = 4.2247
GAUSS = GaussianDP(1 / SIGMA)


def objective(kappa, rho=0.0):
    return ObjectivePerturbationDP(1 / SIGMA, kappa, rho)


def test_equal_notions_add_up_in_closed_form():
    assert compose(GaussianDP(3.0), GaussianDP(4.0)) == GaussianDP(5.0)
    assert compose(*[ZeroConcentratedDP(0.1)] * 10) == ZeroConcentratedDP(1.0)
    assert compose(*[PureDP(0.1)] * 10).epsilon(0.0) == 1.0
    assert compose(*[PureDP(1 / 3)] * 3).epsilon(0.0) == 1.0
    assert compose(PureDP(0.2)) == PureDP(0.2)


def test_hundred_gaussians():
    total = compose(*[GaussianDP(0.1)] * 100)
    assert total.epsilon(1e-6) == pytest.approx(4.886554117, abs=1e-9)


@pytest.mark.parametrize("n", [1, 2, 10, 100, 1000])
@pytest.mark.parametrize("bound", [1e-3, 0.1])
def test_equal_pure_releases_follow_the_binomial(n, bound):
    total = compose(*[PureDP(bound)] * n)
    k = np.arange(n + 1)
    weights = binom.pmf(k, n, expit(bound))
    for share in (0.0, 0.01, 0.3):
        epsilon = share * n * bound
        gap = np.minimum(epsilon - bound * (2 * k - n), 0.0)
        truth = np.sum(weights * -np.expm1(gap))
        assert total.delta(epsilon) == pytest.approx(truth, rel=1e-9, abs=1e-13)


def test_pure_composition_beats_every_older_bound():
    """Basic 10, advanced 6.308231 with slack 1e-6; exactly basic without slack."""
    total = compose(*[PureDP(0.1)] * 100)
    assert total.epsilon(0.0) == 10.0
    assert total.epsilon(1e-6) <= 5.22
    assert compose(*[PureDP(1.0)] * 20).epsilon(1e-6) <= 20.0


@pytest.mark.parametrize(
    ("n", "bound", "epsilon", "digits"),
    [(1000, 1e-5, 0.00074, 1e-5), (100, 0.0123456, 0.490, 1e-3)],
)
def test_small_epsilons_are_not_rounded_to_a_grid(n, bound, epsilon, digits):
    found = compose(*[PureDP(bound)] * n).epsilon(1e-6)
    assert found == pytest.approx(epsilon, abs=digits)


def test_counts_of_equal_releases_are_never_lost():
    """Ten releases of epsilon 1.0987, however they are grouped."""
    part = PureDP(1.0987)
    loop = part
    for _ in range(9):
        loop = compose(loop, part)
    assert loop.epsilon(0.0) == pytest.approx(10.987)
    assert compose(*[part] * 10).epsilon(0.0) == pytest.approx(10.987)
    nested = compose(compose(*[part] * 4), compose(*[part] * 6))
    assert nested.parts == (part,) * 10


def test_pure_and_gaussian_mix_exactly():
    total = compose(*[PureDP(0.1)] * 50, *[GaussianDP(0.1)] * 50)
    assert total.epsilon(1e-6) == pytest.approx(4.833858042, abs=1e-8)
    k = np.arange(51)
    gaps = 2.0 - 0.1 * (2 * k - 50)
    truth = np.sum(binom.pmf(k, 50, expit(0.1)) * gaussian_delta(gaps, math.sqrt(0.5)))
    assert total.delta(2.0) == pytest.approx(truth, rel=1e-9)


def test_numerical_convolution_agrees_with_the_exact_mixture():
    """The error is an overestimate below 1e-6."""
    pure = compose(*[PureDP(0.1)] * 50)
    profile = pld.pair_profile((pure, GaussianDP(math.sqrt(0.5))))
    exact = compose(pure, GaussianDP(math.sqrt(0.5)))
    epsilon = np.array([-1.0, 0.0, 1.0, 3.0, 4.833858042, 7.0])
    remove, add = profile.directed(epsilon)
    assert add is remove
    excess = remove - exact.delta(epsilon)
    assert (excess >= 0.0).all()
    assert (excess <= 1e-6 * exact.delta(epsilon) * 20 + 2e-13).all()
    # the reading of many points agrees with the reading of few
    many = np.linspace(-1.0, 8.0, 500)
    assert profile.directed(many)[0] == pytest.approx(
        np.concatenate([profile.directed(c)[0] for c in np.split(many, 5)]), abs=1e-12
    )
    assert profile.directed(np.full(500, 1e4))[0][0] < 1e-11


@pytest.mark.parametrize(
    ("kappa", "four"), [(1.0, 2.3107), (0.25, 2.1289), (0.05, 2.1261)]
)
def test_four_objective_perturbations(kappa, four):
    total = compose(*[objective(kappa)] * 4)
    assert total.epsilon(1e-6) == pytest.approx(four, abs=5e-5)
    assert total.epsilon(1e-6) > compose(*[GAUSS] * 4).epsilon(1e-6)


def test_four_gaussians_of_the_same_noise():
    assert compose(*[GAUSS] * 4).epsilon(1e-6) == pytest.approx(2.1228, abs=5e-5)


def test_objective_perturbation_and_gaussian():
    total = compose(objective(0.25), GAUSS)
    assert total.epsilon(1e-6) == pytest.approx(1.45467, abs=1e-5)


def test_smoothing_joins_what_it_smooths_in_closed_form():
    rho = 3e-6
    blur = ZeroConcentratedDP(rho)
    epsilon = np.linspace(-1.0, 2.0, 13)
    for joined, whole in [
        (compose(objective(0.9), blur), objective(0.9, rho)),
        (compose(GAUSS, blur), SmoothedGaussianDP(GAUSS.mu, rho)),
    ]:
        assert (joined.delta(epsilon) == whole.delta(epsilon)).all()
    total = compose(*[objective(0.25, rho)] * 4).epsilon(1e-6)
    plain = compose(*[objective(0.25)] * 4).epsilon(1e-6)
    assert plain < total < plain * 1.001


def test_smoothed_parts_compose_through_their_pieces():
    one = SmoothedGaussianDP(0.3, 1e-5)
    total = compose(one, one)
    twice = SmoothedGaussianDP(0.3 * math.sqrt(2.0), 2e-5)
    assert total.epsilon(1e-6) == pytest.approx(twice.epsilon(1e-6), rel=1e-12)
    assert set(total._components()) == {GaussianDP(0.3), ZeroConcentratedDP(1e-5)}


def test_replace_one_composes_too():
    g = ObjectivePerturbationDP(0.1, 0.25, 1e-8, adjacency="replace-one")
    h = GaussianDP(0.2, adjacency="replace-one")
    total = compose(g, h)
    both = compose(h, h).epsilon(1e-6)
    assert both < total.epsilon(1e-6) < both * 1.1
    assert total.epsilon(2e-6) <= g.epsilon(1e-6) + h.epsilon(1e-6)


def test_zcdp_beside_two_notions_needs_the_convex_minorant():
    parts = (objective(0.25), GaussianDP(0.2), ZeroConcentratedDP(0.05))
    total = compose(*parts).epsilon(1e-6)
    gaussian = compose(objective(0.25), GaussianDP(math.hypot(0.2, math.sqrt(0.1))))
    assert gaussian.epsilon(1e-6) < total < sum(g.epsilon(3e-7) for g in parts)


def test_many_unlike_epsilons_use_the_convolution():
    parts = [PureDP(0.05 + 0.001 * i) for i in range(20)]
    total = compose(*parts)
    assert len(_plan(total.parts).rest) == 20
    low = compose(*[PureDP(0.05)] * 20).epsilon(1e-5)
    high = compose(*[PureDP(0.07)] * 20).epsilon(1e-5)
    assert low < total.epsilon(1e-5) < high
    assert total.epsilon(0.0) == pytest.approx(sum(p.epsilon_bound for p in parts))
    assert total.delta(total.epsilon(0.0)) == 0.0


def test_large_epsilon_does_not_overflow():
    total = compose(PureDP(800.0), GaussianDP(1.0), objective(0.25))
    assert 790.0 < total.epsilon(1e-6) < 815.0
    assert math.isfinite(compose(PureDP(1e4), GaussianDP(0.1)).epsilon(1e-9))


def test_approximate_parts_tell_everything_with_their_delta():
    parts = [ApproximateDP(0.5, 1e-3), ApproximateDP(0.2, 2e-3)]
    total = compose(*parts)
    assert total.delta(0.7) == pytest.approx(1 - 0.999 * 0.998)
    assert total.epsilon(3e-3) <= 0.7
    assert total.epsilon(2.9e-3) == math.inf


def test_order_does_not_matter():
    parts = [PureDP(0.1), GaussianDP(0.3), ApproximateDP(0.2, 1e-5), objective(0.3)]
    values = {compose(*p).delta(0.7) for p in itertools.permutations(parts)}
    assert max(values) - min(values) <= 1e-12


@settings(deadline=None, max_examples=30, derandomize=True)
@given(
    st.lists(st.floats(0.01, 1.0), min_size=1, max_size=4),
    st.floats(0.05, 1.0),
    st.floats(1e-7, 1e-2),
)
def test_composing_first_is_never_worse_than_basic(epsilons, mu, delta):
    parts = [*map(PureDP, epsilons), GaussianDP(mu)]
    basic = sum(epsilons) + GaussianDP(mu).epsilon(delta)
    assert compose(*parts).epsilon(delta) <= basic * (1 + 1e-12)


@pytest.mark.parametrize("delta", [1e-5, 1e-9, 1e-16])
def test_unlike_notions_are_never_worse_than_basic(delta):
    parts = (objective(0.25), GaussianDP(0.5), TradeoffDP([(0, 1), (0.4, 0.4), (1, 0)]))
    total = compose(*parts)
    pure = parts[2].epsilon(0.0)
    basic = parts[0].epsilon(delta / 2) + parts[1].epsilon(delta / 2) + pure
    assert total.epsilon(delta) <= 1.1 * basic
    share = np.array([0.5, 1.0, 2.0])
    summed = sum(g.delta(share) for g in parts[:2])
    assert (total.delta(2 * share + pure) <= summed + 1e-15).all()


def finite(weights):
    p = np.array(weights) / np.sum(weights)
    return p, p[::-1]


@settings(deadline=None, max_examples=40, derandomize=True)
@given(
    st.lists(st.floats(0.05, 1.0), min_size=2, max_size=4),
    st.lists(st.floats(0.05, 1.0), min_size=2, max_size=4),
)
def test_enumerated_pairs_stay_below_the_composition(first, second):
    (p1, q1), (p2, q2) = finite(first), finite(second)
    p, q = np.outer(p1, p2), np.outer(q1, q2)
    parts = [
        PureDP(float(np.abs(np.log(a / b)).max())) for a, b in ((p1, q1), (p2, q2))
    ]
    total = compose(*parts)
    for epsilon in (-0.5, 0.0, 0.2, 1.0, 2.0):
        truth = np.maximum(p - math.exp(epsilon) * q, 0.0).sum()
        assert truth <= total.delta(epsilon) + 1e-13


def test_adaptive_choice_of_declared_parts_stays_within_the_composition():
    """Two-step decision trees over randomised response and leaks, enumerated."""
    step = 0.6
    p = expit(step)
    first = (np.array([p, 1 - p]), np.array([1 - p, p]))
    second = [response(0.4), response(0.4)[::-1], response(0.1)]
    total = compose(PureDP(step), PureDP(0.4))
    for choice in itertools.product(second, repeat=2):
        for epsilon in (0.0, 0.3, 0.7, 1.0):
            truth = sum(
                np.maximum(
                    first[0][i] * choice[i][0]
                    - math.exp(epsilon) * first[1][i] * choice[i][1],
                    0,
                ).sum()
                for i in (0, 1)
            )
            assert truth <= total.delta(epsilon) + 1e-14


def response(epsilon):
    p = expit(epsilon)
    return np.array([p, 1 - p]), np.array([1 - p, p])


def test_assumptions_are_joined_in_order():
    total = compose(
        PureDP(0.1, assumptions=("a", "b")), GaussianDP(0.1, assumptions=("b", "c"))
    )
    assert total.assumptions == ("a", "b", "c")
    assert compose(total, PureDP(0.1, assumptions=("d",))).assumptions[-1] == "d"
    merged = compose(GaussianDP(0.1, assumptions=("x",)), GaussianDP(0.1))
    assert merged.assumptions == ("x",)


def test_different_neighbours_do_not_compose():
    with pytest.raises(AdjacencyMismatchError, match=r"add-remove.*replace-one"):
        compose(PureDP(1.0), GaussianDP(1.0, adjacency="replace-one"))
    converted = compose(
        PureDP(1.0).to_replace_one(), PureDP(1.0, adjacency="replace-one")
    )
    assert converted.epsilon(0.0) == 3.0
    with pytest.raises(ValueError, match="adjacency differs"):
        Composed((PureDP(1.0),), adjacency="replace-one")


def test_nothing_does_not_compose():
    with pytest.raises(ValueError, match="nothing to compose"):
        compose()
    with pytest.raises(ValueError, match="parts is empty"):
        Composed(())
    with pytest.raises(TypeError, match="a guarantee was expected"):
        compose(PureDP(1.0), (1.0, 1e-6))


def test_groups_compose_part_by_part():
    group = compose(PureDP(0.1), GaussianDP(0.2)).group(3)
    assert group.parts == (PureDP(0.1).group(3), GaussianDP(0.2).group(3))


def test_composing_nothing_but_free_releases_is_free():
    total = compose(PureDP(0.0), GaussianDP(0.0), ZeroConcentratedDP(0.0))
    assert total.epsilon(0.0) == 0.0
    assert total.delta(0.0) == 0.0


def test_missing_extra_names_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting.pld", None)
    fresh = compose(ObjectivePerturbationDP(0.211, 0.3), GaussianDP(0.212))
    with pytest.raises(ImportError, match=r"pip install 'skdp\[accounting\]'"):
        fresh.epsilon(1e-6)
    assert compose(PureDP(0.1), GaussianDP(0.2)).epsilon(1e-6) > 0.0


def test_a_law_without_total_mass_one_is_an_internal_error():
    """The symptom of gluing two formulas into a curve that no mechanism has."""

    class Law:
        def __init__(self, mass):
            self.mass = mass

        def get_delta_for_epsilon(self, epsilon):
            return self.mass

    pld._check_mass(Law(1.0 + 1e-9))
    for mass in (42.0, 0.9):
        with pytest.raises(RuntimeError, match="total mass"):
            pld._check_mass(Law(mass))


def test_convex_minorant_lies_below_and_is_convex():
    step = 0.01
    e = np.arange(-300, 301) * step
    bound = ZeroConcentratedDP(0.05).delta(e)
    found = pld._convex_minorant(bound, step)
    assert (found <= bound + 1e-15).all()
    assert found.min() < bound.min() + 1e-15
    slopes = np.diff(found) / np.diff(np.exp(e))
    assert (np.diff(slopes) >= -1e-10).all()
    truth = GaussianDP(math.sqrt(0.1)).delta(e)
    assert (truth <= found + 1e-15).all()


def test_alternatives_are_composed_apart():
    """Of k releases that are pure and Gaussian at once, the total is both."""
    one = Simultaneous((PureDP(0.3), GaussianDP(0.1)), assumptions=("a",))
    total = compose(one, one, GaussianDP(0.2, assumptions=("b",)))
    first, second = total.parts
    assert first.parts[:2] == (PureDP(0.3), PureDP(0.3))
    assert first.parts[2].mu == 0.2
    assert second.mu == pytest.approx(math.sqrt(0.06))
    assert total.assumptions == ("a", "b")
    for epsilon in (0.0, 0.3, 1.0):
        assert total.delta(epsilon) == min(g.delta(epsilon) for g in total.parts)
    assert compose(one, one).epsilon(0.0) == pytest.approx(0.6)
    assert compose(*[one] * 50).epsilon(1e-6) < 4.0
    with pytest.raises(ValueError, match="parts is empty"):
        Simultaneous(())
    with pytest.raises(ValueError, match="adjacency differs"):
        Simultaneous((PureDP(1.0),), adjacency="replace-one")
