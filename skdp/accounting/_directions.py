"""Two directions of one neighbouring relation, each telling about the other."""

from collections.abc import Callable

import numpy as np

from skdp._typing import FloatArray

__all__: list[str] = []


def both_directions(
    remove: Callable[[FloatArray], FloatArray],
    add: Callable[[FloatArray], FloatArray],
    epsilon: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Bound each direction by the other one as well, read backwards.

    ``H_x(P|Q) = 1 - x + x H_{1/x}(Q|P)``, so below zero the smaller of two bounds
    holds, and at zero one number bounds both.
    """
    zero = np.zeros(1)
    most = np.minimum(remove(zero), add(zero))
    size, below = np.abs(epsilon), np.minimum(epsilon, 0.0)
    removed, added = (
        np.where(
            epsilon < 0.0,
            np.minimum(own(epsilon), np.exp(below) * other(size) - np.expm1(below)),
            np.minimum(own(epsilon), most),
        )
        for own, other in ((remove, add), (add, remove))
    )
    return removed, added
