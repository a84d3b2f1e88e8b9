"""Minimise a sum over private rows, and certify how well."""

from skdp.solvers._leverage import RowStatistics, row_statistics
from skdp.solvers._matrix_objective import MatrixObjective
from skdp.solvers._minimise import Solution, minimise
from skdp.solvers._minimise_on_ball import BallSolution, minimise_on_ball
from skdp.solvers._objective import Objective, check_targets
from skdp.solvers._table import Table
from skdp.solvers._whitened import Guess, WhitenedObjective

__all__ = [
    "BallSolution",
    "Guess",
    "MatrixObjective",
    "Objective",
    "RowStatistics",
    "Solution",
    "Table",
    "WhitenedObjective",
    "check_targets",
    "minimise",
    "minimise_on_ball",
    "row_statistics",
]
