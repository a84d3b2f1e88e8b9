"""The four views of bounds on privacy losses, each drawn into given axes."""

from typing import TYPE_CHECKING, Any

import numpy as np

from skdp.inspection._style import (
    ACCENT,
    INK,
    SOFT,
    WORST,
    certainty,
    certainty_axis,
)

if TYPE_CHECKING:
    from skdp.inspection._pdp_loss import PdpLossDisplay

__all__ = ["draw_distribution", "draw_groups", "draw_margins", "draw_worst_case"]

_LOSS = "bound on the privacy loss (nats)"
_PROMISE = "the promise to everybody"
_N_BINS = 40
#: Points in a cloud are small where they are many.
_LEAST_AREA, _MOST_AREA, _WHOLE_AREA = 2.0, 25.0, 6000.0
#: Points so many are stored as an image in a vector graphic.
_MANY = 1000
#: Lengths of rows within so many percent of the largest are not told apart.
_SAME_LENGTH = 0.1
#: Quantiles that stand for a group, from the least to the most exposed.
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def draw_distribution(display: "PdpLossDisplay", ax: Any) -> None:
    """Draw a histogram of the bounds, with the promise beside it."""
    loss = display.loss
    end = 1.04 * max(float(loss.max()), display.epsilon)
    share = np.full(loss.size, 1.0 / loss.size)
    ax.hist(loss, bins=np.linspace(0.0, end, _N_BINS + 1), weights=share, color=ACCENT)
    ax.set(xlim=(0.0, end), xlabel=_LOSS, ylabel="share of people")
    ax.yaxis.set_major_formatter(_percent)
    _mark(ax, float(np.quantile(loss, 0.5)), "half of the people", INK, ":")
    _mark(ax, float(np.quantile(loss, 0.95)), "95 % of the people", INK, "-.")
    _mark(ax, display.epsilon, _PROMISE, WORST, "--")
    _legend_below(ax)
    certainty_axis(ax)


def draw_margins(display: "PdpLossDisplay", ax: Any) -> None:
    """Draw a cloud of bounds against margins, coloured by the length of the row."""
    n = display.loss.size
    # the longest rows, which lose most, on top
    order = np.argsort(display.length)
    length = 100.0 * display.length[order]
    lengths_differ = length[-1] - length[0] > _SAME_LENGTH
    color: dict[str, Any] = {"color": ACCENT}
    if lengths_differ:
        color = {"c": length, "cmap": "viridis_r"}
    cloud = ax.scatter(
        display.margin[order],
        display.loss[order],
        s=float(np.clip(_WHOLE_AREA / n, _LEAST_AREA, _MOST_AREA)),
        linewidths=0,
        rasterized=n > _MANY,
        **color,
    )
    ax.axhline(display.epsilon, color=WORST, linestyle="--", label=_PROMISE)
    ax.axvline(0.0, color=SOFT, linewidth=0.8, zorder=0)
    ax.set(xlabel="margin (below 0 the model is wrong)", ylabel=_LOSS)
    ax.set_ylim(bottom=0.0)
    ax.legend(edgecolor="none", framealpha=0.85)
    if lengths_differ:
        bar = ax.figure.colorbar(cloud, ax=ax, format="{x:.0f} %", pad=0.02)
        bar.set_label("length of the row, of the largest")
        bar.outline.set_visible(False)


def draw_worst_case(display: "PdpLossDisplay", ax: Any) -> None:
    """Draw what an attacker believes after the release against before it."""
    prior = np.linspace(1e-6, 1.0 - 1e-6, 201)
    people = {
        "the most exposed": (1.0, "-"),
        "95 % of the people": (0.95, "-."),
        "half of the people": (0.5, ":"),
    }
    ax.plot(
        prior,
        certainty(np.full(1, display.epsilon), prior),
        color=WORST,
        linestyle="--",
        label=_PROMISE,
    )
    for label, (level, style) in people.items():
        loss = np.quantile(display.loss, [level])
        ax.plot(
            prior, certainty(loss, prior), color=ACCENT, linestyle=style, label=label
        )
    ax.plot([0.0, 1.0], [0.0, 1.0], color=SOFT, linewidth=0.8, label="no release")
    ax.set(
        xlabel="how sure an attacker is before the release",
        ylabel="and becomes at most",
        xlim=(0.0, 1.0),
        ylim=(0.0, 1.0),
        aspect="equal",
    )
    ax.xaxis.set_major_formatter(_percent)
    ax.yaxis.set_major_formatter(_percent)
    ax.legend(frameon=False, loc="lower right")


def draw_groups(display: "PdpLossDisplay", ax: Any) -> None:
    """Draw a median, the middle half and the middle nine tenths of each group."""
    names, group = np.unique(np.asarray(display.groups), return_inverse=True)
    place = np.arange(names.size)
    table = np.array([np.quantile(display.loss[group == j], _QUANTILES) for j in place])
    low, first, median, third, high = table.T
    ax.hlines(place, low, high, color=ACCENT, linewidth=1.5, label="90 % of a group")
    ax.hlines(place, first, third, color=ACCENT, linewidth=7.0, label="half of it")
    ax.plot(median, place, "o", color="white", markeredgecolor=ACCENT, label="median")
    ax.axvline(display.epsilon, color=WORST, linestyle="--", label=_PROMISE)
    people = np.bincount(group)
    labels = [f"{name} ({n:,})" for name, n in zip(names, people, strict=True)]
    ax.set_yticks(place, labels)
    ax.set(xlabel=_LOSS, ylim=(names.size - 0.5, -0.5))
    ax.set_xlim(left=0.0)
    _legend_below(ax)
    certainty_axis(ax)


def _mark(ax: Any, loss: float, label: str, color: str, style: str) -> None:
    ax.axvline(loss, color=color, linestyle=style, linewidth=1.4, label=label)


def _legend_below(ax: Any) -> None:
    """Add a legend below the axes: what it explains may lie anywhere in them."""
    ax.legend(frameon=False, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.14))


def _percent(share: float, _: object) -> str:
    """Format a tick of an axis of shares."""
    return f"{100.0 * share:.3g} %"
