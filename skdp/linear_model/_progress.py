"""scikit-learn's callbacks around the draws of a fit, on releases that have them.

The number of tasks is a public function of the parameters. Callbacks see when each task
begins and ends, never the rows: neither X nor y is passed on.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """A release without callbacks: nothing to support."""

    _with_callbacks = None

__all__ = ["CallbackSupportMixin", "Tasks", "batch_sizes", "with_callbacks"]

Method = TypeVar("Method", bound=Callable[..., Any])

#: Draws are made in at most this many batches, a task each.
_BATCHES = 20


def with_callbacks(method: Method) -> Method:
    """Let callbacks tidy up after a fit, whether it ends well or not."""
    if _with_callbacks is None:
        return method
    managed: Method = _with_callbacks(method)
    return managed


class Tasks:
    """The tasks of one fit, told to whoever listens."""

    def __init__(self, estimator: Any, n_tasks: int) -> None:
        self._estimator, self._context = estimator, None
        if hasattr(estimator, "_init_callback_context"):
            self._context = estimator._init_callback_context(max_subtasks=n_tasks)
            self._context.call_on_fit_task_begin(estimator=estimator)

    @contextmanager
    def task(self, name: str) -> Iterator[None]:
        """Announce a task, and its end. A wish to stop is not heard: all is paid."""
        if self._context is None:
            yield
            return
        context = self._context.subcontext(task_name=name)
        context.call_on_fit_task_begin(estimator=self._estimator)
        yield
        context.call_on_fit_task_end(estimator=self._estimator)

    def end(self) -> None:
        """Announce the end of the fit."""
        if self._context is not None:
            self._context.call_on_fit_task_end(estimator=self._estimator)


def batch_sizes(n_draws: int) -> list[int]:
    """Return the sizes of the batches in which draws are made; the same for all data.

    Seeded fits are the same with and without callbacks, so these are always used.
    """
    n_batches = min(n_draws, _BATCHES)
    size, more = divmod(n_draws, n_batches)
    return [size + 1] * more + [size] * (n_batches - more)
