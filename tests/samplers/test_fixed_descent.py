"""A descent of a public number of steps: how near it ends, for every table."""

import numpy as np
import pytest
from gibbs_by_hand import LOSSES, rows, table

from skdp.samplers import Ball, EnvelopeBounds, GibbsTarget
from skdp.samplers._fixed_descent import descend, descent_steps
from skdp.samplers._mode import near_mode


def posed(name, n, d, seed, *, gamma, alpha, ball):
    X, y = table(name, n, d, seed)
    numbers = {"inverse_temperature": gamma, "alpha": alpha, "ball": ball}
    loss = LOSSES[name][0]
    bounds = EnvelopeBounds(loss=loss, data_norm=1.0, n_rows=n, **numbers)
    return GibbsTarget(rows(X, y), loss, **numbers), bounds


def gap(target, ball, theta):
    """Largest g'(theta - other) over the ball."""
    g = target.gradient(theta)
    return float(g @ (theta - ball.midpoint) + ball.radius * np.linalg.norm(g))


BALLS = {
    "inside": Ball.around_zero(3, 4.0),
    "border": Ball((1.0, -2.0, 0.5), 0.3),
    "tiny": Ball.around_zero(3, 1e-3),
}


@pytest.mark.parametrize("gamma", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("place", BALLS)
@pytest.mark.parametrize("name", LOSSES)
def test_the_gap_is_within_what_was_asked(name, place, gamma):
    ball = BALLS[place]
    target, bounds = posed(name, 80, 3, 1, gamma=gamma, alpha=0.5, ball=ball)
    for wanted in (1.0, 0.01):
        n_steps = descent_steps(bounds, wanted)
        theta = descend(
            target.gradient,
            ball,
            smoothness=bounds.smoothness,
            convexity=bounds.convexity,
            n_steps=n_steps,
        )
        assert np.linalg.norm(theta - ball.midpoint) <= ball.radius
        assert gap(target, ball, theta) <= wanted


def test_values_shrink_at_the_stated_rate():
    """Lemma 1, step by step, on an ill-conditioned table."""
    ball = BALLS["inside"]
    target, bounds = posed("squared", 80, 3, 2, gamma=1.0, alpha=0.01, ball=ball)
    best = target.potential(near_mode(target)[0][None])[0]
    for _ in range(3):  # the squared loss needs one Newton step; polish anyway
        best = min(best, target.potential(near_mode(target)[0][None])[0])
    rate = 1 - np.sqrt(bounds.convexity / bounds.smoothness)
    start = bounds.steepness * ball.radius
    for k in (1, 5, 20, 80):
        theta = descend(
            target.gradient,
            ball,
            smoothness=bounds.smoothness,
            convexity=bounds.convexity,
            n_steps=k,
        )
        value = target.potential(theta[None])[0] - best
        # the last step lowers the value further
        assert value <= rate**k * start * (1 + 1e-9) + 1e-9


def test_the_gradient_is_asked_for_the_same_number_of_times_whatever_it_says():
    ball = Ball.around_zero(2, 1.0)
    for slope in (np.zeros(2), np.ones(2), np.full(2, 1e9)):
        calls = []

        def gradient(theta, slope=slope, calls=calls):
            calls.append(theta)
            return slope + theta

        descend(gradient, ball, smoothness=1.0, convexity=0.1, n_steps=17)
        assert len(calls) == 18


def test_steps_grow_with_the_root_of_the_condition_and_the_log_of_the_gap():
    def steps(n_rows, wanted):
        bounds = EnvelopeBounds(
            loss=LOSSES["logistic"][0],
            data_norm=1.0,
            ball=Ball.around_zero(3, 1.0),
            n_rows=n_rows,
            inverse_temperature=1.0,
            alpha=1.0,
        )
        return descent_steps(bounds, wanted)

    assert steps(100, 1e-2) < steps(100, 1e-4) < 2 * steps(100, 1e-2)
    assert 8 < steps(100_000, 1e-2) / steps(1000, 1e-2) < 20
    assert steps(1, 1e9) == 1
