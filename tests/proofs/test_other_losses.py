"""Exact privacy of objective perturbation with every loss, in one dimension.

The minimiser is a monotone function of the noise, so the probability of every cell of
a partition is a difference of two normal distribution functions: no quadrature, and no
harm from jumps of the curvature, which are cell borders. Sums over cells bound the
hockey-stick divergence from below, and are exact where the privacy loss crosses epsilon
at a border.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

from skdp.accounting import ApproximateDP, TiltedObjectiveDP, gaussian_delta
from skdp.audit import simulated_delta
from skdp.losses import (
    ClippedPoissonLoss,
    HuberLoss,
    LogCoshLoss,
    PseudoHuberLoss,
    SmoothedHingeLoss,
    SmoothedQuantileLoss,
)
from skdp.mechanisms import AdjacentPair, ObjectivePerturbation
from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks

DELTA = 1e-6
LOSSES = {
    "Huber": HuberLoss(),
    "log-cosh": LogCoshLoss(),
    "pseudo-Huber": PseudoHuberLoss(),
    "hinge": SmoothedHingeLoss(),
    "median": SmoothedQuantileLoss(),
    "quantile 0.9": SmoothedQuantileLoss(quantile=0.9),
    "Poisson": ClippedPoissonLoss(max_log_rate=0.7),
}
each_loss = pytest.mark.parametrize("name", LOSSES)
#: Rows (x, y, how often), and further epsilons as parts of the one calibrated for.
PARTS = np.array([1.0, 0.5, 0.1, 0.0, -0.4])


def kinks(loss, y):
    """Margins at which the curvature jumps."""
    if isinstance(loss, HuberLoss):
        return [y - loss.scale, y + loss.scale]
    if isinstance(loss, SmoothedHingeLoss):
        return [y * (1 - loss.width), y * (1 + loss.width)]
    if isinstance(loss, ClippedPoissonLoss):
        return [loss.max_log_rate]
    return []


def gradient(loss, theta, rows, alpha):
    total = alpha * theta
    for x, y, count in rows:
        slope = loss.gradient(np.full(theta.shape, y), x * theta)
        total = total + count * x * slope
    return total


def partition(loss, tables, alpha, sigma, size):
    """Thetas that cut the noise of either table finely, and all kinks."""
    b = np.linspace(-13.0, 13.0, size) * sigma
    borders = []
    for rows in tables:
        steepest = max(map(abs, loss.slope_range))
        reach = (sum(abs(x) * m for x, _, m in rows) * steepest + b[-1]) / alpha
        low, high = np.full(size, -reach), np.full(size, reach)
        for _ in range(45):
            middle = (low + high) / 2
            above = gradient(loss, middle, rows, alpha) + b > 0.0
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        borders.append(middle)
        borders += [np.array(kinks(loss, y)) / x for x, y, _ in rows if x]
    return np.unique(np.concatenate(borders))


def cell_masses(loss, theta, rows, alpha, sigma):
    scores = gradient(loss, theta, rows, alpha) / sigma
    left, right = ndtr(scores), ndtr(-scores)
    inner = np.where(scores[1:] < 0, np.diff(left), -np.diff(right))
    return np.concatenate([[left[0]], inner, [right[-1]]])


def divergences(m, first, second, epsilons, size=1001):
    """Lower sums of both divergences of two tables, shape (2, n)."""
    alpha, sigma = m.alpha, m.noise_law.scale
    theta = partition(m.loss, (first, second), alpha, sigma, size)
    p, q = (cell_masses(m.loss, theta, rows, alpha, sigma) for rows in (first, second))
    e = np.exp(epsilons)[:, None]
    return np.stack(
        [np.maximum(p - e * q, 0.0).sum(axis=1), np.maximum(q - e * p, 0.0).sum(axis=1)]
    )


def label(loss, rng):
    if not hasattr(loss, "target_bound"):
        return float(rng.choice([-1.0, 1.0]))
    return float(rng.choice([-1.0, 0.0, 1.0, rng.uniform(-1.0, 1.0)]))


def hostile_tables(loss, n, seed):
    """The empty table, strong clusters, then equal rows that push and pull."""
    rng = np.random.default_rng(seed)
    yield from ([], [(1.0, -1.0, 300.0)], [(1.0, 1.0, 300.0)])
    for _ in range(n - 3):
        yield [
            (
                float(rng.choice([1.0, -1.0, 0.5, rng.uniform(-1.0, 1.0)])),
                label(loss, rng),
                float(rng.choice([1, 3, 10, 30, 300])),
            )
            for _ in range(rng.integers(1, 4))
        ]


def extras(loss):
    middle = 0.0 if hasattr(loss, "target_bound") else 1.0
    return [(1.0, 1.0, 1.0), (1.0, -1.0, 1.0), (1.0, middle, 1.0), (0.6, 1.0, 1.0)]


def instance(loss, epsilon, alpha="auto", **options):
    target = ApproximateDP(epsilon, DELTA, **options)
    return ObjectivePerturbation.calibrate(
        target, radius=1.0, n_coefficients=1, loss=loss, alpha=alpha
    )


def attained(m, epsilon, n_tables, seed=0):
    """Return the largest ratios true / claimed, removal and addition apart."""
    epsilons = epsilon * PARTS
    g = m.ideal_guarantee
    claims = np.stack([g._remove_delta(epsilons), g._delta_directed(epsilons)[1]])
    worst = np.zeros(claims.shape)
    for table in hostile_tables(m.loss, n_tables, seed):
        for row in extras(m.loss):
            found = divergences(m, [*table, row], table, epsilons)
            # differences of distribution functions are good to 1e-15
            worst = np.maximum(worst, (found - 1e-13) / claims)
    return worst


@each_loss
@pytest.mark.parametrize(("epsilon", "alpha"), [(0.1, "auto"), (4.0, "auto"), (1, 0.0)])
def test_no_table_exceeds_the_bound_and_some_attain_it(name, epsilon, alpha):
    loss = LOSSES[name]
    worst = attained(instance(loss, epsilon, alpha), epsilon, 6)
    assert worst.max() <= 1 + 1e-9
    if alpha == "auto":
        # two signs double the addition, and that is attained; the slope of the
        # pseudo-Huber loss nears its bound slowly
        assert worst[1, 0] >= (0.92 if isinstance(loss, PseudoHuberLoss) else 0.97)
    if name in ("log-cosh", "median"):
        assert worst[0, 0] >= 0.95


@pytest.mark.slow
@each_loss
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 4.0, 8.0])
@pytest.mark.parametrize("alpha", ["auto", 0.0])
def test_a_long_search_finds_no_table_that_exceeds_the_bound(name, epsilon, alpha):
    worst = attained(instance(LOSSES[name], epsilon, alpha), epsilon, 40, seed=1)
    assert worst.max() <= 1 + 1e-9


def test_forgetting_the_second_sign_is_caught():
    for loss in (HuberLoss(scale=0.1), LogCoshLoss(), SmoothedQuantileLoss()):
        m = instance(loss, 1.0)
        found = divergences(m, [(1.0, 0.0, 1.0)], [], np.ones(1))[1, 0]
        half = gaussian_delta(1.0, m.sensitivity_ratio)
        assert found >= 1.9 * half


@pytest.mark.parametrize("name", ["log-cosh", "median", "quantile 0.9"])
def test_a_tenth_of_the_ridge_is_caught(name):
    loss = LOSSES[name]
    for epsilon in (0.1, 1.0):
        m = instance(loss, epsilon)
        step = replace(m.smoothing, error=20 * m.smoothing.error)
        thin = replace(m, alpha=m.alpha / 10, smoothing=step)
        found = [
            divergences(thin, [*table, row], table, np.array([epsilon])).max()
            for table in hostile_tables(loss, 6, 0)
            for row in extras(loss)
        ]
        assert max(found) > 2 * DELTA
        assert max(found) <= thin.ideal_guarantee.delta(epsilon)


def test_a_jacobian_that_stays_is_not_free():
    """With the ridge and noise of a fading curvature, a hinge loss tells more."""
    m = instance(SmoothedHingeLoss(width=2.0), 1.0)
    g = TiltedObjectiveDP(m.sensitivity_ratio, 0.0, m.curvature / 4, 1.0, 0.0)
    step = replace(m.smoothing, error=20 * m.smoothing.error)
    thin = replace(m, alpha=m.alpha / 20, smoothing=step)
    found = [
        divergences(thin, [*table, row], table, np.ones(1)).max()
        for table in hostile_tables(m.loss, 12, 0)
        for row in extras(m.loss)
    ]
    assert max(found) > 2 * g.delta(1.0)
    assert max(found) <= thin.ideal_guarantee.delta(1.0)


@each_loss
def test_no_replacement_exceeds_its_bound(name):
    loss, epsilon = LOSSES[name], 1.0
    m = instance(loss, epsilon, adjacency="replace-one")
    epsilons = epsilon * PARTS
    claims = m.ideal_guarantee.delta(epsilons)
    worst = 0.0
    for table in hostile_tables(loss, 6, 2):
        for before, after in [(1.0, -1.0), (1.0, 1.0)]:
            first = [*table, (before, 1.0, 1.0)]
            second = [*table, (after, -1.0, 1.0)]
            found = divergences(m, first, second, epsilons)
            worst = max(worst, np.max((found - 1e-13) / claims))
    assert worst <= 1 + 1e-9
    # in one dimension two rows are parallel, which is the worst angle
    assert worst >= 0.3


# -- more dimensions ------------------------------------------------------------------


def rows(X, y):
    blocks = as_row_blocks(np.array(X), np.array(y), labels=Targets(-1.0, 1.0))
    return PrivateRows(blocks, L2Ball(1.0))


def pairs(d, adjacency):
    """Tables of a few rows at angles to the one that differs."""
    rng = np.random.default_rng(d)
    x = np.eye(d)[0]
    for count in (1, 5, 30):
        others = rng.normal(size=(count, d)) + x
        others /= np.linalg.norm(others, axis=1, keepdims=True)
        y = rng.choice([-1.0, 1.0], size=count)
        left = rows(np.vstack([others, x]), np.append(y, 1.0))
        if adjacency == "add-remove":
            yield AdjacentPair(f"{count} rows", left, rows(others, y))
        else:
            for other in (-x, np.eye(d)[1]):
                right = rows(np.vstack([others, other]), np.append(y, 1.0))
                yield AdjacentPair(f"{count} rows, replaced", left, right)


@pytest.mark.slow
@pytest.mark.statistical
@each_loss
@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_simulated_losses_in_more_dimensions_stay_within_the_bound(name, d, adjacency):
    """Each lower bound at 1 - 1e-9: false alarms below 1e-6 in all."""
    target = ApproximateDP(2.0, 1e-2, adjacency=adjacency)
    m = ObjectivePerturbation.calibrate(
        target, radius=1.0, n_coefficients=d, loss=LOSSES[name]
    )
    for seed, pair in enumerate(pairs(d, adjacency)):
        for epsilon in (2.0, 1.0):
            found = simulated_delta(
                m, pair, epsilon, n_runs=400, confidence=1 - 1e-9, random_state=seed
            )
            assert found.low <= m.ideal_guarantee.delta(epsilon), pair.name
