"""How far a draw may be from the data, against epsilon."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skdp._typing import ArrayLike, FloatArray
from skdp._validation import check_count
from skdp.accounting import Adjacency, PureDP
from skdp.inspection._axes import new_axes
from skdp.synthesis._plan import Request, plan

__all__ = ["AccuracyDisplay"]

PROFILES = ("roo", "ds-roo", "envelope", "minimax")


class AccuracyDisplay:
    """Worst-case distance of a draw from the data, by profile, against epsilon.

    Everything drawn is public: no data are read.

    Parameters
    ----------
    epsilons : array-like of shape (n_epsilons,)
        Privacy loss bounds in nats.
    bounds : mapping of str to array-like of shape (n_epsilons,)
        For each profile, the bound on the total variation distance.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the curves are.
    figure_ : matplotlib Figure
        The figure of ``ax_``.
    lines_ : list of matplotlib Line2D
        One curve a profile.

    Examples
    --------
    >>> from skdp.inspection import AccuracyDisplay
    >>> display = AccuracyDisplay.from_parameters(
    ...     n_rows=1000, n_categories=9, epsilons=[0.1, 1.0])
    >>> [line.get_label() for line in display.lines_]
    ['roo', 'ds-roo', 'envelope', 'minimax']
    >>> display.bounds["envelope"].round(4)
    array([0.0288, 0.0029])
    """

    def __init__(
        self, *, epsilons: ArrayLike, bounds: Mapping[str, FloatArray]
    ) -> None:
        self.epsilons = epsilons
        self.bounds = bounds

    @classmethod
    def from_parameters(
        cls,
        *,
        n_rows: int,
        n_categories: int,
        epsilons: ArrayLike,
        profiles: Sequence[str] = PROFILES,
        n_samples: int = 1,
        ax: Any = None,
    ) -> "AccuracyDisplay":
        """Compute the bounds of :class:`~skdp.synthesis.ROOSampler` and draw them.

        Parameters
        ----------
        n_rows : int
            Number of records.
        n_categories : int
            Number of categories.
        epsilons : array-like of shape (n_epsilons,)
            Privacy loss bounds in nats, of all draws together.
        profiles : sequence of str, default=("roo", "ds-roo", "envelope", "minimax")
            What to compare.
        n_samples : int, default=1
            How many draws share epsilon.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : AccuracyDisplay
        """
        counts = {"n_rows": n_rows, "n_categories": n_categories}
        for name, value in counts.items():
            check_count(name, value, minimum=1, remedy="Pass a public number.")
        grid = np.asarray(epsilons, dtype=np.float64)

        def bound(epsilon: float, profile: str) -> float:
            request = Request(
                target=PureDP(epsilon, adjacency=Adjacency.REPLACE_ONE),
                delta=0.0,
                profile=profile,
                n_samples=n_samples,
                release="draws",
                group_size=1,
            )
            return plan(request, n_categories, n_rows).mechanism.accuracy_bound(n_rows)

        bounds = {p: np.array([bound(e, p) for e in grid.tolist()]) for p in profiles}
        return cls(epsilons=grid, bounds=bounds).plot(ax=ax)

    def plot(self, ax: Any = None) -> "AccuracyDisplay":
        """Draw the curves on logarithmic axes.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : AccuracyDisplay
        """
        ax = new_axes(ax)
        self.lines_ = [
            ax.loglog(self.epsilons, values, marker=".", label=profile)[0]
            for profile, values in self.bounds.items()
        ]
        ax.set(xlabel="epsilon (nats)", ylabel="distance of a draw, worst case")
        ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self
