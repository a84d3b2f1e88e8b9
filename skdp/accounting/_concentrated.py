r"""Zero-concentrated differential privacy.

Notation
--------
a        Rényi order, > 1; s = a - 1, t = log s
rho      :math:`D_a(P \| Q) \le a \rho` for every a             -> ``rho``
D2(e)    the profile at any real e                        -> ``concentrated_curve``
"""

import math
from dataclasses import dataclass

import numpy as np

from skdp._typing import ArrayLike, FloatArray
from skdp.accounting._guarantee import Guarantee
from skdp.accounting._numbers import (
    like_input,
    mirrored,
    nonnegative,
    real_vector,
)

__all__ = ["ZeroConcentratedDP", "concentrated_delta", "concentrated_epsilon"]


def _best_log_order(epsilon: FloatArray, rho: float) -> FloatArray:
    r"""Solve :math:`(2a-1)\rho - \varepsilon + \log(1 - 1/a) = 0` for t = log(a - 1).

    The left side increases in t, so Newton steps are kept inside a bracket. Every order
    gives a valid bound: a step too few costs accuracy, never validity.
    """
    # log(1 + 1/s) <= 1/s makes this root of 2 rho s^2 - eps s - 1 an upper end ...
    high = np.log((epsilon + np.sqrt(epsilon * epsilon + 8.0 * rho)) / (4.0 * rho))
    # ... and -log s <= log(1 + 1/s) makes s = exp(-3 rho) or (eps-rho)/(2 rho) a lower
    excess = np.maximum(epsilon - rho, 0.0) / (2.0 * rho)
    low = np.maximum(np.log(np.maximum(excess, 1e-300)), -3.0 * rho)
    low = np.minimum(low, high)
    t = high
    for _ in range(7):
        s = np.exp(t)
        value = rho + 2.0 * rho * s - epsilon - np.log1p(1.0 / s)
        low = np.where(value <= 0.0, t, low)
        high = np.where(value > 0.0, t, high)
        step = t - value / (2.0 * rho * s + 1.0 / (1.0 + s))
        t = np.where((step >= low) & (step <= high), step, 0.5 * (low + high))
    return t


def _nonnegative_delta(epsilon: FloatArray, rho: float) -> FloatArray:
    """Evaluate the bound of every order at the best one."""
    t = _best_log_order(epsilon, rho)
    s = np.exp(t)
    log_delta = s * ((1.0 + s) * rho - epsilon) - (1.0 + s) * np.log1p(1.0 / s) - t
    out: FloatArray = np.exp(np.minimum(log_delta, 0.0))
    return out


def concentrated_curve(epsilon: FloatArray, rho: float) -> FloatArray:
    """Evaluate the profile at any real epsilon, unchecked."""
    if rho == 0.0:
        return np.maximum(-np.expm1(np.minimum(epsilon, 0.0)), 0.0)
    return mirrored(lambda e: _nonnegative_delta(e, rho), epsilon)


def concentrated_delta(epsilon: ArrayLike, rho: float) -> float | FloatArray:
    r"""Bound delta of a rho-zCDP release.

    .. math:: \min_{a>1} e^{(a-1)(a\rho-\varepsilon)} \frac{(1-1/a)^a}{a-1}

    for epsilon >= 0, and the mirror image below.

    Parameters
    ----------
    epsilon : float or array of any shape
        Any real numbers, in nats.
    rho : float
        zCDP bound, >= 0.

    Returns
    -------
    float or array of the same shape
        Within [0, 1].

    References
    ----------
    Canonne, Kamath and Steinke (2020), The discrete Gaussian for differential privacy.

    Examples
    --------
    >>> from skdp.accounting import concentrated_delta
    >>> concentrated_delta(1.0, 0.0)
    0.0
    >>> concentrated_delta(5.2216, 0.5) < 1e-6
    True
    """
    rho = nonnegative("rho", rho)
    array = real_vector("epsilon", epsilon)
    return like_input(concentrated_curve(array.ravel(), rho), array)


def concentrated_epsilon(rho: float, delta: float) -> float:
    """Return the least epsilon with ``concentrated_delta(epsilon, rho) <= delta``.

    Parameters
    ----------
    rho : float
        zCDP bound, >= 0.
    delta : float
        Within [0, 1).

    Returns
    -------
    float
        Rounded up; inf when delta is 0 and rho is not.

    Examples
    --------
    >>> from skdp.accounting import concentrated_epsilon
    >>> concentrated_epsilon(0.5, 1e-6)
    5.22153...
    """
    return ZeroConcentratedDP(rho).epsilon(delta)


@dataclass(frozen=True, slots=True, repr=False)
class ZeroConcentratedDP(Guarantee):
    """Rényi divergence of every order a at most ``a rho``.

    Parameters
    ----------
    rho : float
        Bound, >= 0. For Gaussian and discrete Gaussian noise it is half the square of
        sensitivity over standard deviation.
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
    Bun and Steinke (2016), Concentrated differential privacy: composition by the sum,
    group privacy ``k^2 rho``. Canonne, Kamath and Steinke (2020): the profile.

    Examples
    --------
    >>> from skdp.accounting import ZeroConcentratedDP
    >>> g = ZeroConcentratedDP(0.5)
    >>> g.epsilon(1e-6)
    5.22153...
    >>> g.to_replace_one()
    ZeroConcentratedDP(2.0, adjacency='replace-one')
    """

    rho: float

    def _check(self) -> None:
        self._set("rho", nonnegative("rho", self.rho))

    def _delta(self, epsilon: FloatArray) -> FloatArray:
        return concentrated_curve(epsilon, self.rho)

    def _pure_epsilon(self) -> float:
        return 0.0 if self.rho == 0.0 else math.inf

    def _group(self, k: int) -> "ZeroConcentratedDP":
        return self._with(k * k * self.rho)
