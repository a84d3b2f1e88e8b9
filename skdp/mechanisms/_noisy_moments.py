r"""Coefficients from noisy second moments: what to make of a released matrix.

Everything here is a function of released numbers, so it costs no privacy; that it does
well is measured, not proved.

Notation (docs/proofs/adassp.md, "From moments to coefficients")
----------------------------------------------------------------
A, b     X'X and X'y of rows of norm at most one; theta with A theta = b
A^, b^   the same with noise                                -> ``gram``, ``moments``
e, V     eigenvalues and eigenvectors of A^
s        noise of an entry of b^ and of the diagonal of A^         -> ``noise_scale``
tau^2    mean square of a coefficient, found by maximum likelihood
kappa    noise of b^ - A^ theta over tau
"""

from dataclasses import dataclass

import numpy as np

from skdp._typing import FloatArray

__all__ = ["NoisyMoments"]

#: Logarithms of tau^2 that are tried: rows and targets are at most one in size.
_LOG_SQUARES = np.linspace(-20.0, 20.0, 801)


@dataclass(frozen=True, slots=True, eq=False)
class NoisyMoments:
    """Released second moments of rows of norm at most one.

    Attributes
    ----------
    gram : ndarray of shape (d, d)
        X'X plus noise, symmetric.
    moments : ndarray of shape (d,)
        X'y plus noise.
    noise_scale : float
        Standard deviation of the noise: of ``moments`` and the diagonal of ``gram``;
        elsewhere it is smaller by sqrt(2).
    """

    gram: FloatArray
    moments: FloatArray
    noise_scale: float

    def coefficients(self, alpha: float | None = None) -> tuple[FloatArray, float]:
        r"""Return coefficients, shape (d,), and the ridge they were found with.

        Negative eigenvalues of the noisy matrix become zero. Given ``alpha``, it is
        added to each; otherwise e becomes :math:`\sqrt{e^2 + \kappa^2}`, which leaves
        large ones alone and lifts those that are lost in the noise to kappa.
        """
        values, axes = np.linalg.eigh(self.gram)
        along = axes.T @ self.moments
        ridge = self._ridge(values, along) if alpha is None else alpha
        raised = np.maximum(values, 0.0)
        lifted = np.hypot(raised, ridge) if alpha is None else raised + ridge
        coefficients: FloatArray = axes @ (along / lifted)
        return coefficients, ridge

    def _ridge(self, values: FloatArray, along: FloatArray) -> float:
        """Return kappa, with tau at the largest likelihood of b^ given A^.

        Given theta of covariance tau^2 I, b^ has the variance tau^2 a^2 + s^2 along an
        axis on which A has the size a; E A^^2 = A^2 + s^2 (d + 1)/2 tells a^2.
        """
        variance = self.noise_scale**2
        excess = variance * (values.size + 1) / 2
        squares = np.maximum(values**2 - excess, 0.0)
        spread = np.exp(_LOG_SQUARES)[:, None] * squares + variance
        cost = np.sum(np.log(spread) + along**2 / spread, axis=1)
        log_square = _LOG_SQUARES[int(np.argmin(cost))]
        return float(np.sqrt(variance * np.exp(-log_square) + excess))
