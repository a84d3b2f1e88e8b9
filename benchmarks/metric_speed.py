"""Time of fits in a private metric as a ratio to fits in the identity metric.

    python benchmarks/metric_speed.py              # every table, a few minutes
    python benchmarks/metric_speed.py --tables adult credit --runs 21
    python benchmarks/metric_speed.py --check      # exit status 1 on a missed target

Each table and epsilon has a fresh process with one BLAS thread. A fit is the whole call
of ``ObjPertLogisticRegression`` or ``ObjPertRegressor`` at delta = 1e-6 with an
intercept, validation and encoding included. Times are CPU seconds; fits in the two
metrics alternate, and what is printed are medians: of each, and of the ratios of
neighbours, so that a busy machine moves both sides. The noise differs from run to run.

The first fit of a setting also finds its noise by a search over public numbers, which
later fits of the process reuse. It is timed apart ("first"), in a process that has
fitted another setting before, so that nothing but the search is new.

Tables are generated, of the shapes of real ones; with ``SKDP_DATA`` set, as for
``linear_family.py``, they are the real ones.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from typing import NamedTuple

import numpy as np

DELTA, EPSILONS = 1e-6, (0.1, 1.0, 8.0)
#: Largest ratio of a private to an identity fit that passes --check.
TARGET = 2.0
METRICS = ("identity", "private")


class Shape(NamedTuple):
    """A table: its size, and whether its targets are numbers."""

    n: int
    d: int
    regression: bool = False


TABLES = {
    "adult": Shape(48_842, 105),
    "bank": Shape(45_211, 50),
    "credit": Shape(30_000, 23),
    "kdd99": Shape(100_000, 120),
    "mushroom": Shape(8_124, 117),
    "nursery": Shape(12_960, 27),
    "bike": Shape(17_379, 46, True),
    "california": Shape(20_640, 13, True),
    "communities": Shape(1_994, 100, True),
    "wine": Shape(6_497, 12, True),
}


def make_table(shape):
    """Return rows of norm at most one, half of the columns levels, and targets."""
    rng = np.random.default_rng(1)
    n, d, _ = shape
    numeric = d - d // 2
    sizes = 1.0 / np.sqrt(1.0 + np.arange(numeric))
    X = np.zeros((n, d))
    X[:, :numeric] = rng.standard_normal((n, numeric)) * sizes
    for start in range(numeric, d, 8):
        levels = min(8, d - start)
        shares = 0.5 ** np.arange(levels)
        level = rng.choice(levels, n, p=shares / shares.sum())
        X[np.arange(n), start + level] = 1.0
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]
    margin = X @ rng.standard_normal(d)
    margin *= 2.0 / margin.std()
    if shape.regression:
        noisy = 0.2 * margin + 0.2 * rng.standard_normal(n)
        return X, np.clip(noisy, -1.0, 1.0)
    return X, np.where(margin + rng.logistic(size=n) > 0.0, 1, -1)


def table_of(name):
    """Return a generated table, or the real one without its constant column."""
    if not os.environ.get("SKDP_DATA"):
        return make_table(TABLES[name])
    from linear_family import load

    X, y = load(name)
    return np.ascontiguousarray(X[:, :-1]), y


def make_model(regression, metric, epsilon):
    from skdp.linear_model import ObjPertLogisticRegression, ObjPertRegressor

    public = {"epsilon": epsilon, "delta": DELTA, "metric": metric}
    if regression:
        return ObjPertRegressor(bounds_y=(-1.0, 1.0), **public)
    return ObjPertLogisticRegression(classes=[-1, 1], **public)


def seconds(model, X, y):
    start = time.process_time()
    model.fit(X, y)
    return time.process_time() - start


def measure(name, epsilon, runs):
    """Return the times of first fits, and of alternating later ones."""
    X, y = table_of(name)
    regression = TABLES[name].regression
    for metric in METRICS:
        make_model(regression, metric, 1.25 * epsilon).fit(X, y)
    models = {m: make_model(regression, m, epsilon) for m in METRICS}
    first = {m: seconds(models[m], X, y) for m in METRICS}
    times = {m: [] for m in METRICS}
    for _ in range(runs):
        for metric in METRICS:
            times[metric].append(seconds(models[metric], X, y))
    return {"shape": X.shape, "first": first, "times": times}


def in_fresh_process(name, epsilon, runs):
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    out = subprocess.run(
        [sys.executable, __file__, "--only", name, str(epsilon), str(runs)],
        env=os.environ | threads,
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(out.stdout)


def report(name, epsilon, found):
    """Print one line; return the median ratio."""
    times = {m: np.array(found["times"][m]) for m in METRICS}
    ratio = float(np.median(times["private"] / times["identity"]))
    usual = [1e3 * float(np.median(times[m])) for m in METRICS]
    first = [1e3 * found["first"][m] for m in METRICS]
    n, d = found["shape"]
    print(
        f"{name:>12} {n:>6} x {d:<3} epsilon={epsilon:<4g} "
        f"{usual[0]:>6.1f} {usual[1]:>6.1f} ms, ratio {ratio:.2f}; "
        f"first {first[0]:>6.1f} {first[1]:>6.1f} ms, ratio {first[1] / first[0]:.2f}"
        f"{'' if ratio <= TARGET else '   MISSED'}",
        flush=True,
    )
    return ratio


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=TABLES)
    parser.add_argument("--eps", nargs="+", type=float, default=list(EPSILONS))
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.only:
        warnings.simplefilter("ignore")
        name, epsilon, runs = options.only
        print(json.dumps(measure(name, float(epsilon), int(runs))))
        return 0
    print("identity and private, CPU time of a fit")
    missed = 0
    for name in options.tables:
        for epsilon in options.eps:
            found = in_fresh_process(name, epsilon, options.runs)
            missed += report(name, epsilon, found) > TARGET
    return int(options.check and missed > 0)


if __name__ == "__main__":
    sys.exit(main())
