"""Objectives of several margins a row: their sums, and certified minimisers."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

import skdp.solvers._matrix_problem as problem
from skdp.losses import LogisticLoss, SoftmaxLoss
from skdp.rows import Classes, L2Ball, Labels, PrivateRows, as_row_blocks
from skdp.solvers import MatrixObjective, Objective, minimise

K = 3
TOLERANCE = math.sqrt(2.0) * 1e-8


def draw(n, d, n_classes=K, seed=0):
    """Rows longer than the ball, labels around lines, and a stranger in nine."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    margins = X @ rng.standard_normal((d, n_classes))
    y = (margins + rng.gumbel(size=margins.shape)).argmax(axis=1)
    y[::9] = n_classes
    return X, y


def pose(X, y, alpha=1.4, linear=None, R=1.0, B0=0.0, n_classes=K, block_rows=None):
    labels = Classes(np.arange(n_classes))
    blocks = as_row_blocks(X, y, labels=labels, block_rows=block_rows)
    rows = PrivateRows(blocks, L2Ball(R, B0))
    return MatrixObjective(rows, SoftmaxLoss(n_classes), alpha, linear)


def noise(size, scale=4.2, seed=1):
    return np.random.default_rng(seed).standard_normal(size) * scale


def solve(objective, R=1.0, passes=40):
    solution = objective.minimise(gradient_tol=TOLERANCE * R)
    assert solution.gradient_norm <= TOLERANCE * R
    # a bound on work that does not depend on the clock
    assert solution.n_passes <= passes
    gradient = objective.gradient(solution.x)
    assert np.linalg.norm(gradient) == pytest.approx(
        solution.gradient_norm, abs=1e-10 * R
    )
    return solution.x


def dense(X, y, theta, alpha, linear, ball, n_classes=K):
    """Value, gradient and Hessian from one Kronecker product a row."""
    value = 0.5 * alpha * theta @ theta + linear @ theta
    gradient = alpha * theta + linear
    hessian = alpha * np.eye(len(theta))
    for x, label in zip(ball.project(X), y, strict=True):
        if label not in range(n_classes):
            continue
        t = theta.reshape(n_classes, -1) @ x
        weights = np.exp(t - t.max())
        p = weights / weights.sum()
        value += np.log(weights.sum()) + t.max() - t[label]
        gradient = gradient + np.kron(p - np.eye(n_classes)[label], x)
        hessian += np.kron(np.diag(p) - np.outer(p, p), np.outer(x, x))
    return value, gradient, hessian


X, Y = draw(150, 4)
X[3], X[4] = 1e300, 0.0
HOLD = {
    "C": np.asarray,
    "F": np.asfortranarray,
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "frame": pd.DataFrame,
}


@pytest.mark.parametrize("B0", [0.0, 0.5])
@pytest.mark.parametrize("hold", HOLD)
def test_sums_in_blocks_are_those_of_kronecker_products(hold, B0):
    d = X.shape[1] + (B0 > 0)
    b, theta = noise(K * d), noise(K * d, 1.0, seed=2)
    objective = pose(HOLD[hold](X), Y, 0.7, b, R=1.3, B0=B0, block_rows=17)
    value, gradient, hessian = dense(X, Y, theta, 0.7, b, L2Ball(1.3, B0))
    assert objective.value(theta) == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(objective.gradient(theta), gradient, rtol=1e-11)
    found = objective.gradient_hessian(theta)
    np.testing.assert_allclose(found[0], gradient, rtol=1e-11)
    np.testing.assert_allclose(found[1], hessian, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(found[1], found[1].T)


def test_derivatives_are_those_of_the_value():
    b, theta = noise(K * 5), noise(K * 5, 1.0, seed=2)
    objective = pose(X, Y, 0.7, b, R=1.3, B0=0.5)
    gradient, hessian = objective.gradient_hessian(theta)
    h = 1e-3
    for axis, step in enumerate(h * np.eye(K * 5)):
        # central differences of order four
        at = [objective.value(theta + m * step) for m in (-2, -1, 1, 2)]
        slope = (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h)
        assert slope == pytest.approx(gradient[axis], abs=1e-9)
        at = [objective.gradient(theta + m * step) for m in (-2, -1, 1, 2)]
        bend = (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h)
        np.testing.assert_allclose(bend, hessian[axis], atol=1e-9)


@pytest.mark.parametrize("sizes", [(2, 1), (10, 20), (3, 100), (12, 4)], ids=str)
@pytest.mark.parametrize("precision", [np.float64, np.float32])
def test_packed_halves_make_the_whole_hessian(sizes, precision):
    from skdp.solvers._matrix_hessian import HessianSum

    (k, d), n, rng = sizes, 1_100, np.random.default_rng(0)
    x, f, A = rng.standard_normal((n, d)), rng.random(n), rng.random((n, k, k))
    W = A + A.transpose(0, 2, 1)
    W[:, range(k), range(k)] -= W.sum(axis=2)
    fitted = np.column_stack([x * f[:, None], np.ones(n)])
    total = HessianSum(k, d + 1, precision)
    for rows in total.pieces(n):
        held = x[rows] if rows.start else sp.csr_array(x[rows])
        total.add(held, f[rows], W[rows], 1.0)
    expected = np.einsum("nkm,ni,nj->kimj", W, fitted, fitted, optimize=True)
    size = k * (d + 1)
    tolerance = 1e-9 if precision is np.float64 else 2e-2
    np.testing.assert_allclose(
        total.total(), expected.reshape(size, size), atol=tolerance
    )


def test_a_label_of_no_class_weighs_nothing():
    known = Y < K
    b, theta = noise(K * 4), noise(K * 4, 1.0)
    some, none = pose(X, Y, linear=b), pose(X[known], Y[known], linear=b)
    np.testing.assert_allclose(
        some.gradient_hessian(theta)[1], none.gradient_hessian(theta)[1], rtol=1e-12
    )
    np.testing.assert_allclose(solve(some), solve(none), atol=2 * TOLERANCE)
    strangers = pose(X, np.full(len(X), -7), alpha=2.0, linear=b)
    np.testing.assert_allclose(solve(strangers), -b / 2.0, rtol=1e-14)


def test_a_loss_may_have_more_classes_than_the_labels():
    rows = PrivateRows(as_row_blocks(X, Y, labels=Classes(range(K))), L2Ball(1.0))
    theta = solve(MatrixObjective(rows, SoftmaxLoss(K + 1), 1.0)).reshape(K + 1, -1)
    np.testing.assert_allclose(theta.sum(axis=0), 0.0, atol=1e-7)


@pytest.mark.parametrize("n", [40, 3_000])
@pytest.mark.parametrize("B0", [0.0, 0.5])
def test_two_classes_are_the_logistic_objective_of_the_difference(n, B0):
    # the ridge on two halves of a difference is half the ridge on the difference
    X, y = draw(n, 5, n_classes=2)
    d = 5 + (B0 > 0)
    b = noise(d)
    theta = solve(pose(X, y, 2.6, np.hstack([-b, b]), B0=B0, n_classes=2))
    labels = Labels([0, 1])
    rows = PrivateRows(as_row_blocks(X, y, labels=labels), L2Ball(1.0, B0))
    expected = minimise(Objective(rows, LogisticLoss(), 1.3, b), gradient_tol=1e-9)
    np.testing.assert_allclose(theta[d:] - theta[:d], expected.x, atol=3e-8)
    np.testing.assert_allclose(theta[d:], -theta[:d], atol=3e-8)


@pytest.mark.parametrize("n", [30, 3_000, 20_000])
@pytest.mark.parametrize("B0", [0.0, 0.5])
def test_without_noise_the_answer_is_that_of_scikit_learn(n, B0):
    X, y = draw(n, 4)
    y %= K
    P = L2Ball(1.0, B0).project(X)
    reference = LogisticRegression(
        C=0.5, solver="newton-cg", fit_intercept=False, tol=1e-10, max_iter=1_000
    )
    theta = solve(pose(X, y, alpha=2.0, B0=B0))
    expected = reference.fit(P, y).coef_
    np.testing.assert_allclose(theta.reshape(K, -1), expected, atol=1e-6)


@pytest.mark.parametrize("n", [5, 2_000, 50_000])
def test_the_certificate_holds_in_higher_precision(n):
    X, y = draw(n, 5)
    b, ball = noise(K * 6), L2Ball(1.0, 0.5)
    solution = pose(X, y, linear=b, B0=0.5).minimise(gradient_tol=TOLERANCE)
    theta = solution.x.astype(np.longdouble).reshape(K, -1)
    P = ball.project(X).astype(np.longdouble)
    t = P @ theta.T
    slopes = np.exp(t - t.max(axis=1, keepdims=True))
    slopes /= slopes.sum(axis=1, keepdims=True)
    slopes[np.arange(n), y % K] -= 1.0
    slopes[y == K] = 0.0
    data = [
        math.fsum((slopes[:, k] * P[:, j]).tolist()) for k in range(K) for j in range(6)
    ]
    norm = np.linalg.norm(np.array(data) + 1.4 * solution.x + b)
    assert norm <= TOLERANCE + 1e-11
    assert norm == pytest.approx(solution.gradient_norm, abs=1e-11)


def test_every_storage_of_the_same_rows_gives_the_same_answer():
    # values that float32 holds exactly, and rows enough for parts and rough gradients
    X, y = draw(20_000, 5)
    X = X.astype(np.float32).astype(float)
    b = noise(K * 6)
    expected = solve(pose(X, y, linear=b, B0=0.5))
    holders = HOLD | {"float32": np.float32, "coo": sp.coo_array}
    for name, hold in holders.items():
        theta = solve(pose(hold(X), y, linear=b, B0=0.5))
        np.testing.assert_allclose(theta, expected, atol=2e-8, err_msg=name)
        if name == "float32":
            np.testing.assert_array_equal(theta, expected)
    chunks = [(X[i : i + 900], y[i : i + 900]) for i in range(0, len(y), 900)]
    theta = solve(pose(chunks, None, linear=b, B0=0.5))
    np.testing.assert_allclose(theta, expected, atol=2e-8)


@pytest.mark.parametrize("R", [0.25, 1024.0, 2.0**-150, 2.0**150])
@pytest.mark.parametrize("n", [300, 20_000])
def test_powers_of_two_scale_the_answer_to_the_last_bit(R, n):
    X, y = draw(n, 5)
    b = noise(K * 6)
    one = pose(X, y, linear=b, B0=0.5).minimise(gradient_tol=TOLERANCE)
    scaled = pose(X * R, y, 1.4 * R * R, b * R, R=R, B0=R / 2)
    other = scaled.minimise(gradient_tol=TOLERANCE * R)
    np.testing.assert_array_equal(other.x, one.x / R)
    assert other.gradient_norm == one.gradient_norm * R
    assert other.n_passes == one.n_passes


def test_solving_twice_gives_the_same_bits():
    X, y = draw(20_000, 5)
    first, second = (pose(X, y, linear=noise(K * 5)) for _ in range(2))
    np.testing.assert_array_equal(solve(first), solve(second))
    np.testing.assert_array_equal(solve(first), solve(second))


X0, Y0 = draw(20_000, 6)
RNG = np.random.default_rng(7)
SEPARABLE = (X0 @ np.eye(6)[:, :K]).argmax(axis=1)
ORDER = np.lexsort((X0[:, 0], Y0))
RARE = np.zeros((20_000, 6))
RARE[:, 0], RARE[:3, 1], RARE[100:104, 2:] = 1.0, 5.0, X0[:4, 2:]
FAR = X0.copy()
FAR[::8] *= 1e300
FAR[3::8] *= 1e200
FAR[5::8] *= 1e-200
FAR[0], FAR[1] = 1e308, -1.7e308

HOSTILE = {
    "no rows": (np.empty((0, 3)), np.empty(0), {}),
    "one row": (X0[1:2], Y0[1:2], {}),
    "one row of no class": (X0[:1], Y0[:1], {}),
    "one row, one column": (X0[1:2, :1], Y0[1:2], {}),
    "more columns than rows": (RNG.standard_normal((5, 200)), Y0[:5], {}),
    "a constant column": (np.ones((20_000, 2)), Y0, {}),
    "duplicated columns": (np.hstack([X0, X0, X0]), Y0, {}),
    "duplicated columns, tiny alpha": (np.hstack([X0, X0]), Y0, {"alpha": 1e-3}),
    "zero rows": (np.zeros((20_000, 3)), Y0, {}),
    "separable": (X0, SEPARABLE, {}),
    "separable, tiny alpha": (X0, SEPARABLE, {"alpha": 1e-3, "linear": 0.05}),
    "sorted": (X0[ORDER], Y0[ORDER], {}),
    "one class": (X0, np.ones(20_000), {}),
    "one class, tiny alpha": (X0, np.ones(20_000), {"alpha": 1e-3, "passes": 200}),
    "badly scaled": (X0 * np.logspace(-6, 6, 6), Y0, {}),
    "badly scaled, small": (X0 * np.logspace(-7, 0, 6), Y0, {"alpha": 1e-2}),
    "tiny alpha": (X0, Y0, {"alpha": 1e-3}),
    "huge noise": (X0, Y0, {"linear": 1e4}),
    "noise of the size of n": (X0, Y0, {"linear": 2e4, "alpha": 1e-2, "passes": 60}),
    "noise alone": (np.zeros((3, 2)), Y0[:3], {"linear": 1e4}),
    "rare rows carry columns": (RARE, Y0, {"alpha": 1e-3, "passes": 150}),
    "rows from 1e-200 to 1e308": (FAR, Y0, {}),
    "sparse rows from 1e-200 to 1e308": (sp.csr_array(FAR), Y0, {}),
    "integers": (RNG.integers(0, 10**9, (20_000, 4)), Y0, {}),
    "booleans": (X0 > 0, Y0, {}),
    "blocks of one row": (X0[:300], Y0[:300], {"block_rows": 1}),
    "wide": (RNG.standard_normal((300, 600)), Y0[:300], {"passes": 60}),
    "wide and badly scaled": (
        RNG.standard_normal((300, 600)) * np.logspace(-3, 3, 600),
        Y0[:300],
        {"passes": 60},
    ),
    "wide and without rows": (np.empty((0, 600)), np.empty(0), {}),
    "wide and sparse": (
        sp.random_array((5_000, 2_000), density=1e-3, random_state=0, format="csc"),
        Y0[:5_000],
        {"passes": 60},
    ),
    "sparse": (
        sp.random_array((5_000, 50), density=0.05, random_state=0, format="coo"),
        Y0[:5_000],
        {"alpha": 1e-2},
    ),
}


@pytest.mark.parametrize("B0", [0.0, 0.5])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_data_end_certified_and_in_silence(name, B0):
    X, y, options = HOSTILE[name]
    options = dict(options)
    passes = options.pop("passes", 40)
    b = noise(K * (X.shape[1] + (B0 > 0)), options.pop("linear", 4.2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        objective = pose(X, y, linear=b, B0=B0, **options)
        solution = objective.minimise(gradient_tol=TOLERANCE)
    assert solution.gradient_norm <= TOLERANCE
    assert solution.n_passes <= passes


@pytest.mark.parametrize("R", [1e-50, 1e50, 1e-99, 1e99])
def test_any_unit_of_length_will_do(R):
    with np.errstate(over="ignore"):
        X = np.clip(FAR * R, -1.7e308, 1.7e308)
    b = noise(K * 7) * R
    objective = pose(X, Y0, alpha=R * R, linear=b, R=R, B0=R / 2)
    solution = objective.minimise(gradient_tol=TOLERANCE * R)
    assert solution.gradient_norm <= TOLERANCE * R
    assert np.isfinite(solution.x).all()


def test_without_rows_the_answer_is_noise_over_ridge():
    b = noise(K * 4)
    theta = solve(pose(np.empty((0, 3)), np.empty(0), alpha=3.0, linear=b, B0=0.5))
    np.testing.assert_allclose(theta, -b / 3.0, rtol=1e-15)


@pytest.mark.parametrize("held", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_a_hessian_never_formed_gives_the_same_answer(monkeypatch, held):
    X, y = draw(4_000, 8, n_classes=4)
    objective = pose(held(X), y, linear=noise(36), B0=0.5, n_classes=4)
    expected = solve(objective)
    monkeypatch.setattr(problem, "_MAX_COEFFICIENTS", 10)
    theta = solve(objective)
    np.testing.assert_allclose(theta, expected, atol=2 * TOLERANCE / 1.4)


def test_many_coefficients_are_solved_without_a_hessian():
    X, y = draw(700, 40, n_classes=40)
    solve(pose(X, y, linear=noise(1_600), n_classes=40), passes=60)


def test_rough_gradients_change_the_way_but_not_the_certificate(monkeypatch):
    X, y = draw(20_000, 6)
    objective = pose(X, y, linear=noise(K * 6))
    expected = solve(objective)
    for eps in (0.0, 1.0):
        # never content with them, or never using them
        monkeypatch.setattr(problem, "_ROUGH_EPS", eps)
        theta = solve(objective)
        np.testing.assert_allclose(theta, expected, atol=2 * TOLERANCE / 1.4)


def test_a_tolerance_below_all_rounding_ends_too():
    solution = pose(X0, Y0, linear=noise(K * 6)).minimise(gradient_tol=1e-30)
    assert solution.gradient_norm <= 1e-10
    assert solution.n_passes <= 300


def test_noise_too_large_for_the_tolerance_ends_at_its_own_rounding():
    b = noise(K * 6, 1e12)
    solution = pose(X0, Y0, linear=b).minimise(gradient_tol=1e-8)
    assert solution.gradient_norm <= 1e-14 * np.linalg.norm(b)
    assert solution.n_passes <= 40


def test_one_solve_of_a_stream_reads_whole_passes_only():
    class Counted(list):
        opened = 0

        def __iter__(self):
            self.opened += 1
            return super().__iter__()

    X, y = draw(3_000, 5)
    chunks = Counted([(X[:1_000], y[:1_000]), (X[1_000:], y[1_000:])])
    objective = pose(chunks, None, linear=noise(K * 5))
    opened = chunks.opened
    solution = objective.minimise(gradient_tol=TOLERANCE)
    assert chunks.opened - opened == solution.n_passes


@pytest.mark.parametrize("alpha", [0.0, -1.0, float("nan")])
def test_a_ridge_that_is_not_positive_is_refused(alpha):
    with pytest.raises(ValueError, match=r"alpha .*Allowed: "):
        pose(X, Y, alpha=alpha)


@pytest.mark.parametrize("shape", [(4,), (11,), (3, 4)])
def test_a_linear_term_of_another_shape_is_refused(shape):
    with pytest.raises(ValueError, match=r"linear .*Allowed: \(12,\)"):
        pose(X, Y, linear=np.zeros(shape))


def test_labels_that_number_no_classes_are_refused():
    loss, ball = SoftmaxLoss(2), L2Ball(1.0)
    for labels in (None, Labels([0, 1]), Classes([0, 1, 2])):
        signs = Y if labels is not None else np.sign(Y - 1.0)
        rows = PrivateRows(as_row_blocks(X, signs, labels=labels), ball)
        with pytest.raises(ValueError, match=r"labels .*Allowed: "):
            MatrixObjective(rows, loss, 1.0)


def test_numbers_of_classes_are_refused_where_signs_are_read():
    rows = PrivateRows(as_row_blocks(X, Y, labels=Classes(range(3))), L2Ball(1.0))
    with pytest.raises(ValueError, match=r"numbers of classes.*Allowed: "):
        Objective(rows, LogisticLoss(), 1.0)
