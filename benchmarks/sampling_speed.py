"""How fast categories are counted and drawn, as ratios to NumPy and pandas.

Run ``python benchmarks/sampling_speed.py``. Times are processor times of one thread,
the least of several runs, taken in turns.
"""

import time

import numpy as np
import pandas as pd

from skdp.accounting import PureDP
from skdp.mechanisms import RevealOrObscure
from skdp.random import as_random_source
from skdp.rows import Alphabet

N_ROWS, N_DRAWS, RUNS = 10_000_000, 4_000_000, 5


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
    """Print ratios for coded rows and for strings."""
    codes = np.random.default_rng(0).integers(0, k, N_ROWS)
    ours, theirs = seconds(
        lambda: Alphabet(np.arange(k)).count(codes), lambda: np.bincount(codes)
    )
    print(f"k={k}: codes {ours / theirs:.2f} x np.bincount")
    names = np.array([f"category {i}" for i in range(k)], dtype=object)
    strings = names[codes]
    for kind, column in (("object", strings), ("pandas", pd.Series(strings))):
        ours, theirs = seconds(
            lambda column=column: Alphabet(names).count(column),
            lambda column=column: pd.factorize(column),
        )
        print(f"k={k}: {kind} strings {ours / theirs:.2f} x pandas.factorize")


def drawing(k):
    """Print millions of exact draws a second, and the ratio to Generator.choice."""
    target = PureDP(1000.0, adjacency="add-remove")
    mechanism = RevealOrObscure.calibrate(target, n_categories=k, n_draws=N_DRAWS)
    counts = np.random.default_rng(0).integers(0, 1000, k)
    source, rng = as_random_source(None), np.random.default_rng(0)
    p = counts / counts.sum()
    ours, theirs = seconds(
        lambda: mechanism.release(counts, source),
        lambda: rng.choice(k, size=N_DRAWS, p=p),
    )
    rate, ratio = N_DRAWS / ours / 1e6, ours / theirs
    print(f"k={k}: {rate:.1f} M draws/s, {ratio:.2f} x the time of Generator.choice")


if __name__ == "__main__":
    for size in (9, 1000):
        counting(size)
        drawing(size)
