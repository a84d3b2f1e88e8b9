"""What the Gaussian and the K-norm mechanism share: one vector plus one noise vector.

Notation
--------
v        the computed statistic f(D), shape (d,)                -> ``data``
Delta    bound on the L2 error of its computation                -> ``smoothing.error``
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from skdp._typing import FloatArray
from skdp.accounting import Adjacency
from skdp.mechanisms._base import AdjacentPair, Mechanism, Release, require
from skdp.mechanisms._calibration import DOWN
from skdp.mechanisms._noise import GaussianNoise, KNormNoise
from skdp.mechanisms._smoothing import LatticeSmoothing, check_step
from skdp.random import RandomSource

__all__ = ["RELATIVE_ERROR", "AdditiveNoise"]

#: Accuracy asked of the computed statistic plus noise, in units of the noise scale.
RELATIVE_ERROR = 2.0**-30


@dataclass(frozen=True, kw_only=True, slots=True)
class AdditiveNoise(Mechanism[FloatArray, FloatArray]):
    """Add spherical noise to a vector of known L2 sensitivity, then smooth."""

    l2_sensitivity: float
    n_features: int
    noise_law: GaussianNoise | KNormNoise
    smoothing: LatticeSmoothing
    adjacency: Adjacency = Adjacency.ADD_REMOVE

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold."""
        object.__setattr__(self, "adjacency", Adjacency(self.adjacency))
        require(0.0 < self.l2_sensitivity < math.inf, "l2_sensitivity must be above 0")
        check_step(self.noise_law, self.smoothing, self.n_features, self.adjacency)
        require(
            self.smoothing.error >= RELATIVE_ERROR * self.noise_law.scale * DOWN,
            "smoothing.error must cover the rounding of the noisy statistic",
        )

    @property
    def sensitivity_ratio(self) -> float:
        """L2 sensitivity over the noise scale."""
        return self.l2_sensitivity / self.noise_law.scale

    def _assumptions(self) -> tuple[str, ...]:
        return (
            f"L2 sensitivity <= {self.l2_sensitivity:.6g} (by the caller)",
            "error of the computed statistic, noise added, "
            f"<= {self.smoothing.error:.3g}",
        )

    def release(self, data: FloatArray, source: RandomSource) -> Release[FloatArray]:
        """Return the vector plus one noise draw, on the lattice of the smoothing step.

        Parameters
        ----------
        data : ndarray of shape (n_features,)
            The statistic of the private data.
        source : RandomSource
            Where the randomness comes from.

        Returns
        -------
        Release
            ``output`` has shape (n_features,).

        Raises
        ------
        ValueError
            If the shape is not the one the mechanism was calibrated for.
        """
        vector = np.asarray(data, dtype=np.float64)
        if vector.shape != (self.n_features,):
            raise ValueError(
                f"data has shape {vector.shape}, the mechanism was calibrated for "
                f"({self.n_features},). Flatten the statistic or calibrate again."
            )
        noisy = vector + self.noise_law.draw(self.n_features, source)
        output = self.smoothing.release(noisy, source).output
        return Release(output=output, spent=self.guarantee)

    def noise(self, output: FloatArray, data: FloatArray) -> FloatArray:
        """Recover the noise: output minus statistic."""
        return output - data

    def log_density(self, output: FloatArray, data: FloatArray) -> float:
        """Log density of the real-valued release."""
        return self.noise_law.log_density(self.noise(output, data))

    def hard_pairs(self) -> Iterator[AdjacentPair[FloatArray]]:
        """Yield statistics at the full L2 sensitivity, along an axis and diagonally."""
        d = self.n_features
        axis = np.zeros(d)
        axis[0] = self.l2_sensitivity
        diagonal = np.full(d, self.l2_sensitivity / np.sqrt(d))
        yield AdjacentPair("shift along an axis", np.zeros(d), axis)
        yield AdjacentPair("shift along the diagonal", diagonal, np.zeros(d))
