"""Synthetic data sets against noisy histograms: largest errors of queries, and time.

    OMP_NUM_THREADS=1 python benchmarks/synthetic_tables.py [--runs 200] [--large]
    OMP_NUM_THREADS=1 python benchmarks/synthetic_tables.py --check  # 1 if not so

First table: the exponential mechanism over synthetic data sets of a few points
(``HalfspaceSynthesizer``), with both base measures, beside a noisy histogram at the
same epsilon; mean of the largest error over all halfspaces on skewed bits, and the
bound that holds 19 times in 20. Second table: multiplicative weights (``MWEM``) beside
a noisy histogram and the uniform law, largest error over random halfspace queries.
Third: time of each, and of whole records from a trillion.

With ``--check`` the exit status is 1 unless the histogram is more accurate than both
base measures in every case, and all are within the bound.
"""

import argparse
import sys
import time
import warnings

import numpy as np

from skdp.exceptions import SkdpWarning
from skdp.synthesis import MWEM, HalfspaceSynthesizer, SyntheticHistogram, TableSampler
from skdp.synthesis._halfspaces import cube, halfspaces

HALFSPACE_CASES = (
    (2, 12, 200, 0.2),
    (2, 12, 200, 1.0),
    (3, 8, 200, 1.0),
    (3, 12, 200, 1.0),
    (3, 12, 1000, 0.2),
    (3, 12, 1000, 1.0),
)
N_MWEM, N_QUERIES, N_ROUNDS = 10_000, 300, 30


def skewed_bits(n, k, rng):
    """Return rows of bits, each copying the one before half of the time."""
    X = (rng.random((n, k)) < 0.3).astype(np.int64)
    for j in range(1, k):
        X[:, j] = np.where(rng.random(n) < 0.5, X[:, j - 1], X[:, j])
    return X


def largest_error(law, X, queries):
    """Return the largest error of a law over the cube on queries of rows of bits."""
    cells = X @ (1 << np.arange(X.shape[1])[::-1])
    real = np.bincount(cells, minlength=queries.shape[1]) / len(X)
    return float(np.abs(queries @ (np.ravel(law) - real)).max())


def law_of_points(points):
    """Return the law over the cube of a synthetic data set."""
    cells = points @ (1 << np.arange(points.shape[1])[::-1])
    return np.bincount(cells, minlength=1 << points.shape[1]) / len(points)


def halfspace_row(case, n_runs, rng):
    """Return mean errors of both base measures and of a histogram, and the bound."""
    k, m, n, epsilon = case
    queries, errors = halfspaces(k).astype(float), []
    for _ in range(n_runs):
        X = skewed_bits(n, k, rng)
        row = []
        for base in ("tuples", "multisets"):
            made = HalfspaceSynthesizer(epsilon=epsilon, n_points=m, base=base).fit(X)
            row.append(largest_error(law_of_points(made.points_), X, queries))
        histogram = SyntheticHistogram(
            epsilon=epsilon, categories=[[0, 1]] * k, method="histogram"
        ).fit(X)
        row.append(largest_error(histogram.probabilities_, X, queries))
        errors.append(row)
    return *np.mean(errors, axis=0), made.accuracy_bound_


def is_as_claimed(tuples, multisets, histogram, bound):
    """Return whether the histogram is more accurate, and all are within the bound."""
    return histogram < min(tuples, multisets) and max(tuples, multisets) < bound


def random_halfspaces(k, rng):
    """Return random halfspace queries on the cube."""
    weights = rng.normal(size=(N_QUERIES, k))
    levels = weights.clip(0).sum(axis=1) * rng.random(N_QUERIES)
    return (cube(k) @ weights.T >= levels).T.astype(np.uint8)


def mwem_row(k, epsilon, n_runs, rng):
    """Return mean errors of a histogram, of MWEM, and of the uniform law."""
    queries, errors = random_halfspaces(k, rng), []
    for _ in range(n_runs):
        X = skewed_bits(N_MWEM, k, rng)
        given = {"epsilon": epsilon, "categories": [[0, 1]] * k}
        laws = [
            SyntheticHistogram(method="histogram", **given).fit(X).probabilities_,
            MWEM(queries=queries, n_rounds=N_ROUNDS, **given).fit(X).probabilities_,
            np.full(1 << k, 0.5**k),
        ]
        errors.append([largest_error(law, X, queries) for law in laws])
    return np.mean(errors, axis=0)


def seconds(call):
    """Return the processor time of one call, the better of two."""
    spent = []
    for _ in range(2):
        start = time.process_time()
        call()
        spent.append(time.process_time() - start)
    return min(spent)


def timings(large, rng):
    """Yield what was done and how long it took."""
    for k, m in ((3, 12), (3, 20), *([(4, 8)] if large else [])):
        X = skewed_bits(1000, k, rng)
        synthesizer = HalfspaceSynthesizer(n_points=m)
        synthesizer.fit(X)
        what = f"halfspaces, {k} bits, {m} points, {synthesizer.n_candidates_:,}"
        yield f"{what} candidates", seconds(lambda s=synthesizer, X=X: s.fit(X))
    for k in (8, 12, *([16] if large else [])):
        X = skewed_bits(N_MWEM, k, rng)
        model = MWEM(
            categories=[[0, 1]] * k,
            queries=random_halfspaces(k, rng),
            n_rounds=N_ROUNDS,
        )
        yield f"MWEM, {1 << k:,} cells", seconds(lambda m=model, X=X: m.fit(X))
    for n in (100_000, *([1_000_000] if large else [])):
        X = rng.integers(0, 10, (n, 12))
        sampler = TableSampler(
            method="records", categories=[list(range(10))] * 12, adjacency="add-remove"
        )
        yield (
            f"one of 1e12 records, {n:,} rows",
            seconds(lambda s=sampler, X=X: s.fit(X)),
        )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--large", action="store_true", help="the slow cases too")
    parser.add_argument("--check", action="store_true", help="fail if not as claimed")
    options = parser.parse_args()
    warnings.simplefilter("ignore", SkdpWarning)
    rng = np.random.default_rng(0)
    print("| bits | points | rows | epsilon | tuples | multisets | histogram | bound |")
    print("|" + " ---: |" * 8)
    as_claimed = True
    for case in HALFSPACE_CASES:
        found = halfspace_row(case, options.runs, rng)
        as_claimed &= is_as_claimed(*found)
        row = " | ".join(f"{x:.4f}" for x in found)
        print(f"| {' | '.join(map(str, case))} | {row} |", flush=True)
    print("\n| bits | epsilon | histogram | MWEM | uniform |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for k in (8, 12, *([16] if options.large else [])):
        for epsilon in (0.5, 2.0):
            n_runs = max(1, options.runs // 40)
            row = " | ".join(f"{x:.4f}" for x in mwem_row(k, epsilon, n_runs, rng))
            print(f"| {k} | {epsilon} | {row} |", flush=True)
    print("\n| what | seconds |")
    print("| --- | ---: |")
    for what, spent in timings(options.large, rng):
        print(f"| {what} | {spent:.3f} |", flush=True)
    print(f"\nhistograms are {'' if as_claimed else 'NOT '}more accurate in every case")
    return 1 if options.check and not as_claimed else 0


if __name__ == "__main__":
    sys.exit(main())
