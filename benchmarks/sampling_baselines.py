"""Ways to draw from a private column that the package is compared with.

They are references for accuracy: floating-point noise, no care for its attacks.
"""

import numpy as np

__all__ = ["LaplaceProjection", "VanillaComposition", "project_to_simplex"]


def project_to_simplex(points):
    """Return the nearest probability vectors in Euclidean distance, row by row."""
    points = np.atleast_2d(points)
    ordered = -np.sort(-points, axis=1)
    steps = np.arange(1, points.shape[1] + 1)
    excess = (np.cumsum(ordered, axis=1) - 1) / steps
    last = np.count_nonzero(ordered > excess, axis=1) - 1
    shift = excess[np.arange(len(points)), last]
    return np.maximum(points - shift[:, None], 0.0)


class LaplaceProjection:
    """Add Laplace noise to the shares, project to the simplex, and draw one symbol.

    Raskhodnikova, Sivakumar, Smith and Swanberg, "Differentially private sampling from
    distributions", NeurIPS 2021. One replaced record moves the shares by 2 / n in the
    sum of absolute values.
    """

    def __init__(self, epsilon, n_rows):
        self.scale = 2.0 / (epsilon * n_rows)

    def laws(self, shares, n_runs, seed=0):
        """Return the laws of a draw under ``n_runs`` independent noise vectors."""
        rng = np.random.default_rng(seed)
        noise = rng.laplace(scale=self.scale, size=(n_runs, len(shares)))
        return project_to_simplex(shares + noise)


class VanillaComposition:
    """Reveal or obscure, every draw at an equal share of epsilon."""

    def __init__(self, epsilon, n_rows, n_categories, n_draws):
        obscured = n_categories / np.expm1(epsilon / n_draws)
        self.obscure_probability = obscured / (n_rows + obscured)
        self.n_categories = n_categories

    def law(self, shares):
        """Return the law of one draw."""
        q = self.obscure_probability
        return q / self.n_categories + (1 - q) * np.asarray(shares)
