"""Speed of draws from exponential mechanisms on intervals, boxes and the sphere.

    OMP_NUM_THREADS=1 python benchmarks/continuous.py         # half a minute
    OMP_NUM_THREADS=1 python benchmarks/continuous.py --check # status 1 on a miss

"draws" are those of a sampler with its set-up done, made in one call from the
operating system's random bytes; "release" is one whole release of a mechanism: scores,
set-up, one draw, and the smoothing step. Times are CPU seconds of one thread, the best
of three.

The rejection loop is the textbook one, written in numpy: it proposes uniformly, in
batches, until enough is accepted, so its time tells the acceptance probability.
"""

import argparse
import sys
import time

import numpy as np

from skdp.accounting import PureDP
from skdp.mechanisms import (
    BoxExponential,
    KNGRegression,
    PrincipalDirection,
    QuantileMechanism,
)
from skdp.random import as_random_source, uniform
from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks
from skdp.samplers import LogLinear

#: Draws a second that a sampler on an interval must make.
LEAST_RATE = 1e6
N_DRAWS, N_ROWS = 1_000_000, 10_000


def best_of_three(call):
    times = []
    for _ in range(3):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def rejection_loop(size, source):
    """Draw from exp(-2 |x - 0.3|) on [0, 1] below a flat envelope."""
    kept, missing = [], size
    while missing > 0:
        n = int(1.8 * missing) + 16
        x = uniform(n, source)
        accepted = x[-np.log(uniform(n, source)) >= 2 * np.abs(x - 0.3)][:missing]
        kept.append(accepted)
        missing -= accepted.size
    return np.concatenate(kept)


def samplers():
    """Yield (name, seconds of set-up, seconds of N_DRAWS draws)."""
    source = as_random_source(None)
    for n_cells in (3, 64, 1024, 4096):
        knots = np.linspace(0.0, 1.0, n_cells + 1)
        heights = -2 * np.abs(knots - 0.3)
        law = LogLinear(knots, heights)
        yield (
            f"interval, {n_cells} cells",
            best_of_three(lambda k=knots, h=heights: LogLinear(k, h)),
            best_of_three(lambda law=law: law.draw(N_DRAWS, source)),
        )
    seconds = best_of_three(lambda: rejection_loop(N_DRAWS, source))
    yield "rejection loop, leaks its time", 0.0, seconds


def releases():
    """Yield (name, seconds of one release)."""
    rng, source, target = np.random.default_rng(0), as_random_source(None), PureDP(1.0)
    values = rng.uniform(20, 60, N_ROWS)
    median = QuantileMechanism.calibrate(target, quantile=0.5, lower=0.0, upper=120.0)
    yield "median, 1024 cells", best_of_three(lambda: median.release(values, source))
    box = BoxExponential(
        epsilon=1.0, sensitivity=1.0, lower=(0, 0), upper=(1, 1), n_cells=(64, 64)
    )
    scores = -100 * np.abs(box.centers - 0.3).sum(axis=1)
    yield "box, 64 x 64 cells", best_of_three(lambda: box.release(scores, source))
    X, y = rng.uniform(-0.7, 0.7, (N_ROWS, 2)), rng.uniform(-1, 1, N_ROWS)
    blocks = as_row_blocks(X, y, labels=Targets(-1.0, 1.0))
    rows = PrivateRows(blocks, L2Ball(1.0))
    for quantile, name in ((0.5, "median regression"), (None, "least squares")):
        kng = KNGRegression.calibrate(
            target, radius=1.0, box=(1.0, 1.0), quantile=quantile
        )
        yield (
            f"{name}, 64 x 64 cells",
            best_of_three(lambda kng=kng: kng.release(rows, source)),
        )
    for q in (2, 20, 100):
        direction = PrincipalDirection.calibrate(target, radius=1.0, n_features=q)
        table = as_row_blocks(rng.standard_normal((N_ROWS, q)))
        table = PrivateRows(table, L2Ball(1.0))
        yield (
            f"principal direction, {q} columns",
            best_of_three(lambda d=direction, t=table: d.release(t, source)),
        )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="fail on a miss")
    options = parser.parse_args()
    print("| sampler | set-up (ms) | million draws a second | |")
    print("| --- | ---: | ---: | --- |")
    missed = 0
    for name, set_up, seconds in samplers():
        rate = N_DRAWS / seconds
        late = name.startswith("interval") and rate < LEAST_RATE
        missed += late
        mark = "MISSED" if late else ""
        print(
            f"| {name} | {1e3 * set_up:.1f} | {rate / 1e6:.2f} | {mark} |", flush=True
        )
    print(f"\n| release on {N_ROWS} rows | ms |\n| --- | ---: |")
    for name, seconds in releases():
        print(f"| {name} | {1e3 * seconds:.1f} |", flush=True)
    print(f"\n{missed} targets missed")
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
