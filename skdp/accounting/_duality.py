"""From a privacy profile to its trade-off curve, by supporting lines.

A guarantee delta(eps) keeps the trade-off curve above the line of slope -exp(eps) that
starts at 1 - delta(eps), and above its mirror image (Dong, Roth and Su 2022).
"""

from collections.abc import Callable

import numpy as np

from skdp._typing import FloatArray

__all__: list[str] = []


def best_supporting_lines(
    profile: Callable[[FloatArray], FloatArray], alpha: FloatArray
) -> FloatArray:
    """Take the best supporting line of each alpha; any of them is valid.

    Lines of slope -exp(eps) and their mirror images of slope -exp(-eps) are each
    concave along exp(eps), so one coarse pass for all alphas and a few local ones
    find both maxima; a miss only errs to the private side.
    """
    inner = np.clip(alpha, 1e-300, 1.0 - 1e-16)
    reach = 1.0 - np.log(inner) - np.log1p(-inner)
    # squares put more of the grid where most guarantees live
    grid = float(np.max(reach, initial=1.0)) * np.linspace(0.0, 1.0, 257) ** 2
    delta = profile(grid)
    column = np.broadcast_to(grid[:, None], (257, alpha.size))
    best = np.zeros_like(alpha)
    for line in (_steep_line, _flat_line):
        points, values = column, line(column, delta[:, None], alpha)
        for _ in range(5):
            best = np.maximum(best, values.max(axis=0, initial=0.0))
            points = _around_best(points, values)
            delta_here = profile(points.ravel()).reshape(points.shape)
            values = line(points, delta_here, alpha)
        best = np.maximum(best, values.max(axis=0, initial=0.0))
    return best


def _steep_line(
    epsilon: FloatArray, delta: FloatArray, alpha: FloatArray
) -> FloatArray:
    out: FloatArray = 1.0 - delta - np.exp(np.minimum(epsilon, 700.0)) * alpha
    return out


def _flat_line(epsilon: FloatArray, delta: FloatArray, alpha: FloatArray) -> FloatArray:
    out: FloatArray = np.exp(-epsilon) * (1.0 - delta - alpha)
    return out


def _around_best(points: FloatArray, values: FloatArray) -> FloatArray:
    """Return a finer grid between the neighbours of each column's best point."""
    k, column = np.argmax(values, axis=0), np.arange(points.shape[1])
    low = points[np.maximum(k - 1, 0), column]
    high = points[np.minimum(k + 1, points.shape[0] - 1), column]
    out: FloatArray = low + (high - low) * np.linspace(0.0, 1.0, 13)[:, None]
    return out
