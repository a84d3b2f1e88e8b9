"""Time of exact posterior draws: set-up, one draw, and many in one call.

    OMP_NUM_THREADS=1 python benchmarks/posterior_speed.py         # half a minute
    OMP_NUM_THREADS=1 python benchmarks/posterior_speed.py --check # status 1 on a miss

30,000 rows uniform on the unit sphere in 20 columns, an intercept column beside them,
and labels or targets of a linear model whose coefficients have norm ``--signal``.
"set-up" is everything before the first draw: mode, envelopes and their choice. Times
are CPU seconds of one thread. The acceptance is a function of the rows; it is printed
because the rows are generated here.

"inside" means that the mode of the posterior lies inside its ball, "border" that it
does not, "none" that there is no ball. A thousand draws at epsilon = 1 each cost 1000
together. Targets are set for the logistic and the squared loss.
"""

import argparse
import sys
import time
from dataclasses import dataclass

import numpy as np

from skdp.accounting import ApproximateDP, PureDP
from skdp.losses import HuberLoss, LogCoshLoss, LogisticLoss, SquaredLoss
from skdp.mechanisms import GibbsPosterior
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks
from skdp.samplers import Ball, GibbsSampler

N_ROWS, N_COLUMNS = 30_000, 20
#: Rows of norm one together with the intercept's constant.
NORM, CONSTANT = np.sqrt(0.75), 0.5
LOSSES = {
    "logistic": LogisticLoss(),
    "squared": SquaredLoss(1.0),
    "huber": HuberLoss(target_bound=1.0, scale=0.3),
    "log-cosh": LogCoshLoss(target_bound=1.0, scale=0.3),
}
#: Largest seconds of set-up, and of one draw by where the mode lies.
SET_UP = 0.6
ONE_DRAW = {"inside": 8e-3, "border": 30e-3, "none": 8e-3}
#: Seconds for a thousand draws at an acceptance of a fifth or more ...
THOUSAND = 1.5
#: ... and below it, per draw and per unit of acceptance.
PER_PROPOSAL = 0.15e-3
SQUARED_PER_SECOND = 1e5


@dataclass(frozen=True)
class Case:
    """One posterior to draw from; ``radius`` None means the whole space."""

    loss: str
    radius: float | None
    epsilon: float = 1.0
    ridge_per_row: float = 1e-3
    n_draws: int = 1000


CASES = (
    Case("logistic", 0.5),
    Case("logistic", 1.0),
    Case("logistic", 4.0),
    Case("logistic", 4.0, epsilon=4.0),
    Case("logistic", 1.0, ridge_per_row=1e-2),
    Case("logistic", 4.0, ridge_per_row=1e-2),
    Case("logistic", None),
    Case("huber", None),
    Case("huber", 1.0),
    Case("log-cosh", 1.0),
    Case("squared", 4.0, n_draws=100_000),
    Case("squared", 0.5, n_draws=10_000),
)


def make_rows(loss, signal):
    """Return private rows with labels of a logistic, or targets of a linear, model."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_ROWS, N_COLUMNS))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    theta = rng.standard_normal(N_COLUMNS)
    margin = X @ (signal * theta / np.linalg.norm(theta))
    y = margin / 4 + rng.normal(0.0, 0.2, N_ROWS)
    if loss == "logistic":
        y = np.where(rng.random(N_ROWS) < 1.0 / (1.0 + np.exp(-margin)), 1.0, -1.0)
    blocks = as_row_blocks(X, y, labels=Targets(-1.0, 1.0))
    return PrivateRows(blocks, L2Ball(NORM, CONSTANT))


def calibrated(case):
    d = N_COLUMNS + 1
    ball = None if case.radius is None else Ball.around_zero(d, case.radius)
    target = ApproximateDP(case.epsilon, 1e-6) if ball is None else PureDP(case.epsilon)
    return GibbsPosterior.calibrate(
        target,
        loss=LOSSES[case.loss],
        radius=1.0,
        n_coefficients=d,
        ball=ball,
        alpha=case.ridge_per_row * N_ROWS,
    )


def where_the_mode_is(target):
    """Say whether the potential still falls where the ball ends."""
    if target.ball is None:
        return "none"
    # far more digits than this needs
    sampler = GibbsSampler(target, as_random_source(0))
    mode = sampler.expansion
    return "border" if np.linalg.norm(mode) > 0.999 * target.ball.radius else "inside"


def clock(call):
    start = time.process_time()
    result = call()
    return result, time.process_time() - start


def measure(case, signal):
    """Return where the mode is, the sampler after its draws, and the three times."""
    target = calibrated(case).target(make_rows(case.loss, signal))
    place = where_the_mode_is(target)
    source = as_random_source(1)
    sampler, set_up = clock(lambda: GibbsSampler(target, source))
    one = np.median([clock(lambda: sampler.draw(1))[1] for _ in range(9)])
    _, many = clock(lambda: sampler.draw(case.n_draws))
    return place, sampler, set_up, one, many


def largest_time(case, acceptance):
    """Return the seconds allowed for all draws of a case."""
    if case.loss in ("huber", "log-cosh"):
        return np.inf
    if case.loss == "squared" and acceptance > 0.99:
        return case.n_draws / SQUARED_PER_SECOND
    if acceptance >= 0.2:
        return THOUSAND * case.n_draws / 1000
    return PER_PROPOSAL * case.n_draws / acceptance


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--signal", type=float, default=2.0)
    parser.add_argument("--check", action="store_true", help="fail on a miss")
    options = parser.parse_args()
    print(
        "| loss | radius | epsilon | ridge / n | mode | envelope | acceptance", end=""
    )
    print(" | set-up (s) | one draw (ms) | draws | all draws (s) | target (s) | |")
    print("| --- " * 6 + "| ---: " * 6 + "| --- |")
    missed = 0
    for case in CASES:
        place, sampler, set_up, one, many = measure(case, options.signal)
        rate = sampler.n_accepted / sampler.n_proposals
        allowed = largest_time(case, rate)
        late = np.isfinite(allowed) and (
            set_up > SET_UP or one > ONE_DRAW[place] or many > allowed
        )
        missed += late
        aim = f"{allowed:.2f}" if np.isfinite(allowed) else ""
        radius = "" if case.radius is None else f"{case.radius:g}"
        print(
            f"| {case.loss} | {radius} | {case.epsilon:g} | {case.ridge_per_row:g} "
            f"| {place} | {sampler.envelope} | {rate:.3f} | {set_up:.2f} "
            f"| {1e3 * one:.1f} | {case.n_draws} | {many:.2f} | {aim} "
            f"| {'MISSED' if late else ''} |",
            flush=True,
        )
    print(f"\n{missed} targets missed")
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
