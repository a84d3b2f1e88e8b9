"""Where noisy gradient descent is more accurate than the default classifier.

    SKDP_DATA=DIRECTORY OMP_NUM_THREADS=1 python benchmarks/noisy_descent.py

One-hot tables that a linear model separates (mushroom) or nearly does (nursery).
``ObjPertLogisticRegression`` runs once with its defaults, in a private metric, and once
in the identity metric; of the three settings of gradient descent the best counts in
each cell, though choosing it would itself cost privacy. The report, in Markdown, has
ratios of excess training risk with standard errors over splits (above 1, gradient
descent is better), and test errors.
"""

import argparse
import sys
import warnings
from functools import partial

import numpy as np
import pandas as pd
from _peers import NoisyGradientDescent, ceiling, minimise
from frontier import DELTA, EPSILONS, training_risk
from linear_family import CLASSIFIER, split

from skdp.exceptions import NotForReleaseWarning

TABLES = ("mushroom", "nursery")
#: Number of steps, step size and momentum: few for small epsilon, many for large.
SCHEDULES = ((100, 4.0, 0.9), (400, 4.0, 0.9), (400, 8.0, 0.95))
OURS, IDENTITY, CEILING = "private metric", "identity metric", "non-private"


def descent(schedule):
    """Return noisy gradient descent that takes the same steps at every epsilon."""
    return type("Descent", (NoisyGradientDescent,), {"schedule": schedule})


DESCENTS = {f"{s[0]} of {s[1]:g}": partial(descent(s), delta=DELTA) for s in SCHEDULES}
METHODS = {
    OURS: partial(CLASSIFIER, delta=DELTA),
    IDENTITY: partial(CLASSIFIER, delta=DELTA, metric="identity"),
} | DESCENTS


def run_split(name, seed, epsilons):
    """Fit every method at every epsilon on one split; return one record a fit."""
    train, test = split(name, seed)
    least = training_risk(minimise(train.X * train.y[:, None], 1e-3), train)

    def record(method, model, epsilon):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotForReleaseWarning)
            model.fit(*train)
        risk = training_risk(model.coef_.ravel(), train) - least
        return (name, seed, method, epsilon, risk, 1.0 - model.score(*test))

    records = [record(CEILING, ceiling(), np.inf)]
    for epsilon in epsilons:
        noise = np.random.SeedSequence([seed, round(1e6 * epsilon)])
        random_state = int(noise.generate_state(1)[0])
        records += [
            record(method, build(epsilon=epsilon, random_state=random_state), epsilon)
            for method, build in METHODS.items()
        ]
    return records


def run(tables, seeds, epsilons):
    """Run all splits; return a frame with one row a fit."""
    columns = ["table", "seed", "method", "epsilon", "excess_risk", "error"]
    pairs = [(name, seed) for name in tables for seed in seeds]
    records = [record for pair in pairs for record in run_split(*pair, epsilons)]
    return pd.DataFrame(records, columns=columns)


def ratio(ours, theirs):
    """Return a ratio of means over splits and its standard error; both by split."""
    value = ours.mean() / theirs.mean()
    return value, (ours - value * theirs).sem() / theirs.mean()


def report(cells):
    """Return lines of a report."""
    lines = []
    for name, table in cells.groupby("table", sort=False):
        limit = table.loc[table["method"] == CEILING, "error"].mean()
        cell = table.pivot_table(
            ["excess_risk", "error"], "seed", ["epsilon", "method"]
        )
        epsilons = sorted(set(table["epsilon"]) - {np.inf})
        rows = {f"{method} / best descent": [] for method in (OURS, IDENTITY)}
        rows |= {"steps of the best": [], f"test error, {OURS}": []}
        rows |= {"test error, best descent": []}
        for epsilon in epsilons:
            risk, error = cell["excess_risk"][epsilon], cell["error"][epsilon].mean()
            best = risk[[*DESCENTS]].mean().idxmin()
            for method in (OURS, IDENTITY):
                value, spread = ratio(risk[method], risk[best])
                rows[f"{method} / best descent"].append(f"{value:.2f} ± {spread:.2f}")
            rows["steps of the best"].append(best)
            rows[f"test error, {OURS}"].append(f"{error[OURS]:.2%}")
            rows["test error, best descent"].append(f"{error[best]:.2%}")
        lines += ["", *_lines(f"{name}, {limit:.2%} without privacy", epsilons, rows)]
    return lines


def _lines(title, epsilons, rows):
    heads = [title, *(f"eps={epsilon:g}" for epsilon in epsilons)]
    body = [heads, ["---"] * len(heads), *([k, *v] for k, v in rows.items())]
    return [f"| {' | '.join(line)} |" for line in body]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=TABLES)
    parser.add_argument("--eps", type=float, nargs="+", default=EPSILONS)
    parser.add_argument("--first-seed", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=10, help="number of splits")
    parser.add_argument("--out", help="CSV file for the scores of every fit")
    options = parser.parse_args(arguments)
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    cells = run(options.tables, seeds, options.eps)
    if options.out:
        cells.to_csv(options.out, index=False)
    print("\n".join(report(cells)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
