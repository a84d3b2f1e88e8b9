"""The small parts of the solver, each against what it promises."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdp.solvers._bracket import Bracket
from skdp.solvers._model import QuadraticModel
from skdp.solvers._sums import PairwiseSum


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 8, 1000])
def test_a_pairwise_sum_is_the_sum(n):
    terms = np.random.default_rng(n).standard_normal((n, 3))
    total = PairwiseSum(np.zeros(3))
    for term in terms:
        total.add(term)
    np.testing.assert_allclose(total.total(), terms.sum(axis=0), atol=1e-12)


def test_a_pairwise_sum_of_many_terms_rounds_little():
    total = PairwiseSum(np.zeros(1))
    for _ in range(2**16 - 1):
        total.add(np.array([0.1]))
    exact = float((2**16 - 1) * Fraction(0.1))
    assert abs(total.total()[0] - exact) <= 4 * np.spacing(exact)


@settings(deadline=None, max_examples=200, derandomize=True)
@given(st.floats(1e-12, 1e12), st.floats(1e-12, 1.0), st.floats(0.0, 10.0))
def test_a_bracket_ends_short_of_the_minimum_and_not_far_from_it(width, curve, kink):
    # a kink of some width on a slightly curved ramp, the shape of saturated losses
    def slope(t):
        return math.tanh((t - 1.0 / (1.0 + kink)) / width) + curve * t - 0.5

    if slope(0.0) >= 0.0:
        return
    bracket = Bracket(slope(0.0))
    for _ in range(2_000):
        length = bracket.length
        if bracket.accepts(slope(length)):
            break
    else:
        pytest.fail("the bracket did not end")
    assert slope(length) <= 1e-9 or slope(length * (1 - 1e-12)) <= 1e-9
    assert length == 1.0 or slope(length) >= 0.5 * slope(0.0) or width < 1e-9


def test_a_bracket_backs_off_from_what_is_no_number():
    bracket = Bracket(-1.0)
    for _ in range(3):
        assert not bracket.accepts(math.nan)
    assert bracket.length == pytest.approx(1e-3)


def test_a_bracket_of_nothing_but_nan_ends():
    bracket = Bracket(-1.0)
    assert any(bracket.accepts(math.nan) for _ in range(1_000))


def test_a_model_solves_the_quadratic_it_was_made_of():
    A = np.random.default_rng(0).standard_normal((5, 5))
    H = A @ A.T + np.eye(5)
    g = np.arange(5.0)
    direction = QuadraticModel(H.copy(), 1.0).direction(g)
    np.testing.assert_allclose(H @ direction, -g, rtol=1e-10, atol=1e-12)


def test_a_model_learns_to_reproduce_the_last_step():
    rng = np.random.default_rng(1)
    model = QuadraticModel(np.eye(4), 1.0)
    true = np.diag([1.0, 2.0, 3.0, 4.0])
    for _ in range(30):
        step = rng.standard_normal(4)
        model.learn(step, true @ step)
    np.testing.assert_allclose(model.direction(true @ step), -step, rtol=1e-10)


def test_a_model_does_not_learn_from_rounding():
    model = QuadraticModel(np.eye(2), 1.0)
    model.learn(np.array([1.0, 0.0]), np.array([-1.0, 0.0]))
    model.learn(np.array([1.0, 0.0]), np.array([np.nan, 0.0]))
    np.testing.assert_array_equal(model.direction(np.ones(2)), -np.ones(2))


def test_a_hessian_that_rounding_made_indefinite_still_gives_descent():
    H = np.ones((3, 3)) * 1e8 + np.diag([0.0, -1e-7, 1e-7])
    g = np.array([1.0, -1.0, 0.5])
    assert g @ QuadraticModel(H, 1e-9).direction(g) < 0
