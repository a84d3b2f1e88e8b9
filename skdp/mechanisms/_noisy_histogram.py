r"""All counts at once, each with integer noise; whatever follows is free.

Notation (derived in docs/proofs/noisy_histogram.md)
----------------------------------------------------
G        records one person may own                               -> ``group_size``
b        scale of two-sided geometric noise, ``P(z) ~ exp(-|z| / b)``   -> ``scale``
sigma    scale of discrete Gaussian noise, ``exp(-z^2 / (2 sigma^2))``  -> ``scale``
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np

from skdp._typing import FloatArray, IntArray
from skdp.accounting import (
    Adjacency,
    ApproximateDP,
    Guarantee,
    PureDP,
    ZeroConcentratedDP,
)
from skdp.mechanisms._base import AdjacentPair, Release, require
from skdp.mechanisms._calibration import largest_mu
from skdp.mechanisms._count_sampler import CountMechanism
from skdp.mechanisms._smoothing import LatticeLaw
from skdp.random import RandomSource, discrete_gaussian, discrete_laplace

__all__ = ["NoisyHistogram"]

_SOURCE = "noisy histogram, docs/proofs/noisy_histogram.md"
_UP = 1.0 + 2.0**-50
#: Scales on which the normaliser of the discrete Gaussian is that of the continuous
#: one to all digits.
_SMOOTH = 8.0


@dataclass(frozen=True, kw_only=True, slots=True)
class NoisyHistogram(CountMechanism):
    r"""Add independent integer noise to every count, those of unseen symbols included.

    Build one with :meth:`calibrate`.

    Parameters
    ----------
    n_categories : int
        Number k of declared symbols.
    n_rows : int or None
        Number of records, public under replace-one; None under add-remove.
    group_size : int
        Records one person may own.
    adjacency : Adjacency
        Neighbouring relation of the guarantee.
    law : LatticeLaw
        Discrete Laplace (pure DP) or discrete Gaussian (zero-concentrated DP).
    scale : Fraction
        Scale of the noise, in records.

    Privacy
    -------
    A group changes counts by at most ``group_size`` (add-remove) or twice that
    (replace-one) in the sum of absolute values, by ``group_size`` or the square root of
    2 times that in Euclidean norm. Integer arithmetic; proof in
    docs/proofs/noisy_histogram.md.

    References
    ----------
    Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy",
    NeurIPS 2020.

    Examples
    --------
    >>> from skdp.accounting import PureDP
    >>> from skdp.mechanisms import NoisyHistogram
    >>> mechanism = NoisyHistogram.calibrate(PureDP(0.5), n_categories=9)
    >>> mechanism.scale, mechanism.guarantee.epsilon(0.0)
    (Fraction(2, 1), 0.5)
    """

    law: LatticeLaw
    scale: Fraction

    @classmethod
    def calibrate(
        cls,
        target: PureDP | ApproximateDP | ZeroConcentratedDP,
        *,
        n_categories: int,
        n_rows: int | None = None,
        group_size: int = 1,
    ) -> Self:
        """Return the least noisy instance that meets the target.

        Parameters
        ----------
        target : PureDP, ApproximateDP or ZeroConcentratedDP
            What the release may cost; all but the first select Gaussian noise.
        n_categories : int
            Number of declared symbols.
        n_rows : int, optional
            The public number of records; only under replace-one.
        group_size : int, default=1
            Records one person may own.

        Returns
        -------
        NoisyHistogram
            Its ``guarantee`` implies ``target``.
        """
        pure = isinstance(target, PureDP)
        changed = 1 if target.adjacency is Adjacency.ADD_REMOVE else 2
        if isinstance(target, ApproximateDP):
            mu = largest_mu(
                lambda mu: ZeroConcentratedDP(mu * mu / 2),
                target.epsilon_bound,
                target.delta_bound,
            )
            scale = Fraction(group_size * math.sqrt(changed) / mu * _UP)
        elif isinstance(target, ZeroConcentratedDP):
            most = math.sqrt(changed / (2.0 * target.rho))
            scale = Fraction(group_size * most * _UP)
        else:
            scale = changed * group_size / Fraction(target.epsilon_bound)
        return cls(
            n_categories=n_categories,
            n_rows=n_rows,
            group_size=group_size,
            adjacency=target.adjacency,
            law=LatticeLaw.LAPLACE if pure else LatticeLaw.GAUSSIAN,
            scale=scale,
        )

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold."""
        CountMechanism.__post_init__(self)
        object.__setattr__(self, "law", LatticeLaw(self.law))
        require(self.scale > 0, "scale must be positive")
        require(self.scale < 1 << 53, "scale must be below 2**53 records")

    @property
    def _changed(self) -> int:
        """How many counts one record changes."""
        return 1 if self.n_rows is None else 2

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of the release."""
        words: dict[str, Any] = {
            "adjacency": self.adjacency,
            "assumptions": self._assumptions(),
            "source": _SOURCE,
        }
        if self.law is LatticeLaw.LAPLACE:
            return PureDP(
                _ceiling(self._changed * self.group_size / self.scale), **words
            )
        squared = self._changed * self.group_size**2
        return ZeroConcentratedDP(_ceiling(squared / (2 * self.scale**2)), **words)

    @property
    def ideal_guarantee(self) -> Guarantee:
        """The guarantee itself: the noise is exact."""
        return self.guarantee

    @property
    def lattice(self) -> float:
        """Outputs are integers."""
        return 1.0

    @property
    def mean_error(self) -> float:
        """Mean absolute noise of one count, in records."""
        b = float(self.scale)
        if self.law is LatticeLaw.LAPLACE:
            return 1.0 / math.sinh(1.0 / b) if b > 1e-2 else 0.0
        return b * math.sqrt(2.0 / math.pi)

    def accuracy_bound(self, n_rows: int) -> float:
        """Bound the mean distance between the projected histogram and the data.

        Parameters
        ----------
        n_rows : int
            The public number of records to which the histogram is projected.

        Returns
        -------
        float
            Mean total variation distance, by the Euclidean one, which projection to a
            convex set that holds the data does not increase.
        """
        b = float(self.scale)
        deviation = b
        if self.law is LatticeLaw.LAPLACE:
            deviation = 1.0 / (math.sqrt(2.0) * math.sinh(0.5 / b)) if b > 1e-3 else 0.0
        return min(1.0, self.n_categories * deviation / (2.0 * n_rows))

    def release(self, data: IntArray, source: RandomSource) -> Release[FloatArray]:
        """Return every count plus noise.

        Parameters
        ----------
        data : ndarray of int of shape (n_categories,)
            The histogram of the private data.
        source : RandomSource
            Where the randomness comes from.

        Returns
        -------
        Release
            ``output`` has shape (n_categories,) and holds integers.
        """
        draw = discrete_laplace if self.law is LatticeLaw.LAPLACE else discrete_gaussian
        noisy = self.counts(data) + draw(self.n_categories, self.scale, source)
        return Release(output=noisy.astype(np.float64), spent=self.guarantee)

    def noise(self, output: FloatArray, data: IntArray) -> FloatArray:
        """Recover the noise: noisy minus true counts."""
        return output - data

    def log_density(self, output: FloatArray, data: IntArray) -> float:
        """Log probability of the noisy counts."""
        return self.log_density_on(data)(output)

    def log_density_on(self, data: IntArray) -> Callable[[FloatArray], float]:
        """Return :meth:`log_density` on one histogram."""
        b, counts = float(self.scale), self.counts(data)
        if self.law is LatticeLaw.LAPLACE:
            constant = math.log(math.tanh(0.5 / b)) * self.n_categories
            return lambda output: constant - float(np.abs(output - counts).sum()) / b
        constant = -_log_theta(b) * self.n_categories
        return lambda output: (
            constant - float(((output - counts) ** 2).sum()) / (2 * b * b)
        )

    def hard_pairs(self) -> Iterator[AdjacentPair[IntArray]]:
        """Yield the largest change of the counts by one person, or her group."""
        k, moved = self.n_categories, self.group_size
        n = 5 if self.n_rows is None else self.n_rows
        left = np.zeros(k, dtype=np.int64)
        left[0] = n
        right = left.copy()
        if self.n_rows is None:
            right[0] += moved
        elif k > 1:
            right[0] -= min(moved, n)
            right[1] += min(moved, n)
        yield AdjacentPair("one person's records", left, right)

    @classmethod
    def audit_instances(cls) -> Iterator[Self]:
        """Yield both laws and both relations; one count can be audited exactly."""
        add, replace = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE
        for target, shape in (
            (PureDP(0.5, adjacency=add), {"n_categories": 1}),
            (PureDP(2.0, adjacency=add), {"n_categories": 1, "group_size": 3}),
            (ApproximateDP(0.5, 1e-6, adjacency=add), {"n_categories": 1}),
            (PureDP(0.5, adjacency=replace), {"n_categories": 3, "n_rows": 20}),
            (
                ApproximateDP(1.0, 1e-6, adjacency=replace),
                {"n_categories": 3, "n_rows": 20},
            ),
        ):
            yield cls.calibrate(target, **shape)


def _ceiling(x: Fraction) -> float:
    """Return a float at least ``x``."""
    value = float(x)
    return value if Fraction(value) >= x else math.nextafter(value, math.inf)


def _log_theta(sigma: float) -> float:
    """Return the log normaliser of the discrete Gaussian."""
    if sigma > _SMOOTH:
        return math.log(sigma) + 0.5 * math.log(2.0 * math.pi)
    z = np.arange(-math.ceil(40 * sigma) - 1, math.ceil(40 * sigma) + 2)
    return math.log(float(np.exp(-0.5 * (z / sigma) ** 2).sum()))
