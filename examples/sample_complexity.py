"""How many records a sampler needs, and what its probability to obscure does.

For a worst-case distance of 0.05 between a draw's law and the data, by profile, against
epsilon. On the right, what reveal-or-obscure does with the rarest count: the
data-specific version stops obscuring altogether once no symbol is rare.

    python examples/sample_complexity.py --figure sample_complexity.png
"""

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from skdp.accounting import PureDP
from skdp.inspection import ObscureProbabilityDisplay
from skdp.mechanisms import CountWeights, RevealOrObscure
from skdp.synthesis import sample_size, useful_size

K, ALPHA = 9, 0.05
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0)
PROFILES = ("roo", "envelope", "minimax")


def accuracy(n_rows, epsilon, profile):
    """Return the worst-case distance of one draw."""
    target = PureDP(epsilon, adjacency="replace-one")
    shape = {"n_categories": K, "n_rows": n_rows}
    steep = None
    if profile != "roo":
        steep = CountWeights.steepest(target, profile=profile, **shape)
    mechanism = steep or RevealOrObscure.calibrate(target, **shape)
    return mechanism.accuracy_bound(n_rows)


def records_needed(epsilon, profile):
    """Return the least number of records, by bisection: more are never worse."""
    low, high = 0, 1 << 11
    while high - low > 1:
        middle = (low + high) // 2
        good = accuracy(middle, epsilon, profile) <= ALPHA
        low, high = (low, middle) if good else (middle, high)
    return high


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", type=Path, default=Path("sample_complexity.png"))
    path = parser.parse_args().figure
    print(f"records for a distance of {ALPHA}, {K} categories\n")
    print(f"| epsilon | {' | '.join(PROFILES)} |")
    print("| ---: |" + " ---: |" * len(PROFILES))
    needed = np.array([[records_needed(e, p) for p in PROFILES] for e in EPSILONS])
    for epsilon, row in zip(EPSILONS, needed, strict=True):
        print(f"| {epsilon} | {' | '.join(map(str, row))} |")
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5))
    for profile, column in zip(PROFILES, needed.T, strict=True):
        left.loglog(EPSILONS, column, ".-", label=profile)
    left.set(xlabel="epsilon", ylabel="records", title=f"for a distance of {ALPHA}")
    left.legend()
    ObscureProbabilityDisplay.from_parameters(
        n_rows=1000, n_categories=K, epsilon=0.1, ax=right
    )
    right.set(xlim=(0, 60), title="1,000 records, epsilon = 0.1")
    figure.savefig(path, dpi=70)
    plt.close(figure)

    print("\nfor all halfspaces on 3 bits at once, within 0.1, 19 times in 20:")
    n = sample_size(
        0.1, failure=0.05, epsilon=1.0, vc_dimension=2, log_universe=3 * np.log(2)
    )
    m = useful_size(0.1, vc_dimension=2, n_rows=n)
    print(f"the theorem asks for {n:,} records and {m:,} synthetic points")
    print(f"\nfigure: {path}")


if __name__ == "__main__":
    main()
