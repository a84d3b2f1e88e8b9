"""A private classifier on two real tables: how good, at what price, and for whom.

Each table goes through the same pipeline twice, once with a private last step and once
with scikit-learn's own. Run it with ``make demo``, or::

    python examples/quickstart.py --figure quickstart.png
"""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline

import skdp
from skdp.datasets import PublicTable, load_fair, load_randhie

EPSILON = 1.0
TABLES = {"marital affairs": load_fair, "health insurance": load_randhie}


@dataclass
class Study:
    """One table, split once, with a private and a non-private model."""

    name: str
    table: PublicTable
    private: Pipeline
    plain: Pipeline
    split: tuple  # X_train, X_test, y_train, y_test

    @property
    def loss(self) -> np.ndarray:
        """Bound on what the release cost the person behind each fitted row, in nats."""
        X_train, _, y_train, _ = self.split
        return skdp.pdp_loss(self.private, X_train, y_train)


def pipelines(table: PublicTable) -> tuple[Pipeline, Pipeline]:
    """Return a private and a non-private pipeline on the same public scale."""
    # d features in [-1, 1] make a row of norm sqrt(d) at most: a public fact, and no
    # row is clipped. A smaller bound means less noise; then put a RowClipper with the
    # same bound before the model, so that fit and predict see the same rows.
    data_norm = np.sqrt(table.X.shape[1])
    private = make_pipeline(
        skdp.BoundedScaler(bounds=table.bounds),
        skdp.ObjPertLogisticRegression(
            epsilon=EPSILON, data_norm=data_norm, classes=table.classes
        ),
    )
    plain = make_pipeline(
        skdp.BoundedScaler(bounds=table.bounds), LogisticRegression(max_iter=1000)
    )
    return private, plain


def study(name: str, table: PublicTable) -> Study:
    """Split a table and fit both pipelines on the larger part."""
    split = train_test_split(table.X, table.y, test_size=0.25, random_state=0)
    X_train, _, y_train, _ = split
    private, plain = pipelines(table)
    return Study(
        name, table, private.fit(X_train, y_train), plain.fit(X_train, y_train), split
    )


def report(study: Study) -> None:
    """Print accuracy, price, and the two records at the ends of the price list."""
    X_train, X_test, y_train, y_test = study.split
    print(f"\n== {study.name}: {len(X_train)} rows, {X_train.shape[1]} features ==")
    for label, model in (("private", study.private), ("not private", study.plain)):
        auc = roc_auc_score(y_test, model.decision_function(X_test))
        print(f"{label:>12}: accuracy {model.score(X_test, y_test):.3f}, AUC {auc:.3f}")
    print(f"{'always same':>12}: accuracy {max(y_test.mean(), 1 - y_test.mean()):.3f}")
    spent = skdp.privacy_spent(study.private)
    print(spent)
    if (k := study.table.rows_per_person) > 1:
        epsilon = spent.guarantee.group(k).epsilon(spent.delta)
        print(f"a person has up to {k} rows here: together at most {epsilon:.2f}")

    loss = study.loss
    print(f"what each row cost its person, in nats (at most {EPSILON:g} by promise):")
    levels = (0, 0.25, 0.5, 0.75, 0.95, 1)
    quantiles = zip(levels, np.quantile(loss, levels), strict=True)
    print("  " + ", ".join(f"{level:.0%} {value:.2f}" for level, value in quantiles))
    # Records are printed only because these tables are public.
    for word, i in (("most", loss.argmax()), ("least", loss.argmin())):
        record = ", ".join(f"{k} {v:g}" for k, v in X_train.iloc[i].items())
        print(f"  {word} ({loss[i]:.2f}): {record}; target {y_train[i]}")


def draw(studies: list[Study], path: Path) -> None:
    """Draw how the price is spread over rows, one panel a table."""
    figure, axes = plt.subplots(
        1, len(studies), figsize=(9, 3.6), sharex=True, layout="constrained"
    )
    for axis, study in zip(axes, studies, strict=True):
        loss = study.loss
        axis.hist(loss, bins=40, range=(0, EPSILON), color="#3b6ea5")
        axis.axvline(np.median(loss), color="#c1440e", label="median row")
        axis.axvline(
            EPSILON, color="black", linestyle="--", label="promised to every row"
        )
        axis.set(title=study.name, xlabel="privacy loss of one row (nats)")
    axes[0].set_ylabel("rows")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    """Run both studies, print what they say, and write the figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figure", type=Path, default=Path("quickstart.png"))
    path = parser.parse_args().figure

    start = time.perf_counter()
    studies = [study(name, load()) for name, load in TABLES.items()]
    for done in studies:
        report(done)
    draw(studies, path)
    print(f"\nfigure: {path}; {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
