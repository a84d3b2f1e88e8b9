"""A synthetic census extract, and how useful it is.

Nine columns of the adult table with categories from its codebook. ``SKDP_DATA`` names a
directory that holds ``adult.csv.gz``; without it a table of that shape is generated. A
tree of noisy marginals at epsilon = 1 gives as many rows as there were. Judged by the
shares of every column and of every pair of columns, and by a classifier trained on
synthetic rows and tested on real ones. The judgement reads the real table: it is for
the curator, and no budget pays for it.

    python examples/synthetic_census.py --figure synthetic_census.png
"""

import argparse
import os
from itertools import combinations
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from skdp.inspection import MarginalsDisplay
from skdp.synthesis import TableSampler

AGES = ["17-24", "25-34", "35-44", "45-54", "55-64", "65-90"]
HOURS = ["1-34", "35-40", "41-49", "50-99"]
SCHOOL = ["1-8", "9", "10", "11-12", "13", "14-16"]
CODEBOOK = {
    "age": AGES,
    "workclass": [
        "Private",
        "Self-emp-not-inc",
        "Self-emp-inc",
        "Federal-gov",
        "Local-gov",
        "State-gov",
        "Without-pay",
        "Never-worked",
        "?",
    ],
    "education": SCHOOL,
    "marital_status": [
        "Married-civ-spouse",
        "Divorced",
        "Never-married",
        "Separated",
        "Widowed",
        "Married-spouse-absent",
        "Married-AF-spouse",
    ],
    "relationship": [
        "Wife",
        "Own-child",
        "Husband",
        "Not-in-family",
        "Other-relative",
        "Unmarried",
    ],
    "race": ["White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black"],
    "sex": ["Female", "Male"],
    "hours": HOURS,
    "income": ["<=50K", ">50K"],
}
N = 48_842


def census():
    """Return the real table if there is one, otherwise a generated one."""
    directory = os.environ.get("SKDP_DATA")
    if not directory:
        return generated()
    raw = pd.read_csv(Path(directory) / "adult.csv.gz", keep_default_na=False)
    columns = {name: raw[name] for name in CODEBOOK if name in raw}
    columns["age"] = binned(raw["age"], [16, 24, 34, 44, 54, 64, 90], AGES)
    columns["hours"] = binned(raw["hours_per_week"], [0, 34, 40, 49, 99], HOURS)
    columns["education"] = binned(
        raw["education_num"], [0, 8, 9, 10, 12, 13, 16], SCHOOL
    )
    return pd.DataFrame({name: columns[name].astype(str) for name in CODEBOOK})


def binned(values, edges, labels):
    """Return the label of the public interval of each value."""
    return pd.cut(values, edges, labels=labels)


def generated():
    """Return rows whose columns depend on a hidden age and on each other."""
    rng = np.random.default_rng(0)
    age = rng.choice(6, N, p=[0.17, 0.26, 0.25, 0.18, 0.1, 0.04])
    sex = rng.choice(2, N, p=[0.33, 0.67])
    single = rng.random(N) < np.array([0.85, 0.45, 0.25, 0.2, 0.2, 0.25])[age]
    marital = np.where(single, rng.choice([1, 2, 3, 4], N, p=[0.3, 0.6, 0.05, 0.05]), 0)
    spouse = np.where(sex == 1, 2, 0)
    other = rng.choice([1, 3, 4, 5], N, p=[0.3, 0.5, 0.05, 0.15])
    relation = np.where(marital == 0, spouse, other)
    school = rng.choice(6, N, p=[0.13, 0.32, 0.22, 0.08, 0.17, 0.08])
    hours = np.clip(rng.poisson(1.0 + 0.5 * sex + 0.1 * school, N), 0, 3)
    score = 0.6 * school + 0.3 * age + 0.5 * hours + 2.0 * (marital == 0) - 5.0
    income = (score + rng.logistic(size=N) > 0).astype(int)
    work = rng.choice(9, N, p=[0.7, 0.08, 0.03, 0.03, 0.06, 0.04, 0.005, 0.005, 0.05])
    race = rng.choice(5, N, p=[0.855, 0.03, 0.01, 0.01, 0.095])
    codes = [age, work, school, marital, relation, race, sex, hours, income]
    return pd.DataFrame(
        {
            name: np.array(levels)[code]
            for (name, levels), code in zip(CODEBOOK.items(), codes, strict=True)
        }
    )


def pair_distances(real, synthetic):
    """Return the distance of every pair of columns; for the curator."""
    found = []
    for a, b in combinations(CODEBOOK, 2):
        shares = [
            table.groupby([a, b], observed=True).size() / len(table)
            for table in (real, synthetic)
        ]
        found.append(shares[0].sub(shares[1], fill_value=0.0).abs().sum() / 2)
    return np.array(found)


def auc(train, test):
    """Return how well income is told in ``test`` by a model of ``train``."""
    features = [name for name in CODEBOOK if name != "income"]
    encoder = OneHotEncoder(categories=[CODEBOOK[name] for name in features])
    model = make_pipeline(encoder, LogisticRegression(max_iter=50, tol=1e-3))
    model.fit(train[features], train["income"] == ">50K")
    scores = model.predict_proba(test[features])[:, 1]
    return roc_auc_score(test["income"] == ">50K", scores)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", type=Path, default=Path("synthetic_census.png"))
    path = parser.parse_args().figure
    table = census()
    held_out = np.random.default_rng(1).random(len(table)) < 0.25
    real, test = table[~held_out], table[held_out]
    sampler = TableSampler(epsilon=1.0, delta=1e-6, method="tree", categories=CODEBOOK)
    kind = "real" if os.environ.get("SKDP_DATA") else "generated"
    print(f"{kind} table: {len(real):,} rows, {len(CODEBOOK)} columns\n")
    print(sampler.choices(len(real)).drop(columns="keeps").to_string(index=False))
    synthetic = sampler.fit(real).sample(len(real))
    print(f"\n{sampler.privacy_spent_}\n")
    display = MarginalsDisplay.from_tables(
        real, synthetic, categories={k: CODEBOOK[k] for k in ("age", "sex", "income")}
    )
    display.figure_.savefig(path, dpi=100)
    plt.close(display.figure_)
    pairs = pair_distances(real, synthetic)
    print("| measure | synthetic |")
    print("| --- | ---: |")
    print(f"| largest distance of a column drawn | {display.distances_.max():.4f} |")
    print(f"| mean distance of a pair of columns | {pairs.mean():.4f} |")
    print(f"| largest distance of a pair of columns | {pairs.max():.4f} |")
    print(f"| AUC, trained on synthetic rows | {auc(synthetic, test):.3f} |")
    print(f"| AUC, trained on real rows | {auc(real, test):.3f} |")
    print(f"\nfigure: {path}")


if __name__ == "__main__":
    main()
