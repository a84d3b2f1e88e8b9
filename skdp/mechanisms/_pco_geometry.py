r"""What a released second moment says: a metric, a norm bound, and weights of rows.

Everything here is a function of the released matrix and of public numbers.

Notation (docs/proofs/preconditioned.md, "Geometry")
----------------------------------------------------
x      row over the bound of its norm, intercept constant included
S      released second moment, sum of x x' plus noise                  -> ``moment``
e, V   eigenvalues, at least 0, and eigenvectors of S
t      ridge below which e is noise                                    -> ``floor``
c      norm at which rows begin to lose weight, in the metric
A      :math:`V (e + t)^{-3/8} V^\top / c`, symmetric                  -> ``transform``
u      A x, a row in the metric, |u| at most ``longest``
w      min(1, 1/|u|, rho/|u|^2): so w |u| <= 1 and w |u|^2 <= rho
rho    at least 1, at most 2                                   -> ``curvature_ratio``
n      trace of S, an estimate of the number of rows                   -> ``n_rows``
"""

import math
from dataclasses import dataclass

import numpy as np

from skdp._typing import FloatArray, MatrixLike
from skdp.mechanisms._pco_lengths import RowLengths
from skdp.solvers import Table

__all__ = ["Geometry", "geometry_of", "weighted_table"]

#: The floor in units of the largest eigenvalue of the noise alone, s sqrt(2 d).
_FLOOR = 0.5
#: Power of e + t in A^-2: 1 would whiten, 0 would leave the rows as they are.
_POWER = 0.75
#: c^2 over the mean of |u|^2 where noise is large, and the largest ratio for log-cosh.
_LEAST_RATIO, _MOST_RATIO = 0.6, 3.0
#: Largest share of the longest row that c may be, unless no row is to lose weight.
_CAP = 0.7
#: Smallest share of the longest row that c may be.
_LEAST_SHARE = 1e-3
#: Bound on the ratio of w |u|^2 to (w |u|)^2 where both are largest.
_CURVATURE_RATIO = 2.0
#: Excess risk by noise at which weights begin to fade out, and curvature of a row.
_NEGLIGIBLE_RISK, _ROW_CURVATURE = 2e-4, 0.1
#: Floor per row at which the ratio begins to grow, for log-cosh.
_TYPICAL_FLOOR = 0.006


@dataclass(frozen=True, slots=True, eq=False)
class Geometry:
    """Public consequences of a released second moment.

    Attributes
    ----------
    moment : ndarray of shape (d, d)
        Second moments of rows of norm at most one, with noise.
    transform : ndarray of shape (d, d)
        Symmetric A: coefficients are A times what is minimised.
    newton : ndarray of shape (d, d)
        Turns a gradient in the metric into a damped Newton step, for losses whose
        second derivative is 1.
    curvature_ratio : float
        rho.
    longest : float
        Bound on the norm of a row in the metric, >= 1.
    n_rows : float
        Estimated number of rows, >= 1.
    floor : float
        Ridge below which eigenvalues are noise.
    """

    moment: FloatArray
    transform: FloatArray
    newton: FloatArray
    curvature_ratio: float
    longest: float
    n_rows: float
    floor: float

    def weights(self, norms: FloatArray) -> FloatArray:
        """Return the weights of rows of given norms in the metric, shape (n,)."""
        with np.errstate(divide="ignore", over="ignore"):
            near = 1.0 / norms
            far = self.curvature_ratio * near * near
        out: FloatArray = np.minimum(1.0, np.minimum(near, far))
        return out


def geometry_of(
    moment: FloatArray, noise_scale: float, phase_scale: float | None
) -> Geometry:
    """Return the geometry of a released moment.

    Parameters
    ----------
    moment : ndarray of shape (d, d)
        Symmetric.
    noise_scale : float
        Standard deviation of the noise on its diagonal.
    phase_scale : float, optional
        Standard deviation of the noise of the objective for a gradient bound of one.
        With it weights fade out as their excess risk is outweighed; without it the
        ratio of c^2 to the mean of squares grows with the number of rows up to 3.

    Returns
    -------
    Geometry
    """
    values, axes = np.linalg.eigh(moment)
    values = np.maximum(values, 0.0)
    floor = _FLOOR * noise_scale * math.sqrt(2.0 * len(moment))
    n_rows = max(float(np.trace(moment)), 1.0)
    squares = (values + floor) ** _POWER
    stretch = squares**-0.5
    longest = float(stretch.max())
    mean = max(float(np.sum(values / squares)) / n_rows, 1e-12)
    if phase_scale is None:
        growth = math.sqrt(_TYPICAL_FLOOR * n_rows / floor)
        ratio = min(_LEAST_RATIO * max(1.0, growth), _MOST_RATIO)
        cap = _CAP
    else:
        spread = float(np.sum(squares / np.maximum(values, floor)))
        risk = 0.5 * phase_scale**2 * mean * spread / (_ROW_CURVATURE * n_rows)
        ratio = max(_LEAST_RATIO, math.sqrt(_NEGLIGIBLE_RISK / risk))
        cap = 1.0 if ratio > _LEAST_RATIO else _CAP
    c = min(math.sqrt(ratio * mean), cap * longest)
    c = max(c, _LEAST_SHARE * longest)
    bend = c * c * squares / (values + floor)
    return Geometry(
        moment=moment,
        transform=(axes * (stretch / c)) @ axes.T,
        newton=(axes * bend) @ axes.T,
        curvature_ratio=min(_CURVATURE_RATIO, longest / c),
        longest=longest / c,
        n_rows=n_rows,
        floor=floor,
    )


def weighted_table(table: Table, geometry: Geometry, radius: float) -> Table:
    """Return a table whose rows weigh what the geometry says.

    Parameters
    ----------
    table : Table
        Rows of norm at most ``radius``.
    geometry : Geometry
    radius : float

    Returns
    -------
    Table
        Weights are computed in its first pass.
    """
    if geometry.longest <= 1.0:
        # no row is longer than one in the metric
        return table
    # the table's rows are in its own units
    lengths = RowLengths(geometry.transform * (table.unit / radius), table.constant)

    def weigh(x: MatrixLike, factors: FloatArray) -> FloatArray:
        return geometry.weights(lengths(x, factors))

    return table.weighted_by(weigh)
