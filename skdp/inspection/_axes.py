"""matplotlib, once somebody draws."""

from typing import Any

__all__ = ["new_axes"]


def new_axes(ax: Any, n_axes: int = 1) -> Any:
    """Return ``ax``, or new axes in a row; an array of them if there are several."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError(
            "drawing needs matplotlib, which is not installed. Install it by: "
            "pip install 'skdp[plot]'"
        ) from None
    if n_axes == 1:
        return pyplot.subplots(layout="constrained")[1]
    size = (3.2 * n_axes, 3.2)
    return pyplot.subplots(1, n_axes, figsize=size, layout="constrained")[1]
