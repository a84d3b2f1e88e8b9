"""Who weighs less in a private metric, and what it does to the errors of groups.

    SKDP_DATA=DIRECTORY OMP_NUM_THREADS=1 python benchmarks/metric_fairness.py

Rows far out in the metric weigh less than one. For groups of people in two real tables
and in two generated ones, the report has, in Markdown: the share of rows; the share of
all weight over it; the test log-loss without privacy; what the default classifier adds
to it in a private metric, what it adds in the identity metric, and what the weights
add alone, without noise; and test errors. Standard errors are over splits, whose rows
overlap. Without ``SKDP_DATA`` there are the generated tables alone.

In those one person in twenty has values in a column that hardly varies for anybody
else; her label follows the line of all others and that column, or that column and the
opposite line.
"""

import argparse
import os
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from frontier import CAP, DELTA
from linear_family import CLASSIFIER, Table, load
from sklearn.linear_model import LogisticRegression

from skdp.exceptions import NotForReleaseWarning

MINORITY, N_GENERATED, N_COLUMNS = 0.05, 10_000, 20
MODELS = ("private", "identity", "weights alone")
SHOWN = ("none", "private", "identity")


class Split(NamedTuple):
    """Rows to fit and to test on, and which of them are in each group."""

    train: Table
    test: Table
    groups: dict[str, tuple[np.ndarray, np.ndarray]]


def real_groups(name):
    """Return {group: mask of the rows of a real table}."""
    path = Path(os.environ["SKDP_DATA"]) / f"{name}.csv.gz"
    frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
    if name == "adult":
        chosen = [("sex", v) for v in ("Male", "Female")]
        races = ("White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other")
        chosen += [("race", v) for v in races] + [("native_country", "Mexico")]
        return {value: (frame[c] == value).to_numpy() for c, value in chosen}
    age = frame["age"].to_numpy()
    ages = {"to 30": age <= 30, "31 to 60": (age > 30) & (age <= 60), "61 on": age > 60}
    return {f"age {band}": mask for band, mask in ages.items()} | {
        "students": (frame["job"] == "student").to_numpy(),
        "in default": (frame["default"] == "yes").to_numpy(),
    }


def real_split(name, seed):
    """Return a split of a real table; all rows not fitted are for the test."""
    table, groups = load(name), real_groups(name)
    order = np.random.default_rng(10_000 + seed).permutation(len(table.y))
    parts = order[:CAP], order[CAP:]
    train, test = (Table(table.X[rows], table.y[rows]) for rows in parts)
    masks = {name: tuple(mask[rows] for rows in parts) for name, mask in groups.items()}
    return Split(train, test, masks)


def generated_rows(rng, n, line):
    """Return a table and who is in the minority; ``line`` is 1 or -1 for them."""
    minority = rng.random(n) < MINORITY
    X = rng.uniform(-1.0, 1.0, (n, N_COLUMNS + 1))
    X[:, -1] = np.where(minority, 2.0 * np.sign(X[:, -1]), 0.01 * X[:, -1])
    score = X[:, :4] @ np.array([2.0, -2.0, 1.5, -1.5])
    score = np.where(minority, line * score, score) + X[:, -1]
    y = np.where(score + rng.logistic(size=n) > 0.0, 1, -1)
    X = np.column_stack([X, np.ones(n)])
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return Table(X, y), minority


def generated_split(line, seed):
    """Return fresh generated rows."""
    rng = np.random.default_rng([10_000, seed])
    train, ours = generated_rows(rng, N_GENERATED, line)
    test, theirs = generated_rows(rng, 4 * N_GENERATED, line)
    masks = {"minority": (ours, theirs), "all others": (~ours, ~theirs)}
    return Split(train, test, masks)


SPLITS = {
    "adult": partial(real_split, "adult"),
    "bank": partial(real_split, "bank"),
    "same line": partial(generated_split, 1),
    "opposite line": partial(generated_split, -1),
}
REAL = {"adult", "bank"}


def weights(model, X):
    """Return the weight of every row in the metric of a model: for the curator alone.

    Rows of norm at most one, without a further intercept.
    """
    geometry = model.release_.geometry
    return geometry.weights(np.linalg.norm(X @ geometry.transform, axis=1))


def fitted(train, seed, epsilon):
    """Return the models to compare, and the weights in the private metric."""
    noisy = partial(CLASSIFIER, epsilon=epsilon, delta=DELTA, random_state=seed)
    private, identity = noisy(metric="private"), noisy(metric="identity")
    exact = partial(
        LogisticRegression, C=100.0, fit_intercept=False, solver="newton-cholesky"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotForReleaseWarning)
        models = [private.fit(*train), identity.fit(*train)]
    found = weights(private, train.X)
    models.append(exact().fit(*train, sample_weight=found))
    none = exact().fit(*train)
    return dict(zip(MODELS, models, strict=True)) | {"none": none}, found


def run_split(name, seed, epsilon):
    """Return one record a group."""
    train, test, groups = SPLITS[name](seed)
    models, found = fitted(train, seed, epsilon)
    losses, errors = {}, {}
    for label, model in models.items():
        margins = test.y * (test.X @ model.coef_.ravel())
        losses[label], errors[label] = np.logaddexp(0.0, -margins), margins <= 0.0
    records = []
    for group, (ours, theirs) in groups.items():
        record = {"table": name, "group": group, "seed": seed, "rows": ours.mean()}
        record["weight over rows"] = found[ours].mean() / found.mean()
        for label in models:
            record[f"loss, {label}"] = losses[label][theirs].mean()
            record[f"error, {label}"] = errors[label][theirs].mean()
        records.append(record)
    return records


def run(tables, seeds, epsilon):
    """Run all splits; return a frame with one row a group and split."""
    pairs = [(name, seed) for name in tables for seed in seeds]
    return pd.DataFrame([r for pair in pairs for r in run_split(*pair, epsilon)])


def report(cells):
    """Return lines of a report."""
    heads = ["table", "group", "rows", "weight / rows", "log-loss without privacy"]
    heads += [f"added, {name}" for name in MODELS]
    heads += [f"error, {name}" for name in SHOWN]
    lines = [heads, ["---"] * 2 + ["---:"] * (len(heads) - 2)]
    for (name, group), cell in cells.groupby(["table", "group"], sort=False):
        mean = cell.mean(numeric_only=True)
        line = [name, group, f"{mean['rows']:.1%}", f"{mean['weight over rows']:.2f}"]
        line.append(f"{mean['loss, none']:.3f}")
        for label in MODELS:
            added = 1e3 * (cell[f"loss, {label}"] - cell["loss, none"])
            line.append(f"{added.mean():.1f} ± {added.sem():.1f}")
        line += [
            f"{mean[f'error, {label}']:.1%}"
            for label in ("none", "private", "identity")
        ]
        lines.append(line)
    return [f"| {' | '.join(line)} |" for line in lines]


def main(arguments=None):
    available = [t for t in SPLITS if os.environ.get("SKDP_DATA") or t not in REAL]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", choices=available, default=available)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--first-seed", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=10, help="number of splits")
    options = parser.parse_args(arguments)
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    lines = report(run(options.tables, seeds, options.epsilon))
    print(f"epsilon = {options.epsilon:g}; what is added is in thousandths of a nat.\n")
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
