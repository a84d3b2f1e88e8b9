"""What a proved Markov chain would cost, beside an exact rejection sampler.

A chain is private by its length only if its law is provably so close to the posterior
that noise can hide the rest. The figure shows the steps that a proof with explicit
constants asks for: random-walk Metropolis, uniform mixing of 2^-40, then a W-infinity
distance of a thousandth of the ball. Beside them stand the proposals that rejection
took to draw exactly, on generated rows, where nothing needs hiding. Run it with::

    python examples/cost_of_rigour.py --figure cost_of_rigour.png
"""

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from skdp.accounting import GaussianDP
from skdp.losses import LogisticLoss
from skdp.mechanisms import GibbsPosterior
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, as_row_blocks
from skdp.samplers import GibbsSampler, random_walk_steps, total_variation_needed

DIMENSIONS = (2, 5, 10, 20, 50)
CONDITIONS = (10.0, 100.0, 1000.0)
N_ROWS, RIDGE = 5_000, 20.0
DISTANCE, MIXING = 1e-3, 2.0**-40


def proved_steps(d: int, condition: float) -> int:
    """Return how many steps of a chain a rigorous claim would need."""
    needed = total_variation_needed(DISTANCE, radius=1.0, n_features=d, mixing=MIXING)
    return random_walk_steps(d, condition, needed)


def proposals_per_draw(d: int) -> float:
    """Return how many proposals an exact draw took on generated rows."""
    rng = np.random.default_rng(d)
    X = rng.standard_normal((N_ROWS, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(rng.random(N_ROWS) < 1 / (1 + np.exp(-3 * X[:, 0])), 1.0, -1.0)
    mechanism = GibbsPosterior.calibrate(
        GaussianDP(0.5),
        loss=LogisticLoss(),
        radius=1.0,
        n_coefficients=d,
        alpha=RIDGE,
    )
    rows = PrivateRows(as_row_blocks(X, y), L2Ball(1.0))
    sampler = GibbsSampler(mechanism.target(rows), as_random_source(0))
    sampler.draw(100)
    return sampler.n_proposals / sampler.n_accepted


def main() -> None:
    """Print both costs and write the figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figure", type=Path, default=Path("cost_of_rigour.png"))
    path = parser.parse_args().figure

    exact = [proposals_per_draw(d) for d in DIMENSIONS]
    figure, axis = plt.subplots(figsize=(6, 4.2), layout="constrained")
    print("coefficients:", *DIMENSIONS, sep="\t")
    for kappa in CONDITIONS:
        steps = [proved_steps(d, kappa) for d in DIMENSIONS]
        print(f"proved steps, condition {kappa:g}:", *(f"{s:.1e}" for s in steps))
        axis.plot(DIMENSIONS, steps, "o-", label=f"proved chain, condition {kappa:g}")
    print("exact, proposals a draw:", *(f"{p:.2f}" for p in exact))
    axis.plot(DIMENSIONS, exact, "s--", color="black", label="exact rejection")
    axis.set(
        xscale="log",
        yscale="log",
        xlabel="coefficients",
        ylabel="evaluations of the posterior for one draw",
    )
    axis.set_xticks(DIMENSIONS, labels=[str(d) for d in DIMENSIONS])
    axis.minorticks_off()
    axis.legend(frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)
    print(f"figure: {path}")


if __name__ == "__main__":
    main()
