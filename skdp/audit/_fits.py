"""Fits of an estimator as the releases of an audit."""

import inspect
import warnings
from collections.abc import Callable
from typing import Any

from sklearn.base import clone

from skdp.exceptions import NotForReleaseWarning

__all__ = ["release_maker"]


def release_maker(maker: Any) -> Callable[[Any, int | None], Any]:
    """Return ``make_release(data, random_state)`` from whatever stands for it.

    An estimator is cloned and fitted on ``data = (X, y)``; a callable without
    parameters makes such an estimator; any other callable is the function itself.
    """
    if hasattr(maker, "fit"):
        return _fitting(lambda: clone(maker))
    if not inspect.signature(maker).parameters:
        return _fitting(maker)
    release: Callable[[Any, int | None], Any] = maker
    return release


def _fitting(make_estimator: Callable[[], Any]) -> Callable[[Any, int | None], Any]:
    def fit(data: Any, random_state: int | None) -> Any:
        estimator = make_estimator()
        if random_state is not None:
            estimator.set_params(random_state=random_state)
        with warnings.catch_warnings():
            # an audit is never a release
            warnings.simplefilter("ignore", NotForReleaseWarning)
            return estimator.fit(*data)

    return fit
