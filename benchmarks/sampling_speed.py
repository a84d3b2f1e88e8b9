"""How fast categories are counted and drawn, beside NumPy and pandas.

    OMP_NUM_THREADS=1 python benchmarks/sampling_speed.py
    OMP_NUM_THREADS=1 python benchmarks/sampling_speed.py --check  # status 1 on a miss

Coded rows are counted beside ``np.bincount``, text beside ``pandas.factorize``; exact
draws, from integer weights and entropy of the operating system, are made beside
``Generator.choice``. Processor times of one thread, the least of several runs, taken in
turns.
"""

import argparse
import sys
import time

import numpy as np
import pandas as pd

from skdp.accounting import PureDP
from skdp.mechanisms import RevealOrObscure
from skdp.random import as_random_source
from skdp.rows import Alphabet

SIZES = (9, 1000)
N_ROWS, N_DRAWS, RUNS = 10_000_000, 4_000_000, 5
#: Largest time of counting over that of the other way.
LARGEST_RATIO = {"codes": 1.5, "object strings": 0.8, "pandas strings": 0.8}
#: Least exact draws a second, in millions, by the number of categories.
LEAST_RATE = {9: 8.0, 1000: 5.0}


def seconds(*functions):
    """Return the least processor time of each function."""
    best = [float("inf")] * len(functions)
    for _ in range(RUNS):
        for i, function in enumerate(functions):
            start = time.process_time()
            function()
            best[i] = min(best[i], time.process_time() - start)
    return best


def counting(k):
    """Yield what was counted, and the time over that of NumPy or pandas."""
    codes = np.random.default_rng(0).integers(0, k, N_ROWS)
    ours, theirs = seconds(
        lambda: Alphabet(np.arange(k)).count(codes), lambda: np.bincount(codes)
    )
    yield "codes", ours / theirs
    names = np.array([f"category {i}" for i in range(k)], dtype=object)
    strings = names[codes]
    for kind, column in (("object", strings), ("pandas", pd.Series(strings))):
        ours, theirs = seconds(
            lambda column=column: Alphabet(names).count(column),
            lambda column=column: pd.factorize(column),
        )
        yield f"{kind} strings", ours / theirs


def drawing(k):
    """Return millions of exact draws a second, and the time over Generator.choice."""
    target = PureDP(1000.0, adjacency="add-remove")
    mechanism = RevealOrObscure.calibrate(target, n_categories=k, n_draws=N_DRAWS)
    counts = np.random.default_rng(0).integers(0, 1000, k)
    source, rng = as_random_source(None), np.random.default_rng(0)
    p = counts / counts.sum()
    ours, theirs = seconds(
        lambda: mechanism.release(counts, source),
        lambda: rng.choice(k, size=N_DRAWS, p=p),
    )
    return N_DRAWS / ours / 1e6, ours / theirs


def missed_targets(k, ratios, rate):
    """Return the targets that were missed, in words."""
    missed = [
        f"{what}, {k} categories: {ratio:.2f} > {LARGEST_RATIO[what]}"
        for what, ratio in ratios.items()
        if ratio > LARGEST_RATIO[what]
    ]
    if rate < LEAST_RATE.get(k, 0.0):
        missed.append(f"draws, {k} categories: {rate:.1f} M/s < {LEAST_RATE[k]} M/s")
    return missed


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="fail on a miss")
    options = parser.parse_args()
    print(
        "| categories | codes / np.bincount | object strings / pandas.factorize "
        "| pandas strings / pandas.factorize | draws a second "
        "| drawing / Generator.choice |"
    )
    print("|" + " ---: |" * 6)
    missed = []
    for k in SIZES:
        ratios = dict(counting(k))
        rate, versus = drawing(k)
        cells = " | ".join(f"{ratio:.2f}" for ratio in ratios.values())
        print(f"| {k} | {cells} | {rate:.1f} M | {versus:.2f} |", flush=True)
        missed += missed_targets(k, ratios, rate)
    print(f"\n{len(missed)} targets missed")
    print("\n".join(missed), end="\n" if missed else "")
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
