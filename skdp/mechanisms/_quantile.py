r"""A private quantile of bounded numbers, by the K-norm gradient mechanism.

Notation (derived in docs/proofs/quantile.md)
---------------------------------------------
z_i      private numbers, clipped to [a, b]
tau      which quantile, within (0, 1)                          -> ``quantile``
C(x)     how many z_i are at most x
q(x)     score ``-|C(x) - n tau|`` of a knot: minus the size of the gradient of the
         pinball loss
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from skdp._typing import ArrayLike, FloatArray
from skdp._validation import check_count, check_positive
from skdp.accounting import Adjacency, Guarantee, PureDP
from skdp.mechanisms._base import AdjacentPair, Mechanism, Release, require
from skdp.mechanisms._interval_exponential import (
    MAX_KNOTS,
    IntervalExponential,
)
from skdp.mechanisms._smoothing import LatticeSmoothing
from skdp.random import RandomSource
from skdp.samplers._interval import check_interval

__all__ = ["QuantileMechanism", "quantile_scores", "quantile_sensitivity"]

#: What rounding of fewer than 2^31 numbers' scores adds to the sensitivity.
_SCORE_ROUNDING = 1.0 + 2.0**-18
#: Numbers compared with all knots at once.
_BLOCK = 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class QuantileMechanism(Mechanism[ArrayLike, FloatArray]):
    r"""Release a quantile of private numbers within a public range.

    Knots of a public grid are scored by how far they are from having a share ``tau`` of
    the numbers below; between the knots the scores are interpolated. A point is then
    drawn by :class:`IntervalExponential`. Build one with :meth:`calibrate`.

    Parameters
    ----------
    quantile : float
        tau, within (0, 1); 0.5 is the median.
    interval : IntervalExponential
        The grid and the law.

    Raises
    ------
    ValueError
        If the fields do not fit.

    Privacy
    -------
    Pure epsilon and zCDP at once, those of :class:`IntervalExponential`. One number
    more or less changes a score by at most max(tau, 1 - tau), one replaced number by at
    most 1; scores are not monotone. The number of numbers is private under add-remove.
    The work depends on it, and on nothing else of the data. Proof in
    docs/proofs/quantile.md.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.accounting import PureDP
    >>> from skdp.mechanisms import QuantileMechanism
    >>> from skdp.random import as_random_source
    >>> median = QuantileMechanism.calibrate(
    ...     PureDP(1.0), quantile=0.5, lower=0.0, upper=120.0)
    >>> ages = np.linspace(20, 60, 1001)
    >>> output = median.release(ages, as_random_source(0)).output
    >>> bool(abs(output[0] - 40) < 1)
    True
    """

    quantile: float
    interval: IntervalExponential

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold."""
        require(0.0 < self.quantile < 1.0, "quantile must be within (0, 1)")
        least = quantile_sensitivity(self.quantile, self.adjacency)
        require(
            self.interval.sensitivity >= least,
            "interval.sensitivity must be that of the scores",
        )
        require(not self.interval.monotone, "the scores are not monotone")

    @classmethod
    def calibrate(
        cls,
        target: PureDP,
        *,
        quantile: float,
        lower: float,
        upper: float,
        n_cells: int = 1024,
    ) -> Self:
        """Return the instance for a range and a grid whose guarantee meets the target.

        Parameters
        ----------
        target : PureDP
            What to promise, with its adjacency.
        quantile : float
            tau, within (0, 1).
        lower, upper : float
            Public range; numbers outside count as clipped to it.
        n_cells : int, default=1024
            Cells of equal width, up to 4096. Where the quantile is matters to about the
            width of one cell.

        Returns
        -------
        QuantileMechanism
            Its ``guarantee`` implies ``target``.
        """
        remedy = "Pass how many cells the range is cut into."
        n_cells = check_count("n_cells", n_cells, minimum=1, remedy=remedy)
        quantile = check_positive(
            "quantile",
            quantile,
            remedy="Pass 0.5 for the median.",
            minimum=1e-9,
            maximum=1.0 - 1e-9,
        )
        require(n_cells < MAX_KNOTS, f"n_cells must be below {MAX_KNOTS}")
        lower, upper = check_interval((lower, upper), name="(lower, upper)")
        return cls(
            quantile=quantile,
            interval=IntervalExponential.calibrate(
                target,
                knots=np.linspace(lower, upper, n_cells + 1),
                sensitivity=quantile_sensitivity(quantile, target.adjacency),
            ),
        )

    @property
    def adjacency(self) -> Adjacency:
        """Neighbouring relation of the guarantee."""
        return self.interval.adjacency

    @property
    def smoothing(self) -> LatticeSmoothing:
        """The finite-precision step at the end."""
        return self.interval.smoothing

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one release, rounding and smoothing step included."""
        return self.interval.guarantee

    @property
    def ideal_guarantee(self) -> Guarantee:
        """Guarantee of the real-valued draw."""
        return self.interval.ideal_guarantee

    @property
    def knots(self) -> FloatArray:
        """The public grid."""
        return np.array(self.interval.knots)

    def scores(self, data: ArrayLike) -> FloatArray:
        """Return the private scores of the knots, shape (m + 1,).

        Parameters
        ----------
        data : array-like of shape (n,)
            Private numbers; what is no number counts as being above every knot.
        """
        return quantile_scores(data, self.knots, self.quantile)

    def release(self, data: ArrayLike, source: RandomSource) -> Release[FloatArray]:
        """Return the quantile as a vector of one number."""
        return self.interval.release(self.scores(data), source)

    @property
    def support(self) -> tuple[float, float]:
        """The range."""
        return self.interval.support

    def log_density_on(self, data: ArrayLike) -> Callable[[FloatArray], float]:
        """Return the log density on one data set, for many outputs."""
        return self.interval.log_density_on(self.scores(data))

    def log_density(self, output: FloatArray, data: ArrayLike) -> float:
        """Log density of the ideal draw."""
        return self.log_density_on(data)(output)

    def noise(self, output: FloatArray, data: ArrayLike) -> FloatArray:
        """Return how far the output is from the knot of the best score."""
        return self.interval.noise(output, self.scores(data))

    def hard_pairs(self) -> Iterator[AdjacentPair[ArrayLike]]:
        """Yield numbers that all lie at one end, and one that joins from the other."""
        low, high = self.support
        step, n = self.knots[1] - low, 40
        replaces = self.adjacency is Adjacency.REPLACE_ONE
        for name, bulk, one, other in (
            ("all at the upper end", high, high, low),
            ("all at the lower end", low, low, high),
            ("all a cell below the upper end", high - step, high, low),
            ("all a cell above the lower end", low + step, low, high),
        ):
            rest = np.full(n, bulk)
            left = np.append(rest, one) if replaces else rest
            yield AdjacentPair(name, left, np.append(rest, other))
        if not replaces:
            yield AdjacentPair("nobody, and one", np.empty(0), np.array([low]))

    @classmethod
    def audit_instances(cls) -> Iterator[Self]:
        """Yield several quantiles and epsilons, both relations."""
        for quantile, epsilon, adjacency in (
            (0.5, 1.0, Adjacency.ADD_REMOVE),
            (0.25, 4.0, Adjacency.ADD_REMOVE),
            (0.9, 0.2, Adjacency.ADD_REMOVE),
            (0.5, 1.0, Adjacency.REPLACE_ONE),
        ):
            yield cls.calibrate(
                PureDP(epsilon, adjacency=adjacency),
                quantile=quantile,
                lower=0.0,
                upper=1.0,
                n_cells=64,
            )


def quantile_sensitivity(quantile: float, adjacency: Adjacency) -> float:
    """Return how much one person can change a score, rounding included.

    Parameters
    ----------
    quantile : float
        tau, within (0, 1).
    adjacency : Adjacency
        One number added or removed, or one replaced.

    Returns
    -------
    float
        max(tau, 1 - tau), or 1 for replaced numbers, and a little more.

    Examples
    --------
    >>> from skdp.accounting import Adjacency
    >>> from skdp.mechanisms import quantile_sensitivity
    >>> round(quantile_sensitivity(0.9, Adjacency.ADD_REMOVE), 4)
    0.9
    >>> round(quantile_sensitivity(0.5, Adjacency.REPLACE_ONE), 4)
    1.0
    """
    exact = max(quantile, 1.0 - quantile)
    if Adjacency(adjacency) is Adjacency.REPLACE_ONE:
        exact = 1.0
    return exact * _SCORE_ROUNDING


def quantile_scores(data: ArrayLike, points: ArrayLike, quantile: float) -> FloatArray:
    r"""Return minus the distance of a point's rank from that of the quantile.

    Parameters
    ----------
    data : array-like of shape (n,)
        Private numbers.
    points : array-like of shape (m,)
        Public points.
    quantile : float
        tau, within (0, 1).

    Returns
    -------
    ndarray of shape (m,)
        :math:`-|C(x) - n\tau|`, as private as the numbers.

    Examples
    --------
    >>> from skdp.mechanisms import quantile_scores
    >>> quantile_scores([0.1, 0.2, 0.25, 0.4, 0.7], [0, 0.25, 0.5, 0.75, 1], 0.5)
    array([-2.5, -0.5, -1.5, -2.5, -2.5])
    """
    z = np.asarray(data, dtype=np.float64)
    x = np.asarray(points, dtype=np.float64)
    count = np.zeros(x.size)
    # comparisons with every point: the work does not depend on where the numbers are
    for start in range(0, z.size, _BLOCK):
        count += (z[start : start + _BLOCK, None] <= x).sum(axis=0)
    # counts are exact; the product is what rounds
    out: FloatArray = -np.abs(count - z.size * quantile)
    return out
