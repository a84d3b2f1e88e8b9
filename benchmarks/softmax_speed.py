"""Time of private models of ten classes beside scikit-learn's multinomial lbfgs.

    python benchmarks/softmax_speed.py                # every table, some minutes
    python benchmarks/softmax_speed.py --rows 20000   # fewer rows
    python benchmarks/softmax_speed.py --check        # exit status 1 on a missed target

Each table comes from a fresh process with one BLAS thread. A release is everything from
raw rows and labels to coefficients: calibration, encoding, clipping, noise, solving and
smoothing, at epsilon = 1 and delta = 1e-6. A solve is the same without privacy. Beside
them runs ``LogisticRegression(solver="lbfgs", tol=1e-8)`` on rows clipped before, with
the ridge of the release, without noise. Times are CPU seconds, the median of runs that
take turns, so a busy machine moves both sides of a ratio.

The tolerances are not alike: ours bounds the norm of the gradient of a sum over rows,
scikit-learn's the largest entry of the gradient of a mean. Both gradients are printed,
as norms for the sum.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import warnings

import numpy as np

N, D, K = 100_000, 50, 10
EPSILON, DELTA = 1.0, 1e-6
#: What lbfgs finds easy (columns alike) and less easy; strings as labels; an intercept.
KINDS = ("plain", "strong", "strings", "correlated", "intercept")
#: Largest ratio of times that passes --check.
TARGET = 1.0
RUNS = 5


def make_rows(kind, n, d=D, n_classes=K):
    """Return rows, some longer than one, and labels drawn from a softmax model."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    if kind == "correlated":
        X = X @ (rng.standard_normal((d, d)) * np.logspace(0, -2, d)).T
    X /= 0.9 * np.median(np.linalg.norm(X, axis=1))
    size = 12.0 if kind == "strong" else 3.0
    margins = X @ rng.standard_normal((d, n_classes)) * size
    y = (margins + rng.gumbel(size=margins.shape)).argmax(axis=1)
    if kind == "strings":
        y = np.array([f"class {k}" for k in range(n_classes)])[y]
    return X, y


class Problem:
    """One table, with what solves it on either side."""

    def __init__(self, kind, n):
        from skdp.accounting import ApproximateDP
        from skdp.mechanisms import SoftmaxPerturbation
        from skdp.rows import L2Ball

        self.X, self.y = make_rows(kind, n)
        self.classes = np.unique(self.y)
        self.ball = L2Ball(1.0, 0.5 if kind == "intercept" else 0.0)
        self.clipped = self.ball.project(self.X)

        def calibrate():
            return SoftmaxPerturbation.calibrate(
                ApproximateDP(EPSILON, DELTA),
                radius=self.ball.radius,
                n_coefficients=self.clipped.shape[1],
                n_classes=K,
            )

        self.calibrate = calibrate
        self.alpha = calibrate().alpha

    def rows(self):
        from skdp.rows import Classes, PrivateRows, as_row_blocks

        labels = Classes(self.classes)
        return PrivateRows(as_row_blocks(self.X, self.y, labels=labels), self.ball)

    def release(self):
        """Return the gradient norm before smoothing of one private model."""
        from skdp.random import as_random_source

        release = self.calibrate().release(self.rows(), as_random_source(None))
        return release.diagnostics["gradient_norm"]

    def objective(self):
        """Return what is minimised without noise."""
        from skdp.losses import SoftmaxLoss
        from skdp.solvers import MatrixObjective

        return MatrixObjective(self.rows(), SoftmaxLoss(K), self.alpha)

    def solve(self):
        """Return the gradient norm of one model without noise."""
        tolerance = 1e-8 * np.sqrt(2.0) * self.ball.radius
        return self.objective().minimise(gradient_tol=tolerance).gradient_norm

    def peer(self):
        """Return the coefficients of scikit-learn."""
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(
            C=1.0 / self.alpha,
            solver="lbfgs",
            tol=1e-8,
            max_iter=100_000,
            fit_intercept=False,
        )
        return model.fit(self.clipped, self.y).coef_

    def peer_norm(self):
        """Return the gradient norm at the coefficients of scikit-learn."""
        return float(np.linalg.norm(self.objective().gradient(self.peer().ravel())))


def measure(kind, n, runs):
    """Return median CPU seconds of each side, and gradient norms."""
    problem = Problem(kind, n)
    sides = {"release": problem.release, "solve": problem.solve, "peer": problem.peer}
    times = {name: [] for name in sides}
    for _ in range(runs):
        for name, call in sides.items():
            start = time.process_time()
            call()
            times[name].append(time.process_time() - start)
    medians = {name: float(np.median(each)) for name, each in times.items()}
    return medians | {"ours_norm": problem.solve(), "peer_norm": problem.peer_norm()}


def fresh(kind, n, runs):
    """Run one measurement in a fresh process with one thread."""
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    run = subprocess.run(
        [sys.executable, __file__, "--one", kind, str(n), str(runs)],
        env=dict(os.environ, **dict.fromkeys(threads, "1")),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(run.stdout.splitlines()[-1])


def print_line(kind, found):
    """Print one table's figures, and return how many targets they miss."""
    ratios = [found[side] / found["peer"] for side in ("release", "solve")]
    missed = sum(not ratio <= TARGET for ratio in ratios)
    times = " | ".join(f"{found[side]:.3f}" for side in ("release", "solve", "peer"))
    norms = f"{found['ours_norm']:.0e} | {found['peer_norm']:.0e}"
    shown = " | ".join(f"{ratio:.2f}" for ratio in ratios)
    mark = "MISSED" if missed else ""
    print(f"| {kind} | {times} | {shown} | {norms} | {mark} |", flush=True)
    return missed


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=N)
    parser.add_argument("--runs", type=int, default=RUNS, help="runs of each side")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--check", action="store_true", help="fail on a missed target")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        # scikit-learn may warn between the figures
        warnings.simplefilter("ignore")
        kind, n, runs = options.one
        print(json.dumps(measure(kind, int(n), int(runs))))
        return 0
    print(
        "| table | release, s | solve, s | scikit-learn, s | release / | solve / "
        "| our gradient | theirs | |"
    )
    print("| --- |" + " ---: |" * 7 + " --- |")
    missed = 0
    for kind in options.kinds:
        missed += print_line(kind, fresh(kind, options.rows, options.runs))
    print(f"\n{missed} targets missed")
    return int(options.check and missed > 0)


if __name__ == "__main__":
    sys.exit(main())
