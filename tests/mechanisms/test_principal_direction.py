"""A private principal direction by the Bingham law of the second moments."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.stats import kstest

from skdp.accounting import Adjacency, PureDP, with_runtime
from skdp.mechanisms import PrincipalDirection
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, as_row_blocks
from skdp.samplers import BatchedLoop, Bingham

ANGLES = np.linspace(0, np.pi, 400, endpoint=False)
CIRCLE = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])


def made(epsilon=1.0, q=2, radius=1.0, adjacency="add-remove"):
    target = PureDP(epsilon, adjacency=adjacency)
    return PrincipalDirection.calibrate(target, radius=radius, n_features=q)


def rows(X, radius=1.0):
    return PrivateRows(
        as_row_blocks(np.atleast_2d(np.asarray(X, float))), L2Ball(radius)
    )


def circle_loss(mechanism, left, right):
    """Largest log ratio of the two densities over 400 points of the circle."""
    p, q = mechanism.log_density_on(left), mechanism.log_density_on(right)
    return max(abs(p(v) - q(v)) for v in CIRCLE)


@pytest.mark.parametrize("adjacency", Adjacency)
def test_calibration_spends_the_target_and_no_more(adjacency):
    for epsilon in (1e-9, 0.1, 1.0, 1000.0):
        mechanism = made(epsilon, q=7, radius=3.0, adjacency=adjacency)
        spent = mechanism.guarantee.epsilon(0.0)
        assert (1 - 1e-9) * epsilon <= spent <= epsilon


def test_the_temperature_is_epsilon_or_half_of_it():
    """Up to the hundredth that the smoothing step takes."""
    assert made().inverse_temperature == pytest.approx(0.99, rel=1e-5)
    replace = made(adjacency="replace-one")
    assert replace.inverse_temperature == pytest.approx(0.495, rel=1e-5)


@pytest.mark.parametrize("adjacency", Adjacency)
def test_no_random_neighbours_exceed_epsilon_on_a_circle(adjacency):
    rng = np.random.default_rng(0)
    mechanism = made(adjacency=adjacency)
    worst = 0.0
    for _ in range(120):
        n = int(rng.integers(1, 12))
        X = rng.standard_normal((n, 2)) * rng.choice([0.1, 1.0, 5.0], (n, 1))
        other = X.copy()
        other[-1] = rng.standard_normal(2) * 5
        left = X[:-1] if adjacency is Adjacency.ADD_REMOVE else X
        worst = max(
            worst, circle_loss(mechanism, rows(left.reshape(-1, 2)), rows(other))
        )
    assert 0.5 * mechanism.pure_epsilon < worst <= mechanism.pure_epsilon


@pytest.mark.parametrize("adjacency", Adjacency)
def test_losses_on_hard_pairs_come_close_to_epsilon(adjacency):
    mechanism = made(4.0, adjacency=adjacency)
    worst = max(
        circle_loss(mechanism, pair.left, pair.right) for pair in mechanism.hard_pairs()
    )
    assert 0.9 * mechanism.pure_epsilon < worst <= mechanism.pure_epsilon


def test_a_planted_factor_of_the_other_relation_is_caught():
    good = made(4.0, adjacency="replace-one")
    broken = dataclasses.replace(
        good, inverse_temperature=made(4.0).inverse_temperature
    )
    worst = max(circle_loss(broken, p.left, p.right) for p in good.hard_pairs())
    assert worst > 1.8 * good.pure_epsilon
    # and the guarantee is computed from the temperature, so it tells
    assert broken.guarantee.epsilon(0.0) > 7.9


@pytest.mark.statistical
@pytest.mark.parametrize("n", [0, 3, 60])
def test_released_directions_follow_the_law_on_the_circle(n):
    """False alarm below 1e-6: three KS tests at 3e-7."""
    mechanism = made(2.0)
    data = rows(np.tile([[0.8, 0.6]], (n, 1)).reshape(-1, 2))
    source = as_random_source(5)
    draws = np.array([mechanism.release(data, source).output for _ in range(400)])
    law = mechanism.log_density_on(data)
    grid = np.linspace(-np.pi, np.pi, 4001)
    density = np.exp([law(np.array([math.cos(a), math.sin(a)])) for a in grid])
    mass = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    assert mass[-1] * (grid[1] - grid[0]) / (2 * np.pi) == pytest.approx(1, abs=1e-6)
    u = np.interp(np.arctan2(draws[:, 1], draws[:, 0]), grid, mass / mass[-1])
    assert kstest(u, "uniform").pvalue > 3e-7


def test_a_planted_envelope_that_is_too_low_changes_the_law(monkeypatch):
    """Half the height: acceptance above one would be cut, and the law be another."""
    right = Bingham._log_height
    monkeypatch.setattr(Bingham, "_log_height", lambda self: right(self) + 0.7)
    law = Bingham(np.array([0.0, 20.0]))
    v = law.propose(2000, as_random_source(0))
    assert np.max(law.log_acceptance(v)) > 0.5


def test_batches_depend_on_public_numbers_alone():
    for q in (1, 2, 5, 40):
        mechanism = made(q=q)
        sizes = {
            mechanism._loop(spectrum).batch
            for spectrum in (np.zeros(q), np.append(0.0, np.full(q - 1, 1e8)))
        }
        assert len(sizes) == 1
        batch = sizes.pop()
        assert (1 - mechanism.least_acceptance) ** batch <= 1e-12
        assert (1 - mechanism.least_acceptance) ** (batch - 1) > 1e-12 or batch == 1


class CountingSource:
    """A seeded source that records how many bytes each call asked for."""

    seeded = True

    def __init__(self):
        self._source, self.calls = as_random_source(2), []

    def bytes(self, n):
        self.calls.append(n)
        return self._source.bytes(n)


def test_hostile_rows_ask_for_the_same_randomness():
    mechanism = made(q=3)
    seen = []
    for X in (
        np.zeros((1, 3)),
        np.eye(3),
        np.tile([[1.0, 0.0, 0.0]], (5000, 1)),
        np.full((4, 3), 1e300),
        np.tile([[1e-200, 0.0, 1.0]], (50, 1)),
    ):
        source = CountingSource()
        mechanism.release(rows(X), source)
        seen.append((source.calls, source.bytes(8)))
    assert all(item == seen[0] for item in seen)


def test_the_cost_of_the_loop_is_next_to_nothing():
    mechanism = made(q=5)
    cost = mechanism.loop_cost
    assert cost.delta(0.0) <= 1e-12
    joint = with_runtime(mechanism.guarantee, cost)
    assert joint.delta(1.0) <= 1e-12
    assert isinstance(mechanism._loop(np.zeros(5)), BatchedLoop)


def test_many_rows_are_fitted_closely():
    rng = np.random.default_rng(1)
    X = 0.2 * rng.standard_normal((20_000, 4)) * [3.0, 1.0, 1.0, 1.0]
    v = made(q=4).release(rows(X), as_random_source(0)).output
    assert abs(v[0]) / np.linalg.norm(v) > 0.99


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"radius": 0.0}, "radius"),
        ({"radius": math.nan}, "radius"),
        ({"n_features": 0}, "n_features"),
        ({"n_features": 3}, "length of the released vector"),
        ({"inverse_temperature": math.inf}, "inverse_temperature"),
        ({"adjacency": "replace-one"}, "adjacency must be"),
    ],
)
def test_fields_that_make_no_mechanism_are_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(made(), **fields)


def test_rows_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="n_features columns"):
        made().release(rows(np.ones((2, 3))), as_random_source(0))
    with pytest.raises(ValueError, match="radius must bound"):
        made().release(rows(np.ones((2, 2)), radius=2.0), as_random_source(0))
