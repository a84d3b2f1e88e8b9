"""Shares of the categories of each column, real beside synthetic."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from skdp._typing import FloatArray
from skdp.inspection._axes import new_axes

__all__ = ["MarginalsDisplay"]

_WIDTH = 0.4


class MarginalsDisplay:
    """Shares of the categories of each column, real beside synthetic.

    For whoever may see the real table: its shares are in the picture, and no budget
    pays for them. Do not publish it.

    Parameters
    ----------
    columns : sequence of str
        Names of the columns.
    categories : sequence of sequence
        Categories of each column.
    real : sequence of ndarray
        Shares of the categories in the real table, for each column.
    synthetic : sequence of ndarray
        The same in the synthetic table.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        One a column.
    figure_ : matplotlib Figure
        The figure of ``axes_``.
    distances_ : ndarray of shape (n_columns,)
        Total variation distance of the two tables on each column; as private as the
        real table.

    Examples
    --------
    >>> import pandas as pd
    >>> from skdp.inspection import MarginalsDisplay
    >>> real = pd.DataFrame({"smokes": ["no", "no", "yes", "no"]})
    >>> synthetic = pd.DataFrame({"smokes": ["no", "yes"]})
    >>> display = MarginalsDisplay.from_tables(
    ...     real, synthetic, categories={"smokes": ["no", "yes"]})
    >>> display.distances_
    array([0.25])
    """

    def __init__(
        self,
        *,
        columns: Sequence[str],
        categories: Sequence[Sequence[Any]],
        real: Sequence[FloatArray],
        synthetic: Sequence[FloatArray],
    ) -> None:
        self.columns = columns
        self.categories = categories
        self.real = real
        self.synthetic = synthetic

    @classmethod
    def from_tables(
        cls, real: Any, synthetic: Any, *, categories: Any, ax: Any = None
    ) -> "MarginalsDisplay":
        """Count both tables and draw them.

        Parameters
        ----------
        real : DataFrame
            The private table.
        synthetic : DataFrame
            A table with the same columns.
        categories : mapping of str to sequence
            The columns to draw, with their categories.
        ax : array of matplotlib Axes, default=None
            One a column; None makes a figure.

        Returns
        -------
        display : MarginalsDisplay
        """
        names = list(categories)
        listed = [list(categories[name]) for name in names]
        shares = [
            [_shares(table[n], c) for n, c in zip(names, listed, strict=True)]
            for table in (real, synthetic)
        ]
        made = cls(
            columns=names, categories=listed, real=shares[0], synthetic=shares[1]
        )
        return made.plot(ax=ax)

    def plot(self, ax: Any = None) -> "MarginalsDisplay":
        """Draw two bars a category.

        Parameters
        ----------
        ax : array of matplotlib Axes, default=None
            One a column; None makes a figure.

        Returns
        -------
        display : MarginalsDisplay
        """
        axes = np.atleast_1d(new_axes(ax, len(self.columns)))
        pairs = zip(self.real, self.synthetic, strict=True)
        self.distances_ = np.array([np.abs(r - s).sum() / 2 for r, s in pairs])
        for j, axis in enumerate(axes[: len(self.columns)]):
            place = np.arange(len(self.categories[j]))
            axis.bar(place - _WIDTH / 2, self.real[j], _WIDTH, label="real")
            axis.bar(place + _WIDTH / 2, self.synthetic[j], _WIDTH, label="synthetic")
            labels = [str(value) for value in self.categories[j]]
            axis.set_xticks(place, labels, rotation=90)
            axis.set_title(self.columns[j])
        axes[0].set_ylabel("share")
        axes[0].legend()
        self.axes_, self.figure_ = axes, axes[0].figure
        return self


def _shares(column: Any, categories: list[Any]) -> FloatArray:
    counts = column.astype(object).value_counts()
    found = np.array([counts.get(value, 0) for value in categories], dtype=np.float64)
    out: FloatArray = found / max(1.0, float(len(column)))
    return out
