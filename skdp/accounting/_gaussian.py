r"""Gaussian differential privacy, and the analytic Gaussian mechanism.

Notation
--------
mu     sensitivity over standard deviation            -> ``mu``
M(x)   Mills ratio :math:`\Phi(-x) / \varphi(x)`         -> ``_mills``
x, y   :math:`\varepsilon/\mu \mp \mu/2`
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr, ndtri

from skdp._typing import ArrayLike, FloatArray
from skdp.accounting._guarantee import Guarantee
from skdp.accounting._numbers import (
    first_at_most,
    like_input,
    mirrored,
    nonnegative,
    probability,
    real_vector,
)

__all__ = ["GaussianDP", "gaussian_delta", "gaussian_mu"]

#: Below this mu the two tail terms nearly cancel; the integral form does not.
_SMALL_MU = 0.5
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
#: Relative slack that covers rounding in log_ndtr and exp (measured below 1e-12).
_ROUND_DOWN = 1.0 - 2.0**-38


def _tail_difference(epsilon: FloatArray, mu: float) -> FloatArray:
    """Evaluate the two-tail formula in log space, so that no tail underflows early."""
    a = log_ndtr(mu / 2 - epsilon / mu)
    b = epsilon + log_ndtr(-mu / 2 - epsilon / mu)
    out: FloatArray = np.exp(a) * -np.expm1(np.minimum(b - a, 0.0))
    return out


def _tail_integral(epsilon: FloatArray, mu: float) -> FloatArray:
    r"""Evaluate delta without cancellation when mu is small.

    With :math:`e^\varepsilon \varphi(y) = \varphi(x)`, delta is
    :math:`\varphi(x) (M(x) - M(y)) = \varphi(x) \int_x^y (1 - u M(u)) du`.
    """
    x = epsilon / mu - mu / 2
    u = x[..., None] + mu / 2 * (1.0 + _NODES)
    mills = math.sqrt(math.pi / 2) * erfcx(u / math.sqrt(2.0))
    # beyond u = 1e4 the leading term of the series 1/u^2 - 3/u^4 + ... is an upper
    # bound, and u M(u) is one to rounding
    far = np.maximum(np.abs(u), 1e4)
    slope = np.where(u < 1e4, 1.0 - u * mills, 1.0 / far**2)
    log_density = -0.5 * x * x - 0.5 * math.log(2 * math.pi)
    out: FloatArray = np.exp(log_density) * (mu / 2) * (slope @ _WEIGHTS)
    return out


def _nonnegative_delta(epsilon: FloatArray, mu: float) -> FloatArray:
    form = _tail_integral if mu < _SMALL_MU else _tail_difference
    return form(epsilon, mu)


def gaussian_curve(epsilon: FloatArray, mu: float) -> FloatArray:
    """Evaluate the Gaussian profile at any real epsilon, unchecked."""
    if mu == 0.0:
        return np.maximum(-np.expm1(np.minimum(epsilon, 0.0)), 0.0)
    return mirrored(lambda e: _nonnegative_delta(e, mu), epsilon)


def gaussian_delta(epsilon: ArrayLike, mu: float) -> float | FloatArray:
    r"""Return the exact delta of a Gaussian release.

    .. math:: \Phi(\mu/2 - \varepsilon/\mu)
              - e^{\varepsilon} \Phi(-\mu/2 - \varepsilon/\mu)

    Parameters
    ----------
    epsilon : float or array of any shape
        Any real numbers, in nats.
    mu : float
        L2 sensitivity over standard deviation, >= 0.

    Returns
    -------
    float or array of the same shape
        Within [0, 1].

    References
    ----------
    Balle and Wang (2018), Improving the Gaussian mechanism for differential privacy:
    analytical calibration and optimal denoising.

    Examples
    --------
    >>> from skdp.accounting import gaussian_delta
    >>> gaussian_delta(1.0, 0.25)
    2.924272...e-06
    """
    mu = nonnegative("mu", mu)
    array = real_vector("epsilon", epsilon)
    return like_input(gaussian_curve(array.ravel(), mu), array)


def gaussian_mu(epsilon: float, delta: float) -> float:
    """Return the largest mu that is (epsilon, delta)-DP, rounded down.

    The standard deviation to use is the L2 sensitivity divided by this number.

    Parameters
    ----------
    epsilon : float
        Target privacy loss in nats, >= 0.
    delta : float
        Target delta, within (0, 1).

    Returns
    -------
    float
        Satisfies ``gaussian_delta(epsilon, result) <= delta``.

    Raises
    ------
    ValueError
        When delta is 0: no Gaussian release is purely private.

    References
    ----------
    Balle and Wang (2018).

    Examples
    --------
    >>> from skdp.accounting import gaussian_mu
    >>> 1 / gaussian_mu(1.0, 1e-6)
    4.224678...
    """
    epsilon = nonnegative("epsilon", epsilon)
    delta = probability("delta", delta)
    if delta == 0.0:
        raise ValueError(
            "delta is out of range, got 0. Allowed: 0 < delta < 1. "
            "A Gaussian release needs delta > 0; use a pure mechanism for delta = 0."
        )
    point = np.array([epsilon])

    # delta grows with mu, so it falls with 1/mu: search the least noise that works
    def curve(noise: FloatArray) -> FloatArray:
        s = float(noise[0])
        return np.ones(1) if s == 0.0 else gaussian_curve(point, 1.0 / s)

    return _ROUND_DOWN / first_at_most(curve, delta, limit=2.0**80)


@dataclass(frozen=True, slots=True, repr=False)
class GaussianDP(Guarantee):
    """No easier to attack than telling N(0, 1) from N(mu, 1).

    Parameters
    ----------
    mu : float
        Distance of the two normal laws in standard deviations, >= 0. For a Gaussian
        release it is the L2 sensitivity over the standard deviation.
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
    Dong, Roth and Su (2022), Gaussian differential privacy: profile by duality, group
    privacy ``k mu``, composition by the root of the sum of squares.

    Examples
    --------
    >>> from skdp.accounting import GaussianDP
    >>> g = GaussianDP(1.0)
    >>> g.epsilon(1e-5)
    4.37717...
    >>> g.group(3)
    GaussianDP(3.0, adjacency='add-remove')
    >>> g.epsilon(0.0)
    inf
    """

    mu: float

    def _check(self) -> None:
        self._set("mu", nonnegative("mu", self.mu))

    def _delta(self, epsilon: FloatArray) -> FloatArray:
        return gaussian_curve(epsilon, self.mu)

    def _pure_epsilon(self) -> float:
        return 0.0 if self.mu == 0.0 else math.inf

    def _tradeoff(self, alpha: FloatArray) -> FloatArray:
        out: FloatArray = ndtr(-ndtri(alpha) - self.mu)
        return out

    def _group(self, k: int) -> "GaussianDP":
        return self._with(k * self.mu)
