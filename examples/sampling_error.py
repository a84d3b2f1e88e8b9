"""How far a private draw is from the data: every profile on seven kinds of data.

Reveal-or-obscure shows a random record or else a random symbol, so it is equally wrong
on all data. The data-specific version obscures less when no symbol is rare; the
envelope only touches counts that are small; the minimax profile is best on the worst
data. Compared on laws from one single symbol to nine even ones, 1,000 records each.

    python examples/sampling_error.py --figure sampling_error.png
"""

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from skdp.accounting import PureDP
from skdp.inspection import AccuracyDisplay
from skdp.mechanisms import CountWeights, DataSpecificROO, RevealOrObscure

K, N, RUNS = 9, 1000, 400
EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0)
RANKS = np.arange(1, K + 1)
FAMILIES = {
    "one symbol": np.eye(K)[0],
    "linear": RANKS / RANKS.sum(),
    "1 / rank": 1 / RANKS,
    "1 / rank^2": 1 / RANKS**2,
    "geometric": 0.5**RANKS,
    "binomial": np.array([1, 8, 28, 56, 70, 56, 28, 8, 1]) / 256,
    "one rare": np.append(np.full(K - 1, 0.998 / (K - 1)), 0.002),
}


def samplers(epsilon):
    """Return the calibrated samplers, by profile."""
    target = PureDP(epsilon, adjacency="replace-one")
    shape = {"n_categories": K, "n_rows": N}
    return {
        "roo": RevealOrObscure.calibrate(target, **shape),
        "ds-roo": DataSpecificROO.calibrate(target, **shape),
        "envelope": CountWeights.calibrate(target, profile="envelope", **shape),
        "minimax": CountWeights.calibrate(target, profile="minimax", **shape),
    }


def mean_distance(sampler, tables):
    """Return the mean distance of a draw's law from the data it was drawn from."""
    if isinstance(sampler, DataSpecificROO):
        q = np.append(sampler.obscure_probabilities, np.zeros(N))
        distance = 0.5 * np.abs(1 / K - tables / N).sum(axis=1)
        return float(np.mean(q[tables.min(axis=1)] * distance))
    weights = sampler.table(tables).astype(float)
    laws = weights / weights.sum(axis=1, keepdims=True)
    return float(0.5 * np.abs(laws - tables / N).sum(axis=1).mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", type=Path, default=Path("sampling_error.png"))
    path = parser.parse_args().figure
    rng = np.random.default_rng(0)
    data = {
        name: rng.multinomial(N, np.asarray(law) / np.sum(law), RUNS)
        for name, law in FAMILIES.items()
    }
    made = {epsilon: samplers(epsilon) for epsilon in EPSILONS}
    figure, axes = plt.subplots(2, 4, figsize=(15, 7))
    profiles = list(made[1.0])
    print("mean distance of a draw from the data at epsilon = 0.2\n")
    print(f"| data | {' | '.join(profiles)} |")
    print("| --- |" + " ---: |" * len(profiles))
    for axis, (name, tables) in zip(axes.flat, data.items(), strict=False):
        errors = {
            p: [mean_distance(made[e][p], tables) for e in EPSILONS] for p in profiles
        }
        row = " | ".join(f"{errors[p][2]:.5f}" for p in profiles)
        print(f"| {name} | {row} |")
        for profile, values in errors.items():
            axis.loglog(EPSILONS, np.maximum(values, 1e-7), ".-", label=profile)
        axis.set(title=name, xlabel="epsilon", ylabel="mean distance")
    AccuracyDisplay.from_parameters(
        n_rows=N, n_categories=K, epsilons=EPSILONS, ax=axes.flat[7]
    ).ax_.set_title("bound, any data")
    axes.flat[0].legend()
    figure.subplots_adjust(hspace=0.35, wspace=0.35)
    figure.savefig(path, dpi=70)
    plt.close(figure)
    print(f"\nfigure: {path}")


if __name__ == "__main__":
    main()
