r"""What the draws of a sampler really cost one person.

Notation
--------
c        histogram the sampler was fitted on                          -> ``counts``
s        the person's own symbol
y        the draws that were released                                 -> ``drawn``
c'       c without her, with her, or with her in another one's place
"""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from skdp._typing import FloatArray, IntArray
from skdp.rows import Alphabet
from skdp.synthesis import ROOSampler
from skdp.synthesis._column import enter_column

__all__ = ["sampler_loss"]


def sampler_loss(
    sampler: ROOSampler,
    X_train: Any,
    X: Any,
    kind: Literal["auto", "member", "non-member"],
) -> FloatArray:
    """Return ``log p(y | c) - log p(y | c')`` for each person, at the worst c'."""
    if sampler.release_ == "histogram":
        raise ValueError(
            "a histogram was released, and the noisy counts behind its probabilities "
            "are not kept, so what it really cost is unknown. Allowed: a sampler of "
            "draws. Use release='draws', or the bound of pdp_loss."
        )
    alphabet = Alphabet(sampler.categories_)
    counts, codes = (
        alphabet.encode(
            enter_column(sampler, column, reset=False)[0], unknown=sampler._unknown
        )
        for column in (X_train, X)
    )
    counts = np.bincount(counts, minlength=len(alphabet))
    drawn = alphabet.encode(sampler.samples_).astype(np.float64)
    found = np.zeros(len(alphabet))
    for s in np.unique(codes).tolist():
        member = kind == "member" or (kind == "auto" and counts[s] > 0)
        found[s] = _worst(sampler.mechanism_, drawn, counts, s, member)
    losses: FloatArray = found[codes]
    return losses


def _worst(
    mechanism: Any, drawn: FloatArray, counts: IntArray, s: int, member: bool
) -> float:
    """Return the loss that is farthest from 0 over the neighbours of one person."""
    here = mechanism.log_density_on(counts)(drawn)
    losses = [
        here - mechanism.log_density_on(neighbour)(drawn)
        for neighbour in _neighbours(counts, s, member, mechanism.n_rows is None)
    ]
    return max(losses, key=abs, default=0.0)


def _neighbours(
    counts: IntArray, s: int, member: bool, add_remove: bool
) -> Iterator[IntArray]:
    """Yield the histograms that differ by the person with symbol s."""
    own = np.eye(len(counts), dtype=np.int64)[s]
    own = -own if member else own
    if add_remove:
        yield counts + own
        return
    for other in range(len(counts)):
        moved = counts + own
        moved[other] += 1 if member else -1
        if other != s and moved[other] >= 0:
            yield moved
