"""A public table with the facts a private fit needs to know beforehand."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from skdp._typing import IntArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PublicTable", "read_statsmodels_table"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicTable:
    """Rows of a published study together with its public facts.

    Attributes
    ----------
    X : DataFrame of shape (n_samples, n_features)
        Features, in the units of the codebook.
    y : ndarray of shape (n_samples,)
        Binary target, 0 or 1.
    bounds : mapping of str to (float, float)
        Declared range of each feature, from the codebook, for
        :class:`skdp.preprocessing.BoundedScaler`.
    classes : tuple of int
        Label set of the target.
    rows_per_person : int
        Most rows that one person has. Above 1, a guarantee for one row becomes one for
        a person by ``guarantee.group(rows_per_person)``.
    description : str
        Source, meaning of the columns, and what one row stands for.
    """

    X: "pd.DataFrame"
    y: IntArray
    bounds: Mapping[str, tuple[float, float]]
    classes: tuple[int, ...]
    rows_per_person: int
    description: str

    @property
    def frame(self) -> "pd.DataFrame":
        """Return features and target as one frame, the target last."""
        return self.X.assign(target=self.y)

    @classmethod
    def from_frame(
        cls,
        table: "pd.DataFrame",
        *,
        bounds: Mapping[str, tuple[float, float]],
        positive: Any,
        rows_per_person: int,
        description: str,
    ) -> "PublicTable":
        """Lay out a raw table: features in the order of ``bounds``, 0/1 target.

        Parameters
        ----------
        table : DataFrame
            Raw columns, at least those of ``bounds``.
        bounds : mapping of str to (float, float)
            Declared range of each feature.
        positive : array-like of bool, shape (n_samples,)
            Rows whose target is 1.
        rows_per_person : int
            Most rows that one person has.
        description : str
            Source and meaning of the columns.

        Returns
        -------
        table : PublicTable
            The table with features as float64.
        """
        return cls(
            X=table[list(bounds)].astype(np.float64).reset_index(drop=True),
            y=np.asarray(positive).astype(np.int64),
            bounds=bounds,
            classes=(0, 1),
            rows_per_person=rows_per_person,
            description=description,
        )


def read_statsmodels_table(name: str) -> "pd.DataFrame":
    """Read one of the tables that are shipped inside statsmodels."""
    try:
        module = importlib.import_module(f"statsmodels.datasets.{name}")
    except ImportError as error:
        raise ImportError(
            f"the table {name!r} is shipped inside statsmodels, which is not "
            "installed. Run: pip install 'skdp[examples]'"
        ) from error
    table: pd.DataFrame = module.load_pandas().data
    return table
