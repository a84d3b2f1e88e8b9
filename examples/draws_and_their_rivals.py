"""Four ways to a private logistic model, at the same ridge and the same epsilon.

Each serves one objective, losses plus ridge, whose excess over its minimum is compared:
noise on the minimiser, one draw from the posterior, noise in the objective, and noisy
gradient descent with the better of some settings. Run it with::

    python examples/draws_and_their_rivals.py --figure draws_and_their_rivals.png
"""

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from skdp.accounting import ApproximateDP, GaussianDP
from skdp.losses import LogisticLoss
from skdp.mechanisms import GibbsPosterior, ObjectivePerturbation, OutputPerturbation
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, as_row_blocks
from skdp.solvers import Objective, minimise

N_ROWS, N_COLUMNS, ALPHA, DELTA = 4_000, 10, 8.0, 1e-6
SIZES, N_RUNS = (0.2, 0.4, 0.8, 1.6), 8
SETTINGS = [(5, 4.0), (20, 4.0), (20, 12.0), (60, 4.0)]  # steps, step size
STYLES = {
    "output perturbation": "^-",
    "posterior draw": "o-",
    "noisy gradient descent": "d--",
    "objective perturbation": "s-",
}


def survey() -> PrivateRows:
    """Generate rows of norm one and labels of a logistic model."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_ROWS, N_COLUMNS))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(rng.random(N_ROWS) < 1 / (1 + np.exp(-4 * X[:, 0])), 1.0, -1.0)
    return PrivateRows(as_row_blocks(X, y), L2Ball(1.0))


def mechanisms(mu: float) -> dict:
    """Return three mechanisms of the same price."""
    target = GaussianDP(mu)
    shape = {"radius": 1.0, "n_coefficients": N_COLUMNS, "alpha": ALPHA}
    pair = ApproximateDP(target.epsilon(DELTA), DELTA)
    return {
        "output perturbation": OutputPerturbation.calibrate(
            target, loss=LogisticLoss(), **shape
        ),
        "posterior draw": GibbsPosterior.calibrate(
            target, loss=LogisticLoss(), **shape
        ),
        "objective perturbation": ObjectivePerturbation.calibrate(pair, **shape),
    }


def descent(objective: Objective, mu: float, rng: np.random.Generator) -> float:
    """Return the least objective over settings, which itself would cost privacy."""
    best = np.inf
    for n_steps, size in SETTINGS:
        values = []
        for _ in range(N_RUNS):
            theta = np.zeros(N_COLUMNS)
            for _ in range(n_steps):
                noise = rng.normal(0.0, np.sqrt(n_steps) / mu, N_COLUMNS)
                gradient = objective.gradient(theta) + noise
                theta -= size / (N_ROWS / 4 + ALPHA) * gradient
            values.append(objective.value(theta))
        best = min(best, float(np.mean(values)))
    return best


def excesses(rows: PrivateRows) -> dict[str, list[float]]:
    """Return the mean excess of the objective, per row, for each way and each mu."""
    objective = Objective(rows, LogisticLoss(), ALPHA)
    least = objective.value(minimise(objective, gradient_tol=1e-8).x)
    source, rng = as_random_source(0), np.random.default_rng(0)
    found = {name: [] for name in STYLES}
    for mu in SIZES:
        for name, mechanism in mechanisms(mu).items():
            draws = [mechanism.release(rows, source).output for _ in range(N_RUNS)]
            value = np.mean([objective.value(theta) for theta in draws])
            found[name].append((value - least) / N_ROWS)
        value = descent(objective, mu, rng)
        found["noisy gradient descent"].append((value - least) / N_ROWS)
    return found


def main() -> None:
    """Print the excesses and write the figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--figure", type=Path, default=Path("draws_and_their_rivals.png")
    )
    path = parser.parse_args().figure

    print("mu:", *SIZES, sep="\t")
    figure, axis = plt.subplots(figsize=(6, 4.2), layout="constrained")
    for name, values in excesses(survey()).items():
        print(f"{name}:", *(f"{value:.1e}" for value in values))
        axis.plot(SIZES, values, STYLES[name], label=name)
    axis.set(
        xscale="log",
        yscale="log",
        xlabel="mu of Gaussian differential privacy",
        ylabel="mean excess of the objective, per row",
    )
    axis.set_xticks(SIZES, labels=[f"{mu:g}" for mu in SIZES])
    axis.minorticks_off()
    axis.legend(frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)
    print(f"figure: {path}")


if __name__ == "__main__":
    main()
