"""A statistic released beside the coefficients: numbers and how noisy they are."""

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from skdp._typing import FloatArray
from skdp.mechanisms import LatticeSmoothing
from skdp.mechanisms._smoothing import LatticeLaw
from skdp.pdp._report_checks import (
    LARGEST,
    LEAST,
    check_keys,
    check_number,
    check_numbers,
)
from skdp.random._symmetric import symmetric

__all__ = ["ReleasedStatistic"]

_SCALES = ("scale", "smoothing_scale", "smoothing_error", "smoothing_step")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedStatistic:
    """Numbers of a noisy Hessian or gradient, taken at the published coefficients.

    Parameters
    ----------
    values : tuple of float
        The gradient, or the lower triangle of the Hessian row by row.
    scale : float
        Standard deviation of the noise; off the diagonal of a Hessian, of the noise
        times sqrt(2).
    smoothing_scale, smoothing_error, smoothing_step : float
        Noise scale of the final lattice step, the distance to the ideal values that it
        covers, and the step of the lattice.

    Raises
    ------
    ValueError
        If a field is out of range.
    """

    values: tuple[float, ...]
    scale: float
    smoothing_scale: float
    smoothing_error: float
    smoothing_step: float

    def __post_init__(self) -> None:
        """Refuse numbers that are none."""
        size = len(self.values) if hasattr(self.values, "__len__") else 1
        object.__setattr__(self, "values", check_numbers("values", self.values, size))
        for name in _SCALES:
            value = getattr(self, name)
            number = check_number(name, value, least=LEAST, most=LARGEST)
            object.__setattr__(self, name, number)

    @property
    def step(self) -> LatticeSmoothing:
        """The final lattice step of the release."""
        return LatticeSmoothing(
            law=LatticeLaw.GAUSSIAN,
            error=self.smoothing_error,
            n_features=len(self.values),
            grid=self.smoothing_step,
            # the step is a power of two: nothing is rounded
            multiple=self.smoothing_scale / self.smoothing_step,
        )

    def matrix(self, order: int) -> FloatArray:
        """Return the symmetric matrix whose lower triangle the values are.

        Parameters
        ----------
        order : int
            Number of rows.

        Returns
        -------
        ndarray of shape (order, order)
        """
        return symmetric(np.array(self.values), order)

    def to_record(self) -> dict[str, Any]:
        """Return the fields by name, as JSON has them."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    @classmethod
    def from_record(cls, name: str, record: object) -> Self:
        """Return the statistic of that name in a report.

        Parameters
        ----------
        name : str
            Field of the report.
        record : object
            What the field holds in JSON.

        Returns
        -------
        statistic : ReleasedStatistic

        Raises
        ------
        ValueError
            If it is no record of a statistic.
        """
        keys = [entry.name for entry in fields(cls)]
        try:
            return cls(**check_keys(name, record, keys))
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
