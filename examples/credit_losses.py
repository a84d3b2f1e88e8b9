"""What publishable bounds say, and what more budget for them buys.

The model predicts who defaults on a credit card payment. Its release cost each client
something, which the curator can compute and nobody may publish. Published instead are
bounds, from released numbers alone: how far above the truth are they? And is it worth
to spend part of the budget on a noisy Hessian and gradient, which sharpen them? Every
setting keeps the same promise for all it releases, (1, 1e-6), and is drawn many times,
since the truth moves with the noise. After Redberg & Wang, "Privately publishable
per-instance privacy" (2021), figures 3 to 6. The real table is read when ``SKDP_DATA``
names its directory (see benchmarks/README.md), and one of its shape is generated
otherwise. Run it with::

    SKDP_DATA=DIRECTORY python examples/credit_losses.py --figure credit_losses.png
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import brentq

import skdp
from skdp.accounting import gaussian_mu
from skdp.inspection import PdpLossDisplay
from skdp.mechanisms import GaussianNoise, ReportedObjectivePerturbation
from skdp.pdp import PublishedReport, exact_loss
from skdp.random import as_random_source
from skdp.rows import L2Ball, Labels, PrivateRows, as_row_blocks

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
from _tables import load_table, source

EPSILON, DELTA = 1.0, 1e-6
MU = gaussian_mu(EPSILON, DELTA)
ACCENT, WORST = "#0b6b68", "#c1440e"


class Setting(NamedTuple):
    """Ridge, what is released, and the shares of the budget beside the model's."""

    alpha: float | str
    level: str
    gradient_share: float = 0.0
    hessian_share: float = 0.0


SETTINGS = {
    "model, least ridge": Setting("auto", "data-independent"),
    "model": Setting(5.0, "data-independent"),
    "and Hessian": Setting(5.0, "hessian", 0.0, 0.05),
    "and gradient": Setting(5.0, "gradient", 0.05, 0.05),
    "mostly gradient": Setting(5.0, "gradient", 0.85, 0.05),
}


class Draw(NamedTuple):
    """Losses of all rows in one draw, in nats."""

    accuracy: float
    truth: np.ndarray  # of the coefficients
    bound: np.ndarray
    total_truth: np.ndarray  # of all that was released
    total_bound: np.ndarray

    @property
    def ratio(self) -> float:
        """Bound over truth, for the median row."""
        return float(np.median(self.bound / self.truth))


@dataclass
class Release:
    """A setting made ready: its mechanism, and a report to be filled."""

    mechanism: object
    report: PublishedReport
    X: np.ndarray
    y: np.ndarray

    def __post_init__(self) -> None:
        blocks = as_row_blocks(self.X, self.y, labels=Labels([-1, 1]))
        self.rows = PrivateRows(blocks, L2Ball(1.0))

    @property
    def objective_mechanism(self):
        return getattr(self.mechanism, "main", self.mechanism)

    def published(self, seed: int) -> PublishedReport:
        """Release everything once, with seeded noise: for simulations only."""
        output = self.mechanism.release(self.rows, as_random_source(seed)).output
        changes = {"noise_scale": self.objective_mechanism.noise_law.scale}
        if not isinstance(self.mechanism, ReportedObjectivePerturbation):
            return replace(self.report, theta=tuple(output.tolist()), **changes)
        theta, hessian, gradient = self.mechanism.split(output)
        triangle = hessian[np.tril_indices(len(hessian))]
        for name, values in (("hessian", triangle), ("gradient", gradient)):
            if values is not None:
                changes[name] = replace(
                    getattr(self.report, name),
                    values=tuple(values.tolist()),
                    scale=getattr(self.mechanism, f"{name}_scale"),
                )
        return replace(self.report, theta=tuple(theta.tolist()), **changes)

    def draw(self, seed: int) -> Draw:
        """Release once and compare bounds with the truth."""
        report = self.published(seed)
        theta = np.array(report.theta)
        mechanism = self.objective_mechanism
        truth = np.abs(exact_loss(mechanism, theta, self.rows, self.rows))
        total = exact_loss(
            mechanism,
            theta,
            self.rows,
            self.rows,
            hessian=report.hessian,
            gradient=report.gradient,
        )
        return Draw(
            float(np.mean((self.X @ theta > 0) == (self.y > 0))),
            truth,
            report.loss(self.X, self.y, of="coefficients"),
            np.abs(total),
            report.loss(self.X, self.y),
        )


def release(setting: Setting, X: np.ndarray, y: np.ndarray) -> Release:
    """Calibrate a setting so that everything together keeps the promise."""
    model = skdp.ObjPertLogisticRegression(
        epsilon=EPSILON,
        delta=DELTA,
        alpha=setting.alpha,
        metric="identity",  # a report speaks about one release
        pdp_report=setting.level,
        classes=[-1, 1],
        fit_intercept=False,
    ).fit(X, y)
    mechanism = model.mechanism_
    if setting.level == "gradient":
        mechanism = divided(mechanism, setting)
    return Release(mechanism, model.report_, X, y)


def divided(
    mechanism: ReportedObjectivePerturbation, setting: Setting
) -> ReportedObjectivePerturbation:
    """Divide the budget otherwise: the model gets what the reports leave."""
    R = mechanism.main.radius
    mechanism = replace(
        mechanism,
        gradient_scale=R / (MU * setting.gradient_share**0.5),
        hessian_scale=R**2 / 4 / (MU * setting.hessian_share**0.5),
    )

    def with_noise(sigma: float) -> ReportedObjectivePerturbation:
        main = replace(mechanism.main, noise_law=GaussianNoise(sigma))
        return replace(mechanism, main=main)

    least = brentq(
        lambda sigma: with_noise(sigma).guarantee.epsilon(DELTA) - EPSILON,
        R / MU,
        100 * R / MU,
        rtol=1e-6,
    )
    return with_noise(least * (1 + 2e-6))


def table(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of norm one, constant included, and who defaulted."""
    X, y = load_table("credit")
    chosen = np.random.default_rng(0).permutation(len(y))[:n_rows]
    return X[chosen], y[chosen]


def study(made: dict[str, Release], n_draws: int) -> dict[str, list[Draw]]:
    """Draw every setting many times."""
    return {n: [of.draw(seed) for seed in range(n_draws)] for n, of in made.items()}


def summary(draws: list[Draw]) -> Iterator[str]:
    """Yield means over draws, with the range where it is wide."""

    def ranged(values) -> str:
        return f"{np.mean(values):.3g} [{np.min(values):.3g}, {np.max(values):.3g}]"

    yield f"{np.mean([draw.accuracy for draw in draws]):.4f}"
    yield ranged([np.median(draw.truth) for draw in draws])
    yield ranged([np.median(draw.bound) for draw in draws])
    yield ranged([draw.ratio for draw in draws])
    yield ranged([np.median(draw.total_bound) for draw in draws])
    failed = sum(np.sum(draw.truth > draw.bound) for draw in draws)
    failed += sum(np.sum(draw.total_truth > draw.total_bound) for draw in draws)
    yield str(failed)


def draw_spread(axis, draws: list[Draw]) -> None:
    """Draw quantiles of truth and bound over rows; of the truth in every draw."""
    level = np.linspace(0.02, 0.98, 97)
    truth = np.array([np.quantile(draw.truth, level) for draw in draws])
    bound = np.mean([np.quantile(draw.bound, level) for draw in draws], axis=0)
    axis.fill_between(
        level, truth.min(axis=0), truth.max(axis=0), color=ACCENT, alpha=0.15, lw=0
    )
    axis.semilogy(level, truth.mean(axis=0), color=ACCENT, label="loss, and its range")
    axis.semilogy(level, bound, color=ACCENT, linestyle="--", label="published bound")
    axis.axhline(EPSILON, color=WORST, linestyle=":", label="promise")
    axis.set(
        title="the model alone, ridge 5",
        xlabel="rows, from the least to the most exposed",
        ylabel="privacy loss (nats)",
        xlim=(0, 1),
    )
    axis.xaxis.set_major_formatter(lambda x, _: f"{100 * x:.0f} %")
    axis.legend(frameon=False, loc="lower right")


def draw_settings(axes, found: dict[str, list[Draw]]) -> None:
    """Draw the ratio of bound to truth in each draw, and what bounds add up to."""
    jitter = np.random.default_rng(0).uniform(-0.12, 0.12, 1000)
    for place, draws in enumerate(found.values()):
        ratios = [draw.ratio for draw in draws]
        axes[0].semilogx(
            ratios, place + jitter[: len(draws)], "o", color=ACCENT, ms=4, alpha=0.5
        )
        axes[0].plot(np.mean(ratios), place, "|", color="black", ms=18)
        part = np.mean([np.median(draw.bound) for draw in draws])
        whole = np.mean([np.median(draw.total_bound) for draw in draws])
        labels = ("the model alone", "all that is released") if place == 0 else ("", "")
        axes[1].barh(place, whole, height=0.5, color="#cfe3e1", label=labels[1])
        axes[1].barh(place, part, height=0.5, color=ACCENT, label=labels[0])
    axes[0].axvline(1, color="0.6", linewidth=0.8)
    ticks = (1, 2, 5, 10, 20, 50)
    axes[0].set_xticks(ticks, [str(tick) for tick in ticks])
    axes[0].minorticks_off()
    axes[0].set(xlabel="bound over loss of the median row; a dot is a draw")
    axes[1].set(xlabel="bound for the median row (nats)")
    for axis in axes:
        axis.set_yticks(range(len(found)), list(found))
        axis.set_ylim(len(found) - 0.4, -0.6)
    handles, names = axes[1].get_legend_handles_labels()
    axes[1].legend(
        handles[::-1],
        names[::-1],
        frameon=False,
        ncols=2,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
    )


def draw_all(
    made: dict[str, Release], found: dict[str, list[Draw]], path: Path
) -> None:
    """Draw the whole figure."""
    figure, axes = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
    draw_spread(axes[0, 0], found["model"])
    alone = made["model"]
    PdpLossDisplay.from_report(
        alone.published(0), alone.X, alone.y, kind="margin", ax=axes[0, 1]
    ).ax_.set_title("the same, one draw: who is bounded by what")
    draw_settings(axes[1], found)
    for axis in axes.flat:
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    """Print what every setting costs and tells, and write the figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figure", type=Path, default=Path("credit_losses.png"))
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--rows", type=int, default=30_000)
    options = parser.parse_args()

    X, y = table(options.rows)
    made = {name: release(setting, X, y) for name, setting in SETTINGS.items()}
    found = study(made, options.draws)
    print(
        f"{source()}: mean of {options.draws} draws [least, most], medians over "
        f"{options.rows} rows\n"
    )
    head = "released", "accuracy", "loss", "bound", "bound / loss", "bound, in all"
    print(f"| {' | '.join(head)} | failed |")
    print("| --- |" + " ---: |" * len(head))
    for name, draws in found.items():
        print(f"| {name} | {' | '.join(summary(draws))} |")
    draw_all(made, found, options.figure)
    print(f"\nfigure: {options.figure}")


if __name__ == "__main__":
    main()
