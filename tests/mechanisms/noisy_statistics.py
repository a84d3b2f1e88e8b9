"""What the tests of the noisy Hessian and of the noisy gradient share."""

import numpy as np

from skdp.rows import L2Ball, PrivateRows, as_row_blocks

#: Rows, one of them beyond the ball of radius 1, labels, and a point.
X = np.array([[0.6, 0.0], [0.0, 0.8], [-0.5, 0.5], [3.0, -4.0]])
Y = np.array([1.0, -1.0, 1.0, -1.0])
THETA = np.array([0.5, -0.25])
CLIPPED = X / np.maximum(np.linalg.norm(X, axis=1), 1.0)[:, None]


def table(X, y, radius=1.0, labels=None, **options):
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    return PrivateRows(as_row_blocks(X, y, labels=labels), L2Ball(radius, **options))


def nobody(d):
    return table(np.empty((0, d)), [])


def sigma(u):
    return 1 / (1 + np.exp(-u))


def random_row(rng, d, radius):
    """Return a row inside the ball, often on its border, and a label."""
    x = rng.normal(size=d)
    x *= radius * rng.choice([1.0, rng.uniform()]) / np.linalg.norm(x)
    return x, rng.choice([-1.0, 1.0])


def farthest(mechanism, rng, n_tries):
    """Return the largest move of the statistic over random neighbours."""
    d, radius = mechanism.n_coefficients, mechanism.radius
    replaced = str(mechanism.adjacency) == "replace-one"
    moves = []
    for _ in range(n_tries):
        x, y = random_row(rng, d, radius)
        with_x, other = table([x], [y], radius), nobody(d)
        if replaced:
            x, y = random_row(rng, d, radius)
            other = table([x], [y], radius)
        move = mechanism.statistic(with_x) - mechanism.statistic(other)
        moves.append(np.linalg.norm(move))
    return max(moves)
