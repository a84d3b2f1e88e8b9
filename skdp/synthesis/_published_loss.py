r"""What a released sample cost one person, from public numbers.

Notation (derived in docs/proofs/count_weights.md)
--------------------------------------------------
s        the person's own symbol                                       -> ``codes``
y        a draw that was released; how many of each symbol             -> ``drawn``
D        largest change of the normaliser by the person's records
"""

import math

import numpy as np

from skdp._typing import FloatArray, IntArray
from skdp._validation import check_real
from skdp.accounting import Guarantee, PrivacySpent, ZeroConcentratedDP
from skdp.mechanisms import (
    CountWeights,
    DataSpecificROO,
    NoisyHistogram,
    RevealOrObscure,
    SubsampledResponse,
)

__all__ = ["draws_loss", "published_loss", "release_loss"]

_UP = 1.0 + 2.0**-45


def published_loss(
    mechanism: RevealOrObscure
    | CountWeights
    | DataSpecificROO
    | SubsampledResponse
    | NoisyHistogram,
    codes: IntArray,
    drawn: IntArray | None,
    *,
    rho: float,
) -> FloatArray:
    """Return a bound on the absolute loss of each person, shape (n,)."""
    _check_rho(rho)
    if mechanism.n_categories == 1 and not isinstance(mechanism, NoisyHistogram):
        return np.zeros(codes.shape)
    if isinstance(mechanism, RevealOrObscure | CountWeights) and drawn is not None:
        return draws_loss(mechanism, drawn[codes])
    guarantee = mechanism.guarantee
    if isinstance(guarantee, ZeroConcentratedDP):
        bound = _gaussian_tail(guarantee.rho, rho)
    else:
        bound = guarantee.epsilon(0.0)
    return np.full(codes.shape, bound)


def release_loss(released: Guarantee | PrivacySpent, rho: float) -> float:
    r"""Bound the loss of a release for everybody alike, but with probability rho.

    A loss above e has probability at most :math:`\delta(e - t) / (1 - e^{-t})`, for
    any t > 0: that much of the hockey stick at e - t stands on it.
    """
    _check_rho(rho)
    guarantee = released.guarantee if isinstance(released, PrivacySpent) else released
    if guarantee is None:
        return math.inf
    pure = guarantee.epsilon(0.0)
    steps = (0.05, 0.2, 0.8)
    tails = [t + guarantee.epsilon(-math.expm1(-t) * rho / 2.0) for t in steps]
    return min(pure, *tails) * _UP


def draws_loss(mechanism: RevealOrObscure | CountWeights, own: IntArray) -> FloatArray:
    """Add up the draws: those of the person's symbol, ``own`` many, and the others.

    Under add-remove her records change the weight of her own symbol only. A draw of
    another symbol sees the normaliser, which is at least k g(0), change by at most D.
    """
    same = other = mechanism.epsilon_per_draw
    if mechanism.n_rows is None:
        table = mechanism.table
        change = mechanism.group_size * table.largest_step
        least = mechanism.n_categories * table.at(0)
        other = min(same, math.log1p(change / least) * _UP)
    if mechanism.n_categories == 1:
        return np.zeros(own.shape)
    total = own * same + (mechanism.n_draws - own) * other
    return np.minimum(total * _UP, mechanism.guarantee.epsilon(0.0))


def _gaussian_tail(cost: float, rho: float) -> float:
    """Bound the loss of discrete Gaussian noise but with probability rho.

    The loss is the cost plus a sum of the noise that is sub-Gaussian with variance
    twice the cost, so each tail is at most ``exp(-t^2 / (4 cost))``.
    """
    return (cost + 2.0 * math.sqrt(cost * math.log(2.0 / rho))) * _UP


def _check_rho(rho: object) -> None:
    allowed = "1e-300 <= rho < 1"
    remedy = "Use the default 1e-6."
    number = check_real("rho", rho, allowed=allowed, remedy=remedy)
    if not 1e-300 <= number < 1.0:
        raise ValueError(
            f"rho is out of range, got {rho!r}. Allowed: {allowed}. {remedy}"
        )
