r"""The parts of a preconditioned fit, what each costs, and what was released of each.

Notation (docs/proofs/preconditioned.md)
----------------------------------------
D        bound on what one row changes                               -> ``sensitivity``
sigma    standard deviation of the noise                         -> ``noise_law.scale``
mu       D / sigma, raised for the rounding of the weights                    -> ``mu``
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from skdp._typing import FloatArray
from skdp.accounting import Adjacency
from skdp.mechanisms._base import require
from skdp.mechanisms._noise import GaussianNoise
from skdp.mechanisms._pco_geometry import Geometry
from skdp.mechanisms._smoothing import LatticeSmoothing, check_step
from skdp.random import RandomSource

__all__ = ["UP", "BudgetPart", "NoisyPart", "PreconditionedRelease"]

#: Above the relative rounding of a weight and of a row's norm in the metric.
UP = 1.0 + 1e-9


@dataclass(frozen=True, kw_only=True, slots=True)
class NoisyPart:
    """One vector of noise, its lattice step, and the change of one row it hides.

    Parameters
    ----------
    name : str
        What is released.
    sensitivity : float
        Bound > 0 on the change by one row.
    noise_law : GaussianNoise
        Spherical noise.
    step : LatticeSmoothing
        The finite-precision step.
    """

    name: str
    sensitivity: float
    noise_law: GaussianNoise
    step: LatticeSmoothing

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold."""
        require(
            isinstance(self.noise_law, GaussianNoise), "noise_law must be GaussianNoise"
        )
        require(0.0 < self.sensitivity < math.inf, "sensitivity must be above 0")
        check_step(self.noise_law, self.step, self.size, Adjacency.ADD_REMOVE)

    @classmethod
    def of_size(
        cls,
        name: str,
        mu: float,
        *,
        sensitivity: float,
        size: int,
        error: float,
        step_mu: float,
    ) -> Self:
        """Return the part of a given mu, with a step that hides a given error."""
        step = LatticeSmoothing.concentrated(error=error, n_features=size, mu=step_mu)
        noise_law = GaussianNoise(UP * sensitivity / mu)
        return cls(name=name, sensitivity=sensitivity, noise_law=noise_law, step=step)

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return self.step.n_features

    @property
    def mu(self) -> float:
        """Size of the ideal release."""
        return UP * self.sensitivity / self.noise_law.scale

    def draw(self, source: RandomSource) -> FloatArray:
        """Return fresh noise, shape (size,)."""
        return self.noise_law.draw(self.size, source)

    def smooth(self, vector: FloatArray, source: RandomSource) -> FloatArray:
        """Return a vector on the lattice, blurred."""
        out: FloatArray = self.step.release_each(vector[np.newaxis], source)[0]
        return out


@dataclass(frozen=True, slots=True)
class BudgetPart:
    """What one part of a fit costs.

    Attributes
    ----------
    name : str
        What is released.
    mu : float
        Size of the release: bound on one row's part over the noise.
    share : float
        Its square over the sum of all squares, within [0, 1].
    """

    name: str
    mu: float
    share: float


@dataclass(frozen=True, slots=True, eq=False)
class PreconditionedRelease:
    """Everything a preconditioned fit published.

    Attributes
    ----------
    coefficients : ndarray of shape (d,)
        Of rows as they are, intercept coordinate last.
    metric : ndarray of shape (d, d)
        Noisy second moments of rows over the bound of their norm.
    center : ndarray of shape (d,)
        Coefficients from the noisy gradient at zero, around which the first objective
        is penalised.
    gradient : ndarray of shape (d,)
        That gradient in the metric, with its sign changed.
    energies : ndarray of shape (2,) or None
        Noisy sums of squared targets and of squared residuals at the centre.
    minimisers : tuple of ndarray of shape (d,)
        In the metric, over the scale of the loss.
    scale : float
        Scale of the loss; 1 for logistic.
    geometry : Geometry
        Public consequences of ``metric``.
    budget : tuple of BudgetPart
        What each part cost.
    """

    coefficients: FloatArray
    metric: FloatArray
    center: FloatArray
    gradient: FloatArray
    energies: FloatArray | None
    minimisers: tuple[FloatArray, ...]
    scale: float
    geometry: Geometry
    budget: tuple[BudgetPart, ...]

    @property
    def transcript(self) -> FloatArray:
        """All numbers that carry noise, in the order of their release."""
        triangle = self.metric[np.triu_indices(len(self.metric))]
        energies = () if self.energies is None else (self.energies,)
        return np.concatenate([triangle, self.gradient, *energies, *self.minimisers])
