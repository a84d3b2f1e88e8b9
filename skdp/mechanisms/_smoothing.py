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

from skdp._typing import FloatArray
from skdp.accounting import Adjacency, Guarantee, PureDP, ZeroConcentratedDP
from skdp.mechanisms._base import AdjacentPair, Mechanism, Release
from skdp.random import RandomSource, discrete_gaussian, discrete_laplace

__all__ = ["LatticeLaw", "LatticeSmoothing"]

#: Relative slack that keeps rounded public numbers on the private side.
_UP = 1.0 + 2.0**-40


class LatticeLaw(Enum):
    """Law of the integer noise."""

    GAUSSIAN = "discrete Gaussian"
    LAPLACE = "discrete Laplace"


def _power_of_two_below(x: float) -> float:
    """Return the largest power of two that is at most ``x``."""
    return math.ldexp(1.0, math.frexp(x)[1] - 1)


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
        grid = _power_of_two_below(error / (8 * math.sqrt(n_features)))
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
        root = math.sqrt(n_features)
        grid = _power_of_two_below(error / (8 * root))
        shift = 2 * root * error / grid + n_features
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
    def guarantee(self) -> Guarantee:
        """Guarantee of one release, from the shift in lattice steps."""
        d, steps = self.n_features, 2 * self.error / self.grid
        if self.law is LatticeLaw.GAUSSIAN:
            shift = (steps + math.sqrt(d)) / self.multiple
            return ZeroConcentratedDP(
                0.5 * shift**2, adjacency=self.adjacency, source=_SOURCE
            )
        shift = (math.sqrt(d) * steps + d) / self.multiple
        return PureDP(shift, adjacency=self.adjacency, source=_SOURCE)

    @property
    def ideal_guarantee(self) -> Guarantee:
        """The same as :attr:`guarantee`: the release is exact as it stands."""
        return self.guarantee

    def release(self, data: FloatArray, source: RandomSource) -> Release[FloatArray]:
        """Return ``g (round(v / g) + Z)`` for fresh integer noise ``Z``."""
        if self.law is LatticeLaw.GAUSSIAN:
            z = discrete_gaussian(self.n_features, self.multiple, source)
        else:
            z = discrete_laplace(self.n_features, self.multiple, source)
        # Python integers: exact however far the vector lies from the origin
        centre = [int(v) for v in np.rint(np.asarray(data) / self.grid)]
        steps = [c + int(k) for c, k in zip(centre, z, strict=True)]
        output = np.array([float(k) for k in steps]) * self.grid
        return Release(output=output, spent=self.guarantee)

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


def _extreme_directions(d: int) -> Iterator[tuple[str, FloatArray]]:
    """Yield the axis and the diagonal: the L2 and the L1 worst case."""
    axis = np.zeros(d)
    axis[0] = 1.0
    yield "opposite ends along an axis", axis
    yield "opposite ends along the diagonal", np.full(d, 1 / math.sqrt(d))
