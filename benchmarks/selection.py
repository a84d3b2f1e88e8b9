"""Time of a private choice: exact and in floating point, few candidates and many.

    OMP_NUM_THREADS=1 python benchmarks/selection.py          # some seconds
    OMP_NUM_THREADS=1 python benchmarks/selection.py --check  # status 1 on a miss

A choice is the whole call of ``ExponentialMechanism.select`` on a fresh vector of
scores: checks, exact exponents, randomness of the operating system. Scores are floats
with all their digits. Beside it stands diffprivlib's ``Exponential``, where it can be
imported, made and asked once, as its scores are given when it is made. Times are CPU
seconds, the least mean of several runs.
"""

import argparse
import importlib
import sys
import time

import numpy as np

from skdp.mechanisms import ExponentialMechanism

SIZES = (4, 100, 10_000, 100_000)
LAWS = ("exponential", "permute-and-flip")
#: Largest seconds of an exact choice, by the number of candidates.
LARGEST = {4: 50e-6, 100_000: 0.15}
#: Least speed-up over diffprivlib of a choice in floating point, by number.
LEAST_RATIO = {10_000: 20.0}


def clock(call, n_calls, n_runs=15):
    """Return CPU seconds a call."""
    best = np.inf
    for _ in range(n_runs):
        start = time.process_time()
        for _ in range(n_calls):
            call()
        best = min(best, (time.process_time() - start) / n_calls)
    return best


def peer(scores):
    """Return one choice by diffprivlib as a function, None where it is not there."""
    try:
        mechanisms = importlib.import_module("diffprivlib.mechanisms")
    except ImportError:
        return None
    utility = scores.tolist()
    return lambda: mechanisms.Exponential(
        epsilon=1.0, sensitivity=1.0, utility=utility
    ).randomise()


def rows(sizes):
    """Yield (candidates, law, exact, seconds, ratio to diffprivlib or nan)."""
    for n in sizes:
        scores = 20 * np.random.default_rng(0).random(n)
        n_calls = max(2, min(200, 200_000 // n))
        other = peer(scores)
        theirs = np.nan if other is None else clock(other, max(1, n_calls // 10))
        for law in LAWS:
            for exact in (True, False):
                mechanism = ExponentialMechanism(1.0, 1, selection=law, exact=exact)
                ours = clock(lambda m=mechanism, s=scores: m.select(s), n_calls)
                yield n, law, exact, ours, theirs / ours


def is_missed(n, exact, seconds, ratio):
    """Return whether a target is missed; one without a peer to compare is not."""
    if exact:
        return seconds > LARGEST.get(n, np.inf)
    return ratio < LEAST_RATIO.get(n, 0.0)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--check", action="store_true", help="fail on a miss")
    options = parser.parse_args()
    print("| candidates | law | arithmetic | one choice (us) | diffprivlib / skdp | |")
    print("| ---: | --- | --- | ---: | ---: | --- |")
    missed = 0
    for n, law, exact, seconds, ratio in rows(options.sizes):
        late = is_missed(n, exact, seconds, ratio)
        missed += late
        arithmetic = "integers" if exact else "floats"
        versus = "" if np.isnan(ratio) else f"{ratio:.1f}"
        print(
            f"| {n} | {law} | {arithmetic} | {1e6 * seconds:.1f} | {versus} "
            f"| {'MISSED' if late else ''} |",
            flush=True,
        )
    print(f"\n{missed} targets missed")
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
