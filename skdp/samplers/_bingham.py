r"""The Bingham law on the sphere, below an angular central Gaussian envelope.

Notation (derived in docs/proofs/principal_direction.md)
--------------------------------------------------------
q        dimension; v a unit vector of length q
lam_i    spectrum >= 0, the least 0; density proportional to exp(-sum lam_i v_i^2)
b        root of sum 1/(b + 2 lam_i) = 1, within [1, q]
Omega    diagonal precision 1 + 2 lam_i / b of the normal vector whose direction is the
         proposal
"""

import math

import numpy as np
from scipy.special import gammaln

from skdp._typing import FloatArray
from skdp.random import RandomSource, standard_normal
from skdp.samplers._loop_target import LoopTarget

__all__ = ["Bingham", "acceptance_limit"]

#: Bisections of the interval [1, q]: always as many.
_BISECTIONS = 60
#: Step of the contour integral, and how far terms are followed: down to exp(-this).
_STEP, _DEPTH = 0.1, 45.0


class Bingham:
    r"""The law with density proportional to :math:`\exp(-\sum_i\lambda_i v_i^2)`.

    Coordinates are those of the eigenvectors.

    Parameters
    ----------
    spectrum : ndarray of shape (q,)
        The lam_i, all >= 0 and the least 0.

    Attributes
    ----------
    b : float
        What makes the envelope the tightest of its family.

    Notes
    -----
    The envelope holds for every b > 0, so an inexact root costs acceptance alone.

    References
    ----------
    Kent, Ganeiber and Mardia, "A new unified approach for the simulation of a wide
    class of directional distributions", J. Comput. Graph. Statist., 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.samplers import Bingham
    >>> law = Bingham(np.array([0.0, 1.0, 4.0]))
    >>> law.b, law.acceptance
    (1.61462..., 0.86...)
    """

    def __init__(self, spectrum: FloatArray) -> None:
        self._spectrum = spectrum
        self.b = _root(spectrum)
        self._precision: FloatArray = 1.0 + 2.0 * spectrum / self.b

    def target(self) -> LoopTarget:
        """Return proposals and log acceptance for a rejection loop."""
        return LoopTarget(self.propose, self.log_acceptance)

    def propose(self, size: int, source: RandomSource) -> FloatArray:
        """Return directions of normal vectors of precision Omega, shape (size, q)."""
        q = self._spectrum.size
        normal = standard_normal(size * q, source).reshape(size, q)
        z = normal / np.sqrt(self._precision)
        out: FloatArray = z / np.sqrt(np.sum(z * z, axis=1, keepdims=True))
        return out

    def log_acceptance(self, v: FloatArray) -> FloatArray:
        """Return the log acceptance, at most 0 up to rounding, of unit rows."""
        q = self._spectrum.size
        squares = v * v
        fall = np.sum(squares * self._spectrum, axis=1)
        spread = np.sum(squares * self._precision, axis=1)
        out: FloatArray = 0.5 * q * np.log(spread) - fall + self._log_height()
        return out

    def _log_height(self) -> float:
        q = self._spectrum.size
        return 0.5 * (q - self.b) - 0.5 * q * math.log(q / self.b)

    @property
    def log_mean(self) -> float:
        """Log of the mean of exp(-sum lam_i v_i^2) over the uniform law."""
        return _log_mean(self._spectrum, self.b)

    @property
    def acceptance(self) -> float:
        """Acceptance probability of a proposal; a function of the spectrum."""
        log_volume = 0.5 * float(np.sum(np.log(self._precision)))
        return math.exp(log_volume + self._log_height() + self.log_mean)


def acceptance_limit(q: int) -> float:
    """Return the acceptance for one zero and otherwise infinite eigenvalues.

    It is the least over all spectra in every search made, which is no proof: see
    docs/proofs/principal_direction.md.

    Parameters
    ----------
    q : int
        Dimension, >= 1.

    Returns
    -------
    float
        Within (0, 1].

    Examples
    --------
    >>> from skdp.samplers import acceptance_limit
    >>> [round(acceptance_limit(q), 8) for q in (2, 3, 100)]
    [0.65774462, 0.52313358, 0.08591947]
    """
    log_limit = 0.5 * (q - 1) * math.log(2 * math.e) + float(gammaln(q / 2))
    return math.exp(log_limit - 0.5 * q * math.log(q) - 0.5 * math.log(math.pi))


def _root(spectrum: FloatArray) -> float:
    """Return b by a fixed number of bisections."""
    low, high = 1.0, float(spectrum.size)
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        above = float(np.sum(1.0 / (middle + 2.0 * spectrum)) > 1.0)
        low = above * middle + (1.0 - above) * low
        high = above * high + (1.0 - above) * middle
    return 0.5 * (low + high)


def _log_mean(spectrum: FloatArray, b: float) -> float:
    r"""Return log E exp(-sum lam_i v_i^2) by inverting a Laplace transform.

    :math:`\Gamma(q/2)` times the inverse transform, at 1, of
    :math:`\prod_i (t + \lambda_i)^{-1/2}`: the trapezoidal rule on the parabola
    :math:`t = (b/2)(1 + iu)^2`, which goes through the saddle point and round the
    negative axis, where all singularities lie.
    """
    q, saddle = spectrum.size, b / 2.0
    step = _STEP / math.sqrt(1.0 + q / 20.0)
    u = np.arange(math.ceil(math.sqrt(_DEPTH / saddle) / step) + 1) * step
    t = saddle * (1.0 + 1j * u) ** 2
    log_terms = t - 0.5 * np.sum(np.log(t[:, None] + spectrum), axis=1)
    # the largest term, at the saddle, may leave the range of floats
    size = float(log_terms[0].real)
    # dt = 2 i saddle (1 + iu) du, and the two halves of the contour are conjugate
    terms = (np.exp(log_terms - size) * (1.0 + 1j * u)).real
    terms[0] *= 0.5
    integral = 2.0 * saddle * step * float(np.sum(terms)) / math.pi
    return float(gammaln(q / 2)) + size + math.log(integral)
