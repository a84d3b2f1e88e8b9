"""Private growth curves: quantile lines, and the direction in which a cloud is long.

On the left three quantiles of a child's height by age, each from its own private fit,
beside scikit-learn's lines without privacy. On the right the first principal direction
of height and weight, drawn 40 times at two budgets: what an attacker sees is one of
these lines. Run it with::

    python examples/quantile_regression.py --figure quantile_regression.png
"""

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import QuantileRegressor

import skdp

QUANTILES = {0.1: "tab:blue", 0.5: "tab:green", 0.9: "tab:red"}
EPSILON = 1.0  # for each of the three lines
HEIGHTS = (60.0, 180.0)  # public: what the measuring rod shows, in cm


def children(n: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    """Generate ages scaled from 2..12 years to [-1, 1], and heights in cm."""
    rng = np.random.default_rng(0)
    age = rng.uniform(-1, 1, n)
    height = 117 + 31 * age + (4 + 1.5 * age) * rng.standard_normal(n)
    return age[:, None], height


def quantile_lines(axis: plt.Axes) -> None:
    """Draw private and plain lines, and print how many children lie below."""
    X, y = children()
    ends = np.array([[-1.0], [1.0]])
    axis.plot(7 + 5 * X[:, 0], y, ".", color="0.8", markersize=2)
    for quantile, color in QUANTILES.items():
        private = skdp.KNGQuantileRegressor(
            quantile=quantile, bounds_y=HEIGHTS, epsilon=EPSILON, radius=1.0
        ).fit(X, y)
        plain = QuantileRegressor(quantile=quantile, alpha=0.0).fit(X, y)
        axis.plot(7 + 5 * ends, private.predict(ends), color=color)
        axis.plot(7 + 5 * ends, plain.predict(ends), color=color, linestyle=":")
        below = np.mean(y <= private.predict(X))
        epsilon, _ = private.privacy_spent_
        print(f"quantile {quantile}: {below:.3f} below, epsilon = {epsilon:g}")
    axis.set(xlabel="age (years)", ylabel="height (cm)")
    axis.set_title(f"quantiles at epsilon = {EPSILON:g} each; dotted: not private")


def directions(axis: plt.Axes) -> None:
    """Draw first principal directions of two scaled columns at two budgets."""
    rng = np.random.default_rng(1)
    cloud = 0.25 * rng.standard_normal((600, 2)) @ [[0.9, 0.8], [-0.3, 0.5]]
    axis.plot(*cloud.T, ".", color="0.8", markersize=2)
    plain = PCA(1).fit(cloud).components_[0]
    for epsilon, color in ((0.05, "tab:orange"), (1.0, "tab:purple")):
        # a fit in earnest is released once; these forty show how it varies
        lines = [
            skdp.PrivatePCA(epsilon=epsilon).fit(cloud).components_[0]
            for _ in range(40)
        ]
        for line in lines:
            axis.plot(*np.outer(line, [-1, 1]), color=color, alpha=0.15)
        axis.plot([], [], color=color, label=f"epsilon = {epsilon:g}")
        off = np.degrees(np.arccos(np.minimum(np.abs(np.array(lines) @ plain), 1.0)))
        print(
            f"principal direction at epsilon {epsilon:g}: {np.median(off):.1f} deg off"
        )
    axis.plot(*np.outer(plain, [-1, 1]), "k:", label="not private")
    axis.set(xlabel="height, scaled", ylabel="weight, scaled", aspect="equal")
    axis.set_title("first principal direction, 40 draws")
    axis.legend(loc="upper left")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", type=Path, help="where to save the figure")
    options = parser.parse_args()
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5))
    quantile_lines(left)
    directions(right)
    if options.figure:
        figure.tight_layout()
        figure.savefig(options.figure, dpi=120)


if __name__ == "__main__":
    main()
