r"""The finite-precision step that ends every continuous release.

A computer returns a point *near* the ideal real-valued one: solvers stop, sums round,
samplers approximate. This adapter closes the gap whatever its cause. If the computed
point is within a public ``error`` of the ideal one, rounding it to a lattice and adding
exact lattice noise hides the difference at a known price.

Notation (derived in docs/proofs/smoothing.md)
----------------------------------------------
Delta    bound on the L2 distance of the computed to the ideal point    -> ``error``
g        lattice step, a power of two                                   -> ``grid``
m        noise scale in lattice steps                       -> ``multiple``
s, b     noise scale g m: discrete Gaussian s, discrete Laplace b       -> ``scale``
d        number of coordinates                                         -> ``n_features``
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Self

import numpy as np

from skdp._typing import FloatArray, IntegerArray
from skdp.accounting import Adjacency, Guarantee, PureDP, ZeroConcentratedDP
from skdp.mechanisms._base import AdjacentPair, Mechanism, Release, require
from skdp.mechanisms._noise import GaussianNoise, KNormNoise
from skdp.random import RandomSource, discrete_gaussian, discrete_laplace

__all__ = ["LatticeLaw", "LatticeSmoothing", "check_step"]

#: Relative slack that keeps rounded public numbers on the private side.
_UP = 1.0 + 2.0**-40


#: Lattice points within this many steps of the origin add up in 64-bit integers.
_EXACT = 2.0**62
#: Errors below this would leave the range in which a lattice can be formed.
_SMALLEST = 1e-280


class LatticeLaw(Enum):
    """Law of the integer noise."""

    GAUSSIAN = "discrete Gaussian"
    LAPLACE = "discrete Laplace"


def _grid(error: float, n_features: int) -> float:
    """Return the largest power of two that is at most ``error / (8 sqrt(d))``."""
    require(error >= _SMALLEST, f"error must be a number from {_SMALLEST:g}")
    step = error / (8 * math.sqrt(n_features))
    return math.ldexp(1.0, math.frexp(step)[1] - 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class LatticeSmoothing(Mechanism[FloatArray, FloatArray]):
    r"""Round to a lattice and add exact lattice noise.

    The data are one computed vector; "neighbours" are two vectors that both lie within
    ``error`` of one ideal point. The output is :math:`g(\mathrm{round}(v/g) + Z)`.

    Parameters
    ----------
    law : LatticeLaw
        Discrete Gaussian (zero-concentrated DP) or discrete Laplace per coordinate
        (pure DP).
    error : float
        Public bound, > 0, on the L2 distance between computed and ideal vector.
    n_features : int
        Number of coordinates, >= 1.
    grid : float
        Lattice step, a power of two.
    multiple : float
        Noise scale in lattice steps, >= 1; used as the exact dyadic rational it is.
    adjacency : Adjacency
        Neighbouring relation that the surrounding mechanism speaks about.

    Privacy
    -------
    Discrete Gaussian: rho-zCDP with rho = (2 error + g sqrt(d))^2 / (2 (g m)^2).
    Discrete Laplace: epsilon-DP with epsilon = (2 sqrt(d) error + d g) / (g m). Exact
    integer arithmetic; proof in docs/proofs/smoothing.md.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.mechanisms import LatticeSmoothing
    >>> from skdp.random import as_random_source
    >>> step = LatticeSmoothing.concentrated(error=1e-8, n_features=2, mu=0.01)
    >>> step.guarantee.rho <= 0.01**2 / 2
    True
    >>> out = step.release(np.array([0.5, -1.0]), as_random_source(0)).output
    >>> bool(np.all(out / step.grid == np.rint(out / step.grid)))
    True
    """

    law: LatticeLaw
    error: float
    n_features: int
    grid: float
    multiple: float
    adjacency: Adjacency = Adjacency.ADD_REMOVE

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold."""
        object.__setattr__(self, "adjacency", Adjacency(self.adjacency))
        object.__setattr__(self, "law", LatticeLaw(self.law))
        require(self.n_features >= 1, "n_features must be at least 1")
        require(1.0 <= self.multiple < math.inf, "multiple must be a number from 1")
        require(
            _SMALLEST <= self.error < math.inf,
            f"error must be a number from {_SMALLEST:g}; a ridge so large or rows so "
            "short leave nothing to compute with",
        )
        require(
            self.grid > 0.0 and math.frexp(self.grid)[0] == 0.5,
            "grid must be a power of two",
        )

    @classmethod
    def concentrated(
        cls,
        *,
        error: float,
        n_features: int,
        mu: float,
        adjacency: Adjacency = Adjacency.ADD_REMOVE,
    ) -> Self:
        """Return the discrete Gaussian adapter that costs at most mu^2/2 in zCDP."""
        grid = _grid(error, n_features)
        shift = 2 * error / grid + math.sqrt(n_features)
        return cls(
            law=LatticeLaw.GAUSSIAN,
            error=error,
            n_features=n_features,
            grid=grid,
            multiple=shift / mu * _UP,
            adjacency=adjacency,
        )

    @classmethod
    def pure(
        cls,
        *,
        error: float,
        n_features: int,
        epsilon: float,
        adjacency: Adjacency = Adjacency.ADD_REMOVE,
    ) -> Self:
        """Return the discrete Laplace adapter that costs at most ``epsilon``."""
        grid = _grid(error, n_features)
        shift = 2 * math.sqrt(n_features) * error / grid + n_features
        return cls(
            law=LatticeLaw.LAPLACE,
            error=error,
            n_features=n_features,
            grid=grid,
            multiple=shift / epsilon * _UP,
            adjacency=adjacency,
        )

    @property
    def scale(self) -> float:
        """Noise scale in the units of the vector."""
        return self.grid * self.multiple

    @property
    def lattice(self) -> float:
        """Step of the lattice that carries every output."""
        return self.grid

    @property
    def rho(self) -> float:
        """Cost of the discrete Gaussian in zero-concentrated DP; inf for Laplace."""
        if self.law is LatticeLaw.LAPLACE:
            return math.inf
        shift = 2 * self.error / self.grid + math.sqrt(self.n_features)
        return 0.5 * (shift / self.multiple) ** 2

    @property
    def epsilon(self) -> float:
        """Cost of the discrete Laplace in nats; inf for Gaussian."""
        if self.law is LatticeLaw.GAUSSIAN:
            return math.inf
        d = self.n_features
        return (2 * math.sqrt(d) * self.error / self.grid + d) / self.multiple

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one release, from the shift in lattice steps."""
        if self.law is LatticeLaw.GAUSSIAN:
            return ZeroConcentratedDP(
                self.rho, adjacency=self.adjacency, source=_SOURCE
            )
        return PureDP(self.epsilon, adjacency=self.adjacency, source=_SOURCE)

    @property
    def ideal_guarantee(self) -> Guarantee:
        """The same as :attr:`guarantee`: the release is exact as it stands."""
        return self.guarantee

    def release(self, data: FloatArray, source: RandomSource) -> Release[FloatArray]:
        """Return ``g (round(v / g) + Z)`` for fresh integer noise ``Z``."""
        output = self.release_each(np.asarray(data)[None], source)[0]
        return Release(output=output, spent=self.guarantee)

    def release_each(self, points: FloatArray, source: RandomSource) -> FloatArray:
        """Smooth several vectors, each at the full price.

        Parameters
        ----------
        points : ndarray of shape (m, n_features)
            Computed vectors.
        source : RandomSource
            Where the randomness comes from.

        Returns
        -------
        ndarray of shape (m, n_features)
        """
        steps = self.release_steps(points.ravel(), source)
        out: FloatArray = (steps.astype(np.float64) * self.grid).reshape(points.shape)
        return out

    def release_steps(self, points: FloatArray, source: RandomSource) -> IntegerArray:
        """Smooth a flat array, in lattice steps and before any rounding.

        What is added to the steps and rounded together with them is covered too; what
        is added to rounded steps is not.

        Parameters
        ----------
        points : ndarray of shape (m,)
            Computed numbers.
        source : RandomSource
            Where the randomness comes from.

        Returns
        -------
        ndarray of shape (m,)
            int64, or Python integers where some are too large for it.
        """
        draw = discrete_gaussian
        if self.law is LatticeLaw.LAPLACE:
            draw = discrete_laplace
        z = draw(points.size, self.multiple, source)
        return _exact_sum(np.rint(points / self.grid), z)

    def noise(self, output: FloatArray, data: FloatArray) -> FloatArray:
        """Recover the noise, in lattice steps."""
        steps: FloatArray = np.rint(output / self.grid) - np.rint(data / self.grid)
        return steps

    def log_density(self, output: FloatArray, data: FloatArray) -> float:
        """Log probability of the lattice point ``output``."""
        z, m = self.noise(output, data), self.multiple
        if self.law is LatticeLaw.GAUSSIAN:
            # for m >= 1 the normaliser equals m sqrt(2 pi) up to 2 exp(-2 pi^2 m^2)
            log_mass = math.log(m * math.sqrt(2 * math.pi)) + math.log1p(
                2 * math.exp(-2 * (math.pi * m) ** 2)
            )
            return float(-0.5 * np.sum((z / m) ** 2) - z.size * log_mass)
        log_mass = -math.log(math.tanh(0.5 / m))
        return float(-np.sum(np.abs(z)) / m - z.size * log_mass)

    def hard_pairs(self) -> Iterator[AdjacentPair[FloatArray]]:
        """Yield computed vectors at opposite ends of the error ball."""
        d = self.n_features
        for name, u in _extreme_directions(d):
            ideal = np.full(d, 0.37 * self.grid)
            step = self.error * u
            yield AdjacentPair(name, ideal + step, ideal - step)

    @classmethod
    def audit_instances(cls) -> Iterator[Self]:
        """Yield both laws, small and large, on every relation."""
        for d, error in ((1, 1e-8), (1, 3.0), (2, 0.2)):
            yield cls.concentrated(error=error, n_features=d, mu=0.05)
            yield cls.concentrated(error=error, n_features=d, mu=0.125)
            yield cls.pure(error=error, n_features=d, epsilon=0.01)
            yield cls.pure(error=error, n_features=d, epsilon=0.5)


_SOURCE = "exact lattice smoothing, docs/proofs/smoothing.md"


def _exact_sum(centre: FloatArray, z: IntegerArray) -> IntegerArray:
    """Add integers held as floats to integers."""
    if z.dtype == np.int64 and np.all(np.abs(centre) < _EXACT):
        out: IntegerArray = centre.astype(np.int64) + z
        return out
    # Python integers: exact however far the vector lies from the origin
    pairs = zip(centre, z, strict=True)
    return np.array([int(c) + int(k) for c, k in pairs], dtype=object)


def _extreme_directions(d: int) -> Iterator[tuple[str, FloatArray]]:
    """Yield the axis and the diagonal: the L2 and the L1 worst case."""
    axis = np.zeros(d)
    axis[0] = 1.0
    yield "opposite ends along an axis", axis
    yield "opposite ends along the diagonal", np.full(d, 1 / math.sqrt(d))


def check_step(
    noise_law: GaussianNoise | KNormNoise,
    smoothing: LatticeSmoothing,
    n_features: int,
    adjacency: Adjacency,
) -> None:
    """Refuse a smoothing step that is not the one its mechanism's proof speaks of."""
    gaussian = isinstance(noise_law, GaussianNoise)
    expected = LatticeLaw.GAUSSIAN if gaussian else LatticeLaw.LAPLACE
    require(
        gaussian or isinstance(noise_law, KNormNoise),
        "noise_law must be GaussianNoise or KNormNoise",
    )
    require(0.0 < noise_law.scale < math.inf, "noise_law.scale must be above 0")
    require(
        smoothing.law is expected,
        "Gaussian noise goes with the discrete Gaussian, K-norm noise with the "
        "discrete Laplace law",
    )
    require(
        smoothing.n_features == n_features,
        "smoothing.n_features must be the length of the released vector",
    )
    require(
        smoothing.adjacency is adjacency,
        "smoothing.adjacency must be that of the mechanism",
    )
