"""Excess risk of the default linear models beside a stored run of other methods.

    SKDP_DATA=DIRECTORY python benchmarks/linear_family.py --baselines results.csv.gz

Fits ``ObjPertLogisticRegression`` (delta = 1e-6 and delta = 0) on six tables and
``ObjPertRegressor`` on four, with their default metric, and prints the excess training
risk over that of the stored methods: geometric means over tables and epsilons of the
ratio of means over splits. The stored file has the columns method, dataset, eps, seed
and excess_risk. Splits and preprocessing are those of that run, on other seeds.
"""

import argparse
import json
import os
import sys
import warnings
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from _peers import minimise
from _tables import COLUMN_KINDS, SHAPES, Table
from frontier import CAP, DELTA, EPSILONS, training_risk
from joblib import Parallel, delayed

from skdp.exceptions import NotForReleaseWarning
from skdp.linear_model import ObjPertLogisticRegression, ObjPertRegressor

REGRESSION = ("california", "wine", "bike", "communities")
SMALL = ("skin",)  # fewer than ten columns: judged within its noise
CLASSIFIER = partial(ObjPertLogisticRegression, fit_intercept=False, classes=[-1, 1])
REGRESSOR = partial(ObjPertRegressor, fit_intercept=False, bounds_y=(-1.0, 1.0))
OURS, OURS_PURE = "skdp", "skdp, delta=0"
#: Title, our method, the rivals of which the better counts in each cell, the limit.
GOALS = (
    ("classification / att-objpert", OURS, r"att-objpert", 0.62),
    ("classification / best DP-GD", OURS, r"dpgd\[.*\]", 0.65),
    ("regression / best att-huber", OURS, r"att-huber\[.*\]", 0.37),
)
PURE_RIVAL = "dpl-logreg@AR[C=1]"
LARGEST_TABLE_RATIO = 1.1


@cache
def load(name):
    """Return a table of ``SKDP_DATA``: unit rows, labels in {-1, 1} or y in [-1, 1]."""
    directory = Path(os.environ["SKDP_DATA"])
    schema = json.loads((directory / "schema.json").read_text())[name]
    path = directory / f"{name}.csv.gz"
    frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
    blocks = [
        COLUMN_KINDS[column["kind"]](frame[label], column)
        for label, column in schema["columns"].items()
        if column["kind"] != "drop"
    ]
    X = np.hstack([*blocks, np.ones((len(frame), 1))])
    X *= np.minimum(1.0, 1.0 / np.linalg.norm(X, axis=1))[:, None]
    target = frame[schema["target"]]
    if name not in REGRESSION:
        positive = target.astype(str) == str(schema["positive"])
        return Table(X, np.where(positive, 1, -1))
    values, ends = target.to_numpy(float), [schema["y_lo"], schema["y_hi"]]
    if schema["y_transform"] == "log1p":
        values, ends = np.log1p(values), np.log1p(ends)
    low, high = ends
    return Table(X, np.clip((2 * values - low - high) / (high - low), -1, 1))


def split(name, seed):
    """Return the training rows, capped, and the test rows of a table."""
    table = load(name)
    order = np.random.default_rng(10_000 + seed).permutation(len(table.y))
    n_train = round(0.8 * len(order))
    parts = order[:n_train][:CAP], order[n_train:]
    return [Table(table.X[rows], table.y[rows]) for rows in parts]


def squared_risk(theta, table):
    return np.mean((table.X @ theta - table.y) ** 2)


def run_split(name, seed):
    """Fit at every epsilon on one split; return one record a fit."""
    train, _ = split(name, seed)
    if name in REGRESSION:
        risk, methods = squared_risk, {OURS: partial(REGRESSOR, delta=DELTA)}
        best = np.linalg.lstsq(train.X, train.y, rcond=None)[0]
    else:
        risk = training_risk
        methods = {OURS: partial(CLASSIFIER, delta=DELTA), OURS_PURE: CLASSIFIER}
        best = minimise(train.X * train.y[:, None], 1e-3)
    least, records = risk(best, train), []
    for epsilon in EPSILONS:
        noise = np.random.default_rng([seed, int(1000 * epsilon), 7])
        random_state = int(noise.integers(2**31))
        for method, build in methods.items():
            model = build(epsilon=epsilon, random_state=random_state)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NotForReleaseWarning)
                model.fit(*train)
            excess = risk(model.coef_.ravel(), train) - least
            records.append((method, name, epsilon, seed, excess))
    return records


def run(tables, seeds, jobs):
    """Run all splits; return a frame with one row a fit."""
    task = delayed(run_split)
    chunks = Parallel(n_jobs=jobs)(task(n, s) for n in tables for s in seeds)
    columns = ["method", "dataset", "eps", "seed", "excess_risk"]
    return pd.DataFrame([r for chunk in chunks for r in chunk], columns=columns)


def means(cells):
    """Return mean excess risks with index (method, dataset, eps)."""
    return cells.groupby(["method", "dataset", "eps"])["excess_risk"].mean()


def best_of(stored, pattern):
    """Return the least of the rivals' means in each cell."""
    chosen = stored[stored["method"].str.fullmatch(pattern)]
    return means(chosen).groupby(["dataset", "eps"]).min()


def geometric(ratios, by=None):
    logs = np.log(ratios)
    if by is None:
        return float(np.exp(logs.mean()))
    return np.exp(logs.groupby(by).mean())


def rises(cells):
    """Return where excess risk grows with epsilon by more than two standard errors."""
    found = []
    for (method, name), group in cells.groupby(["method", "dataset"]):
        risks = group.pivot_table("excess_risk", "seed", "eps")
        steps = risks.diff(axis=1).iloc[:, 1:]
        excess = steps.mean() - 2 * steps.sem()
        found += [f"{method}, {name}, epsilon={e:g}" for e in excess.index[excess > 0]]
    return found


def report(cells, stored):
    """Return lines of a report, and what is missed."""
    lines, missed, ours = [], [], means(cells)
    for title, method, pattern, limit in GOALS:
        tables = REGRESSION if title.startswith("regression") else tuple(SHAPES)
        chosen = ours[method]
        chosen = chosen[chosen.index.get_level_values("dataset").isin(tables)]
        if chosen.empty:
            continue
        ratios = (chosen / best_of(stored, pattern)).dropna()
        total = geometric(ratios)
        lines += ["", f"{title}: {total:.3f} (limit {limit})", ""]
        lines += _lines(ratios)
        if total > limit:
            missed.append(f"{title}: {total:.3f}, above {limit}")
        if method == OURS and "att-objpert" in title:
            for name, value in geometric(ratios, "dataset").items():
                if value > LARGEST_TABLE_RATIO and name not in SMALL:
                    missed.append(f"{title}, {name}: {value:.3f} above 1.1")
    if OURS_PURE in ours.index:
        rival = means(stored[stored["method"] == PURE_RIVAL])[PURE_RIVAL]
        ratios = (ours[OURS_PURE] / rival).dropna()
        lines += ["", f"delta=0 / {PURE_RIVAL}: {geometric(ratios):.3f}", ""]
        lines += _lines(ratios)
        per_table = geometric(ratios, "dataset")
        missed += [
            f"delta=0, {name}: {value:.3f}, not below 1"
            for name, value in per_table.items()
            if value >= 1.0
        ]
    missed += [f"rises: {where}" for where in rises(cells)]
    return lines, missed


def _lines(ratios):
    """Return a Markdown table of ratios, with the geometric mean of each row."""
    frame = ratios.unstack()
    heads = ["table", *(f"eps={e:g}" for e in frame.columns), "mean"]
    rows = [heads, ["---"] * len(heads)]
    for name, values in frame.iterrows():
        numbers = [*values, geometric(values)]
        rows.append([name, *(f"{number:.3f}" for number in numbers)])
    return [f"| {' | '.join(row)} |" for row in rows]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--baselines", required=True, help="stored scores, CSV")
    parser.add_argument("--first-seed", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=10, help="number of splits")
    every = [*SHAPES, *REGRESSION]
    parser.add_argument("--tables", nargs="+", choices=every, default=every)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", help="CSV file for the scores of every fit")
    parser.add_argument(
        "--check", action="store_true", help="fail if a limit is missed"
    )
    options = parser.parse_args(arguments)
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    cells = run(options.tables, seeds, options.jobs)
    if options.out:
        cells.to_csv(options.out, index=False)
    stored = pd.read_csv(options.baselines)
    lines, missed = report(cells, stored[np.isfinite(stored["eps"])])
    print("\n".join(lines))
    print("\n".join(["", *(f"missed: {text}" for text in missed)]))
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
