"""Timing of constant-work building blocks, beside calls whose time tells on values.

    OMP_NUM_THREADS=1 python benchmarks/timing.py            # about a minute
    OMP_NUM_THREADS=1 python benchmarks/timing.py --check    # status 1 on a leak

Each line times one call on two inputs of equal shape, in random order, from one place
in memory, with a null and a planted control (``skdp.audit.timing``). The blocks of
``skdp._constant_work`` should show nothing; the calls below the line are what the lint
keeps out of them, and most show at once. "Nothing seen" is a statement about one
machine on one day. With ``--check`` a block fails when three audits in a row, with
sound controls, see a leak.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skdp._constant_work import (
    accepts,
    bounded,
    choose,
    count_at_most,
    first_rows,
    first_true,
    largest,
    safe_exp,
    take_row,
)
from skdp.accounting import Public
from skdp.audit import TimingAudit, timing
from skdp.random import as_random_source
from skdp.samplers import BatchedLoop, LoopTarget, SimpleLoop

RNG = np.random.default_rng(0)
N = 4096
EARLY, LATE = np.zeros(N, dtype=bool), np.zeros(N, dtype=bool)
EARLY[0], LATE[-1] = True, True
RARE, DENSE = RNG.random(N) < 0.02, RNG.random(N) < 0.5
SPREAD, TIED = RNG.random(N), np.repeat([0.2, 0.7], N // 2)
MILD, DEEP = np.full(N, -1.0), np.full(N, -730.0)
ROWS = RNG.random((N, 2))
WAIT = RNG.exponential(size=N)
GRID = np.linspace(0.0, 1.0, 33)


@dataclass(frozen=True)
class Case:
    """One call, and two inputs that a branchy version would treat differently."""

    name: str
    call: Callable[[np.ndarray], object]
    first: np.ndarray
    second: np.ndarray


BLOCKS = [
    Case("first_true", first_true, EARLY, LATE),
    Case("first_rows", lambda m: first_rows(ROWS, m, 3), EARLY, DENSE),
    Case("take_row", lambda i: take_row(ROWS, i[0]), np.array([0]), np.array([N - 1])),
    Case("choose", lambda f: choose(f[0], SPREAD, TIED), np.array([0]), np.array([1])),
    Case("largest", largest, SPREAD, TIED),
    Case("count_at_most", lambda z: count_at_most(z, GRID), SPREAD, TIED),
    Case("bounded", lambda x: bounded(x, -700.0, 0.0), MILD, DEEP),
    Case("safe_exp", safe_exp, MILD, DEEP),
    Case("accepts", lambda x: accepts(x, WAIT), MILD, DEEP),
]

BRANCHY = [
    Case("np.where", lambda m: np.where(m, SPREAD, TIED), RARE, DENSE),
    Case("x[mask]", lambda m: SPREAD[m], RARE, DENSE),
    Case("np.argmax of a mask", np.argmax, EARLY, LATE),
    Case("np.any", np.any, EARLY, LATE),
    Case(
        "np.sort, stable", lambda z: np.sort(z, kind="stable"), SPREAD, np.sort(SPREAD)
    ),
    Case("np.interp", lambda z: np.interp(z, GRID, GRID), SPREAD, np.sort(SPREAD)),
    Case("np.exp, denormal", np.exp, MILD, DEEP),
]


def _proposals(n, source):
    return source.generator.random((n, 1))


def _loop(make):
    """Return a call that draws once from exp(-rate |x - 0.3|) on [0, 1]."""
    source = as_random_source(1)

    def call(rate):
        target = LoopTarget(_proposals, lambda x: -rate[0] * np.abs(x[:, 0] - 0.3))
        return make(target).draw(source)

    return call


LOOPS = [
    Case(
        "BatchedLoop",
        _loop(lambda target: BatchedLoop(target, Public(0.24), 1e-12)),
        np.array([0.5]),
        np.array([2.0]),
    ),
]
TEXTBOOK = [
    Case(
        "SimpleLoop",
        _loop(lambda target: SimpleLoop(target, p_hi=Public(1.0), Dg=Public(1.5))),
        np.array([0.5]),
        np.array([2.0]),
    ),
]


def audit(case: Case, n_runs: int) -> TimingAudit:
    """Audit one case."""
    return timing(case.call, case.first, case.second, n_runs=n_runs, random_state=0)


def repeated(case: Case, n_runs: int, tries: int = 3) -> TimingAudit:
    """Audit until nothing is seen with sound controls, or as often as ``tries``."""
    for _ in range(tries):
        found = audit(case, n_runs)
        if found.trustworthy and not found.leaks:
            break
    return found


def row(name: str, found: TimingAudit) -> str:
    """Return one line of the table."""
    e = found.evidence
    seen = "leaks" if found.leaks else "nothing seen"
    sound = "yes" if found.trustworthy else "no"
    return f"| {name} | {e.epsilon:.2f} | {e.t:.1f} | {e.auc:.3f} | {seen} | {sound} |"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=2000, help="runs a class")
    parser.add_argument("--check", action="store_true", help="fail on a leaking block")
    parser.add_argument("--only", nargs="*", help="names of cases")
    options = parser.parse_args(arguments)
    print("| call | epsilon of the clock, at least | t | AUC | verdict | controls |")
    print("| --- | --- | --- | --- | --- | --- |")
    leaking = []
    for case in BLOCKS + LOOPS:
        if options.only is None or case.name in options.only:
            found = repeated(case, options.runs)
            print(row(case.name, found), flush=True)
            leaking += [case.name] * (found.leaks and found.trustworthy)
    for case in BRANCHY + TEXTBOOK:
        if options.only is None or case.name in options.only:
            print(row(f"*{case.name}*", audit(case, options.runs)), flush=True)
    if leaking and options.check:
        print(f"leaking: {', '.join(leaking)}", file=sys.stderr)
    return int(bool(leaking) and options.check)


if __name__ == "__main__":
    sys.exit(main())
