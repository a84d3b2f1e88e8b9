"""What a solve holds besides the rows: a few numbers a row, whatever the columns."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from skdp.losses import LogisticLoss, SoftmaxLoss
from skdp.rows import Classes, L2Ball, PrivateRows, as_row_blocks
from skdp.solvers import MatrixObjective, Objective, minimise


def peak_of_solve(X, y, B0=0.5):
    """Peak traced bytes of blocks, clipping and solve; X and y are there before."""
    tracemalloc.start()
    rows = PrivateRows(as_row_blocks(X, y), L2Ball(1.0, B0))
    linear = np.full(rows.n_coefficients, 0.3)
    solution = minimise(Objective(rows, LogisticLoss(), 1.0, linear), gradient_tol=1e-8)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert solution.gradient_norm <= 1e-8
    return peak


@pytest.mark.parametrize("kind", ["C", "F", "float32", "int32"])
def test_extra_memory_does_not_grow_with_the_columns(kind):
    rng, n = np.random.default_rng(0), 200_000
    y = np.sign(rng.standard_normal(n))
    peaks = []
    for d in (4, 24):
        X = rng.integers(-99, 99, (n, d)).astype(kind if kind == "int32" else "f4")
        X = X.astype(float) if kind in "CF" else X
        peaks.append(peak_of_solve(np.asfortranarray(X) if kind == "F" else X, y))
    # one factor a row, the copy of a part, and blocks
    assert max(peaks) <= 8 * n + 8 * 2**20 + 6 * 2**20


def test_a_wide_sparse_table_stays_sparse():
    rng, n = np.random.default_rng(1), 4_000
    X = sp.random_array((n, n), density=2.5e-3, random_state=0, format="csr")
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    y = np.sign(rng.standard_normal(n))
    for held in (X, X.tocsc(), X.tocoo()):
        assert peak_of_solve(held, y) < 5 * size


def peak_of_matrix_solve(X, y, n_classes):
    """Peak traced bytes of encoding, blocks, clipping and solve."""
    tracemalloc.start()
    blocks = as_row_blocks(X, y, labels=Classes(range(n_classes)))
    rows = PrivateRows(blocks, L2Ball(1.0, 0.5))
    linear = np.full(n_classes * rows.n_coefficients, 0.3)
    objective = MatrixObjective(rows, SoftmaxLoss(n_classes), 2.0, linear)
    solution = objective.minimise(gradient_tol=1e-8)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert solution.gradient_norm <= 1e-8
    return peak


@pytest.mark.parametrize("kind", ["C", "float32"])
def test_extra_memory_of_several_classes_does_not_grow_with_the_columns(kind):
    rng, n = np.random.default_rng(0), 150_000
    y = rng.integers(0, 3, n)
    for d in (3, 20):
        X = rng.standard_normal((n, d)).astype("f8" if kind == "C" else "f4")
        # labels and a factor for each row, the copy of a part, and blocks
        assert peak_of_matrix_solve(X, y, 3) <= 2 * 8 * n + 8 * 2**20 + 8 * 2**20


@pytest.mark.parametrize(
    ("n_classes", "d"), [(20, 40), (20, 100), (300, 10), (2_000, 2)], ids=str
)
def test_no_block_holds_rows_times_pairs_of_coefficients(n_classes, d):
    # rows times coefficients of all classes take 37 to 96 MB
    rng, n = np.random.default_rng(0), {20: 6_000, 300: 4_000, 2_000: 1_500}[n_classes]
    X, y = rng.standard_normal((n, d)), rng.integers(0, n_classes, n)
    assert peak_of_matrix_solve(X, y, n_classes) <= 20 * 2**20


def test_a_wide_sparse_table_of_several_classes_stays_sparse():
    rng, n = np.random.default_rng(1), 4_000
    X = sp.random_array((n, n), density=2.5e-3, random_state=0, format="csr")
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    # coefficients of three classes take as much as the table
    assert peak_of_matrix_solve(X, rng.integers(0, 3, n), 3) < 12 * size


SCRIPT = """
import os, resource, sys
import numpy as np
from skdp.losses import LogisticLoss
from skdp.rows import L2Ball, PrivateRows, as_row_blocks
from skdp.solvers import Objective, minimise
n, d, path = 4_000_000, 64, sys.argv[1]
X = np.lib.format.open_memmap(path, "w+", "f4", (n, d))
rng = np.random.default_rng(0)
for i in range(0, n, 100_000):
    X[i:i + 100_000] = rng.standard_normal((100_000, d), dtype="f4")
X.flush()
X = np.load(path, mmap_mode="r")
y = np.where(X[:, 0] > 0, 1.0, -1.0)
def status(key):
    lines = open("/proc/self/status").read().splitlines()
    return int(next(l for l in lines if l.startswith(key)).split()[1]) * 1024
# the map itself takes address space; everything else may take 200 MB more
limit = status("VmSize") + 200 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
rows = PrivateRows(as_row_blocks(X, y), L2Ball(1.0, 0.5))
s = minimise(Objective(rows, LogisticLoss(), 1.0), gradient_tol=1e-8)
assert s.gradient_norm <= 1e-8
"""


@pytest.mark.slow
def test_a_memory_map_larger_than_the_memory_left_can_be_fitted(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "rows.npy")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
