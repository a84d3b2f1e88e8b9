"""The exponential mechanism for scores interpolated between public knots."""

import dataclasses

import numpy as np
import pytest
from scipy.special import logsumexp

from skdp.accounting import Adjacency, PureDP
from skdp.audit import exact_curve
from skdp.mechanisms import IntervalExponential, LatticeSmoothing
from skdp.random import as_random_source

GRID = (0.0, 0.25, 0.5, 0.75, 1.0)
#: Median scores of 0.1, 0.2, 0.25, 0.4, 0.7 on that grid.
SCORES = [-2.5, -0.5, -1.5, -2.5, -2.5]


def made(knots=GRID, sensitivity=1.0, epsilon=2.0, **fields):
    target = PureDP(epsilon, adjacency=fields.pop("adjacency", "add-remove"))
    return IntervalExponential.calibrate(
        target, knots=knots, sensitivity=sensitivity, **fields
    )


def test_probabilities_of_segments_are_those_of_the_interpolated_score():
    mechanism = dataclasses.replace(made(), coefficient=1.0)
    law = mechanism.law(SCORES)
    expected = [0.30183802, 0.44132254, 0.16235349, 0.09448595]
    np.testing.assert_allclose(
        np.exp(law.log_masses - law.log_total), expected, atol=5e-9
    )


def test_probabilities_of_points_are_those_of_the_finite_mechanism():
    """The same scores without interpolation: the grid index as the outcome."""
    logs = np.array(SCORES)
    expected = [0.07629314, 0.56373431, 0.20738626, 0.07629314, 0.07629314]
    np.testing.assert_allclose(np.exp(logs - logsumexp(logs)), expected, atol=5e-9)


def test_calibration_spends_the_target_and_no_more():
    for epsilon in (1e-9, 1e-3, 1.0, 50.0, 1000.0):
        for adjacency in Adjacency:
            mechanism = made(epsilon=epsilon, adjacency=adjacency)
            spent = mechanism.guarantee.epsilon(0.0)
            assert spent <= epsilon
            assert spent >= (1 - 1e-9) * epsilon
            assert mechanism.pure_epsilon <= 0.99 * epsilon


def test_zcdp_is_that_of_the_bounded_range():
    mechanism = made(epsilon=1.0)
    step = mechanism.smoothing.epsilon
    rho = mechanism.guarantee.parts[1].rho
    length = mechanism.pure_epsilon + 2.0**-34
    assert rho == pytest.approx(length**2 / 8 + step * np.tanh(step / 2), rel=1e-9)
    assert mechanism.ideal_guarantee.parts[1].rho == mechanism.pure_epsilon**2 / 8


def test_monotone_scores_need_half_the_noise():
    one, both = made(monotone=True), made()
    assert one.coefficient == pytest.approx(2 * both.coefficient)
    with pytest.raises(ValueError, match="no scores are monotone"):
        made(monotone=True, adjacency="replace-one")


@pytest.mark.parametrize("monotone", [False, True])
def test_the_exact_loss_reaches_epsilon_and_never_exceeds_it(monotone):
    mechanism = made(np.linspace(0, 1, 33), epsilon=1.0, monotone=monotone)
    worst = max(exact_curve(mechanism, p).max_loss for p in mechanism.hard_pairs())
    assert 0.99 * mechanism.pure_epsilon < worst <= mechanism.pure_epsilon


def test_no_neighbouring_scores_exceed_epsilon():
    """The largest log ratio of two such densities is at a knot: a search over them."""
    rng = np.random.default_rng(0)
    mechanism = made(np.cumsum(rng.uniform(0.1, 1, 9)), epsilon=3.0)
    for _ in range(300):
        left = rng.uniform(-20, 0, 9)
        right = left + rng.choice([-1.0, 1.0], 9)
        p, q = mechanism.law(left), mechanism.law(right)
        loss = [p.log_density(x) - q.log_density(x) for x in mechanism.knots]
        assert np.max(np.abs(loss)) <= mechanism.pure_epsilon * (1 + 1e-12)


def test_scores_far_below_the_best_are_raised_alike():
    mechanism = made()
    far = mechanism.law([0.0, -1e3, -1e6, -1e9, -1e30])
    deep = 300.0 / mechanism.coefficient
    near = mechanism.law([0.0, -deep, -deep, -deep, -deep])
    for x in (0.1, 0.5, 0.9):
        assert far.log_density(x) == pytest.approx(near.log_density(x), abs=1e-12)


@pytest.mark.parametrize(
    "scores", [[0.0, 1.0, np.nan, 0.0, 0.0], [0, 1, 2, np.inf, 0], [-np.inf] * 5]
)
def test_scores_that_are_not_finite_raise_before_any_draw(scores):
    class NoSource:
        seeded = True

        def bytes(self, n):
            raise AssertionError("drawn")

    with pytest.raises(ValueError, match="scores must be finite") as caught:
        made().release(scores, NoSource())
    assert "nan" not in str(caught.value).replace("got nan or infinity", "")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"knots": (0.0,)}, "knots must be 2 to"),
        ({"knots": (0.0, 1.0, 1.0)}, "increasing"),
        ({"knots": (0.0, np.inf)}, "finite"),
        ({"knots": (0.0, np.nan)}, "increasing"),
        ({"knots": tuple(range(5000))}, "knots must be 2 to 4097"),
        ({"sensitivity": -1.0}, "sensitivity"),
        ({"sensitivity": np.nan}, "sensitivity"),
        ({"coefficient": 0.0}, "coefficient"),
    ],
)
def test_fields_that_make_no_mechanism_are_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(made(), **fields)


def test_a_smoothing_step_that_proves_nothing_is_refused():
    good = made().smoothing
    for step in (
        dataclasses.replace(good, error=1e-12),
        dataclasses.replace(good, adjacency="replace-one"),
        dataclasses.replace(good, n_features=2),
        LatticeSmoothing.concentrated(error=good.error, n_features=1, mu=0.1),
    ):
        with pytest.raises(ValueError, match="smoothing"):
            dataclasses.replace(made(), smoothing=step)


def test_the_number_of_scores_must_be_that_of_the_knots():
    with pytest.raises(ValueError, match="one score for every knot"):
        made().law([0.0, 1.0])


def test_outputs_leave_the_interval_by_the_smoothing_scale_only():
    mechanism = made(epsilon=1.0)
    source = as_random_source(0)
    scores = [0.0, -99.0, -99.0, -99.0, -99.0]
    outputs = [mechanism.release(scores, source).output[0] for _ in range(300)]
    assert min(outputs) > -50 * mechanism.smoothing.scale


class CountingSource:
    """A seeded source that records how many bytes each call asked for."""

    seeded = True

    def __init__(self):
        self._source, self.calls = as_random_source(2), []

    def bytes(self, n):
        self.calls.append(n)
        return self._source.bytes(n)


def test_the_work_does_not_depend_on_the_scores():
    mechanism = made(np.linspace(0, 1, 129))
    rng = np.random.default_rng(3)
    seen = []
    for scores in (
        np.zeros(129),
        -np.arange(129.0),
        -1e6 * (np.arange(129) != 5),
        rng.normal(size=129),
    ):
        source = CountingSource()
        mechanism.release(scores, source)
        seen.append((source.calls, source.bytes(8)))
    assert all(item == seen[0] for item in seen)


def test_a_planted_coefficient_twice_too_large_is_caught():
    """What epsilon q / Delta would be: right for monotone scores alone."""
    mechanism = made(np.linspace(0, 1, 33), epsilon=1.0)
    broken = dataclasses.replace(mechanism, coefficient=2 * mechanism.coefficient)
    worst = max(exact_curve(broken, p).max_loss for p in mechanism.hard_pairs())
    assert worst > 1.9 * mechanism.pure_epsilon
