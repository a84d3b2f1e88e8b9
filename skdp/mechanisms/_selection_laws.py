r"""The probabilities with which selections choose, for audits and for plots.

Notation (derived in docs/proofs/exponential.md)
------------------------------------------------
x_r      exponent of candidate r, rate times the gap to the best score, >= 0
m_r      base measure
p_r      ``exp(-x_r)``: probability that the flag of r is raised
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.special import logsumexp

from skdp._typing import FloatArray

__all__ = ["log_exponential", "log_permute_and_flip"]

#: Gauss-Legendre rules of n nodes are exact for polynomials of degree 2 n - 1.
_NODES = 128


def log_exponential(x: FloatArray, measure: Sequence[int] | None) -> FloatArray:
    """Return the log of ``m exp(-x)`` over its sum; -inf where the measure is 0."""
    log_weights = -x
    if measure is not None:
        with np.errstate(divide="ignore"):
            log_weights = log_weights + np.log(np.array(measure, dtype=np.float64))
    out: FloatArray = log_weights - logsumexp(log_weights)
    return out


def log_permute_and_flip(x: FloatArray) -> FloatArray:
    r"""Return the log of ``p_r`` times the integral of the other flags being down.

    Give each candidate a uniform time. Candidate r, with its flag raised at time t,
    wins if no other flag is raised before:
    :math:`p_r \int_0^1 \prod_{s \ne r} (1 - p_s t)\,dt`.
    """
    p = np.exp(-x)
    total = np.zeros(x.size)
    for t, weight in zip(*_rule(p), strict=True):
        down = np.log1p(-p * t)
        total += weight * np.exp(down.sum() - down)
    out: FloatArray = np.log(total) - x
    return out


def _rule(p: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights: exact for few candidates, finer near 0 for many."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    edges = np.array([0.0, 1.0])
    if p.size > 2 * _NODES:
        # the integrand falls like exp(-t sum(p)): panels of that length, doubling
        edges = np.unique(np.minimum(2.0 ** np.arange(8) / p.sum(), 1.0))
        edges = np.concatenate([[0.0], edges[edges < 1.0], [1.0]])
    panels = [((b - a) / 2 * (nodes + 1) + a, (b - a) / 2) for a, b in pairwise(edges)]
    return (
        np.concatenate([t for t, _ in panels]),
        np.concatenate([half * weights for _, half in panels]),
    )
