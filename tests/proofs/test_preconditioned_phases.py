"""Two objectives, the second around the answer of the first: exact joint laws.

The curve adds the worst loss of each, which no table attains in both at once. So the
exact delta stays well below the claim, and by how much is known and held on to: a small
error in either objective shows long before the claim is exceeded.
"""

import math

import numpy as np
import pytest
from scalar_preconditioned import Problem, calibrated

#: epsilon -> largest exact delta over the claim; the search finds it to 1 %.
ATTAINED = {4.0: 0.312, 8.0: 0.423}
each_epsilon = pytest.mark.parametrize("epsilon", list(ATTAINED))


def hard_problems():
    """Base rows, the row in question, centre, and the longest norm there can be."""
    yield [], (2.0, 1.0), -6.0, 2.0
    yield [(1.0, 1.0, 30)], (2.0, -1.0), 0.0, 2.0
    yield [(1.0, -1.0, 100), (1.0, 1.0, 100)], (1.0, 1.0), 0.0, 1.0
    yield [(0.1, -1.0, 100)], (10.0, 1.0), 0.0, 10.0


def more_problems():
    for u in (0.5, 1.0, 2.0, 10.0, 100.0):
        longest = max(u, 1.0)
        for y in (1.0, -1.0):
            for center in (0.0, -6.0, 6.0, 300.0):
                yield [], (u, y), center, longest
            for n in (1, 30, 1e4):
                yield [(1.0, -y, n)], (u, y), 0.0, longest
                yield [(1.0, y, n)], (u, y), -2.0, longest
            yield [(1.0, -1.0, 100), (1.0, 1.0, 100)], (u, y), 0.0, longest
            yield [(longest, -y, 30)], (u, y), 0.0, longest


def random_problems(seed, size):
    rng = np.random.Generator(np.random.PCG64(seed))
    for _ in range(size):
        longest = 10 ** rng.uniform(0, 2)
        sizes = np.minimum(10 ** rng.uniform(-1, 2, 3), longest)
        base = [
            (u, rng.choice([-1.0, 1.0]), float(10 ** rng.uniform(0, 4)))
            for u in sizes[:2]
        ]
        center = rng.choice([-1, 0, 1]) * 10 ** rng.uniform(-1, 2)
        yield base, (sizes[2], rng.choice([-1.0, 1.0])), center, longest


def worst(epsilon, problems, *, louder=(1.0, 1.0)):
    """Largest exact delta over the claimed one, both directions."""
    mechanism = calibrated("logistic", epsilon)
    gauss = math.hypot(*(part.mu for part in mechanism.statistics))
    sizes = (part.mu for part in mechanism.phases)
    mus = [mu * factor for mu, factor in zip(sizes, louder, strict=True)]
    claim = mechanism.ideal_guarantee.delta(epsilon)
    top = 0.0
    for base, row, center, longest in problems:
        lam = min(2.0, longest) / mechanism.curvature
        problem = Problem(base, row, center, lam, mus, longest, "logistic")
        for remove in (True, False):
            found = problem.joint_delta(epsilon, gauss, remove)
            top = max(top, found / claim)
    return top


@each_epsilon
def test_the_joint_law_stays_below_the_claim_by_a_known_share(epsilon):
    found = worst(epsilon, hard_problems())
    assert found == pytest.approx(ATTAINED[epsilon], rel=0.01)


@pytest.mark.slow
@each_epsilon
def test_no_other_table_comes_nearer(epsilon):
    for problems in (more_problems(), random_problems(int(epsilon), 60)):
        assert worst(epsilon, problems) < 1.02 * ATTAINED[epsilon]


def test_sums_over_noises_are_the_integral_of_one_objective():
    mechanism = calibrated("logistic", 1.0)
    gauss, lam = mechanism.statistics[0].mu, 2.0 / mechanism.curvature
    for base, row, center, longest in hard_problems():
        mus = [mechanism.phases[0].mu]
        problem = Problem(base, row, center, lam, mus, longest, "logistic")
        for remove in (True, False):
            exact = problem.delta(1.0, gauss, remove)
            assert problem.joint_delta(1.0, gauss, remove, n=161) == pytest.approx(
                exact, rel=2e-3
            )


@each_epsilon
def test_a_planted_second_objective_exceeds_the_claim(epsilon):
    """Its noise a tenth too small."""
    assert worst(epsilon, hard_problems(), louder=(1.0, 1.1)) > 1.3


@pytest.mark.parametrize(
    "louder", [(1.1, 1.0), (1.02, 1.02)], ids=["first objective", "both"]
)
def test_smaller_planted_errors_exceed_what_is_attained(louder):
    assert worst(8.0, hard_problems(), louder=louder) > 1.05 * ATTAINED[8.0]
