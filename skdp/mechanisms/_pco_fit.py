r"""Sums over weighted rows in a released metric, and what released sums decide.

Notation (docs/proofs/preconditioned.md)
----------------------------------------
u, w     row in the metric and its weight
v        sum of w y u, halved for logistic: minus the gradient at zero    -> ``pull``
q        sums of y^2 and of min(r^2, 1), r the residual at the centre -> ``energies``
k        scale of the log-cosh loss                                   -> ``loss_scale``
c        second derivative of a row's loss, and its weight, on average
"""

import math

import numpy as np

from skdp._typing import FloatArray
from skdp.losses import LogCoshLoss, LogisticLoss, Loss, SquaredLoss
from skdp.mechanisms._pco_geometry import Geometry, weighted_table
from skdp.solvers import Guess, Table, WhitenedObjective

__all__ = ["WeightedFit", "first_center", "guessed_hessian", "loss_scale"]

#: A logistic loss bends by at most 1/4, and by less where it matters: a longer step.
_LOGISTIC_GAIN = 4.0 * 1.5
#: Scale of log-cosh in standard deviations of the residual, and bounds on the latter.
_DEVIATIONS, _LEAST_SQUARE, _MOST_DEVIATION = 1.5, 1e-4, 0.5
#: The scale grows with the rows per noise, by these powers above and below this floor.
_TYPICAL_FLOOR, _ABOVE, _BELOW = 0.006, 0.5, 0.3
_LEAST_SCALE, _MOST_SCALE = 0.05, 2.0
#: c of the logistic loss; it is 1/4 at zero.
_LOGISTIC_CURVATURE = 0.15


def first_center(
    geometry: Geometry, pull: FloatArray, energies: FloatArray | None
) -> FloatArray:
    """Return the centre of the first objective, a damped Newton step from zero.

    For log-cosh it is zero again where the residuals say it is no better.
    """
    if energies is None:
        return _LOGISTIC_GAIN * (geometry.newton @ pull)
    if energies[1] > energies[0]:
        return np.zeros_like(pull)
    out: FloatArray = geometry.newton @ pull
    return out


def loss_scale(geometry: Geometry, energies: FloatArray) -> float:
    """Return the scale of log-cosh, larger where there is less noise to hide in."""
    ratio = _TYPICAL_FLOOR * geometry.n_rows / geometry.floor
    growth = math.pow(ratio, _ABOVE if ratio > 1.0 else _BELOW)
    scale = _DEVIATIONS * _deviation(geometry, energies) * growth
    return min(max(scale, _LEAST_SCALE), _MOST_SCALE)


def _deviation(geometry: Geometry, energies: FloatArray) -> float:
    """Return the standard deviation of residuals, as far as released sums tell."""
    square = max(float(energies.min()) / geometry.n_rows, _LEAST_SQUARE)
    return min(math.sqrt(square), _MOST_DEVIATION)


def guessed_hessian(
    geometry: Geometry,
    moment: FloatArray,
    loss: LogisticLoss | LogCoshLoss,
    energies: FloatArray | None,
) -> Guess:
    r"""Return what the Hessian of the objectives is like: :math:`c A M A`.

    For log-cosh most rows have nearly the same c, the mean of
    :math:`\mathrm{sech}^2(r/k)` over normal residuals, to within some 10 %.

    Parameters
    ----------
    geometry : Geometry
    moment : ndarray of shape (d, d)
        M, the second moments without noise: private, as what is returned.
    loss : LogisticLoss or LogCoshLoss
    energies : ndarray of shape (2,), optional
        Released, for log-cosh.
    """
    turned = geometry.transform @ moment @ geometry.transform
    if energies is None or not isinstance(loss, LogCoshLoss):
        return Guess(_LOGISTIC_CURVATURE * turned, beats_parts=False)
    ratio = _deviation(geometry, energies) / loss.scale
    return Guess(turned / math.sqrt(1.0 + 2.0 * ratio**2), beats_parts=True)


class WeightedFit:
    """Weighted rows in the metric of a geometry. Every sum here is private.

    Parameters
    ----------
    table : Table
        Rows of norm at most ``radius``.
    logistic : bool
        Whether rows have labels, or targets.
    radius : float
    geometry : Geometry
        A function of released numbers.
    ridge : float
        Ridge of the objectives in the metric.
    """

    def __init__(
        self,
        table: Table,
        logistic: bool,
        radius: float,
        geometry: Geometry,
        ridge: float,
    ) -> None:
        self._rows = weighted_table(table, geometry, radius)
        self._transform = geometry.transform / radius
        self._logistic, self._ridge = logistic, ridge

    def pull(self) -> FloatArray:
        """Return minus the gradient at zero: of the squared loss for log-cosh."""
        loss = LogisticLoss() if self._logistic else SquaredLoss()
        return -self.objective(loss).gradient_at_zero()

    def energies(self, center: FloatArray) -> FloatArray:
        """Return sums of squared targets and of squared residuals at the centre."""
        total = np.zeros(2)
        for y, t in self.objective(SquaredLoss()).margins(center):
            targets = np.clip(y, -1.0, 1.0)
            residuals = targets - np.clip(t, -1.0, 1.0)
            total += targets @ targets, np.minimum(residuals**2, 1.0).sum()
        return total

    def objective(self, loss: Loss) -> WhitenedObjective:
        """Return the sum of a loss over the weighted rows, with the ridge."""
        return WhitenedObjective(self._rows, loss, self._ridge, self._transform)
