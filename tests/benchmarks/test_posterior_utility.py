"""What the benchmark of posterior draws measures agrees with theory."""

import numpy as np
import pytest
from posterior_utility import LOSS, Problem, public, releases
from scipy.special import expit

from skdp.accounting import GaussianDP, PureDP
from skdp.mechanisms import (
    GibbsPosterior,
    ObjectivePerturbation,
    OutputPerturbation,
    gaussian_gibbs_excess,
)
from skdp.samplers import Ball

PROBLEM = Problem(10_000, 20, "sphere", 1e-3)
MU = 0.5


def excess(mechanism, runs, seed=1):
    return PROBLEM.excess(releases(mechanism, PROBLEM, runs, seed))


@pytest.mark.statistical
def test_a_gaussian_draw_costs_half_a_dimension_over_the_temperature():
    """A chi-square of 4,000 degrees: 20 % is nine standard errors."""
    shape = public(PROBLEM, loss=LOSS, alpha=PROBLEM.alpha)
    draw = GibbsPosterior.calibrate(GaussianDP(MU), **shape)
    found = excess(draw, 200)
    theory = PROBLEM.d / (2 * draw.inverse_temperature)
    assert found * PROBLEM.n == pytest.approx(theory, rel=0.2)
    closed = gaussian_gibbs_excess(PROBLEM.d, lipschitz=1.0, alpha=PROBLEM.alpha, mu=MU)
    assert theory == pytest.approx(closed, rel=0.06)


@pytest.mark.statistical
def test_output_perturbation_costs_the_mean_curvature_more():
    """Sums of 4,000 and 2,000 squares: 20 % is five standard errors."""
    shape = public(PROBLEM, loss=LOSS, alpha=PROBLEM.alpha)
    draw = excess(GibbsPosterior.calibrate(GaussianDP(MU), **shape), 200)
    output = excess(OutputPerturbation.calibrate(GaussianDP(MU), **shape), 100)
    assert output / draw == pytest.approx(PROBLEM.curvature, rel=0.2)


@pytest.mark.statistical
def test_pure_methods_stand_in_the_order_of_theory():
    """Factors of six and more between means of sums of squares."""
    shape = public(PROBLEM, loss=LOSS, alpha=PROBLEM.alpha)
    ball = Ball.around_zero(PROBLEM.d, 4.0)
    draw = excess(GibbsPosterior.calibrate(PureDP(1.0), ball=ball, **shape), 40)
    output = excess(OutputPerturbation.calibrate(PureDP(1.0), **shape), 40)
    plain = public(PROBLEM, alpha=PROBLEM.alpha)
    objective = excess(ObjectivePerturbation.calibrate(PureDP(1.0), **plain), 5)
    assert 5 * objective < draw < output


def test_the_excess_is_that_of_the_penalised_objective():
    problem = Problem(50, 3, "decay", 0.1)
    thetas = np.array([[0.1, -0.2, 0.3], [0.0, 0.0, 0.0]])

    def value(theta):
        losses = -np.log(expit(problem.signed @ theta)).sum()
        return losses + problem.alpha / 2 * theta @ theta

    mean = np.mean([value(theta) for theta in thetas])
    expected = (mean - value(problem.minimum)) / problem.n
    assert problem.excess(thetas) == pytest.approx(expected)
    assert problem.excess(problem.minimum) == pytest.approx(0.0, abs=1e-15)
