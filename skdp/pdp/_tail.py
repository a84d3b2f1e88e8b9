r"""How large a privacy loss gets, but for a given probability, under Gaussian DP.

Notation (derived in docs/proofs/posterior_sampling.md, "Loss of one person")
-----------------------------------------------------------------------------
mu       of the ideal releases together, shape (n,)
s        privacy loss at which a profile is read: mu^2/2 + mu z, shape (n, m)
delta    profile of all releases, lattice steps included, at s + s2, shape (n, m)
s2       what the lattice steps add to the loss, but for a share of rho
"""

import math

import numpy as np
from scipy.special import log_ndtr, ndtri

from skdp._typing import FloatArray
from skdp.accounting import Guarantee, ZeroConcentratedDP

__all__ = ["gaussian_tail"]

#: Largest share of rho at which the lattice steps are read.
_LATTICE_SHARE = 0.01
#: Where the profile is read, in standard deviations beyond the quantile of rho. Any
#: point gives a bound; the best one lies here for mu from 0 to 100.
_BEYOND = np.linspace(0.0, 2.0, 25)
#: Relative error of a computed normal tail (measured below 1e-14), on the dear side.
_SLACK = 1e-13


def gaussian_tail(
    mu: FloatArray, lattice: Guarantee | None = None, *, rho: float
) -> FloatArray:
    r"""Return t such that the loss exceeds t in size with probability at most rho.

    .. math:: t = \min_s \log\frac{\delta(s) + \rho e^s}{\rho - \delta(s)}

    Parameters
    ----------
    mu : ndarray of shape (n,)
        Of the ideal releases together.
    lattice : PureDP or ZeroConcentratedDP, optional
        Cost of their lattice steps together.
    rho : float
        Probability of failure, within (0, 1).

    Returns
    -------
    t : ndarray of shape (n,)
        Nats, >= 0.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.pdp._tail import gaussian_tail
    >>> gaussian_tail(np.array([0.01, 0.1, 1.0]), rho=1e-6).round(3)
    array([0.051, 0.509, 5.433])
    """
    share, extra = _lattice_point(lattice, rho)
    z = -ndtri(rho) + _BEYOND
    log_tail = log_ndtr(-z)
    size = mu[:, None]
    s = size * (size / 2 + z)
    other = s + log_ndtr(-z - size)
    delta = np.exp(log_tail) * (_SLACK - np.expm1(np.minimum(other - log_tail, 0.0)))
    delta = delta + share
    log_rho = math.log(rho)
    with np.errstate(divide="ignore", invalid="ignore"):
        top = np.logaddexp(np.log(delta), log_rho + s + extra)
        t = top - log_rho - np.log1p(-delta / rho)
    # where delta reaches rho, nothing is known from that point
    t = np.where(delta < rho, t, np.inf)
    out: FloatArray = np.maximum(t.min(axis=1), 0.0)
    return out


def _lattice_point(lattice: Guarantee | None, rho: float) -> tuple[float, float]:
    """Return a delta, and the epsilon of the lattice steps that goes with it."""
    if lattice is None:
        return 0.0, 0.0
    if not isinstance(lattice, ZeroConcentratedDP):
        return 0.0, lattice.epsilon(0.0)
    # twice the share is lost in nats, so it must be small beside the loss itself
    share = min(_LATTICE_SHARE, math.sqrt(2.0 * lattice.rho)) * rho
    return share, lattice.epsilon(share)
