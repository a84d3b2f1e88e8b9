"""The two noise laws of the continuous mechanisms, with their densities.

Notation
--------
b    noise vector, shape (d,)
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import gammaln

from skdp._typing import FloatArray
from skdp.random import RandomSource, k_norm_vector, standard_normal

__all__ = ["GaussianNoise", "KNormNoise", "NoiseLaw"]


class NoiseLaw(Protocol):
    """A spherical law of one noise vector.

    Guarantees expected of an implementation:

    - a draw depends on nothing but the size, the scale and the source;
    - every draw is used by at most one release.
    """

    @property
    def scale(self) -> float:
        """Scale of the law in the units of the noise."""
        ...

    def draw(self, n_features: int, source: RandomSource) -> FloatArray:
        """Return one fresh noise vector, shape (n_features,)."""
        ...

    def typical_norm(self, n_features: int) -> float:
        """Return the size of the norm of a draw; public."""
        ...

    def log_density(self, b: FloatArray) -> float:
        """Return the log density at ``b``."""
        ...


@dataclass(frozen=True, slots=True)
class GaussianNoise:
    """Spherical Gaussian noise of standard deviation ``scale`` per coordinate."""

    scale: float

    def draw(self, n_features: int, source: RandomSource) -> FloatArray:
        """Return one fresh noise vector, shape (n_features,)."""
        return self.scale * standard_normal(n_features, source)

    def typical_norm(self, n_features: int) -> float:
        """Return the root mean square of the norm of a draw."""
        return float(self.scale * np.sqrt(n_features))

    def log_density(self, b: FloatArray) -> float:
        """Return the log density at ``b``."""
        z = b / self.scale
        log_constant = b.size * np.log(self.scale * np.sqrt(2 * np.pi))
        return float(-0.5 * (z @ z) - log_constant)


@dataclass(frozen=True, slots=True)
class KNormNoise:
    """Noise of density proportional to ``exp(-|b|_2 / scale)``.

    The direction is uniform and the radius follows the Gamma law of shape d: the K-norm
    mechanism for the Euclidean ball.
    """

    scale: float

    def draw(self, n_features: int, source: RandomSource) -> FloatArray:
        """Return one fresh noise vector, shape (n_features,)."""
        return self.scale * k_norm_vector(n_features, 1.0, source)

    def typical_norm(self, n_features: int) -> float:
        """Return the mean of the norm of a draw."""
        return self.scale * n_features

    def log_density(self, b: FloatArray) -> float:
        """Return the log density at ``b``."""
        d = b.size
        # area of the unit sphere times the Gamma integral of the radius
        log_area = np.log(2.0) + d / 2 * np.log(np.pi) - gammaln(d / 2)
        log_constant = log_area + gammaln(d) + d * np.log(self.scale)
        return float(-np.linalg.norm(b) / self.scale - log_constant)
