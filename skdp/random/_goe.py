r"""The Gaussian orthogonal ensemble: isotropic noise for symmetric matrices.

Notation (derived in docs/proofs/goe.md)
----------------------------------------
G      symmetric, independent normal entries of variance 1 on the diagonal and 1/2 off
       it: density proportional to :math:`\exp(-|G|_F^2 / 2)`
"""

import math
from dataclasses import dataclass

from scipy.special import ndtri

from skdp._typing import FloatArray
from skdp._validation import check_count, check_real
from skdp.random._goe_law import log_cdf, tail, tail_quantile
from skdp.random._normal import standard_normal
from skdp.random._source import RandomSource
from skdp.random._symmetric import symmetric, triangle_size

__all__ = ["GOE"]

#: Largest order whose law is computed; a concentration bound stands for it beyond.
_LARGEST = 300
#: Least probability of the lower tail that stands out from rounding.
_LEAST_P = 1e-6


@dataclass(frozen=True, slots=True)
class GOE:
    r"""Symmetric Gaussian matrices, and the law of their largest eigenvalue.

    Entries are independent normal variables of variance 1 on the diagonal and 1/2 off
    it, so the law is isotropic in the Frobenius norm. The law of the largest eigenvalue
    is exact up to order 300: a Pfaffian of integrals of Hermite functions. Beyond it is
    replaced by a concentration bound, 20 to 30 % larger in the quantile and always on
    the safe side: :meth:`sf` is then too large, :meth:`cdf` too small, :meth:`isf` and
    :meth:`quantile` too large.

    Parameters
    ----------
    n : int
        Order of the matrices, >= 1.

    Raises
    ------
    TypeError
        If ``n`` is not an integer.
    ValueError
        If ``n`` is below 1.

    Notes
    -----
    The spectral norm exceeds t with probability at most ``2 * sf(t)``, since the least
    eigenvalue has the law of minus the largest. Derivation in docs/proofs/goe.md.

    References
    ----------
    de Bruijn (1955), On some multiple integrals involving determinants. Chiani (2014),
    Distribution of the largest eigenvalue for real Wishart and Gaussian random matrices
    and a simple approximation for the Tracy-Widom distribution.

    Examples
    --------
    >>> from skdp.random import GOE, as_random_source
    >>> law = GOE(10)
    >>> law.draw(as_random_source(0)).shape
    (10, 10)
    >>> round(law.isf(5e-7), 6)
    7.307944
    >>> round(law.quantile(0.5), 4)
    3.7337
    """

    n: int

    def __post_init__(self) -> None:
        """Refuse orders that are not a count."""
        remedy = "Pass the order of the matrices."
        n = check_count("n", self.n, minimum=1, remedy=remedy)
        object.__setattr__(self, "n", n)

    def draw(self, source: RandomSource) -> FloatArray:
        """Draw one matrix at full floating-point precision.

        Parameters
        ----------
        source : RandomSource
            Where the bytes come from, 24 for each entry on or below the diagonal.

        Returns
        -------
        ndarray of shape (n, n)
            Symmetric.
        """
        z = standard_normal(triangle_size(self.n), source)
        out = symmetric(math.sqrt(0.5) * z, self.n)
        diagonal = range(self.n)
        out[diagonal, diagonal] *= math.sqrt(2.0)
        return out

    def sf(self, t: float) -> float:
        """Return the probability that the largest eigenvalue exceeds ``t``.

        Parameters
        ----------
        t : float
            Any real number.

        Returns
        -------
        float
            Accurate relative to itself, to about 1e-12, for t up to 37.

        Raises
        ------
        TypeError
            If ``t`` is not a real number.
        ValueError
            If ``t`` is nan.
        """
        t = _real("t", t)
        if math.isinf(t):
            return 0.0 if t > 0 else 1.0
        if self.n <= _LARGEST:
            return tail(self.n, t)
        return math.exp(-0.5 * max(t - math.sqrt(2.0 * self.n), 0.0) ** 2)

    def cdf(self, t: float) -> float:
        """Return the probability that the largest eigenvalue is at most ``t``.

        Parameters
        ----------
        t : float
            Any real number.

        Returns
        -------
        float
            To an absolute error of about 1e-14.

        Raises
        ------
        TypeError
            If ``t`` is not a real number.
        ValueError
            If ``t`` is nan.
        """
        upper = self.sf(t)
        if upper < 0.5 or self.n > _LARGEST or math.isinf(t):
            return 1.0 - upper
        # small probabilities without the rounding of 1 - sf
        return math.exp(min(log_cdf(self.n, t), 0.0))

    def isf(self, q: float) -> float:
        """Return the number that the largest eigenvalue exceeds with probability ``q``.

        Parameters
        ----------
        q : float
            From 1e-300 to 1 - 1e-6.

        Returns
        -------
        float
            Rounded up, by about 1e-11; an upper bound for q below ``sf(37)``.

        Raises
        ------
        TypeError
            If ``q`` is not a real number.
        ValueError
            If ``q`` is out of its range.
        """
        q = _probability("q", q, low=1e-300, high=1.0 - _LEAST_P)
        if self.n > _LARGEST:
            return _concentrated(self.n, q)
        return tail_quantile(self.n, -float(ndtri(q)))

    def quantile(self, p: float) -> float:
        """Return the number that the largest eigenvalue is at most with probability p.

        Parameters
        ----------
        p : float
            From 1e-6 to below 1. Close to 1, ``isf(1 - p)`` keeps more digits.

        Returns
        -------
        float
            Rounded up, by about 1e-11; near the lower end, to about 1e-9.

        Raises
        ------
        TypeError
            If ``p`` is not a real number.
        ValueError
            If ``p`` is out of its range.
        """
        p = _probability("p", p, low=_LEAST_P, high=1.0 - 2.0**-53)
        if self.n > _LARGEST:
            return _concentrated(self.n, 1.0 - p)
        return tail_quantile(self.n, float(ndtri(p)))


def _concentrated(n: int, q: float) -> float:
    """Return where exp(-(t - sqrt(2 n))^2 / 2) is ``q``."""
    return math.sqrt(2.0 * n) + math.sqrt(-2.0 * math.log(q))


def _real(name: str, value: float) -> float:
    return check_real(name, value, allowed="a real number", remedy="Pass one number.")


def _probability(name: str, value: float, *, low: float, high: float) -> float:
    allowed = f"a number from {low:g} to {high!r}"
    remedy = "Pass the probability of one tail."
    number = check_real(name, value, allowed=allowed, remedy=remedy)
    if not low <= number <= high:
        raise ValueError(
            f"{name} is out of range, got {value!r}. Allowed: {allowed}. {remedy}"
        )
    return number
