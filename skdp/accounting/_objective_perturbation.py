r"""Objective perturbation of the logistic loss.

Notation (docs/proofs/objective_perturbation.md)
------------------------------------------------
R, L      bound on a row's norm, on the slope of the loss
sigma     standard deviation of the linear noise, alpha the ridge
mu        R L / sigma                                       -> ``mu``
kappa     R^2 / alpha                                       -> ``curvature``
rho       zCDP cost of the final lattice noise              -> ``smoothing_rho``
p         slope of one row's loss over its bound, in [0, 1]
G         mu^2/2 + mu w, the loss of the Gaussian pair, w ~ N(0, 1)
psi(w)    sup over p of log(1 + kappa p(1-p)) + p G - p(1-p) mu^2/2
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from skdp._typing import FloatArray
from skdp.accounting._adjacency import Adjacency
from skdp.accounting._concentrated import ZeroConcentratedDP
from skdp.accounting._gaussian import gaussian_curve
from skdp.accounting._guarantee import Guarantee
from skdp.accounting._numbers import nonnegative, positive
from skdp.accounting._replacement import from_point, group_of_two, shared_profile
from skdp.accounting._smoothing import (
    NormalLoss,
    clipped_gaussian_loss,
    flat_loss,
    is_beyond,
)

__all__ = ["ObjectivePerturbationDP"]

#: Knots of the removal loss: the chord error is curvature / (4 * 4096^2) nats.
_KNOTS = 4097


def _concave_end(mu: float, kappa: float) -> float:
    """Return q such that the objective in p is concave on [0, q] and [1 - q, 1].

    Its second derivative is mu^2 - (2k + k^2 - 2ku)/(1+u)^2 with u = k p(1-p), and the
    fraction falls as u grows; between q and 1 - q the objective is convex.
    """
    square = mu * mu
    if square * (1.0 + kappa / 4.0) <= 2.0 * kappa:
        return 0.5
    if square >= 2.0 * kappa + kappa * kappa:
        return 0.0
    b = square + kappa
    # root of mu^2 u^2 + 2 b u - (2k + k^2 - mu^2), in the form without cancellation
    c = 2.0 * kappa + kappa * kappa - square
    u = c / (b + math.sqrt(b * b + square * c))
    return 0.5 * (1.0 - math.sqrt(max(0.0, 1.0 - 4.0 * u / kappa)))


def _concave_bound(
    G: FloatArray, mu: float, kappa: float, a: float, b: float
) -> FloatArray:
    """Bound the objective's supremum over [a, b], where it is concave in p.

    A tangent of a concave function lies above it, so the value at the ends of a tangent
    is a rigorous bound wherever the Newton search stopped.
    """

    def slope(p: FloatArray) -> FloatArray:
        u = kappa * p * (1.0 - p)
        out: FloatArray = (1.0 - 2.0 * p) * (kappa / (1.0 + u) - mu * mu / 2) + G
        return out

    low, high = np.full_like(G, a), np.full_like(G, b)
    # the maximiser of the closed form is a good start
    p = np.clip((kappa + G) / (2 * kappa), a, b)
    p = np.where(slope(low) <= 0.0, low, p)
    p = np.where(slope(high) >= 0.0, high, p)
    for _ in range(14):
        u = kappa * p * (1.0 - p)
        g = slope(p)
        curve = mu * mu - (2 * kappa + kappa * kappa - 2 * kappa * u) / (1 + u) ** 2
        low, high = np.where(g > 0.0, p, low), np.where(g < 0.0, p, high)
        step = p - g / np.minimum(curve, -1e-300)
        inside = (step >= low) & (step <= high)
        p = np.where(inside, step, np.where(low < high, 0.5 * (low + high), p))
    u = kappa * p * (1.0 - p)
    value = np.log1p(u) + p * G - p * (1.0 - p) * mu * mu / 2
    g = slope(p)
    out: FloatArray = value + np.maximum(g * (b - p), g * (a - p))
    return out


def removal_bound(G: FloatArray, mu: float, kappa: float) -> FloatArray:
    """Bound psi from above, given G in (-kappa, kappa).

    Where the objective is convex its supremum is at an end of a concave piece. The
    closed form (kappa + G)^2 / (4 kappa) follows from log(1+u) <= u.
    """
    q = _concave_end(mu, kappa)
    pieces = [(0.0, q), (1.0 - q, 1.0)]
    bounds = [_concave_bound(G, mu, kappa, a, b) for a, b in pieces]
    closed = (kappa + G) ** 2 / (4.0 * kappa)
    return np.minimum(np.maximum(*bounds), closed)


@lru_cache(maxsize=128)
def removal_loss(mu: float, kappa: float) -> NormalLoss:
    """Tabulate psi from above as a piecewise linear function of w.

    psi is convex in w, so chords between knots lie above it; it is 0 for G <= -kappa
    and G for G >= kappa, exactly.
    """
    ends = (np.array([-kappa, kappa]) - mu * mu / 2) / mu
    if kappa == 0.0 or mu * mu >= 2 * kappa + kappa * kappa or not ends[0] < ends[1]:
        return clipped_gaussian_loss(mu)
    # beyond 39 standard deviations the normal mass is zero in floats
    low, high = np.clip(ends, -39.0, 39.0)
    inner = np.linspace(float(low), float(high), _KNOTS)
    inside = inner[(inner > ends[0]) & (inner < ends[1])]
    knots = np.concatenate([ends[:1], np.unique(inside), ends[1:]])
    values = removal_bound(mu * mu / 2 + mu * knots, mu, kappa)
    values[0], values[-1] = 0.0, kappa
    return NormalLoss(knots, np.maximum.accumulate(values), mu, gaussian=False)


@dataclass(frozen=True, slots=True, repr=False)
class ObjectivePerturbationDP(Guarantee):
    r"""Noisy minimiser of a ridge-penalised sum of logistic losses, on a lattice.

    The loss of removing a row is at most psi(w), of adding one at most max(0, G), and
    the lattice noise composes with both:

    .. math:: \delta(\varepsilon) = E_{w \sim N(0,1)}\, D_2(\varepsilon - \psi(w)).

    For epsilon >= curvature and no smoothing this is exactly the Gaussian profile: the
    Jacobian of the minimiser costs nothing.

    Parameters
    ----------
    mu : float
        R L / sigma: bound on a row's gradient over the noise's standard deviation, > 0.
    curvature : float
        R^2 / alpha, the squared row norm over the ridge, >= 0.
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
    Kifer, Smith and Thakurta (2012); Redberg, Koskela and Wang (2023); the joint bound
    used here is derived in docs/proofs/objective_perturbation.md.

    Examples
    --------
    >>> from skdp.accounting import ObjectivePerturbationDP, gaussian_delta
    >>> g = ObjectivePerturbationDP(0.25, 1.0)
    >>> g.delta(1.0) == gaussian_delta(1.0, 0.25)
    True
    >>> ObjectivePerturbationDP(0.25, 2.0).delta(1.0)
    1.09029...e-05
    """

    mu: float
    curvature: float
    smoothing_rho: float = 0.0

    def _check(self) -> None:
        remedy = "Pass the row gradient bound over the noise's standard deviation."
        self._set("mu", positive("mu", self.mu, remedy))
        self._set("curvature", nonnegative("curvature", self.curvature))
        self._set("smoothing_rho", nonnegative("smoothing_rho", self.smoothing_rho))

    def _delta(self, epsilon: FloatArray) -> FloatArray:
        if self.adjacency is Adjacency.REPLACE_ONE:
            return self._replace_delta(epsilon)
        # psi >= max(0, G) everywhere, so removal is the worse direction
        return self._remove_delta(epsilon)

    def _delta_directed(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
        if self.adjacency is Adjacency.REPLACE_ONE:
            values = self._delta(epsilon)
            return values, values
        add = clipped_gaussian_loss(self.mu).smoothed(epsilon, self.smoothing_rho)
        return self._remove_delta(epsilon), add

    def _remove_delta(self, epsilon: FloatArray) -> FloatArray:
        flat = is_beyond(epsilon, self.curvature, self.smoothing_rho)
        table = flat_loss if flat else removal_loss
        loss = table(self.mu, self.curvature)
        return loss.smoothed(epsilon, self.smoothing_rho)

    def _replace_delta(self, epsilon: FloatArray) -> FloatArray:
        def ideal(e: FloatArray) -> FloatArray:
            return _replace_curve(e, self.mu, self.curvature)

        return shared_profile(ideal, epsilon, self.smoothing_rho)

    def _with_smoothing(self, rho: float) -> "ObjectivePerturbationDP":
        return self._with(self.mu, self.curvature, rho)

    def _components(self) -> tuple[Guarantee, ...]:
        if self.smoothing_rho == 0.0:
            return (self,)
        ideal = ObjectivePerturbationDP(
            self.mu, self.curvature, adjacency=self.adjacency
        )
        blur = ZeroConcentratedDP(self.smoothing_rho, adjacency=self.adjacency)
        return (ideal, blur)

    def _to_replace_one(self) -> "ObjectivePerturbationDP":
        """Keep the numbers: they describe the release, whose replace-one bound differs.

        The lattice noise hides the solver's error around one ideal answer, whatever the
        neighbours are, so its cost stays too.
        """
        return self._with(
            self.mu,
            self.curvature,
            self.smoothing_rho,
            adjacency=Adjacency.REPLACE_ONE,
        )


def _replace_curve(epsilon: FloatArray, mu: float, kappa: float) -> FloatArray:
    """Bound the replace-one profile of the ideal release, epsilon >= 0.

    The gradient term is convex in the two slopes, so its maximum is at a vertex of the
    square. The generic bound charges the Jacobian in full and holds from c on; the
    logistic one charges what the gradient term leaves of it and holds from kappa on.
    Below its threshold each still says what its first point implies.
    """
    c = math.log1p(kappa / 4.0)
    # kappa - mu^2/2 < kappa, so the logistic bound holds on all of [kappa, inf)
    spare = max(0.0, kappa - mu * mu / 2)

    def generic(e: FloatArray) -> FloatArray:
        return gaussian_curve(e - c, 2 * mu) + 2 * gaussian_curve(e - c, mu)

    def logistic(e: FloatArray) -> FloatArray:
        rest = gaussian_curve(e, mu) + gaussian_curve(e - spare, mu)
        out: FloatArray = gaussian_curve(e, 2 * mu) + rest
        return out

    removal = removal_loss(mu, kappa).hockey_stick(epsilon / 2)
    bounds = [group_of_two(removal, epsilon), from_point(generic, c, epsilon)]
    bounds.append(from_point(logistic, kappa, epsilon))
    out: FloatArray = np.minimum(np.minimum.reduce(bounds), 1.0)
    return out
