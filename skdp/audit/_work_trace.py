"""Does the same work happen for every data set? Decided without a clock.

With the same seed, a sampler of fixed work calls the same functions in the same order,
with arrays of the same shapes, and leaves the generator in the same state, whatever the
data. A difference proves that the running time can tell; agreement says nothing about
the time of each call, which :func:`skdp.audit.timing` looks at.
"""

import gc
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any, TypeVar

import numpy as np

from skdp._validation import check_count

__all__ = ["WorkTrace", "work_trace"]

Data = TypeVar("Data")


@dataclass(frozen=True, slots=True)
class WorkTrace:
    """What :func:`work_trace` found.

    Attributes
    ----------
    identical : bool
        Whether calls, shapes, warnings, exceptions and the generator all agree.
    same_generator : bool
        Whether the generator ended in the same state for all data sets.
    n_calls : tuple of int
        Calls on each data set, at the first seed.
    difference : str
        Where the first difference is, in words; empty when there is none.
    """

    identical: bool
    same_generator: bool
    n_calls: tuple[int, ...]
    difference: str

    def __str__(self) -> str:
        if self.identical:
            return f"the same work for all data sets ({self.n_calls[0]} calls)"
        return f"different work: {self.difference}"


def work_trace(
    run: Callable[[Data, np.random.Generator], object],
    datasets: Sequence[Data],
    *,
    n_seeds: int = 3,
    warm_up: int = 1,
) -> WorkTrace:
    """Compare the work that a callable does on several data sets, seed by seed.

    Parameters
    ----------
    run : callable
        ``run(data, generator)``; draws all randomness from the generator it is given,
        which may be passed on as ``random_state``.
    datasets : sequence
        Two data sets or more: hostile ones, with duplicates, constants, extreme values
        and, under add-remove, another number of rows.
    n_seeds : int, default=3
        Seeds to compare at.
    warm_up : int, default=1
        Unrecorded runs on each data set, which fill caches and import modules.

    Returns
    -------
    WorkTrace

    Notes
    -----
    Every Python function and every built-in one that is entered is recorded, with the
    shapes of the arrays it is given, so nothing has to be declared. Work inside one
    compiled call is not seen. A warning or an exception, and its type, counts as work.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.audit import work_trace
    >>> def leaky(data, generator):
    ...     while generator.random() > data.mean():
    ...         pass
    >>> data = [np.full(3, 0.3), np.full(3, 0.9)]
    >>> work_trace(leaky, data, n_seeds=5).identical
    False
    >>> def fixed(data, generator):
    ...     return (generator.random(64) < data.mean()).argmin()
    >>> work_trace(fixed, data).identical
    True
    """
    remedy = "Pass a small number."
    n_seeds = check_count("n_seeds", n_seeds, minimum=1, remedy=remedy)
    warm_up = check_count("warm_up", warm_up, minimum=0, remedy=remedy)
    if len(datasets) < 2:
        raise ValueError(
            f"datasets has {len(datasets)} entries. Allowed: two or more. Pass the "
            "data sets whose work is compared."
        )
    for data in list(datasets) * warm_up:
        _recorded(run, data, 0)
    runs = [
        [_recorded(run, data, seed) for data in datasets] for seed in range(n_seeds)
    ]
    differences = [_first_difference(seed, per) for seed, per in enumerate(runs)]
    states = [{state for _, state in per} for per in runs]
    same = all(len(ends) == 1 for ends in states)
    told = [text for text in differences if text]
    if not told and not same:
        told = ["the generator ends in different states"]
    return WorkTrace(
        identical=not told,
        same_generator=same,
        n_calls=tuple(len(events) for events, _ in runs[0]),
        difference=told[0] if told else "",
    )


def _recorded(
    run: Callable[[Data, np.random.Generator], object], data: Data, seed: int
) -> tuple[list[str], str]:
    """Run once, and return what happened and where the generator ended."""
    generator = np.random.Generator(np.random.PCG64(seed))
    events: list[str] = []

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            events.append(_call_of(frame))
        elif event == "c_call" and argument is not sys.setprofile:
            events.append(f"built-in {argument.__name__}")

    collecting = gc.isenabled()
    gc.disable()  # a collection runs finalisers, which would be recorded
    before = sys.getprofile()
    outcome: object = None
    failure: Exception | None = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sys.setprofile(note)
        try:
            outcome = run(data, generator)
        except Exception as error:
            failure = error
        finally:
            sys.setprofile(before)
            if collecting:
                gc.enable()
    events += [f"warns {w.category.__name__}: {w.message}" for w in caught]
    events.append(_end(outcome, failure))
    return events, str(generator.bit_generator.state)


def _end(outcome: object, failure: Exception | None) -> str:
    """Say how a run ended: by an exception, or with an array of some shape."""
    if failure is not None:
        return f"raises {type(failure).__name__}"
    shape = outcome.shape if isinstance(outcome, np.ndarray) else ""
    return f"returns {type(outcome).__name__}{shape}"


def _call_of(frame: FrameType) -> str:
    """Name a call by its function and the shapes of the arrays it was given."""
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    values = [frame.f_locals.get(name) for name in code.co_varnames[:count]]
    shapes = [str(v.shape) for v in values if isinstance(v, np.ndarray)]
    return f"{code.co_qualname}({', '.join(shapes)})"


def _first_difference(seed: int, runs: list[tuple[list[str], str]]) -> str:
    """Say where the calls of two data sets part, or nothing."""
    first = runs[0][0]
    for number, (other, _) in enumerate(runs[1:], start=1):
        for step, (a, b) in enumerate(zip(first, other, strict=False)):
            if a != b:
                return f"seed {seed}, step {step}: {a} on 0, {b} on {number}"
        if len(first) != len(other):
            return (
                f"seed {seed}: {len(first)} calls on 0, {len(other)} calls on {number}"
            )
    return ""
