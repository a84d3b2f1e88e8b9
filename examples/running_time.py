"""What a rejection loop tells by the time it takes, and a loop that does not.

A median is drawn from the exponential mechanism on [0, 1] by rejection, first as in a
textbook, then in batches of public size. Run with ``python examples/running_time.py``.
"""

import math

import numpy as np

from skdp.accounting import Public, PureDP, RuntimeCost
from skdp.audit import timing, work_trace
from skdp.random import as_random_source, uniform
from skdp.samplers import BatchedLoop, LoopTarget, SimpleLoop, choose_sampler

EPSILON, N_ROWS = 1.0, 9
#: Two data sets far apart, so that few runs show the difference.
SPREAD, TIED = np.arange(1.0, N_ROWS + 1) / (N_ROWS + 1), np.ones(N_ROWS)
# replace one row: the rank error changes by at most 1, so the log density by epsilon/2;
# it is never below -epsilon N / 4 under a uniform envelope, whatever the data
LEAST = Public(math.exp(-EPSILON * N_ROWS / 4))


def target(rows):
    """Return proposals on [0, 1] and log acceptances by the rank error."""

    def log_acceptance(x):
        return -0.5 * EPSILON * np.abs((rows[:, None] <= x[:, 0]).sum(0) - N_ROWS / 2)

    return LoopTarget(lambda n, source: uniform(n, source)[:, None], log_acceptance)


def textbook(rows):
    """Return a loop that ends at the first accepted proposal."""
    return SimpleLoop(target(rows), p_hi=Public(1.0), Dg=Public(EPSILON / 2))


def batched(rows):
    """Return a loop that looks at whole batches."""
    return BatchedLoop(target(rows), LEAST, 1e-9)


def traced(make):
    """Compare the work on two data sets."""
    return work_trace(
        lambda rows, generator: make(rows).draw(as_random_source(generator)),
        [SPREAD, TIED],
        n_seeds=5,
    )


def timed(make):
    """Bound the epsilon of the clock on the same data sets."""
    source = as_random_source(None)
    return timing(
        lambda rows: make(rows).draw(source),
        SPREAD,
        TIED,
        n_runs=200,
        random_state=0,
    )


def main():
    print("Cost of the clock beside a 1-DP draw, at delta = 1e-6, by acceptance:")
    for p_hi in (0.1, 0.5, 0.9):
        cost = RuntimeCost("simple", p_hi=p_hi, Dg=0.5)
        print(f"  at most {p_hi}: epsilon {cost.epsilon(1e-6):5.2f}")
    print("\nTrade-off of false alarms and missed detections by the clock alone:")
    alpha = np.array([0.01, 0.05, 0.25, 0.5])
    missed = RuntimeCost("simple", p_hi=0.9, Dg=0.5).tradeoff(alpha)
    for a, b in zip(alpha, missed, strict=True):
        print(f"  {a:.2f} false alarms: at least {b:.3f} missed")
    for name, make in (("textbook loop", textbook), ("batched loop", batched)):
        total = make(SPREAD).guarantee(PureDP(EPSILON, adjacency="replace-one"))
        print(f"\n{name}: delta {total.delta(EPSILON):.2g} at epsilon {EPSILON}")
        print(f"  work: {traced(make)}")
        print(f"  clock: {timed(make)}")
    print("\nBetter than either, where it applies:")
    print(f"  {choose_sampler('interval', known=('sensitivity',))}")


if __name__ == "__main__":
    main()
