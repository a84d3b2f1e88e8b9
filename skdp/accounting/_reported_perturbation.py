r"""Objective perturbation together with a noisy Hessian and gradient at its answer.

Notation (docs/proofs/reported_perturbation.md)
-----------------------------------------------
R        bound on a row's norm
mu1      R / sigma, of the noise in the objective             -> ``mu``
kappa    R^2 / alpha                                          -> ``curvature``
mu2      R / s2, of the noisy gradient                        -> ``gradient_mu``
m3       R^2 / s3, four times what the noisy Hessian's largest change, R^2 / 4, is over
         its scale s3                                         -> 4 ``hessian_mu``
rho      zCDP cost of all lattice noise                       -> ``smoothing_rho``
M        root of mu1^2 + mu2^2
p, q     slope of one row's loss over its bound, in [0, 1]; q = p (1 - p)
w, w3    independent standard normal variables; G = M^2/2 + M w
psi      sup over p of log(1 + kappa q) + p^2 M^2/2 + p M w + q^2 m3^2/2 + q m3 w3
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from skdp._typing import FloatArray
from skdp.accounting._adjacency import Adjacency
from skdp.accounting._concentrated import ZeroConcentratedDP
from skdp.accounting._finite_law import FiniteLaw, chord_masses
from skdp.accounting._guarantee import Guarantee
from skdp.accounting._numbers import mirrored, nonnegative
from skdp.accounting._objective_perturbation import removal_loss
from skdp.accounting._smoothing import NormalLoss

__all__ = ["ReportedPerturbationDP"]

#: Least normal float: more than the tails that the theorem and the evaluation leave
#: out, which are below exp(-720).
_TAILS = float(np.finfo(np.float64).tiny)
#: Rounds in which the point of tangency moves to the maximiser; every round is valid.
_ROUNDS = 2
#: A normal variable is above this with probability 0 in floats.
_FAR = 39.0
#: Largest epsilon at which a replacement is bounded; from there on it says the same.
_LARGEST_REPLACED = 1000.0


def _spread(start: float, step: float, bulk: float, growth: float) -> FloatArray:
    """Return nodes ``step`` apart, closer as the normal density falls off faster."""
    nodes = [start]
    while nodes[-1] < bulk:
        nodes.append(nodes[-1] + step / max(nodes[-1], 1.0))
    n_beyond = math.ceil(math.log(_FAR / nodes[-1]) / math.log(growth))
    beyond = np.geomspace(nodes[-1], _FAR, n_beyond + 1)
    return np.concatenate([nodes, beyond[1:]])


#: Values that stand for w: the chords add 0.1 % to delta down to 1e-13.
_SLOPE_NODES = np.concatenate(
    [np.arange(-8.0, -2.0, 0.2), _spread(-2.0, 0.08, 7.5, 1.03)]
)
#: Values that stand for w3, on which less depends.
_CURVATURE_NODES = np.concatenate(
    [np.arange(-3.0, 6.0, 0.3), np.geomspace(6.0, _FAR, 17)]
)


def joint_loss(
    w: FloatArray, w3: FloatArray, joint_mu: float, kappa: float, m3: float
) -> FloatArray:
    r"""Bound psi from above on a grid, shape (w3, w).

    With p^2 = p - q the objective is f(q) + q^2 b/2 + q (m3 w3 - M^2/2) + p G, where
    f(q) = log(1 + kappa q) + q^2 a/2 is concave on [0, 1/4] and a + b = m3^2. A tangent
    of f at any point and q^2 <= q/4 leave constant + k q + p G, whose supremum is
    elementary.
    """
    square = joint_mu * joint_mu
    G = square / 2 + joint_mu * w
    a = min(m3 * m3, (kappa / (1.0 + kappa / 4)) ** 2)
    fixed = (m3 * w3 + (m3 * m3 - a) / 8 - square / 2)[:, None]
    bound, q = np.full((w3.size, w.size), np.inf), np.zeros((1, 1))
    for _ in range(1 + _ROUNDS):
        slope = kappa / (1.0 + kappa * q) + a * q
        constant = np.log1p(kappa * q) + a * q * q / 2 - slope * q
        k = fixed + slope
        inner = np.clip(0.5 + 0.5 * G / np.where(k > 0.0, k, 1.0), 0.0, 1.0)
        p = np.where(k > 0.0, inner, G > 0.0)
        q = p * (1.0 - p)
        bound = np.minimum(bound, constant + k * q + p * G)
    # both ends, p = 0 and p = 1, are among the candidates whatever the rounding
    out: FloatArray = np.maximum(bound, np.maximum(G, 0.0))
    return out


@lru_cache(maxsize=8)
def joint_law(joint_mu: float, kappa: float, m3: float) -> FiniteLaw:
    """Return a law of few losses whose profile is above that of psi.

    The integrand is convex in exp(-M w), and in exp(-m3 w3 / 4) as q <= 1/4.
    """
    w, w3 = _SLOPE_NODES, _CURVATURE_NODES
    losses = joint_loss(w, w3, joint_mu, kappa, m3)
    masses = np.outer(chord_masses(w3, m3 / 4), chord_masses(w, joint_mu))
    return FiniteLaw.of(losses.ravel(), masses.ravel())


@dataclass(frozen=True, slots=True, repr=False)
class ReportedPerturbationDP(Guarantee):
    r"""Noisy minimiser of a logistic objective, and noisy derivatives of it there.

    Released together: the minimiser of a ridge-penalised sum of logistic losses with a
    noise vector in its linear term, and at that point the Hessian of the sum of losses
    and ridge, its gradient, or both, with noise of their own; all on lattices. What one
    row adds to each is a function of one slope p, so the losses are bounded jointly:

    .. math:: \delta(\varepsilon) = E_{w, w_3 \sim N(0,1)}\,
              D_2(\varepsilon - \psi(w, w_3)).

    Computed from above: never below what the proof allows for, and by less than 1 %
    above the expectation around delta = 1e-6.

    Parameters
    ----------
    mu : float
        R / sigma: bound on a row's gradient over the standard deviation of the noise in
        the objective, > 0.
    curvature : float
        R^2 / alpha, the squared row norm over the ridge, >= 0.
    hessian_mu : float, default=0.0
        R^2 / 4 over the noise scale of the Hessian, >= 0; 0 where none is released.
    gradient_mu : float, default=0.0
        R over the noise scale of the gradient, >= 0; 0 where none is released.
    smoothing_rho : float, default=0.0
        zCDP cost of all lattice noise, >= 0.
    adjacency : Adjacency or str, default="add-remove"
        Which data sets count as neighbours. Replacing counts as removing and adding.
    assumptions : tuple of str, default=()
        What the guarantee takes as given.
    source : str, default=""
        Theorem, paper or proof note.
    observes : set of Channel or str, default={"output"}
        What the attacker may watch.

    Raises
    ------
    ValueError
        If a number is out of range.

    References
    ----------
    Redberg and Wang (2021) release such reports and charge their parts apart; the joint
    bound used here is derived in docs/proofs/reported_perturbation.md.

    Examples
    --------
    >>> from skdp.accounting import ObjectivePerturbationDP, ReportedPerturbationDP
    >>> alone = ObjectivePerturbationDP(0.23, 0.95)
    >>> round(alone.epsilon(1e-6), 3)
    0.97
    >>> reported = ReportedPerturbationDP(0.23, 0.95, hessian_mu=0.053)
    >>> round(reported.epsilon(1e-6), 3)
    0.972
    """

    mu: float
    curvature: float
    hessian_mu: float = 0.0
    gradient_mu: float = 0.0
    smoothing_rho: float = 0.0

    def _check(self) -> None:
        for name in self._own_fields():
            self._set(name, nonnegative(name, getattr(self, name)))
        if self.mu == 0.0:
            raise ValueError(
                "mu is out of range, got 0. Allowed: mu > 0. "
                "Pass the row gradient bound over the noise's standard deviation."
            )

    @property
    def joint_mu(self) -> float:
        """Size of the two releases whose loss is driven by the slope itself."""
        return math.hypot(self.mu, self.gradient_mu)

    def _delta(self, epsilon: FloatArray) -> FloatArray:
        if self.adjacency is Adjacency.REPLACE_ONE:
            return self._replace_delta(epsilon)
        # the Jacobian can only lower the loss of adding: removal is worse
        return self._profile(epsilon, self.curvature)

    def _delta_directed(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
        values = self._delta(epsilon)
        if self.adjacency is Adjacency.REPLACE_ONE:
            return values, values
        return values, self._profile(epsilon, 0.0)

    def _replace_delta(self, epsilon: FloatArray) -> FloatArray:
        """Bound a removal and an addition, half of epsilon each."""
        both = mirrored(self._removed_and_added, epsilon)
        # the bound is no profile of one mechanism: keep it nonincreasing across zero
        at_zero = self._removed_and_added(np.zeros(1))
        return np.where(epsilon < 0.0, np.maximum(both, at_zero), both)

    def _removed_and_added(self, epsilon: FloatArray) -> FloatArray:
        # beyond, the factor would make something of what the tails leave out
        half = np.minimum(epsilon, _LARGEST_REPLACED) / 2
        removed = self._profile(half, self.curvature)
        total = removed + np.exp(half) * self._profile(half, 0.0)
        out: FloatArray = np.minimum(total, 1.0)
        return out

    def _profile(self, epsilon: FloatArray, kappa: float) -> FloatArray:
        loss: NormalLoss | FiniteLaw = removal_loss(self.joint_mu, kappa)
        if self.hessian_mu > 0.0:
            loss = joint_law(self.joint_mu, kappa, 4.0 * self.hessian_mu)
        delta = loss.smoothed(epsilon, self.smoothing_rho)
        out: FloatArray = np.minimum(delta + _TAILS, 1.0)
        return out

    def _components(self) -> tuple[Guarantee, ...]:
        if self.smoothing_rho == 0.0:
            return (self,)
        ideal = ReportedPerturbationDP(
            self.mu,
            self.curvature,
            self.hessian_mu,
            self.gradient_mu,
            adjacency=self.adjacency,
        )
        blur = ZeroConcentratedDP(self.smoothing_rho, adjacency=self.adjacency)
        return (ideal, blur)

    def _to_replace_one(self) -> "ReportedPerturbationDP":
        """Keep the numbers: they describe the release, whose replace-one bound differs.

        The lattice noise hides errors of computation, whatever the neighbours are.
        """
        numbers = (getattr(self, name) for name in self._own_fields())
        return self._with(*numbers, adjacency=Adjacency.REPLACE_ONE)
