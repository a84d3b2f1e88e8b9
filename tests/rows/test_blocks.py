"""Every holder of rows yields the same rows, in order, without a copy of the table."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from skdp.rows import L2Ball, Labels, PrivateRows, RowBlocks, as_row_blocks


def table(n=1000, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 10, (n, d)).astype(float)
    return X, np.sign(rng.standard_normal(n))


def gather(blocks):
    pairs = list(blocks)
    X = [x if isinstance(x, np.ndarray) else x.toarray() for x, _ in pairs]
    return np.concatenate(X).astype(float), np.concatenate([y for _, y in pairs])


class Chunks:
    """A re-iterable of (X, y) chunks of uneven length."""

    def __init__(self, X, y, convert=lambda x: x):
        self.X, self.y, self.convert, self.opened = X, y, convert, 0

    def __iter__(self):
        self.opened += 1
        for a, b in ((0, 1), (1, 400), (400, 400), (400, len(self.y))):
            yield self.convert(self.X[a:b]), self.y[a:b]


def holders(X, y, folder):
    np.save(folder / "rows.npy", X)
    readonly = X.copy()
    readonly.flags.writeable = False
    strided = np.repeat(X, 2, axis=0)[::2]
    names = [f"f{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    mixed = frame.astype({"f0": "Int64", "f1": "float32", "f2": "Float64"})
    return {
        "C": X,
        "F": np.asfortranarray(X),
        "float32": X.astype(np.float32),
        "int8": X.astype(np.int8),
        "read-only": readonly,
        "strided": strided,
        "memmap": np.load(folder / "rows.npy", mmap_mode="r"),
        "csr": sp.csr_array(X),
        "csc": sp.csc_matrix(X),
        "coo": sp.coo_array(X),
        "csr int64 indices": _wide_indices(X),
        "frame": frame,
        "mixed frame": mixed,
    }


def _wide_indices(X):
    out = sp.csr_array(X)
    out.indices, out.indptr = out.indices.astype("i8"), out.indptr.astype("i8")
    return out


def test_every_holder_yields_the_same_rows(tmp_path):
    X, y = table()
    for name, held in holders(X, y, tmp_path).items():
        for size in (None, 1, 7, 333, 5000):
            blocks = as_row_blocks(held, y, block_rows=size)
            assert isinstance(blocks, RowBlocks)
            assert blocks.n_features == 6
            for _ in range(2):
                rows, labels = gather(blocks)
                np.testing.assert_array_equal(rows, X, err_msg=name)
                np.testing.assert_array_equal(labels, y)
                assert labels.dtype == np.float64


@pytest.mark.parametrize(
    "convert", [np.asarray, sp.csr_array, sp.csc_array, pd.DataFrame, np.ndarray.tolist]
)
def test_chunks_yield_the_same_rows(convert):
    X, y = table()
    chunks = Chunks(X, y, lambda x: convert(x) if len(x) else x)
    blocks = as_row_blocks(chunks, block_rows=50)
    for _ in range(2):
        rows, labels = gather(blocks)
        np.testing.assert_array_equal(rows, X)
        np.testing.assert_array_equal(labels, y)
    assert chunks.opened == 3


def test_labels_are_encoded_on_the_way():
    X, y = table()
    raw = np.where(y > 0, "yes", "no")
    labels = Labels(["no", "yes"])
    np.testing.assert_array_equal(gather(as_row_blocks(X, raw, labels=labels))[1], y)
    chunks = Chunks(X, raw)
    np.testing.assert_array_equal(gather(as_row_blocks(chunks, labels=labels))[1], y)


def test_blocks_of_blocks_are_the_same_blocks():
    blocks = as_row_blocks(*table())
    assert as_row_blocks(blocks) is blocks


def test_rows_without_labels_have_label_zero():
    X, _ = table()
    assert not gather(as_row_blocks(X))[1].any()


@pytest.mark.parametrize("hold", [np.asarray, sp.csr_array, pd.DataFrame])
@pytest.mark.parametrize("fraction", [0.02, 0.2])
def test_a_part_is_spread_over_the_whole_table(hold, fraction):
    n = 20_000
    X = np.column_stack([np.arange(n), np.ones(n)]).astype(float)
    part, share = as_row_blocks(hold(X), np.ones(n)).part(fraction, 10)
    rows, labels = gather(part)
    assert share == pytest.approx(fraction, rel=0.1)
    assert len(rows) == len(labels) == round(share * n)
    # a table sorted by anything: each of a hundred strata is met
    assert len(np.unique(rows[:, 0] // (n / 100))) == 100
    assert len(np.unique(rows[:, 0])) == len(rows)


def test_a_part_too_large_to_copy_is_made_of_views():
    X = np.zeros((60_000, 200))
    part, share = as_row_blocks(X, np.zeros(60_000)).part(0.2, 10)
    assert all(np.shares_memory(x, X) for x, _ in part)
    assert share == pytest.approx(0.2, rel=0.1)


def test_small_tables_and_streams_have_no_part():
    X, y = table(n=200)
    for held in (X, sp.csr_array(X), pd.DataFrame(X)):
        assert as_row_blocks(held, y).part(0.2, 10) is None
    assert as_row_blocks(X, y).part(0.9, 190) is None
    assert as_row_blocks([(X, y)]).part(0.2, 10) is None


@pytest.mark.parametrize("kind", ["C", "F", "float32", "csr", "frame", "csr matrix"])
def test_a_pass_never_copies_the_table(kind):
    X = np.ones((40_000, 20), order="F" if kind == "F" else "C")
    held = {
        "float32": lambda: X.astype("f4"),
        "csr": lambda: sp.csr_array(X),
        "csr matrix": lambda: sp.csr_matrix(X),
        "frame": lambda: pd.DataFrame(X),
    }.get(kind, lambda: X)()
    y = np.ones(len(X))
    tracemalloc.start()
    for _ in as_row_blocks(held, y):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.nbytes / 3


def test_duplicates_in_a_sparse_matrix_are_summed_on_a_copy():
    rows, cols = np.array([0, 0, 1]), np.array([1, 1, 0])
    X = sp.csr_array((np.ones(3), cols, np.array([0, 2, 3])), shape=(2, 2))
    out, _ = gather(as_row_blocks(X, np.ones(2)))
    assert out.tolist() == [[0.0, 2.0], [1.0, 0.0]]
    assert X.nnz == rows.size


@pytest.mark.parametrize(
    ("X", "y", "error"),
    [
        (np.ones(3), np.ones(3), ValueError),
        (np.ones((3, 2)), np.ones(2), ValueError),
        (np.ones((3, 2)), np.ones((3, 1)), ValueError),
        (np.ones((3, 2)), np.array(["a", "b", "a"]), TypeError),
        (np.array([["a"], ["b"]]), np.ones(2), TypeError),
        (np.ones((3, 2), dtype=complex), np.ones(3), TypeError),
        (np.ones((3, 2), dtype=object), np.ones(3), TypeError),
        (pd.DataFrame({"a": ["x", "y"]}), np.ones(2), TypeError),
        (pd.DataFrame({"a": pd.Categorical(["x", "y"])}), np.ones(2), TypeError),
        (5, None, TypeError),
        ((i for i in []), None, TypeError),
        ([], None, ValueError),
        ([(np.ones((2, 2)), np.ones(2))], np.ones(2), TypeError),
        ([np.ones((2, 2))], None, TypeError),
        ([(np.ones(2), np.ones(2))], None, ValueError),
    ],
)
def test_what_is_not_a_table_is_refused(X, y, error):
    with pytest.raises(error):
        as_row_blocks(X, y)


@pytest.mark.parametrize("size", [0, -3])
def test_a_block_has_at_least_one_row(size):
    with pytest.raises(ValueError, match="block_rows"):
        as_row_blocks(*table(), block_rows=size)


def test_chunks_of_different_width_are_refused():
    chunks = [(np.ones((2, 2)), np.ones(2)), (np.ones((2, 3)), np.ones(2))]
    with pytest.raises(ValueError, match="columns"):
        list(as_row_blocks(chunks))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["X", "csr"])
def test_values_of_chunks_are_checked_in_the_first_pass_and_not_told(bad, where):
    X, y = np.full((4, 2), 0.123456), np.ones(4)
    X[3] = bad
    blocks = as_row_blocks([(sp.csr_array(X) if where == "csr" else X, y)])
    with pytest.raises(ValueError, match="NaN or infinity") as caught:
        list(blocks)
    assert "0.123456" not in str(caught.value)
    assert "3" not in str(caught.value)


def test_projected_rows_are_clipped_and_end_in_the_constant():
    X, y = table()
    ball = L2Ball(2.0, 1.0)
    rows = PrivateRows(as_row_blocks(X, y, block_rows=64), ball)
    assert rows.n_coefficients == 7
    out, labels = gather(rows.projected())
    np.testing.assert_array_equal(out, ball.project(X))
    np.testing.assert_array_equal(labels, y)


def test_importing_rows_does_not_import_pandas():
    import subprocess
    import sys

    code = "import sys, skdp.rows, skdp.solvers; sys.exit('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
