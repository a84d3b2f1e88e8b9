"""Checks that a correct library passes and each planted bug must fail.

Every check compares the package with formulas written out here, from outside: plain
NumPy and mpmath. Those that look at random numbers use fixed seeds and reject with
probability below 1e-6 in all.
"""

import contextlib
import dataclasses
import math
import pickle
import warnings
from fractions import Fraction
from unittest import mock

import mpmath
import numpy as np
from scipy.special import expit, ndtri
from scipy.stats import binomtest, chi2, gamma

import skdp.mechanisms._objective_perturbation as objpert
import skdp.pdp as pdp
from skdp.accounting import ApproximateDP, PureDP
from skdp.audit import exact_curve
from skdp.linear_model import ObjPertLogisticRegression
from skdp.mechanisms import (
    ExponentialMechanism,
    GaussianMechanism,
    KNormMechanism,
    LatticeSmoothing,
    ObjectivePerturbation,
)
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, as_row_blocks

__all__ = ["CHECKS"]

DELTA = 1e-6
ALARM = 1e-8


def gaussian_profile(epsilon, mu):
    """The analytic Gaussian delta at 40 digits."""
    with mpmath.workdps(40):
        e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        left = mpmath.ncdf(m / 2 - e / m)
        return float(left - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m))


def rows_of(X, y, ball=None):
    ball = L2Ball(1.0) if ball is None else ball
    return PrivateRows(as_row_blocks(np.asarray(X, float), np.asarray(y, float)), ball)


def by_hand(X, y, data_norm, constant):
    """Return clipped rows with their constant column, from the definition."""
    norms = np.linalg.norm(X, axis=1)
    X = X * np.minimum(1.0, data_norm / np.maximum(norms, 1e-300))[:, None]
    if constant:
        X = np.column_stack([X, np.full(len(X), constant)])
    return X, np.asarray(y, float)


def gradient_by_hand(X, y, alpha, theta):
    return X.T @ (-y * expit(-y * (X @ theta))) + alpha * theta


def hessian_by_hand(X, y, alpha, theta):
    p = expit(X @ theta)
    return (X * (np.abs(y) * p * (1 - p))[:, None]).T @ X + alpha * np.eye(X.shape[1])


def table(n=30, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
    return X, y


# --- A: do the declared constants imply the claim, by an independent oracle? ---------


def check_smoothing(step, error, allowed):
    """The lattice noise hides twice the error and the rounding within its share."""
    assert step.error >= error * (1 - 1e-12)
    assert math.log2(step.grid).is_integer()
    assert step.scale >= 128 * step.grid
    root = math.sqrt(step.n_features)
    if "GAUSSIAN" in step.law.name:
        shift = 2 * step.error + step.grid * root
    else:
        shift = 2 * root * step.error + step.n_features * step.grid
    assert shift / step.scale <= allowed * (1 + 1e-12)
    return shift / step.scale


def certificate():
    for epsilon in (0.1, 1.0, 8.0):
        for radius in (0.5, 1.0, 4.0):
            _gaussian_certificate(epsilon, radius)
            _pure_certificate(epsilon, radius)
    _replace_one_certificate()
    _additive_certificate()
    _estimator_certificate()


def _gaussian_certificate(epsilon, radius):
    m = ObjectivePerturbation.calibrate(
        ApproximateDP(epsilon, DELTA), radius=radius, n_coefficients=3
    )
    mu = radius / m.noise_law.scale
    assert gaussian_profile(epsilon, mu) <= DELTA
    assert m.alpha >= radius**2 / epsilon
    claimed = m.guarantee.delta(epsilon)
    assert gaussian_profile(epsilon, mu) <= claimed <= DELTA
    mu_out = check_smoothing(m.smoothing, 2 * m.gradient_tol / m.alpha, epsilon / 200)
    # a Gaussian composition is a lower bound on what smoothing adds
    assert claimed >= 0.9999 * gaussian_profile(epsilon, math.hypot(mu, mu_out))


def _pure_certificate(epsilon, radius):
    m = ObjectivePerturbation.calibrate(
        PureDP(epsilon), radius=radius, n_coefficients=3
    )
    main = radius / m.noise_law.scale
    assert m.alpha >= radius**2 / main
    share = check_smoothing(m.smoothing, 2 * m.gradient_tol / m.alpha, 0.01 * epsilon)
    assert main + share <= epsilon
    assert m.guarantee.epsilon(0.0) >= (main + share) * (1 - 1e-12)
    assert m.guarantee.epsilon(0.0) <= epsilon


def _replace_one_certificate():
    for epsilon in (0.1, 1.0, 8.0):
        add, replace = (
            ObjectivePerturbation.calibrate(
                ApproximateDP(epsilon, DELTA, adjacency=relation),
                radius=1.0,
                n_coefficients=2,
            )
            for relation in ("add-remove", "replace-one")
        )
        assert replace.noise_law.scale >= 1.999 * add.noise_law.scale
        assert replace.guarantee.delta(epsilon) >= gaussian_profile(
            epsilon, 2 / replace.noise_law.scale
        )
        pure = ObjectivePerturbation.calibrate(
            PureDP(epsilon, adjacency="replace-one"), radius=1.0, n_coefficients=2
        )
        assert 2 / pure.noise_law.scale <= epsilon
        assert pure.guarantee.epsilon(0.0) >= 2 / pure.noise_law.scale


def _additive_certificate():
    for epsilon in (0.1, 1.0, 8.0):
        g = GaussianMechanism.calibrate(
            ApproximateDP(epsilon, DELTA), l2_sensitivity=2.0, n_features=3
        )
        truth = gaussian_profile(epsilon, 2.0 / g.noise_law.scale)
        assert truth <= g.guarantee.delta(epsilon) <= DELTA
        k = KNormMechanism.calibrate(PureDP(epsilon), l2_sensitivity=2.0, n_features=3)
        assert 2.0 / k.noise_law.scale <= k.guarantee.epsilon(0.0) <= epsilon


def _estimator_certificate():
    """The whole row, constant included, lies within the radius that was paid for."""
    X, y = table()
    for delta in (0.0, DELTA):
        est = fitted(X, y, delta=delta, data_norm=2.0)
        assert est.mechanism_.radius >= math.hypot(2.0, est.intercept_scaling_)
        assert est.intercept_scaling_ > 0
        epsilon, _ = est.privacy_spent_
        assert 0.9 <= epsilon <= 1.0
        assert not est.privacy_spent_.releasable


# --- B: is the exact privacy loss of the stated density within the claim? -----------


def density():
    X, y = table(n=8, d=2)
    rows, by = rows_of(X, y), by_hand(X, y, 1.0, 0.0)
    for target in (ApproximateDP(1.0, DELTA), PureDP(1.0)):
        m = ObjectivePerturbation.calibrate(target, radius=1.0, n_coefficients=2)
        for theta in (np.zeros(2), np.array([0.7, -2.0])):
            b = -gradient_by_hand(*by, m.alpha, theta)
            det = np.linalg.slogdet(hessian_by_hand(*by, m.alpha, theta))[1]
            expected = m.noise_law.log_density(b) + det
            assert abs(m.log_density(theta, rows) - expected) < 1e-9
    for epsilon in (0.1, 1.0):
        _exact_pairs(epsilon)


def _exact_pairs(epsilon):
    for target in (ApproximateDP(epsilon, DELTA), PureDP(epsilon)):
        m = ObjectivePerturbation.calibrate(target, radius=1.0, n_coefficients=1)
        wanted = {"empty, +", "ten agreeing, -"}
        for pair in (p for p in m.hard_pairs() if p.name in wanted):
            curve = exact_curve(m, pair)
            assert np.allclose(curve.mass, 1.0, atol=1e-9), pair.name
            if isinstance(target, PureDP):
                assert curve.max_loss <= epsilon * (1 + 1e-8), pair.name
            else:
                assert curve.delta(epsilon) <= DELTA * (1 + 1e-6), pair.name


# --- C: same noise, neighbouring data: does only the one row move, and by how much? --


@dataclasses.dataclass
class Trace:
    objectives: list
    solutions: list


@contextlib.contextmanager
def traced():
    """Record what enters and leaves the solver."""
    trace, solve = Trace([], []), objpert.minimise

    def record(objective, **options):
        trace.objectives.append(objective)
        trace.solutions.append(solve(objective, **options))
        return trace.solutions[-1]

    with mock.patch.object(objpert, "minimise", record):
        yield trace


def fitted(X, y, **options):
    options = {"epsilon": 1.0, "classes": [-1, 1], "random_state": 3} | options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ObjPertLogisticRegression(**options).fit(X, y)


def replay():
    X, y = table()
    for delta in (0.0, DELTA):
        _one_row_moves_within_the_radius(X, y, delta)
    _noise_is_fresh(X, y)


def _one_row_moves_within_the_radius(X, y, delta):
    extra = np.array([[3e3, -4e3, 1e2], [0.5, 0.5, -0.5], [0.0, 0.0, 0.0]])
    thetas = [np.zeros(4), np.array([9.0, -9.0, 3.0, 9.0]), np.array([1, 2, -3, -40.0])]
    for k, (x, label) in enumerate(zip(extra, (1.0, -1.0, 1.0), strict=True)):
        with traced() as trace:
            est = fitted(X, y, delta=delta, random_state=k)
            fitted(np.vstack([X, x]), np.append(y, label), delta=delta, random_state=k)
        assert len(trace.objectives) == 2  # one solve a fit: nothing was tried twice
        small, large = trace.objectives
        np.testing.assert_array_equal(small.linear, large.linear)
        assert small.alpha == large.alpha == est.mechanism_.alpha
        one, sign = by_hand(x[None], [label], 1.0, est.intercept_scaling_)
        for theta in thetas:
            moved = large.gradient(theta) - small.gradient(theta)
            expected = gradient_by_hand(one, sign, 0.0, theta)
            assert np.linalg.norm(moved) <= est.mechanism_.radius
            np.testing.assert_allclose(moved, expected, atol=1e-9)


def _noise_is_fresh(X, y):
    for delta in (0.0, DELTA):
        with traced() as trace:
            for _ in range(3):
                fitted(X, y, delta=delta, random_state=None)
            fitted(X, y, delta=delta, random_state=1)
            fitted(X, y, delta=delta, random_state=2)
        noises = np.stack([objective.linear for objective in trace.objectives])
        # every coordinate of every fit is a number of its own
        assert np.unique(noises).size == noises.size


# --- D: does the noise implied by the output follow the declared law? ----------------


def recovery():
    X, y = table(n=20, d=3)
    rows = rows_of(X, y)
    hand = by_hand(X, y, 1.0, 0.0)
    for target in (ApproximateDP(1.0, DELTA), PureDP(1.0)):
        m = ObjectivePerturbation.calibrate(target, radius=1.0, n_coefficients=3)
        source, implied = as_random_source(5), []
        with traced() as trace:
            for _ in range(150):
                release = m.release(rows, source)
                theta = release.diagnostics["minimiser"]
                implied.append(-gradient_by_hand(*hand, m.alpha, theta))
                blur = np.abs(release.output - theta).max()
                assert 0 < blur <= 60 * m.smoothing.scale
        used = np.stack([objective.linear for objective in trace.objectives])
        # certificate: the computed point solves the declared problem, to tau
        residuals = np.linalg.norm(np.stack(implied) - used, axis=1)
        assert residuals.max() <= 1.01 * m.gradient_tol
        _follows_the_law(np.stack(implied), m)


def _follows_the_law(noise, mechanism):
    """Two-sided tests of size and of direction, each at 1e-8."""
    n, d = noise.shape
    scale = mechanism.noise_law.scale
    if type(mechanism.noise_law).__name__ == "GaussianNoise":
        columns = np.sum((noise / scale) ** 2, axis=0)
        for total, law in [
            (columns.sum(), chi2(n * d)),
            *((c, chi2(n)) for c in columns),
        ]:
            assert 2 * min(law.cdf(total), law.sf(total)) > ALARM
    else:
        law = gamma(n * d)
        total = float(np.sum(np.linalg.norm(noise, axis=1)) / scale)
        assert 2 * min(law.cdf(total), law.sf(total)) > ALARM
        # squares of a uniform direction are equal shares on average
        unit = noise / np.linalg.norm(noise, axis=1, keepdims=True)
        assert np.all(np.abs(np.mean(unit**2, axis=0) - 1 / d) < 6 * 0.3 / math.sqrt(n))
    for column in noise.T:
        positive = int(np.count_nonzero(column > 0))
        assert binomtest(positive, n).pvalue > ALARM


def sampler():
    """Tails, resolution and lattice of what the samplers return."""
    m = ObjectivePerturbation.calibrate(
        ApproximateDP(1.0, DELTA), radius=1.0, n_coefficients=2
    )
    z = m.noise_law.draw(20_000, as_random_source(8)) / m.noise_law.scale
    beyond = int(np.count_nonzero(np.abs(z) > 3))
    assert binomtest(beyond, z.size, 0.0026997960632601866).pvalue > ALARM
    assert np.count_nonzero(z == z.astype(np.float32)) <= 2
    for step in (
        LatticeSmoothing.concentrated(error=1.0, n_features=2000, mu=0.1),
        LatticeSmoothing.pure(error=1.0, n_features=2000, epsilon=100.0),
    ):
        centre = np.full(2000, 0.3 * step.grid)
        out = step.release(centre, as_random_source(9)).output / step.grid
        assert np.array_equal(out, np.rint(out))
        _lattice_law(out, step)


def _lattice_law(k, step):
    """The size of the lattice noise, two-sided at 1e-8."""
    m, n = step.multiple, k.size
    if "GAUSSIAN" in step.law.name:
        total = float(np.sum((k / m) ** 2))
        assert 2 * min(chi2.cdf(total, n), chi2.sf(total, n)) > ALARM
        return
    size = np.sum(np.abs(k)) / m
    q = math.exp(-1 / m)
    mean, second = 2 * q / (1 - q * q), 2 * q / (1 - q) ** 2
    deviation = math.sqrt(second - mean**2)
    z = (size * m - n * mean) / (math.sqrt(n) * deviation)
    assert abs(z) < -ndtri(ALARM / 2)


# --- E: what does a fitted object, a warning or a pickle show? -----------------------


def surface():
    X, y = table(n=40)
    X[0, 0] = 123456.789  # a canary, as are the digits of all other rows
    with traced() as trace:
        est = fitted(X, y, delta=DELTA)
    noise = trace.objectives[0].linear
    blob = pickle.dumps(est)
    for secret in (*X.ravel(), *noise, trace.solutions[0].gradient_norm):
        assert np.float64(secret).tobytes() not in blob
        assert repr(float(secret)).encode() not in blob
    public = set(est.get_params()) | type(est)._released
    assert set(vars(est)) <= public
    for name, value in vars(est).items():
        assert np.size(value) < 40, name
    many = fitted(np.vstack([X] * 10), np.tile(y, 10), delta=DELTA)
    assert abs(len(pickle.dumps(many)) - len(blob)) < 64
    _same_face_on_neighbours(X, y)


def _same_face_on_neighbours(X, y):
    def face(X, y):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            est = ObjPertLogisticRegression(
                delta=DELTA, classes=[-1, 1], random_state=0
            ).fit(X, y)
        shapes = {
            name: (np.shape(value), str(np.asarray(value).dtype))
            for name, value in vars(est).items()
        }
        texts = [str(w.message) for w in caught]
        return texts, shapes, est.classes_.tolist(), est.alpha_, est.noise_scale_

    known = face(X, y)
    separable = np.where(y[:, None] > 0, 1.0, -1.0) * np.ones_like(X) * 1e3
    for other in (
        (np.vstack([X, X[0]]), np.append(y, 7.0)),  # an unheard-of label
        (separable, y),
        (X * 0.0, np.ones_like(y)),
        (X[:5], y[:5]),
    ):
        assert face(*other) == known


# --- F: are per-person losses what they say? ------------------------------------------


def losses():
    X, y = table(n=12, d=2)
    member = np.zeros(12, bool)
    member[:8] = True
    train, asked = rows_of(X[:8], y[:8]), rows_of(X, y)
    without = [rows_of(np.delete(X[:8], i, 0), np.delete(y[:8], i)) for i in range(8)]
    added = [
        rows_of(np.vstack([X[:8], X[i]]), np.append(y[:8], y[i])) for i in range(8, 12)
    ]
    for target in (ApproximateDP(1.0, DELTA), PureDP(1.0)):
        m = ObjectivePerturbation.calibrate(target, radius=1.0, n_coefficients=2)
        theta = m.release(train, as_random_source(2)).output
        here = m.log_density(theta, train)
        truth = [here - m.log_density(theta, other) for other in (*without, *added)]
        found = pdp.exact_loss(m, theta, train, asked, member)
        np.testing.assert_allclose(found, truth, atol=1e-9)
        bound = pdp.published_loss(m, theta, asked)
        assert np.all(bound >= np.abs(truth))
        _published_by_hand(m, theta, X, y, bound)
        longer = pdp.published_loss(m, theta, rows_of(X * 1e4, y))
        clipped = pdp.published_loss(
            m, theta, rows_of(by_hand(X * 1e4, y, 1.0, 0.0)[0], y)
        )
        np.testing.assert_allclose(longer, clipped, rtol=1e-9)


def _published_by_hand(m, theta, X, y, bound):
    """At the released point, without the smoothing terms, the bound is this formula."""
    Z, y = by_hand(X, y, 1.0, 0.0)
    p, q = expit(-y * (Z @ theta)), np.sum(Z * Z, axis=1)
    jacobian = np.log1p(p * (1 - p) * q / m.alpha)
    ratio = p * np.sqrt(q) / m.noise_law.scale
    if type(m.noise_law).__name__ == "GaussianNoise":
        ideal = jacobian + ratio**2 / 2 - ratio * ndtri(0.9 * 1e-6 / 2)
    else:
        ideal = np.minimum(jacobian + ratio, m.guarantee.epsilon(0.0))
    assert np.all(bound >= ideal * (1 - 1e-12))
    assert np.all(bound <= 1.05 * ideal + 0.03)


# --- G: is a choice made with the stated probabilities, and are these private? --------


class Scripted:
    """A source whose words are given; the last one repeats."""

    seeded = False

    def __init__(self, *words):
        self.words = list(words)

    def bytes(self, n):
        words = [
            self.words.pop(0) if len(self.words) > 1 else self.words[0]
            for _ in range(-(-n // 8))
        ]
        return b"".join(w.to_bytes(8, "little") for w in words)[:n]


def selection():
    for law in ("exponential", "permute-and-flip"):
        for exact in (True, False):
            _choice_is_private(law, exact)
            _choices_follow_the_law(law, exact)
    _choice_is_exact()
    _input_is_refused_before_a_draw()


def _choice_is_private(law, exact):
    """Loss and order-2 divergence of the law written out here, with its own rate."""
    for epsilon, sensitivity, monotone in (
        (1.0, 3, False),
        (1.0, 3, True),
        (2.0, 0.1, 0),
    ):
        m = ExponentialMechanism(
            epsilon, sensitivity, selection=law, exact=exact, monotone=bool(monotone)
        )
        rate = m.coefficient * Fraction(sensitivity) * (1 if monotone else 2)
        assert rate <= Fraction(epsilon)
        assert rate >= Fraction(epsilon) * (1 - Fraction(1, 10**9))
        pure, concentrated = m.guarantee.parts
        assert pure.epsilon_bound <= epsilon
        step = 0.0 if monotone else -1.0
        for left in ([0.0, 0.0], [0.0, 40.0], [0.0, 40.0, 40.0]):
            right = [left[0] + 1.0, *(q + step for q in left[1:])]
            p, q = (
                law_by_hand(law, float(m.coefficient) * sensitivity * np.array(side))
                for side in (left, right)
            )
            assert np.abs(np.log(p / q)).max() <= pure.epsilon_bound * (1 + 1e-9)
            second = max(np.log(np.sum(p * p / q)), np.log(np.sum(q * q / p)))
            assert second <= 2 * concentrated.rho * (1 + 1e-9)
    with contextlib.suppress(ValueError):
        ExponentialMechanism(1.0, 1, monotone=True, adjacency="replace-one")
        raise AssertionError("replacing a row moves counts both ways")


def law_by_hand(law, x):
    p = np.exp(x - x.max())
    if law == "exponential":
        return p / p.sum()
    out = []
    for r in range(len(p)):
        down = np.polynomial.Polynomial([1.0])
        for s in range(len(p)):
            if s != r:
                down *= np.polynomial.Polynomial([1.0, -p[s]])
        out.append(p[r] * (down.integ()(1.0) - down.integ()(0.0)))
    return np.array(out)


def _choices_follow_the_law(law, exact):
    """Chi-square tests at 1e-8."""
    scores = np.array([2.0, 0.5, 0.0, -1.0])
    m = ExponentialMechanism(2.0, 1, selection=law, exact=exact)
    by_hand = law_by_hand(law, scores)
    np.testing.assert_allclose(m.pmf(scores), by_hand, rtol=1e-9)
    _drawn_as(m, scores, by_hand)
    if law == "exponential":
        weighed = ExponentialMechanism(2.0, 1, exact=exact, base_measure=(1, 0, 3, 2))
        by_hand = np.exp(scores) * (1, 0, 3, 2)
        _drawn_as(weighed, scores, by_hand / by_hand.sum())


def _drawn_as(m, scores, law):
    source, n = as_random_source(6), 800
    draws = [int(m.release(scores, source).output[0]) for _ in range(n)]
    counts = np.bincount(draws, minlength=law.size)
    assert not counts[law == 0].any()
    some = law > 0
    total = np.sum((counts[some] - n * law[some]) ** 2 / (n * law[some]))
    assert chi2.sf(total, some.sum() - 1) > ALARM


def _choice_is_exact():
    """The last stretch of [0, 1) belongs to a candidate of weight exp(-90)."""
    m = ExponentialMechanism(2.0, 1, selection="exponential")
    ones = 2**64 - 1
    assert m.release([90.0, 0.0], Scripted(ones)).output == [1.0]
    assert m.release([90.0, 0.0], Scripted(ones, ones, 0)).output == [0.0]
    large = m.pmf([10**16, 10**16 + 1])
    assert abs(large[1] - expit(1.0)) < 1e-12
    for exact in (True, False):
        weighed = ExponentialMechanism(2.0, 1, base_measure=(0, 1, 1), exact=exact)
        assert weighed.release([900.0, 0.0, -60.0], Scripted(1)).output == [1.0]
        assert abs(weighed.pmf([900.0, 0.0, -1.0])[1] - expit(1.0)) < 1e-9


def _input_is_refused_before_a_draw():
    for bad in (math.nan, math.inf, -math.inf):
        with contextlib.suppress(ValueError):
            ExponentialMechanism(1.0, 1).release([0.0, bad], Scripted(0))
            raise AssertionError("a score that is not finite was accepted")
    clamped = ExponentialMechanism(2.0, 1, score_range=(0, 1))
    law = clamped.pmf([math.nan, math.inf, -5.0])
    np.testing.assert_allclose(
        law, law_by_hand("permute-and-flip", np.array([0.0, 1.0, 0.0])), rtol=1e-12
    )


CHECKS = {
    check.__name__: check
    for check in (
        certificate,
        density,
        replay,
        recovery,
        sampler,
        surface,
        losses,
        selection,
    )
}
