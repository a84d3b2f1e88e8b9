"""Time and memory of skdp as ratios to scikit-learn, measured side by side.

    python benchmarks/speed.py                     # everything, a few minutes
    python benchmarks/speed.py --rows 100000       # one size
    python benchmarks/speed.py --check             # exit status 1 on a missed target

Every line comes from a fresh process with one BLAS thread. A fit is the whole call,
validation and label encoding included, of the Gaussian estimator: with its defaults,
which learn a metric from ten columns on, and with ``metric="identity"``, whose targets
are those for one objective without a metric. Beside them in the same process runs
scikit-learn's ``LogisticRegression(solver="newton-cholesky")`` on the same rows in
float64. Times are CPU seconds, the least of several runs, so a busy machine moves both
sides of a ratio. Memory is what the process grows beyond X and y.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from dataclasses import asdict, dataclass

import numpy as np

EPSILON, DELTA = 1.0, 1e-6
ROWS, COLUMNS = (100_000, 1_000_000), (20, 50)
#: The default metric, and the one without a metric of the rows.
AUTO, IDENTITY = "auto", "identity"
#: Largest ratios to scikit-learn that pass --check, for few and for many rows, in the
#: identity metric; and of the default to that.
PLAIN, FORTRAN, SINGLE, HARD = (0.55, 0.40), (0.60, 0.40), (0.65, 0.40), (1.6, 1.6)
LARGEST_METRIC = 2.0
MANY = 1_000_000
LARGEST_EXTRA_MIB = 40.0
LARGEST_PDP, LARGEST_EXACT_PDP = 0.5, 1.5
LARGEST_IMPORT_SECONDS = 0.2


@dataclass(frozen=True)
class Case:
    """One table: its size, how it is stored, and what is odd about it."""

    n: int
    d: int
    dtype: str = "float64"
    order: str = "C"
    kind: str = "plain"

    @property
    def target(self):
        """Largest ratio of fit times to scikit-learn in the identity metric."""
        few_and_many = (
            HARD
            if self.kind != "plain"
            else SINGLE
            if self.dtype == "float32"
            else FORTRAN
            if self.order == "F"
            else PLAIN
        )
        return few_and_many[self.n >= MANY]

    @property
    def name(self):
        return f"{self.n} x {self.d} {self.dtype} {self.order} {self.kind}"


def cases(rows, columns):
    """Yield the tables to fit."""
    for n in rows:
        for d in columns:
            for order in "CF":
                for dtype in ("float64", "float32"):
                    yield Case(n, d, dtype, order)
            yield Case(n, d, kind="sorted")
            yield Case(n, d, kind="badly scaled")


def make_rows(case):
    """Return rows of unit norm ending in a constant, and labels of a logistic model."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((case.n, case.d))
    X[:, -1] = 1.0
    X /= np.sqrt(np.einsum("ij,ij->i", X, X))[:, None]
    margins = X @ (3.0 * rng.standard_normal(case.d))
    y = np.where(rng.random(case.n) < 1.0 / (1.0 + np.exp(-margins)), 1, -1)
    if case.kind == "sorted":
        # by label, then by the first column: no prefix looks like the whole
        rows = np.lexsort((X[:, 0], y))
        X, y = X[rows], y[rows]
    if case.kind == "badly scaled":
        # columns from 1e-6 to 1e6, in rows that still have norm one
        X *= np.logspace(-6, 6, case.d)
        X /= np.sqrt(np.einsum("ij,ij->i", X, X))[:, None]
    return np.asarray(X, dtype=case.dtype, order=case.order), y


def make_ours(metric):
    from skdp.linear_model import ObjPertLogisticRegression

    return ObjPertLogisticRegression(
        epsilon=EPSILON,
        delta=DELTA,
        fit_intercept=False,
        classes=[-1, 1],
        metric=metric,
    )


def make_peer():
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(
        C=1.0, solver="newton-cholesky", fit_intercept=False, max_iter=500
    )


def seconds(call, runs):
    """Return the least CPU time of several runs."""
    times = []
    for _ in range(runs):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def runs_for(n):
    return 2 if n >= MANY else 7


# measurements, each run in a process of its own


def measure_fit(**fields):
    case = Case(**fields)
    X, y = make_rows(case)
    times = {}
    for metric in (IDENTITY, AUTO):
        times[metric] = seconds_to_fit(metric, X, y)
    X = np.ascontiguousarray(X, dtype=np.float64)
    peer = seconds(lambda: make_peer().fit(X, y), runs_for(case.n))
    return times | {"peer": peer}


def seconds_to_fit(metric, X, y):
    # the first call imports and calibrates
    make_ours(metric).fit(X[:100], y[:100])
    return seconds(lambda: make_ours(metric).fit(X, y), runs_for(len(X)))


def measure_pdp(metric, **fields):
    from skdp.audit import exact_pdp_loss

    case = Case(**fields)
    X, y = make_rows(case)
    est = make_ours(metric).fit(X, y)
    runs = runs_for(case.n)
    times = {"fit": seconds_to_fit(metric, X, y)}
    times["published"] = seconds(lambda: est.pdp_loss(X, y), runs)
    if metric == IDENTITY:  # exact losses are about one objective
        times["exact"] = seconds(
            lambda: exact_pdp_loss(est, X, y, X, y, kind="member"), runs
        )
    return times


def measure_memory(metric, **fields):
    X, y = make_rows(Case(**fields))
    make_ours(metric).fit(X[:100], y[:100])
    # the high-water mark is reset to what is resident now
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = resident("VmRSS")
    make_ours(metric).fit(X, y)
    return {"mib": max(0.0, resident("VmHWM") - before)}


def resident(key):
    """Return a line of the process status in MiB."""
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith(key))
    return int(line.split()[1]) / 1024


def measure_import(module):
    start = time.process_time()
    __import__("sklearn.linear_model")
    if module:
        __import__(module)
    return {"seconds": time.process_time() - start}


def measure_draws(size, scale):
    from skdp.random import as_random_source, discrete_gaussian

    source = as_random_source(None)
    cold = seconds(lambda: discrete_gaussian(size, scale, source), 1)
    warm = seconds(lambda: discrete_gaussian(size, scale, source), 20)
    return {"cold": cold / size, "warm": warm / size}


def measure_calibration(d):
    from skdp.accounting import ApproximateDP
    from skdp.mechanisms import ObjectivePerturbation

    def calibrate():
        target = ApproximateDP(EPSILON, DELTA)
        return ObjectivePerturbation.calibrate(target, radius=1.0, n_coefficients=d)

    return {"cold": seconds(calibrate, 1), "warm": seconds(calibrate, 20)}


def fresh(measure, **arguments):
    """Run one measurement in a fresh process with one thread."""
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    run = subprocess.run(
        [sys.executable, __file__, "--one", measure.__name__, json.dumps(arguments)],
        env=dict(os.environ, **dict.fromkeys(threads, "1")),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(run.stdout.splitlines()[-1])


class Report:
    """A Markdown table of figures beside their targets."""

    def __init__(self):
        self.missed = 0
        print("| what | measured | target | |\n| --- | ---: | ---: | --- |")

    def line(self, what, value, target=None, unit="", digits=2):
        missed = target is not None and not value <= target
        self.missed += missed
        aim = "" if target is None else f"{target:g}{unit}"
        mark = "MISSED" if missed else ""
        print(f"| {what} | {value:.{digits}f}{unit} | {aim} | {mark} |", flush=True)


def report_fits(report, rows, columns):
    for case in cases(rows, columns):
        times = fresh(measure_fit, **asdict(case))
        plain, default, peer = times[IDENTITY], times[AUTO], times["peer"]
        what = f"fit {case.name}"
        report.line(f"{what}, identity / scikit-learn", plain / peer, case.target)
        report.line(f"{what}, default / scikit-learn", default / peer)
        report.line(f"{what}, default / identity", default / plain, LARGEST_METRIC)


def report_losses(report, rows, columns):
    targets = {"published": LARGEST_PDP, "exact": LARGEST_EXACT_PDP}
    for n in rows:
        case = Case(n, max(columns))
        for metric in (IDENTITY, AUTO):
            times = fresh(measure_pdp, metric=metric, **asdict(case))
            fit = times.pop("fit")
            for name, each in times.items():
                what = f"{name} pdp loss of all {case.name}, {metric}, / fit"
                report.line(what, each / fit, targets[name])


def report_memory(report, rows, columns):
    if not os.access("/proc/self/clear_refs", os.W_OK):
        return
    for case in cases(rows, columns):
        if case.kind != "plain":
            continue
        target = LARGEST_EXTRA_MIB * max(1.0, case.n / MANY)
        for metric in (IDENTITY, AUTO):
            extra = fresh(measure_memory, metric=metric, **asdict(case))["mib"]
            what = f"extra memory {case.name}, {metric}"
            report.line(what, extra, target, " MiB", digits=0)


def report_overheads(report):
    least = {
        module: min(fresh(measure_import, module=module)["seconds"] for _ in range(3))
        for module in ("", "skdp")
    }
    added = max(0.0, least["skdp"] - least[""])
    report.line("import skdp after sklearn", added, LARGEST_IMPORT_SECONDS, " s")
    for size in (20, 1000):
        times = fresh(measure_draws, size=size, scale=1000)
        for state, each in times.items():
            what = f"discrete Gaussian, {size} at once, {state}"
            report.line(what, 1e6 * each, unit=" us/draw", digits=1)
    for state, each in fresh(measure_calibration, d=50).items():
        report.line(f"calibration, {state}", 1e3 * each, unit=" ms")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", nargs="+", type=int, default=list(ROWS))
    parser.add_argument("--columns", nargs="+", type=int, default=list(COLUMNS))
    parser.add_argument("--check", action="store_true", help="fail on a missed target")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        name, arguments = options.one
        # scikit-learn may warn between the figures
        warnings.simplefilter("ignore")
        print(json.dumps(globals()[name](**json.loads(arguments))))
        return 0
    report = Report()
    report_fits(report, options.rows, options.columns)
    report_losses(report, options.rows, options.columns)
    report_memory(report, options.rows, options.columns)
    report_overheads(report)
    print(f"\n{report.missed} targets missed")
    return 1 if options.check and report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
