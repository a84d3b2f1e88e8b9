"""Time and memory of a million bounds from a published report.

    python benchmarks/report_speed.py            # every level, both noise laws
    python benchmarks/report_speed.py --check    # exit status 1 on a missed target

Each line comes from a fresh process with one BLAS thread: one call of
``PublishedReport.loss`` on 1,000,000 rows of 50 features in float64, validation and
label encoding included. Times are CPU seconds, the least of several calls. Memory is
what the process grows beyond X, y and the answer.
"""

import argparse
import json
import os
import subprocess
import sys
import time

N, D = 1_000_000, 50
#: Largest CPU seconds of a call, and MiB beyond the rows and the answer.
TARGETS = {
    ("data-independent", 0.0): 0.3,
    ("data-independent", 1e-6): 0.3,
    ("hessian", 1e-6): 1.2,
    ("gradient", 1e-6): 1.2,
}
LARGEST_EXTRA_MIB = 40.0
ANSWER_MIB = N * 8 / 2**20


def make_rows():
    import numpy as np

    rng = np.random.default_rng(1)
    X = rng.standard_normal((N, D))
    for start in range(0, N, 8192):
        block = X[start : start + 8192]
        block /= np.sqrt(np.einsum("ij,ij->i", block, block))[:, None]
    y = (X[:, 0] + 0.2 * rng.standard_normal(N) > 0).astype(np.int64)
    return X, y


def resident(key):
    """Return a line of the process status in MiB."""
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith(key))
    return int(line.split()[1]) / 1024


def measure(level, delta):
    from skdp.linear_model import ObjPertLogisticRegression

    X, y = make_rows()
    model = ObjPertLogisticRegression(
        delta=delta,
        metric="identity",
        pdp_report=level,
        fit_intercept=False,
        classes=[0, 1],
    )
    report = model.fit(X[:50_000], y[:50_000]).report_
    report.loss(X[:100], y[:100])
    # the high-water mark is reset to what is resident now
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = resident("VmRSS")
    times = []
    for _ in range(5):
        start = time.process_time()
        loss = report.loss(X, y)
        times.append(time.process_time() - start)
        del loss
    extra = resident("VmHWM") - before - ANSWER_MIB
    return {"seconds": min(times), "mib": max(0.0, extra)}


def in_fresh_process(level, delta):
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    out = subprocess.run(
        [sys.executable, __file__, "--only", level, str(delta)],
        env=os.environ | threads,
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(out.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        level, delta = options.only
        print(json.dumps(measure(level, float(delta))))
        return 0
    missed = 0
    for (level, delta), target in TARGETS.items():
        found = in_fresh_process(level, delta)
        good = found["seconds"] <= target and found["mib"] <= LARGEST_EXTRA_MIB
        missed += not good
        print(
            f"{level:>16} delta={delta:<6g} {found['seconds']:.3f} s (target "
            f"{target:g}), {found['mib']:.1f} MiB beyond the rows"
            f"{'' if good else '   MISSED'}"
        )
    return int(options.check and missed > 0)


if __name__ == "__main__":
    sys.exit(main())
