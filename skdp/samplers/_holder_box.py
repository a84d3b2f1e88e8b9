r"""An envelope for log densities on a box that change no faster than known.

Notation
--------
s, b    |g(x) - g(y)| <= s ||x - y||^b, public          -> ``constant``, ``power``
r       largest distance within a cell from its centre, in the same norm
eta     s r^b: g differs from its value at the centre by no more
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from skdp._constant_work import bounded
from skdp._typing import FloatArray, IntArray
from skdp._validation import check_choice, check_count
from skdp.accounting import Public
from skdp.accounting._public import public_number, tagged
from skdp.random import RandomSource, uniform
from skdp.samplers._interval import check_interval
from skdp.samplers._loop_target import LoopTarget, exponential
from skdp.samplers._slack import Stage

__all__ = ["holder_box_stage"]

#: Every proposal weighs all cells.
_MOST_CELLS = 2**17


def holder_box_stage(
    log_density: Callable[[FloatArray], FloatArray],
    lower: Sequence[float],
    upper: Sequence[float],
    *,
    constant: Public,
    power: Public,
    n_cells: Sequence[int],
    norm: Literal["l2", "max"] = "l2",
) -> Stage:
    """Return the envelope of a log-Hölder density that is level on cells of a box.

    Parameters
    ----------
    log_density : callable
        ``g(x)`` for x of shape (n, d), not normalised; a function of the data.
    lower, upper : sequence of float
        Public corners of the box.
    constant, power : Public
        ``|g(x) - g(y)| <= constant * norm(x - y)**power`` for every data set, with
        power within (0, 1]; 1 is a Lipschitz constant.
    n_cells : sequence of int
        Public number of cells along each axis, at most 2^17 in all; g is evaluated once
        at each centre.
    norm : {"l2", "max"}, default="l2"
        Distance that the constant speaks about.

    Returns
    -------
    Stage
        Log acceptance within [-2 eta, 0], eta = constant * (radius of a cell) ** power.

    See Also
    --------
    holder_stage : The same on an interval.
    skdp.mechanisms.BoxExponential : Level utilities on cells, where nothing is rejected
        and running time costs nothing.

    Notes
    -----
    Stages of more and more cells make a deterministic adaptive sampler, see
    :class:`SlackSqueeze`. Proof in docs/proofs/runtime.md, section 7.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.accounting import Public
    >>> from skdp.samplers import holder_box_stage
    >>> stage = holder_box_stage(lambda x: -np.abs(x - 0.4).max(axis=1), (0, 0), (1, 1),
    ...     constant=Public(1.0), power=Public(1.0), n_cells=(8, 8), norm="max")
    >>> stage.eta
    Public(0.0625)
    """
    check_choice("norm", norm, ("l2", "max"), remedy="Name the norm of the constant.")
    s = tagged("constant", constant, 0.0, 1e100)
    b = tagged("power", power, 0.0, 1.0, open_low=True)
    low, width, cells = _grid(lower, upper, n_cells)
    half = 0.5 * width
    radius = math.hypot(*half.tolist()) if norm == "l2" else max(half.tolist())
    eta = s * radius**b
    box = _BoxCells(log_density, low, width, cells, eta)
    return Stage(LoopTarget(box.propose, box.log_acceptance), Public(eta))


def _grid(
    lower: Sequence[float], upper: Sequence[float], n_cells: Sequence[int]
) -> tuple[FloatArray, FloatArray, tuple[int, ...]]:
    """Return the lower corner, the width of a cell and the cells along each axis."""
    remedy = "Pass how many cells to use along each axis."
    cells = tuple(
        check_count("n_cells", m, minimum=1, remedy=remedy) for m in tuple(n_cells)
    )
    if not len(tuple(lower)) == len(tuple(upper)) == len(cells) or not cells:
        raise ValueError(
            "lower, upper and n_cells differ in length, got "
            f"{len(tuple(lower))}, {len(tuple(upper))} and {len(cells)}. Allowed: one "
            "number for each axis. Describe every axis of the box."
        )
    if math.prod(cells) > _MOST_CELLS:
        raise ValueError(
            f"n_cells makes {math.prod(cells)} cells. Allowed: at most {_MOST_CELLS}. "
            "Use fewer cells; a wide squeeze only costs privacy of the running time."
        )
    ends = [
        check_interval(
            (public_number("lower", a), public_number("upper", b)), name="the box"
        )
        for a, b in zip(lower, upper, strict=True)
    ]
    low, high = np.array(ends).T
    return low, (high - low) / np.array(cells), cells


@dataclass(frozen=True, eq=False)
class _BoxCells:
    """Level envelope on equal cells, the last axis fastest."""

    log_density: Callable[[FloatArray], FloatArray]
    low: FloatArray
    width: FloatArray
    cells: tuple[int, ...]
    eta: float

    @cached_property
    def heights(self) -> FloatArray:
        """Values of g at the centres, evaluated once; how many is public."""
        every = np.arange(math.prod(self.cells))
        centres = self.low + self.width * (self._axes(every) + 0.5)
        return bounded(self.log_density(centres), -1e300, 1e300)

    def _axes(self, j: IntArray) -> IntArray:
        return np.column_stack(np.unravel_index(j, self.cells))

    def propose(self, n: int, source: RandomSource) -> FloatArray:
        m = math.prod(self.cells)
        waits = exponential(n * m, source).reshape(n, m)
        j = np.argmax(self.heights - np.log(waits), axis=1)
        inside = uniform(n * len(self.cells), source).reshape(n, len(self.cells))
        x: FloatArray = self.low + self.width * (self._axes(j) + inside)
        return x

    def log_acceptance(self, x: FloatArray) -> FloatArray:
        j = np.zeros(x.shape[0], dtype=np.int64)
        for axis, m in enumerate(self.cells):
            place = np.floor((x[:, axis] - self.low[axis]) / self.width[axis])
            j = j * m + bounded(place, 0.0, m - 1.0).astype(np.int64)
        out: FloatArray = self.log_density(x) - self.heights[j] - self.eta
        return bounded(out, -2.0 * self.eta, 0.0)
