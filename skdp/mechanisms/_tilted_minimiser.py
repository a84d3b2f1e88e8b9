"""The minimiser of a tilted objective as a release, whatever the number of margins.

Derived in docs/proofs/objective_perturbation.md and softmax_perturbation.md.
"""

from abc import abstractmethod

import numpy as np

from skdp._typing import FloatArray
from skdp.mechanisms._base import Mechanism, Release
from skdp.mechanisms._noise import GaussianNoise, KNormNoise
from skdp.mechanisms._rows_fit import check_rows
from skdp.mechanisms._smoothing import LatticeSmoothing
from skdp.random import RandomSource
from skdp.rows import PrivateRows
from skdp.solvers import MatrixObjective, Objective, Solution

__all__ = ["TiltedMinimiser"]


class TiltedMinimiser(Mechanism[PrivateRows, FloatArray]):
    """Draw the noise, solve to a public tolerance, smooth: alike for every loss."""

    radius: float
    n_coefficients: int
    noise_law: GaussianNoise | KNormNoise
    smoothing: LatticeSmoothing

    @abstractmethod
    def objective(
        self, data: PrivateRows, linear: FloatArray | None = None
    ) -> Objective | MatrixObjective:
        """Return J0, or J when the noise vector ``linear`` is given."""

    @abstractmethod
    def _minimised(self, data: PrivateRows, linear: FloatArray) -> Solution:
        """Return the minimiser of J, certified to the public tolerance."""

    def release(self, data: PrivateRows, source: RandomSource) -> Release[FloatArray]:
        """Draw the noise, solve to the public tolerance, smooth, and publish.

        Parameters
        ----------
        data : PrivateRows
            Rows with labels as the loss expects them; clipped to ``radius`` by their
            own ball.
        source : RandomSource
            Where the randomness comes from.

        Returns
        -------
        Release
            ``output`` is flat: all coefficients, the intercept's last; of several
            classes one class after the other. ``diagnostics`` are NOT private.

        Raises
        ------
        ValueError
            If the public shape, norm bound or label set of ``data`` is not the
            mechanism's.
        """
        check_rows(self, data)
        b = self.noise_law.draw(self.smoothing.n_features, source)
        solution = self._minimised(data, b)
        smoothed = self.smoothing.release(solution.x, source)
        return Release(
            output=smoothed.output,
            spent=self.guarantee,
            diagnostics={
                "minimiser": solution.x,
                "gradient_norm": solution.gradient_norm,
                "n_passes": solution.n_passes,
            },
        )

    def noise(self, output: FloatArray, data: PrivateRows) -> FloatArray:
        """Recover ``b = -grad J0(theta)``, the noise that makes ``output`` optimal."""
        gradient: FloatArray = self.objective(data).gradient(output)
        return -gradient

    def log_density(self, output: FloatArray, data: PrivateRows) -> float:
        """Log density of the exact minimiser: noise density times the Jacobian."""
        gradient, hessian = self.objective(data).gradient_hessian(output)
        _, log_det = np.linalg.slogdet(hessian)
        return self.noise_law.log_density(-gradient) + float(log_det)
