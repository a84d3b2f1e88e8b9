"""Numeric checks of docs/proofs/preconditioned.md.

Exact up to quadrature: in one dimension the law of a weighted, centred minimiser is
known in closed form, and composing it with the worst Gaussian releases is one integral.
"""

import math

import numpy as np
import pytest
from scalar_preconditioned import Problem, calibrated

from skdp.accounting import PreconditionedPerturbationDP

EPSILONS = (0.1, 0.25, 1.0, 3.0)
#: The ends by default, the rest among the slow tests.
each_epsilon = pytest.mark.parametrize(
    "epsilon",
    [
        pytest.param(e, marks=[] if e in (0.1, 3.0) else pytest.mark.slow)
        for e in EPSILONS
    ],
)


def hard_problems(sizes=(1.0, 0.5, 2.0, 10.0, 1e3)):
    """Base rows, the row in question, centre, and the longest norm there can be."""
    for u in sizes:
        longest = max(u, 1.0)
        for y in (1.0, -1.0):
            yield [], (u, y), 0.0, longest
            yield [], (u, y), 1e3, 1e3
            for n in (1, 100, 1e6):
                yield [(1.0, -1.0, n)], (u, y), 0.0, longest
            yield [(1.0, -1.0, 1e4), (1.0, 1.0, 1e4)], (u, y), 0.0, longest
            yield [(1e3, -1.0, 30)], (u, y), -2.0, 1e3
            yield [(0.01, -1.0, 1e6)], (u, y), 10.0, longest


def random_problems(seed, size):
    rng = np.random.Generator(np.random.PCG64(seed))
    for _ in range(size):
        longest = 10 ** rng.uniform(0, 3)
        sizes = np.minimum(10 ** rng.uniform(-1, 3, 3), longest)
        base = [
            (
                u,
                rng.choice([-1.0, 1.0]),
                float(rng.integers(0, 10 ** rng.integers(1, 7))),
            )
            for u in sizes[:2]
        ]
        center = rng.choice([-1, 0, 1]) * 10 ** rng.uniform(-1, 3)
        yield base, (sizes[2], rng.choice([-1.0, 1.0])), center, longest


def worst(task, epsilon, problems, *, louder=1.0, ridge=1.0, third=True):
    """Largest exact delta over the claimed one, both directions."""
    mechanism = calibrated(task, epsilon)
    gauss = math.hypot(*(part.mu for part in mechanism.statistics))
    (phase,) = mechanism.phases
    claim = mechanism.ideal_guarantee.delta(epsilon)
    top = 0.0
    for base, row, center, longest in problems:
        lam = ridge * min(2.0, longest) / mechanism.curvature
        problem = Problem(
            base, row, center, lam, [phase.mu * louder], longest, task, third
        )
        for remove in (True, False):
            top = max(top, problem.delta(epsilon, gauss * louder, remove) / claim)
    return top


@each_epsilon
@pytest.mark.parametrize("task", ["logistic", "log-cosh"])
def test_no_table_exceeds_the_claim_and_some_nearly_attain_it(task, epsilon):
    found = worst(task, epsilon, hard_problems())
    assert 0.98 <= found <= 1.0 + 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("task", ["logistic", "log-cosh"])
def test_no_random_table_exceeds_the_claim(task, epsilon):
    assert worst(task, epsilon, random_problems(int(10 * epsilon), 400)) <= 1.0 + 1e-6


PLANTS = {
    "noise a twentieth too small": ("logistic", EPSILONS, {"louder": 1.05}),
    "noise a twentieth too small, log-cosh": ("log-cosh", EPSILONS, {"louder": 1.05}),
    "a tenth of the ridge": ("logistic", (0.1, 0.25, 1.0), {"ridge": 0.1}),
    "a third of the ridge": ("log-cosh", (0.1, 0.25, 1.0), {"ridge": 0.33}),
    "weights that bound the gradient alone": ("logistic", (0.1, 1.0), {"third": False}),
}


@pytest.mark.parametrize(
    ("plant", "epsilon"),
    [
        # the largest epsilon of each by default, where a plant shows least
        pytest.param(plant, e, marks=[] if e == max(epsilons) else pytest.mark.slow)
        for plant, (_, epsilons, _) in PLANTS.items()
        for e in epsilons
    ],
)
def test_planted_errors_exceed_the_claim(plant, epsilon):
    task, _, change = PLANTS[plant]
    assert worst(task, epsilon, hard_problems((1.0, 10.0)), **change) > 1.02


@pytest.mark.parametrize(
    "kappa",
    [
        pytest.param(0.3, marks=pytest.mark.slow),
        0.5,
        pytest.param(2.0, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("task", ["logistic", "log-cosh"])
def test_each_direction_is_below_its_own_bound(task, kappa):
    """Removal has one tail, also for log-cosh; with a large ridge it is attained."""
    epsilon, gauss, mu = 1.0, 0.1, 0.25
    bound = PreconditionedPerturbationDP(gauss, (mu,), kappa, task)
    claims = [float(d[0]) for d in bound._delta_directed(np.array([epsilon]))]
    top = [0.0, 0.0]
    for base, row, center, longest in hard_problems((1.0, 10.0, 1e3)):
        lam = min(2.0, longest) / kappa
        problem = Problem(base, row, center, lam, [mu], longest, task)
        for k, remove in enumerate((True, False)):
            ratio = problem.delta(epsilon, gauss, remove) / claims[k]
            top[k] = max(top[k], ratio)
    assert top[0] > (0.94 if kappa <= 0.5 else 0.0)
    assert top[1] > 0.95
    assert max(top) <= 1.0 + 1e-6
