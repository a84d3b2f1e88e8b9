"""A larger ridge costs hardly any accuracy; noise that is too large costs a lot.

The ridge of objective perturbation has a floor that privacy asks for. A larger one
makes published bounds on people's losses tighter: how much accuracy does it take? On
generated rows the error hardly moves over two decades of ridges up to epsilon = 1, and
slowly at 10, where there is little noise to hide behind. The noise of the joint bound
in place of that of Kifer, Smith & Thakurta (2012) nearly halves the error at epsilon =
1. All fits of a draw share rows and the direction of the noise. After Redberg & Wang,
"Privately publishable per-instance privacy" (2021), figure 2. Run it with::

    python examples/ridge_and_noise.py --repeats 20 --figure ridge_and_noise.png
"""

import argparse
import math
from pathlib import Path
from typing import NamedTuple

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from skdp.accounting import ApproximateDP
from skdp.losses import LogisticLoss
from skdp.mechanisms import ObjectivePerturbation
from skdp.rows import L2Ball, PrivateRows, as_row_blocks
from skdp.solvers import Objective, minimise

N_ROWS, N_FEATURES, N_NEW = 1000, 50, 4000
DELTA = 1e-6
EPSILONS = (0.1, 1.0, 10.0)
#: Multiples of 1 / (2 epsilon), the ridge of Kifer, Smith & Thakurta.
INFLATIONS = (1, 2, 5, 10, 30, 100)


class Calibration(NamedTuple):
    """Ridge and standard deviation of the noise."""

    ridge: float
    sigma: float


def kifer_smith_thakurta(epsilon: float, ridge: float) -> Calibration:
    variance = (8 * math.log(2 / DELTA) + 4 * epsilon) / epsilon**2
    return Calibration(ridge, math.sqrt(variance))


def joint_bound(epsilon: float, ridge: float) -> Calibration:
    """Return what the package uses; it raises a ridge that is too small."""
    mechanism = ObjectivePerturbation.calibrate(
        ApproximateDP(epsilon, DELTA),
        radius=1.0,
        n_coefficients=N_FEATURES,
        alpha=ridge,
    )
    return Calibration(mechanism.alpha, mechanism.noise_law.scale)


def no_noise(epsilon: float, ridge: float) -> Calibration:
    del epsilon
    return Calibration(ridge, 0.0)


METHODS = {
    "noise of Kifer, Smith & Thakurta": kifer_smith_thakurta,
    "noise of the joint bound": joint_bound,
    "no noise, not private": no_noise,
}


def errors(repeats: int) -> np.ndarray:
    """Return shares of new rows that are misclassified.

    Returns
    -------
    ndarray of shape (n_methods, n_epsilons, n_inflations, repeats)
    """
    settings = [
        [[of(e, c / (2 * e)) for c in INFLATIONS] for e in EPSILONS]
        for of in METHODS.values()
    ]
    out = np.zeros((*np.shape(settings)[:3], repeats))
    for r in range(repeats):
        rng = np.random.default_rng(r)
        truth = rng.standard_normal(N_FEATURES)
        X = rng.standard_normal((N_ROWS + N_NEW, N_FEATURES))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        y = np.where(X @ truth > 0, 1.0, -1.0)
        direction = rng.standard_normal(N_FEATURES)
        rows = PrivateRows(as_row_blocks(X[:N_ROWS], y[:N_ROWS]), L2Ball(1.0))
        for place in np.ndindex(out.shape[:3]):
            calibration = Calibration(*np.array(settings)[place])
            theta = fit(rows, calibration, direction)
            out[*place, r] = np.mean((X[N_ROWS:] @ theta > 0) != (y[N_ROWS:] > 0))
    return out


def fit(rows: PrivateRows, of: Calibration, direction: np.ndarray) -> np.ndarray:
    """Minimise the objective with noise of that direction."""
    noise = of.sigma * direction
    objective = Objective(rows, LogisticLoss(), of.ridge, linear=noise)
    return minimise(objective, gradient_tol=1e-8).x


def draw(found: np.ndarray, path: Path) -> None:
    """Draw errors against the ridge, one panel an epsilon."""
    figure, axes = plt.subplots(
        1, len(EPSILONS), figsize=(10, 3.8), sharey=True, layout="constrained"
    )
    colors = ("#c1440e", "#0b6b68", "#85898f")
    mean = found.mean(axis=-1)
    spread = found.std(axis=-1) / math.sqrt(found.shape[-1])
    for j, axis in enumerate(axes):
        for i, label in enumerate(METHODS):
            style = "--" if label.startswith("no noise") else "o-"
            axis.semilogx(
                INFLATIONS, mean[i, j], style, color=colors[i], label=label, ms=4
            )
            band = mean[i, j] - spread[i, j], mean[i, j] + spread[i, j]
            axis.fill_between(INFLATIONS, *band, color=colors[i], alpha=0.15, lw=0)
        # from here on the ridge does not change the noise of the joint bound
        axis.axvline(2, color="#85898f", linewidth=0.8, linestyle=":")
        axis.annotate("floor", (2.1, 0.01), color="#85898f")
        axis.axhline(0.5, color="#85898f", linewidth=0.8)
        axis.set(title=f"epsilon = {EPSILONS[j]:g}", ylim=(0, 0.52))
        axis.set_xticks(INFLATIONS, [str(c) for c in INFLATIONS])
        axis.minorticks_off()
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("error on new rows")
    axes[1].set_xlabel("ridge, in multiples of 1 / (2 epsilon)")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def main() -> None:
    """Print mean errors and write the figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figure", type=Path, default=Path("ridge_and_noise.png"))
    parser.add_argument("--repeats", type=int, default=8)
    options = parser.parse_args()

    found = errors(options.repeats)
    print(f"error on new rows, mean of {options.repeats} draws of rows and noise\n")
    print(f"| epsilon | | {' | '.join(f'ridge x {c}' for c in INFLATIONS)} |")
    print("| ---: | --- |" + " ---: |" * len(INFLATIONS))
    for j, epsilon in enumerate(EPSILONS):
        for i, label in enumerate(METHODS):
            cells = " | ".join(f"{value:.3f}" for value in found[i, j].mean(axis=-1))
            print(f"| {epsilon:g} | {label} | {cells} |")
    draw(found, options.figure)
    print(f"\nfigure: {options.figure}")


if __name__ == "__main__":
    main()
