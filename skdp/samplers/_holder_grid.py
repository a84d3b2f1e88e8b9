r"""An envelope for log densities on an interval that change no faster than known.

Notation
--------
s, b    |g(x) - g(y)| <= s |x - y|^b, public           -> ``constant``, ``power``
r       half width of a cell
eta     s r^b: g differs from its value at the centre by no more
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skdp._constant_work import bounded
from skdp._typing import FloatArray
from skdp._validation import check_count
from skdp.accounting import Public
from skdp.accounting._public import tagged
from skdp.random import RandomSource, uniform
from skdp.samplers._interval import check_interval
from skdp.samplers._loop_target import LoopTarget, exponential
from skdp.samplers._slack import Stage

__all__ = ["holder_stage", "holder_stages"]


def holder_stage(
    log_density: Callable[[FloatArray], FloatArray],
    interval: Sequence[float],
    *,
    constant: Public,
    power: Public,
    n_cells: int,
) -> Stage:
    """Return the envelope of a log-Hölder density that is level on public cells.

    Parameters
    ----------
    log_density : callable
        ``g(x)`` for x of shape (n,), not normalised; a function of the data.
    interval : (low, high)
        Public ends of the domain.
    constant, power : Public
        ``|g(x) - g(y)| <= constant * |x - y|**power`` for every data set, with power
        within (0, 1]; 1 is a Lipschitz constant.
    n_cells : int
        Public number of cells; g is evaluated once at each centre.

    Returns
    -------
    Stage
        Log acceptance within [-2 eta, 0], eta = constant * (half width) ** power.

    Examples
    --------
    >>> from skdp.accounting import Public
    >>> from skdp.samplers import holder_stage
    >>> stage = holder_stage(lambda x: -4.0 * abs(x - 0.41), (0.0, 1.0),
    ...                      constant=Public(4.0), power=Public(1.0), n_cells=16)
    >>> stage.eta
    Public(0.125)
    """
    low, high = check_interval(interval)
    s = tagged("constant", constant, 0.0, 1e100)
    b = tagged("power", power, 0.0, 1.0, open_low=True)
    remedy = "Pass how many cells to use."
    m = check_count("n_cells", n_cells, minimum=1, remedy=remedy)
    half = (high - low) / (2 * m)
    eta = s * half**b
    cells = _Cells(log_density, low, 2.0 * half, m, eta)
    return Stage(LoopTarget(cells.propose, cells.log_acceptance), Public(eta))


def holder_stages(
    log_density: Callable[[FloatArray], FloatArray],
    interval: Sequence[float],
    *,
    constant: Public,
    power: Public,
    n_cells: int,
    n_stages: int,
) -> tuple[Stage, ...]:
    """Return envelopes on finer and finer public cells, each twice as many.

    For :class:`SlackSqueeze`: a deterministic adaptive rejection sampler. Where and how
    often the density is evaluated is public, unlike in samplers that refine where a
    proposal was rejected.

    Parameters
    ----------
    log_density : callable
        As for :func:`holder_stage`.
    interval : (low, high)
        Public ends of the domain.
    constant, power : Public
        As for :func:`holder_stage`.
    n_cells : int
        Cells of the first stage; its width is what running time and draw cost.
    n_stages : int
        Number of stages, at least 1.

    Returns
    -------
    tuple of Stage
        Of falling width.

    Examples
    --------
    >>> from skdp.accounting import Public
    >>> from skdp.samplers import holder_stages
    >>> stages = holder_stages(lambda x: -4.0 * abs(x - 0.41), (0.0, 1.0),
    ...                        constant=Public(4.0), power=Public(1.0), n_cells=16,
    ...                        n_stages=3)
    >>> [float(stage.eta) for stage in stages]
    [0.125, 0.0625, 0.03125]
    """
    remedy = "Pass how often to double the cells."
    n = check_count("n_stages", n_stages, minimum=1, remedy=remedy)
    return tuple(
        holder_stage(
            log_density,
            interval,
            constant=constant,
            power=power,
            n_cells=n_cells * 2**i,
        )
        for i in range(n)
    )


@dataclass(frozen=True, eq=False)
class _Cells:
    """Level envelope on m cells of equal width."""

    log_density: Callable[[FloatArray], FloatArray]
    low: float
    width: float
    m: int
    eta: float

    @cached_property
    def heights(self) -> FloatArray:
        """Values of g at the centres, evaluated once; how many is public."""
        cells = np.arange(self.m, dtype=np.float64)
        centres: FloatArray = self.low + self.width * (cells + 0.5)
        return bounded(self.log_density(centres), -1e300, 1e300)

    def propose(self, n: int, source: RandomSource) -> FloatArray:
        waits = exponential(n * self.m, source).reshape(n, self.m)
        j = np.argmax(self.heights - np.log(waits), axis=1)
        x: FloatArray = self.low + self.width * (j + uniform(n, source))
        return x[:, None]

    def log_acceptance(self, x: FloatArray) -> FloatArray:
        place = np.floor((x[:, 0] - self.low) / self.width)
        j = bounded(place, 0.0, self.m - 1.0).astype(np.int64)
        out: FloatArray = self.log_density(x[:, 0]) - self.heights[j] - self.eta
        return bounded(out, -2.0 * self.eta, 0.0)
