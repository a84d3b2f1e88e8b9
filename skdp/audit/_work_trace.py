"""Does the same work happen for every data set? Decided without a clock.

With the same seed, a sampler of fixed work runs the same lines and calls in the same
order, on arrays of the same shapes, and leaves the generator in the same state,
whatever the data. A difference proves that the running time can tell; agreement says
nothing about the time of each step, which :func:`skdp.audit.timing` looks at.
"""

import gc
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from inspect import CO_OPTIMIZED
from types import FrameType
from typing import Any, TypeVar

import numpy as np

from skdp._validation import check_count

__all__ = ["WorkTrace", "work_trace"]

Data = TypeVar("Data")

#: How the record of a line begins.
_LINE = "line "


@dataclass(frozen=True, slots=True)
class WorkTrace:
    """What :func:`work_trace` found.

    Attributes
    ----------
    identical : bool
        Whether lines, calls, shapes, warnings, exceptions and the generator all agree.
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
    Recorded are, in order:

    - every line that is run, with the shapes of the arrays in local variables, and so
      every turn of a loop;
    - every Python function that is entered, with the shapes of the arrays it is given;
    - every built-in function and method by name, a method of an array with its shape;
    - the shape of every array made by indexing or arithmetic from an array in the data,
      alone or in a tuple, list or dictionary. For that the data are handed over as a
      subclass of ndarray, which ``np.asarray`` ends;
    - warnings, the type of an exception, and that of the result.

    Not seen are the work inside one compiled call, which of two branches on one line
    was taken when neither calls anything, and arrays that are neither made from the
    data as above nor ever held in a variable.

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
        n_calls=tuple(_count_calls(events) for events, _ in runs[0]),
        difference=told[0] if told else "",
    )


class _Watched(np.ndarray):
    """An array that notices each array made from it, by indexing or arithmetic."""

    def __array_finalize__(self, obj: object) -> None:
        """Do nothing: that this was called, and for which shape, is what counts."""

    def __array_wrap__(
        self, array: Any, context: Any = None, return_scalar: bool = False
    ) -> Any:
        """Return numbers as numbers, like plain arrays do."""
        return array[()] if array.ndim == 0 else array.view(type(self))


_FINALIZE = _Watched.__array_finalize__.__code__


def _watched(data: Any) -> Any:
    """Return the data with all plain arrays in it watched."""
    if type(data) is np.ndarray:
        return data.view(_Watched)
    if type(data) in (tuple, list):
        return type(data)(_watched(part) for part in data)
    if type(data) is dict:
        return {key: _watched(part) for key, part in data.items()}
    return data


class _Recorder:
    """Listens to the interpreter, and writes down what it does."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def __enter__(self) -> "_Recorder":
        self._before = sys.gettrace(), sys.getprofile()
        self._collecting = gc.isenabled()
        gc.disable()  # a collection runs finalisers, which would be recorded
        sys.settrace(self._enter_frame)
        sys.setprofile(self._call)
        return self

    def __exit__(self, *_: object) -> None:
        trace, profile = self._before
        sys.setprofile(profile)
        sys.settrace(trace)
        if self._collecting:
            gc.enable()

    def _call(self, frame: FrameType, event: str, argument: Any) -> None:
        if frame.f_code.co_filename == __file__:
            if event == "call" and frame.f_code is _FINALIZE:
                self._note(f"makes an array of shape {frame.f_locals['self'].shape}")
        elif event == "call":
            self._note(_call_of(frame))
        elif event == "c_call":
            held = getattr(argument, "__self__", None)
            shape = held.shape if isinstance(held, np.ndarray) else ""
            self._note(f"built-in {argument.__name__}{shape}")

    def _enter_frame(self, frame: FrameType, event: str, argument: Any) -> Any:
        return None if frame.f_code.co_filename == __file__ else self._line

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            shapes = ""
            if frame.f_code.co_flags & CO_OPTIMIZED:  # not the names of a module
                shapes = _shapes(frame.f_locals.values())
            name = frame.f_code.co_qualname
            self._note(f"{_LINE}{frame.f_lineno} of {name} with ({shapes})")
        return self._line

    def _note(self, text: str) -> None:
        self.events.append(sys.intern(text))


def _count_calls(events: list[str]) -> int:
    return sum(not event.startswith(_LINE) for event in events)


def _recorded(
    run: Callable[[Data, np.random.Generator], object], data: Data, seed: int
) -> tuple[list[str], str]:
    """Run once, and return what happened and where the generator ended."""
    generator = np.random.Generator(np.random.PCG64(seed))
    watched = _watched(data)
    outcome: object = None
    failure: Exception | None = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with _Recorder() as recorder:
            try:
                outcome = run(watched, generator)
            except Exception as error:
                failure = error
    events = recorder.events
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
    return f"{code.co_qualname}({_shapes(values)})"


def _shapes(values: Iterable[object]) -> str:
    return ", ".join(str(v.shape) for v in values if isinstance(v, np.ndarray))


def _first_difference(seed: int, runs: list[tuple[list[str], str]]) -> str:
    """Say where the steps of two data sets part, or nothing."""
    first = runs[0][0]
    for number, (other, _) in enumerate(runs[1:], start=1):
        for step, (a, b) in enumerate(zip(first, other, strict=False)):
            if a != b:
                return f"seed {seed}, step {step}: {a} on 0, {b} on {number}"
        if len(first) != len(other):
            return (
                f"seed {seed}: {len(first)} steps on 0, {len(other)} steps on {number}"
            )
    return ""
