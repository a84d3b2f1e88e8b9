r"""The exponential mechanism on a box of few dimensions, for scores of public cells.

Notation (derived in docs/proofs/box_exponential.md)
----------------------------------------------------
g_i      step of the lattice along axis i, a power of two           -> ``steps``
m_i      cells along axis i; all are products of such cells         -> ``n_cells``
N_C      lattice points in cell C
q_C      score of cell C, for example of its centre
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Self

import numpy as np

from skdp._typing import ArrayLike, FloatArray
from skdp.accounting import Adjacency, Guarantee
from skdp.mechanisms._base import AdjacentPair, Mechanism, Release, require
from skdp.mechanisms._exponential import EXPONENTIAL, ExponentialMechanism
from skdp.random import RandomSource
from skdp.random._integer_weights import integer_below

__all__ = ["BoxExponential"]

#: Dimensions for which a grid of cells is not hopeless.
_MAX_DIMENSION, _MAX_CELLS = 3, 2**17
#: Lattice points are numbered by integers that floats hold exactly.
_LARGEST_INDEX, _MOST_POINTS = 2.0**52, 2**62
#: Most outcomes that are listed one by one.
_MAX_LISTED = 2**12


@dataclass(frozen=True, kw_only=True, slots=True)
class BoxExponential(Mechanism[ArrayLike, FloatArray]):
    r"""Draw a point of a box, with higher probability in cells of better scores.

    The data are the scores of public cells, last axis fastest. A cell is drawn with
    probability proportional to :math:`N_C e^{c q_C}`, and a lattice point uniformly
    within it. All of it is exact integer arithmetic, so no smoothing is needed.

    Parameters
    ----------
    epsilon : float
        Privacy loss bound in nats, from 1e-9 to 1e3.
    sensitivity : float
        Bound > 0 on the change of the score of every cell, rounding included.
    lower, upper : tuple of float
        Corners of the box in up to three dimensions; public.
    n_cells : tuple of int
        Cells along each axis; at most 2^17 in all. Public.
    resolution : int, default=4096
        Lattice points along each axis of a cell, at least.
    monotone : bool, default=False
        Whether all scores move the same way between neighbours.
    adjacency : Adjacency
        The relation for which ``sensitivity`` holds.

    Raises
    ------
    ValueError
        If the fields do not fit: a box without ends, for example, has no such law.

    Privacy
    -------
    Pure epsilon and (epsilon^2 / 8)-zCDP at once, exactly: which cell is drawn is an
    exponential mechanism with base measure, and the place within it tells nothing more.
    Running time depends on the scores a little. Proof in
    docs/proofs/box_exponential.md.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.mechanisms import BoxExponential
    >>> from skdp.random import as_random_source
    >>> mechanism = BoxExponential(
    ...     epsilon=1.0, sensitivity=1.0, lower=(0, 0), upper=(1, 2), n_cells=(8, 8))
    >>> scores = -100 * np.abs(mechanism.centers - [0.3, 1.0]).sum(axis=1)
    >>> point = mechanism.release(scores, as_random_source(0)).output
    >>> bool(np.abs(point - [0.3, 1.0]).max() < 0.3)
    True
    """

    epsilon: float
    sensitivity: float
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    n_cells: tuple[int, ...]
    resolution: int = 2**12
    monotone: bool = False
    adjacency: Adjacency = Adjacency.ADD_REMOVE

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold."""
        for name in ("lower", "upper"):
            ends = tuple(float(x) for x in getattr(self, name))
            object.__setattr__(self, name, ends)
        cells = tuple(int(m) for m in self.n_cells)
        object.__setattr__(self, "n_cells", cells)
        object.__setattr__(self, "adjacency", Adjacency(self.adjacency))
        require(
            1 <= len(self.lower) <= _MAX_DIMENSION
            and len(self.lower) == len(self.upper) == len(self.n_cells),
            f"the box must have 1 to {_MAX_DIMENSION} axes, each with ends and cells",
        )
        require(
            all(
                0.0 < high - low < math.inf
                for low, high in zip(self.lower, self.upper, strict=True)
            ),
            "the box must be bounded, each lower end below the upper one",
        )
        require(
            min(cells) >= 1 and math.prod(cells) <= _MAX_CELLS,
            f"there must be at least one cell an axis and at most {_MAX_CELLS} in all",
        )
        require(
            1 <= self.resolution <= 2**24
            and math.prod(cells) * (4 * self.resolution) ** len(cells) < _MOST_POINTS,
            "resolution must be from 1 to what leaves fewer than 2^62 lattice points",
        )
        require(
            all(
                max(abs(low), abs(high)) / step < _LARGEST_INDEX
                for low, high, step in zip(
                    self.lower, self.upper, self.steps, strict=True
                )
            ),
            "the cells must not be tiny beside the ends of the box",
        )
        _ = self.guarantee  # checks what is left

    @property
    def steps(self) -> tuple[float, ...]:
        """Step of the lattice along each axis, powers of two."""
        widths = [
            (high - low) / m / self.resolution
            for low, high, m in zip(self.lower, self.upper, self.n_cells, strict=True)
        ]
        # half of what fits, as the ends of a cell need not be lattice points
        return tuple(math.ldexp(1.0, math.frexp(width)[1] - 2) for width in widths)

    @property
    def lattice(self) -> float:
        """The finest step: every released number is a multiple of it."""
        return min(self.steps)

    @property
    def _edges(self) -> list[list[int]]:
        """Numbers of the lattice points at which the cells of each axis begin."""
        out = []
        for low, high, step, m in zip(
            self.lower, self.upper, self.steps, self.n_cells, strict=True
        ):
            first = math.ceil(low / step)
            count = math.floor(high / step) - first + 1
            out.append([first + count * j // m for j in range(m + 1)])
        return out

    @property
    def centers(self) -> FloatArray:
        """Centres of the cells, shape (number of cells, d), last axis fastest."""
        middles = [
            (np.array(edges[:-1]) + np.array(edges[1:]) - 1) / 2 * step
            for edges, step in zip(self._edges, self.steps, strict=True)
        ]
        mesh = np.meshgrid(*middles, indexing="ij")
        out: FloatArray = np.stack([axis.ravel() for axis in mesh], axis=1)
        return out

    @property
    def choice(self) -> ExponentialMechanism:
        """The choice of a cell; its measure is the number of lattice points."""
        sizes = [np.diff(edges).tolist() for edges in self._edges]
        return self._choice(tuple(math.prod(cell) for cell in product(*sizes)))

    def _choice(self, measure: tuple[int, ...] | None) -> ExponentialMechanism:
        return ExponentialMechanism(
            self.epsilon,
            self.sensitivity,
            monotone=self.monotone,
            base_measure=measure,
            selection=EXPONENTIAL,
            adjacency=self.adjacency,
        )

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one release: that of the choice of a cell."""
        # it does not depend on the measure, which takes a while to write down
        return self._choice(None).guarantee

    @property
    def ideal_guarantee(self) -> Guarantee:
        """The same as :attr:`guarantee`: the release is exact as it stands."""
        return self.guarantee

    def release(self, data: ArrayLike, source: RandomSource) -> Release[FloatArray]:
        """Draw a cell, and a point of it; shape (d,)."""
        index = int(self.choice.release(data, source).output[0])
        cell = np.unravel_index(index, self.n_cells)
        numbers = [
            edges[j] + integer_below(edges[j + 1] - edges[j], source)
            for edges, j in zip(self._edges, cell, strict=True)
        ]
        output = np.array(self.steps) * np.array(numbers, dtype=np.float64)
        return Release(output=output, spent=self.guarantee)

    def outcomes(self, data: ArrayLike) -> FloatArray | None:
        """Return every lattice point of a coarse one-dimensional box."""
        edges = self._edges[0]
        if len(self.lower) > 1 or edges[-1] - edges[0] > _MAX_LISTED:
            return None
        return np.arange(edges[0], edges[-1], dtype=np.float64) * self.lattice

    def log_density_on(self, data: ArrayLike) -> Callable[[FloatArray], float]:
        """Return the log probability on one data set, for many outputs."""
        axes, choice = list(zip(self._edges, self.steps, strict=True)), self.choice
        with np.errstate(divide="ignore"):
            log_pmf = np.log(choice.pmf(data)).reshape(self.n_cells)

        def log_density(output: FloatArray) -> float:
            cell, log_size = [], 0.0
            for (edges, step), x in zip(axes, np.asarray(output), strict=True):
                j = bisect_right(edges, round(float(x) / step)) - 1
                if not 0 <= j < len(edges) - 1:
                    return -math.inf
                cell.append(j)
                log_size += math.log(edges[j + 1] - edges[j])
            return float(log_pmf[tuple(cell)]) - log_size

        return log_density

    def log_density(self, output: FloatArray, data: ArrayLike) -> float:
        """Log probability of a lattice point."""
        return self.log_density_on(data)(output)

    def noise(self, output: FloatArray, data: ArrayLike) -> FloatArray:
        """Return how far the output is from the centre of the best cell."""
        away: FloatArray = output - self.centers[int(np.argmax(np.asarray(data)))]
        return away

    def hard_pairs(self) -> Iterator[AdjacentPair[ArrayLike]]:
        """Yield scores of which one cell gains what the others lose, or not."""
        return self.choice.hard_pairs()

    @classmethod
    def audit_instances(cls) -> Iterator[Self]:
        """Yield one, two and three dimensions, both relations."""
        line = cls(
            epsilon=1.0,
            sensitivity=1.0,
            lower=(0.0,),
            upper=(1.0,),
            n_cells=(5,),
            resolution=3,
        )
        yield line
        yield replace(line, epsilon=0.1, sensitivity=2.5, monotone=True)
        relation = Adjacency.REPLACE_ONE
        yield replace(line, epsilon=6.0, n_cells=(12,), adjacency=relation)
        yield replace(line, lower=(-1.0, 0.0), upper=(1.0, 0.7), n_cells=(4, 3))
        yield replace(line, lower=(0.0,) * 3, upper=(1.0, 2.0, 3.0), n_cells=(2, 2, 2))
