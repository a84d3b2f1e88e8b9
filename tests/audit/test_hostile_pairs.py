r"""Objective perturbation in one dimension, audited exactly by a second implementation.

The map from noise to minimiser is monotone, so both laws give an interval of outputs an
exact probability: a difference of normal distribution functions. With I the set where
the privacy loss exceeds epsilon, delta = P(I) - e^epsilon Q(I); only the ends of I are
computed numerically. Nothing of the package is used but the calibrated constants.
"""

import itertools

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit, ndtr

from skdp.accounting import ApproximateDP, PureDP
from skdp.audit import exact_curve
from skdp.mechanisms import ObjectivePerturbation

DELTA = 1e-6
EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)
#: (position in units of the norm bound, label) -> number of rows
BASES = {
    "empty": {},
    "1 agreeing": {(1.0, 1.0): 1},
    "10 agreeing": {(1.0, 1.0): 10},
    "100 agreeing": {(1.0, 1.0): 100},
    "1 against": {(1.0, -1.0): 1},
    "10 against": {(1.0, -1.0): 10},
    "100 against": {(1.0, -1.0): 100},
    "10 balanced": {(1.0, 1.0): 5, (1.0, -1.0): 5},
    "3 zero rows": {(0.0, 1.0): 3},
}
EXTRAS = {"+": (1.0, 1.0), "-": (1.0, -1.0), "half": (0.5, 1.0)}
CROWDS = {
    f"{weight:g} at {position:g} for {label:g}": {(position, label): weight}
    for weight in (1e3, 1e6)
    for position in (0.01, 0.3, 1.0)
    for label in (1.0, -1.0)
}
CROWDS |= {
    "1e6 small against 1e3 large": {(0.003, 1.0): 10**6, (1.0, -1.0): 1000},
    "1e4 balanced": {(1.0, 1.0): 5000, (1.0, -1.0): 5000},
}


class Table:
    """J0 of weighted rows in one dimension, radius 1."""

    def __init__(self, rows, alpha):
        self.x = np.array([x for x, _ in rows] or [0.0])
        self.y = np.array([y for _, y in rows] or [0.0])
        self.w = np.array(list(rows.values()) or [0.0])
        self.alpha = alpha

    def noise(self, theta):
        t = np.multiply.outer(theta, self.x)
        slopes = -self.y * expit(-self.y * t)
        return -(slopes @ (self.w * self.x)) - self.alpha * theta

    def hessian(self, theta):
        t = np.multiply.outer(theta, self.x)
        curvature = np.abs(self.y) * expit(t) * expit(-t)
        return curvature @ (self.w * self.x**2) + self.alpha

    def minimisers(self, noise):
        """Return theta for each noise value, roughly, by bisection."""
        reach = (np.abs(noise).max() + self.w.sum()) / self.alpha
        low, high = np.full(noise.shape, -reach), np.full(noise.shape, reach)
        for _ in range(30):
            middle = (low + high) / 2
            below = self.noise(middle) > noise
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return (low + high) / 2


def gradient(row, theta):
    x, y = row
    return -y * expit(-y * x * theta) * x


def difference(p, q, theta):
    """Return b_q - b_p without cancellation: the two tables share most rows."""
    rows = set(zip(p.x, p.y, strict=True)) | set(zip(q.x, q.y, strict=True))
    total = np.zeros_like(theta)
    for row in rows:
        count = sum(
            side * t.w[(t.x == row[0]) & (t.y == row[1])].sum()
            for side, t in ((1, p), (-1, q))
        )
        total = total + count * gradient(row, theta)
    return total


def gaussian_loss(p, q, theta, sigma):
    shift = difference(p, q, theta)
    b = p.noise(theta)
    quadratic = shift * (2 * b + shift) / (2 * sigma**2)
    return quadratic + np.log(p.hessian(theta) / q.hessian(theta))


def pure_loss(p, q, theta, scale):
    b, shift = p.noise(theta), difference(p, q, theta)
    return (np.abs(b + shift) - np.abs(b)) / scale + np.log(
        p.hessian(theta) / q.hessian(theta)
    )


def outputs(p, q, reach):
    grid = np.linspace(-reach, reach, 301)
    both = [t.minimisers(grid) for t in (p, q)]
    return np.unique(np.concatenate([*both, np.linspace(-30, 30, 301)]))


def probability(table, sigma, a, b):
    """Return the exact probability of outputs in [a, b]: noise falls with theta."""
    low, high = (table.noise(np.array([t]))[0] / sigma for t in (b, a))
    if low > 0:
        low, high = -high, -low
    return ndtr(high) - ndtr(low)


def exact_delta(p, q, sigma, epsilon):
    theta = outputs(p, q, 13 * sigma)
    excess = gaussian_loss(p, q, theta, sigma) - epsilon

    def f(t):
        return gaussian_loss(p, q, np.array([t]), sigma)[0] - epsilon

    flips = np.flatnonzero((excess[1:] > 0) != (excess[:-1] > 0))
    ends = [brentq(f, theta[k], theta[k + 1], xtol=1e-300, rtol=1e-15) for k in flips]
    # far out there is no mass left, so any distant point ends an open interval
    if excess[0] > 0:
        ends = [theta[0] - 1e3, *ends]
    if excess[-1] > 0:
        ends = [*ends, theta[-1] + 1e3]
    total = 0.0
    for a, b in zip(ends[::2], ends[1::2], strict=True):
        P, Q = probability(p, sigma, a, b), probability(q, sigma, a, b)
        total += P - np.exp(epsilon) * Q
    return total


def add_remove_pairs(bases):
    for (base_name, base), (extra_name, row) in itertools.product(
        bases.items(), EXTRAS.items()
    ):
        larger = dict(base)
        larger[row] = larger.get(row, 0) + 1
        yield f"{base_name}, {extra_name}, removed", larger, base
        yield f"{base_name}, {extra_name}, added", base, larger


def replace_one_pairs(bases):
    rows = [(1.0, 1.0), (1.0, -1.0), (0.3, 1.0)]
    for base_name, base in bases.items():
        for old, new in itertools.permutations(rows, 2):
            left, right = dict(base), dict(base)
            left[old] = left.get(old, 0) + 1
            right[new] = right.get(new, 0) + 1
            yield f"{base_name}, {old} -> {new}", left, right


def worst(pairs, alpha, measure):
    found = {
        name: measure(Table(left, alpha), Table(right, alpha))
        for name, left, right in pairs
    }
    name = max(found, key=found.get)
    return found[name], name


@pytest.fixture(scope="module")
def calibrated():
    return {
        epsilon: ObjectivePerturbation.calibrate(
            ApproximateDP(epsilon, DELTA), radius=1.0, n_coefficients=1
        )
        for epsilon in EPSILONS
    }


def gaussian_table(calibrated, bases):
    rows = []
    for epsilon, mechanism in calibrated.items():
        sigma = mechanism.noise_law.scale
        found, name = worst(
            add_remove_pairs(bases),
            mechanism.alpha,
            lambda p, q, s=sigma, e=epsilon: exact_delta(p, q, s, e),
        )
        rows.append((epsilon, mechanism.alpha, sigma, found / DELTA, name))
    return rows


def as_text(rows):
    head = "epsilon  alpha     sigma     worst/target  pair"
    return "\n".join(
        [
            head,
            *(f"{e:<8g} {a:<9.5g} {s:<9.6g} {r:<13.6f} {n}" for e, a, s, r, n in rows),
        ]
    )


def test_the_worst_exact_delta_of_27_pairs_is_97_to_100_percent_of_the_target(
    calibrated,
):
    rows = gaussian_table(calibrated, BASES)
    assert all(0.97 <= row[3] <= 1.0 for row in rows), as_text(rows)


def test_crowds_of_a_million_rows_and_short_rows_do_not_exceed_the_target(calibrated):
    rows = gaussian_table(calibrated, CROWDS)
    assert all(row[3] <= 1.0 for row in rows), as_text(rows)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_largest_pure_loss_is_97_to_100_percent_of_the_main_share(epsilon):
    mechanism = ObjectivePerturbation.calibrate(
        PureDP(epsilon), radius=1.0, n_coefficients=1
    )
    scale = mechanism.noise_law.scale

    def measure(p, q):
        theta = outputs(p, q, 60 * scale)
        return float(np.abs(pure_loss(p, q, theta, scale)).max())

    ratio = worst(add_remove_pairs(BASES), mechanism.alpha, measure)[0] / (
        0.99 * epsilon
    )
    assert 0.97 <= ratio <= 1 + 1e-9
    crowded = worst(add_remove_pairs(CROWDS), mechanism.alpha, measure)
    assert crowded[0] <= 0.99 * epsilon * (1 + 1e-9), crowded


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_replacing_a_row_never_exceeds_the_target(epsilon):
    mechanism = ObjectivePerturbation.calibrate(
        ApproximateDP(epsilon, DELTA, adjacency="replace-one"),
        radius=1.0,
        n_coefficients=1,
    )
    sigma = mechanism.noise_law.scale
    bases = BASES | {k: CROWDS[k] for k in list(CROWDS)[::7]}
    found = worst(
        replace_one_pairs(bases),
        mechanism.alpha,
        lambda p, q: exact_delta(p, q, sigma, epsilon),
    )
    assert found[0] <= DELTA, found


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_replacing_a_row_never_exceeds_a_pure_target(epsilon):
    mechanism = ObjectivePerturbation.calibrate(
        PureDP(epsilon, adjacency="replace-one"), radius=1.0, n_coefficients=1
    )
    scale = mechanism.noise_law.scale

    def measure(p, q):
        return float(np.abs(pure_loss(p, q, outputs(p, q, 60 * scale), scale)).max())

    found = worst(replace_one_pairs(BASES), mechanism.alpha, measure)
    assert found[0] <= 0.99 * epsilon, found


def test_two_opposed_rows_use_most_of_a_pure_replace_one_guarantee():
    """In two dimensions both slopes can be near one while the rows point apart.

    A crowd along the second axis holds the minimiser far out on it, where two signed
    rows that lean back by an angle are both badly misclassified.
    """
    epsilon = 1.0
    mechanism = ObjectivePerturbation.calibrate(
        PureDP(epsilon, adjacency="replace-one"), radius=1.0, n_coefficients=2
    )
    alpha, scale = mechanism.alpha, mechanism.noise_law.scale
    signed = np.array([[0.0, 1.0]])  # y x of the crowd
    worst_loss = 0.0
    for far, angle, aside in itertools.product(
        (5.0, 11.0, 20.0, 40.0), (0.1, 0.2, 0.3, 0.5, 0.8), (0.0, 1.0, 2.0, 5.0, -3.0)
    ):
        theta = np.array([aside, far])
        crowd = alpha * far / expit(-far)  # as many rows as put the minimiser here
        u = np.array([np.cos(angle), -np.sin(angle)])
        tables = [np.vstack([signed, [s * u[0], u[1]]]) for s in (1, -1)]
        terms = []
        for rows in tables:
            p = expit(-rows @ theta)
            weights = np.array([crowd, 1.0])
            b = (weights * p) @ rows - alpha * theta
            H = (rows.T * (weights * p * (1 - p))) @ rows + alpha * np.eye(2)
            terms.append(-np.linalg.norm(b) / scale + np.linalg.slogdet(H)[1])
        worst_loss = max(worst_loss, abs(terms[0] - terms[1]))
    assert 0.8 * 0.99 * epsilon < worst_loss <= 0.99 * epsilon


def test_both_implementations_of_the_exact_audit_agree(calibrated):
    mechanism = calibrated[1.0]
    sigma = mechanism.noise_law.scale
    names = {
        "empty, +": ("empty", "+"),
        "one against, +": ("1 against", "+"),
        "ten balanced, half": ("10 balanced", "half"),
        "hundred against, -": ("100 against", "-"),
    }
    for pair in mechanism.hard_pairs():
        if pair.name not in names:
            continue
        base_name, extra = names.pop(pair.name)
        larger = dict(BASES[base_name])
        larger[EXTRAS[extra]] = larger.get(EXTRAS[extra], 0) + 1
        tables = (
            Table(larger, mechanism.alpha),
            Table(BASES[base_name], mechanism.alpha),
        )
        curve = exact_curve(mechanism, pair)
        for epsilon in (0.1, 0.5, 1.0):
            truth = (
                exact_delta(*tables, sigma, epsilon),
                exact_delta(*tables[::-1], sigma, epsilon),
            )
            assert curve.delta_directed(epsilon) == pytest.approx(
                truth, rel=1e-6, abs=1e-14
            )
    assert not names


def test_the_audit_finds_a_ridge_ten_times_too_small():
    """A tenth of the ridge with unchanged noise breaks the claim where it can."""
    for epsilon in (0.1, 0.5, 1.0):
        mechanism = ObjectivePerturbation.calibrate(
            ApproximateDP(epsilon, DELTA), radius=1.0, n_coefficients=1
        )
        alpha = 0.1 / epsilon
        p, q = Table({(1.0, 1.0): 1}, alpha), Table({}, alpha)
        assert exact_delta(p, q, mechanism.noise_law.scale, epsilon) > 1000 * DELTA
