r"""Objective perturbation of any loss of bounded slope.

Notation (docs/proofs/objective_perturbation.md, "Other losses")
----------------------------------------------------------------
R, L, L'   bound on a row's norm, on the slope of the loss, on that of the other sign
sigma      standard deviation of the linear noise, alpha the ridge
mu, nu     R L / sigma, R L' / sigma                   -> ``mu``, ``opposite_mu``
B          R^2 sup f'' / alpha                         -> ``curvature``
F, a       R^2 f'' / alpha <= F (1-p) (a + (1-a) p)    -> ``fading``, ``lag``
rho        zCDP cost of the final lattice noise        -> ``smoothing_rho``
"""

import math
from dataclasses import dataclass

import numpy as np

from skdp._typing import FloatArray
from skdp.accounting._adjacency import Adjacency
from skdp.accounting._concentrated import ZeroConcentratedDP
from skdp.accounting._directions import both_directions
from skdp.accounting._gaussian import gaussian_curve
from skdp.accounting._guarantee import Guarantee
from skdp.accounting._numbers import nonnegative, positive, within
from skdp.accounting._replacement import from_point, group_of_two, shared_profile
from skdp.accounting._tilted_loss import (
    addition_profile,
    corner_profile,
    free_level,
    removal_profile,
)

__all__ = ["TiltedObjectiveDP"]


@dataclass(frozen=True, slots=True, repr=False)
class TiltedObjectiveDP(Guarantee):
    r"""Noisy minimiser of a ridge-penalised sum of losses of bounded slope.

    Removing a row loses at most psi(w), adding one at most max(0, V(w)), w normal: psi
    charges the Jacobian of the minimiser together with the gradient, V has a branch for
    each sign of the slope. The lattice noise composes with both.

    .. math:: \delta(\varepsilon) = E_{w \sim N(0,1)}\, D_2(\varepsilon - \ell(w)).

    Where the curvature of the loss fades as its slope grows, the Jacobian costs nothing
    for epsilon >= ``fading``.

    Parameters
    ----------
    mu : float
        R L / sigma: bound on a row's gradient over the noise's standard deviation, > 0.
    opposite_mu : float
        The same for the slopes of the other sign, at most ``mu``; 0 where the label
        tells the sign of the slope.
    curvature : float
        Largest curvature of one row's loss over the ridge, >= 0.
    fading : float, default=inf
        F such that a row with slope p L, 0 <= p <= 1, has a curvature over the ridge of
        at most F (1-p) (a + (1-a) p); inf where the curvature stays.
    lag : float, default=1.0
        a in [0, 1]: how late the curvature fades.
    smoothing_rho : float, default=0.0
        zCDP cost of the final lattice noise, >= 0.
    adjacency : Adjacency or str, default="add-remove"
        Which data sets count as neighbours.
    assumptions : tuple of str, default=()
        What the guarantee takes as given.
    source : str, default=""
        Theorem, paper or proof note.
    observes : set of Channel or str, default={"output"}
        What the attacker may watch.

    References
    ----------
    Redberg, Koskela and Wang (2023) charge the two terms apart; the bounds used here
    are derived in docs/proofs/objective_perturbation.md.

    Examples
    --------
    >>> from skdp.accounting import TiltedObjectiveDP, gaussian_delta
    >>> huber = TiltedObjectiveDP(0.25, 0.25, 0.1)
    >>> log_cosh = TiltedObjectiveDP(0.25, 0.25, 0.5, fading=1.0, lag=0.5)
    >>> huber.delta(1.0), log_cosh.delta(1.0)
    (1.41396...e-05, 5.84854...e-06)
    >>> log_cosh.delta(1.0) / gaussian_delta(1.0, 0.25)
    2.0000...
    """

    mu: float
    opposite_mu: float
    curvature: float
    fading: float = math.inf
    lag: float = 1.0
    smoothing_rho: float = 0.0

    def _check(self) -> None:
        remedy = "Pass the row gradient bound over the noise's standard deviation."
        self._set("mu", positive("mu", self.mu, remedy))
        self._set("opposite_mu", within("opposite_mu", self.opposite_mu, 0.0, self.mu))
        self._set("curvature", nonnegative("curvature", self.curvature))
        stays = self.fading == math.inf
        fading = math.inf if stays else nonnegative("fading", self.fading)
        self._set("fading", fading)
        self._set("lag", within("lag", self.lag, 0.0, 1.0))
        self._set("smoothing_rho", nonnegative("smoothing_rho", self.smoothing_rho))

    def _delta(self, epsilon: FloatArray) -> FloatArray:
        if self.adjacency is Adjacency.REPLACE_ONE:
            return shared_profile(self._replace_curve, epsilon, self.smoothing_rho)
        return np.maximum(self._remove_delta(epsilon), self._add_delta(epsilon))

    def _delta_directed(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
        if self.adjacency is Adjacency.REPLACE_ONE:
            values = self._delta(epsilon)
            return values, values
        return both_directions(self._remove_delta, self._add_delta, epsilon)

    def _remove_delta(self, epsilon: FloatArray) -> FloatArray:
        return self._removal(epsilon, self.smoothing_rho)

    def _removal(self, epsilon: FloatArray, rho: float) -> FloatArray:
        row = self.mu, self.curvature, self.fading, self.lag
        return removal_profile(epsilon, *row, rho)

    def _add_delta(self, epsilon: FloatArray) -> FloatArray:
        return addition_profile(epsilon, self.mu, self.opposite_mu, self.smoothing_rho)

    def _replace_curve(self, epsilon: FloatArray) -> FloatArray:
        """Bound the replace-one profile of the ideal release, epsilon >= 0.

        Slopes at their ends with the Jacobian in full; with what the gradient leaves of
        it; a removal and an addition.
        """
        mu, nu = self.mu, self.opposite_mu
        c = math.log1p(self.curvature)

        def full(e: FloatArray) -> FloatArray:
            return corner_profile(e - c, mu, nu)

        half = np.maximum(
            self._removal(epsilon / 2, 0.0), addition_profile(epsilon / 2, mu, nu, 0.0)
        )
        bounds = [group_of_two(half, epsilon), from_point(full, c, epsilon)]
        if self.fading != math.inf:
            bounds.append(from_point(self._fading_curve, self.fading, epsilon))
        out: FloatArray = np.minimum(np.minimum.reduce(bounds), 1.0)
        return out

    def _fading_curve(self, epsilon: FloatArray) -> FloatArray:
        """Bound a replacement where the curvature fades, epsilon >= ``fading``."""
        level = free_level(self.mu, self.fading, self.lag)
        rest = gaussian_curve(epsilon - level, self.mu)
        if self.opposite_mu == 0.0:
            # one row's slope is 0 at an end: that corner is in the rest
            ends = gaussian_curve(epsilon, 2 * self.mu) + gaussian_curve(
                epsilon, self.mu
            )
            return ends + rest
        # a bend that fades at the larger slope need not fade at the smaller one
        return corner_profile(epsilon, self.mu, self.mu) + 2 * rest

    def _components(self) -> tuple[Guarantee, ...]:
        if self.smoothing_rho == 0.0:
            return (self,)
        ideal = TiltedObjectiveDP(*self._row(), adjacency=self.adjacency)
        blur = ZeroConcentratedDP(self.smoothing_rho, adjacency=self.adjacency)
        return (ideal, blur)

    def _row(self) -> tuple[float, ...]:
        """Return what is known of one row."""
        return self.mu, self.opposite_mu, self.curvature, self.fading, self.lag

    def _with_smoothing(self, rho: float) -> "TiltedObjectiveDP":
        return self._with(*self._row(), rho)

    def _to_replace_one(self) -> "TiltedObjectiveDP":
        """Keep the numbers: they describe the release, whatever the neighbours are."""
        numbers = (*self._row(), self.smoothing_rho)
        return self._with(*numbers, adjacency=Adjacency.REPLACE_ONE)
