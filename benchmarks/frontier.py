"""Accuracy at equal privacy: skdp and its peers on six classification tables.

    python benchmarks/frontier.py                        # generated tables
    SKDP_DATA=DIRECTORY python benchmarks/frontier.py    # real ones: README.md
    python benchmarks/frontier.py --tables credit --eps 0.5 1 --out cells.csv --check

Every method is fitted at every epsilon on the same 80/20 splits. The report, in
Markdown, has the excess training risk of each peer, and of skdp in the identity metric,
divided by that of skdp with its defaults, then test accuracy and AUC beside the
non-private ceiling.
"""

import argparse
import sys
import warnings
from functools import partial

import numpy as np
import pandas as pd
from _peers import (
    CMS11,
    KST12,
    RKW23,
    NoisyGradientDescent,
    OutputPerturbation,
    ceiling,
    minimise,
)
from _tables import SHAPES, Table, load_table, source
from joblib import Parallel, delayed
from sklearn.metrics import roc_auc_score

from skdp.exceptions import NotForReleaseWarning
from skdp.linear_model import ObjPertLogisticRegression

DELTA = 1e-6
EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
CAP = 24_000  # training rows: one size for the four big tables, and a short run
LARGEST_RATIO = 0.30  # of excess risks skdp / KST12 at epsilon <= 1, for --check

OURS, OURS_PURE, CEILING = "skdp", "skdp, delta=0", "non-private"
OBJPERT = partial(ObjPertLogisticRegression, fit_intercept=False, classes=[-1, 1])
METHODS = {
    OURS: partial(OBJPERT, delta=DELTA),
    OURS_PURE: OBJPERT,
    "skdp, identity metric": partial(OBJPERT, delta=DELTA, metric="identity"),
    "KST12": partial(KST12, delta=DELTA),
    "RKW23": partial(RKW23, delta=DELTA),
    "CMS11, delta=0": partial(CMS11, delta=0.0),
    "output perturbation": partial(OutputPerturbation, delta=DELTA),
    "noisy gradient descent": partial(NoisyGradientDescent, delta=DELTA),
}
# a pure guarantee is stronger, so it is compared with a pure one
RIVALS = {
    name: OURS_PURE if name.endswith("delta=0") else OURS
    for name in METHODS
    if name not in (OURS, OURS_PURE)
}


def split(table, seed, cap=CAP):
    """Return an 80/20 split that depends on the seed alone; both parts are capped."""
    order = np.random.default_rng(seed).permutation(len(table.y))
    n_train = round(0.8 * len(order))
    train, test = order[:n_train][:cap], order[n_train:][: cap // 2]
    return Table(table.X[train], table.y[train]), Table(table.X[test], table.y[test])


def training_risk(theta, table):
    """Return the mean logistic loss, without any penalty."""
    return np.logaddexp(0.0, -table.y * (table.X @ theta)).mean()


def least_risk(table):
    """Return the least training risk of a linear model, up to a trace of ridge.

    The trace keeps the minimiser finite on separable rows.
    """
    return training_risk(minimise(table.X * table.y[:, None], 1e-3), table)


def run_split(name, seed, epsilons, cap=CAP):
    """Fit every method at every epsilon on one split; return one record a fit."""
    train, test = split(load_table(name), seed, cap)
    least = least_risk(train)

    def record(method, model, epsilon):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotForReleaseWarning)
            model.fit(*train)
        return {
            "table": name,
            "seed": seed,
            "method": method,
            "epsilon": epsilon,
            "accuracy": model.score(*test),
            "auc": roc_auc_score(test.y, model.decision_function(test.X)),
            "excess_risk": training_risk(model.coef_.ravel(), train) - least,
        }

    records = [record(CEILING, ceiling(), np.inf)]
    for epsilon in epsilons:
        noise_seed = np.random.SeedSequence([seed, round(1e6 * epsilon)])
        random_state = int(noise_seed.generate_state(1)[0])
        for method, build in METHODS.items():
            model = build(epsilon=epsilon, random_state=random_state)
            records.append(record(method, model, epsilon))
    return records


def run(tables, seeds, epsilons, *, cap=CAP, jobs=1):
    """Run all splits; return a frame with one row a fit."""
    splits = [(name, seed) for name in tables for seed in range(seeds)]
    task = delayed(run_split)
    chunks = Parallel(n_jobs=jobs)(task(*pair, epsilons, cap) for pair in splits)
    return pd.DataFrame([record for chunk in chunks for record in chunk])


def risk_ratio(cells, method, base):
    """Return excess risk of method over base, the geometric mean over tables.

    A table counts by its mean over splits, and every table counts the same.
    """
    risk = cells.groupby(["method", "epsilon", "table"])["excess_risk"].mean()
    logs = np.log(risk[method]) - np.log(risk[base])
    return np.exp(logs.groupby("epsilon").mean())


def ratio_report(cells):
    rows = {
        f"{peer} / {base}": risk_ratio(cells, peer, base)
        for peer, base in RIVALS.items()
    }
    return _markdown("excess training risk", pd.DataFrame(rows).T, "{:.2f}")


def score_report(cells, score):
    """Return the mean test score of skdp beside that of the non-private model."""
    blocks = []
    for method in (OURS, OURS_PURE):
        chosen = cells[cells["method"].isin([method, CEILING])]
        means = chosen.pivot_table(score, "table", "epsilon", sort=False)
        means.index = [f"{name}, {method}" for name in means.index]
        blocks.append(means[sorted(means.columns)])
    means = pd.concat(blocks).rename(columns={np.inf: CEILING})
    return _markdown(f"test {score}", means, "{:.4f}")


def _markdown(title, frame, style):
    heads = [c if isinstance(c, str) else f"eps={c:g}" for c in frame.columns]
    lines = [[title, *heads], ["---"] * (1 + len(heads))]
    lines += [
        [label, *map(style.format, row)]
        for label, row in zip(frame.index, frame.to_numpy(), strict=True)
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def report(cells):
    n_splits = cells["seed"].nunique()
    return "\n\n".join(
        [
            f"{source().capitalize()}, {n_splits} splits, delta={DELTA:g} unless 0. "
            "Ratios above 1 mean that skdp is better.",
            ratio_report(cells),
            score_report(cells, "accuracy"),
            score_report(cells, "auc"),
        ]
    )


def check(cells):
    """Return the epsilons at most 1 where skdp is not far enough ahead of KST12."""
    ratio = risk_ratio(cells, OURS, "KST12")
    return [
        f"epsilon={epsilon:g}: {OURS} / KST12 is {value:.3f}, above {LARGEST_RATIO}"
        for epsilon, value in ratio.items()
        if epsilon <= 1.0 and value > LARGEST_RATIO
    ]


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10, help="number of splits")
    parser.add_argument("--eps", type=float, nargs="+", default=EPSILONS)
    parser.add_argument("--tables", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--cap", type=int, default=CAP, help="most training rows")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", help="CSV file for the scores of every fit")
    parser.add_argument(
        "--check",
        action="store_true",
        help=f"fail unless skdp / KST12 <= {LARGEST_RATIO} at every epsilon <= 1",
    )
    options = parser.parse_args(arguments)
    if options.check and min(options.eps) > 1.0:
        parser.error("--check needs an epsilon of at most 1 in --eps")
    return options


def main(arguments=None):
    options = parse(arguments)
    cells = run(
        options.tables, options.seeds, options.eps, cap=options.cap, jobs=options.jobs
    )
    if options.out:
        cells.to_csv(options.out, index=False)
    print(report(cells))
    failures = check(cells) if options.check else []
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
