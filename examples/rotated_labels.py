"""Who pays when the published model is turned against the labels.

Rows on a disc, two classes with a gap between them, and the model that would be
published without noise. Turning it by an angle shows what worse draws of the noise
would have meant: what the release tells about a person is then a matter of how wrong it
is about her, no longer of how much she weighs in the fit. The losses are exact and read
all rows, which are generated here; of private rows they must not be published. After
Redberg & Wang, "Privately publishable per-instance privacy" (2021), figure 1. Run it
with::

    python examples/rotated_labels.py --figure rotated_labels.png
"""

import argparse
from pathlib import Path
from typing import NamedTuple

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LogNorm
from scipy.special import expit

from skdp.accounting import ApproximateDP
from skdp.mechanisms import ObjectivePerturbation
from skdp.rows import L2Ball, PrivateRows, as_row_blocks
from skdp.solvers import Objective, minimise

N_ROWS, GAP = 400, 0.4
ANGLES = {
    "0": 0.0,
    "π/12": np.pi / 12,
    "π/4": np.pi / 4,
    "π/2": np.pi / 2,
    "3π/4": 3 * np.pi / 4,
    "π": np.pi,
}


class Study(NamedTuple):
    """Rows, the mechanism, and the minimiser without noise."""

    X: np.ndarray
    y: np.ndarray
    mechanism: ObjectivePerturbation
    objective: Objective
    theta: np.ndarray

    def turned(self, angle: float) -> np.ndarray:
        """Return the minimiser, turned counter-clockwise."""
        cos, sin = np.cos(angle), np.sin(angle)
        return np.array([[cos, -sin], [sin, cos]]) @ self.theta

    def losses(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the exact signed loss of each row, in its two parts.

        The first is that of the Jacobian, -log(1 - f'' x'H^-1 x), a matter of leverage;
        the second, (|b + g|^2 - |b|^2) / (2 sigma^2), of the gradient g of the row and
        the noise b that makes ``theta`` the answer.
        """
        gradient, hessian = self.objective.gradient_hessian(theta)
        against = expit(-self.y * (self.X @ theta))
        slope, curvature = -self.y * against, against * (1 - against)
        leverage = np.sum(self.X * np.linalg.solve(hessian, self.X.T).T, axis=1)
        own = slope[:, None] * self.X
        change = np.sum(own**2, axis=1) - 2 * own @ gradient
        sigma = self.mechanism.noise_law.scale
        return -np.log1p(-curvature * leverage), change / (2 * sigma**2)

    def noise(self, theta: np.ndarray) -> float:
        """Return the size of the noise that makes ``theta`` the answer, in sigmas."""
        b = self.objective.gradient(theta)
        return float(np.linalg.norm(b) / self.mechanism.noise_law.scale)


def study(seed: int = 0) -> Study:
    """Generate the rows and fit them without noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (20 * N_ROWS, 2))
    across = (X[:, 0] - X[:, 1]) / np.sqrt(2)
    X = X[(np.linalg.norm(X, axis=1) <= 1) & (np.abs(across) >= GAP / 2)][:N_ROWS]
    y = np.where(X[:, 0] > X[:, 1], 1.0, -1.0)
    mechanism = ObjectivePerturbation.calibrate(
        ApproximateDP(1.0, 1e-6), radius=1.0, n_coefficients=2
    )
    rows = PrivateRows(as_row_blocks(X, y), L2Ball(1.0))
    objective = Objective(rows, mechanism.loss, mechanism.alpha)
    theta = minimise(objective, gradient_tol=mechanism.gradient_tol).x
    return Study(X, y, mechanism, objective, theta)


def leverage_share(parts: tuple[np.ndarray, np.ndarray]) -> float:
    """Return the share of the Jacobian in the loss of the median row."""
    leverage, gradient = map(np.abs, parts)
    return float(np.median(leverage / (leverage + gradient)))


def draw(of: Study, path: Path) -> None:
    """Draw the disc at each angle, and the parts of the loss along all angles."""
    figure = plt.figure(figsize=(9.2, 8.2), layout="constrained")
    grid = figure.add_gridspec(3, 3, height_ratios=(1, 1, 0.62))
    discs = [figure.add_subplot(grid[i, j]) for i in range(2) for j in range(3)]
    for axis, (name, angle) in zip(discs, ANGLES.items(), strict=True):
        theta = of.turned(angle)
        loss = np.abs(sum(of.losses(theta)))
        color = LogNorm(1e-3, 10.0)
        for label, marker in ((1, "o"), (-1, "s")):
            side = of.y == label
            cloud = axis.scatter(
                *of.X[side].T,
                c=loss[side],
                marker=marker,
                s=14,
                cmap="magma_r",
                norm=color,
                edgecolors="0.35",
                linewidths=0.25,
            )
        axis.add_patch(plt.Circle((0, 0), 1, fill=False, color="0.75"))
        border = np.array([-theta[1], theta[0]]) / np.linalg.norm(theta)
        axis.plot(*np.outer(border, (-1, 1)), color="#0b6b68", linewidth=1.8)
        axis.annotate(
            "",
            0.42 * theta / np.linalg.norm(theta),
            (0, 0),
            arrowprops={"arrowstyle": "-|>", "color": "#0b6b68", "linewidth": 1.8},
        )
        axis.set_title(f"{name}: median {np.median(loss):.2g}")
        axis.set(aspect="equal", xlim=(-1.04, 1.04), ylim=(-1.04, 1.04))
        axis.axis("off")
    bar = figure.colorbar(cloud, ax=discs, shrink=0.7, pad=0.02, extend="both")
    bar.set_label("exact privacy loss of a row (nats)")
    draw_parts(of, figure.add_subplot(grid[2, :]))
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_parts(of: Study, axis) -> None:
    """Draw the mean size of both parts of the loss against the angle."""
    angles = np.linspace(0, np.pi, 49)
    parts = [of.losses(of.turned(angle)) for angle in angles]
    for j, (label, style) in enumerate((("leverage", "--"), ("gradient", "-"))):
        sizes = [np.abs(part[j]).mean() for part in parts]
        axis.semilogy(angles, sizes, style, color="#0b6b68", label=f"part of {label}")
    noise = [of.noise(of.turned(angle)) for angle in angles]
    axis.semilogy(angles, noise, color="#c1440e", label="noise it takes, in sigmas")
    axis.axhline(5.26, color="#c1440e", linewidth=0.8, linestyle=":")
    axis.annotate("one draw in a million", (1.5, 6.0), ha="center", color="#c1440e")
    axis.set_xticks(list(ANGLES.values()), list(ANGLES))
    axis.set(xlabel="angle of the published model", ylabel="mean over rows")
    axis.set(xlim=(0, np.pi), ylim=(1e-4, 200))
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False, ncols=3, loc="lower right")


def main() -> None:
    """Print the losses at each angle and write the figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figure", type=Path, default=Path("rotated_labels.png"))
    path = parser.parse_args().figure

    of = study()
    print(
        "| turned by | median loss | largest | share of leverage | noise, in sigmas |"
    )
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, angle in ANGLES.items():
        theta = of.turned(angle)
        parts = of.losses(theta)
        loss = np.abs(sum(parts))
        print(
            f"| {name} | {np.median(loss):.4f} | {loss.max():.3f} "
            f"| {leverage_share(parts):.3f} | {of.noise(theta):.1f} |"
        )
    draw(of, path)
    print(f"\nfigure: {path}")


if __name__ == "__main__":
    main()
