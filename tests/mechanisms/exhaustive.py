"""Every histogram, every neighbour, every outcome: the truth about a small sampler."""

from functools import lru_cache
from math import comb

import numpy as np

__all__ = [
    "epsilon_add_remove",
    "epsilon_replace_one",
    "histograms",
    "law_of",
    "worst_distance",
]


@lru_cache(maxsize=64)
def histograms(n, k):
    """Return all vectors of k counts with sum n, shape (C(n + k - 1, k - 1), k)."""
    if k == 1:
        return np.array([[n]])
    parts = []
    for first in range(n + 1):
        rest = histograms(n - first, k - 1)
        parts.append(np.column_stack([np.full(len(rest), first), rest]))
    table = np.concatenate(parts)
    assert len(table) == comb(n + k - 1, k - 1)
    return table


def _ranks(table, base):
    return table @ base ** np.arange(table.shape[1])


def _lookup(table, base):
    keys = _ranks(table, base)
    order = np.argsort(keys)
    return keys[order], order


@lru_cache(maxsize=64)
def replaced(n, k, moved=1):
    """Return pairs of indices of histograms that differ by ``moved`` replacements."""
    table, base = histograms(n, k), n + 1
    keys, order = _lookup(table, base)
    left, right = [np.arange(len(table))], [np.arange(len(table))]
    for _ in range(moved):
        new_left, new_right = [], []
        for start, at in zip(left, right, strict=True):
            for a in range(k):
                for b in range(k):
                    if a == b:
                        continue
                    ok = table[at][:, a] > 0
                    target = table[at[ok]].copy()
                    target[:, a] -= 1
                    target[:, b] += 1
                    place = order[np.searchsorted(keys, _ranks(target, base))]
                    new_left.append(start[ok])
                    new_right.append(place)
        pairs = np.unique(
            np.column_stack([np.concatenate(new_left), np.concatenate(new_right)]),
            axis=0,
        )
        left, right = [pairs[:, 0]], [pairs[:, 1]]
    return left[0], right[0]


def law_of(weights):
    """Return probabilities, rows adding up to 1, from integer weights."""
    weights = np.asarray(weights, dtype=np.float64)
    return weights / weights.sum(axis=1, keepdims=True)


def epsilon_replace_one(law, n, k, moved=1):
    """Return the largest absolute log ratio; ``law`` maps histograms to laws."""
    logs = np.log(law(histograms(n, k)))
    left, right = replaced(n, k, moved)
    return float(np.abs(logs[left] - logs[right]).max())


def epsilon_add_remove(law, n_most, k, moved=1):
    """Return the same over all n up to ``n_most`` and up to ``moved`` records more."""
    worst = 0.0
    for n in range(n_most - moved + 1):
        table = histograms(n, k)
        before = np.log(law(table))
        for more in range(1, moved + 1):
            for added in histograms(more, k):
                after = np.log(law(table + added))
                worst = max(worst, float(np.abs(after - before).max()))
    return worst


def distances(law, n, k):
    """Return the total variation distance of each law from its data."""
    table = histograms(n, k)
    return 0.5 * np.abs(law(table) - table / n).sum(axis=1)


def worst_distance(law, n, k):
    """Return the largest of them."""
    return float(distances(law, n, k).max())


def law_by_mechanism(mechanism):
    """Return the law of one draw as a function of a table of histograms.

    Tables are looked up at once. Data-specific mixtures are formed from the public
    sequence; that this is what the mechanism does is tested apart.
    """
    if hasattr(mechanism, "table"):
        return lambda table: law_of(mechanism.table(table))
    k, n, one = mechanism.n_categories, mechanism.n_rows, 1 << mechanism.bits
    known = np.zeros(n // k + 1)
    if k == 2:
        known = np.ceil(np.arange(n // 2 + 1) * one / n)
    known[: len(mechanism.obscured)] = mechanism.obscured

    def law(table):
        least = table.min(axis=1)
        if k == 2:
            rare = known[least] / one
            light = np.where(table == least[:, None], rare[:, None], 1 - rare[:, None])
            return np.where((table[:, :1] == table[:, 1:]), 0.5, light)
        q = known[least][:, None] / one
        return q / k + (1 - q) * table / n

    return law
