"""The solver ends certified, from any start, on anything, and tells nobody how."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from skdp.losses import LogisticLoss
from skdp.rows import L2Ball, PrivateRows, as_row_blocks
from skdp.solvers import Objective, minimise

LOSS = LogisticLoss()


def draw(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    margins = X @ rng.standard_normal(d)
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-margins)), 1.0, -1.0)


def pose(X, y, alpha=1.05, linear=None, R=1.0, B0=0.0, block_rows=None):
    rows = PrivateRows(as_row_blocks(X, y, block_rows=block_rows), L2Ball(R, B0))
    return Objective(rows, LOSS, alpha, linear)


def noise(d, scale=4.2, seed=1):
    return np.random.default_rng(seed).standard_normal(d) * scale


def solve(objective, R=1.0, passes=40):
    solution = minimise(objective, gradient_tol=1e-8 * R)
    assert solution.gradient_norm <= 1e-8 * R
    # a bound on work that does not depend on the clock
    assert solution.n_passes <= passes
    return solution.x


def precise_gradient_norm(X, y, ball, alpha, linear, theta):
    """Gradient norm of J in long double with exactly rounded sums over rows."""
    P = ball.project(X).astype(np.longdouble)
    t = P @ theta.astype(np.longdouble)
    slopes = -y / (1 + np.exp(y * t))
    data = [math.fsum((slopes * P[:, j]).tolist()) for j in range(P.shape[1])]
    return np.linalg.norm(np.array(data) + alpha * theta + linear)


@pytest.mark.parametrize("n", [30, 3_000, 30_000])
@pytest.mark.parametrize("d", [1, 8])
def test_without_noise_the_answer_is_that_of_scikit_learn(n, d):
    X, y = draw(n, d)
    P = L2Ball(1.0, 0.5).project(X)
    reference = LogisticRegression(
        C=0.5, solver="newton-cholesky", fit_intercept=False, tol=1e-12
    )
    theta = solve(pose(X, y, alpha=2.0, B0=0.5))
    expected = reference.fit(P, y).coef_[0]
    np.testing.assert_allclose(theta, expected, rtol=1e-8, atol=1e-8)
    plain = solve(pose(X, y, alpha=2.0))
    expected = reference.fit(P[:, :-1], y).coef_[0]
    np.testing.assert_allclose(plain, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("n", [5, 2_000, 50_000])
def test_the_certificate_holds_in_higher_precision(n):
    X, y = draw(n, 6)
    b = noise(7)
    ball = L2Ball(1.0, 0.5)
    solution = minimise(pose(X, y, linear=b, B0=0.5), gradient_tol=1e-8)
    norm = precise_gradient_norm(X, y, ball, 1.05, b, solution.x)
    assert norm <= 1e-8 + 1e-11
    assert norm == pytest.approx(solution.gradient_norm, abs=1e-11)


def storages(X, y, folder):
    np.save(folder / "rows.npy", X)
    readonly = X.copy()
    readonly.flags.writeable = False
    return {
        "F": np.asfortranarray(X),
        "float32": X.astype(np.float32),
        "memmap": np.load(folder / "rows.npy", mmap_mode="r"),
        "read-only": readonly,
        "csr": sp.csr_array(X),
        "csc": sp.csc_matrix(X),
        "frame": pd.DataFrame(X),
    }


def test_every_storage_of_the_same_rows_gives_the_same_answer(tmp_path):
    # values that float32 holds exactly
    X, y = draw(20_000, 7)
    X = X.astype(np.float32).astype(float)
    b = noise(8)
    expected = solve(pose(X, y, linear=b, B0=0.5))
    for name, held in storages(X, y, tmp_path).items():
        theta = solve(pose(held, y, linear=b, B0=0.5))
        np.testing.assert_allclose(theta, expected, rtol=1e-10, err_msg=name)
        if name in ("float32", "memmap", "read-only"):
            np.testing.assert_array_equal(theta, expected, err_msg=name)
    chunks = [(X[i : i + 900], y[i : i + 900]) for i in range(0, len(y), 900)]
    theta = solve(pose(chunks, None, linear=b, B0=0.5))
    np.testing.assert_allclose(theta, expected, rtol=1e-10)


@pytest.mark.parametrize("R", [0.25, 2.0, 1024.0, 2.0**-150, 2.0**150])
@pytest.mark.parametrize("n", [300, 20_000])
def test_powers_of_two_scale_the_answer_to_the_last_bit(R, n):
    X, y = draw(n, 5)
    b = noise(6)
    one = minimise(pose(X, y, linear=b, B0=0.5), gradient_tol=1e-8)
    scaled = pose(X * R, y, alpha=1.05 * R * R, linear=b * R, R=R, B0=R / 2)
    other = minimise(scaled, gradient_tol=1e-8 * R)
    np.testing.assert_array_equal(other.x, one.x / R)
    assert other.gradient_norm == one.gradient_norm * R
    assert other.n_passes == one.n_passes


def test_any_two_starts_agree_within_the_certificate(monkeypatch):
    import skdp.solvers._minimise as module

    X, y = draw(5_000, 5)
    objective = pose(X, y, linear=noise(5))
    expected = solve(objective)
    for start in (np.full(5, 1e3), noise(5, 100.0), np.full(5, -1e6)):
        monkeypatch.setattr(module, "warm_start", lambda *_, s=start: (s, None))
        theta = solve(objective, passes=100)
        assert np.linalg.norm(theta - expected) <= 2e-8 / 1.05


X0, Y0 = draw(20_000, 6)
RNG = np.random.default_rng(7)
SEPARABLE = np.sign(X0 @ np.ones(6))
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
    "one row": (X0[:1], Y0[:1], {}),
    "one row, one column": (X0[:1, :1], Y0[:1], {}),
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
    "tiny alpha": (X0, Y0, {"alpha": 1e-10}),
    "huge noise": (X0, Y0, {"linear": 1e4}),
    "noise of the size of n": (X0, Y0, {"linear": 2e4, "alpha": 1e-2}),
    "noise alone": (np.zeros((3, 2)), Y0[:3], {"linear": 1e4}),
    "rare rows carry columns": (RARE, Y0, {"alpha": 1e-3, "passes": 100}),
    "rows from 1e-200 to 1e308": (FAR, Y0, {}),
    "sparse rows from 1e-200 to 1e308": (sp.csr_array(FAR), Y0, {}),
    "unknown labels only": (X0, np.zeros(20_000), {}),
    "some unknown labels": (X0, Y0 * (X0[:, 0] > 0), {}),
    "integers": (RNG.integers(0, 10**9, (20_000, 4)), Y0, {}),
    "booleans": (X0 > 0, Y0, {}),
    "blocks of one row": (X0[:300], Y0[:300], {"block_rows": 1}),
    "nearly a thousand columns": (RNG.standard_normal((900, 990)), Y0[:900], {}),
    "wide": (RNG.standard_normal((400, 1_500)), Y0[:400], {}),
    "wide and badly scaled": (
        RNG.standard_normal((400, 1_200)) * np.logspace(-3, 3, 1_200),
        Y0[:400],
        {},
    ),
    "wide and without rows": (np.empty((0, 1_100)), np.empty(0), {}),
    "wide and sparse": (
        sp.random_array((5_000, 4_000), density=1e-3, random_state=0, format="csc"),
        Y0[:5_000],
        {},
    ),
    "sparse": (
        sp.random_array((5_000, 100), density=0.05, random_state=0, format="coo"),
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
    b = noise(X.shape[1] + (B0 > 0), options.pop("linear", 4.2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solve(pose(X, y, linear=b, B0=B0, **options), passes=passes)


@pytest.mark.parametrize("R", [1e-50, 1e50, 1e-99, 1e99])
@pytest.mark.parametrize("X", [X0, FAR], ids=["near", "far"])
def test_any_unit_of_length_will_do(R, X):
    with np.errstate(over="ignore"):
        X = np.clip(X * R, -1.7e308, 1.7e308)
    objective = pose(X, Y0, alpha=R * R, linear=noise(7) * R, R=R, B0=R / 2)
    assert np.isfinite(solve(objective, R=R)).all()


def test_without_rows_the_answer_is_noise_over_ridge():
    b = noise(4)
    theta = solve(pose(np.empty((0, 3)), np.empty(0), alpha=3.0, linear=b, B0=0.5))
    np.testing.assert_allclose(theta, -b / 3.0, rtol=1e-15)


def test_copying_every_row_doubles_the_data_part_only():
    X, y = draw(500, 4)
    b, theta = noise(4), noise(4, 1.0)
    one, two = (
        pose(X, y, linear=b),
        pose(np.vstack([X, X]), np.hstack([y, y]), linear=b),
    )
    ridge = 1.05 * theta + b
    np.testing.assert_allclose(
        two.gradient(theta) - ridge, 2 * (one.gradient(theta) - ridge), rtol=1e-12
    )


@pytest.mark.parametrize("patience", [1, 2, 3])
@pytest.mark.parametrize("part_steps", [1, 2])
def test_other_limits_change_the_way_but_not_the_certificate(
    monkeypatch, patience, part_steps
):
    import skdp.solvers._newton as newton

    monkeypatch.setattr(newton, "_PATIENCE", patience)
    monkeypatch.setattr(newton, "_PART_STEPS", part_steps)
    for X, y in (draw(20_000, 6), (X0, SEPARABLE), (RARE, Y0)):
        solve(pose(X, y, linear=noise(6)), passes=100)


def test_a_model_that_points_uphill_is_replaced(monkeypatch):
    from skdp.solvers._model import QuadraticModel

    true, spoiled = QuadraticModel.direction, []

    def direction(self, gradient):
        if len(spoiled) < 3:
            spoiled.append(1)
            return gradient
        return true(self, gradient)

    monkeypatch.setattr(QuadraticModel, "direction", direction)
    solve(pose(X0[:100], Y0[:100], linear=noise(6)), passes=100)
    assert len(spoiled) == 3


def test_noise_too_large_for_the_tolerance_ends_at_its_own_rounding():
    b = noise(6, 1e12)
    solution = minimise(pose(X0, Y0, linear=b), gradient_tol=1e-8)
    assert solution.gradient_norm <= 1e-14 * np.linalg.norm(b)
    assert solution.n_passes <= 40


def test_a_tolerance_below_all_rounding_ends_too():
    solution = minimise(pose(X0, Y0, linear=noise(6)), gradient_tol=1e-30)
    assert solution.gradient_norm <= 1e-10
    assert solution.n_passes <= 300


def test_a_wide_table_gives_the_answer_of_a_narrow_one(monkeypatch):
    import skdp.solvers._problem as problem

    X, y = draw(5_000, 40)
    for held in (X, sp.csr_array(X)):
        objective = pose(held, y, linear=noise(41), B0=0.5)
        expected = solve(objective)
        with monkeypatch.context() as patch:
            patch.setattr(problem, "_MAX_COLUMNS", 10)
            theta = solve(objective)
        np.testing.assert_allclose(theta, expected, atol=2e-8 / 1.05)


def test_one_solve_of_a_stream_reads_whole_passes_only():
    class Counted(list):
        opened = 0

        def __iter__(self):
            self.opened += 1
            return super().__iter__()

    X, y = draw(3_000, 5)
    chunks = Counted([(X[:1_000], y[:1_000]), (X[1_000:], y[1_000:])])
    objective = pose(chunks, None, linear=noise(5))
    opened = chunks.opened
    solution = minimise(objective, gradient_tol=1e-8)
    assert chunks.opened - opened == solution.n_passes
