"""Minimise a sum over private rows, and certify how well."""

from skdp.solvers._leverage import RowStatistics, row_statistics
from skdp.solvers._minimise import Solution, minimise
from skdp.solvers._objective import Objective

__all__ = ["Objective", "RowStatistics", "Solution", "minimise", "row_statistics"]
