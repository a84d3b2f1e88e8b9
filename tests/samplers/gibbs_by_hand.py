"""Gibbs posteriors written down a second time, by hand, as the reference of the tests.

Nothing here uses the package but to hand rows to it.
"""

import numpy as np

from skdp.losses import HuberLoss, LogCoshLoss, LogisticLoss, SquaredLoss
from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks

S = 0.3  # scale of the robust losses


def logistic(y, t):
    return np.where(y == 0, 0.0, np.log1p(np.exp(-y * t)))


def squared(y, t):
    return (t - y) ** 2 / 2


def huber(y, t):
    r = np.abs(t - y)
    return np.where(r <= S, r**2 / 2, S * r - S**2 / 2)


def log_cosh(y, t):
    return S**2 * (np.logaddexp((t - y) / S, (y - t) / S) - np.log(2))


#: name -> (loss of the package, the same by hand)
LOSSES = {
    "logistic": (LogisticLoss(), logistic),
    "squared": (SquaredLoss(), squared),
    "huber": (HuberLoss(scale=S), huber),
    "log-cosh": (LogCoshLoss(scale=S), log_cosh),
}


def table(name, n, d, seed):
    """Rows, some of them too long, and labels; weight 0 among those of a sign."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, d)) * 0.9
    if name == "logistic":
        return X, generator.choice([-1.0, 0.0, 1.0], size=n, p=[0.3, 0.2, 0.5])
    return X, generator.uniform(-1, 1, size=n)


def rows(X, y, constant=0.0):
    blocks = as_row_blocks(X, y, labels=Targets(-1.0, 1.0))
    return PrivateRows(blocks, L2Ball(1.0, constant))


def clipped(X, constant=0.0):
    X = X / np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True))
    return np.column_stack([X, np.full(len(X), constant)]) if constant else X


def potential(name, X, y, gamma, alpha, thetas, constant=0.0):
    """J at each row of ``thetas``."""
    value = LOSSES[name][1]
    margins = clipped(X, constant) @ thetas.T
    total = value(y[:, None], margins).sum(axis=0)
    return gamma * (total + alpha / 2 * np.sum(thetas**2, axis=1))
