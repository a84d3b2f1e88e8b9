"""Exact private draws from a posterior, beside the density found by quadrature.

Two coefficients, so that the density can be drawn. On the left the mode lies inside the
ball; on the right it lies on the border, where chains get stuck and clipped draws pile
up. Run it with::

    python examples/posterior_draws.py --figure posterior_draws.png
"""

import argparse
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import skdp
from skdp.exceptions import NotForReleaseWarning

N_DRAWS = 400
EPSILON = 400.0  # one nat for each draw
TRUTH = np.array([1.5, -1.0])
RADII = {"inside the ball": 4.0, "on its border": 1.0}


def survey(n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """Generate rows of norm one and labels of a logistic model."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 2))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-X @ TRUTH * 2)), 1, 0)


def density(model: skdp.PosteriorSampler, X: np.ndarray, y: np.ndarray, grid):
    """Return the posterior density on a grid of coefficients, by quadrature."""
    first, second = np.meshgrid(grid, grid, indexing="ij")
    thetas = np.stack([first.ravel(), second.ravel()], axis=1)
    signed = X * np.where(y == 1, 1.0, -1.0)[:, None]
    losses = np.logaddexp(0.0, -(thetas @ signed.T)).sum(axis=1)
    ridge = model.alpha_ / 2 * np.sum(thetas**2, axis=1)
    log_density = -model.inverse_temperature_ * (losses + ridge)
    weight = np.exp(log_density - log_density.max())
    weight[np.linalg.norm(thetas, axis=1) > model.radius_] = 0.0
    return (weight / weight.sum()).reshape(first.shape) / (grid[1] - grid[0]) ** 2


def fitted(radius: float, X: np.ndarray, y: np.ndarray) -> skdp.PosteriorSampler:
    """Draw with a fixed seed, which is good for figures only."""
    model = skdp.PosteriorSampler(
        loss="logistic",
        classes=[0, 1],
        epsilon=EPSILON,
        n_samples=N_DRAWS,
        radius=radius,
        fit_intercept=False,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotForReleaseWarning)
        return model.fit(X, y)


def main() -> None:
    """Draw both posteriors, compare the means, and write the figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figure", type=Path, default=Path("posterior_draws.png"))
    path = parser.parse_args().figure

    X, y = survey()
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
    for axis, (place, radius) in zip(axes, RADII.items(), strict=True):
        model = fitted(radius, X, y)
        grid = np.linspace(-radius, radius, 301)
        heights = density(model, X, y, grid)
        cell = (grid[1] - grid[0]) ** 2
        mean = [np.sum(heights.sum(axis=a) * grid) * cell for a in (1, 0)]
        draws = model.sample(N_DRAWS)
        print(f"mode {place}: mean by quadrature {np.round(mean, 3)}")
        error = draws.std(axis=0) / np.sqrt(N_DRAWS)
        print(f"  of {N_DRAWS} draws {draws.mean(axis=0).round(3)} +- {error.round(3)}")
        print(f"  {model.privacy_spent_}")
        axis.contourf(grid, grid, heights.T, levels=12, cmap="Blues")
        axis.plot(
            *draws.T,
            ".",
            color="#c1440e",
            markersize=2,
            alpha=0.5,
            label=f"{N_DRAWS} draws of epsilon 1",
        )
        axis.add_patch(plt.Circle((0, 0), radius, fill=False, linestyle="--"))
        axis.set(title=f"mode {place}", aspect="equal", xlabel="first coefficient")
        axis.set_xticks(np.linspace(-radius, radius, 5))
    axes[0].set_ylabel("second coefficient")
    axes[0].legend(loc="lower left", frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)
    print(f"figure: {path}")


if __name__ == "__main__":
    main()
