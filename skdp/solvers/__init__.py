"""Minimise a sum over private rows, and certify how well."""

from skdp.solvers._leverage import RowStatistics, row_statistics
from skdp.solvers._minimise import Solution, minimise
from skdp.solvers._objective import Objective
from skdp.solvers._table import Table

__all__ = [
    "Objective",
    "RowStatistics",
    "Solution",
    "Table",
    "minimise",
    "row_statistics",
]
